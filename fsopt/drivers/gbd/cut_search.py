r"""Branch and bound over the selections of features that Benders cuts leave below a cutoff, in numpy alone.

.. math:: \max_s\ \Big( \gamma^s - \sum_j g^s_j \sigma_j \Big) < \text{cutoff}, \qquad
          g^s_j = \tfrac12 q_j(\alpha^s)^2 - \lambda_j, \qquad R\sigma \le r, \quad \sigma \in \{0,1\}^p

A node is a partial selection: the features up to a depth are decided. It is pruned

* by bound, where one cut alone is at the cutoff for every completion. The best completion for one cut is a knapsack
  problem in the positive gains :math:`g^s_j`, which one constraint of the system and its relaxation bound from above.
  The largest of these bounds over the cuts bounds the maximum over the cuts; a child's is never below its parent's;
* by infeasibility, where a constraint is violated by every completion.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from fsopt.typing import Mask, Matrix, Vector

TABLE_ENTRIES = 10_000_000
"""Numbers in the tables of sums at which the tables are cleared: 80 MB."""
SLACK = 1e-9
"""Relative violation up to which a constraint holds."""


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


def selection_below(
    cutoff: float, constants: Vector, gains: Matrix, R: Matrix, r: Vector, *, chunk: int, max_nodes: int
) -> SearchResult:
    """Search depth first for a selection with all cuts below a cutoff.

    Parameters
    ----------
    constants, gains : (s,) and (s, p) of the cuts.
    R, r : (k, p) and (k,) constraints ``R sigma <= r``.
    chunk : nodes that are bounded together: a small number finds a selection soon, a large one proves faster.
    max_nodes : nodes after which the search ends.
    """
    p = R.shape[1]
    tree = _Tree(constants, gains, R, r)
    # Nodes of one depth, and a lower bound on all of them, that of their parents; the last ones are visited first.
    open_nodes: list[tuple[int, Mask, float]] = [(0, np.zeros((1, p), dtype=bool), -np.inf)]
    nodes = 0
    # The tree is finite: each pass prunes open nodes or replaces them by children one feature deeper.
    while open_nodes and nodes < max_nodes:
        depth, selections, _ = open_nodes.pop()
        nodes += len(selections)
        selections, bound = tree.not_pruned(depth, selections, cutoff)
        if not len(selections):
            continue
        if depth == p:
            sigma = np.zeros(p)
            sigma[tree.order] = selections[-1]
            return SearchResult(sigma, min([bound, *(known for _, _, known in open_nodes)]), nodes, False)
        children = tree.children(depth, selections)
        open_nodes.extend((depth + 1, children[k : k + chunk], bound) for k in range(0, len(children), chunk))
    return SearchResult(None, min([cutoff, *(known for _, _, known in open_nodes)]), nodes, not open_nodes)


class _Tree:
    """The bounds and constraints of the nodes, features in the order in which they are decided.

    A feature of large gain changes the bounds most, and decided early it prunes early.
    """

    def __init__(self, constants: Vector, gains: Matrix, R: Matrix, r: Vector) -> None:
        self.order = np.argsort(-gains.max(axis=0, initial=0.0), kind="stable")
        self.constants, self.gains = constants, gains[:, self.order]
        self.R = R[:, self.order]
        # The features not decided yet lower a left-hand side by at most their negative coefficients, summed from the
        # last feature to the first: (p + 1, k) largest left-hand sides that can be completed.
        negative = np.minimum(self.R, 0.0).T
        still_lower = np.vstack([np.cumsum(negative[::-1], axis=0)[::-1], np.zeros((1, len(r)))])
        self.largest_lhs = r + SLACK * np.maximum(1.0, np.abs(r)) - still_lower
        # The constraint whose knapsack bounds the completions: without negative coefficients, on most features.
        self.weights, self.capacity = np.zeros(len(self.order)), np.inf
        knapsacks = np.flatnonzero(np.all(self.R >= 0.0, axis=1))
        if len(knapsacks):
            best = knapsacks[np.argmax((self.R[knapsacks] > 0.0).sum(axis=1))]
            self.weights, self.capacity = self.R[best], float(self.largest_lhs[-1, best])
        smallest = self.weights.min(initial=np.inf)
        self.most = len(self.order) if smallest <= 0.0 else int(min(self.capacity // smallest, len(self.order)))
        self.largest = lru_cache(max(TABLE_ENTRIES // ((self.most + 1) * (len(gains) + 1)), 1))(self._largest)

    def not_pruned(self, depth: int, selections: Mask, cutoff: float) -> tuple[Mask, float]:
        """Return the nodes that no cut alone prunes, that of the smallest bound last, and that bound."""
        fall = self.gains @ selections.T + self._completions(depth, self.capacity - selections @ self.weights)
        bounds = (self.constants[:, None] - fall).max(axis=0, initial=-np.inf)
        falling = np.argsort(-bounds, kind="stable")
        left = falling[bounds[falling] < cutoff]
        return selections[left], float(bounds[left].min(initial=np.inf))

    def _completions(self, depth: int, left: Vector) -> Matrix:
        """Return an upper bound (s, k) on the gains of a completion in each cut, for capacities left (k,)."""
        weight = self.weights[depth:]
        if np.all(weight == weight[:1]):
            # Equal weights, as of a cardinality: the knapsack takes the largest gains, as many as fit, exactly.
            sums = self.largest(depth)
            free = not len(weight) or weight[0] == 0.0
            return sums[:, -1:] if free else sums[:, np.minimum(left // weight[0], sums.shape[1] - 1).astype(int)]
        gains = np.maximum(self.gains[:, depth:], 0.0)
        return np.array([_relaxed_knapsack(gain, weight, left) for gain in gains]).reshape(len(gains), len(left))

    def _largest(self, depth: int) -> Matrix:
        """Return the sums (s, q + 1) of the largest gains of the undecided features, of none to as many as fit."""
        sums = np.cumsum(-np.sort(-np.maximum(self.gains[:, depth:], 0.0), axis=1)[:, : self.most], axis=1)
        return np.hstack([np.zeros((len(sums), 1)), sums])

    def children(self, depth: int, selections: Mask) -> Mask:
        """Return the nodes in which the next feature is decided, without those that a constraint alone excludes."""
        with_feature = selections.copy()
        with_feature[:, depth] = True
        # The last open node is visited first: a child of the parent with the smallest bound, with the feature.
        both = np.stack([selections, with_feature], axis=1).reshape(-1, selections.shape[1])
        return both[np.all(both @ self.R.T <= self.largest_lhs[depth + 1], axis=1)]


def _relaxed_knapsack(gain: Vector, weight: Vector, left: Vector) -> Vector:
    """Return the largest gain >= 0 (q,) that fits into each capacity left (k,), one feature in part (Dantzig)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-gain / weight, kind="stable")
    size, total = np.cumsum(weight[order]), np.cumsum(gain[order])
    free = float(gain[weight == 0.0].sum())
    paid = weight[order] > 0.0
    result: Vector = np.interp(left, np.append(0.0, size[paid]), np.append(free, total[paid]))
    return result
