"""Programs of rows, cones, matrices, squares and concave terms: values of points, and bounds of dual points.

The form of a program and the lemmas behind each bound, all of weak duality, are in docs/exact.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from operator import mul
from typing import Any

from .rationals import DUAL, PROGRAM, ZERO, AffineForm, Refuted, common, exponential, need, read, total

Squares = dict[tuple[int, int], Fraction]


class ProgramToCheck:
    """min x'Px / 2 + c'x + c0 and concave terms, subject to bounds and constraints: rows, cones, matrix inequalities.

    A maximum is the minimum of its negative: ``sign`` is -1 then. A constraint has a kind, forms, and what they must
    satisfy: limits of a row, weights of a cone, the order of a matrix.
    """

    def __init__(self, program: Any) -> None:
        held = read(program, PROGRAM, "a program")
        self.n, self.sign = len(held["c"]), 1 if held["sense"] == "min" else -1
        self.c, self.c0 = [self.sign * v for v in held["c"]], self.sign * held["c0"]
        self.P: Squares = {(i, j): self.sign * v for i, j, v in held["quadratic"]}
        self.concave, self.integer = held["concave"], set(held["integer"])
        self.bounds = list(zip(held["lb"], held["ub"], strict=False))
        rows = [("row", [AffineForm(columns, values)], ends) for columns, values, *ends in held["rows"]]
        cones = [("cone", [AffineForm(*f) for f in k["forms"]], k["weights"]) for k in held["cones"]]
        matrices = [("matrix inequality", [AffineForm(*f) for f in k["entries"]], k["order"]) for k in held["matrices"]]
        self.constraints: list[tuple[str, list[AffineForm], Any]] = [*rows, *cones, *matrices]
        curved = [j for _, _, columns in self.concave for j in columns]
        used = [*self.integer, *curved, *(j for pair in self.P for j in pair)]
        used += [j for _, forms, _ in self.constraints for form in forms for j in form.columns]
        need(len(held["lb"]) == len(held["ub"]) == self.n > max(used, default=0), "a column is out of range")
        need(len(self.P) == len(held["quadratic"]) and all(i <= j for i, j in self.P), "a square stands twice")
        whole = all(len(f) == len(ws) + 2 and all(w > 0 for w in ws) for _, f, ws in cones)
        need(whole and all(len(f) == k * (k + 1) // 2 for _, f, k in matrices), "a cone or a matrix is damaged")
        need(not curved or (self.sign > 0 and not self.P), "concave terms stand beside no squares, and in no maximum")
        whole = len(set(curved)) == len(curved) and all(self.bounds[j][0] == 0 for j in curved)
        need(whole and all(f >= 0 < k and 0 < len(t) < 3 for f, k, t in self.concave), "a concave term is damaged")
        self.about = f"{held['sense']}imise, {self.n} variables, {len(self.constraints)} constraints"
        self.scale = common(Fraction(1, f.bottom) for _, forms, _ in self.constraints for f in forms)[1]

    def proved(self, evidence: Any) -> tuple[Fraction | float | None, Fraction | None, list[list[int]]]:
        """Return the bounds below, infinite where no point is left, and above, of the minimisation form."""
        held = read(evidence, DUAL, "the evidence")
        above = None
        if held["point"] is not None:
            need(all(j < self.n for j in held["point"]), "the point is of another program")
            above = self.value([held["point"].get(j, ZERO) for j in range(self.n)])
        need(above is not None or not self.concave, "a linearisation has no point")
        return None if held["dual"] is None else self.lowest(held["dual"], held["shift"]), above, []

    def value(self, x: list[Fraction]) -> Fraction:
        """Return the objective value of a feasible point; raise Refuted for another point.

        The concave terms are replaced by their linearisation at the point: costs from below, the value from above.
        """
        held = common(x)
        inside = all(satisfied("row", [v], ends) for v, ends in zip(x, self.bounds, strict=True))
        need(inside, "the point violates a bound")
        for kind, forms, rule in self.constraints:
            need(satisfied(kind, [form.at(held) for form in forms], rule), f"the point violates a {kind}")
        need(all(x[j].denominator == 1 for j in self.integer), "an integer of the point is not whole")
        linear = AffineForm(list(range(self.n)), self.c, self.c0).at(held)
        parts = [linear, gradient(self.P, x)[1]]
        for j, low, high in slopes(self.concave, x):
            self.c[j] += low
            parts.append(high * x[j])
        return total(parts)

    def lowest(self, dual: dict[str, Any], shift: dict[int, Fraction] | None) -> Fraction | float:
        """Return the bound of a dual point; without a shift infinite, where it shows that there is no point."""
        if shift is None:
            need(self.bound(dual, None) > 0, "the multipliers prove no infeasibility")
            return math.inf
        need(all(v >= 0 and j < self.n for j, v in shift.items()), "a shift is negative, or of no variable")
        self.shifted = self.P | {(j, j): self.P.get((j, j), ZERO) + s for j, s in shift.items()}
        need(semidefinite(self.shifted), "the objective is not convex")
        return self.bound(dual, shift)

    def bound(self, dual: dict[str, Any], shift: dict[int, Fraction] | None) -> Fraction:
        """Return the lower bound of a dual point; without a shift the objective counts as 0."""
        slope, parts = ([ZERO] * self.n, []) if shift is None else self.tangent(dual["curve"], shift)
        terms: list[tuple[Fraction, AffineForm]] = []
        for place, multipliers in dual["multipliers"]:
            need(place < len(self.constraints), "a multiplier belongs to no constraint")
            kind, forms, rule = self.constraints[place]
            need(len(multipliers) == len(forms), "the multipliers of a constraint have another length")
            parts.append(least(kind, multipliers, rule))
            terms += zip(multipliers, forms, strict=True)
        parts += [-m * Fraction(form.constant, form.bottom) for m, form in terms if form.constant]
        multipliers, bottom = common(m for m, _ in terms)
        taken = [0] * self.n
        for m, (_, form) in zip(multipliers, terms, strict=True):
            factor = m * (self.scale // form.bottom)
            for j, v in zip(form.columns, form.values, strict=True):
                taken[j] += factor * v
        reduced = [a - Fraction(v, bottom * self.scale) if v else a for a, v in zip(slope, taken, strict=True)]
        return total([*parts, *(at_limit(r, ends) for r, ends in zip(reduced, self.bounds, strict=True) if r)])

    def tangent(self, curve: dict[int, Fraction], shift: dict[int, Fraction]) -> tuple[list[Fraction], list[Fraction]]:
        """Return slopes, and parts of the constant, of an affine function below the objective.

        It is the tangent at ``curve`` of x'(P + S)x / 2; the rest, -s x^2 / 2, is above its secant between its bounds.
        """
        slope, half = gradient(self.shifted, [curve.get(j, ZERO) for j in range(self.n)])
        parts = [self.c0, -half]
        for j, s in shift.items():
            lo, hi = self.bounds[j]
            if lo is None or hi is None:
                raise Refuted("a shifted variable has no bounds")
            slope[j] -= s * (lo + hi) / 2
            parts.append(s * lo * hi / 2)
        return [a + b for a, b in zip(self.c, slope, strict=True)], parts


def gradient(squares: Squares, x: list[Fraction]) -> tuple[list[Fraction], Fraction]:
    """Return gradient and value of x'Px / 2 at a point."""
    (values, scale), (tops, bottom) = common(squares.values()), common(x)
    found = [0] * len(x)
    for (i, j), v in zip(squares, values, strict=True):
        found[i] += v * tops[j]
        found[j] += v * tops[i] if i != j else 0
    half = Fraction(sum(map(mul, found, tops)), 2 * scale * bottom**2)
    return [Fraction(v, scale * bottom) if v else ZERO for v in found], half


