"""Sparse machines on random parts of the rows, whose features are put together (VS-SSVM, a baseline of paper 5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyomo.environ as pyo

from fsopt.certificates.certificate import Kind, make
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.drivers.column_generation.driver import column_generation
from fsopt.drivers.column_generation.l1_hinge_program import certify_l1_hinge
from fsopt.drivers.recorder import Recorder, stop_word
from fsopt.drivers.run import DEFAULT_RUN, OutOfTime, Run
from fsopt.models.blocks import one_norm
from fsopt.results import DriverResult, Status
from fsopt.solvers.base import Session
from fsopt.solvers.registry import no_multipliers
from fsopt.typing import Indices, Mask, Vector

NOISE = 1e-10
"""A weight below this, of a column of unit deviation, is 0 up to the solver's rounding."""
THRESHOLD = 1e-6


def partitions(
    data: Dataset,
    model: pyo.ConcreteModel | None,
    parts: Sequence[Indices],
    *,
    c: float,
    run: Run = DEFAULT_RUN,
) -> DriverResult:
    r"""Train a one-norm machine on each part of the rows.

    .. math:: \min\ \|w\|_1 + \sum_i d_i \xi_i, \qquad d_i = C \text{ in the part},\ 0 \text{ outside}

    One model serves all parts: only the costs of the slacks change, and the solver goes on from its last basis.

    Parameters
    ----------
    data : preprocessed rows, all of them.
    model : model ``onsvm`` of these rows; None solves small programs of some rows and columns instead, by
        :func:`fsopt.drivers.column_generation.driver.column_generation`, with the same proof.
    parts : indices of rows, each with both classes.
    c : > 0, price of a unit of hinge loss.
    time_limit : once it has passed, the machines trained so far are the answer.

    Returns
    -------
    DriverResult
        ``point`` has one row for each machine: ``w`` (k, p), ``b`` (k,), the multipliers ``alpha`` (k, n), and
        ``selected`` (k, p), which weights are not 0. ``feasible``: the certificate proves every machine on its part,
        its objective is the sum of theirs; nothing is claimed about the union of their features.

    Raises
    ------
    SolverError : a machine was not trained, or the solver gives no multipliers.
    """
    session = None if model is None else run.open(model)
    recorder = Recorder([] if session is None else [session], run)
    w, b, alpha = np.zeros((len(parts), data.p)), np.zeros(len(parts)), np.zeros((len(parts), data.n))
    stop, trained = "complete", 0
    try:
        for k, rows in enumerate(parts):
            if trained and recorder.expired:
                stop = "time-limit"
                break
            costs = row_costs(data.n, rows, c)
            if session is None:
                found = column_generation(data, costs, np.ones(data.p), run=recorder.rest())
                recorder.include(found)
                w[k], b[k], alpha[k] = (found.point[name] for name in ("w", "b", "alpha"))
            else:
                w[k], b[k], alpha[k] = _train(session, costs, recorder)
            trained += 1
            recorder.record(n_features=int(sparse(w[k]).sum()), rows=len(rows))
    except (KeyboardInterrupt, OutOfTime) as reason:
        if not trained:
            raise
        stop = stop_word(reason)
    w, b, alpha = w[:trained], b[:trained], alpha[:trained]
    total, worst = certify_partitions(data, parts[:trained], c, w, b, alpha)
    return recorder.end(
        Status.FEASIBLE, stop, objective=total, point={"w": w, "b": b, "alpha": alpha, "selected": sparse(w)},
        certificate=make(Kind.CONVEX, {"sparse machines": worst}, objective=total),
    )  # fmt: skip


def row_costs(n: int, rows: Indices, c: float) -> Vector:
    """Return c on the rows of a part and 0 outside (n,)."""
    costs = np.zeros(n)
    costs[rows] = c
    return costs


def sparse(w: Vector) -> Mask:
    """Return which weights (..., p) of each machine are not 0 up to rounding."""
    size = np.abs(w)
    chosen: Mask = size > np.maximum(THRESHOLD * size.max(axis=-1, keepdims=True, initial=0.0), NOISE)
    return chosen


def certify_partitions(
    data: Dataset, parts: Sequence[Indices], c: float, w: Vector, b: Vector, alpha: Vector
) -> tuple[float, float]:
    """Return the sum of the machines' objectives, and the worst residual of their proofs, in numpy alone."""
    proofs = [
        certify_l1_hinge(data, row_costs(data.n, rows, c), np.ones(data.p), w[k], float(b[k]), alpha[k])
        for k, rows in enumerate(parts)
    ]
    return sum(p.objective or 0.0 for p in proofs), max(p.worst for p in proofs)


def _train(session: Session, costs: Vector, recorder: Recorder) -> tuple[Vector, float, Vector]:
    """Return plane and multipliers of the machine with these costs of the slacks."""
    m = session.model
    norm = one_norm(m)
    m.objective.set_value(norm + dot(costs, tuple(m.xi.values())))
    session.update(m.objective)
    point = recorder.solve(session, "a sparse machine", load=False).point
    if point is None or point.y is None:
        raise no_multipliers(session.spec.name, session.problem_class)
    b = float(point.x[session.columns(m.b)][0])
    return point.x[session.columns(m.w)], b, point.y[session.rows(m.margin)]
