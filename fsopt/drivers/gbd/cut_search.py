r"""Branch and bound over the selections of features that Benders cuts leave below a cutoff.

.. math:: \max_s\ \Big( \gamma^s - \sum_j g^s_j \sigma_j \Big) < \text{cutoff}, \qquad
          g^s_j = \tfrac12 q_j(\alpha^s)^2 - \lambda_j, \qquad R\sigma \le r, \quad \sigma \in \{0,1\}^p

A node is a partial selection: the features up to a depth are decided. It is pruned

* by bound, where one cut alone is at the cutoff for every completion. The best completion for one cut is a knapsack
  problem in the positive gains :math:`g^s_j`, which one constraint of the system and its relaxation bound from above.
  The largest of these bounds over the cuts bounds the maximum over the cuts; a child's is never below its parent's;
* by infeasibility, where a constraint is violated by every completion.

Nodes are visited depth first, by :func:`fsopt.drivers.gbd.cut_nodes.advance`; the bounds on the completions of a depth
are a table (capacity left, cut), made when the search first comes to that depth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from fsopt.common import clock
from fsopt.drivers.gbd.cut_nodes import DONE, FOUND, PAUSED, Path, Rules, advance, largest_gains, leave_out
from fsopt.search.branch_and_benders.compiled import available
from fsopt.typing import Indices, Matrix, Vector

T = TypeVar("T")
TABLE_ENTRIES = 10_000_000
"""Numbers in the tables at which they are cleared: 80 MB."""
CAPACITIES = 256
"""Capacities left for which a completion is bounded, where the weights of a knapsack are no multiples of the least."""
SLACK = 1e-9
"""Relative violation up to which a constraint holds."""
STRETCH = 50_000
"""Nodes between two looks at the clock."""
COMPILED_FROM = 500_000
"""Nodes that a process visits in numpy, about three seconds, before it goes on compiled.

