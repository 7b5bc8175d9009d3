"""The branching variable: pseudo-costs of the verified bounds, and both children solved where there are too few."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fsopt.search.branch_and_bound.nodes import Node
from fsopt.typing import Mask, Matrix, Vector

Costs: TypeAlias = NDArray[np.float64]
"""Pseudo-costs (2, 2, n): the sum of what branchings raised the bound by, for each unit of the distance that they
close, and their number; below and above."""

RELIABLE = 2
"""Number of branchings of a variable on each side from which its pseudo-costs count."""
TRIED = 8
"""Largest number of variables of a node whose two children are solved to choose between them."""
SMALLEST = 1e-6
"""Gain, relative to the largest one, that counts as a factor of a score at least."""
LARGEST = 1e100
"""Gain that counts at most: a child without points, before there is an incumbent."""

Split = Callable[[int, float], list[Node]]


def no_costs(n: int) -> Costs:
    """Return the pseudo-costs of n variables before the first branching."""
    return np.zeros((2, 2, n))


def _learn(costs: Costs, j: int, gains: Vector, distances: Vector) -> None:
    """Count the gains (2,) of a branching on variable j."""
    finite = np.isfinite(gains) & (distances > 0)
    costs[0, finite, j] += gains[finite] / distances[finite]
    costs[1, finite, j] += 1.0


def _expected(costs: Costs, distances: Matrix) -> Matrix:
    """Return the expected gains (2, n); the mean of all variables stands in for one without a branching."""
    total, count = costs
    seen = count.sum(axis=1, keepdims=True)
    mean = np.where(seen > 0, total.sum(axis=1, keepdims=True) / np.maximum(seen, 1), 1.0)
    unit: Matrix = np.where(count > 0, total / np.maximum(count, 1), mean)
    return unit * distances


def branching(
    node: Node, violations: Vector, value: Vector, integer: Mask, costs: Costs, split: Split, cutoff: float
) -> tuple[int, float, list[Node]]:
    """Return the best branching of a node: its variable, its value, and the children, which are solved.

    The score of a variable is the product of the two gains, which count up to the cutoff.

    Parameters
    ----------
    violations : (n,) by how much each variable asks for a branching, not all 0.
    value : (n,) at which each variable would be split.
    costs : pseudo-costs, which learn from the branchings that are tried.
    split : solves the two children for a variable and a value.
    cutoff : bound from which on a node is pruned.
    """
    assert node.x is not None
    x = node.x[: len(value)]
    distances = np.array([x - value, np.minimum(value + 1.0 - x, 1.0)])
    distances[:, ~integer] = violations[~integer]
    expected = _expected(costs, distances)
    score = np.where(violations > 0, np.sqrt(expected.prod(axis=0)) + SMALLEST * expected.max(axis=0), -1.0)
    order = np.argsort(-score, kind="stable")[: int((violations > 0).sum())]
    unsure = [j for j in order.tolist() if costs[1, :, j].min() < RELIABLE][:TRIED]
    trusted = [j for j in order.tolist() if costs[1, :, j].min() >= RELIABLE][:1]
    best, found = -1.0, (0, 0.0, list[Node]())
    for j in [*unsure, *trusted]:
        if best >= 0.0 and j in trusted and not score[j] > best:
            break
        children = split(j, float(value[j]))
        bounds = np.array([child.bound for child in children])
        with np.errstate(invalid="ignore"):  # of two bounds of -inf no gain is known
            gains = np.maximum(np.nan_to_num(np.minimum(bounds, cutoff) - node.bound, nan=0.0, posinf=np.inf), 0.0)
        _learn(costs, j, gains, distances[:, j])
        gains = np.minimum(gains, LARGEST)
        one = float(np.sqrt(gains.prod()) + SMALLEST * gains.max())
        if one > best:
            best, found = one, (j, float(value[j]), children)
        if (bounds >= cutoff).all():
            break
    return found
