"""Driver ``rfe``: recursive feature elimination by support vector machines, a baseline of Peleg & Meir and of Aytug."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pyomo.environ as pyo
from threadpoolctl import threadpool_limits

from fsopt.algorithms.warm_svm import WarmSvm
from fsopt.answers.results import DriverResult, SolveResult, Status
from fsopt.common import clock
from fsopt.compiler.values import store
from fsopt.data import Dataset
from fsopt.data.hyperplanes import midpoint_intercept, svm_value
from fsopt.drivers.agreement import check_svm
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, timed, usable
from fsopt.models.blocks import whole
from fsopt.solvers.base import Session
from fsopt.typing import Indices, Vector

NAME = "interior-point"
"""The solver in results of the SVMs that are solved here."""
TIE = 1e-6
"""Weights that differ by less than this, relative to the largest one, are equal within the accuracy of a solver."""


@timed
def rfe(
    data: Dataset,
    sub: pyo.ConcreteModel,
    *,
    m: int,
    c: float,
    step: int = 1,
    eliminated: Sequence[int] = (),
    run: Run = DEFAULT_RUN,
) -> DriverResult:
    r"""Remove the feature of smallest :math:`w_j^2` and train again, until m features are left.

    Each SVM is one solve of the same model, in which only sigma changes; with ``step`` 1 there are
    p - m + 1 of them. Of equal weights the one of the lowest index is removed first.

    Parameters
    ----------
    data : the data set behind ``sub``.
    sub : model ``fsp-sub``.
    m : number of features to keep, 1..p.
    c : penalty weight of the hinge loss in ``sub``.
    eliminated : features without which the first SVM is trained, at most p - m.
    step : >= 1, features that are removed after each solve, fewer where m would be undercut.
    run : solver (a QP), options, time limit, progress. Without a solver all SVMs but the last one are solved by
        :class:`fsopt.algorithms.warm_svm.WarmSvm`. After the time limit all features above m are removed at once, and
        the last SVM is trained.

    Returns
    -------
    DriverResult
        ``point`` has ``sigma``, ``w``, ``b`` and the ``proof`` of the last SVM. ``feasible``, without a
        bound: the certificate is that of this SVM on its features, nothing is claimed about their choice.
        ``history`` has, for each SVM, its number of features, its objective and the features that were removed
        after it.

    Raises
    ------
    ParameterError : m or step out of range, a model of other data or another c.
    SolverError : an SVM was not trained.
    """
    m = whole("rfe", "m", m, low=1, high=data.p)
    step = whole("rfe", "step", step, low=1, high=10**9)
    session = run.open(sub)
    check_svm("rfe", session, data, c)
    recorder = Recorder([session], run)
    svms = WarmSvm(data, c) if run.solver is None else None
    sigma = np.ones(data.p)
    sigma[list(eliminated)] = 0.0
    stop = "complete"
    with threadpool_limits(1 if svms is not None else None):
        # Each pass removes at least one of the p features, or is the last.
        while True:
            left = np.flatnonzero(sigma)
            found = _weights(svms, sigma, recorder) if svms is not None and len(left) > m else None
            if found is None:
                result = _by_solver(session, sub, sigma, recorder, last=len(left) == m)
                assert result.point is not None
                w = np.where(sigma > 0, result.point.x[session.columns(sub.w)], 0.0)
                value = svm_value(data, w, midpoint_intercept(data.X @ w, data.y, data.weights), c)
            else:
                w, value = found
            if len(left) > m and clock.expired():
                step, stop = len(left), "time-limit"
            removed = smallest_weights(w, left, min(step, len(left) - m))
            recorder.record(n_features=len(left), objective=value, removed=removed)
            if not removed:
                break
            sigma[removed] = 0.0
    assert result.certificate is not None
    point = {"sigma": sigma, "w": w, "b": midpoint_intercept(data.X @ w, data.y, data.weights), "proof": result.point}
    return recorder.end(Status.FEASIBLE, stop, objective=value, point=point, certificate=result.certificate)


def _weights(svms: WarmSvm, sigma: Vector, recorder: Recorder) -> tuple[Vector, float] | None:
    """Return weights and value of an SVM, its seconds counted; None where it is not exact enough."""
    started = time.perf_counter()
    found = svms.solve(sigma > 0.5)
    recorder.count(NAME, time.perf_counter() - started)
    return found


def _by_solver(
    session: Session, sub: pyo.ConcreteModel, sigma: Vector, recorder: Recorder, *, last: bool
) -> SolveResult:
    """Return the result of an SVM from the solver; the last one, which is the answer, is not limited in time."""
    store(sub.sigma, sigma)
    session.update(sub.selection)
    if last and clock.expired():
        return usable(session.solve(load=False), "the last SVM of RFE")
    return recorder.solve(session, "an SVM of RFE", load=False)


def smallest_weights(w: Vector, left: Indices, count: int) -> list[int]:
    """Return the ``count`` features among ``left`` of smallest weight, equal weights by their index.

    Duplicate features have equal weights at the optimum, and a solver's rounding decides which is smaller: the order
    of elimination would depend on the solver. Weights within :data:`TIE` of the smallest one are equal instead.
    """
    size, equal = np.abs(w[left]), TIE * np.abs(w).max()
    removed = []
    for _ in range(count):
        place = int(np.argmax(size <= size.min() + equal))
        removed.append(int(left[place]))
        size[place] = np.inf
    return removed