To take the functions that an earlier process has compiled costs half a second, to compile them six.
"""
TABLE = 300
"""Gains of the cuts that take numpy as long as a node where it makes a table: 8 microseconds."""
COMPILING = 30.0
"""Seconds that a time limit leaves where functions are compiled."""

_visited = 0


class SearchResult(NamedTuple):
    """What a search found.

    Attributes
    ----------
    selection : (p,) with all cuts below the cutoff and all constraints; None where none was found.
    bound : a lower bound on the cuts over all selections, at most the cutoff.
    nodes : that were visited.
    complete : whether every node was pruned: no selection is below the cutoff.
    """

    selection: Vector | None
    bound: float
    nodes: int
    complete: bool


class CutSearch:
    """The searches over the same cuts and constraints, features in the order in which they are decided.

    A feature of large gain changes the bounds most, and decided early it prunes early.

    Parameters
    ----------
    constants, gains : (s,) and (s, p) of the cuts, one or more.
    R, r : (k, p) and (k,) constraints ``R sigma <= r``.
    """

    def __init__(self, constants: Vector, gains: Matrix, R: Matrix, r: Vector) -> None:
        s, p = gains.shape
        self.order = np.argsort(-gains.max(axis=0), kind="stable")
        self.constants = constants
        gains, R = gains[:, self.order], R[:, self.order]
        # The features not decided yet lower a left-hand side by at most their negative coefficients, summed from the
        # last feature to the first: (p + 1, k) largest left-hand sides that can be completed.
        still_lower = np.vstack([np.cumsum(np.minimum(R, 0.0).T[::-1], axis=0)[::-1], np.zeros((1, len(r)))])
        room = r + SLACK * np.maximum(1.0, np.abs(r)) - still_lower
        knapsack = _knapsack(R)
        weights = R[knapsack].sum(axis=0)
        # No more than all features take, up to the rounding of the differences that are left along a path.
        self.capacity = float(np.minimum(room[-1, knapsack], (1.0 + SLACK) * weights.sum()).sum())
        self.capacities, step, extra = _capacities(weights, self.capacity)
        slots = min(max(TABLE_ENTRIES // (len(self.capacities) * s), 1), p + 1)
        tables, slot = np.empty((slots, len(self.capacities), s)), np.full(p + 1, -1)
        rows, room = np.ascontiguousarray(np.delete(R, knapsack, axis=0).T), np.delete(room, knapsack, axis=1)
        # Where the row 0 of a table is that of no further feature, the bound of a node is the value of its completion.
        least = step if rows.shape[1] == 0 and extra == 0 and np.all(weights > 0.0) else 0.0
        self.rules = Rules(np.ascontiguousarray(gains.T), rows, room, weights, step, extra, tables, slot, least)
        self.made = 0
        # Of each cut, the features by falling gain for each unit of weight, those of weight 0 first.
        positive = np.maximum(gains, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            worth = np.where(positive > 0.0, positive / weights, 0.0)
        self.falling = np.argsort(-worth, axis=1, kind="stable")
        self.positive = np.take_along_axis(positive, self.falling, axis=1)
        rank = np.empty_like(self.falling)
        np.put_along_axis(rank, self.falling, np.arange(p)[None, :], axis=1)
        self.rank = np.ascontiguousarray(rank.T)
        # Those at features from a depth on, of the first so many in this order.
        self.left = np.empty((0, s))
        self.depth = self.width = 0

    def below(self, cutoff: float, *, max_nodes: int) -> SearchResult:
        """Search depth first for a selection with all cuts below a cutoff, up to a number of nodes."""
        global _visited
        p, rules = len(self.order), self.rules
        if self.capacity < 0.0 or not np.all(rules.room[0] >= 0.0):
            return SearchResult(None, cutoff, 1, True)
        self._make(0)
        bound = float((self.constants - rules.tables[rules.slot[0], -1]).max())
        if bound >= cutoff:
            return SearchResult(None, cutoff, 1, True)
        path = Path.at_root(self.constants, rules, self.capacity, bound)
        state = PAUSED
        while state not in (FOUND, DONE) and path.place[1] < max_nodes:
            clock.check()
            last = min(int(path.place[1]) + STRETCH, max_nodes)
            state = int(_fast(advance)(path, rules, cutoff, last))
            if state >= 0:
                self._make(state)
        depth, nodes = (int(k) for k in path.place)
        _visited += nodes
        if state == DONE:
            return SearchResult(None, cutoff, nodes, True)
        bound = float(min(path.bounds[depth], path.others[: depth + 1].min()))
        if state != FOUND:
            return SearchResult(None, bound, nodes, False)
        sigma = np.zeros(p)
        sigma[self.order] = path.chosen
        return SearchResult(sigma, bound, nodes, False)

    def _make(self, depth: int) -> None:
        """Make the table of a depth, in the place of all others where there is none left."""
        global _visited
        tables, slot = self.rules.tables, self.rules.slot
        if slot[depth] >= 0:
            return
        if self.made == len(tables):
            slot[:], self.made = -1, 0
        slot[depth], self.made = self.made, self.made + 1
        _visited += self.falling.size // TABLE
        table, weights = tables[slot[depth]], self.rules.weights
        if np.isfinite(self.rules.step) and np.all(weights == weights[0]):
            # Equal weights, as of a cardinality: the knapsack takes the largest gains, as many as fit, exactly.
            _fast(largest_gains)(table, self._undecided(depth, len(table) - 1))
            return
        undecided = self.falling >= depth
        shape = (len(self.falling), len(slot) - 1 - depth)
        size = np.cumsum(weights[self.falling[undecided].reshape(shape)], axis=1)
        total = np.cumsum(self.positive[undecided].reshape(shape), axis=1)
        # The largest gain that fits into each capacity, one feature in part (Dantzig).
        for k in range(len(total)):
            table[:, k] = np.interp(self.capacities, np.append(0.0, size[k]), np.append(0.0, total[k]))

    def _undecided(self, depth: int, most: int) -> Matrix:
        """Return (k, s) the largest gains of each cut at features from a depth on, falling: as many as asked for."""
        p = len(self.order)
        if depth < self.depth or min(depth + most, p) > self.width:
            # A selection decides more features soon, and depths mostly follow each other.
            self.width, self.depth = min(2 * (depth + most), p), depth
            near = self.falling[:, : self.width] >= depth
            near &= np.cumsum(near, axis=1) <= self.width - depth
            gains = self.positive[:, : self.width][near].reshape(len(near), self.width - depth)
            self.left = np.ascontiguousarray(gains.T)
        for feature in range(self.depth, depth):
            _fast(leave_out)(self.left[: self.width - feature], self.rank, feature)
        self.depth = depth
        return self.left[: self.width - depth]


def _fast(function: Callable[..., T]) -> Callable[..., T]:
    """Return a function compiled, where numba is installed and this process has visited many nodes, else as it is."""
    if _visited < COMPILED_FROM or not available() or (clock.left() or np.inf) < COMPILING:
        return function
    from fsopt.drivers.gbd.cut_loops import compiled

    return compiled(function)  # type: ignore[no-any-return]


def _knapsack(R: Matrix) -> Indices:
    """Return the constraint whose knapsack bounds completions, if any: no negative coefficients, on most features."""
    knapsacks = np.flatnonzero(np.all(R >= 0.0, axis=1))
    return knapsacks[np.argsort(-(R[knapsacks] > 0.0).sum(axis=1), kind="stable")[:1]]


def _capacities(weights: Vector, capacity: float) -> tuple[Vector, float, int]:
    """Return the capacities of the rows of a table, their step, and 1 where a capacity left is rounded up, else 0."""
    least = float(weights[weights > 0.0].min(initial=np.inf))
    if not np.isfinite(least):
        return np.zeros(1), np.inf, 0
    equal, multiples = bool(np.all(weights == least)), bool(np.all(weights % least == 0.0))
    if equal or (multiples and capacity <= CAPACITIES * least):
        return np.arange(int(max(capacity, 0.0) // least) + 1, dtype=float) * least, least, 0
    step = max(capacity, least) / CAPACITIES
    return np.arange(CAPACITIES + 2, dtype=float) * step, step, 1
