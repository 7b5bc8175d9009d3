r"""The cuts of a proof: few, and each of few digits, that close all leaves of a tree.

A cut closes a leaf where its bound there is at least L, the smallest bound of all leaves, so that the bound of the tree
stays. Most leaves have bounds far above L. Hence the cuts that close most leaves close those of many others, and most
multipliers need one or two digits: rounded to multiples of C / steps they change by :math:`\delta_i`, at most half of
that, and the bound of their cut by about :math:`\sum_i \delta_i g_i` with derivatives g of the order of 1 whose signs
are independent of those of the errors: by about :math:`\tfrac12 C \sqrt n / steps`. Every rounded cut is asked for its
bounds, and takes more digits where one of them is below L.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from fsopt.search.branch_and_benders.cuts import Terms, all_terms, bounds, slices
from fsopt.search.branch_and_benders.problem import SelectionProblem
from fsopt.typing import Indices, Mask, Matrix, Vector

BATCH = 256
"""Cuts that are asked together."""
MOST = 10**10
"""Products of leaves, cuts that are asked together, and features, beyond which each leaf keeps its own cut."""


class Leaves(NamedTuple):
    """Leaves: masks (l, p) of features selected, and of those not decided, and places (l,) of their cuts."""

    inside: Mask
    free: Mask
    cut: Indices

    def at(self, places: Indices) -> Leaves:
        """Return some of the leaves."""
        return Leaves(self.inside[places], self.free[places], self.cut[places])


class Cover(NamedTuple):
    """Cuts: their places (l,) for leaves, multipliers (k, n) in units of C / steps (k,), and mu (k, r), of main 0."""

    cut: Indices
    steps: Indices
    grids: NDArray[np.int64]
    mu: Matrix


def cover(problem: SelectionProblem, grids: NDArray[np.int32], mu: Matrix, leaves: Leaves) -> Cover:
    """Return few cuts of few digits that close all leaves, by bounds that are at least the smallest one of all."""
    if problem.main is not None:
        mu = mu.copy()
        mu[:, problem.main] = 0.0
    with threadpool_limits(1):
        terms = all_terms(problem, grids, np.full((len(grids), 1), problem.unit), mu)
        least = float(_bounds_of(problem, terms, leaves).min(initial=np.inf))
        once = leaves._replace(cut=_covered(problem, terms, leaves, least))  # then large cuts take small ones
        used, places = np.unique(_covered(problem, terms, once, least), return_inverse=True)
        leaves = leaves._replace(cut=places)
        slack = np.full(len(used), np.inf)
        np.minimum.at(slack, places, _bounds_of(problem, (terms[0][used], terms[1][used]), leaves) - least)
        steps, coarse = _rounded(problem, (grids[used], mu[used]), leaves, least, slack)
    order = np.argsort(steps, kind="stable")  # numbers of like sizes compress better
    return Cover(np.argsort(order)[places], steps[order], coarse[order], mu[used][order])


def _bounds_of(problem: SelectionProblem, terms: Terms, leaves: Leaves) -> Vector:
    """Return the bound of each leaf by its cut."""
    found = np.empty(len(leaves.cut))
    for part in slices(len(found), problem.p):
        cut = leaves.cut[part]
        found[part] = bounds(problem, (terms[0][cut], terms[1][cut]), leaves.inside[part], leaves.free[part])
    return found


def _covered(problem: SelectionProblem, terms: Terms, leaves: Leaves, least: float) -> Indices:
    """Return the cut of each leaf: the first that closes it, in the order of the number of open leaves that have it."""
    cut, left = leaves.cut.copy(), np.arange(len(leaves.cut))
    few = len(left) * min(len(terms[0]), BATCH) * problem.p <= MOST
    while few and len(left):
        use = np.bincount(leaves.cut[left], minlength=len(terms[0]))
        batch = np.argsort(-use, kind="stable")[:BATCH]
        batch = batch[use[batch] > 0]
        asked = (terms[0][batch], terms[1][batch])
        closed = np.isin(leaves.cut[left], batch)
        for part in slices(len(left), BATCH):
            closes = _closes(problem, asked, leaves.at(left[part]), least)
            found = closes.any(axis=1)
            cut[left[part][found]] = batch[closes[found].argmax(axis=1)]
            closed[part] |= found
        left = left[~closed]
    return cut


def _closes(problem: SelectionProblem, terms: Terms, leaves: Leaves, least: float) -> Mask:
    """Return which of l leaves are closed by which of k cuts (l, k)."""
    (constants, gains), (weight, right) = terms, problem.knapsack
    inside = leaves.inside.astype(float)
    closes = inside @ gains.T <= constants - least
    roomy = np.flatnonzero(leaves.free.any(axis=1) & (right - inside @ weight >= weight.min()))
    rows, cuts = np.nonzero(closes[roomy])
    for part in slices(len(rows), problem.p):
        at, k = roomy[rows[part]], cuts[part]
        closes[at, k] = bounds(problem, (constants[k], gains[k]), leaves.inside[at], leaves.free[at]) >= least
    return closes


def _rounded(
    problem: SelectionProblem, cuts: tuple[NDArray[np.int32], Matrix], leaves: Leaves, least: float, slack: Vector
) -> tuple[Indices, NDArray[np.int64]]:
    """Return C in units of the multipliers of each cut, and these, rounded; bounds may fall by ``slack``."""
    grids, mu = cuts
    steps, found = round(problem.c / problem.unit), grids.astype(np.int64)  # C / unit is a power of 2
    spare = steps * slack / (0.5 * problem.c * np.sqrt(problem.n))
    shifts = np.floor(np.log2(np.clip(spare, 1.0, steps))).astype(np.int64)
    todo = np.flatnonzero(shifts)
    while len(todo):
        coarse = _balanced(grids[todo], shifts[todo], problem.y)
        mine = np.flatnonzero(np.isin(leaves.cut, todo))
        asked = leaves.at(mine)._replace(cut=np.searchsorted(todo, leaves.cut[mine]))
        terms = all_terms(problem, coarse, problem.unit * 2.0 ** shifts[todo, None], mu[todo])
        failed = np.isin(np.arange(len(todo)), asked.cut[_bounds_of(problem, terms, asked) < least])
        found[todo[~failed]] = coarse[~failed]
        todo = todo[failed]
        shifts[todo] -= 1
        todo = todo[shifts[todo] > 0]
    return steps >> shifts, found


def _balanced(grids: NDArray[np.int32], shifts: Indices, y: Vector) -> NDArray[np.int64]:
    """Return multipliers in units 2^shift times as large, rounded, with y'alpha = 0 and none above its bound."""
    exact, bits = grids.astype(np.int64), shifts[:, None]
    labels = y.astype(np.int64)
    rounded = (exact + (1 << bits >> 1)) >> bits
    while True:
        left = rounded @ labels
        rows = np.flatnonzero(left)
        if not len(rows):
            return rounded
        # The class with the larger sum is rounded down where that changes least.
        able = (labels * left[rows, None] > 0) & (rounded[rows] > 0)
        change = np.where(able, exact[rows] - (rounded[rows] << bits[rows]), np.iinfo(np.int64).max)
        taken = np.arange(len(y)) < np.minimum(np.abs(left[rows]), able.sum(axis=1))[:, None]
        down = np.zeros_like(able)
        np.put_along_axis(down, np.argsort(change, axis=1, kind="stable"), taken, axis=1)
        rounded[rows] -= down
