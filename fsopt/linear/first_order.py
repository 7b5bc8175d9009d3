r"""Primal-dual hybrid gradients for linear machines of large sparse data, by products with the samples alone.

With Z = YX, a penalty :math:`\Omega` of the weights and the concave term
:math:`\alpha'e - \tfrac12 \alpha'\Gamma\alpha` of the multipliers, of the hinge loss or its square, a classifier is
the saddle point problem

.. math:: \min_{w, b}\ \max_{0 \le \alpha \le \bar\alpha}\ \Omega(w) + \alpha'(e - Zw - yb)
          - \tfrac12 \alpha'\Gamma\alpha .

A step moves weights and multipliers by proximal gradients, with the lengths :math:`\tau_j` and :math:`\sigma_i`:

.. math::

    w^+ = \mathrm{prox}_{\tau\Omega}(w + \tau Z'\alpha), \quad b^+ = b + \tau_0 y'\alpha, \quad
    \alpha^+ = \Pi_{[0, \bar\alpha]}\Big(\frac{\alpha + \sigma(e - Z(2w^+ - w) - y(2b^+ - b))}{1 + \sigma\gamma}\Big),

of which the norm of (Z, y) in the units of the lengths allows the product. The means of the steps since the last
restart converge, too; the better point of the two, by its duality gap, is the next start as soon as it has a fraction
of the gap of the last one. A restart sets :math:`\sqrt{\tau/\sigma}` to the ratio of the distances that weights and
multipliers went.

Source: Chambolle & Pock (2011) for the steps, Pock & Chambolle (2011) for lengths of their own for each feature and
sample; Applegate et al. (2021) for restarts and the ratio.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fsopt.answers.results import DriverResult
from fsopt.data import Dataset
from fsopt.data.hyperplanes import combination, loss_weights, project_multipliers
from fsopt.drivers.loop import Iterate, Loop, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.linear.certificate import Best
from fsopt.linear.penalties import SQUARES
from fsopt.models.blocks import number
from fsopt.typing import Vector

STEPS = 40
"""Steps between two looks at the gap, where these cost as much as three of them."""
LESS = 0.4
"""Share of the gap at the last restart at which the next one comes."""
LONG, LEAST = 0.36, 200
"""Share of all steps since the last restart from which one comes anyway, and at least how many."""
POWER, MARGIN = 10, 1.02
"""Steps of the power method for the norm, which it finds from below, and the factor of safety."""
CLOSED = 5e-7
"""Gap at which the steps of a machine end: half the tolerance of a certificate."""
STALLED = 200
"""Sweeps without a smaller gap after which rounding has the last word."""


class Saddle(NamedTuple):
    """A pair of a hyperplane, w (p,) and b, and multipliers alpha (n,) within their bounds."""

    w: Vector
    b: float
    alpha: Vector


Proximal: TypeAlias = Callable[[Vector, Any], Vector]
"""Function (z (p,), tau, a number or (p,)) -> the w of smallest Omega(w) + sum_j (w_j - z_j)^2 / (2 tau_j)."""
Ends: TypeAlias = Callable[[Saddle], tuple[float, float]]
"""Function (pair) -> lower bound by its multipliers, made feasible, and value of its hyperplane."""


@dataclass
class PrimalDual:
    """The steps of a problem.

    Attributes
    ----------
    Z : (p, n) signed samples, in any storage. ``y``, ``caps``, ``gamma`` : (n,), or numbers for the last two.
    proximal, ends : of the penalty, and of the pair after a sweep.
    at, mean : the last pair, and the mean of those since the restart.
    units : of the lengths of w, b and alpha: numbers, or (p,), one number and (n,).
    ratio : the square root of tau / sigma, in these units. ``norm`` : of (Z, y), in the same.
    period, total : number of steps of a sweep, and so far.
    """

    Z: Any
    y: Vector
    caps: Vector
    proximal: Proximal
    ends: Ends
    at: Saddle
    gamma: Vector | float = 0.0
    units: tuple[Any, float, Any] = (1.0, 1.0, 1.0)
    ratio: float = 1.0
    period: int = STEPS
    total: int = 0

    def __post_init__(self) -> None:
        self.mean = self._start = self.at
        self._gap, self._since = math.inf, 0
        self.norm = MARGIN * self._norm()

    def sweep(self) -> list[tuple[float, float, Saddle]]:
        """Take steps; return the last pair and the mean with their ends, that of the smaller gap first."""
        of_w, of_b, of_alpha = self.units
        along, across = self.ratio / self.norm, 1.0 / (self.ratio * self.norm)
        tau, sigma = along * of_w, across * of_alpha
        w, b = self.at.w, self.at.b
        alpha, forms = self.at.alpha, self._forms(w, b)
        since, mean = self._since, self.mean
        sum_w, sum_b = since * mean.w, since * mean.b
        sum_alpha = since * mean.alpha
        for _ in range(self.period):
            w = self.proximal(w + tau * (self.Z @ alpha), tau)
            b = b + along * of_b * float(self.y @ alpha)
            before, forms = forms, self._forms(w, b)
            alpha = (alpha + sigma * (1.0 - 2.0 * forms + before)) / (1.0 + sigma * self.gamma)
            alpha = np.minimum(np.maximum(alpha, 0.0), self.caps)
            sum_w, sum_b = sum_w + w, sum_b + b
            sum_alpha = sum_alpha + alpha
        self.total += self.period
        self._since += self.period
        share = 1.0 / self._since
        self.at, self.mean = Saddle(w, b, alpha), Saddle(share * sum_w, share * sum_b, share * sum_alpha)
        found = [(*self.ends(pair), pair) for pair in (self.at, self.mean)]
        found.sort(key=lambda ends: ends[1] - ends[0])
        low, high, pair = found[0]
        if high - low <= LESS * self._gap or self._since >= max(LONG * self.total, LEAST):
            self._restart(pair, high - low)
        return found

    def _restart(self, at: Saddle, gap: float) -> None:
        """Start anew from a pair, with the ratio of the distances from the last start, halfway on logarithms."""
        of_w, of_b, of_alpha = self.units
        start = self._start
        w, b = at.w - start.w, at.b - start.b
        alpha = at.alpha - start.alpha
        far = math.sqrt(float(np.sum(w * w / of_w)) + b * b / of_b)
        deep = math.sqrt(float(np.sum(alpha * alpha / of_alpha)))
        if min(far, deep) > 0.0:
            self.ratio = math.sqrt(self.ratio * far / deep)
        self.at = self.mean = self._start = at
        self._gap, self._since = gap, 0

    def _forms(self, w: Vector, b: float) -> Vector:
        return np.asarray(w @ self.Z + b * self.y)

    def _norm(self) -> float:
        """Return the norm of (Z, y) in the units of the lengths, by the power method."""
        of_w, of_b, of_alpha = self.units
        unit, at = np.sqrt(of_alpha), np.ones_like(self.y)
        size = 1.0
        for _ in range(POWER):
            at = unit * at
            at = unit * self._forms(of_w * (self.Z @ at), of_b * float(self.y @ at))
            size = float(np.linalg.norm(at))
            at = at / size
        return math.sqrt(size)


@loop
def minimise(data: Dataset, *, c: float = 1.0, run: Run = DEFAULT_RUN) -> Steps[DriverResult]:
    r"""Solve a support vector machine of large sparse data by :class:`PrimalDual`.

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
        loop stopped. ``optimal`` where :func:`fsopt.linear.certificate.certify` holds, else ``feasible``.

    Raises
    ------
    ParameterError : c <= 0.
    """
    best, recorder = Best(data, SQUARES, number("first_order", "c", c)), Recorder([], run)
    _, stop = yield from run_loop(_sweeps(best), recorder)
    return recorder.end_certified(best.certificate, stop, best.point)


def _sweeps(best: Best) -> Loop:
    """Yield the best hyperplanes, from w = 0 on."""
    data, caps = best.data, np.ones(best.data.n) * loss_weights(best.c, best.data.weights)
    at = Saddle(best.w, best.b, best.alpha)

    def ends(pair: Saddle) -> tuple[float, float]:
        """Look at the weights of a pair and at those of its multipliers."""
        alpha = project_multipliers(pair.alpha, data.y, caps)
        looks = [best.look(w, alpha) for w in (pair.w, combination(data, alpha))]
        return looks[0][1], min(value for value, _ in looks)

    yield Iterate(best.value, {"w": best.w}, best.bound, within=True)
    signed = data.X.T.multiply(data.y).tocsr()  # type: ignore[attr-defined]
    steps, stale = PrimalDual(signed, data.y, caps, lambda z, tau: z / (1.0 + tau), ends, at), 0
    while stale <= STALLED:
        before = best.gap
        steps.sweep()
        stale = 0 if best.gap < before else stale + 1
        stop = "optimal" if best.gap <= CLOSED else "stalled" if stale > STALLED else ""
        record = {"objective": best.value, "bound": best.bound}
        yield Iterate(best.value, {"w": best.w}, best.bound, record=record, stop=stop)
        if stop:
            return