def slopes(concave: list[tuple[Fraction, Fraction, list[int]]], x: list[Fraction]) -> Iterator[tuple[int, Any, Any]]:
    """Yield column, and bounds on its cost in the linearisation at x, of the columns of concave terms.

    The term f (1 - e^-kt) with t = x_a has the cost f k e^-kt. With t = |x_a - x_b| it is f k t less a convex function:
    the larger of the two has that cost, the other one 2 f k less it.
    """
    for weight, steepness, columns in concave:
        t = x[columns[0]] - (x[columns[1]] if len(columns) == 2 else 0)
        low, high = (weight * steepness * v for v in exponential(steepness * abs(t)))
        twice = 2 * weight * steepness
        costs = [(low, high), (twice - high, twice - low)]
        for j, ends in zip(columns if t >= 0 else columns[::-1], costs, strict=False):
            yield j, *ends


def satisfied(kind: str, values: list[Fraction], rule: Any) -> bool:
    """Return whether the values of its forms satisfy a constraint.

    Those of a cone are left, right and the tails: ``sum weights tails^2 <= left right`` and ``left, right >= 0``.
    """
    if kind == "row":
        return (rule[0] is None or rule[0] <= values[0]) and (rule[1] is None or values[0] <= rule[1])
    if kind == "matrix inequality":
        return semidefinite(dict(zip(triangle(rule), values, strict=True)))
    left, right, *tails = values
    (tops, bottom), (scaled, scale) = common(tails), common(rule)
    square = Fraction(sum(w * v * v for w, v in zip(scaled, tops, strict=True)), scale * bottom**2)
    return left >= 0 <= right and square <= left * right


