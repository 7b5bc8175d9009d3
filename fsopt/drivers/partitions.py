"""Driver ``partitions``: one-norm support vector machines on parts of the samples (VS-SSVM, a baseline of Bi)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fsopt.answers.certificate import Kind, make
from fsopt.answers.results import DriverResult, Status
from fsopt.common import clock
from fsopt.common.interruption import uninterrupted
from fsopt.data import Dataset
from fsopt.drivers.column_generation.driver import column_generation
from fsopt.drivers.column_generation.l1_hinge_program import certify_l1_hinge
from fsopt.drivers.loop import Iterate, Loop, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, OutOfTimeError, Run, Steps, loop
from fsopt.models.blocks import number
from fsopt.typing import Indices, Mask, Vector

NOISE = 1e-10
"""A weight below this, of a feature of unit deviation, is 0 up to the solver's rounding."""
THRESHOLD = 1e-6
"""A weight below this, relative to the largest, is 0 up to the solver's rounding."""


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

    Raises
    ------
    ParameterError : c <= 0.
    SolverError : an SVM was not trained, or the solver returns no multipliers.
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
        found = column_generation(data, weights_of_part(data, rows, c), np.ones(data.p), run=recorder.rest())
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
