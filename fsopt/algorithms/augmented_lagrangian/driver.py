"""Driver ``svm_augmented_lagrangian``: support vector machines of large data, sparse or with an elastic net."""

from __future__ import annotations

import numpy as np

from fsopt.algorithms.augmented_lagrangian.newton import Lagrangian
from fsopt.algorithms.interior_point.certificate import certify_svm
from fsopt.answers.results import DriverResult
from fsopt.data import Dataset
from fsopt.drivers.loop import Iterate, Loop, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, timed
from fsopt.models.blocks import number

SLOW = 0.3
"""Share of the gap that an iteration may leave without larger penalties, whose next minimum is harder to reach."""
STALLED = 12
"""Iterations without a smaller gap after which rounding has the last word."""


@timed
def svm_augmented_lagrangian(
    data: Dataset,
    *,
    c: float = 1.0,
    l1_ratio: float = 0.0,
    tolerance: float = 5e-7,
    max_iterations: int = 100,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Solve the support vector machine of Aytug, (1), or with the elastic net that of Wang, Zhu & Zou.

    .. math::

        \min_{w, b}\ \rho \|w\|_1 + \tfrac{1 - \rho}{2} w'w + C \sum_i \max(0,\ 1 - y_i(w'x_i + b)) \;=\;
        \max_{0 \le \alpha \le C,\ y'\alpha = 0}\ e'\alpha - \tfrac1{2(1 - \rho)} \sum_j
        \max(0,\ |(X'Y\alpha)_j| - \rho)^2

    Parameters
    ----------
    data : the samples, preprocessed; sparse ones are not made dense.
    c : C > 0.
    l1_ratio : rho in [0, 1).
    tolerance : relative gap at which the loop ends.
    max_iterations : further stopping criterion.
    run : time limit and progress. The loop takes no solver: one that is given does not matter.

    Returns
    -------
    DriverResult
        ``point`` has ``w``, ``b`` and the multipliers ``alpha`` (n,) behind ``bound``, which is valid wherever the
        loop stopped. ``optimal`` where :func:`fsopt.algorithms.interior_point.certificate.certify_svm` holds, else
        ``feasible``.

    Raises
    ------
    ParameterError : c <= 0, or l1_ratio outside [0, 1).
    """
    c = number("svm_augmented_lagrangian", "c", c)
    rho = number("svm_augmented_lagrangian", "l1_ratio", l1_ratio, inside="[0, 1)")
    recorder = Recorder([], run)
    at = Lagrangian(data, c, rho)
    _, stop = yield from run_loop(_minimise(at, tolerance, max_iterations), recorder)
    w, b, _ = at.best
    certificate = certify_svm(data, c, w, b, at.alpha, l1_ratio=at.rho)
    return recorder.end_certified(certificate, stop, {"w": w, "b": b, "alpha": at.alpha})


def _minimise(at: Lagrangian, tolerance: float, max_iterations: int) -> Loop:
    """Yield the best hyperplanes, from the first one on, which is w = 0."""
    yield Iterate(np.inf, {"w": at.best[0]}, within=True)
    at.begin()
    accuracy, stale = 1e-2, 0
    for _ in range(max_iterations):
        before = at.gap
        reached = at.minimise(accuracy)
        at.learn(at.a)
        stale = 0 if at.gap < before else stale + 1
        stop = "optimal" if at.gap <= tolerance else "stalled" if stale > STALLED else ""
        record = {"objective": at.best[2], "bound": at.bound, "sigma": at.sigma}
        yield Iterate(at.best[2], {"w": at.best[0]}, at.bound, record=record, stop=stop)
        if stop:
            return
        if not reached:
            continue
        accuracy = max(SLOW * accuracy, 1e-13)
        if at.gap > SLOW * before:
            at.sigma, at.tau = 4.0 * at.sigma, 4.0 * at.tau
