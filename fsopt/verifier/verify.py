"""Confirm or refute a proof file, in rational numbers and with the standard library alone.

``python verify.py proof.json`` needs nothing but Python: no solver, no package, no floating point where something is
decided. A proof file is a statement and its proof; the format and the lemmas behind each check are in docs/exact.md. A
claim is refuted where one number of its proof does not support it: nothing is accepted up to a tolerance.
``verify_data.py`` beside this file has the programs of the statements, and derives them from data;
``verify_files.py`` reads exported programs, ``verify_trees.py`` has the boxes of branch and bound, and
``verify_functions.py`` exponentials and logarithms.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import math
import re
import sys
from collections.abc import Callable, Iterable
from fractions import Fraction
from operator import mul
from typing import Any, NoReturn

FORMAT = "fsopt proof 2"
ZERO, ONE = Fraction(0), Fraction(1)
Node = tuple[frozenset[int], frozenset[int]]  # features inside, and outside, of every selection below a node
CutValues = tuple[Fraction, list[Fraction]]  # value >= constant - sum of the gains of the selected features
Interval = tuple["Fraction | None", "Fraction | None"]
MOST_BYTES = 2**29
MOST_DEPTH = 12  # of brackets, in a file: the grammar has 7
MOST_BITS = 2**20  # of a numerator or a denominator
MOST_ORDER = 200  # of a matrix
LARGEST_GAP = Fraction(1, 1000)  # of what is called optimal or stationary
MOST_WORK = 5 * 10**9  # of Work, in products of numbers of one word


class Refuted(Exception):
    """A number of the proof does not support its claim."""


class Unreadable(Exception):
    """The file is no proof, or takes more than is allowed."""


class Work:
    """The work that is left, an upper bound in products of one word: a small file does not take for ever."""

    left = MOST_WORK


def spend(count: int, bits: int = 64) -> None:
    """Count operations on integers of so many bits; raise Unreadable where the work is used up."""
    Work.left -= count * (1 + bits // 64)
    if Work.left < 0:
        raise Unreadable("it takes more work than is allowed: --work 10 allows ten times as much")


def need(holds: bool, reason: str) -> None:
    """Raise Refuted with a reason where a condition does not hold."""
    if not holds:
        raise Refuted(reason)


# -- the grammar: every object has a fixed set of keys, every list a fixed length or entries of one kind -----------


def refuse(reason: str) -> NoReturn:
    """Raise Unreadable."""
    raise Unreadable(reason)


def number(value: Any) -> Fraction:
    """Return a number of the file: an integer, a double as it was stored, or a text 'p/q' in hexadecimal digits."""
    if isinstance(value, str):
        if not re.fullmatch(r"-?[0-9a-f]+(/[0-9a-f]+)?", value) or len(value) > MOST_BITS // 4:
            refuse(f"{value[:20]!r} is not a number")
        top, _, bottom = value.partition("/")
        if not int(bottom or "1", 16):
            refuse(f"{value[:20]!r} is not a number")
        return Fraction(int(top, 16), int(bottom or "1", 16))
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value - value != 0:
        refuse(f"{str(value)[:20]} is not a number")
    return Fraction(value)


def limit(value: Any) -> Fraction | None:
    """Return a bound of the file, None for an infinite one."""
    return None if value is None else number(value)


def count(value: Any) -> int:
    """Return an integer that is at least 0."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        refuse(f"{str(value)[:20]} is not a place or a count")
    return int(value)


def whole(value: Any) -> int:
    """Return an integer."""
    return -count(-value) if isinstance(value, int) and value < 0 else count(value)


def flag(value: Any) -> bool:
    """Return a truth value."""
    return value if isinstance(value, bool) else refuse(f"{str(value)[:20]} is neither true nor false")


def word(value: Any) -> str:
    """Return a text of one printable line."""
    if not isinstance(value, str) or not value.isprintable() or not 0 < len(value) <= 200:
        refuse("a name is no text of one printable line of at most 200 characters")
    return str(value)


def parameters(value: Any) -> dict[str, Any]:
    """Return parameters: names, and numbers, words, truth values, null or lists of them in lists."""
    if not isinstance(value, dict):
        refuse("parameters are no object")

    def plain(inner: Any) -> None:
        if isinstance(inner, list):
            for entry in inner:
                plain(entry)
        elif isinstance(inner, str):
            word(inner)
        elif not (inner is None or isinstance(inner, bool)):
            number(inner)

    for name, inner in value.items():
        word(name)
        plain(inner)
    return dict(value)


def node(value: Any) -> list[Any]:
    """Return a node of a tree."""
    kinds: dict[str, list[Any]] = {
        "leaf": [count],
        "known": [count],
        "branch": [count],
        "peg": [count, [whole]],
        "empty": [],
    }
    if not isinstance(value, list) or not value or not isinstance(value[0], str) or value[0] not in kinds:
        refuse("a node of a tree is none")
    return [value[0], *read(value[1:], tuple(kinds[value[0]]), "a node")]


