"""Drivers of baselines: ``rfe`` (of Peleg & Meir and of Aytug), ``partitions`` (the sparse SVMs of VS-SSVM, of Bi)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from fsopt.answers.certificate import Kind, make
from fsopt.answers.results import DriverResult, Status
from fsopt.common import clock
from fsopt.common.clock import uninterrupted
from fsopt.compiler.values import store
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, midpoint_intercept
from fsopt.data.validation import places_by_name
from fsopt.drivers.column_generation import column_generation
from fsopt.drivers.l1_hinge_program import certify_l1_hinge
from fsopt.drivers.loop import Iterate, Loop, run_loop
from fsopt.drivers.recorder import EARLY, Recorder
from fsopt.drivers.run import DEFAULT_RUN, OutOfTimeError, Run, Steps, loop
from fsopt.linear.selections import WarmSvm
from fsopt.models.blocks import number, whole
from fsopt.models.gbd.fsp_sub import build_fsp_sub
from fsopt.solvers.base import Session
from fsopt.typing import Indices, Mask, Vector

NAME = "interior-point"
"""The solver in results of the SVMs that are solved here."""
TIE = 1e-6
"""Weights that differ by less than this, relative to the largest one, are equal within the accuracy of a solver."""
NOISE = 1e-10
"""A weight below this, of a feature of unit deviation, is 0 up to the solver's rounding."""
THRESHOLD = 1e-6
"""A weight below this, relative to the largest, is 0 up to the solver's rounding."""


@loop
def rfe(
    data: Dataset,
    last: Callable[[Indices], Any],
    *,
    m: int,
    c: float,
    step: int = 1,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Remove the feature of smallest :math:`w_j^2` and train again, until m features are left.

    .. math:: \min_{w, b}\ \tfrac12 w'w + C \sum_i \max(0,\ 1 - y_i(w'x_i + b)) \quad\text{s.t.}\quad w_j = 0
              \text{ for the removed } j

    With ``step`` 1 there are p - m + 1 of them. Of equal weights the first by name is removed first.

    Parameters
    ----------
    data : the samples, preprocessed.
    last : function of the features that are left, increasing, that trains and certifies the last machine: its answer
        has weights ``w`` (p,), 0 on the other features, ``b``, and the certified ``outcome`` of its solver.
    m : number of features to keep, 1..p.
    c : C > 0.
    step : >= 1, features that are removed after each solve, fewer where m would be undercut.
    run : solver (a QP), options, time limit, progress. Without a solver the eliminations call none: each machine is
        solved by :class:`fsopt.linear.selections.WarmSvm`. With one they are solves of one model ``fsp-sub`` in
        which only sigma changes. After the time limit or an interruption all features above m are removed at once, and
        the last machine is trained.

    Returns
    -------
    DriverResult
        ``point`` has ``sigma`` and ``svm``, the answer of ``last``. ``feasible``, without a bound: the certificate is
        that of this machine on its features, nothing is claimed about their choice. ``history`` has, for each machine,
        its number of features, its objective and the features that were removed after it.
    """
    m = whole("rfe", "m", m, high=data.p)
    step = whole("rfe", "step", step)
    c = number("rfe", "c", c)
    recorder = Recorder([], run)
    places = places_by_name(data.features)
    w, left = np.ones(data.p), np.arange(data.p)
    stop = "complete"
    if m < data.p:
        with threadpool_limits(1 if run.solver is None else None):
            at, early = yield from run_loop(_eliminate(_Machines(data, c, recorder), m, step, places), recorder)
        w, left = at.point["w"], at.point["left"]
        stop = early if early in EARLY else stop
    left = np.setdiff1d(left, smallest_weights(w, left, len(left) - m, places))
    with nullcontext() if stop == "complete" else clock.lifted():
        at, end = yield from run_loop(_train(last, left, recorder), recorder)
    return recorder.end(
        Status.FEASIBLE,
        end if stop == "complete" else stop,
        objective=at.objective,
        point={"sigma": np.isin(np.arange(data.p), left).astype(float), **at.point},
        certificate=at.point["svm"].outcome.certificate,
    )


def _eliminate(machines: _Machines, m: int, step: int, places: Indices) -> Loop:
    """Yield the features that are left after each machine, and its weights; each pass removes at least one."""
    left: Indices = np.arange(len(places))
    while len(left) > m:
        w, value = machines.solve(np.isin(np.arange(len(places)), left).astype(float))
        removed = smallest_weights(w, left, min(step, len(left) - m), places)
        record = {"n_features": len(left), "objective": value, "removed": removed}
        left = np.setdiff1d(left, removed)
        yield Iterate(value, {"w": w, "left": left}, record=record)


def _train(last: Callable[[Indices], Any], left: Indices, recorder: Recorder) -> Loop:
    """Yield the machine on the features that are left."""
    trained = last(left)
    recorder.include(trained.outcome)
    value = trained.outcome.objective
    record = {"n_features": len(left), "objective": value, "removed": []}
    yield Iterate(value, {"svm": trained}, record=record, stop=trained.outcome.stop)


class _Machines:
    """Support vector machines on selections of the features: solved here, or by a solver that the user named."""

    def __init__(self, data: Dataset, c: float, recorder: Recorder) -> None:
        self.data, self.c = data, c
        self.recorder = recorder
        self.warm = WarmSvm(data, c) if recorder.run.solver is None else None
        self.session: Session | None = None

    def solve(self, sigma: Vector) -> tuple[Vector, float]:
        """Return weights (p,) and value of the machine on a selection; raises what :meth:`Recorder.solve` raises."""
        if self.warm is not None:
            started = time.perf_counter()
            found = self.warm.solve(sigma > 0.5)
            self.recorder.count(NAME, time.perf_counter() - started)
            clock.found()
            return found
        if self.session is None:
            self.session = self.recorder.run.open(build_fsp_sub(self.data, c=self.c))
            self.recorder.renew(self.session)
        model = self.session.model
        store(model.sigma, sigma)
        self.session.update(model.selection)
        result = self.recorder.solve(self.session, "an SVM of RFE", load=False)
        assert result.point is not None
        w = np.where(sigma > 0, result.point.x[self.session.columns(model.w)], 0.0)
        scores, others = self.data.X @ w, (self.data.y, self.data.weights)
        return w, 0.5 * float(w @ w) + self.c * hinge(scores + midpoint_intercept(scores, *others), *others)


def smallest_weights(w: Vector, left: Indices, count: int, places: Indices) -> list[int]:
    """Return the ``count`` features among ``left`` of smallest weight, equal weights by their places (p,).

    Duplicate features have equal weights at the optimum, and a solver's rounding decides which is smaller: the order
    of elimination would depend on the solver. Weights within :data:`TIE` of the smallest one are equal instead.
    """
    size, equal = np.abs(w[left]), TIE * np.abs(w).max()
    removed = []
    for _ in range(count):
        tied = np.flatnonzero(size <= size.min() + equal)
        place = int(tied[np.argmin(places[left[tied]])])
        removed.append(int(left[place]))
        size[place] = np.inf
    return removed


@loop
def partitions(
    data: Dataset,
    parts: Sequence[Indices],
    *,
    c: float,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Train a one-norm support vector machine on each part of the samples.

    .. math:: \min\ \|w\|_1 + \sum_i d_i \xi_i, \qquad d_i = C \text{ in the part},\ 0 \text{ outside}

    Each is solved by restricted master problems of some samples and features, :func:`fsopt.drivers.column_generation`.

    Parameters
    ----------
    data : all samples, preprocessed.
    parts : indices of samples, each part with both classes.
    c : > 0, penalty weight of the hinge loss.
    run : solver (any for LP that returns multipliers), options, time limit, progress. After the limit the SVMs
        trained so far are the answer.

    Returns
    -------
    DriverResult
        ``point`` has an entry for each SVM: ``w`` (k, p), ``b`` (k,), the multipliers ``alpha`` (k, n), and
        ``selected`` (k, p), whether each weight is not 0. ``feasible``: the certificate is that of every SVM on its
        part, its objective the sum of theirs; nothing is claimed about the union of their features.
    """
    c = number("partitions", "c", c)
    recorder = Recorder([], run)
    at, stop = yield from run_loop(_train_parts(data, parts, c, recorder), recorder)
    w, b, alpha = (np.array([svm[name] for svm in at.point["svms"]]) for name in ("w", "b", "alpha"))
    total, worst = certify_partitions(data, parts[: len(w)], c, w, b, alpha)
    return recorder.end(
        Status.FEASIBLE,
        stop,
        objective=total,
        point={"w": w, "b": b, "alpha": alpha, "selected": nonzero(w)},
        certificate=make(Kind.CONVEX, {"sparse SVMs": worst}, objective=total),
    )


