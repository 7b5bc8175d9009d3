"""The step (14) of Algorithm 1 of Bi: the hyperplane of smallest loss at fixed scales, within a cap on its norm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import TypeAlias

import numpy as np

from fsopt.answers.results import DriverResult, SolveResult, Status
from fsopt.common import clock
from fsopt.common.interruption import uninterrupted
from fsopt.compiler.values import store, values_of
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, midpoint_intercept, project_multipliers
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import OutOfTimeError
from fsopt.linear.interior_point import LARGE_C, minimise
from fsopt.linear.penalties import SQUARES, Penalty, capped
from fsopt.models.mop.rsvm import build_rsvm_least_norm
from fsopt.solvers.base import Session
from fsopt.typing import Vector

INACTIVE = 1e-7
"""gamma below this (relative to the number of samples) means that the capacity constraint is inactive."""
SLACK = 1e-9
"""Relative increase of a bound E on the loss, so that rounding does not make the problem infeasible."""
CONSTANT = 1e-9
"""Largest |w'x| of a hyperplane within the cap at which its scores count as constant, and w as 0."""


@dataclass(frozen=True)
class RiskMinimum:
    """The hyperplane ``sum_j s_j w_j x_j + b`` of (14) for scales s and a cap on sum_j s_j w_j^2.

    Attributes
    ----------
    w, b, risk : (p,) and scalars, the hyperplane and its hinge loss.
    alpha : (n,) multipliers behind the lower bound on the loss.
    gamma : multiplier of the cap: w = X'Y alpha / gamma up to rounding, unless the cap is inactive or w is 0.
    inactive : whether the cap is inactive; w is then the shortest one of smallest loss.
    """

    w: Vector
    b: float
    risk: float
    alpha: Vector
    gamma: float
    inactive: bool


Candidates: TypeAlias = Callable[[bool], list[Vector]]
"""Function (whether the cap is inactive) -> further hyperplanes w (p,); where it is, the shortest of smallest loss."""
Training: TypeAlias = Callable[[Vector, float], tuple[Vector, Candidates]]
"""Function (scales (p,), cap) -> multipliers (n,) of (14), and its candidates for the hyperplane."""


def minimise_risk(data: Dataset, train: Training, scales: Vector, cap: float) -> RiskMinimum:
    """Solve (14) for scales (p,) and a cap, and recover the hyperplane."""
    # |w'x| <= sqrt(W R): where this is rounding the scores are constant, and gamma = ||v|| / sqrt(W) is 0 / 0.
    if np.sqrt(cap * float((data.X**2 @ scales).max())) <= CONSTANT:
        return _constant_scores(data)
    alpha, others = train(scales, cap)
    alpha = project_multipliers(alpha, data.y, 1.0)
    q = data.X.T @ (alpha * data.y)
    gamma = float(np.sqrt(scales @ q**2) / np.sqrt(cap))
    inactive = bool(gamma <= INACTIVE * data.n)
    candidates = [*([] if inactive else [q / gamma]), *others(inactive)]
    w, b, risk = min((_with_intercept(data, scales, w) for w in candidates), key=itemgetter(2))
    return RiskMinimum(w, b, risk, alpha, gamma, inactive)


def train_by_model(
    data: Dataset, dual: Session, recorder: Recorder, scales: Vector, cap: float
) -> tuple[Vector, Candidates]:
    """Solve (14) by the model ``rsvm-dual`` of the data, see :data:`Training`."""
    model = dual.model
    store(model.root_scale, np.sqrt(scales))
    model.root_cap.set_value(float(np.sqrt(cap)))
    dual.update(model.objective, model.scaling)
    result = recorder.solve(dual, "(14)")
    assert result.objective is not None
    risk = max(-result.objective, 0.0)

    def others(inactive: bool) -> list[Vector]:
        if inactive:
            return [_shortest(data, scales, risk, recorder)]
        return _from_multipliers(dual, result, scales, cap)

    return values_of(model.alpha), others


