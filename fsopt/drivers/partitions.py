"""Driver ``partitions``: one-norm support vector machines on parts of the samples (VS-SSVM, a baseline of Bi)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyomo.environ as pyo

from fsopt.certificates.certificate import Kind, make
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.drivers.agreement import check_margins
from fsopt.drivers.column_generation.driver import column_generation
from fsopt.drivers.column_generation.l1_hinge_program import certify_l1_hinge
from fsopt.drivers.recorder import Recorder, stop_word
from fsopt.drivers.run import DEFAULT_RUN, OutOfTime, Run
from fsopt.models.blocks import number, one_norm
from fsopt.results import DriverResult, Status
from fsopt.solvers.base import Session
from fsopt.solvers.registry import no_multipliers
from fsopt.typing import Indices, Mask, Vector

NOISE = 1e-10
"""A weight below this, of a feature of unit deviation, is 0 up to the solver's rounding."""
THRESHOLD = 1e-6
"""A weight below this, relative to the largest, is 0 up to the solver's rounding."""


def partitions(
    data: Dataset,
    model: pyo.ConcreteModel | None,
    parts: Sequence[Indices],
    *,
    c: float,
    run: Run = DEFAULT_RUN,
) -> DriverResult:
    r"""Train a one-norm support vector machine on each part of the samples.

    .. math:: \min\ \|w\|_1 + \sum_i d_i \xi_i, \qquad d_i = C \text{ in the part},\ 0 \text{ outside}

    One model serves all parts: only the weights of the slacks change, and the solver goes on from its last basis.

    Parameters
    ----------
    data : all samples, preprocessed.
    model : model ``onsvm`` of these samples; None solves restricted master problems of some samples and features
        instead, by :func:`fsopt.drivers.column_generation.driver.column_generation`, with the same certificate.
    parts : indices of samples, each part with both classes.
    c : > 0, penalty weight of the hinge loss.
    run : solver (any for LP that returns multipliers), options, time limit, progress. After the limit the machines
        trained so far are the answer.

    Returns
    -------
    DriverResult
        ``point`` has an entry for each machine: ``w`` (k, p), ``b`` (k,), the multipliers ``alpha`` (k, n), and
        ``selected`` (k, p), whether each weight is not 0. ``feasible``: the certificate is that of every machine on its
        part, its objective the sum of theirs; nothing is claimed about the union of their features.

    Raises
    ------
    ParameterError : c <= 0, or a model of other data.
    SolverError : a machine was not trained, or the solver returns no multipliers.
    """
    c = number("partitions", "c", c, low=0.0, strict=True)
    session = None if model is None else run.open(model)
    if session is not None:
        check_margins("partitions", session, data)
    recorder = Recorder([] if session is None else [session], run)
    w, b, alpha = np.zeros((len(parts), data.p)), np.zeros(len(parts)), np.zeros((len(parts), data.n))
    stop, trained = "complete", 0
    try:
        for k, rows in enumerate(parts):
            if trained and recorder.expired:
                stop = "time-limit"
                break
            costs = weights_of_part(data.n, rows, c)
            if session is None:
                found = column_generation(data, costs, np.ones(data.p), run=recorder.rest())
                recorder.include(found)
                w[k], b[k], alpha[k] = (found.point[name] for name in ("w", "b", "alpha"))
            else:
                w[k], b[k], alpha[k] = _train(session, costs, recorder)
            trained += 1
            recorder.record(n_features=int(nonzero(w[k]).sum()), rows=len(rows))
    except (KeyboardInterrupt, OutOfTime) as reason:
        if not trained:
            raise
        stop = stop_word(reason)
    w, b, alpha = w[:trained], b[:trained], alpha[:trained]
    total, worst = certify_partitions(data, parts[:trained], c, w, b, alpha)
    return recorder.end(
        Status.FEASIBLE,
        stop,
        objective=total,
        point={"w": w, "b": b, "alpha": alpha, "selected": nonzero(w)},
        certificate=make(Kind.CONVEX, {"sparse machines": worst}, objective=total),
    )


def weights_of_part(n: int, rows: Indices, c: float) -> Vector:
    """Return the penalty weights of the samples (n,): c in a part and 0 outside."""
    costs = np.zeros(n)
    costs[rows] = c
    return costs


def nonzero(w: Vector) -> Mask:
    """Return whether each weight (..., p) of each machine is not 0 up to rounding."""
    size = np.abs(w)
    large: Mask = size > np.maximum(THRESHOLD * size.max(axis=-1, keepdims=True, initial=0.0), NOISE)
    return large


def certify_partitions(
    data: Dataset, parts: Sequence[Indices], c: float, w: Vector, b: Vector, alpha: Vector
) -> tuple[float, float]:
    """Return the sum of the machines' objectives, and the largest residual of their certificates, in numpy alone."""
    proofs = [
        certify_l1_hinge(data, weights_of_part(data.n, rows, c), np.ones(data.p), w[k], float(b[k]), alpha[k])
        for k, rows in enumerate(parts)
    ]
    return sum(p.objective or 0.0 for p in proofs), max(p.worst for p in proofs)


def _train(session: Session, costs: Vector, recorder: Recorder) -> tuple[Vector, float, Vector]:
    """Return hyperplane and multipliers of the machine with these weights of the slacks."""
    m = session.model
    norm = one_norm(m)
    m.objective.set_value(norm + dot(costs, tuple(m.xi.values())))
    session.update(m.objective)
    point = recorder.solve(session, "a sparse machine", load=False).point
    if point is None or point.y is None:
        raise no_multipliers(session.spec.name, session.problem_class)
    b = float(point.x[session.columns(m.b)][0])
    return point.x[session.columns(m.w)], b, point.y[session.rows(m.margin)]