def _train_parts(data: Dataset, parts: Sequence[Indices], c: float, recorder: Recorder) -> Loop:
    """Yield the support vector machines trained so far."""
    svms: list[Mapping[str, Any]] = []
    for rows in parts:
        found = column_generation(data, weights_of_part(data, rows, c), np.ones(data.p), run=recorder.inner_run())
        recorder.include(found)
        if uninterrupted(found).status is not Status.OPTIMAL and clock.expired():
            raise OutOfTimeError("the time limit passed before the first SVM was trained", "give more seconds")
        svms = [*svms, found.point]
        record = {"n_features": int(nonzero(found.point["w"]).sum()), "rows": len(rows)}
        yield Iterate(np.nan, {"svms": svms}, record=record, stop="complete" if len(svms) == len(parts) else "")


def weights_of_part(data: Dataset, rows: Indices, c: float) -> Vector:
    """Return the penalty weights of the samples (n,): c, times their weights, in a part and 0 outside."""
    costs = np.zeros(data.n)
    costs[rows] = c if data.weights is None else c * data.weights[rows]
    return costs


def nonzero(w: Vector) -> Mask:
    """Return whether each weight (..., p) of each SVM is not 0 up to rounding."""
    size = np.abs(w)
    large: Mask = size > np.maximum(THRESHOLD * size.max(axis=-1, keepdims=True, initial=0.0), NOISE)
    return large


def certify_partitions(
    data: Dataset, parts: Sequence[Indices], c: float, w: Vector, b: Vector, alpha: Vector
) -> tuple[float, float]:
    """Return the sum of the SVMs' objectives, and the largest residual of their certificates, in numpy alone."""
    proofs = [
        certify_l1_hinge(data, weights_of_part(data, rows, c), np.ones(data.p), w[k], float(b[k]), alpha[k])
        for k, rows in enumerate(parts)
    ]
    return sum(p.objective or 0.0 for p in proofs), max(p.worst for p in proofs)
