r"""Selections that a set of Benders cuts leaves possible, by exact search in numpy, without any solver.

.. math:: \max_s\ \Big( \gamma^s - \sum_j g^s_j \sigma_j \Big) < \text{claim}, \qquad
          g^s_j = \tfrac12 q_j(\alpha^s)^2 - \lambda_j, \qquad R\sigma \le r, \quad \sigma \in \{0,1\}^p

A partial selection is dropped where a row of R cannot hold any more, or where one cut alone, completed as is best for
it (a knapsack, relaxed), is at the claim. Nothing is looked at twice, also where cuts are added on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from fsopt.typing import Indices, Mask, Matrix, Vector

KEPT = 10_000_000
"""Numbers that are put into the tables of sums before they are cleared."""


SLACK = 1e-9
"""Relative violation of a row at which it still holds."""


@dataclass
class Tree:
    """A depth-first search that keeps the partial selections it has not looked at.

    Attributes
    ----------
    R, r : (k, p) and (k,) rows that selections must keep.
    chunk : partial selections that are looked at together: few find a selection soon, many prove faster.
    constants, gains : (s,) and (s, p) of the cuts, features in the order in which they are decided.
    nodes : partial selections looked at so far.
    stack : depth, partial selections and least bound of what is still to be looked at.
    room : (p + 1, k) what a row may be at each depth; ``weights``, ``capacity`` : the row that is a knapsack.
    tables : depth -> sums of the largest gains, see :meth:`_largest`; ``kept`` : numbers put there.
    """

    R: Matrix
    r: Vector
    chunk: int
    constants: Vector = field(init=False)
    gains: Matrix = field(init=False)
    nodes: int = 0
    stack: list[tuple[int, Mask, float]] = field(init=False)
    order: Indices = field(init=False)
    room: Matrix = field(init=False)
    weights: Vector = field(init=False)
    capacity: float = np.inf
    tables: dict[int, Matrix] = field(default_factory=dict)
    kept: int = 0

    def __post_init__(self) -> None:
        p = self.R.shape[1]
        self.constants, self.gains, self.weights = np.zeros(0), np.zeros((0, p)), np.zeros(p)
        self.order = np.arange(p)
        self.stack = [(0, np.zeros((1, p), dtype=bool), -np.inf)]

    def add(self, constants: Vector, gains: Matrix) -> None:
        """Add cuts (s,), (s, p)."""
        self.constants = np.append(self.constants, constants)
        self.gains = np.vstack([self.gains, gains[:, self.order]])

    def _begin(self) -> None:
        """Decide the features in the order of what they are worth in the cuts so far, and find the knapsack row."""
        self.order = np.argsort(-self.gains.max(axis=0, initial=0.0), kind="stable")
        self.gains, self.R = self.gains[:, self.order], self.R[:, self.order]
        # What the features that are not decided can still take off each row, for every depth (p + 1, k).
        least = np.minimum(self.R, 0.0).T
        rest = np.vstack([np.cumsum(least[::-1], axis=0)[::-1], np.zeros((1, len(self.r)))])
        self.room = self.r + SLACK * np.maximum(1.0, np.abs(self.r)) - rest
        knapsacks = np.flatnonzero(np.all(self.R >= 0.0, axis=1))
        if len(knapsacks):
            best = knapsacks[np.argmax((self.R[knapsacks] > 0.0).sum(axis=1))]
            self.weights, self.capacity = self.R[best], float(self.room[-1, best])

    def next(self, claim: float, go_on: Callable[[int], bool]) -> Vector | None:
        """Return an allowed selection (p,) at which all cuts are below the claim, None where there is none left.

        ``go_on`` is asked with the number of nodes so far; where it says no, the search ends with a stack that is
        not empty, and None.
        """
        if not self.nodes:
            self._begin()
        p = len(self.order)
        while self.stack and go_on(self.nodes):
            depth, chosen, _ = self.stack.pop()
            self.nodes += len(chosen)
            chosen, bound = self._open(depth, chosen, claim)
            if not len(chosen):
                continue
            if depth == p:
                # It stays, and is closed by the cut that is made there.
                self.stack.append((depth, chosen, bound))
                values = (self.constants[:, None] - self.gains @ chosen.T).max(axis=0, initial=-np.inf)
                sigma = np.zeros(p)
                sigma[self.order] = chosen[int(np.argmin(values))]
                return sigma
            children = self._children(depth, chosen)
            chunks = range(0, len(children), self.chunk)
            self.stack.extend((depth + 1, children[k : k + self.chunk], bound) for k in chunks)
        return None

    def least(self, claim: float) -> float:
        """Return a value that no allowed selection goes below, at most the claim, by what is left on the stack."""
        return min([claim, *(bound for _, _, bound in self.stack)])

    def _open(self, depth: int, chosen: Mask, claim: float) -> tuple[Mask, float]:
        """Return the partial selections that no cut alone closes, that of least bound last, and that bound."""
        fall = self.gains @ chosen.T + self._completions(depth, self.capacity - chosen @ self.weights)
        bounds: Vector = (self.constants[:, None] - fall).max(axis=0, initial=-np.inf)
        falling = np.argsort(-bounds, kind="stable")
        left = falling[bounds[falling] < claim]
        return chosen[left], float(bounds[left].min(initial=np.inf))

    def _completions(self, depth: int, left: Vector) -> Matrix:
        """Return the most that each cut can fall by (s, k), with the undecided features and the capacity left (k,)."""
        weight = self.weights[depth:]
        if np.all(weight == weight[:1]):
            if not len(weight) or weight[0] == 0.0:
                every: Matrix = np.maximum(self.gains[:, depth:], 0.0).sum(axis=1, keepdims=True)
                return every
            most = np.minimum(left // weight[0], len(weight)).astype(int)
            return self._largest(depth, int(most.max()))[:, most]
        gains = np.maximum(self.gains[:, depth:], 0.0)
        return np.array([_knapsack(gain, weight, left) for gain in gains]).reshape(len(gains), len(left))

    def _largest(self, depth: int, most: int) -> Matrix:
        """Return the sums (s, most + 1) of the largest gains of the undecided features, of none to ``most`` of them."""
        known = self.tables.get(depth, np.zeros((0, most + 1)))
        if known.shape[1] <= most:
            known = np.zeros((0, most + 1))
        if len(known) < len(self.gains):
            new = np.maximum(self.gains[len(known) :, depth:], 0.0)
            sums = np.cumsum(-np.sort(-new, axis=1)[:, : known.shape[1] - 1], axis=1)
            known = np.vstack([known, np.hstack([np.zeros((len(new), 1)), sums])])
            self.kept += known.size
            if self.kept > KEPT:
                self.tables, self.kept = {}, known.size
            self.tables[depth] = known
        return known

    def _children(self, depth: int, chosen: Mask) -> Mask:
        """Return the selections in which the next feature is decided, without those that can keep a row no more."""
        more = chosen.copy()
        more[:, depth] = True
        # The last of the stack is looked at first: of the best parents, and the dense ones.
        both = np.stack([chosen, more], axis=1).reshape(-1, chosen.shape[1])
        if not len(self.r):
            return both
        return both[np.all(both @ self.R.T <= self.room[depth + 1], axis=1)]


def _knapsack(gain: Vector, weight: Vector, left: Vector) -> Vector:
    """Return the most gain >= 0 (q,) that fits, in parts, into each capacity left (k,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-gain / weight, kind="stable")
    size, total = np.cumsum(weight[order]), np.cumsum(gain[order])
    free = float(gain[weight == 0.0].sum())
    paid = weight[order] > 0.0
    result: Vector = np.interp(left, np.append(0.0, size[paid]), np.append(free, total[paid]))
    return result