def least(kind: str, multipliers: list[Fraction], rule: Any) -> Fraction:
    """Return a number that the sum of multipliers times the forms of a constraint is never below."""
    if kind == "row":
        return at_limit(multipliers[0], rule)
    if kind == "cone":
        rule = [1 / (4 * w) for w in rule]
    else:  # the multiplier of an entry beside the diagonal counts for both places of it
        multipliers = [m * (1 + (i == j)) for (i, j), m in zip(triangle(rule), multipliers, strict=True)]
    need(satisfied(kind, multipliers, rule), f"the multipliers of a {kind} are outside its dual cone")
    return ZERO


def at_limit(multiplier: Fraction, ends: tuple[Fraction | None, Fraction | None]) -> Fraction:
    """Return a multiplier times the limit that it belongs to; raise Refuted where that limit is infinite."""
    end = ends[0] if multiplier > 0 else ends[1]
    need(end is not None or not multiplier, "a multiplier belongs to an infinite limit")
    return multiplier * (end or ZERO)


def triangle(order: int) -> list[tuple[int, int]]:
    """Return the places of an upper triangle, column by column."""
    return [(i, j) for j in range(order) for i in range(j + 1)]


def semidefinite(entries: Squares) -> bool:
    """Return whether a symmetric matrix, given by its upper triangle, is positive semidefinite.

    Elimination in integers, of the sparsest row first; each row is a positive multiple of that of the Schur complement.
    A negative pivot shows a negative eigenvalue, and a pivot 0 with another entry in its row shows one too.
    """
    values, _ = common(entries.values())
    rows: dict[int, dict[int, int]] = {i: {} for pair in entries for i in pair}
    for (i, j), v in zip(entries, values, strict=True):
        if v:
            rows[i][j] = rows[j][i] = v
    while rows:
        i = min(rows, key=lambda k: len(rows[k]))
        row = rows.pop(i)
        pivot = row.pop(i, 0)
        if pivot < 0 or (row and not pivot):
            return False
        for j in row:
            other = rows[j]
            first = other.pop(i)
            shared = math.gcd(pivot, first)
            own, taken = pivot // shared, first // shared
            changed = {k: own * other.get(k, 0) - taken * row.get(k, 0) for k in row.keys() | other.keys()}
            content = math.gcd(*changed.values()) or 1
            rows[j] = {k: v // content for k, v in changed.items() if v}
    return True
