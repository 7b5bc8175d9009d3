"""Confirm or refute a proof file, in rational numbers and with the standard library alone.

``python verify.py proof.json`` needs nothing but Python: no other file of fsopt, no solver, no floating point where
something is decided. The format of the file and the lemmas behind each check are in docs/exact.md. A part of a proof is
refuted where one of its numbers does not support its claim; nothing is ever accepted up to a tolerance.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable
from fractions import Fraction
from operator import mul

TYPE_CHECKING = False
if TYPE_CHECKING:  # called by its path, this file would otherwise import its neighbour typing.py
    from typing import Any
FORMAT = "fsopt proof 1"
ZERO = Fraction(0)
Node = tuple[frozenset[int], frozenset[int]]  # features inside, and outside, of every selection below a node


class Refuted(Exception):
    """A number of the proof does not support its claim."""


def need(holds: bool, reason: str) -> None:
    """Raise Refuted with a reason where a condition does not hold."""
    if not holds:
        raise Refuted(reason)


def number(value: Any) -> Fraction:
    """Return a number of the file: an integer, a double as it was stored, or a text 'p/q' in hexadecimal digits."""
    if isinstance(value, str):
        top, _, bottom = value.partition("/")
        return Fraction(int(top, 16), int(bottom or "1", 16))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Refuted(f"{value!r} is not a number")
    return Fraction(value)


def limit(value: Any) -> Fraction | None:
    """Return a bound of the file, None for an infinite one."""
    return None if value is None else number(value)


def common(values: list[Fraction]) -> tuple[list[int], int]:
    """Return rational numbers as integers over one denominator."""
    bottom = math.lcm(*{v.denominator for v in values}) if values else 1
    return [v.numerator * (bottom // v.denominator) for v in values], bottom


def total(values: Iterable[Fraction]) -> Fraction:
    """Return the sum of rational numbers."""
    return sum(values, ZERO)


class Form:
    """An affine form: columns, integers, an integer constant, and one denominator."""

    def __init__(self, columns: list[int], values: list[Any], constant: Any = 0) -> None:
        need(len(columns) == len(values) and len(set(columns)) == len(columns), "a form is damaged")
        self.columns = columns
        (*self.values, self.constant), self.bottom = common([*map(number, values), number(constant)])

    def at(self, x: tuple[list[int], int]) -> Fraction:
        """Return the value at a point."""
        top = sum(map(mul, self.values, [x[0][j] for j in self.columns])) + self.constant * x[1]
        return Fraction(top, self.bottom * x[1])


class Program:
    """min sum P_j x_j^2 / 2 + c'x + c0 subject to rows, bounds, cones and matrix inequalities."""

    def __init__(self, held: dict[str, Any]) -> None:
        self.n = len(held["c"])
        self.c, self.c0 = [number(v) for v in held["c"]], number(held["c0"])
        self.P = {int(j): number(v) for j, v in held["quadratic"]}
        need(len(self.P) == len(held["quadratic"]), "a column of the quadratic part stands twice")
        self.rows = [Form(columns, values) for columns, values, _, _ in held["rows"]]
        self.limits = [(limit(lo), limit(hi)) for _, _, lo, hi in held["rows"]]
        self.bounds = [(limit(lo), limit(hi)) for lo, hi in zip(held["lb"], held["ub"], strict=True)]
        self.cones = [([number(w) for w in k["weights"]], [Form(*f) for f in k["forms"]]) for k in held["cones"]]
        self.matrices = [(int(k["order"]), [Form(*f) for f in k["entries"]]) for k in held["matrices"]]
        self.integer = [int(j) for j in held["integer"]]
        forms = [*self.rows, *(f for _, k in self.cones for f in k), *(f for _, k in self.matrices for f in k)]
        places = [*self.integer, *self.P, *(j for f in forms for j in f.columns)]
        need(len(self.bounds) == self.n and all(0 <= j < self.n for j in places), "a column is out of range")
        need(all(v > 0 for v in self.P.values()), "the objective is not convex")
        need(all(len(k) == len(ws) + 2 and all(w > 0 for w in ws) for ws, k in self.cones), "a cone is damaged")
        need(all(len(k) == order * (order + 1) // 2 for order, k in self.matrices), "a matrix is damaged")

    def value(self, given: list[Any]) -> Fraction:
        """Return the objective value of a feasible point; raise Refuted where it violates a constraint."""
        x = [number(v) for v in given]
        need(len(x) == self.n, "the point has another length")
        held = common(x)
        values = [*(form.at(held) for form in self.rows), *x]
        for v, (lo, hi) in zip(values, [*self.limits, *self.bounds], strict=True):
            need((lo is None or lo <= v) and (hi is None or v <= hi), "the point violates a row or a bound")
        for weights, (left, right, *tails) in self.cones:
            in_cone(left.at(held), right.at(held), weights, [t.at(held) for t in tails], "the point violates a cone")
        for order, entries in self.matrices:
            need(semidefinite(order, [f.at(held) for f in entries]), "the point violates a matrix inequality")
        need(all(x[j].denominator == 1 for j in self.integer), "an integer of the point is not whole")
        linear = sum(map(mul, common(self.c)[0], held[0]))
        square = total(v * x[j] ** 2 for j, v in self.P.items())
        return self.c0 + Fraction(linear, common(self.c)[1] * held[1]) + square / 2

    def bound(self, dual: dict[str, Any], *, ray: bool = False) -> Fraction:
        """Return the lower bound of a feasible dual point; of a ray the objective counts as 0."""
        y = [number(v) for v in dual["rows"]]
        cones = [[number(v) for v in k] for k in dual["cones"]]
        matrices = [[number(v) for v in k] for k in dual["matrices"]]
        curve = {} if ray else dict(zip(self.P, map(number, dual["curve"]), strict=True))
        lengths = [len(y), *map(len, cones), *map(len, matrices)]
        wanted = [len(self.rows), *(len(k) for _, k in self.cones), *(len(k) for _, k in self.matrices)]
        need(lengths == wanted, "the dual point has another length")
        terms = list(zip(y, self.rows, strict=True))
        for (alpha, beta, *gamma), (weights, forms) in zip(cones, self.cones, strict=True):
            in_cone(alpha, beta, [1 / (4 * w) for w in weights], gamma, "a multiplier is outside the dual cone")
            terms += zip([alpha, beta, *gamma], forms, strict=True)
        for Z, (order, entries) in zip(matrices, self.matrices, strict=True):
            need(semidefinite(order, Z), "a matrix of multipliers is not semidefinite")
            twice = [1 if i == j else 2 for j in range(order) for i in range(j + 1)]
            terms += [(t * v, f) for t, v, f in zip(twice, Z, entries, strict=True)]
        bound = ZERO if ray else self.c0
        bound -= total(m * Fraction(f.constant, f.bottom) for m, f in terms[len(y) :])
        for j, point in curve.items():
            bound -= self.P[j] * point**2 / 2
        for v, (lo, hi) in zip(y, self.limits, strict=True):
            bound += at_limit(v, lo, hi)
        for j, r in enumerate(self.reduced(terms, curve, ray)):
            bound += at_limit(r, *self.bounds[j])
        return bound

    def reduced(self, terms: list[tuple[Fraction, Form]], curve: dict[int, Fraction], ray: bool) -> list[Fraction]:
        """Return the reduced costs c + P x - sum of multipliers times their forms."""
        multipliers, bottom = common([m for m, _ in terms])
        scale = math.lcm(*{f.bottom for _, f in terms}) if terms else 1
        taken = [0] * self.n
        for m, (_, form) in zip(multipliers, terms, strict=True):
            factor = m * (scale // form.bottom)
            if factor:
                for j, v in zip(form.columns, form.values, strict=True):
                    taken[j] += factor * v
        costs = [ZERO] * self.n if ray else [c + self.P.get(j, 0) * curve.get(j, 0) for j, c in enumerate(self.c)]
        return [c - Fraction(t, bottom * scale) for c, t in zip(costs, taken, strict=True)]


def at_limit(multiplier: Fraction, lo: Fraction | None, hi: Fraction | None) -> Fraction:
    """Return a multiplier times the limit that it belongs to; raise Refuted where that limit is infinite."""
    if not multiplier:
        return ZERO
    end = lo if multiplier > 0 else hi
    need(end is not None, "a multiplier belongs to an infinite limit")
    return multiplier * (end or ZERO)


def in_cone(left: Fraction, right: Fraction, weights: list[Fraction], tails: list[Fraction], reason: str) -> None:
    """Raise Refuted unless ``sum weights tails^2 <= left right`` with ``left, right >= 0``."""
    need(left >= 0 and right >= 0, reason)
    values, bottom = common(tails)
    scaled, scale = common(weights)
    need(
        Fraction(sum(w * v * v for w, v in zip(scaled, values, strict=True)), scale * bottom**2) <= left * right, reason
    )


def semidefinite(order: int, triangle: list[Fraction]) -> bool:
    """Return whether a matrix, its upper triangle column by column, is positive semidefinite (elimination S = LDL')."""
    S = [[ZERO] * order for _ in range(order)]
    for k, (i, j) in enumerate((a, b) for b in range(order) for a in range(b + 1)):
        S[i][j] = S[j][i] = triangle[k]
    for k in range(order):
        if S[k][k] < 0 or (S[k][k] == 0 and any(S[k][k + 1 :])):
            return False
        for i in range(k + 1, order):
            if S[k][i]:
                factor = S[k][i] / S[k][k]
                for j in range(i, order):
                    S[i][j] = S[j][i] = S[i][j] - factor * S[k][j]
    return True


class Selection:
    """min F(s) + lam's over selections s with R s <= r, where F is the value of a support vector machine on s."""

    def __init__(self, held: dict[str, Any]) -> None:
        self.y, self.C = [int(v) for v in held["y"]], number(held["c"])
        need(set(self.y) <= {-1, 1} and self.C > 0, "the labels or the penalty weight are damaged")
        self.features = [common([number(v) for v in column]) for column in held["columns"]]
        need(all(len(x) == len(self.y) for x, _ in self.features), "a feature has another length")
        self.p = len(self.features)
        self.signed = [[a * b for a, b in zip(self.y, x, strict=True)] for x, _ in self.features]
        self.lam = [number(v) for v in held["lam"]]
        self.R, self.r = [[number(v) for v in row] for row in held["R"]], [number(v) for v in held["r"]]
        need(len(self.lam) == self.p and all(len(row) == self.p for row in self.R), "the constraints are damaged")
        whole = all(0 <= j < self.p for j in (*held["inside"], *held["outside"]))
        need(len(self.R) == len(self.r) and whole, "the constraints are damaged")
        self.fixed = (frozenset(held["inside"]), frozenset(held["outside"]))
        self.main: int | None = held["main"]
        need(self.main is None or all(v >= 0 for v in self.R[self.main]), "the main constraint has negative weights")
        self.cuts: dict[int, tuple[Fraction, list[Fraction]]] = {}

    def decided(self, node: Node, into: set[int], out: set[int]) -> Node | None:
        """Return a node with further features decided, and all that one constraint decides then; None if empty."""
        while True:
            node = (node[0] | into, node[1] | out)
            if node[0] & node[1]:
                return None
            free = [j for j in range(self.p) if j not in node[0] | node[1]]
            into, out = set(), set()
            for row, right in zip(self.R, self.r, strict=True):
                left = right - total(row[j] for j in node[0]) - total(min(row[j], ZERO) for j in free)
                if left < 0:
                    return None
                out |= {j for j in free if row[j] > left}
                into |= {j for j in free if -row[j] > left}
            if not into and not out:
                return node

    def cut(self, name: int, part: dict[str, Any]) -> tuple[Fraction, list[Fraction]]:
        """Return constant and gains h of a cut: value >= constant - sum of the gains of the selected features."""
        if name not in self.cuts:
            grid, mu = part["alpha"][name], [number(v) for v in part["mu"][name]]
            unit = self.C / int(part["steps"])
            need(
                len(grid) == len(self.y) and all(0 <= a <= part["steps"] for a in grid), "a multiplier is out of bounds"
            )
            need(
                all(isinstance(a, int) for a in grid) and sum(map(mul, grid, self.y)) == 0, "multipliers do not balance"
            )
            need(len(mu) == len(self.r) and all(v >= 0 for v in mu), "a multiplier of a constraint is negative")
            gains = []
            for j, (x, (_, bottom)) in enumerate(zip(self.signed, self.features, strict=True)):
                q = unit * Fraction(sum(map(mul, grid, x)), bottom)
                gains.append(q * q / 2 - self.lam[j] - total(m * row[j] for m, row in zip(mu, self.R, strict=True)))
            self.cuts[name] = (unit * sum(grid) - total(map(mul, mu, self.r)), gains)
        return self.cuts[name]

    def bound(self, cut: tuple[Fraction, list[Fraction]], node: Node) -> Fraction:
        """Return the bound of a cut on a node; any tau >= 0 is valid, that of the last feature that fits is best."""
        gains, base = cut[1], cut[0] - total(cut[1][j] for j in node[0])
        free = [j for j in range(self.p) if j not in node[0] | node[1] and gains[j] > 0]
        if self.main is None:
            return base - total(gains[j] for j in free)
        weight, tau = self.R[self.main], ZERO
        left = room = self.r[self.main] - total(weight[j] for j in node[0])
        for j in sorted((k for k in free if weight[k]), key=lambda k: -gains[k] / weight[k]):
            if weight[j] > room:
                tau = gains[j] / weight[j]
                break
            room -= weight[j]
        return base - tau * left - total(max(gains[j] - tau * weight[j], ZERO) for j in free)

    def lowest(self, tree: list[Any], node: Node | None, part: dict[str, Any]) -> list[Fraction]:
        """Return the smallest bound of the leaves of a tree, nothing where there is no selection at all."""
        need((node is None) == (tree[0] == "empty"), "a node is wrongly marked as empty")
        if node is None:
            return []
        if tree[0] == "leaf":
            return [self.bound(self.cut(tree[1], part), node)]
        if tree == ["known"]:  # a selection that the claim on all others leaves out
            need(len(node[0] | node[1]) == self.p, "a known selection is not complete")
            return []
        features = [tree[1]] if tree[0] == "branch" else [abs(f) - 1 for f in tree[2]]
        need(all(0 <= j < self.p and j not in node[0] | node[1] for j in features), "a feature is not free at its node")
        if tree[0] == "branch":
            without, within = self.decided(node, set(), {tree[1]}), self.decided(node, {tree[1]}, set())
            return self.lowest(tree[2], without, part) + self.lowest(tree[3], within, part)
        need(tree[0] == "peg", "the tree is damaged")
        into, out = {f - 1 for f in tree[2] if f > 0}, {-f - 1 for f in tree[2] if f < 0}
        cut = self.cut(tree[1], part)  # it closes the other value of each of the features
        found = [self.bound(cut, (node[0], node[1] | {j})) for j in into]
        found += [self.bound(cut, (node[0] | {j}, node[1])) for j in out]
        return found + self.lowest(tree[3], self.decided(node, into, out), part)

    def value(self, given: dict[str, Any]) -> Fraction:
        """Return the objective value of a selection with a hyperplane on it."""
        chosen, w = set(given["selected"]), [number(v) for v in given["w"]]
        need(len(w) == self.p and all(0 <= j < self.p for j in chosen), "the selection is damaged")
        need(not any(v for j, v in enumerate(w) if j not in chosen), "a weight outside the selection is not 0")
        inside = all(total(row[j] for j in chosen) <= right for row, right in zip(self.R, self.r, strict=True))
        need(inside and self.fixed[0] <= chosen and not self.fixed[1] & chosen, "the selection violates a constraint")
        parts = [[w[j] / self.features[j][1] * v for v in self.signed[j]] for j in chosen]
        rows = zip(self.y, *parts, strict=True)
        loss = total(max(1 - label * number(given["b"]) - total(terms), ZERO) for label, *terms in rows)
        return total(v * v for v in w) / 2 + self.C * loss + total(self.lam[j] for j in chosen)


def exponential(x: Fraction) -> tuple[Fraction, Fraction]:
    """Return rational numbers below and above e^-x for x >= 0, from the series of e^t at t = x / 2^k <= 1/2."""
    need(x >= 0, "an exponent is negative")
    if x > 4096:
        return ZERO, exponential(Fraction(4096))[1]
    halvings = max(x.numerator.bit_length() - x.denominator.bit_length() + 2, 0)
    unit, grid = 2**300, 2**100
    ends = []
    for rounded in (math.floor, math.ceil):
        t = Fraction(rounded(x * unit / 2**halvings), unit)
        value = term = Fraction(1)
        for k in range(1, 50):
            term *= t / k
            value += term
        value += term if rounded is math.ceil else 0  # the terms that are left out are at most half of the last one
        for _ in range(halvings):
            value = Fraction(rounded(value * unit), unit) ** 2
        ends.append(value)
    return Fraction(math.floor(grid / ends[1]), grid), Fraction(math.ceil(grid / ends[0]), grid)


def stationary(part: dict[str, Any], program: Program) -> tuple[Fraction, Fraction]:
    """Return bounds (below, above) on the best step and on the point, of the linearised objective at the point.

    The terms are f (1 - e^-kt) with t = x_a, or t = |x_a - x_b|; their costs at the point are not below those of c.
    """
    x, above = [number(v) for v in part["point"]], program.value(part["point"])
    curved = [j for _, _, columns in part["slopes"] for j in columns]
    need(len(set(curved)) == len(curved), "a column is in two concave terms")
    for f, k, columns in part["slopes"]:
        weight, steepness = number(f), number(k)
        need(weight >= 0 and steepness > 0 and len(columns) in (1, 2), "a slope is damaged")
        t = x[columns[0]] - (x[columns[1]] if len(columns) == 2 else 0)
        low, high = (weight * steepness * v for v in exponential(steepness * abs(t)))
        twice = 2 * weight * steepness
        costs = [(low, high), (twice - high, twice - low)]
        for j, (below, most) in zip(columns if t >= 0 else columns[::-1], costs, strict=False):
            need(program.bounds[j][0] == 0 and program.c[j] <= below, "a cost is above the slope of its exponential")
            above += (most - program.c[j]) * x[j]
    return program.bound(part["dual"]), above


def leaves_out(tree: list[Any]) -> bool:
    """Return whether a tree leaves out known selections."""
    return tree[0] == "known" or any(isinstance(part, list) and bool(part) and leaves_out(part) for part in tree[2:])


def ends(part: dict[str, Any]) -> tuple[Fraction | None, Fraction | None]:
    """Return the bounds below and above that the evidence of a part proves, of its minimisation form."""
    kind = part["kind"]
    if kind == "selection":
        problem = Selection(part["problem"])
        found = problem.lowest(part["tree"], problem.decided(problem.fixed, set(), set()), part)
        return min(found, default=None), None if part["point"] is None else problem.value(part["point"])
    program = Program(part["program"])
    if kind == "stationary":
        return stationary(part, program)
    need(kind == "convex", f"the kind {kind!r} is unknown")
    above = None if part.get("point") is None else program.value(part["point"])
    return None if part.get("dual") is None else program.bound(part["dual"]), above


def check(part: dict[str, Any]) -> tuple[Fraction | None, Fraction | None]:
    """Return the proved interval of a part; raise Refuted where its claim does not follow."""
    claim = part["claim"]
    need((part["kind"] == "stationary") == (claim["status"] == "stationary"), "the status is not that of the evidence")
    others = part["kind"] == "selection" and leaves_out(part["tree"])
    need(not others or claim["status"] == "bounded", "a claim on the optimum leaves no selection out")
    if claim["status"] == "infeasible":
        need(Program(part["program"]).bound(part["ray"], ray=True) > 0, "the ray proves no infeasibility")
        return None, None
    below, above = ends(part)
    lower, upper = limit(claim["lower"]), limit(claim["upper"])
    need(lower is None or (below is not None and lower <= below), "the claimed bound is above the proved one")
    need(upper is None or (above is not None and above <= upper), "the claimed value is below the proved one")
    if claim["status"] in ("optimal", "stationary"):
        lower, upper, gap = (number(claim[k]) for k in ("lower", "upper", "gap"))
        closed = lower <= upper and upper - lower <= gap * max(Fraction(1), abs(upper))
        need(closed, "the interval is wider than the claimed gap")
    else:
        end = {"feasible": upper, "bounded": lower}.get(claim["status"])
        need(end is not None, "the claimed status is unknown, or has no number")
    return lower, upper


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of the file; raise Refuted where a key stands twice."""
    need(len(dict(pairs)) == len(pairs), "a key stands twice in an object")
    return dict(pairs)


def readable(proof: Any) -> bool:
    """Return whether a file is a list of parts with names of one line."""
    parts = proof["parts"]
    named = isinstance(parts, list) and all(isinstance(p, dict) and str(p.get("name", "")).isprintable() for p in parts)
    return proof["format"] == FORMAT and named and bool(parts)


def main(arguments: list[str] | None = None) -> int:
    """Check the file named on the command line; return 0 where every part is confirmed, 1 where one is refuted."""
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 1 or given[0].startswith("-"):
        print("usage: fsopt-verify PROOF.json")
        return 0 if given in (["-h"], ["--help"]) else 2
    try:
        with open(given[0], encoding="utf-8") as file:
            proof = json.load(file, object_pairs_hook=unique)
        need(readable(proof), "the format is unknown, or its parts are no list of parts with names")
    except (OSError, ValueError, KeyError, TypeError, RecursionError, Refuted) as error:
        print(f"fsopt-verify: '{given[0]}' is no proof: {error}", file=sys.stderr)
        return 2
    refuted = 0
    for part in proof["parts"]:
        name = str(part.get("name", "?"))
        try:
            check(part)
            print(f"confirmed  {name}: {part['claim']['status']}")
        except (Refuted, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
            refuted += 1
            reason = error if isinstance(error, Refuted) else f"it is damaged ({type(error).__name__})"
            print(f"REFUTED    {name}: {reason}")
    return 1 if refuted else 0


if __name__ == "__main__":
    sys.exit(main())
