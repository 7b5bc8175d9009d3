"""Driver ``partitions``: one-norm support vector machines on parts of the samples (VS-SSVM, a baseline of Bi)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import Kind, make
from fsopt.answers.results import DriverResult, Status
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.drivers.agreement import check_margins
from fsopt.drivers.column_generation.driver import column_generation
from fsopt.drivers.column_generation.l1_hinge_program import certify_l1_hinge
from fsopt.drivers.loop import Iterate, Loop, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.models.blocks import number, one_norm
from fsopt.solvers.base import Session
from fsopt.typing import Indices, Mask, Vector

NOISE = 1e-10
"""A weight below this, of a feature of unit deviation, is 0 up to the solver's rounding."""
THRESHOLD = 1e-6
"""A weight below this, relative to the largest, is 0 up to the solver's rounding."""


class _Svm(NamedTuple):
    """A trained SVM: the hyperplane, and the multipliers of its margins."""

    w: Vector
    b: float
    alpha: Vector


@loop
def partitions(
    data: Dataset,
    model: pyo.ConcreteModel | None,
    parts: Sequence[Indices],
    *,
    c: float,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Train a one-norm support vector machine on each part of the samples.

    .. math:: \min\ \|w\|_1 + \sum_i d_i \xi_i, \qquad d_i = C \text{ in the part},\ 0 \text{ outside}

    One model serves all parts: only the weights of the slacks change, and the solver starts from its last basis.

    Parameters
    ----------
    data : all samples, preprocessed.
    model : model ``onsvm`` of these samples; None solves restricted master problems of some samples and features
        instead, by :func:`fsopt.drivers.column_generation`, with the same certificate.
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

    Raises
    ------
    ParameterError : c <= 0, or a model of other data.
    SolverError : an SVM was not trained, or the solver returns no multipliers.
    """
    c = number("partitions", "c", c)
    session = None if model is None else run.open(model)
    if session is not None:
        check_margins("partitions", session, data)
    recorder = Recorder([] if session is None else [session], run)
    at, stop = yield from run_loop(_train_parts(data, session, parts, c, recorder), recorder)
    w, b, alpha = (np.array(part) for part in zip(*at.point["svms"], strict=True))
    total, worst = certify_partitions(data, parts[: len(w)], c, w, b, alpha)
    return recorder.end(
        Status.FEASIBLE,
        stop,
        objective=total,
        point={"w": w, "b": b, "alpha": alpha, "selected": nonzero(w)},
        certificate=make(Kind.CONVEX, {"sparse SVMs": worst}, objective=total),
    )


def _train_parts(
    data: Dataset, session: Session | None, parts: Sequence[Indices], c: float, recorder: Recorder
) -> Loop:
    """Yield the support vector machines trained so far."""
    svms: list[_Svm] = []
    for rows in parts:
        costs = weights_of_part(data, rows, c)
        new = _generate(data, costs, recorder) if session is None else _train(session, costs, recorder)
        svms = [*svms, new]
        record = {"n_features": int(nonzero(new.w).sum()), "rows": len(rows)}
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


def _generate(data: Dataset, costs: Vector, recorder: Recorder) -> _Svm:
    """Return the SVM with these weights of the samples, by column generation."""
    found = column_generation(data, costs, np.ones(data.p), run=recorder.rest())
    recorder.include(found)
    return _Svm(found.point["w"], found.point["b"], found.point["alpha"])


def _train(session: Session, costs: Vector, recorder: Recorder) -> _Svm:
    """Return the SVM with these weights of the samples, as one linear program."""
    m = session.model
    m.objective.set_value(one_norm(m) + dot(costs, tuple(m.xi.values())))
    session.update(m.objective)
    point, y = recorder.multipliers(session, "a one-norm SVM")
    b = float(point.x[session.columns(m.b)][0])
    return _Svm(point.x[session.columns(m.w)], b, y[session.rows(m.margin)])
