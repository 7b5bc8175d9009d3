"""Driver ``svm_interior_point``: support vector machines of large data, by systems in the smaller dimension of X."""

from __future__ import annotations

import numpy as np

from fsopt.certificates.certificate import Certificate, Kind, make
from fsopt.certificates.residuals import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import project_multipliers, svm_value
from fsopt.drivers.interior_point.newton import Search, sample
from fsopt.drivers.recorder import Recorder, stop_word
from fsopt.drivers.run import DEFAULT_RUN, OutOfTime, Run
from fsopt.models.blocks import number
from fsopt.results import DriverResult, Status
from fsopt.typing import Vector

PART, SMALLEST = 8, 2_000
"""The first hyperplane is that of n / PART samples, and of at least SMALLEST."""
ROUGH = 1e-3
"""Gap at which the machine of a part ends."""
STALLED = 15
"""Iterations without a smaller gap after which rounding has the last word."""


def svm_interior_point(
    data: Dataset,
    *,
    c: float = 1.0,
    start: tuple[Vector, float] | None = None,
    tolerance: float = 1e-9,
    max_iterations: int = 200,
    run: Run = DEFAULT_RUN,
) -> DriverResult:
    r"""Solve the support vector machine of Aytug, (1), by a primal-dual interior-point method in numpy.

    .. math::

        \min_{w, b}\ \tfrac12 w'w + C \sum_i \max(0,\ 1 - y_i(w'x_i + b)) \;=\;
        \max_{0 \le \alpha \le C,\ y'\alpha = 0}\ e'\alpha - \tfrac12 \|X'Y\alpha\|^2

    With V = YX, each iteration solves systems with :math:`D + VV'`, D a positive diagonal: by a Cholesky factor of
    :math:`I + V'D^{-1}V` (p, p) where p <= n, else of the matrix itself (n, n). No array is larger than the data.

    Parameters
    ----------
    data : the samples, preprocessed.
    c : C > 0.
    start : a hyperplane (w, b) to start from; by default that of an eighth of the samples where there are thousands.
    tolerance : relative gap at which the loop ends.
    max_iterations : further stopping criterion.
    run : time limit and progress. The loop calls no solver: a solver and its options do not matter.

    Returns
    -------
    DriverResult
        ``point`` has ``w``, ``b`` and the multipliers ``alpha`` (n,) behind ``bound``, which is valid wherever the
        loop stopped. ``optimal`` where :func:`certify_svm` holds, else ``feasible``.

    Raises
    ------
    ParameterError : c <= 0.
    OutOfTime : the time limit passed before the first iteration.

    Notes
    -----
    Mehrotra's predictor and corrector; elimination in the smaller dimension after Ferris & Munson (2002).
    """
    c = number("svm_interior_point", "c", c, low=0.0, strict=True)
    recorder = Recorder([], run)
    search = Search(data, c, recorder)
    stop = "iteration-limit"
    try:
        search.begin(*(_of_a_part(data, c, recorder) if start is None else start))
        # Each pass is an iteration, of which there are at most max_iterations.
        for _ in range(max_iterations):
            if search.gap <= tolerance:
                stop = "optimal"
            elif recorder.expired:
                stop = "time-limit"
            elif search.stale > STALLED or not search.iterate():
                stop = "stalled"
            else:
                continue
            break
    except (KeyboardInterrupt, OutOfTime) as reason:
        if not np.isfinite(search.value):
            raise
        stop = stop_word(reason)
    certificate = certify_svm(data, c, search.w, search.b, search.alpha)
    assert certificate.objective is not None
    return recorder.end(
        Status.OPTIMAL if certificate.ok else Status.FEASIBLE,
        stop,
        objective=certificate.objective,
        bound=certificate.bound,
        point={"w": search.w, "b": search.b, "alpha": search.alpha},
        certificate=certificate,
    )


def _of_a_part(data: Dataset, c: float, recorder: Recorder) -> tuple[Vector, float]:
    """Return the machine of a part of the samples, for a start; w = 0 where there are too few of them."""
    size = max(data.n // PART, SMALLEST)
    if size >= data.n:
        return np.zeros(data.p), 0.0
    part = data.rows(sample(data.y, size))
    found = svm_interior_point(part, c=c * data.n / part.n, tolerance=ROUGH, run=Run(time_limit=recorder.remaining))
    recorder.include(found)
    return found.point["w"], found.point["b"]


def certify_svm(data: Dataset, c: float, w: Vector, b: float, alpha: Vector) -> Certificate:
    r"""Certify a hyperplane as the optimum of the support vector machine (1) of Aytug, in numpy alone.

    Every :math:`\alpha \in [0, C]^n` with :math:`y'\alpha = 0` gives the lower bound
    :math:`e'\alpha - \tfrac12\|X'Y\alpha\|^2`.

    Parameters
    ----------
    c : penalty weight of the hinge loss.
    alpha : (n,) multipliers; the nearest feasible ones are taken.
    """
    turned = project_multipliers(alpha, data.y, c) * data.y
    bound = float(turned @ data.y) - 0.5 * float(((data.X.T @ turned) ** 2).sum())
    value = svm_value(data, w, b, c)
    gap = {"gap": relative_gap(value, bound)}
    return make(Kind.CONVEX, gap, objective=value, bound=bound, bound_source="dual point")
