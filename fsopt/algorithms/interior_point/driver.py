"""Driver ``svm_interior_point``: support vector machines of large data, by systems in the smaller dimension of X."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from fsopt.algorithms.interior_point.certificate import certify_rsvm, certify_svm, certify_svm_norm
from fsopt.algorithms.interior_point.newton import BestIterate
from fsopt.algorithms.interior_point.problems import HingeProblem
from fsopt.answers.certificate import Certificate
from fsopt.answers.results import DriverResult
from fsopt.data import Dataset
from fsopt.drivers.loop import Loop, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, timed
from fsopt.models.blocks import number
from fsopt.typing import Vector

MOST = 200
"""Iterations at most; 10 to 30 are usual, and 120 for large data whose classes separate well."""
THREADED = 1_000
"""Order of the systems from which their factors are shared among the threads of BLAS."""
LARGE_C = 1e3
"""C at which a C-SVM of large data takes the place of the hyperplane of smallest norm among those of smallest loss."""
STALLED = 15
"""Iterations without progress after which rounding has the last word."""


@timed
def svm_interior_point(
    data: Dataset,
    *,
    c: float = 1.0,
    tolerance: float = 1e-9,
    max_iterations: int = MOST,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Solve the support vector machine of Aytug, (1), by a primal-dual interior-point method in numpy.

    .. math::

        \min_{w, b}\ \tfrac12 w'w + C \sum_i \max(0,\ 1 - y_i(w'x_i + b)) \;=\;
        \max_{0 \le \alpha \le C,\ y'\alpha = 0}\ e'\alpha - \tfrac12 \|X'Y\alpha\|^2

    With V = YX, each iteration solves systems with :math:`D + VV'`, D a positive diagonal: by a Cholesky factor of
    :math:`I + V'D^{-1}V` (p, p) where p <= n. Where n < p, V is first replaced by its factor (n, n) in a basis of its
    samples, or the matrix itself (n, n) is factored where that would take long. No array is larger than the data.

    Parameters
    ----------
    data : the samples, preprocessed.
    c : C > 0.
    tolerance : relative gap at which the loop ends.
    max_iterations : further stopping criterion.
    run : time limit and progress. The loop calls no solver: a solver and its options do not matter.

    Returns
    -------
    DriverResult
        ``point`` has ``w``, ``b`` and the multipliers ``alpha`` (n,) behind ``bound``, which is valid wherever the
        loop stopped. ``optimal`` where :func:`fsopt.algorithms.interior_point.certificate.certify_svm` holds, else
        ``feasible``.

    Raises
    ------
    ParameterError : c <= 0.
    OutOfTimeError : the time limit passed before the first iteration.

    Notes
    -----
    Mehrotra's predictor and corrector; elimination in the smaller dimension after Ferris & Munson (2002).
    """
    c = number("svm_interior_point", "c", c)
    return (yield from _minimise(HingeProblem(data, c), tolerance, max_iterations, run))


@timed
def rsvm_interior_point(
    data: Dataset, *, w_cap: float, tolerance: float = 1e-9, max_iterations: int = MOST, run: Run = DEFAULT_RUN
) -> Steps[DriverResult]:
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
        As in :func:`svm_interior_point`; ``optimal`` where
        :func:`fsopt.algorithms.interior_point.certificate.certify_rsvm` holds.

    Raises
    ------
    ParameterError : w_cap <= 0.
    OutOfTimeError : the time limit passed before the first iteration.
    """
    w_cap = number("rsvm_interior_point", "w_cap", w_cap)
    return (yield from _minimise(HingeProblem(data, 1.0, w_cap), tolerance, max_iterations, run))


@timed
def svm_norm_interior_point(
    data: Dataset, *, c: float = 1.0, tolerance: float = 1e-9, max_iterations: int = MOST, run: Run = DEFAULT_RUN
) -> Steps[DriverResult]:
    r"""Solve the support vector machine with an unsquared norm, (19) of Peleg & Meir, by the same method.

    .. math::

        \min_{w, b}\ \tfrac12 \|w\| + C \sum_i \max(0,\ 1 - y_i(w'x_i + b)) \;=\;
        \max_{0 \le \alpha \le C,\ y'\alpha = 0}\ \{e'\alpha : \|X'Y\alpha\| \le \tfrac12\}

    The norm is :math:`\min_{r > 0} w'w/(2r) + r/2`, and r one more unknown of Newton's method.

    Parameters
    ----------
    data, c, tolerance, max_iterations, run : as in :func:`svm_interior_point`.

    Returns
    -------
    DriverResult
        As in :func:`svm_interior_point`; ``optimal`` where
        :func:`fsopt.algorithms.interior_point.certificate.certify_svm_norm` holds.

    Raises
    ------
    ParameterError : c <= 0.
    OutOfTimeError : the time limit passed before the first iteration.
    """
    c = number("svm_norm_interior_point", "c", c)
    return (yield from _minimise(HingeProblem(data, c, norm=True), tolerance, max_iterations, run))


def _minimise(problem: HingeProblem, tolerance: float, max_iterations: int, run: Run) -> Steps[DriverResult]:
    """Run Newton's method from w = 0, small systems on one thread: two would wait for each other most of the time."""
    recorder = Recorder([], run)
    search = BestIterate(problem, recorder)
    with threadpool_limits(1 if min(problem.data.X.shape) < THREADED else None):
        _, stop = yield from run_loop(_newton(search, tolerance, max_iterations), recorder)
    if search.bound <= 0.0 and search.gap <= tolerance:
        search.alpha = np.zeros(problem.data.n)  # the bound 0 is theirs
    certificate = _certified(problem, search.w, search.b, search.alpha)
    return recorder.end_certified(certificate, stop, {"w": search.w, "b": search.b, "alpha": search.alpha})


def _newton(search: BestIterate, tolerance: float, max_iterations: int) -> Loop:
    """Yield the iterates of Newton's method, the first without a record."""
    search.begin()
    at = search.iterate("optimal" if search.gap <= tolerance else "")
    yield at
    for _ in range(0 if at.stop else max_iterations):
        length = None if search.stale > STALLED else search.step()
        stop = "stalled" if length is None else "optimal" if search.gap <= tolerance else ""
        yield search.iterate(stop, length)
        if stop:
            return


def _certified(problem: HingeProblem, w: Vector, b: float, alpha: Vector) -> Certificate:
    if problem.capacity is not None:
        return certify_rsvm(problem.data, problem.capacity, w, b, alpha)
    certify = certify_svm_norm if problem.norm else certify_svm
    return certify(problem.data, problem.c, w, b, alpha)