def train_by_interior_point(data: Dataset, recorder: Recorder, scales: Vector, cap: float) -> tuple[Vector, Candidates]:
    """Solve (14) of large data without a model, see :data:`Training`.

    Raises
    ------
    OutOfTimeError : the time limit passed before its optimum was certified.
    """
    active = np.flatnonzero(scales > 0)
    root = np.sqrt(scales[active])
    part = data.columns(active)
    part = part.with_X(part.X * root)

    def solve(penalty: Penalty, c: float = 1.0) -> tuple[Vector, DriverResult]:
        found = minimise(part, penalty, c=c, run=recorder.rest())
        recorder.include(found)
        if uninterrupted(found).status is not Status.OPTIMAL and clock.expired():
            raise OutOfTimeError("the time limit passed before (14) was solved for the first time", "give more seconds")
        w = np.zeros(data.p)
        w[active] = found.point["w"] / root
        return w, found

    w, found = solve(capped(cap))

    def others(inactive: bool) -> list[Vector]:
        try:
            # The hyperplane of smallest norm among those of smallest loss is that of a C-SVM whose C is large enough.
            shortest = [solve(SQUARES, LARGE_C)[0]] if inactive else []
        except OutOfTimeError:
            shortest = []
        return [_inside(w, scales, cap) for w in (*shortest, w)]

    return found.point["alpha"], others


def _constant_scores(data: Dataset) -> RiskMinimum:
    """Return w = 0 with its best intercept, and the multipliers of (14) that prove its loss, in closed form."""
    # At w = 0 the dual maximises e'alpha with y'alpha = 0 in [0, 1]^n: all of the smaller class, and as much of the
    # other.
    w, b, risk = _with_intercept(data, np.zeros(data.p), np.zeros(data.p))
    return RiskMinimum(w, b, risk, project_multipliers(np.ones(data.n), data.y, 1.0), 0.0, False)


def _with_intercept(data: Dataset, scales: Vector, w: Vector) -> tuple[Vector, float, float]:
    """Return w with the intercept in the middle of the best ones, and its hinge loss."""
    scores = data.X @ (scales * w)
    b = midpoint_intercept(scores, data.y)
    return w, b, hinge(scores + b, data.y)


def _from_multipliers(dual: Session, result: SolveResult, scales: Vector, cap: float) -> list[Vector]:
    """Return the w of the multipliers of q = X'Y alpha, pulled into the ball; none where the solver has none."""
    # By (14) w is X'Y alpha / gamma too, but loses its digits where gamma is small, as X'Y alpha cancels: the better of
    # the two is taken.
    if result.point is None or result.point.y is None:
        return []
    active = scales > 0
    multipliers = result.point.y[dual.rows(dual.model.expansion)]
    w = np.where(active, multipliers / np.where(active, scales, 1.0), 0.0)
    return [_inside(w, scales, cap)] if w.any() else []


def _inside(w: Vector, scales: Vector, cap: float) -> Vector:
    """Return w, or the nearest multiple of it within the cap."""
    return w * min(1.0, float(np.sqrt(cap / max(float(scales @ w**2), 1e-300))))


def _shortest(data: Dataset, scales: Vector, risk: float, recorder: Recorder) -> Vector:
    """Return the w of smallest norm (for the unscaled kernel) among those of smallest loss."""
    # Where the cap is inactive, X'Y alpha = 0, and (14) gives the loss alone.
    root = np.sqrt(scales)
    model = build_rsvm_least_norm(data, e_cap=risk + SLACK * max(1.0, risk), scale=scales)
    # A named solver is one for (14), a SOCP, and its own options are not those of another solver.
    options = recorder.run.options if recorder.run.solver is None else None
    recorder.solve_once(Session(model, options=options), "the hyperplane of smallest norm of (12)")
    u = values_of(model.u)
    return np.where(root > 0, u / np.where(root > 0, root, 1.0), 0.0)
