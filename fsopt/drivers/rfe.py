"""RFE: recursive feature elimination by support vector machines (baseline of papers 1 and 4)."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler.values import store
from fsopt.data import Dataset
from fsopt.data.hyperplanes import midpoint_intercept, svm_value
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run
from fsopt.results import DriverResult, Status
from fsopt.typing import Indices, Vector

TIE = 1e-6
"""Weights that differ by less than this, relative to the largest one, are equal as far as a solver can tell."""


def rfe(
    data: Dataset,
    sub: pyo.ConcreteModel,
    *,
    m: int,
    c: float,
    step: int = 1,
    run: Run = DEFAULT_RUN,
) -> DriverResult:
    r"""Remove the feature of least :math:`w_j^2` and train again, until m features are left.

    Each machine is one solve of the same model, in which only sigma changes; with ``step`` 1 there are
    p - m + 1 of them. Equal weights: the lowest index goes first.

    Parameters
    ----------
    data : the data set behind ``sub``.
    sub : model ``fsp-sub``.
    m : number of features to keep, 1..p.
    c : the price of the hinge loss in ``sub``.
    step : features that are removed after each machine, fewer where m would be undercut.
    time_limit : once it has passed, all features above m are removed at once and the last machine is trained.

    Returns
    -------
    DriverResult
        ``point`` has ``sigma``, ``w``, ``b`` and the ``proof`` of the last machine. ``feasible``, without a
        bound: the certificate says that this machine is optimal on its features, nothing is claimed about
        their choice. ``history`` has, for each machine, its number of features, its objective and the
        features that were removed after it.

    Raises
    ------
    SolverError : a machine was not trained.
    """
    session = run.open(sub)
    recorder = Recorder([session], run)
    sigma, stop = np.ones(data.p), "complete"
    while True:
        store(sub.sigma, sigma)
        session.update(sub.selection)
        result = recorder.solve(session, "a machine of RFE", load=False)
        assert result.point is not None
        w = np.where(sigma > 0, result.point.x[session.columns(sub.w)], 0.0)
        b = midpoint_intercept(data.X @ w, data.y)
        value = svm_value(data, w, b, c)
        left = np.flatnonzero(sigma)
        if len(left) > m and recorder.expired:
            step, stop = len(left), "time-limit"
        removed = least(w, left, min(step, len(left) - m))
        recorder.record(n_features=len(left), objective=value, removed=removed)
        if not removed:
            break
        sigma[removed] = 0.0
    point = {"sigma": sigma, "w": w, "b": b, "proof": result.point}
    assert result.certificate is not None
    return recorder.end(Status.FEASIBLE, stop, objective=value, point=point, certificate=result.certificate)


def least(w: Vector, left: Indices, count: int) -> list[int]:
    """Return the ``count`` features among ``left`` of least weight, equal weights by their index."""
    size, equal = np.abs(w[left]), TIE * np.abs(w).max()
    removed = []
    for _ in range(count):
        place = int(np.argmax(size <= size.min() + equal))
        removed.append(int(left[place]))
        size[place] = np.inf
    return removed
