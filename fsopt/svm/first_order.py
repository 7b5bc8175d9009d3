"""Support vector machines of large sparse data by primal-dual steps, which make no dense matrix."""

from __future__ import annotations

import numpy as np

from fsopt.answers.results import DriverResult
from fsopt.certificates.points import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import combination, midpoint_intercept, project_multipliers, svm_bound, svm_value
from fsopt.data.weights import loss_weights
from fsopt.drivers.loop import Iterate, Loop, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.models.blocks import number
from fsopt.svm.certificate import certify_svm
from fsopt.svm.primal_dual import PrimalDual, Saddle
from fsopt.typing import Vector

CLOSED = 5e-7
"""Gap at which the steps end: half the tolerance of a certificate."""
STALLED = 200
"""Sweeps without a smaller gap after which rounding has the last word."""


class _Best:
    """The hyperplane of smallest value and the multipliers of largest bound so far."""

    def __init__(self, data: Dataset, c: float) -> None:
        self.data, self.c = data, c
        self.caps = np.ones(data.n) * loss_weights(c, data.weights)
        self.w, self.b = np.zeros(data.p), 0.0
        self.alpha = np.zeros(data.n)
        self.value, self.bound = np.inf, 0.0

    @property
    def gap(self) -> float:
        """The relative gap of value and bound."""
        return relative_gap(self.value, self.bound)

    def ends(self, pair: Saddle) -> tuple[float, float]:
        """Return the bound of the multipliers of a pair, and the smaller value of its own weights and of theirs."""
        alpha, values = project_multipliers(pair.alpha, self.data.y, self.caps), []
        if (bound := svm_bound(self.data, alpha)) > self.bound:
            self.alpha, self.bound = alpha, bound
        for w in (pair.w, combination(self.data, alpha)):
            b = midpoint_intercept(self.data.X @ w, self.data.y, self.data.weights)
            values.append(svm_value(self.data, w, b, self.c))
            if values[-1] < self.value:
                self.w, self.b = w, b
                self.value = values[-1]
        return bound, min(values)


@loop
def svm_first_order(data: Dataset, *, c: float = 1.0, run: Run = DEFAULT_RUN) -> Steps[DriverResult]:
    r"""Solve the support vector machine of Aytug, (1), by :class:`fsopt.svm.primal_dual.PrimalDual`.

    .. math::

        \min_{w, b}\ \tfrac12 w'w + C \sum_i \max(0,\ 1 - y_i(w'x_i + b)) \;=\;
        \max_{0 \le \alpha \le C,\ y'\alpha = 0}\ e'\alpha - \tfrac12 \|X'Y\alpha\|^2

    Parameters
    ----------
    data : the samples, preprocessed; sparse ones are not made dense.
    c : C > 0.
    run : time limit and progress. The loop calls no solver: a solver and its options do not matter.

    Returns
    -------
    DriverResult
        ``point`` has ``w``, ``b`` and the multipliers ``alpha`` (n,) behind ``bound``, which is valid wherever the
        loop stopped. ``optimal`` where :func:`fsopt.svm.certificate.certify_svm` holds, else ``feasible``.

    Raises
    ------
    ParameterError : c <= 0.
    """
    best = _Best(data, number("svm_first_order", "c", c))
    recorder = Recorder([], run)
    _, stop = yield from run_loop(_sweeps(best), recorder)
    certificate = certify_svm(data, c, best.w, best.b, best.alpha)
    return recorder.end_certified(certificate, stop, {"w": best.w, "b": best.b, "alpha": best.alpha})


def _sweeps(best: _Best) -> Loop:
    """Yield the best hyperplanes, from w = 0 on."""
    data = best.data
    at = Saddle(best.w, best.b, best.alpha)
    best.ends(at)
    yield Iterate(best.value, {"w": best.w}, best.bound, within=True)

    def shrunk(z: Vector, tau: float) -> Vector:
        return z / (1.0 + tau)

    signed = data.X.T.multiply(data.y).tocsr()  # type: ignore[attr-defined]
    steps, stale = PrimalDual(signed, data.y, best.caps, shrunk, best.ends, at), 0
    while stale <= STALLED:
        before = best.gap
        steps.sweep()
        stale = 0 if best.gap < before else stale + 1
        stop = "optimal" if best.gap <= CLOSED else "stalled" if stale > STALLED else ""
        record = {"objective": best.value, "bound": best.bound}
        yield Iterate(best.value, {"w": best.w}, best.bound, record=record, stop=stop)
        if stop:
            return
