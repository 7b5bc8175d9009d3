r"""The coverage cut of sparse samples: a selection lowers the loss of the samples that it touches alone.

With the intercept b fixed a sample without a feature loses :math:`C h(y_i b)`, :math:`h(r) = \max(0, 1 - r)`. As h
falls and is convex, what several features gain on a sample is at most the sum of what each gains alone:

.. math:: F(\sigma) \ge \min_b \Big[ C \sum_i h(y_i b) - \sum_j \sigma_j G_j(b) \Big], \qquad
          G_j(b) = \max_w C \sum_i \big( h(y_i b) - h(y_i b + z_{ij} w) \big)_+ - \tfrac12 w^2.

A sample gains the more the smaller its margin is, so that the ends of an interval of b bound all :math:`G_j` within: to
each interval belongs a piece of the cut. Where a weight gains on both classes, each of them pays for a share of its
square: any two that sum to 1 are valid. The gains are those of Lemma 9a of docs/exact.md, in sums of entries that are
exact in integers; margins pay for all else.

Harm: at an intercept near the label of the larger class its samples are at the margin. Where no column has numbers of
both signs, what the weights of M, which raise the margins of the smaller class, lose on a sample of the larger one
counts, unless a feature of P touches it, whose weights lower them: Lemma 10, with a share :math:`\theta` and a
threshold for each number of features in P.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappush, heapreplace
from itertools import pairwise, product
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fsopt.data.hyperplanes import HINGE
from fsopt.data.matrices import is_sparse
from fsopt.search.branch_and_benders.cuts import BendersCut, bound
from fsopt.search.branch_and_benders.problem import SelectionProblem
from fsopt.search.branch_and_benders.tree import COVERED
from fsopt.typing import Indices, Matrix, Vector

MARGIN, SUMS = 1e-11, 1e-9
"""Relative margins for rounding errors of a gain, and of sums over features and samples with harm."""
FIRST, FAR = 3.0, 2.0**20
"""Intercept up to which the first intervals go, and the largest end of one."""
NARROW, MOST = 2.0**-10, 200
"""Width of intervals that are not parted, and their largest number."""
PARTS, STEPS = 8, 2
"""Shares theta are multiples of one part of so many, and rise by so many with one more feature in P at most."""
SAMPLE, ROWS = 32, 512
"""Features k by which shares and thresholds are chosen, and those that are looked at together."""


class Coverage(NamedTuple):
    """The coverage cut of a problem.

    Attributes
    ----------
    cut : a piece for each interval of intercepts, the gains those of the weakest one.
    ends : the finite ends of the intervals.
    rules : (m, 2) for each number of features in P the share theta in parts, and the threshold; (0, 2) without harm.
    """

    cut: BendersCut
    ends: list[float]
    rules: Matrix

    @classmethod
    def of(cls, problem: SelectionProblem) -> Coverage:
        """Return the coverage cut: that of minus infinity for dense or weighted samples and other losses.

        The interval of the smallest bound is halved as long as it is wide.
        """
        at = problem.root()
        if at is None or not is_sparse(problem.X) or problem.loss != HINGE or problem.weights is not None:
            return cls(BendersCut(COVERED, -math.inf, np.zeros(problem.p)), [], np.zeros((0, 2)))
        samples = _Samples(problem)

        def part(low: float, high: float) -> tuple[float, float, float, BendersCut]:
            cut = BendersCut(COVERED, 0.0, np.zeros(0), (samples.piece(low, high),))
            return bound(problem, cut, at).value, low, high, cut

        heap = [part(*ends) for ends in pairwise((-math.inf, -FIRST, -1.0, 1.0, FIRST, math.inf))]
        heapify(heap)
        while len(heap) < MOST and (middle := _middle(*heap[0][1:3])) is not None:
            high = heapreplace(heap, part(heap[0][1], middle))[2]
            heappush(heap, part(middle, high))
        ordered = sorted(heap, key=itemgetter(1))
        pieces = tuple(cut.pieces[0] for *_, cut in ordered)
        cut = BendersCut(COVERED, 0.0, heap[0][3].pieces[0][-1].gains, pieces)
        rules = np.zeros((0, 2)) if samples.harm is None else samples.harm.rules
        return cls(cut, [high for _, _, high, _ in ordered[:-1]], rules)


def _middle(low: float, high: float) -> float | None:
    """Return where an interval is parted, twice as far from 0 where it has no end; None where it is not."""
    if math.isinf(high - low):
        end = low if math.isinf(high) else high
        return 2.0 * end if abs(end) < FAR else None
    return 0.5 * (low + high) if high - low > NARROW else None


@dataclass(frozen=True)
class Rises:
    """The entries whose samples, all of one class, a weight of one sign gains on: by columns, the largest first.

    Attributes
    ----------
    start, count : (d,) of each column. ``column`` : (k,) of each entry.
    size, rest : (k,) entries in units, and the sum of each and those behind it in its column, exact in integers.
    total : (d,) the sums of the entries of the columns.
    unit : of size and rest.
    """

    start: Indices
    count: Indices
    column: Indices
    size: Vector
    rest: Vector
    total: Vector
    unit: float

    @classmethod
    def of(cls, entries: Vector, columns: Indices, d: int) -> Rises:
        """Return positive entries (k,) of columns; each is rounded up to a unit."""
        order = np.lexsort((-entries, columns))
        unit = 2.0 ** math.ceil(math.log2(float(entries.sum()) + len(entries) or 1.0) - 60.0)
        whole, column = np.ceil(entries[order] / unit).astype(np.int64), columns[order]
        count, size = np.bincount(column, minlength=d), whole.astype(float)
        ends, sums = np.cumsum(count), np.append(0, np.cumsum(whole))
        rest = (sums[ends[column]] - sums[:-1]).astype(float)
        total = np.asarray(np.bincount(column, size, d) * unit)
        return cls(ends - count, count, column, size, rest, total, unit)

    def gains(self, c: float, height: float, share: Vector | float, harm: Vector | float = 0.0) -> Vector:
        """Return the largest gain (d,) of each column.

        Parameters
        ----------
        height : > 0, what a sample gains at most.
        share : (d,) of half the squared weight that is paid here. ``harm`` : (d,) of a unit of its size.
        """
        paid, level = np.broadcast_arrays(harm / self.unit, height * share / (c * self.unit**2), self.count)[:2]
        left = np.append(self.rest - paid[self.column], 0.0)
        over = left[:-1] * self.size > level[self.column]
        full = np.bincount(self.column, over, len(self.count)).astype(np.intp)
        last = self.start + np.maximum(full - 1, 0)
        size, sums = np.append(self.size, 1.0)[last], left[last]
        shared = (full > 0) & ((sums - size) * size <= level)
        behind = np.where(full < self.count, left[np.minimum(self.start + full, len(self.size))], 0.0)
        whole = full + np.maximum(behind, 0.0) ** 2 / (2.0 * level)
        gains: Vector = c * height * np.where(shared, full - 1 + (sums - level / (2.0 * size)) / size, whole)
        return gains * (1.0 + MARGIN)


@dataclass(frozen=True)
class _Samples:
    """The sparse samples of a problem by the sign of the weight that gains on them, and by the label of their class."""

    problem: SelectionProblem

    @cached_property
    def rises(self) -> dict[tuple[int, int], Rises]:
        """The entries by sign and label."""
        signed, d = self.problem.signed, self.problem.width
        columns = np.repeat(np.arange(d), np.diff(signed.indptr))
        signs, labels = np.sign(signed.data), self.problem.y[signed.indices]
        parts = {key: np.flatnonzero((signs == key[0]) & (labels == key[1])) for key in product((1, -1), (1, -1))}
        return {key: Rises.of(np.abs(signed.data[part]), columns[part], d) for key, part in parts.items()}

    @cached_property
    def counts(self) -> dict[int, int]:
        """The number of samples of each class."""
        return {label: int((self.problem.y == label).sum()) for label in (1, -1)}

    @cached_property
    def harm(self) -> Harm | None:
        """The bounds with harm; None where a column has numbers of both signs, or more than the cardinality counts."""
        problem, rises = self.problem, self.rises
        label = 1 if self.counts[1] >= self.counts[-1] else -1
        mixed = (rises[1, 1].count + rises[-1, -1].count > 0) & (rises[1, -1].count + rises[-1, 1].count > 0)
        if not problem.cardinality or problem.columns is not None or mixed.any():
            return None
        paid = rises[1, label].total + rises[-1, label].total
        up, down = rises[1, -label], rises[-1, -label]
        net, free = (up.gains(problem.c, 2.0, 1.0, one) + down.gains(problem.c, 2.0, 1.0, one) for one in (paid, 0.0))
        return Harm.of(label, abs(problem.X[problem.y == label]), net, free, problem.cardinality)

    def piece(self, low: float, high: float) -> tuple[BendersCut, ...]:
        """Return the cuts of the intercepts in an interval: one by coverage, or two with harm.

        From one end on to infinity touched samples cost nothing; untouched ones of the other class cost the more the
        further b is, and F is never below 0: the end bounds all.
        """
        c, infinite = self.problem.c, math.isinf(high - low)
        ends = [b for b in (low, high, -1.0, 1.0) if low <= b <= high and math.isfinite(b)]
        base = c * min(sum(count * max(0.0, 1.0 - label * b) for label, count in self.counts.items()) for b in ends)
        heights = {label: max(0.0, *(1.0 - label * b for b in ends)) for label in self.counts}
        gains = np.maximum(*(self._gains(sign, heights, infinite) for sign in (1, -1)))
        gains = gains if self.problem.columns is None else self.problem.columns.sums(gains)
        base *= 1.0 - MARGIN
        cut = BendersCut(COVERED, base, gains * (1.0 + MARGIN) - self.problem.lam)
        if self.harm is None or infinite:
            return (cut,)
        return cut, self.harm.cut(c, base, low, high)

    def _gains(self, sign: int, heights: dict[int, float], infinite: bool) -> Vector:
        """Return what weights of one sign gain (d,); of two classes each pays for half their square."""
        gains, parts = np.zeros(self.problem.width), {k: self.rises[sign, k] for k in heights if heights[k] > 0.0}
        share = 1.0 / np.maximum(sum(part.count > 0 for part in parts.values()), 1)
        for label, part in parts.items():
            most = self.problem.c * heights[label] * part.count
            gains = gains + (most if infinite else part.gains(self.problem.c, heights[label], share))
        return gains


class Harm(NamedTuple):
    """Bounds on what selections of at most m features gain at the height 2.

    Attributes
    ----------
    label : of the larger class.
    net, counts : (p,) gains less all harm, and the samples of the larger class that a feature touches.
    sums : (m + 1,) the largest counts of so many features.
    rules : (m, 2) see :class:`Coverage`.
    most : (m,) what the features in M gain at most for each number of features in P.
    """

    label: int
    net: Vector
    counts: Vector
    sums: Vector
    rules: Matrix
    most: Vector

    @classmethod
    def of(cls, label: int, X: Any, net: Vector, free: Vector, m: int) -> Harm:
        """Return the bounds from the absolute numbers X (n, p) of the larger class, and gains with and without harm."""
        X = X.tocsr()
        sums = np.asarray(X.sum(axis=0)).ravel()
        weights = X @ sp.diags((free - net) / np.where(sums > 0.0, sums, 1.0))
        touched = X.T.tocsr()
        touched.data = np.ones(len(touched.data))
        counts = np.diff(touched.indptr).astype(float)
        order, step = np.argsort(-counts, kind="stable"), -(-len(net) // SAMPLE)
        sample = np.union1d(order[: SAMPLE // 2], np.arange(0, len(net), step))
        rules = _rules((touched[sample] @ weights).toarray(), sample, net, free, m)
        most = _most(touched, weights.tocsr(), net, free, rules) * (1.0 + SUMS)
        return cls(label, net, counts, np.append(0.0, np.cumsum(counts[order[:m]])), rules, most)

    def cut(self, c: float, base: float, low: float, high: float) -> BendersCut:
        """Return the cut of an interval, where the samples cost ``base`` alone: its pieces without, and with, P."""
        near, far = max(self.label * low, self.label * high), min(self.label * low, self.label * high)
        scale, above = max(1.0, 0.5 * (1.0 + near)), c * max(0.0, near - 1.0)
        lost = scale * self.most + above * self.sums[-2::-1] + c * max(0.0, 1.0 - far) * self.sums[1:]
        gains = (scale * self.net + above * self.counts) * (1.0 + MARGIN)
        none, some = ((base, gains), (base - float(lost.max()), np.zeros(len(gains))))
        return BendersCut(COVERED, 0.0, gains, ((BendersCut(COVERED, *none),), (BendersCut(COVERED, *some),)))


def _rules(E: Matrix, sample: Indices, net: Vector, free: Vector, m: int) -> Matrix:
    """Return shares and thresholds, the best of those of a sample of features k with the harm E (k, p) they undo."""
    E[np.arange(len(sample)), sample] = 0.0
    found, last = np.full((m, 2), [PARTS, free.max()]), 0
    for k in range(1, m):
        best = np.inf
        for part in range(last, min(last + STEPS, PARTS) + 1):
            values = net + part / PARTS * (free - net) + (1.0 - part / PARTS) * k * E
            tops = np.partition(values, len(net) - m + k, axis=1)[:, len(net) - m + k :]
            sums = tops.sum(axis=1)
            if sums.max() < best:
                best, found[k - 1] = float(sums.max()), (part, tops[sums.argmax(), 0])
        last = int(found[k - 1, 0])
    return found


def _most(touched: Any, weights: Any, net: Vector, free: Vector, rules: Matrix) -> Vector:
    """Return, for each number of features in P, the largest of the sums over M that its share and threshold bound."""
    share, numbers = rules[:, 0] / PARTS, np.arange(1, len(rules) + 1)
    values = net[:, None] + (free - net)[:, None] * share - rules[:, 1]  # (p, m) above the thresholds
    base, rates = np.maximum(values, 0.0), (1.0 - share) * numbers
    extra = np.zeros(len(rules))
    needed = np.min(np.where(rates > 0.0, -values / np.where(rates > 0.0, rates, 1.0), np.inf), axis=1)
    for start in range(0, len(net), ROWS):
        E = (touched[start : start + ROWS] @ weights).tocoo()
        kept = np.flatnonzero((E.data > needed[E.col]) & (E.col != E.row + start))
        row, column = E.row[kept], E.col[kept]
        for k in np.flatnonzero(rates > 0.0):
            more = np.maximum(values[column, k] + rates[k] * E.data[kept], 0.0) - base[column, k]
            extra[k] = max(extra[k], np.bincount(row, more, 1).max(initial=0.0))
    return np.asarray((len(rules) - numbers) * rules[:, 1] + base.sum(axis=0) + extra)
