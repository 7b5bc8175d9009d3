"""The branching variable: pseudo-costs of the verified bounds, and both children solved where there are too few."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fsopt.drivers.branch_and_bound.nodes import Node
from fsopt.typing import Mask, Matrix, Vector

RELIABLE = 2
"""Number of branchings of a variable on each side from which its pseudo-costs count."""
TRIED = 8
"""Largest number of variables of a node whose two children are solved to choose between them."""
SMALLEST = 1e-6
"""Gain, relative to the largest one, that counts as a factor of a score at least."""
LARGEST = 1e100
"""Gain that counts at most: a child without points, before there is an incumbent."""

Split = Callable[[Node, int, float], list[Node]]


@dataclass
class PseudoCosts:
    """What branchings raised the bound by, for each unit of the distance that they close, below and above.

    Attributes
    ----------
    total, count : (2, n) sum of the gains per unit, and their number.
    """

    total: Matrix
    count: Matrix

    @classmethod
    def none(cls, n: int) -> PseudoCosts:
        """Return the costs before the first branching."""
        return cls(np.zeros((2, n)), np.zeros((2, n)))

    def copy(self) -> PseudoCosts:
        """Return a copy, for another search."""
        return PseudoCosts(self.total.copy(), self.count.copy())

    def since(self, earlier: PseudoCosts) -> PseudoCosts:
        """Return what was learned since an earlier state."""
        return PseudoCosts(self.total - earlier.total, self.count - earlier.count)

    def add(self, other: PseudoCosts) -> None:
        """Add what another search learned."""
        self.total += other.total
        self.count += other.count

    def learn(self, j: int, gains: Vector, distances: Vector) -> None:
        """Count the gains of a branching on variable j."""
        finite = np.isfinite(gains) & (distances > 0)
        self.total[finite, j] += gains[finite] / distances[finite]
        self.count[finite, j] += 1.0

    def expected(self, distances: Vector) -> Vector:
        """Return the expected gains (2, n); the mean of all variables stands in for one without a branching."""
        seen = self.count.sum(axis=1, keepdims=True)
        mean = np.where(seen > 0, self.total.sum(axis=1, keepdims=True) / np.maximum(seen, 1), 1.0)
        unit: Vector = np.where(self.count > 0, self.total / np.maximum(self.count, 1), mean)
        return unit * distances


def branching(
    node: Node, violations: Vector, value: Vector, integer: Mask, costs: PseudoCosts, split: Split, cutoff: float
) -> None:
    """Branch on a node: its column, value and children are set.

    The score of a variable is the product of the two gains, which count up to the cutoff.

    Parameters
    ----------
    violations : (n,) by how much each variable asks for a branching, not all 0.
    value : (n,) at which each variable would be split.
    split : solves the two children of a node for a variable and a value.
    cutoff : bound from which on a node is pruned.
    """
    assert node.x is not None
    x = node.x[: len(value)]
    distances = np.array([x - value, np.minimum(value + 1.0 - x, 1.0)])
    distances[:, ~integer] = violations[~integer]
    expected = costs.expected(distances)
    score = np.where(violations > 0, np.sqrt(expected.prod(axis=0)) + SMALLEST * expected.max(axis=0), -1.0)
    order = np.argsort(-score, kind="stable")[: int((violations > 0).sum())]
    unsure = [j for j in order.tolist() if costs.count[:, j].min() < RELIABLE][:TRIED]
    trusted = [j for j in order.tolist() if costs.count[:, j].min() >= RELIABLE][:1]
    best = -1.0
    for j in [*unsure, *trusted]:
        if best >= 0.0 and j in trusted and not score[j] > best:
            break
        children = split(node, j, float(value[j]))
        bounds = np.array([child.bound for child in children])
        with np.errstate(invalid="ignore"):  # of two bounds of -inf no gain is known
            gains = np.maximum(np.nan_to_num(np.minimum(bounds, cutoff) - node.bound, nan=0.0, posinf=np.inf), 0.0)
        costs.learn(j, gains, distances[:, j])
        gains = np.minimum(gains, LARGEST)
        found = float(np.sqrt(gains.prod()) + SMALLEST * gains.max())
        if found > best:
            best = found
            node.branch(j, float(value[j]), children)
        if (bounds >= cutoff).all():
            break
