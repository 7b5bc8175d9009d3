"""Programs of rows, cones, matrices, squares and concave terms: values of points, and bounds of dual points.

The form of a program and the lemmas behind each bound are in docs/exact.md.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from .functions import exponential
from .rationals import (
    ZERO,
    Form,
    common,
    count,
    counts,
    limit,
    marked,
    need,
    number,
    one_of,
    or_none,
    refuse,
    spend,
    total,
    vector,
)

Interval = tuple["Fraction | None", "Fraction | None"]
MOST_ORDER = 200  # of a matrix
FORM = (counts, [number], number)
PROGRAM = {
    "sense": one_of("min", "max"),
    "c": [number],
    "c0": number,
    "quadratic": [(count, count, number)],
    "concave": [(number, number, counts)],
    "rows": [(counts, [number], limit, limit)],
    "lb": [limit],
    "ub": [limit],
    "cones": [{"weights": [number], "forms": [FORM]}],
    "matrices": [{"order": count, "entries": [FORM]}],
    "integer": counts,
}
DUAL = {"rows": vector, "cones": [[number]], "matrices": [[number]], "curve": vector}
EVIDENCE = {
    "point": or_none(vector),
    "shift": vector,
    "nodes": [marked({"leaf": (count,), "empty": (count,), "split": (count, number)})],
    "duals": [DUAL],
}


class Program:
    """min x'Px / 2 + c'x + c0 and concave terms, subject to rows, bounds, cones and matrix inequalities.

    A maximum is the minimum of its negative: ``sign`` is -1 then.
    """

    def __init__(self, held: dict[str, Any]) -> None:
        self.n, self.sign = len(held["c"]), 1 if held["sense"] == "min" else -1
        self.c, self.c0 = [self.sign * v for v in held["c"]], self.sign * held["c0"]
        self.P = {(i, j): self.sign * v for i, j, v in held["quadratic"]}
        self.concave = held["concave"]
        self.rows = [Form(columns, values) for columns, values, _, _ in held["rows"]]
        self.limits = [(lo, hi) for _, _, lo, hi in held["rows"]]
        self.bounds = list(zip(held["lb"], held["ub"], strict=False))
        self.cones = [(k["weights"], [Form(*f) for f in k["forms"]]) for k in held["cones"]]
        self.matrices = [(k["order"], [Form(*f) for f in k["entries"]]) for k in held["matrices"]]
        self.integer = set(held["integer"])
        forms = [*self.rows, *(f for _, k in self.cones for f in k), *(f for _, k in self.matrices for f in k)]
        curved = [j for _, _, columns in self.concave for j in columns]
        places = [*self.integer, *curved, *(j for pair in self.P for j in pair), *(j for f in forms for j in f.columns)]
        need(self.n > 0, "the program is empty")
        need(len(held["lb"]) == len(held["ub"]) == self.n > max(places, default=0), "a column is out of range")
        need(len(self.P) == len(held["quadratic"]) and all(i <= j for i, j in self.P), "a square stands twice")
        need(len(self.integer) == len(held["integer"]), "an integer stands twice")
        need(all(len(k) == len(ws) + 2 and all(w > 0 for w in ws) for ws, k in self.cones), "a cone is damaged")
        need(all(len(k) == order * (order + 1) // 2 for order, k in self.matrices), "a matrix is damaged")
        if any(order > MOST_ORDER for order, _ in self.matrices):
            refuse(f"a matrix has an order above {MOST_ORDER}")
        need(not curved or (self.sign > 0 and not self.P), "concave terms stand beside no squares, and in no maximum")
        need(len(set(curved)) == len(curved), "a column is in two concave terms")
        need(all(self.bounds[j][0] == 0 for j in curved), "a column of a concave term has another lower bound than 0")
        need(all(f >= 0 < k and 0 < len(t) < 3 for f, k, t in self.concave), "a concave term is damaged")
        _, self.scale = common([Fraction(1, f.bottom) for f in forms])

    def described(self) -> str:
        """Return the sense and the numbers of variables, rows, cones and matrices."""
        parts = {"variables": self.n, "rows": len(self.rows), "cones": len(self.cones), "matrices": len(self.matrices)}
        parts |= {"integers": len(self.integer), "concave terms": len(self.concave)}
        sizes = ", ".join(f"{size} {name}" for name, size in parts.items() if size)
        return f"{'minimise' if self.sign > 0 else 'maximise'}, {sizes}"

    def proved(self, held: dict[str, Any], left_out: list[list[int]]) -> Interval:
        """Return the bounds below and above that evidence shows, of the minimisation form; infinite without a point."""
        need(not left_out, "it leaves selections out of a program that has none")
        point, costs = held["point"], self.c
        above = None
        if point is not None:
            x = [point.get(j, ZERO) for j in range(self.n)]
            need(all(j < self.n for j in point), "the point is of another program")
            above = self.value(x)
        if self.concave:
            need(point is not None, "a linearisation has no point")
            costs, above = self.linearised(x)
        return self.lowest(held, costs), above

    def value(self, x: list[Fraction]) -> Fraction:
        """Return the objective value of a feasible point, but for concave terms; raise Refuted for another point."""
        held = common(x)
        values = [*(form.at(held) for form in self.rows), *x]
        for v, (lo, hi) in zip(values, [*self.limits, *self.bounds], strict=True):
            need((lo is None or lo <= v) and (hi is None or v <= hi), "the point violates a row or a bound")
        for weights, (left, right, *tails) in self.cones:
            in_cone(left.at(held), right.at(held), weights, [t.at(held) for t in tails], "the point violates a cone")
        for order, entries in self.matrices:
            values = [f.at(held) for f in entries]
            need(
                semidefinite(dict(zip(triangle(order), values, strict=True))), "the point violates a matrix inequality"
            )
        need(all(x[j].denominator == 1 for j in self.integer), "an integer of the point is not whole")
        squares = [v * x[i] * x[j] / (2 if i == j else 1) for (i, j), v in self.P.items()]
        return Form(list(range(self.n)), self.c, self.c0).at(held) + total(squares)

    def linearised(self, x: list[Fraction]) -> tuple[list[Fraction], Fraction]:
        """Return costs from below of the linearised objective at a point, and its value there from above.

        The terms are f (1 - e^-kt) with t = x_a, or t = |x_a - x_b|.
        """
        costs, parts = list(self.c), [self.c0, *(c * v for c, v in zip(self.c, x, strict=True))]
        for j, low, high in slopes(self.concave, x):
            costs[j] += low
            parts.append(high * x[j])
        return costs, total(parts)

    def lowest(self, held: dict[str, Any], costs: list[Fraction]) -> Fraction | None:
        """Return the smallest bound of the leaves; None where each is empty, or where there are none at all."""
        found, shift = [], held["shift"]
        if any(mark == "leaf" for mark, *_ in held["nodes"]):
            curved = {pair: v for pair, v in self.P.items() if v}
            for j, v in shift.items():
                need(v >= 0 and j < self.n, "a shift is negative, or of no variable")
                curved[j, j] = curved.get((j, j), ZERO) + v
            need(semidefinite(curved), "the objective is not convex")
        for mark, place, bounds in self.boxes(held["nodes"]):
            need(place < len(held["duals"]), "the multipliers of a leaf are missing")
            own = None if mark == "empty" else costs
            value = self.bound(held["duals"][place], bounds, own, shift if own else {})
            need(mark == "leaf" or value > 0, "the multipliers of an empty leaf prove no infeasibility")
            found += [value] * (mark == "leaf")
        return min(found, default=None)

    def boxes(self, nodes: list[list[Any]]) -> Iterator[tuple[str, int, list[Interval]]]:
        """Yield the mark of each leaf in preorder, the place of its multipliers, and its box."""
        pending = [self.bounds] if nodes else []
        for mark, place, *rest in nodes:
            need(bool(pending), "a part of the tree belongs to no node")
            box = pending.pop()
            spend(self.n)
            if mark != "split":
                yield mark, place, box
                continue
            need(place < self.n, "a branching variable is out of range")
            value, (lo, hi) = rest[0], box[place]
            whole = place in self.integer
            need(not whole or value.denominator == 1, "an integer branches at a number that is not whole")
            left, right = box.copy(), box.copy()
            left[place], right[place] = (lo, value), (value + whole, hi)
            pending += [right, left]
        need(not pending, "the tree ends early")

    def bound(
        self, dual: dict[str, Any], bounds: list[Interval], costs: list[Fraction] | None, shift: dict[int, Fraction]
    ) -> Fraction:
        """Return the lower bound of a dual point on a box; without costs the objective counts as 0."""
        y, cones = dual["rows"], dual["cones"]
        matrices = dual["matrices"]
        lengths = [len(cones), len(matrices), *map(len, cones), *map(len, matrices)]
        wanted = [len(self.cones), len(self.matrices), *(len(k) for _, k in (*self.cones, *self.matrices))]
        need(lengths == wanted, "the dual point has another length")
        need(all(i < len(self.rows) for i in y), "the dual point has another length")
        terms = [(v, self.rows[i]) for i, v in y.items()]
        rows = len(terms)
        for (alpha, beta, *gamma), (weights, forms) in zip(cones, self.cones, strict=True):
            in_cone(alpha, beta, [1 / (4 * w) for w in weights], gamma, "a multiplier is outside the dual cone")
            terms += zip([alpha, beta, *gamma], forms, strict=True)
        for Z, (order, entries) in zip(matrices, self.matrices, strict=True):
            need(
                semidefinite(dict(zip(triangle(order), Z, strict=True))), "a matrix of multipliers is not semidefinite"
            )
            terms += [((1 if i == j else 2) * v, f) for (i, j), v, f in zip(triangle(order), Z, entries, strict=True)]
        parts = [-m * Fraction(f.constant, f.bottom) for m, f in terms[rows:] if m and f.constant]
        parts += [at_limit(v, *self.limits[i]) for i, v in y.items()]
        reduced, constant = [ZERO] * self.n, ZERO
        if costs is not None:
            reduced, constant = self.tangent(dual["curve"], bounds, costs, shift)
        for j, taken in self.taken(terms).items():
            reduced[j] -= taken
        parts += [at_limit(r, *bounds[j]) for j, r in enumerate(reduced) if r]
        return total([constant, *parts])

    def tangent(
        self, curve: dict[int, Fraction], bounds: list[Interval], costs: list[Fraction], shift: dict[int, Fraction]
    ) -> tuple[list[Fraction], Fraction]:
        """Return an affine function below the objective on a box: the tangent of its convex part at a point.

        That part is x'(P + S)x / 2; the rest, -s x^2 / 2, is above its secant between the bounds of x.
        """
        slope, constant = list(costs), [self.c0]
        squares = [(i, j, v) for (i, j), v in self.P.items()] + [(j, j, s) for j, s in shift.items()]
        spend(100 * len(squares) + self.n)  # each of some rational operations
        for i, j, v in squares:
            at, other = curve.get(i, ZERO), curve.get(j, ZERO)
            slope[i] += v * other
            if i != j:
                slope[j] += v * at
            constant.append(-v * at * other / (2 if i == j else 1))
        for j, s in shift.items():
            lo, hi = bounds[j]
            if lo is None or hi is None:
                need(not s, "a shifted variable has no bounds")
                continue
            slope[j] -= s * (lo + hi) / 2
            constant.append(s * lo * hi / 2)
        return slope, total(constant)

    def taken(self, terms: list[tuple[Fraction, Form]]) -> dict[int, Fraction]:
        """Return the sum of multipliers times the slopes of their forms."""
        multipliers, bottom = common([m for m, _ in terms])
        taken: dict[int, int] = {}
        for m, (_, form) in zip(multipliers, terms, strict=True):
            factor = m * (self.scale // form.bottom)
            if factor:
                spend(len(form.columns), factor.bit_length())
                for j, v in zip(form.columns, form.values, strict=True):
                    taken[j] = taken.get(j, 0) + factor * v
        return {j: Fraction(v, bottom * self.scale) for j, v in taken.items()}


def slopes(concave: list[tuple[Fraction, Fraction, list[int]]], x: list[Fraction]) -> Iterator[tuple[int, Any, Any]]:
    """Yield column, and bounds on its cost in the linearisation at x, of the columns of concave terms.

    The term f (1 - e^-kt) with t = x_a has the cost f k e^-kt. With t = |x_a - x_b| it is f k t less a convex function:
    the larger of the two has that cost, the other one 2 f k less it.
    """
    for weight, steepness, columns in concave:
        t = x[columns[0]] - (x[columns[1]] if len(columns) == 2 else 0)
        spend(20_000)
        low, high = (weight * steepness * v for v in exponential(steepness * abs(t)))
        twice = 2 * weight * steepness
        costs = [(low, high), (twice - high, twice - low)]
        for j, ends in zip(columns if t >= 0 else columns[::-1], costs, strict=False):
            yield j, *ends


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


def triangle(order: int) -> list[tuple[int, int]]:
    """Return the places of an upper triangle, column by column."""
    return [(i, j) for j in range(order) for i in range(j + 1)]


def semidefinite(entries: dict[tuple[int, int], Fraction]) -> bool:
    """Return whether a symmetric matrix, given by its upper triangle, is positive semidefinite.

    Elimination in integers, of the sparsest row first; each row is a positive multiple of that of the Schur complement.
    A negative pivot shows a negative eigenvalue, and a pivot 0 with another entry in its row shows one too.
    """
    values, _ = common(entries.values())
    rows: dict[int, dict[int, int]] = {i: {} for pair in entries for i in pair}
    for (i, j), v in zip(entries, values, strict=True):
        if v:
            rows[i][j] = rows[j][i] = v
    queue = [(len(row), i) for i, row in rows.items()]
    heapq.heapify(queue)
    while queue:
        size, i = heapq.heappop(queue)
        if i not in rows or size != len(rows[i]):
            continue
        row = rows.pop(i)
        pivot = row.pop(i, 0)
        if pivot < 0 or (row and not pivot):
            return False
        for j in row:
            other = rows[j]
            first = other.pop(i)
            shared = math.gcd(pivot, first)
            own, taken = pivot // shared, first // shared
            spend(3 * (len(row) + len(other)), own.bit_length() + taken.bit_length())
            changed = {k: own * other.get(k, 0) - taken * row.get(k, 0) for k in row.keys() | other.keys()}
            content = math.gcd(*changed.values()) or 1
            rows[j] = {k: v // content for k, v in changed.items() if v}
            heapq.heappush(queue, (len(rows[j]), j))
    return True
