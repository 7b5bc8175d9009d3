"""Selections of features: the tree of a search replayed, each leaf closed by a cut, and the value of a classifier.

The problem and the lemmas behind each bound are in docs/exact.md. Cuts are rounded to the safe side, to integers in
units of 2^-64, so that a leaf takes sums of integers alone.
"""

from __future__ import annotations

import math
from fractions import Fraction
from operator import mul
from typing import Any

from .functions import entropy, logistic
from .rationals import (
    ZERO,
    common,
    count,
    counts,
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

UNIT = 2**64
MOST_PACKED = 2**32  # bits of all samples as they are packed
LOSSES = ("hinge", "squared-hinge", "logistic")
Node = tuple[frozenset[int], frozenset[int]]  # features inside, and outside, of every selection below a node
Cut = tuple[int, list[int]]  # value >= constant - sum of the gains of the selected features, in units of 2^-64


def whole(value: Any) -> int:
    """Return an integer other than 0: j + 1 for the feature j inside, -j - 1 for outside."""
    found = -count(-value) if isinstance(value, int) and value < 0 else count(value)
    return found or refuse("a node of a tree is none")


SELECTION = {
    "y": [whole],
    "c": number,
    "loss": one_of(*LOSSES),
    "columns": [[number]],
    "R": [[number]],
    "r": [number],
    "lam": [number],
    "inside": counts,
    "outside": counts,
}
EVIDENCE = {
    "steps": count,
    "cuts": [(counts, vector)],
    "main": or_none(count),
    "tree": [marked({"leaf": (count,), "known": (count,), "branch": (count,), "peg": (count, [whole]), "empty": ()})],
    "point": or_none({"w": vector, "b": number, "selected": counts}),
}


class Selection:
    """min F(s) + lam's over selections s with R s <= r, where F is the value of a support vector machine on s.

    Each sample is held as one integer, ``packed``: its signed features beside one another in fields of ``width`` bits,
    so that one product with a multiplier is one with each feature.
    """

    sign = 1

    def __init__(self, held: dict[str, Any]) -> None:
        self.y, self.C = held["y"], held["c"]
        self.loss, self.lam = held["loss"], held["lam"]
        columns, self.p = held["columns"], len(held["columns"])
        need(set(self.y) <= {-1, 1} and self.C > 0, "the labels or the penalty weight are damaged")
        need(bool(self.y) and self.p > 0, "the problem is empty")
        need(all(len(x) == len(self.y) for x in columns), "a feature has another length")
        need(len(self.lam) == self.p and all(len(row) == self.p for row in held["R"]), "the constraints are damaged")
        inside, outside = frozenset(held["inside"]), frozenset(held["outside"])
        need(len(held["R"]) == len(held["r"]), "the constraints are damaged")
        need(max((*inside, *outside), default=0) < self.p, "a fixed feature is none")
        self.fixed = (inside, outside)
        # Each constraint is one of integers, its right-hand side rounded down.
        pairs = [common(row) for row in held["R"]]
        self.R = [row for row, _ in pairs]
        self.r = [math.floor(right * bottom) for right, (_, bottom) in zip(held["r"], pairs, strict=True)]
        self.exact = list(zip(held["R"], held["r"], strict=True))
        flat, self.bottom = common([v for column in columns for v in column])
        n = len(self.y)
        self.signed = [[a * b for a, b in zip(self.y, flat[j * n : j * n + n], strict=True)] for j in range(self.p)]
        self.most = max(map(abs, flat)) * n
        self.evidence: dict[str, Any] = {}
        self.cuts: dict[int, Cut] = {}

    def described(self) -> str:
        """Return the loss, and the numbers of samples, features and constraints."""
        sizes = f"{len(self.y)} samples, {self.p} features, {len(self.R)} constraints"
        fixed = sum(map(len, self.fixed))
        return f"minimise over selections, {self.loss} loss, {sizes}" + f", {fixed} features fixed" * bool(fixed)

    def proved(self, held: dict[str, Any], left_out: list[list[int]]) -> tuple[Fraction | None, Fraction | None]:
        """Return the bounds below and above that evidence shows; None where no selection is left, or no point given."""
        self.prepare(held)
        found = self.lowest(held["tree"], left_out)
        below = None if found is None else Fraction(found, UNIT)
        return below, None if held["point"] is None else self.value(held["point"])

    def prepare(self, held: dict[str, Any]) -> None:
        """Pack the samples in fields that hold the products with the multipliers of evidence."""
        self.evidence = held
        steps, main = held["steps"], held["main"]
        need(steps > 0, "the number of steps is out of bounds")
        need(main is None or main < len(self.R), "there is no main constraint")
        need(main is None or all(v >= 0 for v in self.R[main]), "the main constraint has negative weights")
        top = max([steps, *(max(grid, default=0) for grid, _ in held["cuts"])])
        self.width = 8 * ((top * self.most).bit_length() // 8 + 1)
        spend(len(self.y) * self.p, self.p * self.width // 64)
        if len(self.y) * self.p * self.width > MOST_PACKED:
            refuse("its numbers are too long for so many samples and features")
        self.packed = [
            sum(column[i] << (self.width * j) for j, column in enumerate(self.signed)) for i in range(len(self.y))
        ]
        self.half = sum(1 << (self.width * j + self.width - 1) for j in range(self.p))

    def cut(self, name: int) -> Cut:
        """Return constant and gains of a cut, rounded to the safe side."""
        if name not in self.cuts:
            need(name < len(self.evidence["cuts"]), "a cut is missing")
            grid, mu = self.evidence["cuts"][name]
            steps = self.evidence["steps"]
            need(len(grid) == len(self.y), "a cut has another length")
            bounded = self.loss == "squared-hinge" or max(grid, default=0) <= steps
            need(bounded, "a multiplier is out of bounds")
            need(sum(map(mul, grid, self.y)) == 0, "multipliers do not balance")
            need(all(k < len(self.R) for k in mu), "a multiplier belongs to no constraint")
            need(all(v >= 0 for v in mu.values()), "a multiplier of a constraint is negative")
            spend(len(grid), self.width * self.p)
            sums = sum(map(mul, grid, self.packed)) + self.half
            size, half = self.width // 8, 1 << (self.width - 1)
            raw = sums.to_bytes(size * self.p, "little")
            q = [int.from_bytes(raw[k : k + size], "little") - half for k in range(0, len(raw), size)]
            unit = self.C / (steps * self.bottom)
            top, bottom = unit.numerator**2 * UNIT, 2 * unit.denominator**2
            gains = [-(-v * v * top // bottom) for v in q]  # each rounded up
            spend(6 * self.p, bottom.bit_length())
            for j in range(self.p) if mu or any(self.lam) else ():
                paid = self.lam[j] + total(v * self.exact[k][0][j] for k, v in mu.items())
                gains[j] -= math.floor(paid * UNIT)
            constant = self.term(grid) - total(v * self.exact[k][1] for k, v in mu.items())
            self.cuts[name] = (math.floor(constant * UNIT), gains)
        return self.cuts[name]

    def term(self, grid: list[int]) -> Fraction:
        """Return the term of the multipliers a = grid C / steps in the dual, of the logistic loss a number below it."""
        steps = self.evidence["steps"]
        if self.loss == "logistic":
            spend(len(grid) * 200, 256)
            return Fraction(self.C * entropy(grid, steps))
        # the conjugate of C t^2 at a: a^2 / (4 C)
        curved = Fraction(sum(map(mul, grid, grid)), 4 * steps) if self.loss == "squared-hinge" else ZERO
        return Fraction(self.C * (sum(grid) - curved) / steps)

    def decided(self, node: Node | None, into: set[int], out: set[int]) -> Node | None:
        """Return a node with further features decided, and all that one constraint decides then; None if empty."""
        while node is not None:
            spend((1 + len(self.R)) * self.p)
            node = (node[0] | into, node[1] | out)
            if node[0] & node[1]:
                return None
            free = [j for j in range(self.p) if j not in node[0] and j not in node[1]]
            into, out = set(), set()
            for row, right in zip(self.R, self.r, strict=True):
                left = right - sum(row[j] for j in node[0]) - sum(row[j] for j in free if row[j] < 0)
                if left < 0:
                    return None
                out |= {j for j in free if row[j] > left}
                into |= {j for j in free if -row[j] > left}
            if not into and not out:
                break
        return node

    def bound(self, cut: Cut, node: Node) -> int:
        """Return the bound of a cut on a node; any tau >= 0 is valid, that of the last feature that fits is best."""
        spend(self.p)
        constant, gains = cut
        base = constant - sum(gains[j] for j in node[0])
        free = [j for j in range(self.p) if gains[j] > 0 and j not in node[0] and j not in node[1]]
        main = self.evidence["main"]
        if main is None:
            return base - sum(gains[j] for j in free)
        weight = self.R[main]
        top, bottom = 0, 1
        room = left = self.r[main] - sum(weight[j] for j in node[0])
        for j in sorted((k for k in free if weight[k]), key=lambda k: -(gains[k] << 32) // weight[k]):
            if weight[j] > room:
                top, bottom = gains[j], weight[j]
                break
            room -= weight[j]
        rest = sum(min(top * weight[j] - gains[j] * bottom, 0) for j in free)
        return int(base + (rest - top * left) // bottom)

    def lowest(self, tree: list[list[Any]], left_out: list[list[int]]) -> int | None:
        """Return the smallest bound of the leaves in preorder; its known leaves are the selections left out."""
        pending = [self.decided(self.fixed, set(), set())]
        found: int | None = None
        met: list[int] = []

        def close(name: int, node: Node | None) -> None:
            nonlocal found
            if node is not None:
                value = self.bound(self.cut(name), node)
                found = value if found is None else min(found, value)

        for mark, *rest in tree:
            need(bool(pending), "a part of the tree belongs to no node")
            at = pending.pop()
            need(mark != "empty" or at is None, "a node is wrongly marked as empty")
            if mark == "leaf":
                close(rest[0], at)
            elif mark == "known":
                met.append(rest[0])
                own = at is not None and rest[0] < len(left_out) and frozenset(left_out[rest[0]]) == at[0]
                whole = at is not None and len(at[0] | at[1]) == self.p
                need(own and whole, "a known selection is none of those left out")
            elif mark == "branch":  # the subtree without the feature comes first
                need(rest[0] < self.p, "a feature is out of range")
                pending += [self.decided(at, {rest[0]}, set()), self.decided(at, set(), {rest[0]})]
            elif mark == "peg":  # the cut closes the other value of each of the features
                need(all(abs(f) <= self.p for f in rest[1]), "a feature is out of range")
                for f in rest[1]:
                    close(rest[0], self.other(at, f))
                pending.append(self.decided(at, {f - 1 for f in rest[1] if f > 0}, {-f - 1 for f in rest[1] if f < 0}))
        need(not pending, "the tree ends early")
        need(sorted(met) == list(range(len(left_out))), "the known leaves are not the selections left out")
        return found

    @staticmethod
    def other(at: Node | None, feature: int) -> Node | None:
        """Return a node with the other value of a pegged feature; None where the feature has its value already."""
        j, into = abs(feature) - 1, feature > 0
        if at is None or j in at[0 if into else 1]:
            return None
        return (at[0], at[1] | {j}) if into else (at[0] | {j}, at[1])

    def value(self, given: dict[str, Any]) -> Fraction:
        """Return the objective value of an allowed selection with a hyperplane on it."""
        chosen, w = set(given["selected"]), given["w"]
        need(chosen.issuperset(w), "a weight outside the selection is not 0")
        need(max(chosen, default=0) < self.p, "the selection is damaged")
        inside = all(total(row[j] for j in chosen) <= right for row, right in self.exact)
        need(inside and self.fixed[0] <= chosen and not self.fixed[1] & chosen, "the selection violates a constraint")
        tops, bottom = common([*w.values(), given["b"] * self.bottom])
        spend(len(self.y) * len(tops), bottom.bit_length() + self.bottom.bit_length())
        scores = [tops[-1] * label for label in self.y]
        for j, top in zip(w, tops, strict=False):
            scores = [s + top * v for s, v in zip(scores, self.signed[j], strict=True)]
        lost = total(self.loss_at(Fraction(s, bottom * self.bottom)) for s in scores)
        return total([*(v * v / 2 for v in w.values()), self.C * lost, *(self.lam[j] for j in chosen)])

    def loss_at(self, score: Fraction) -> Fraction:
        """Return the loss of a sample by its signed score, of the logistic loss a number above it."""
        if self.loss == "logistic":
            spend(25_000)
            return Fraction(logistic(score))
        slack = max(1 - score, ZERO)
        return slack * slack if self.loss == "squared-hinge" else slack