def box(value: Any) -> list[Any]:
    """Return a node of branch and bound."""
    kinds: dict[str, list[Any]] = {"leaf": [count], "empty": [count], "split": [count, number]}
    if not isinstance(value, list) or not value or not isinstance(value[0], str) or value[0] not in kinds:
        refuse("a node of a tree is none")
    return [value[0], *read(value[1:], tuple(kinds[value[0]]), "a node")]


def or_none(rule: Any) -> Callable[[Any], Any]:
    """Return the rule of what may be null."""
    return lambda value: None if value is None else read(value, rule, "an optional part")


def read(value: Any, rule: Any, name: str) -> Any:
    """Return a part of the file by a rule: an object, a list of one kind, a tuple of fixed length, or a function."""
    if isinstance(rule, dict):
        if not isinstance(value, dict) or value.keys() != rule.keys():
            refuse(f"the keys of {name} are not {', '.join(rule)}")
        return {key: read(value[key], inner, key) for key, inner in rule.items()}
    if isinstance(rule, list):
        if not isinstance(value, list):
            refuse(f"{name} is no list")
        return [read(entry, rule[0], name) for entry in value]
    if isinstance(rule, tuple):
        if not isinstance(value, list) or len(value) != len(rule):
            refuse(f"{name} has other than {len(rule)} entries")
        return [read(entry, inner, name) for entry, inner in zip(value, rule, strict=True)]
    return rule(value)


FORM = ([count], [number], number)
PROGRAM = {
    "c": [number],
    "c0": number,
    "quadratic": [(count, number)],
    "rows": [([count], [number], limit, limit)],
    "lb": [limit],
    "ub": [limit],
    "cones": [{"weights": [number], "forms": [FORM]}],
    "matrices": [{"order": count, "entries": [FORM]}],
    "integer": [count],
}
RAY = {"rows": [number], "cones": [[number]], "matrices": [[number]]}
DUAL = {**RAY, "curve": [number]}
SPARSE = {"rows": [(count, number)]}
PROBLEM = {
    "y": [whole],
    "c": number,
    "loss": word,
    "columns": [[number]],
    "R": [[number]],
    "r": [number],
    "lam": [number],
    "inside": [count],
    "outside": [count],
    "main": or_none(count),
}


def of_selections(value: Any) -> dict[str, Any]:
    """Return a problem of selections; files from before version 0.3 have no loss, which is the hinge loss."""
    held = {"loss": "hinge", **value} if isinstance(value, dict) else value
    return dict(read(held, PROBLEM, "a problem"))


PROOFS = {
    "convex": {"kind": word, "program": PROGRAM, "point": or_none([number]), "dual": or_none(DUAL)},
    "infeasible": {"kind": word, "program": PROGRAM, "ray": RAY},
    "tree": {
        "kind": word,
        "program": PROGRAM,
        "point": or_none([number]),
        "nodes": [box],
        "duals": [{**DUAL, **SPARSE}],
        "rays": [{**RAY, **SPARSE}],
    },
    "stationary": {
        "kind": word,
        "program": PROGRAM,
        "point": [number],
        "dual": DUAL,
        "slopes": [(number, number, [count])],
    },
    "selection": {
        "kind": word,
        "problem": of_selections,
        "steps": count,
        "alpha": [[count]],
        "mu": [[number]],
        "tree": [node],
        "point": or_none({"selected": [count], "w": [number], "b": number}),
    },
}
CLAIM = {
    "status": word,
    "program": word,
    "parameters": parameters,
    "rows": or_none([count]),
    "columns": or_none([count]),
    "units": word,
    "sense": word,
    "lower": limit,
    "upper": limit,
    "gap": limit,
    "left_out": [[count]],
}
DATA = {"sha256": word, "samples": count, "positive": count, "features": count, "weighted": flag}
STATEMENT = {
    "answer": word,
    "name": word,
    "parameters": parameters,
    "scale": word,
    "changed": [word],
    "data": DATA,
    "claims": [CLAIM],
}


def evidence(value: Any) -> Any:
    """Return the proof of a claim."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in PROOFS:
        refuse("the kind of a proof is unknown")
    return read(value, PROOFS[kind], "a proof")


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of the file, each of whose keys stands once."""
    return dict(pairs) if len(dict(pairs)) == len(pairs) else refuse("a key stands twice in an object")


