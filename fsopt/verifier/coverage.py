"""Coverage of sparse samples: cuts that hold at the intercepts in an interval, Lemmas 9 and 10 of docs/exact.md.

Gains are integers in units of 2^-64, rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from .rationals import ONE, ZERO, need

UNIT = 2**64
PARTS = 8  # of a share theta of Lemma 10
Cut = tuple[int, list[int]]  # value >= constant - sum of the gains of the selected features, in units of 2^-64
Pieces = list[list[Cut]]  # all cuts of one of them hold: the bound is the smallest of their largest ones
Rules = Sequence[tuple[int, Fraction]]  # a share in parts and a threshold for each number of features in P
Touched = list[tuple[int, int]]  # samples that a feature touches, and what its gains have less harm there


def rise(sizes: list[int], level: Fraction, harm: int = 0) -> Fraction:
    """Return the least sum of 1 - a_k and (sum of a_k z_k - harm)_+^2 / (2 level), 0 <= a <= 1, for falling sizes z."""
    left, most = sum(sizes) - harm, math.floor(level)
    for k, z in enumerate(sizes):
        if left * z <= most:
            return k + max(left, 0) ** 2 / (2 * level)
        left -= z
        if left * z <= most:  # a share of this one
            return k + Fraction(left + z, z) - level / (2 * z * z)
    return Fraction(len(sizes))


@dataclass(frozen=True)
class Coverage:
    """The samples of ``problem``, a selection to check, of at most ``m`` features, or with 0 of any number of them."""

    problem: Any
    m: int

    @cached_property
    def rises(self) -> list[tuple[dict[int, list[int]], ...]]:
        """The entries of columns that a weight above, and one below 0 gains on: by labels, the largest first."""
        found: list[tuple[dict[int, list[int]], ...]] = [({}, {}) for _ in self.problem.columns]
        for (at, column), rises in zip(self.problem.columns, found, strict=True):
            for v, i in sorted(zip(column, at, strict=True), key=lambda pair: -abs(pair[0])):
                if v:
                    rises[v < 0].setdefault(self.problem.y[i], []).append(abs(v))
        return found

    def pieces(self, ends: Sequence[Fraction], rules: Rules) -> Pieces:
        """Return the cuts of the intervals between intercepts, and beyond the first and the last."""
        rising = len(ends) > 1 and ends[0] <= -1 and ends[-1] >= 1 and all(a < b for a, b in pairwise(ends))
        need(rising, "the intercepts do not increase from -1 to 1")
        found = [[self.cut(part)] for part in ([ends[0]], [ends[-1]], *pairwise(ends))]
        if not rules:
            return found
        label, net, counts, most = self.harm(rules)
        sums, harmed = [0, *accumulate(sorted(counts, reverse=True)[: self.m])], found[:2]
        for (own,), pair in zip(found[2:], pairwise(ends), strict=True):
            near, far = (best(label * b for b in pair) for best in (max, min))
            scale, above = max(ONE, (1 + near) / 2), self.problem.C * UNIT * max(ZERO, near - 1)
            below = self.problem.C * UNIT * max(ZERO, 1 - far)
            lost = max(scale * v + above * a + below * b for v, a, b in zip(most, sums[-2::-1], sums[1:], strict=True))
            none = own[0], [math.ceil(scale * v + above * k) for v, k in zip(net, counts, strict=True)]
            harmed += [[own, none], [own, (math.floor(own[0] - lost), [0] * len(net))]]
        return harmed

    def cut(self, ends: Sequence[Fraction]) -> Cut:
        """Return the cut of the intercepts between two ends, or from one to infinity."""
        y, C = self.problem.y, self.problem.C
        heights = {label: max(ZERO, *(1 - label * b for b in ends)) for label in (1, -1)}
        kinks = (b for b in (-ONE, ONE) if ends[0] <= b <= ends[-1])
        base = min(sum(max(ZERO, 1 - k * b) * y.count(k) for k in (1, -1)) for b in (*ends, *kinks))
        gains = [-math.floor(lam * UNIT) for lam in self.problem.lam]
        for group, column in zip(self.problem.of, self.rises, strict=True):
            sums = [0, 0]
            for side, rises in enumerate(column):
                parts = [(heights[label], sizes) for label, sizes in rises.items() if heights[label]]
                for height, sizes in parts:  # each pays for an equal share of half the squared weight
                    most = rise(sizes, height * self.problem.bottom**2 / (C * len(parts)))
                    sums[side] += math.ceil(C * height * (most if len(ends) > 1 else len(sizes)) * UNIT)
            gains[group] += max(sums)
        return math.floor(C * base * UNIT), gains

    def harm(self, rules: Rules) -> tuple[int, list[int], list[int], list[int]]:
        """Return the larger class, gains less harm, the samples of it that features touch, and sums of Lemma 10."""
        problem, y = self.problem, self.problem.y
        need(min(problem.lam) >= 0 and problem.of == [*range(problem.p)], "harm has no groups, and no negative lambda")
        need(len(rules) == self.m and all(k <= PARTS for k, _ in rules), "rules are missing, or a share is above 1")
        label, level = 1 if 2 * y.count(1) >= len(y) else -1, 2 * problem.bottom**2 / problem.C
        found: list[tuple[int, int, Touched]] = []
        for (up, down), (at, column) in zip(self.rises, problem.columns, strict=True):
            need(not ((1 in up or -1 in down) and (-1 in up or 1 in down)), "a feature has numbers of both signs")
            sizes, harm = (up.get(one) or down.get(one) or [] for one in (-label, label))
            less, whole = (math.ceil(2 * problem.C * rise(sizes, level, one) * UNIT) for one in (sum(harm), 0))
            held = ((i, abs(v)) for i, v in zip(at, column, strict=True) if v and y[i] == label)
            found.append((less, whole - less, [(i, -((less - whole) * v // sum(harm))) for i, v in held]))
        net, gap, touched = (list(part) for part in zip(*found, strict=True))
        return label, net, [len(column) for column in touched], self.most(rules, net, gap, touched)

    def most(self, rules: Rules, net: list[int], gap: list[int], touched: list[Touched]) -> list[int]:
        """Return what the features in M gain at most, for each number of features in P."""
        lows = [math.floor(low * UNIT) for _, low in rules]
        rates = [(k, (PARTS - part) * (k + 1)) for k, (part, _) in enumerate(rules) if part < PARTS]
        values = [
            [PARTS * (v - low) + part * more for (part, _), low in zip(rules, lows, strict=True)]
            for v, more in zip(net, gap, strict=True)
        ]
        # What a feature in P undoes of the harm counts from here on; less of it leaves each sum as it is.
        needed = [min((-v[k] // rate for k, rate in rates), default=most) for v, most in zip(values, gap, strict=True)]
        here: list[Touched] = [[] for _ in self.problem.y]
        for j, column in enumerate(touched):
            for i, v in column:
                here[i].append((j, v))
        extra = [0] * self.m
        for feature, column in enumerate(touched):
            undone: dict[int, int] = {}
            for i, _ in column:
                for j, v in here[i]:
                    undone[j] = undone.get(j, 0) + v
            kept = [(values[j], v) for j, v in undone.items() if v > needed[j] and j != feature]
            for k, rate in rates:
                extra[k] = max(extra[k], sum(max(v[k] + rate * e, 0) - max(v[k], 0) for v, e in kept))
        sums = [PARTS * (self.m - k - 1) * low + extra[k] for k, low in enumerate(lows)]
        return [-(-(top + sum(max(v[k], 0) for v in values)) // PARTS) for k, top in enumerate(sums)]
