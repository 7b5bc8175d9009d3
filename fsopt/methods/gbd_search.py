r"""The least value that a set of Benders cuts leaves possible, by exact search in numpy, without any solver.

.. math:: \min_\sigma\ \max_s\ \Big( \gamma^s - \sum_j g^s_j \sigma_j \Big), \qquad
          g^s_j = \tfrac12 q_j(\alpha^s)^2 - \lambda_j

over the selections that keep all limits. A partial selection is dropped where one cut alone, completed as is best
for it (a knapsack, relaxed), is at the claim. Rules between features count as soon as both are decided.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fsopt.models.limits import SLACK, Limits

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Bits = NDArray[np.bool_]
MOST_NODES = 2_000_000
"""Partial selections after which a search gives up."""
CHUNK = 8_192
"""Partial selections that are looked at together."""


@dataclass(frozen=True)
class Search:
    """What a search found.

    Attributes
    ----------
    least : value of an allowed selection that the cuts leave below the claim; None where there is none.
    nodes : partial selections looked at.
    complete : whether none was left out.
    """

    least: float | None
    nodes: int
    complete: bool


def search(
    constants: Vector, gains: Matrix, limits: Limits, claim: float, *, most_nodes: int = MOST_NODES
) -> Search:  # fmt: skip
    """Look for an allowed selection at which all cuts are below a claimed bound.

    Parameters
    ----------
    constants, gains : (s,) and (s, p), gamma and g of the cuts.
    limits : on the selections.
    claim : the bound to be confirmed or refuted.
    """
    tree = _Tree.of(constants, gains, limits, claim)
    stack: list[tuple[int, Bits]] = [(0, np.zeros((1, limits.p), dtype=bool))]
    nodes = 0
    while stack:
        depth, chosen = stack.pop()
        nodes += len(chosen)
        if nodes > most_nodes:
            return Search(None, nodes, complete=False)
        chosen = tree.open(depth, chosen)
        if not len(chosen):
            continue
        if depth == limits.p:
            return Search(float(tree.values(chosen).min()), nodes, complete=True)
        children = tree.children(depth, chosen)
        stack.extend((depth + 1, children[k : k + CHUNK]) for k in range(0, len(children), CHUNK))
    return Search(None, nodes, complete=True)


@dataclass
class _Tree:
    """Cuts and limits with the features in the order in which they are decided.

    Attributes
    ----------
    weights, capacity : of the knapsack, (p,) and infinite where there is none.
    forced, forbidden : (p,) features that are selected, and that are not.
    pulls : for each feature the earlier ones that imply it; ``needs`` : the earlier ones that it implies;
        ``clashes`` : the earlier ones that it must not meet.
    strength : (s,) how many nodes each cut closed, the best are asked first.
    """

    constants: Vector
    gains: Matrix
    claim: float
    weights: Vector
    capacity: float
    forced: Bits
    forbidden: Bits
    pulls: list[list[int]]
    needs: list[list[int]]
    clashes: list[list[int]]
    strength: Vector

    @staticmethod
    def of(constants: Vector, gains: Matrix, limits: Limits, claim: float) -> _Tree:
        p = limits.p
        order = np.argsort(-gains.max(axis=0, initial=0.0), kind="stable")
        place = np.empty(p, dtype=int)
        place[order] = np.arange(p)
        weights, capacity = np.zeros(p), np.inf
        if limits.most is not None:
            weights, capacity = np.ones(p), float(limits.most)
        elif limits.costs is not None and limits.budget is not None:
            weights, capacity = limits.costs[order], limits.budget + SLACK * max(1.0, limits.budget)
        forced, forbidden = np.zeros(p, dtype=bool), np.zeros(p, dtype=bool)
        forced[place[list(limits.smallest())]] = True
        forbidden[place[list(limits.exclude)]] = True
        pulls: list[list[int]] = [[] for _ in range(p)]
        needs: list[list[int]] = [[] for _ in range(p)]
        clashes: list[list[int]] = [[] for _ in range(p)]
        for j, k in ((place[j], place[k]) for j, k in limits.implies):
            (pulls[k] if j < k else needs[j]).append(min(j, k))
        for group in limits.conflicts:
            members = sorted(place[list(group)])
            for i, k in enumerate(members):
                clashes[k] += members[:i]
        return _Tree(constants, gains[:, order], claim, weights, capacity, forced, forbidden, pulls, needs, clashes,
                     np.zeros(len(constants)))  # fmt: skip

    def open(self, depth: int, chosen: Bits) -> Bits:
        """Return the partial selections, the first ``depth`` features decided, that no cut alone closes."""
        left = self.capacity - chosen @ self.weights
        for s in np.argsort(-self.strength, kind="stable"):
            if not len(chosen):
                break
            best = self._completion(s, depth, left)
            below = self.constants[s] - chosen @ self.gains[s] - best < self.claim
            self.strength[s] += len(chosen) - int(below.sum())
            chosen, left = chosen[below], left[below]
        return chosen

    def _completion(self, s: int, depth: int, left: Vector) -> Vector:
        """Return the most that a cut can fall by with the undecided features within the capacity left (k,)."""
        gain, weight = self.gains[s, depth:], self.weights[depth:]
        useful = (gain > 0.0) & ~self.forbidden[depth:]
        gain, weight = gain[useful], weight[useful]
        with np.errstate(divide="ignore"):
            order = np.argsort(-gain / weight, kind="stable")
        size, total = np.cumsum(weight[order]), np.cumsum(gain[order])
        free = float(gain[weight == 0.0].sum())
        paid = weight[order] > 0.0
        result: Vector = np.interp(left, np.append(0.0, size[paid]), np.append(free, total[paid]))
        return result

    def children(self, depth: int, chosen: Bits) -> Bits:
        """Return the selections in which the next feature is decided, without those that break a limit."""
        fits = self.capacity - chosen @ self.weights >= self.weights[depth]
        taken = fits & ~chosen[:, self.clashes[depth]].any(axis=1) & chosen[:, self.needs[depth]].all(axis=1)
        taken &= not self.forbidden[depth]
        left_out = ~chosen[:, self.pulls[depth]].any(axis=1) & (not self.forced[depth])
        more = chosen[taken]
        more[:, depth] = True
        # The last of the stack is looked at first: the dense ones, which close early.
        return np.concatenate([chosen[left_out], more])

    def values(self, chosen: Bits) -> Vector:
        """Return the largest cut at complete selections."""
        result: Vector = (self.constants[:, None] - self.gains @ chosen.T).max(axis=0)
        return result
