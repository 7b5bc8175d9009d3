"""Selections of features: the tree of a search replayed, each leaf closed by a cut, and the value of a classifier.

The problem and the lemmas behind each bound, weak duality for a fixed selection, are in docs/exact.md. Cuts are rounded
to the safe side, to integers in units of 2^-64, so that a leaf takes sums of integers alone.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, islice
from operator import mul
from typing import Any

from .coverage import UNIT, Coverage
from .programs import satisfied
from .rationals import SELECTION, TREE, ZERO, common, entropy, logistic, need, read, total

Node = tuple[frozenset[int], frozenset[int]]  # features inside, and outside, of every selection below a node
Others = Sequence[tuple[int, int]]  # features, and 0 where they are inside, 1 where they are outside of a node
Ordered = tuple[int, list[int], list[int]]  # a cut, and the features that gain in falling order


class SelectionToCheck:
    """min F(s) + lam's over selections s with R s <= r, where F is the value of a support vector machine on s.

    A feature of a selection is a group of columns, whose weights have bounds that admit 0; mostly it is one column.
    ``columns`` are the samples of each that are in the file, and its signed integers there. Each constraint is one of
    integers, ``scales`` times that of the file, its right-hand side rounded down.
    """

    sign = 1

    def __init__(self, program: Any) -> None:
        held = read(program, SELECTION, "a program")
        self.y, self.C = list(map(int, held["y"])), held["c"]
        self.loss, self.lam = held["loss"], held["lam"]
        n, columns = len(held["y"]), [(range(len(x)) if at is None else at, x) for at, x in held["columns"]]
        self.p, self.of = len(self.lam), held["groups"]
        self.bounds = list(zip(held["lower"], held["upper"], strict=False))
        self.fixed: Node = (frozenset(held["inside"]), frozenset(held["outside"]))
        need(set(held["y"]) <= {-1, 1} and self.C > 0, "the labels or the penalty weight are damaged")
        whole = all(len(x) == (n if isinstance(at, range) else len(at)) and n > max(at, default=0) for at, x in columns)
        need(n > 0 < self.p and whole, "a feature has another length, or there is none")
        sizes = {len(self.of), len(held["lower"]), len(held["upper"])}
        need(sizes == {len(columns)} and set(self.of) == set(range(self.p)), "the groups or bounds are damaged")
        need(all(satisfied("row", [ZERO], ends) for ends in self.bounds), "the bounds of a weight do not admit 0")
        whole = {self.p, *map(len, held["R"])} == {self.p} and len(held["R"]) == len(held["r"])
        need(whole and max((*self.fixed[0], *self.fixed[1]), default=0) < self.p, "the constraints are damaged")
        rows = [common(row) for row in held["R"]]
        self.R, self.scales = [row for row, _ in rows], [scale for _, scale in rows]
        self.r = [math.floor(right * scale) for right, scale in zip(held["r"], self.scales, strict=True)]
        flat, self.bottom = common(v for _, x in columns for v in x)
        self.d, rest = len(columns), iter(flat)
        self.most = max(map(abs, flat), default=0)
        self.columns = [(at, [self.y[i] * next(rest) for i in at]) for at, _ in columns]
        features = f"{self.p} groups of {self.d} features" if self.p < self.d else f"{self.p} features"
        self.about = f"minimise, selections of {features}, {self.loss} loss, {n} samples, {len(rows)} constraints"

    def proved(self, evidence: Any) -> tuple[Fraction | float, Fraction | None, list[list[int]]]:
        """Return the bounds below, infinite where no selection is left, and above, and the selections left out."""
        held = read(evidence, TREE, "the evidence")
        main = held["main"]
        need(main is None or main < len(self.R), "there is no main constraint")
        self.weight: list[int] = [0] * self.p if main is None else self.R[main]
        self.right: int = 0 if main is None else self.r[main]
        need(min(self.weight) >= 0, "the main constraint has negative weights")
        made = self.made([parts for parts in held["cuts"] if len(parts) == 3])
        self.cuts = [self.covered(*parts) if len(parts) == 2 else next(made) for parts in held["cuts"]]
        below, left_out = self.lowest(held["tree"])
        return below, None if held["point"] is None else self.value(held["point"]), left_out

    def made(self, given: list[Any]) -> Iterator[list[list[Ordered]]]:
        """Yield the cuts of multipliers, rounded to the safe side."""
        for steps, grid, mu in given:
            whole = steps > 0 and len(grid) == len(self.y) and all(k < len(self.R) and v >= 0 for k, v in mu.items())
            need(whole, "a cut is damaged")
            need(self.loss == "squared-hinge" or max(grid) <= steps, "a multiplier is out of bounds")
            need(sum(map(mul, grid, self.y)) == 0, "multipliers do not balance")
        for (steps, grid, mu), q in zip(given, self.products([grid for _, grid, _ in given]), strict=True):
            gains = self.gains(q, self.C / (steps * self.bottom))
            weights = [(v / self.scales[k], k) for k, v in mu.items()]
            for j in range(self.p) if mu or any(self.lam) else ():
                gains[j] -= math.floor((self.lam[j] + total(v * self.R[k][j] for v, k in weights)) * UNIT)
            constant = self.term(grid, steps) - total(v * self.r[k] for v, k in weights)
            yield [[self.ordered(math.floor(constant * UNIT), gains)]]

    def products(self, grids: list[list[int]]) -> Iterable[Sequence[int]]:
        """Return the products of the columns with each of some multipliers; the longer ones are packed."""
        n, top = len(self.y), max([1, *map(max, grids)])
        width = 8 * ((top * self.most * n).bit_length() // 8 + 1)
        if self.most > top and all(len(x) == n for _, x in self.columns):
            return multiplied(((range(n), grid) for grid in grids), [x for _, x in self.columns], width)
        return zip(*multiplied(self.columns, grids, width), strict=True)

    def covered(self, ends: list[Fraction], rules: list[tuple[int, Fraction]]) -> list[list[Ordered]]:
        """Return the cut by coverage, with harm beside a main constraint that is a cardinality."""
        need(self.loss == "hinge", "coverage bounds the hinge loss alone")
        m = min(self.right // self.weight[0], self.p) if len({0, *self.weight}) == 2 and 0 not in self.weight else 0
        return [[self.ordered(*cut) for cut in piece] for piece in Coverage(self, m).pieces(ends, rules)]

    def gains(self, q: Sequence[int], unit: Fraction) -> list[int]:
        """Return what each feature takes by the products q of its columns, in a unit: each rounded up.

        A column takes the largest w q - w^2 / 2 within its bounds, half of q^2 where it has none.
        """
        top, bottom = unit.numerator**2 * UNIT, 2 * unit.denominator**2
        gains = [0] * self.p
        for group, v, ends in zip(self.of, q, self.bounds, strict=True):
            end = ends[v >= 0]
            if end is None or abs(end) >= abs(v) * unit:
                gains[group] -= -v * v * top // bottom
            else:
                gains[group] -= math.floor(-(end * (v * unit - end / 2)) * UNIT)
        return gains

    def term(self, grid: list[int], steps: int) -> Fraction:
        """Return the term of the multipliers a = grid C / steps in the dual, of the logistic loss a number below it."""
        if self.loss == "logistic":
            return Fraction(self.C * entropy(grid, steps))
        # the conjugate of C t^2 at a: a^2 / (4 C)
        curved = Fraction(sum(map(mul, grid, grid)), 4 * steps) if self.loss == "squared-hinge" else ZERO
        return Fraction(self.C * (sum(grid) - curved) / steps)

    def decided(self, node: Node | None, into: set[int], out: set[int]) -> Node | None:
        """Return a node with further features decided, and all that one constraint decides then; None if empty."""
        while node is not None:
            node = (node[0] | into, node[1] | out)
            if node[0] & node[1]:
                return None
            free = set(range(self.p)).difference(*node)
            into, out = set(), set()
            for row, right in zip(self.R, self.r, strict=True):
                left = right - sum(row[j] for j in node[0]) - sum(row[j] for j in free if row[j] < 0)
                if left < 0:
                    return None
                out |= {j for j in free if row[j] > left} if max(row) > left else set()
                into |= {j for j in free if -row[j] > left} if -min(row) > left else set()
            if not into and not out:
                break
        return node

    def ordered(self, constant: int, gains: list[int]) -> Ordered:
        """Return a cut and the features that gain in the order of their gain for weight, which is exact.

        Two ratios that are not equal differ by more than 1 in units of 1 over the square of the largest weight.
        """
        shift = 2 * max(self.weight).bit_length()
        ratio = [(v << shift) // w if w else math.inf for v, w in zip(gains, self.weight, strict=True)]
        falling = sorted((j for j, v in enumerate(gains) if v > 0), key=ratio.__getitem__, reverse=True)
        return constant, gains, falling

    def closed(self, name: int, node: Node, others: Others = ((-1, 1),)) -> int:
        """Return the smallest bound of a cut on a node with one of some features decided."""
        need(name < len(self.cuts), "a cut is missing")
        pieces = (zip(*(self.bounds_on(cut, node, others) for cut in piece), strict=True) for piece in self.cuts[name])
        return int(min(max(bounds) for piece in pieces for bounds in piece))

    def bounds_on(self, cut: Ordered, node: Node, others: Others) -> Iterator[int]:
        """Yield the bounds of a cut on a node with each of some features decided, for the best tau each.

        It is that of the first feature, in falling order of gain for weight, that does not fit as a whole.
        """
        (constant, gains, falling), weight = cut, self.weight
        least = min(weight)
        base, right = constant - sum(gains[j] for j in node[0]), self.right - sum(weight[j] for j in node[0])
        most = max((right + max(weight)) // least + 1, 0) if least else None  # more than these never fit
        kept = [*islice((j for j in falling if j not in node[0] and j not in node[1]), most)]
        sizes, sums = ([0, *accumulate(values[j] for j in kept)] for values in (weight, gains))
        place = {j: k for k, j in enumerate(kept)}
        for j, side in others:
            own = side == 0 and j not in node[0]
            left, found = right - own * weight[j], base - own * gains[j]
            left = left if left >= least else 0  # no further feature fits
            if bisect_right(sizes, left) > place.get(j, self.p + 1):  # it would be one of those that fit
                left, found = left + weight[j], found + gains[j]
            fit = bisect_right(sizes, left) - 1
            found -= sums[fit]
            if fit < len(place):
                found += (sizes[fit] - left) * (sums[fit + 1] - sums[fit]) // (sizes[fit + 1] - sizes[fit])
            yield found

    def lowest(self, tree: list[list[Any]]) -> tuple[Fraction | float, list[list[int]]]:
        """Return the smallest bound of the leaves in preorder, infinite without any, and the known selections."""
        pending = [self.decided(self.fixed, set(), set())]
        left_out: list[list[int]] = []
        found: int | float = math.inf
        for mark, *rest in tree:
            need(bool(pending), "a part of the tree belongs to no node")
            at = pending.pop()
            closed: dict[int, list[tuple[int, int]]] = {rest[0]: [(-1, 1)]} if mark == "leaf" else {}
            need(mark != "empty" or at is None, "a node is wrongly marked as empty")
            if mark == "known":
                need(at is not None and len(at[0] | at[1]) == self.p, "a known selection is not complete")
                left_out.append(sorted(at[0] if at else ()))
            elif mark == "branch":  # the subtree without the feature comes first
                need(rest[0] < self.p, "a feature is out of range")
                pending += [self.decided(at, {rest[0]}, set()), self.decided(at, set(), {rest[0]})]
            elif mark == "peg":  # each of the cuts closes the other value of its feature
                names, into, out = rest
                others = [*((j, 1) for j in into), *((j, 0) for j in out)]
                whole = len(names) == len(others) and max(others, default=(0, 0))[0] < self.p
                need(whole, "a feature has no cut, or two, or is out of range")
                for name, (j, side) in zip(names, others, strict=True):
                    if at is not None and j not in at[1 - side]:
                        closed.setdefault(name, []).append((j, side))
                pending.append(self.decided(at, set(into), set(out)))
            if at is not None:
                found = min([found, *(self.closed(name, at, others) for name, others in closed.items())])
        need(not pending, "the tree ends early")
        return math.inf if found == math.inf else Fraction(int(found), UNIT), left_out

    def value(self, given: dict[str, Any]) -> Fraction:
        """Return the objective value of an allowed selection with a hyperplane on it."""
        chosen, w = set(given["selected"]), given["w"]
        need(max(w, default=0) < self.d and max(chosen, default=0) < self.p, "a feature of the point is out of range")
        need(chosen.issuperset(self.of[j] for j in w), "a weight outside the selection is not 0")
        need(all(satisfied("row", [v], self.bounds[j]) for j, v in w.items()), "a weight is outside its bounds")
        inside = all(sum(row[j] for j in chosen) <= right for row, right in zip(self.R, self.r, strict=True))
        need(inside and self.fixed[0] <= chosen and not self.fixed[1] & chosen, "the selection violates a constraint")
        tops, bottom = common([*w.values(), given["b"] * self.bottom])
        scores = [tops[-1] * label for label in self.y]
        for j, top in zip(w, tops, strict=False):
            for i, v in zip(*self.columns[j], strict=True):
                scores[i] += top * v
        lost = total(self.loss_at(Fraction(s, bottom * self.bottom)) for s in scores)
        return total([*(v * v / 2 for v in w.values()), self.C * lost, *(self.lam[j] for j in chosen)])

    def loss_at(self, score: Fraction) -> Fraction:
        """Return the loss of a sample by its signed score, of the logistic loss a number above it."""
        if self.loss == "logistic":
            return logistic(score)
        slack = max(1 - score, ZERO)
        return slack * slack if self.loss == "squared-hinge" else slack


def multiplied(rows: Iterable[Any], table: list[list[int]], width: int) -> Iterator[list[int]]:
    """Yield the products of rows, places and integers there, with each of the lists of a table.

    What these have in a place is one integer, in fields of whole bytes: one product is one with each of them.
    """
    half, d = 1 << (width - 1), len(table)
    fields, size = f"%0{width // 4}x" * d, width // 8
    zero, *packed = (int(fields % tuple(half + v for v in x), 16) for x in ([0] * d, *zip(*table, strict=True)))
    signed = [v - zero for v in packed]
    for at, x in rows:
        found = zero + sum(map(mul, x, signed if len(at) == len(signed) else map(signed.__getitem__, at)))
        content = found.to_bytes(size * d)
        yield [int.from_bytes(content[k : k + size]) - half for k in range(0, size * d, size)]