def loaded(path: str) -> Any:
    """Return the JSON value of a file that is not too large and not too deep."""
    with open(path, "rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        refuse(f"it has more than {MOST_BYTES} bytes")
    text = content.decode("utf-8")
    depth = 0
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
        if depth > MOST_DEPTH:
            refuse("its brackets are nested too deep")
    return json.loads(text, object_pairs_hook=unique, parse_constant=lambda name: refuse(f"{name} is not a number"))


# -- rational numbers ----------------------------------------------------------------------------------------------


def common(values: list[Fraction]) -> tuple[list[int], int]:
    """Return rational numbers as integers over one denominator."""
    bottom = 1
    for below in {v.denominator for v in values}:
        bottom = math.lcm(bottom, below)
        if bottom.bit_length() > MOST_BITS:
            refuse("its numbers have no common denominator of a reasonable length")
    spend(len(values), bottom.bit_length())
    return [v.numerator * (bottom // v.denominator) for v in values], bottom


def total(values: Iterable[Fraction]) -> Fraction:
    """Return the sum of rational numbers."""
    tops, bottom = common(list(values))
    return Fraction(sum(tops), bottom)


class Form:
    """An affine form: columns, integers, an integer constant, and one denominator."""

    def __init__(self, columns: list[int], values: list[Fraction], constant: Fraction = ZERO) -> None:
        need(len(columns) == len(values) and len(set(columns)) == len(columns), "a form is damaged")
        self.columns = columns
        (*self.values, self.constant), self.bottom = common([*values, constant])

    def at(self, x: tuple[list[int], int]) -> Fraction:
        """Return the value at a point."""
        spend(len(self.columns) + 1, self.bottom.bit_length() + x[1].bit_length())
        top: int = sum(map(mul, self.values, [x[0][j] for j in self.columns])) + self.constant * x[1]
        return Fraction(top, self.bottom * x[1])


class Program:
    """min sum P_j x_j^2 / 2 + c'x + c0 subject to rows, bounds, cones and matrix inequalities."""

    def __init__(self, held: dict[str, Any]) -> None:
        self.n = len(held["c"])
        self.c, self.c0 = held["c"], held["c0"]
        self.P = dict(held["quadratic"])
        self.rows = [Form(columns, values) for columns, values, _, _ in held["rows"]]
        self.limits = [(lo, hi) for _, _, lo, hi in held["rows"]]
        self.bounds = list(zip(held["lb"], held["ub"], strict=False))
        self.cones = [(k["weights"], [Form(*f) for f in k["forms"]]) for k in held["cones"]]
        self.matrices = [(k["order"], [Form(*f) for f in k["entries"]]) for k in held["matrices"]]
        self.integer = held["integer"]
        forms = [*self.rows, *(f for _, k in self.cones for f in k), *(f for _, k in self.matrices for f in k)]
        places = [*self.integer, *self.P, *(j for f in forms for j in f.columns)]
        need(self.n > 0, "the program is empty")
        need(len(held["lb"]) == len(held["ub"]) == self.n > max(places, default=0), "a column is out of range")
        once = len(self.P) == len(held["quadratic"]) and len(set(self.integer)) == len(self.integer)
        need(once, "a column of the objective stands twice")
        need(all(v > 0 for v in self.P.values()), "the objective is not convex")
        need(all(len(k) == len(ws) + 2 and all(w > 0 for w in ws) for ws, k in self.cones), "a cone is damaged")
        need(all(len(k) == order * (order + 1) // 2 for order, k in self.matrices), "a matrix is damaged")
        if any(order > MOST_ORDER for order, _ in self.matrices):
            refuse(f"a matrix has an order above {MOST_ORDER}")

    def sizes(self) -> dict[str, int]:
        """Return the numbers of variables, rows, cones and matrices."""
        sizes = {"variables": self.n, "rows": len(self.rows), "cones": len(self.cones), "matrices": len(self.matrices)}
        return {name: size for name, size in sizes.items() if size}

    def value(self, x: list[Fraction]) -> Fraction:
        """Return the objective value of a feasible point; raise Refuted where it violates a constraint."""
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
        linear = Form(list(range(self.n)), self.c, self.c0).at(held)
        return linear + total(v * x[j] ** 2 for j, v in self.P.items()) / 2

    def bound(self, dual: dict[str, Any], *, ray: bool = False) -> Fraction:
        """Return the lower bound of a feasible dual point; of a ray the objective counts as 0."""
        y = dual["rows"]
        cones, matrices = dual["cones"], dual["matrices"]
        given = [] if ray else dual["curve"]
        lengths = [len(y), len(cones), len(matrices), *map(len, cones), *map(len, matrices), len(given)]
        wanted = [len(self.rows), len(self.cones), len(self.matrices)]
        wanted += [*(len(k) for _, k in self.cones), *(len(k) for _, k in self.matrices), 0 if ray else len(self.P)]
        need(lengths == wanted, "the dual point has another length")
        curve = dict(zip(self.P, given, strict=False))
        terms = list(zip(y, self.rows, strict=True))
        for (alpha, beta, *gamma), (weights, forms) in zip(cones, self.cones, strict=True):
            in_cone(alpha, beta, [1 / (4 * w) for w in weights], gamma, "a multiplier is outside the dual cone")
            terms += zip([alpha, beta, *gamma], forms, strict=True)
        for Z, (order, entries) in zip(matrices, self.matrices, strict=True):
            need(semidefinite(order, Z), "a matrix of multipliers is not semidefinite")
            twice = [1 if i == j else 2 for j in range(order) for i in range(j + 1)]
            terms += [(t * v, f) for t, v, f in zip(twice, Z, entries, strict=True)]
        parts = [ZERO if ray else self.c0]
        parts += [-m * Fraction(f.constant, f.bottom) for m, f in terms[len(y) :] if m and f.constant]
        parts += [-self.P[j] * point**2 / 2 for j, point in curve.items()]
        parts += [at_limit(v, lo, hi) for v, (lo, hi) in zip(y, self.limits, strict=True)]
        parts += [at_limit(r, *self.bounds[j]) for j, r in enumerate(self.reduced(terms, curve, ray))]
        return total(parts)

    def lowest(self, held: dict[str, Any]) -> Fraction | None:
        """Return the smallest bound of the leaves of branch and bound; None where none has a point."""
        trees, root = sibling("verify_trees"), self.bounds
        found: list[Fraction] = []
        try:
            for mark, place, bounds in trees.boxes(held["nodes"], root, self.integer):
                self.bounds = bounds
                spend(self.n)
                given = held["rays" if mark == "empty" else "duals"]
                need(place < len(given), "the multipliers of a leaf are missing")
                value = self.bound(trees.full(given[place], len(self.rows)), ray=mark == "empty")
                need(mark == "leaf" or value > 0, "the ray of a leaf proves no infeasibility")
                found += [value] * (mark == "leaf")
        except trees.Damaged as error:
            raise Refuted(str(error)) from None
        self.bounds = root
        return min(found, default=None)

    def reduced(self, terms: list[tuple[Fraction, Form]], curve: dict[int, Fraction], ray: bool) -> list[Fraction]:
        """Return the reduced costs c + P x - sum of multipliers times their forms."""
        multipliers, bottom = common([m for m, _ in terms])
        _, scale = common([Fraction(1, f.bottom) for _, f in terms])
        taken = [0] * self.n
        for m, (_, form) in zip(multipliers, terms, strict=True):
            factor = m * (scale // form.bottom)
            if factor:
                spend(len(form.columns), factor.bit_length())
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
    (values, bottom), (scaled, scale) = common(tails), common(weights)
    spend(len(values), 2 * bottom.bit_length())
    square = Fraction(sum(w * v * v for w, v in zip(scaled, values, strict=True)), scale * bottom**2)
    need(square <= left * right, reason)


def semidefinite(order: int, triangle: list[Fraction]) -> bool:
    """Return whether a matrix, its upper triangle column by column, is positive semidefinite.

    Elimination in integers: each number is a minor of the matrix, and divided by the pivot before without a rest.
    """
    S = [[0] * order for _ in range(order)]
    tops, _ = common(triangle)
    for k, (i, j) in enumerate((a, b) for b in range(order) for a in range(b + 1)):
        S[i][j] = S[j][i] = tops[k]
    last = 1
    for k in range(order):
        pivot = S[k][k]
        if pivot < 0 or (pivot == 0 and any(S[k][k + 1 :])):
            return False
        if pivot == 0:
            continue
        spend((order - k) ** 2, 4 * pivot.bit_length())
        for i in range(k + 1, order):
            factor = S[i][k]
            for j in range(i, order):
                S[i][j] = S[j][i] = (S[i][j] * pivot - factor * S[k][j]) // last
        last = pivot
    return True


# -- selections of features ----------------------------------------------------------------------------------------


class Selection:
    """min F(s) + lam's over selections s with R s <= r, where F is the value of a support vector machine on s."""

    def __init__(self, held: dict[str, Any]) -> None:
        self.y = held["y"]
        self.C, self.lam = held["c"], held["lam"]
        self.loss = held["loss"]
        need(self.loss in ("hinge", "squared-hinge", "logistic"), "the loss is unknown")
        need(set(self.y) <= {-1, 1} and self.C > 0, "the labels or the penalty weight are damaged")
        self.columns, self.p = held["columns"], len(held["columns"])
        need(bool(self.y) and self.p > 0, "the problem is empty")
        need(all(len(x) == len(self.y) for x in self.columns), "a feature has another length")
        self.features = [common(column) for column in self.columns]
        self.signed = [[a * b for a, b in zip(self.y, x, strict=True)] for x, _ in self.features]
        self.R, self.r = held["R"], held["r"]
        self.main = held["main"]
        need(len(self.lam) == self.p and all(len(row) == self.p for row in self.R), "the constraints are damaged")
        whole = all(j < self.p for j in (*held["inside"], *held["outside"]))
        need(len(self.R) == len(self.r) and whole, "the constraints are damaged")
        self.fixed = (frozenset(held["inside"]), frozenset(held["outside"]))
        need(self.main is None or self.main < len(self.R), "there is no main constraint")
        need(self.main is None or all(v >= 0 for v in self.R[self.main]), "the main constraint has negative weights")
        self.cuts: dict[int, CutValues] = {}

    def sizes(self) -> dict[str, int]:
        """Return the numbers of samples, features and constraints."""
        return {"samples": len(self.y), "features": self.p, "constraints": len(self.R)}

    def decided(self, node: Node, into: set[int], out: set[int]) -> Node | None:
        """Return a node with further features decided, and all that one constraint decides then; None if empty."""
        while True:
            spend((1 + len(self.R)) * self.p * 4)
            node = (node[0] | into, node[1] | out)
            if node[0] & node[1]:
                return None
            free = [j for j in range(self.p) if j not in node[0] and j not in node[1]]
            into, out = set(), set()
            for row, right in zip(self.R, self.r, strict=True):
                left = right - total(row[j] for j in node[0]) - total(min(row[j], ZERO) for j in free)
                if left < 0:
                    return None
                out |= {j for j in free if row[j] > left}
                into |= {j for j in free if -row[j] > left}
            if not into and not out:
                return node

    def cut(self, name: int, held: dict[str, Any]) -> CutValues:
        """Return constant and gains of a cut."""
        if name not in self.cuts:
            need(name < len(held["alpha"]) == len(held["mu"]), "a cut is missing")
            grid, mu = held["alpha"][name], held["mu"][name]
            steps = held["steps"]
            need(0 < steps < 2**53, "the number of steps is out of bounds")
            unit = self.C / steps
            bounded = len(grid) == len(self.y) and (self.loss == "squared-hinge" or all(a <= steps for a in grid))
            need(bounded, "a multiplier is out of bounds")
            need(sum(map(mul, grid, self.y)) == 0, "multipliers do not balance")
            need(len(mu) == len(self.r) and all(v >= 0 for v in mu), "a multiplier of a constraint is negative")
            bits = max([*grid, steps]).bit_length()
            gains = []
            for j, (x, (_, bottom)) in enumerate(zip(self.signed, self.features, strict=True)):
                spend(len(grid), bottom.bit_length() + bits)
                q = unit * Fraction(sum(map(mul, grid, x)), bottom)
                gains.append(q * q / 2 - self.lam[j] - total(m * row[j] for m, row in zip(mu, self.R, strict=True)))
            self.cuts[name] = (self.term(grid, steps) - total(map(mul, mu, self.r)), gains)
        return self.cuts[name]

    def term(self, grid: list[int], steps: int) -> Fraction:
        """Return the term of the multipliers a = grid C / steps in the dual, of the logistic loss a number below it."""
        if self.loss == "logistic":
            spend(len(grid) * 200, 256)
            return Fraction(self.C * sibling("verify_functions").entropy(grid, steps))
        # the conjugate of C t^2 at a: a^2 / (4 C)
        curved = Fraction(sum(map(mul, grid, grid)), 4 * steps) if self.loss == "squared-hinge" else ZERO
        return Fraction(self.C * (sum(grid) - curved) / steps)

    def bound(self, cut: CutValues, node: Node) -> Fraction:
        """Return the bound of a cut on a node; any tau >= 0 is valid, that of the last feature that fits is best."""
        gains, spent = cut[1], [cut[1][j] for j in node[0]]
        free = [j for j in range(self.p) if j not in node[0] and j not in node[1] and gains[j] > 0]
        spend(self.p * 8)
        if self.main is None:
            return cut[0] - total([*spent, *(gains[j] for j in free)])
        weight, tau = self.R[self.main], ZERO
        left: Fraction = self.r[self.main] - total(weight[j] for j in node[0])
        room = left
        for j in sorted((k for k in free if weight[k]), key=lambda k: -gains[k] / weight[k]):
            if weight[j] > room:
                tau = gains[j] / weight[j]
                break
            room -= weight[j]
        return total(
            [cut[0], -tau * left, *(-v for v in spent), *(min(tau * weight[j] - gains[j], ZERO) for j in free)]
        )

    def lowest(self, held: dict[str, Any], left_out: list[list[int]]) -> list[Fraction]:
        """Return the bounds of the leaves of a tree in preorder; its known leaves are the selections left out."""
        pending = [self.decided(self.fixed, set(), set())]
        found: list[Fraction] = []
        met: list[int] = []
        for mark, *rest in held["tree"]:
            need(bool(pending), "a part of the tree belongs to no node")
            at = pending.pop()
            need((at is None) == (mark == "empty"), "a node is wrongly marked as empty")
            if at is None:
                continue
            if mark == "leaf":
                found.append(self.bound(self.cut(rest[0], held), at))
            elif mark == "known":
                met.append(rest[0])
                own = rest[0] < len(left_out) and frozenset(left_out[rest[0]]) == at[0]
                need(own and len(at[0] | at[1]) == self.p, "a known selection is none of those left out")
            else:
                features = [rest[0]] if mark == "branch" else [abs(f) - 1 for f in rest[1]]
                free = all(0 <= j < self.p and j not in at[0] and j not in at[1] for j in features)
                need(free and len(set(features)) == len(features), "a feature is not free at its node")
                if mark == "branch":  # the subtree without the feature comes first
                    pending += [self.decided(at, {rest[0]}, set()), self.decided(at, set(), {rest[0]})]
                else:
                    into, out = {f - 1 for f in rest[1] if f > 0}, {-f - 1 for f in rest[1] if f < 0}
                    cut = self.cut(rest[0], held)  # it closes the other value of each of the features
                    found += [self.bound(cut, (at[0], at[1] | {j})) for j in into]
                    found += [self.bound(cut, (at[0] | {j}, at[1])) for j in out]
                    pending.append(self.decided(at, into, out))
        need(not pending, "the tree ends early")
        need(sorted(met) == list(range(len(left_out))), "the known leaves are not the selections left out")
        return found

    def value(self, given: dict[str, Any]) -> Fraction:
        """Return the objective value of a selection with a hyperplane on it."""
        chosen, w = set(given["selected"]), given["w"]
        need(len(w) == self.p > max(chosen, default=0), "the selection is damaged")
        need(not any(v for j, v in enumerate(w) if j not in chosen), "a weight outside the selection is not 0")
        inside = all(total(row[j] for j in chosen) <= right for row, right in zip(self.R, self.r, strict=True))
        need(inside and self.fixed[0] <= chosen and not self.fixed[1] & chosen, "the selection violates a constraint")
        scores = [given["b"] * label for label in self.y]
        for j in chosen:
            spend(len(scores), self.features[j][1].bit_length() + 64)
            scores = [s + w[j] / self.features[j][1] * v for s, v in zip(scores, self.signed[j], strict=True)]
        parts = [*(v * v / 2 for v in w), self.C * total(map(self.loss_at, scores)), *(self.lam[j] for j in chosen)]
        return total(parts)

    def loss_at(self, score: Fraction) -> Fraction:
        """Return the loss of a sample by its signed score, of the logistic loss a number above it."""
        if self.loss == "logistic":
            spend(25_000)
            return Fraction(sibling("verify_functions").logistic(score))
        slack = max(1 - score, ZERO)
        return slack * slack if self.loss == "squared-hinge" else slack


# -- stationary points, and the ends that a proof shows ------------------------------------------------------------


def stationary(held: dict[str, Any], program: Program) -> tuple[Fraction, Fraction]:
    """Return bounds (below, above) on the best step and on the point, of the linearised objective at the point.

    The terms are f (1 - e^-kt) with t = x_a, or t = |x_a - x_b|; their costs at the point are not below those of c.
    """
    x, above = held["point"], [program.value(held["point"])]
    curved = [j for _, _, columns in held["slopes"] for j in columns]
    need(len(set(curved)) == len(curved), "a column is in two concave terms")
    need(not program.P and program.n > max(curved, default=0), "the terms are not those of a linear program")
    for weight, steepness, columns in held["slopes"]:
        need(weight >= 0 and steepness > 0 and len(columns) in (1, 2), "a slope is damaged")
        t = x[columns[0]] - (x[columns[1]] if len(columns) == 2 else 0)
        spend(20_000)
        low, high = (weight * steepness * v for v in sibling("verify_functions").exponential(steepness * abs(t)))
        twice = 2 * weight * steepness
        costs = [(low, high), (twice - high, twice - low)]
        for j, (below, most) in zip(columns if t >= 0 else columns[::-1], costs, strict=False):
            need(program.bounds[j][0] == 0 and program.c[j] <= below, "a cost is above the slope of its exponential")
            above.append((most - program.c[j]) * x[j])
    return program.bound(held["dual"]), total(above)


def problem_of(held: dict[str, Any]) -> Program | Selection:
    """Return the problem of a proof."""
    return Selection(held["problem"]) if held["kind"] == "selection" else Program(held["program"])


def check(claim: dict[str, Any], held: dict[str, Any], problem: Program | Selection) -> Interval:
    """Return the proved interval of a claim; raise Refuted where it does not follow."""
    status, kind = claim["status"], held["kind"]
    left_out = claim["left_out"]
    need((kind == "stationary") == (status == "stationary"), "the status is not that of the proof")
    empty = kind == "infeasible" or (kind == "tree" and held["point"] is None and status == "infeasible")
    need(empty == (status == "infeasible"), "the status is not that of the proof")
    need(not left_out or (kind == "selection" and status in ("bounded", "exhausted")), "it leaves selections out")
    lower, upper = claim["lower"], claim["upper"]
    gap = claim["gap"]
    if claim["sense"] == "max":
        lower, upper = None if upper is None else -upper, None if lower is None else -lower
    need(claim["sense"] in ("min", "max"), "the sense is neither min nor max")
    ends = (lower is not None, upper is not None, gap is not None)
    both = (True, True, True)
    allowed = {
        "optimal": [both],
        "stationary": [both],
        "feasible": [(True, True, False), (False, True, False)],
        "bounded": [(True, False, False)],
        "infeasible": [(False, False, False)],
        "exhausted": [(False, False, False)],
    }
    need(ends in allowed.get(status, []), "the numbers of the claim are not those of its status")
    below, above = proved(held, problem, left_out)
    need(kind != "tree" or status != "infeasible" or below is None, "a leaf may have a point")
    need(status != "exhausted" or (kind == "selection" and below is None), "there are other selections")
    need(lower is None or (below is not None and lower <= below), "the claimed bound is above the proved one")
    need(upper is None or (above is not None and above <= upper), "the claimed value is below the proved one")
    need(lower is None or upper is None or lower <= upper, "the ends of the interval are in the wrong order")
    if gap is not None:
        need(width(lower, upper) <= gap, "the interval is wider than the claimed gap")
        need(gap <= LARGEST_GAP, "the claimed gap is above 1/1000, the largest of what is called optimal")
    return claim["lower"], claim["upper"]


def width(lower: Fraction, upper: Fraction) -> Fraction:
    """Return the relative width of an interval."""
    return (upper - lower) / max(ONE, abs(upper), abs(lower))


def proved(held: dict[str, Any], problem: Program | Selection, left_out: list[list[int]]) -> Interval:
    """Return the bounds below and above that a proof shows, of its minimisation form."""
    if isinstance(problem, Selection):
        found = problem.lowest(held, left_out)
        return min(found, default=None), None if held["point"] is None else problem.value(held["point"])
    if held["kind"] == "stationary":
        return stationary(held, problem)
    if held["kind"] == "infeasible":
        need(problem.bound(held["ray"], ray=True) > 0, "the ray proves no infeasibility")
        return None, None
    above = None if held["point"] is None else problem.value(held["point"])
    if held["kind"] == "tree":
        return problem.lowest(held), above
    return None if held["dual"] is None else problem.bound(held["dual"]), above


# -- the statement -------------------------------------------------------------------------------------------------


@functools.cache
def sibling(name: str) -> Any:
    """Return a module beside this file, whether fsopt is installed or not."""
    spec = importlib.util.spec_from_file_location(name, __file__.replace("verify.py", f"{name}.py"))
    if spec is None or spec.loader is None:
        raise Unreadable(f"{name}.py is missing beside verify.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def confirm(proof: dict[str, Any], data: str | None, exported: str | None) -> list[dict[str, Any]]:
    """Return what was found of each claim of a read proof; raise Refuted where one does not follow."""
    statement, programs = proof["statement"], sibling("verify_data")
    claims, held = statement["claims"], proof["proof"]
    need(len(claims) == len(held) > 0, "the claims and their proofs are not equally many")
    found = []
    try:
        table = None if data is None else programs.Samples.of_file(data, statement)
        for claim, part in zip(claims, held, strict=True):
            problem = problem_of(part)
            derived = programs.compare(statement, claim, part, problem, table)
            if data is not None and not derived:
                refuse(f"no program is derived from data for '{claim['program']}': give --program")
            if exported is not None:
                files = sibling("verify_files")
                try:
                    files.compare(exported, problem)
                except files.Unlike as error:
                    raise Refuted(str(error)) from None
            lower, upper = check(claim, part, problem)
            gap = None if lower is None or upper is None else width(lower, upper)
            found.append({"lower": lower, "upper": upper, "gap": gap, "sizes": problem.sizes()})
    except programs.Different as error:
        raise Refuted(str(error)) from None
    return found


def decimal(value: Fraction | None, *, up: bool) -> str:
    """Return a decimal number of about 12 digits on one side of a value."""
    if value is None:
        return "inf" if up else "-inf"
    digits = 0 if not value else max(12 - len(str(int(abs(value)))) * bool(int(value)), 0)
    while value and digits < 40 and abs(value) * 10**digits < 10**3:
        digits += 1
    scaled = math.ceil(value * 10**digits) if up else math.floor(value * 10**digits)
    text = str(abs(scaled)).rjust(digits + 1, "0")
    return ("-" if scaled < 0 else "") + text[: len(text) - digits] + ("." + text[len(text) - digits :]) * (digits > 0)


def shown(statement: dict[str, Any]) -> list[str]:
    """Return the lines of a statement."""
    data, given = statement["data"], {k: v for k, v in statement["parameters"].items() if v is not None}
    lines = [f"statement  {statement['answer']} {statement['name']} {json.dumps(given)}, scale {statement['scale']}"]
    sizes = f"{data['samples']} samples ({data['positive']} of class +1), {data['features']} features"
    lines.append(f"data       {sizes}, SHA-256 {data['sha256']}")
    if statement["changed"]:
        lines.append(f"changed    by functions of the user: {', '.join(statement['changed'])}")
    return lines


WORDS = {
    "optimal": "the {}imum is",
    "stationary": "no feasible step improves the linearised objective, which is",
    "feasible": "a feasible point has a value",
    "bounded": "every value is",
    "infeasible": "there is no feasible point",
    "exhausted": "there is no selection",
}


def said(claim: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Return the lines of a confirmed claim."""
    about = f"{claim['program']} {json.dumps(claim['parameters'])}"
    part = "".join(f", {k} {json.dumps(claim[k])}" for k in ("rows", "columns") if claim[k] is not None)
    units = "" if claim["units"] == "given" else ", features of unit root mean square"
    left = f", but for {json.dumps(claim['left_out'])}" if claim["left_out"] else ""
    inside = ""
    if (claim["lower"], claim["upper"]) != (None, None):
        inside = f" in [{decimal(claim['lower'], up=False)}, {decimal(claim['upper'], up=True)}]"
    lines = [f"claim      {about}{part}{units}"]
    lines.append(f"           {claim['status']}: {WORDS[claim['status']].format(claim['sense'])}{inside}{left}")
    if found["gap"] is not None:
        stated = "" if claim["gap"] is None else f", stated at most {decimal(claim['gap'], up=True)}"
        lines.append(f"           relative gap {decimal(found['gap'], up=True)}{stated}")
    lines.append("           " + ", ".join(f"{n} {name}" for name, n in found["sizes"].items()))
    return lines


def opened(path: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the statement of a file as it stands there, and the proof as the grammar reads it."""
    held = loaded(path)
    form = held.get("format") if isinstance(held, dict) else None
    if form != FORMAT:
        refuse(f"its format is not '{FORMAT}': write it anew, by 'fsopt evidence'")
    return held.get("statement"), read(held, {"format": word, "statement": STATEMENT, "proof": [evidence]}, "the file")


USAGE = "usage: fsopt-verify PROOF.json [--data FILE.csv] [--program FILE.mps] [--json] [--work FACTOR]"


def arguments_of(given: list[str]) -> dict[str, str] | None:
    """Return the options of a command line, '' for the file; None where it is none."""
    found: dict[str, str] = {}
    rest = list(given)
    while rest:
        name = rest.pop(0)
        key = name if name.startswith("-") else ""
        if key not in ("", "--data", "--program", "--json", "--work") or key in found:
            return None
        if key in ("--data", "--program", "--work") and not rest:
            return None
        found[key] = name if key in ("", "--json") else rest.pop(0)
    factor = found.get("--work", "1")
    return found if "" in found and factor.isascii() and factor.isdecimal() and len(factor) < 10 else None


def main(arguments: list[str] | None = None) -> int:
    """Check the file named on the command line: 0 confirmed, 1 refuted, 2 not readable."""
    given = sys.argv[1:] if arguments is None else arguments
    options = arguments_of(given)
    if options is None:
        print(USAGE)
        return 0 if given in (["-h"], ["--help"]) else 2
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    Work.left = MOST_WORK * int(options.get("--work", "1"))
    statement: Any = None
    found: list[dict[str, Any]] = []
    code, reason = 0, ""
    try:
        statement, proof = opened(options[""])
        found = confirm(proof, options.get("--data"), options.get("--program"))
    except Refuted as error:
        code, reason = 1, str(error)
    except (OSError, ValueError, RecursionError, MemoryError, Unreadable) as error:
        code, reason = 2, str(error).splitlines()[0] if str(error) else type(error).__name__
    except Exception as error:  # never a traceback: what is not foreseen is no proof
        code, reason = 2, f"it is damaged ({type(error).__name__})"
    if "--json" in options:
        ends = [{k: None if f[k] is None else str(f[k]) for k in ("lower", "upper", "gap")} for f in found]
        first = ends[0] if ends else dict.fromkeys(("lower", "upper", "gap"))
        rest = {f"compared_with_{name}": not code and f"--{name}" in options for name in ("data", "program")}
        told = {"confirmed": code == 0, "statement": statement, **first, **rest, "reason": reason, "claims": ends}
        print(json.dumps(told))
    if code == 2:
        print(f"fsopt-verify: '{options['']}' is no proof that can be checked: {reason}", file=sys.stderr)
    elif "--json" not in options:
        report(proof["statement"], found, reason, options)
    return code


def report(statement: dict[str, Any], found: list[dict[str, Any]], reason: str, options: dict[str, str]) -> None:
    """Print a statement, and whether it is confirmed."""
    print("\n".join(shown(statement)))
    if reason:
        print(f"REFUTED    {reason}")
        return
    for claim, one in zip(statement["claims"], found, strict=True):
        print("\n".join(said(claim, one)))
    if "--data" in options:
        ending = "proved for the program that follows from the data"
    elif "--program" in options:
        ending = "proved for the program in the exported file; not compared with data"
    else:
        ending = "proved for the program in this file; not compared with data"
    print(f"confirmed  {ending}")


if __name__ == "__main__":
    sys.exit(main())
