r"""First-order oracle of the Boolean relaxation of a root, by products with the samples alone.

With Z = YX, penalty weights :math:`\lambda`, one constraint :math:`R\sigma \le r` and the loss :math:`\ell` of the
margins, whose conjugate gives the term :math:`\psi` of the multipliers, the relaxation is the saddle point problem

.. math:: \min_{w, b}\ \max_{0 \le \alpha \le \bar\alpha}\ \Omega(w) - \alpha'(Zw + yb) + \psi(\alpha), \qquad
          \Omega(w) = \min_{0 \le \sigma \le 1,\ R\sigma \le r}\ \sum_j \Big(\frac{w_j^2}{2\sigma_j}
          + \lambda_j \sigma_j\Big),

for a cardinality alone half the squared k-support norm (Argyriou, Foygel and Srebro, 2012). A proximal step of w at z,
with lengths :math:`\tau_j`, is

.. math:: w_j = \frac{\sigma_j z_j}{\sigma_j + \tau_j}, \qquad
          \sigma_j = \Pi_{[0, 1]}\Big(\frac{|z_j|}{\sqrt{2(\lambda_j + \mu R_j)}} - \tau_j\Big),

with the smallest :math:`\mu \ge 0` at which :math:`R\sigma \le r`, found by bisection; at :math:`\tau = 0` the same
:math:`\sigma` is that of :math:`\Omega(w)`. The steps are those of :mod:`fsopt.svm.primal_dual`, in the
inverse of the sums :math:`\sum_i |Z_{ij}|` and :math:`\sum_j |Z_{ij}|`.

What is proved does not depend on these numbers: the search rounds alpha to its grid and bounds by integers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from fsopt.common import clock
from fsopt.data.weights import loss_weights
from fsopt.search.branch_and_benders.node_programs import NodeHyperplane, NodeSolution
from fsopt.search.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.svm.primal_dual import PrimalDual, Saddle
from fsopt.typing import Vector

SHARE = 0.5
"""Largest share of the time that is left for the steps: the search needs the rest."""
STEPS, MOST = 25, 20_000
"""Steps between two looks at the gap, and of all sweeps."""
TINY = 1e-30
"""Smallest charge of a feature: one without any has the share 1."""
NEAR, EXACT = 1.01, 1e-9
"""Ratio of the ends of the first interval of a bisection, and of the last one, less 1."""
BLOCK = 256
"""Features of which the absolute values are held at a time."""


class RootSteps:
    """Primal-dual steps of the relaxation of a root, from w = 0.

    Attributes
    ----------
    steps : of the whole relaxation.
    best, lower, upper : the pair of the best lower bound, that bound, and the smallest value.
    end : time at which the steps end, after half of what was left.
    """

    def __init__(self, problem: SelectionProblem, at: Partial) -> None:
        self.problem, self.root = problem, at
        self.end = time.perf_counter() + SHARE * (clock.end_of(clock.left()) - time.perf_counter())
        kept, main = ~at.outside, problem.main
        Z = problem.signed if kept.all() else problem.signed[np.flatnonzero(kept)]
        p, n = Z.shape
        weights = np.zeros(problem.p) if main is None else problem.R[main]
        free, term = at.free[kept], problem.term
        self.budget = math.inf
        if main is not None:
            self.budget = float(problem.r[main] + problem.tolerances[main] - weights[at.inside].sum())
        self.constant, self.power = float(problem.lam[at.inside].sum()), problem.loss.power
        by_feature, by_sample = _absolute_sums(Z)
        self.Z, self.y = Z, problem.y
        self.costs, self.weights = problem.lam[kept] * free, weights[kept] * free
        self.caps, self.gamma, self.penalties = (
            np.array(np.broadcast_to(part, n), dtype=float)
            for part in (term.caps, term.gamma, loss_weights(problem.c, problem.weights))
        )
        self._mu = 1.0
        start = Saddle(np.zeros(p), 0.0, self._beginning(p))
        units = (1.0 / np.maximum(by_feature, TINY), 1.0 / n, 1.0 / (1.0 + by_sample))
        self.steps = PrimalDual(
            Z, self.y, self.caps, self._proximal, self.ends, start, gamma=self.gamma, units=units, period=STEPS
        )
        self.best = start
        self.lower, self.upper = -math.inf, math.inf

    @property
    def late(self) -> bool:
        """Whether the time of the steps, or their number, is used up."""
        return self.steps.total >= MOST or time.perf_counter() > self.end

    def run(self, gap: float, cutoff: float = math.inf) -> None:
        """Take steps up to a relative gap or a bound at the cutoff, or until it is late; a later call goes on."""
        while not (self.steps.total and (self._closed(gap) or self.lower >= cutoff or self.late)):
            for low, high, pair in self.steps.sweep():
                self.upper = min(self.upper, high)
                if low > self.lower:
                    self.best, self.lower = pair, low

    def solution(self) -> NodeSolution:
        """Return the best pair as the relaxation of the root."""
        kept, pair = ~self.root.outside, self.best
        w, sigma = np.zeros(self.problem.p), np.zeros(self.problem.p)
        w[kept], sigma[kept] = pair.w, self.shares(pair.w, 0.0)
        alpha = self.balanced(pair.alpha)
        hyperplane = NodeHyperplane(w, pair.b, sigma, alpha.astype(np.float32))
        return NodeSolution(alpha, np.zeros(len(self.problem.r)), hyperplane, self.lower)

    def _closed(self, gap: float) -> bool:
        return self.upper - self.lower <= gap * abs(self.upper)

    def ends(self, pair: Saddle) -> tuple[float, float]:
        """Return the lower bound by the multipliers of a pair, and the value of the relaxation at its hyperplane."""
        alpha = self.balanced(pair.alpha)
        q = self.Z @ alpha
        gains = 0.5 * q * q - self.costs
        mu = self._multiplier(lambda mu: float(np.sum(np.where(gains > mu * self.weights, self.weights, 0.0 * gains))))
        lower = float(np.sum(alpha - 0.5 * self.gamma * alpha * alpha)) - (mu * self.budget if mu else 0.0)
        lower -= float(np.sum(np.maximum(gains - mu * self.weights, 0.0)))
        sigma = self.shares(pair.w, 0.0)
        slacks = np.maximum(1.0 - pair.w @ self.Z - pair.b * self.y, 0.0)
        upper = 0.5 * float(np.sum(pair.w * pair.w / (sigma + TINY))) + float(self.costs @ sigma)
        upper += float(self.penalties @ (slacks if self.power == 1 else slacks * slacks))
        return self.constant + lower, self.constant + upper

    def shares(self, z: Vector, tau: Vector | float) -> Vector:
        """Return sigma (p,) of a proximal step with the lengths tau (p,) at z; with 0 that of Omega at z."""
        size = np.abs(z)

        def at(mu: float) -> Vector:
            charges = self.costs + mu * self.weights
            return np.clip(size / np.sqrt(2.0 * (charges + TINY)) - tau, 0.0, 1.0)

        return at(self._multiplier(lambda mu: float(self.weights @ at(mu))))

    def balanced(self, alpha: Vector) -> Vector:
        """Return multipliers with y'alpha = 0, those of the heavier class scaled down."""
        plus, minus = 0.5 * (1.0 + self.y), 0.5 * (1.0 - self.y)
        up, down = float(plus @ alpha), float(minus @ alpha)
        least = min(up, down)
        return alpha * (plus * (least / max(up, TINY)) + minus * (least / max(down, TINY)))

    def _proximal(self, z: Vector, tau: Vector) -> Vector:
        sigma = self.shares(z, tau)
        return sigma * z / (sigma + tau)

    def _multiplier(self, used: Callable[[float], float]) -> float:
        """Return the smallest mu >= 0 at which a falling function is within the constraint, from above."""
        if used(0.0) <= self.budget:
            return 0.0
        low = high = self._mu
        factor = NEAR
        while used(high) > self.budget:
            low, high = high, factor * high
            factor *= factor
        while low == high or used(low) <= self.budget:
            if low < TINY * TINY:
                return low
            low, high = low / factor, low
            factor *= factor
        while high > (1.0 + EXACT) * low:
            middle = math.sqrt(low * high)
            low, high = (middle, high) if used(middle) > self.budget else (low, middle)
        self._mu = high
        return high

    def _beginning(self, p: int) -> Vector:
        """Return balanced multipliers (n,), of half their bounds, scaled to a positive dual value."""
        alpha = self.balanced(0.5 * self.caps)
        total = float(np.sum(alpha))
        square = total + self.constant - self.ends(Saddle(np.zeros(p), 0.0, alpha))[0]  # that of alpha, at least 0
        return alpha * min(1.0, 0.5 * total / max(square, TINY))


def _absolute_sums(Z: Any) -> tuple[Vector, Vector]:
    """Return the sums of absolute values of each feature (p,) and of each sample (n,)."""
    p, n = Z.shape
    by_feature, by_sample = np.zeros(p), np.zeros(n)
    for k in range(0, p, BLOCK):
        part = abs(Z[k : k + BLOCK])
        by_feature[k : k + BLOCK] = part.sum(axis=1)
        by_sample += part.sum(axis=0)
    return by_feature, by_sample
