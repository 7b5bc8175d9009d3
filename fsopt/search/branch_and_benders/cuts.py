r"""Benders cuts from exactly dual feasible multipliers, their bounds on a node, and the pool that all nodes share.

For :math:`0 \le \alpha \le \bar\alpha`, :math:`y'\alpha = 0` and :math:`\mu \ge 0` every allowed selection satisfies

.. math:: F(\sigma) + \lambda'\sigma \ge \psi(\alpha) - \mu'r
          - \sum_j h_j \sigma_j, \qquad h_j = \tfrac12 q_j(\alpha)^2 - \lambda_j - R_j'\mu.

Multipliers are whole multiples of the largest upper bound / GRID whose signed sum is 0 in integers, so that feasibility
is exact. What remains are the rounding errors of q: :math:`|\delta q_j| \le u(n + 2) \sum_i \alpha_i |x_{ij}| \le
u(n + 2) \|\alpha\| \|x_j\|` (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), which every bound
pays for, and those of the sum of squares and of the term :math:`\psi` (:class:`fsopt.data.hyperplanes.DualTerm`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fsopt.data.hyperplanes import EPS, dual_sizes, dual_values
from fsopt.search.branch_and_benders.problem import GRID, Partial, SelectionProblem
from fsopt.search.branch_and_benders.relaxation import entry, fast, multipliers
from fsopt.typing import Indices, Mask, Matrix, Vector

CAPACITY, FEWEST = 128, 16
"""Most and fewest cuts in a pool."""
NUMBERS = 2**16
"""Gains of a pool beyond its fewest cuts: to ask it is to cost less than it saves."""
ROWS = 2**18
"""Numbers of an array up to which rows are looked at together: it stays in the cache."""
Grid = np.ndarray[tuple[int], np.dtype[np.int32]]
"""Multipliers (n,) in units of the largest upper bound / GRID."""
Terms = tuple[Vector, Matrix]
"""Constants (k,) and gains (k, p) of cuts."""


class BendersCut(NamedTuple):
    """A Benders cut with the multipliers mu of all constraints but the main one.

    Attributes
    ----------
    name : number of its multipliers in the tree.
    constant : psi(alpha) - mu'r, less a margin for all rounding errors.
    gains : h (p,), with mu = 0 for the main constraint.
    pieces : where there are any, all cuts of one of them hold, of whichever: the bound is the smallest of their
        largest ones, the constant means nothing, and the gains are those of one of them.
    """

    name: int
    constant: float
    gains: Vector
    pieces: tuple[tuple[BendersCut, ...], ...] = ()


def on_grid(problem: SelectionProblem, alpha: Vector) -> Grid | None:
    """Return the nearest multipliers on the grid whose signed sum is 0 in integers; None where they are not near."""
    grid, left = fast(_on_grid)(alpha, problem.y, problem.each_term[0], problem.tops, problem.unit)
    return None if left else grid.astype(np.int32)


@entry
def _on_grid(alpha: Vector, y: Vector, caps: Vector, tops: Indices, unit: float) -> tuple[Indices, int]:
    """Return multipliers on the grid, and what their signed sum is still off."""
    grid = np.minimum(np.rint(np.minimum(np.maximum(alpha, 0.0), caps) / unit).astype(np.int64), tops)
    plus = y > 0.0
    over = grid[plus].sum() - grid[~plus].sum()
    heavy = plus if over > 0 else ~plus
    over = abs(over)
    inside = np.where(heavy, np.minimum(grid, tops - grid), -1)
    while over:
        # The multiplier with the largest distance from both bounds takes the difference, once each.
        place = np.argmax(inside)
        if inside[place] < 0:
            break
        taken = min(over, grid[place])
        grid[place] -= taken
        over -= taken
        inside[place] = -1
    return grid, over


def valid_grid(grid: NDArray[np.integer[Any]], y: Vector, tops: int | Indices = GRID) -> Any:
    """Return whether multipliers on the grid, (n,) or rows (k, n), are dual feasible, in integers, up to ``tops``."""
    whole = np.asarray(grid, dtype=np.int64)
    return np.all((whole >= 0) & (whole <= tops), axis=-1) & (whole @ y.astype(np.int64) == 0)


def make_cut(problem: SelectionProblem, name: int, grid: Grid, mu: Vector) -> BendersCut:
    """Return the cut of multipliers on the grid and of mu (k,), whose entry for the main constraint is ignored."""
    constant, gains = cut_terms(problem, grid.astype(float) * problem.unit, mu)
    return BendersCut(name, float(constant), gains)


def cut_terms(problem: SelectionProblem, alpha: Matrix, mu: Matrix) -> tuple[Any, Matrix]:
    """Return constants, less margins, and gains h (..., p) of the cuts of multipliers (..., n) and mu (..., k)."""
    others = np.maximum(mu, 0.0)
    if problem.main is not None:
        others[..., problem.main] = 0.0
    sums = others @ problem.charges
    paid, owed = sums[..., :-2], sums[..., -2]
    size = sums[..., -1]
    q, (caps, gamma, entropy) = problem.products(alpha), problem.each_term
    half = problem.halves(q)
    gained = dual_values(alpha, caps, gamma, entropy).sum(axis=-1)
    absolute = dual_sizes(alpha, caps, gamma, entropy).sum(axis=-1)
    (prices, squares), rounding = problem.totals, (problem.n + 2) * EPS
    # The error of q_j^2 / 2, and of what it is with a bound, and that of the few operations after it relative to their
    # terms.
    error = rounding * np.sqrt(np.einsum("...i,...i->...", alpha, alpha))
    margin = error * (np.abs(q) @ problem.norms + 0.5 * error * squares) + rounding * absolute
    terms = half.sum(axis=-1) + prices + np.abs(paid).sum(axis=-1)
    margin += 8.0 * problem.width * EPS * (size + np.abs(gained) + terms)
    return gained - owed - margin, half - problem.lam - paid


def slices(count: int, width: int) -> Iterator[slice]:
    """Yield the parts of that many rows that are looked at together."""
    size = max(ROWS // max(width, 1), 1)
    return (slice(a, a + size) for a in range(0, count, size))


def all_terms(problem: SelectionProblem, grids: NDArray[np.integer[Any]], units: Matrix, mu: Matrix) -> Terms:
    """Return the cuts of multipliers on a grid (k, n) of units (k, 1), and of mu (k, r)."""
    constants, gains = np.empty(len(grids)), np.empty((len(grids), problem.p))
    for part in slices(len(grids), problem.n):
        constants[part], gains[part] = cut_terms(problem, grids[part] * units[part], mu[part])
    return constants, gains


class CutBound(NamedTuple):
    """A lower bound on a node by one cut, and those (p,) with one more feature, of the free ones, selected or not."""

    value: float
    if_selected: Vector
    if_not: Vector


def bound(problem: SelectionProblem, cut: BendersCut, at: Partial) -> CutBound:
    """Return the bound of a cut on a node, with the best multiplier of the main constraint.

    The features of largest gain for weight fill the main constraint (Dantzig); the gain for weight of the last one is
    its multiplier tau. Of the multipliers between that of the last feature inside and the first outside all are best
    for the node, and the two ends for the nodes with one more feature decided.
    """
    if cut.pieces:
        found = [zip(*(bound(problem, one, at) for one in piece), strict=True) for piece in cut.pieces]
        largest = [map(np.maximum.reduce, piece) for piece in found]
        return CutBound(*map(np.minimum.reduce, zip(*largest, strict=True)))
    return CutBound(*fast(_bound)(cut.constant, cut.gains, at.inside, at.outside, *problem.knapsack))


def bound_value(problem: SelectionProblem, cut: BendersCut, at: Partial) -> float:
    """Return the value of :func:`bound` alone."""
    return bound(problem, cut, at).value


@entry
def _bound(
    constant: float, gains: Vector, inside: Mask, outside: Mask, weight: Vector, right: float
) -> tuple[float, Vector, Vector]:
    """Return the bound, and those with one more feature selected or not (p,), at a capacity."""
    free = np.flatnonzero(~(inside | outside))
    base, left = constant - gains[inside].sum(), right - weight[inside].sum()
    first, second = multipliers(gains[free], weight[free], left)
    best, if_selected = -np.inf, np.full(len(gains), -np.inf)
    if_not = np.full(len(gains), -np.inf)
    for k in range(1 if first == second else 2):
        tau = second if k else first
        reduced = np.where(inside | outside, 0.0, gains - tau * weight)
        value = base - tau * left - np.maximum(reduced, 0.0).sum()
        best = max(best, value)
        if_selected = np.maximum(if_selected, value + np.maximum(-reduced, 0.0))
        if_not = np.maximum(if_not, value + np.maximum(reduced, 0.0))
    return best, if_selected, if_not


def bounds(problem: SelectionProblem, terms: Terms, inside: Mask, free: Mask) -> Vector:
    """Return the bound of each of k cuts on a node of its own, or on one node, as :func:`bound` does of one.

    It is that of the linear relaxation of the knapsack of gains, which the features of largest gain for weight fill.

    Parameters
    ----------
    inside, free : masks (k, p), or (1, p) of one node.
    """
    (constants, gains), (weight, right) = terms, problem.knapsack
    base = constants - np.where(inside, gains, 0.0).sum(axis=1)
    left = right - inside @ weight
    left[left < weight.min()] = 0.0  # no further feature fits
    heavy = weight > 0.0
    units = np.where(heavy, weight, 1.0)
    most = int(min(problem.p, (~heavy).sum() + left.max(initial=0.0) // units[heavy].min(initial=np.inf) + 2))
    gained = np.where(free, np.maximum(gains, 0.0), 0.0)
    ratio = np.where(heavy, gained / units, np.inf)
    near = np.argpartition(-ratio, most - 1, axis=1)[:, :most]
    near = np.take_along_axis(near, np.argsort(-np.take_along_axis(ratio, near, axis=1), axis=1), axis=1)
    before = np.cumsum(weight[near], axis=1) - weight[near]
    share = np.where(heavy[near], np.clip((left[:, None] - before) / units[near], 0.0, 1.0), 1.0)
    return np.asarray(base - (np.take_along_axis(gained, near, axis=1) * share).sum(axis=1))


class Pool:
    """The cuts that prune nodes without a solve, the most useful ones first to stay.

    Attributes
    ----------
    held : the cuts, with their constants (k,) and gains (k, p) for the k that have a place.
    score : how often, and how lately, each cut was the best one for a node.
    """

    def __init__(self, problem: SelectionProblem) -> None:
        """Begin without cuts."""
        self.problem = problem
        self.held: list[BendersCut] = []
        capacity = max(min(CAPACITY, NUMBERS // problem.p), FEWEST)
        self.constants, self.score = np.zeros(capacity), np.zeros(capacity)
        self.gains = np.zeros((capacity, problem.p))

    def add(self, cut: BendersCut) -> None:
        """Put a cut in the place of the least useful one."""
        place = int(np.argmin(self.score))
        self.held[place : place + 1] = [cut]
        self.constants[place], self.gains[place] = cut.constant, cut.gains
        self.score *= 0.99
        self.score[place] = 1.0

    def useful(self, most: int) -> Indices:
        """Return the places of the cuts, of the most useful ones where there are more than ``most``."""
        return np.sort(np.argsort(-self.score[: len(self.held)], kind="stable")[:most])

    @property
    def names(self) -> list[int]:
        """The numbers of the cuts."""
        return [cut.name for cut in self.held]

    def best(self, at: Partial) -> BendersCut:
        """Return the cut of the largest bound on a node, of one at least."""
        place = int(np.argmax(self._bounds(at)))
        self.score[place] += 1.0
        return self.held[place]

    def _bounds(self, at: Partial) -> Vector:
        """Return the bound on the node by each cut: for equal weights in the main constraint a sum of largest gains."""
        (weight, right), free = self.problem.knapsack, at.free.nonzero()[0]
        constants, gains = self.constants[: len(self.held)], self.gains[: len(self.held)]
        weights = weight[free]
        if not len(free) or weights[0] <= 0.0 or np.any(weights != weights[0]):
            return bounds(self.problem, (constants, gains), at.inside[None], at.free[None])
        inside = at.inside.nonzero()[0]
        base, gains = constants - gains[:, inside].sum(axis=1), gains[:, free]
        fitting = int((right - float(weight[inside].sum())) // weights[0])
        out = min(max(len(free) - fitting, 0), len(free))
        largest = np.partition(np.maximum(gains, 0.0), max(out - 1, 0), axis=1)[:, out:]
        return np.asarray(base - largest.sum(axis=1))
