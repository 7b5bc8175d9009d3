r"""Branch and bound over the selections of features that Benders cuts leave below a cutoff, in numpy alone.

.. math:: \max_s\ \Big( \gamma^s - \sum_j g^s_j \sigma_j \Big) < \text{cutoff}, \qquad
          g^s_j = \tfrac12 q_j(\alpha^s)^2 - \lambda_j, \qquad R\sigma \le r, \quad \sigma \in \{0,1\}^p

A node is a partial selection: the features up to a depth are decided. It is pruned

* by bound, where one cut alone is at the cutoff for every completion. The best completion for one cut is a knapsack
  problem in the positive gains :math:`g^s_j`, which one constraint of the system and its relaxation bound from above.
  The largest of these bounds over the cuts bounds the maximum over the cuts; a child's is never below its parent's;
* by infeasibility, where a constraint is violated by every completion.

A pruned node stays pruned when cuts are added, which only raise the bounds: the search is resumed from the open nodes.
A smaller cutoff keeps it pruned, too; after a larger one the search begins again at the root.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from fsopt.typing import Indices, Mask, Matrix, Vector

TABLE_ENTRIES = 10_000_000
"""Numbers in the tables of sums at which the tables are cleared: 80 MB."""
SLACK = 1e-9
"""Relative violation up to which a constraint holds."""


class OpenNodes(NamedTuple):
    """Nodes of one depth that are bounded together.

    Attributes
    ----------
    depth : number of features that are decided.
    selections : (k, p) partial selections, features in the order in which they are decided.
    bound : a lower bound on all of them, that of their parents.
    """

    depth: int
    selections: Mask
    bound: float


@dataclass
class BranchAndBound:
    """A depth-first branch and bound that is resumed after new cuts from its open nodes.

    Attributes
    ----------
    R, r : (k, p) and (k,) constraints ``R sigma <= r``.
    chunk : nodes that are bounded together: a small number finds a selection soon, a large one proves faster.
    constants, gains : (s,) and (s, p) of the cuts, features in the order in which they are decided.
    nodes : nodes visited so far.
    open_nodes : those not visited yet; the last ones are visited first.
    order : (p,) the features in the order in which they are decided.
    begun : number of cuts when the features were ordered, -1 before.
    cutoff : the last one, at which all nodes that are not open were pruned.
    largest_lhs : (p + 1, k) at each depth the largest left-hand sides of the decided features that can be completed.
    weights, capacity : (p,) and scalar, the constraint whose knapsack bounds the completions.
    tables : depth -> sums of the largest gains, see :meth:`_largest`; ``entries`` : numbers in all of them.
    """

    R: Matrix
    r: Vector
    chunk: int
    constants: Vector = field(init=False)
    gains: Matrix = field(init=False)
    nodes: int = 0
    open_nodes: list[OpenNodes] = field(init=False)
    order: Indices = field(init=False)
    begun: int = -1
    cutoff: float = np.inf
    largest_lhs: Matrix = field(init=False)
    weights: Vector = field(init=False)
    capacity: float = np.inf
    tables: dict[int, Matrix] = field(default_factory=dict)
    entries: int = 0

    def __post_init__(self) -> None:
        p = self.R.shape[1]
        self.constants = np.zeros(0)
        self.gains = np.zeros((0, p))
        self.weights = np.zeros(p)
        self.order = np.arange(p)
        self.open_nodes = [self._root()]

    def _root(self) -> OpenNodes:
        """Return the root as the one open node."""
        return OpenNodes(0, np.zeros((1, self.R.shape[1]), dtype=bool), -np.inf)

    def add(self, constants: Vector, gains: Matrix) -> None:
        """Add cuts (s,), (s, p)."""
        self.constants = np.append(self.constants, constants)
        self.gains = np.vstack([self.gains, gains[:, self.order]])

    def begin(self) -> None:
        """Order the features by their largest gain in the cuts so far, and choose the constraint of the knapsack.

        A feature of large gain changes the bounds most: decided early, it prunes early. Of the constraints without
        negative coefficients the one on most features bounds the completions.
        """
        self.begun = len(self.constants)
        self.order = np.argsort(-self.gains.max(axis=0, initial=0.0), kind="stable")
        self.gains, self.R = self.gains[:, self.order], self.R[:, self.order]
        # The features not decided yet lower a left-hand side by at most their negative coefficients, summed from the
        # last feature to the first: (p + 1, k).
        negative = np.minimum(self.R, 0.0).T
        still_lower = np.vstack([np.cumsum(negative[::-1], axis=0)[::-1], np.zeros((1, len(self.r)))])
        self.largest_lhs = self.r + SLACK * np.maximum(1.0, np.abs(self.r)) - still_lower
        knapsacks = np.flatnonzero(np.all(self.R >= 0.0, axis=1))
        if len(knapsacks):
            best = knapsacks[np.argmax((self.R[knapsacks] > 0.0).sum(axis=1))]
            self.weights, self.capacity = self.R[best], float(self.largest_lhs[-1, best])

    def next(self, cutoff: float, go_on: Callable[[int], bool]) -> Vector | None:
        """Return a selection (p,) with all cuts below the cutoff and all constraints, None where there is none left.

        ``go_on`` is asked before each step with the number of nodes so far, and looks at the clock; where it says no,
        the search ends with open nodes, and None.
        """
        if self.begun < 0:
            self.begin()
        if cutoff > self.cutoff:
            self.open_nodes = [self._root()]
        self.cutoff = cutoff
        p = len(self.order)
        # The tree is finite: each pass prunes open nodes or replaces them by children one feature deeper.
        while self.open_nodes and go_on(self.nodes):
            depth, selections, _ = self.open_nodes.pop()
            self.nodes += len(selections)
            selections, bound = self._not_pruned(depth, selections, cutoff)
            if not len(selections):
                continue
            if depth == p:
                # The leaf stays open, and is pruned by the cut that is made there.
                self.open_nodes.append(OpenNodes(depth, selections, bound))
                values = (self.constants[:, None] - self.gains @ selections.T).max(axis=0, initial=-np.inf)
                sigma = np.zeros(p)
                sigma[self.order] = selections[int(np.argmin(values))]
                return sigma
            children = self._children(depth, selections)
            chunks = range(0, len(children), self.chunk)
            self.open_nodes.extend(OpenNodes(depth + 1, children[k : k + self.chunk], bound) for k in chunks)
        return None

    def lower_bound(self, cutoff: float) -> float:
        """Return a lower bound on the cuts over all selections, at most the cutoff, by the open nodes."""
        return min([cutoff, *(nodes.bound for nodes in self.open_nodes)])

    def _not_pruned(self, depth: int, selections: Mask, cutoff: float) -> tuple[Mask, float]:
        """Return the nodes that no cut alone prunes, that of the smallest bound last, and that bound."""
        bounds = self._bounds(depth, selections)
        falling = np.argsort(-bounds, kind="stable")
        left = falling[bounds[falling] < cutoff]
        return selections[left], float(bounds[left].min(initial=np.inf))

    def _bounds(self, depth: int, selections: Mask) -> Vector:
        """Return the largest bound (k,) of one cut on each node."""
        fall = self.gains @ selections.T + self._completions(depth, self.capacity - selections @ self.weights)
        return np.asarray((self.constants[:, None] - fall).max(axis=0, initial=-np.inf))

    def _completions(self, depth: int, left: Vector) -> Matrix:
        """Return an upper bound (s, k) on the gains of a completion in each cut, for capacities left (k,)."""
        weight = self.weights[depth:]
        if np.all(weight == weight[:1]):
            if not len(weight) or weight[0] == 0.0:
                every: Matrix = np.maximum(self.gains[:, depth:], 0.0).sum(axis=1, keepdims=True)
                return every
            # Equal weights, as of a cardinality: the knapsack takes the largest gains, as many as fit, exactly.
            most = np.minimum(left // weight[0], len(weight)).astype(int)
            return self._largest(depth, int(most.max()))[:, most]
        gains = np.maximum(self.gains[:, depth:], 0.0)
        return np.array([_relaxed_knapsack(gain, weight, left) for gain in gains]).reshape(len(gains), len(left))

    def _largest(self, depth: int, most: int) -> Matrix:
        """Return the sums (s, most + 1) of the largest gains of the undecided features, of none to ``most`` of them.

        A table for each depth is kept: only the rows of new cuts are sorted.
        """
        known = self.tables.get(depth, np.zeros((0, most + 1)))
        if known.shape[1] <= most:
            known = np.zeros((0, most + 1))
        if len(known) < len(self.gains):
            new = np.maximum(self.gains[len(known) :, depth:], 0.0)
            sums = np.cumsum(-np.sort(-new, axis=1)[:, : known.shape[1] - 1], axis=1)
            known = np.vstack([known, np.hstack([np.zeros((len(new), 1)), sums])])
            self.entries += known.size
            if self.entries > TABLE_ENTRIES:
                self.tables, self.entries = {}, known.size
            self.tables[depth] = known
        return known

    def _children(self, depth: int, selections: Mask) -> Mask:
        """Return the nodes in which the next feature is decided, without those that no completion makes feasible."""
        with_feature = selections.copy()
        with_feature[:, depth] = True
        # The last open node is visited first: a child of the parent with the smallest bound, with the feature.
        both = np.stack([selections, with_feature], axis=1).reshape(-1, selections.shape[1])
        if not len(self.r):
            return both
        return both[self._completable(depth + 1, both)]

    def _completable(self, depth: int, selections: Mask) -> Mask:
        """Return the nodes (k,) of which no constraint alone is violated by every completion."""
        return np.asarray(np.all(selections @ self.R.T <= self.largest_lhs[depth], axis=1))


def _relaxed_knapsack(gain: Vector, weight: Vector, left: Vector) -> Vector:
    """Return the largest gain >= 0 (q,) that fits into each capacity left (k,), with one feature taken in part.

    The optimum of the linear relaxation takes the features by gain for weight (Dantzig); features without weight are
    free.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-gain / weight, kind="stable")
    size, total = np.cumsum(weight[order]), np.cumsum(gain[order])
    free = float(gain[weight == 0.0].sum())
    paid = weight[order] > 0.0
    result: Vector = np.interp(left, np.append(0.0, size[paid]), np.append(free, total[paid]))
    return result
