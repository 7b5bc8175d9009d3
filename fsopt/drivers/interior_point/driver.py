"""Driver ``svm_interior_point``: support vector machines of large data, by systems in the smaller dimension of X."""

from __future__ import annotations

import numpy as np

from fsopt.data import Dataset
from fsopt.drivers.interior_point.certificate import certify_rsvm, certify_svm
from fsopt.drivers.interior_point.newton import HingeProblem, Search, sample
from fsopt.drivers.recorder import Recorder, stop_word
from fsopt.drivers.run import DEFAULT_RUN, OutOfTime, Run
from fsopt.models.blocks import number
from fsopt.results import DriverResult, Status
from fsopt.typing import Vector

PART, SMALLEST = 8, 2_000
"""The first hyperplane is that of n / PART samples, and of at least SMALLEST."""
ROUGH = 1e-3
"""Gap at which the support vector machine of a part ends."""
MOST = 200
"""Iterations at most; 20 to 60 are usual."""
STALLED = 15
"""Iterations without a smaller gap after which rounding has the last word."""


def svm_interior_point(
    data: Dataset,
    *,
    c: float = 1.0,
    start: tuple[Vector, float] | None = None,
    tolerance: float = 1e-9,
    max_iterations: int = MOST,
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
        loop stopped. ``optimal`` where :func:`fsopt.drivers.interior_point.certificate.certify_svm` holds, else
        ``feasible``.

    Raises
    ------
    ParameterError : c <= 0.
    OutOfTime : the time limit passed before the first iteration.

    Notes
    -----
    Mehrotra's predictor and corrector; elimination in the smaller dimension after Ferris & Munson (2002).
    """
    c = number("svm_interior_point", "c", c, low=0.0, strict=True)
    problem = HingeProblem(data, c)
    return _minimise(problem, start, tolerance, max_iterations, run)


def rsvm_interior_point(
    data: Dataset, *, w_cap: float, tolerance: float = 1e-9, max_iterations: int = MOST, run: Run = DEFAULT_RUN
) -> DriverResult:
    r"""Solve the rigorous support vector machine of Bi, (13), by the same method.

    .. math::

        \min_{w, b}\ \sum_i \max(0,\ 1 - y_i(w'x_i + b)) \quad\text{s.t.}\quad w'w \le W

    The multiplier of the capacity is one more unknown of Newton's method.

    Parameters
    ----------
    data, tolerance, max_iterations, run : as in :func:`svm_interior_point`.
    w_cap : W > 0.

    Returns
    -------
    DriverResult
        As there; ``optimal`` where :func:`fsopt.drivers.interior_point.certificate.certify_rsvm` holds.

    Raises
    ------
    ParameterError : w_cap <= 0.
    OutOfTime : the time limit passed before the first iteration.
    """
    w_cap = number("rsvm_interior_point", "w_cap", w_cap, low=0.0, strict=True)
    return _minimise(HingeProblem(data, 1.0, w_cap), None, tolerance, max_iterations, run)


def _minimise(
    problem: HingeProblem, start: tuple[Vector, float] | None, tolerance: float, max_iterations: int, run: Run
) -> DriverResult:
    """Run Newton's method from a hyperplane, or from that of a part of the samples."""
    recorder = Recorder([], run)
    search = Search(problem, recorder)
    stop = "iteration-limit"
    try:
        search.begin(*(_of_a_part(problem, recorder) if start is None else start))
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
    w, b, alpha = (getattr(search, name) for name in ("w", "b", "alpha"))
    if problem.capacity is None:
        certificate = certify_svm(problem.data, problem.c, w, b, alpha)
    else:
        certificate = certify_rsvm(problem.data, problem.capacity, w, b, alpha)
    assert certificate.objective is not None
    return recorder.end(
        Status.OPTIMAL if certificate.ok else Status.FEASIBLE,
        stop,
        objective=certificate.objective,
        bound=certificate.bound,
        point={"w": w, "b": b, "alpha": alpha},
        certificate=certificate,
    )


def _of_a_part(problem: HingeProblem, recorder: Recorder) -> tuple[Vector, float]:
    """Return the hyperplane of a part of the samples, for a start; w = 0 where there are too few of them."""
    data = problem.data
    size = max(data.n // PART, SMALLEST)
    if size >= data.n:
        return np.zeros(data.p), 0.0
    part = data.rows(sample(data.y, size))
    c = problem.c if problem.capacity is not None else problem.c * data.n / part.n
    inner = HingeProblem(part, c, problem.capacity)
    found = _minimise(inner, None, ROUGH, MOST, Run(time_limit=recorder.remaining))
    recorder.include(found)
    return found.point["w"], found.point["b"]
