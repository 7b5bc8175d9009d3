"""Whether the convex hulls of the classes intersect: (17) with lambda = 0 has the minimum 0 iff they do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from fsopt.answers.results import Status
from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.errors import SolverError
from fsopt.models.sla.fsv import build_rlp
from fsopt.solvers.base import solve
from fsopt.typing import Vector

TOLERANCE = 1e-7
"""Relative distance from the common point, up to which two combinations of samples are one point."""


@dataclass(frozen=True)
class Hulls:
    """The answer with its evidence, which is of one kind or the other.

    Attributes
    ----------
    disjoint : whether the convex hulls of the two classes have no common point.
    value : minimum of (17) at lambda = 0, the sum of the mean errors of the classes.
    w, gamma : a hyperplane x'w = gamma with all of A above and all of B below, None where the hulls intersect.
    point : a common point (p,), None where they do not.
    """

    disjoint: bool
    value: float
    w: Vector | None
    gamma: float | None
    point: Vector | None


def hulls(data: Dataset, solver: str | None = None) -> Hulls:
    r"""Return whether the convex hulls of the classes are disjoint, with a hyperplane or a common point as evidence.

    .. math::

        \min\ \tfrac1m e'y + \tfrac1k e'z = 0 \iff \operatorname{conv}(A) \cap \operatorname{conv}(B) = \emptyset

    Parameters
    ----------
    data : A has the label +1, B the label -1.
    solver : of the linear program; None for the preferred one.

    Raises
    ------
    SolverError : neither a hyperplane that separates all samples nor a common point was found, within rounding.

    Notes
    -----
    Mangasarian, (17) with lambda = 0 and section 4; Bennett & Mangasarian (1992).
    """
    model = build_rlp(data)
    result = solve(model, solver)
    if result.status is not Status.OPTIMAL or result.objective is None:
        raise SolverError(f"the linear program was not solved: {result.status} ({result.stop})", "try another solver")
    w, gamma = values_of(model.w), float(model.gamma.value)
    if float((data.y * (data.X @ w - gamma)).min()) > 0.0:
        return Hulls(True, result.objective, w, gamma, None)
    point = _common_point(data)
    if point is None:
        raise SolverError("neither a separating hyperplane nor a common point was found", "scale the features")
    return Hulls(False, result.objective, None, None, point)


def _common_point(data: Dataset) -> Vector | None:
    """Return a point of both hulls: the smallest distance of two combinations in the largest norm is 0."""
    A, B = data.X[data.y > 0], data.X[data.y < 0]
    spread = np.ptp(data.X, axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    center = data.X.mean(axis=0)
    A, B = (A - center) / scale, (B - center) / scale
    p = data.p
    m, k = len(A), len(B)
    difference = np.hstack([A.T, -B.T])
    reach = -np.ones((p, 1))
    above = np.vstack([np.hstack([difference, reach]), np.hstack([-difference, reach])])
    sums = np.array([[1.0] * m + [0.0] * (k + 1), [0.0] * m + [1.0] * k + [0.0]])
    cost = np.append(np.zeros(m + k), 1.0)
    found = scipy.optimize.linprog(cost, A_ub=above, b_ub=np.zeros(2 * p), A_eq=sums, b_eq=[1.0, 1.0], bounds=(0, None))
    if found.x is None or found.x[-1] > TOLERANCE:
        return None
    point: Vector = (found.x[:m] @ A) * scale + center
    return point
