r"""Lower bounds on the kernel scaling problem (15) of Bi: multipliers of linear programs, recomputed in numpy.

Every :math:`\mu, \beta \ge 0` and :math:`\delta \ge 0` with, for all active features j,

.. math:: w_j (X'Y\mu)_j \le \delta w_j^2 + \sum_i \beta_i x_{ij}^2 + \tau q_j

prove by weak duality, with :math:`A = e'\beta` and :math:`v = \sum_i \mu_i (1 - y_i b) - E \max_i \mu_i`, the cut

.. math:: A R + \delta W + \tau\,q's \ge v

for all feasible scales; q are the costs of the scales, and :math:`\tau \in \{0, 1\}`. At a radius R, cuts with
factors :math:`t_k \ge 0` such that :math:`\sum_k t_k\delta_k \le R` and :math:`\sum_k t_k\tau_k \le 1` prove

.. math:: RW + q's \ge \sum_k t_k (v_k - A_k R).

With t chosen as a function of R each sum is a quadratic in R, whose minimum on an interval has a closed form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from fsopt.certificates.kernel_scaling.problem import ScalingProblem
from fsopt.typing import Mask, Matrix, Vector

SMALLEST_DELTA = 1e-10
"""Smallest weight delta of W in a cut, in units of the start: a cut on R alone would be a vertical line in (R, W)."""
ROUNDING = 1e-9
"""Violations up to this, relative, are removed by shrinking mu, larger ones by raising the weights of R and W."""
ULP = 1e-15
"""Rounding, relative, of v - A R: the two terms of a steep cut cancel."""
PARTS = 32
"""Parts of an interval of radii, each with its own bound."""
BEFORE = 1e-4
"""An interval of radii ends at this relative distance before the root v / A of a cut: the cut is positive on it."""


@dataclass(frozen=True)
class Cut:
    """Multipliers of a linear program over the feasible set of (15); the field names are keys of saved fits.

    Attributes
    ----------
    mu, beta : (n,) multipliers of the margins and of the constraints of the ball.
    delta : weight of W.
    priced : whether the costs of the scales count (tau = 1).
    """

    mu: Vector
    beta: Vector
    delta: float
    priced: bool

    @classmethod
    def of(cls, record: Mapping[str, Any], n: int) -> Cut:
        """Return a cut from plain data of n samples.

        Raises
        ------
        KeyError, TypeError, ValueError : the data are damaged.
        """
        mu, beta = (np.array(record[name], dtype=float) for name in ("mu", "beta"))
        delta = float(record["delta"])
        if mu.shape != (n,) or beta.shape != (n,) or not np.isfinite([*mu, *beta, delta]).all():
            raise ValueError(f"a cut has {n} and {n} multipliers and a weight, all finite")
        return cls(mu, beta, delta, bool(record["priced"]))

    def proved(self, problem: ScalingProblem) -> tuple[float, float, float]:
        r"""Return (A, delta, v) of an inequality :math:`AR + \delta W + \tau q's \ge v` that holds.

        The multipliers are those of a solver, feasible up to its tolerance. Negative ones are clipped. A violation
        of the dual constraints is removed by shrinking mu, which costs a share of v, where it is rounding; a larger
        one by raising delta and A until :math:`\delta w_j^2 + A \sum_i x_{ij}^2 / n` covers it for every j.
        """
        w, y = problem.w, problem.data.y
        mu, beta = np.maximum(self.mu, 0.0), np.maximum(self.beta, 0.0)
        radius, capacity = problem.units
        delta = max(self.delta, SMALLEST_DELTA * radius / capacity)
        cost = delta * w**2 + problem.squares.T @ beta + (problem.costs if self.priced else 0.0)
        gain = w * (problem.data.X.T @ (mu * y))
        excess = np.where(problem.active, np.maximum(gain - cost, 0.0), 0.0)
        slope, wrong = float(beta.sum()), excess > 0
        if wrong.any():
            # A cost of 0 makes the share huge, and never nan: 1e-300 is the smallest number that can divide.
            share = float((excess[wrong] / np.maximum(cost[wrong], 1e-300)).max())
            if share <= ROUNDING:
                mu = mu / (1.0 + share)
            else:
                spread = w**2 / capacity + problem.squares.mean(axis=0) / radius
                raised = float((excess[wrong] / spread[wrong]).max())
                slope, delta = slope + raised / radius, delta + raised / capacity
        # xi costs max mu per unit of loss, and the loss is at most E.
        return slope, delta, float(mu @ (1.0 - y * problem.b)) - problem.e_cap * float(mu.max(initial=0.0))


@dataclass(frozen=True)
class Inequalities:
    """The inequalities of cuts: ``A R + delta W + tau q's >= v``, arrays (k,)."""

    slope: Vector
    delta: Vector
    value: Vector
    with_costs: Mask

    @staticmethod
    def of(problem: ScalingProblem, cuts: Sequence[Cut]) -> Inequalities:
        """Return the inequalities of cuts, and with them the lower bound on W in closed form."""
        rows = [cut.proved(problem) for cut in cuts] + [(0.0, 1.0, problem.lower_bounds[1])]
        slope, delta, value = np.array(rows).T
        return Inequalities(slope, delta, value, np.array([cut.priced for cut in cuts] + [False]))

    def capacity(self, radius: Vector) -> Vector:
        """Return the smallest W (k,) that the cuts without costs allow at radii (k,)."""
        free = ~self.with_costs
        level, fall = self.value[free], self.slope[free] * radius[:, None]
        rounding = ULP * (np.abs(level) + np.abs(fall))
        lowest: Vector = ((level - fall - rounding) / self.delta[free]).max(axis=1)
        return lowest

    def smallest_product(self, low: float, high: float) -> tuple[float, float]:
        """Return the minimum of RW over the polygon of the cuts without costs, and its radius.

        RW is quasi-concave on the positive quadrant, so that its minimum is at a vertex: where two lines cross.
        """
        free = self._part(~self.with_costs)
        level, slope = free.value / free.delta, free.slope / free.delta
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = ((level[:, None] - level) / (slope[:, None] - slope)).ravel()
        radii = np.append(crossing[(crossing > low) & (crossing < high)], (low, high))
        products = radii * self.capacity(radii)
        return float(products.min()), float(radii[products.argmin()])

    def bound_on(self, low: float, high: float) -> tuple[float, float]:
        """Return a lower bound on RW + q's for the radii of an interval, and a radius of the part where it is attained.

        Each part of the interval takes the quadratic whose minimum there is the largest.
        """
        c2, c1, c0 = np.hstack([self._single(high), self._pairs(low, high), self._filled(low)])
        grid = np.linspace(low, high, PARTS + 1)
        left, right = grid[:-1, None], grid[1:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            inner = np.clip(np.where(c2 > 0, -c1 / (2.0 * c2), left), left, right)
        values = np.min([(c2 * R + c1) * R + c0 for R in (left, right, inner)], axis=0).max(axis=1)
        at = int(values.argmin())
        return float(values[at]), float(0.5 * (grid[at] + grid[at + 1]))

    def _single(self, high: float) -> Matrix:
        """Return c2, c1, c0 (3, k) of the bounds by one cut: t = R / delta, at most 1 where the cut has costs."""
        use = self._part(~self.with_costs | (self.delta >= high))
        return np.array([-use.slope / use.delta, use.value / use.delta, np.zeros(len(use.delta))])

    def _pairs(self, low: float, high: float) -> Matrix:
        """Return those by two cuts with costs, delta on either side: t is linear in R and sums to 1."""
        one = self._part(self.with_costs & (self.delta <= low), column=True)
        two = self._part(self.with_costs & (self.delta >= high))
        between = two.delta - one.delta
        c2 = (one.slope - two.slope) / between
        c1 = (two.value - one.value + one.delta * two.slope - two.delta * one.slope) / between
        c0 = (two.delta * one.value - one.delta * two.value) / between
        return np.array([c2.ravel(), c1.ravel(), c0.ravel()])

    def _filled(self, low: float) -> Matrix:
        """Return those by one cut with costs, t = 1, filled up with t = (R - delta) / delta' of one without."""
        one = self._part(self.with_costs & (self.delta <= low), column=True)
        two = self._part(~self.with_costs)
        c2 = -two.slope / two.delta + 0 * one.delta
        c1 = (two.value + one.delta * two.slope) / two.delta - one.slope
        c0 = one.value - one.delta * two.value / two.delta
        return np.array([c2.ravel(), c1.ravel(), c0.ravel()])

    def _part(self, use: Mask, *, column: bool = False) -> Inequalities:
        """Return some of the inequalities, as arrays (k, 1) where ``column``, to be paired with others."""
        at = (use, None) if column else (use,)
        return Inequalities(self.slope[at], self.delta[at], self.value[at], self.with_costs[at])


def lower_bound(problem: ScalingProblem, cuts: Sequence[Cut], upper: float) -> tuple[float, float]:
    """Return the lower bound that cuts prove on (15), at most ``upper``, and a radius at which it is attained.

    No feasible scales have a radius below the closed bound on R; a radius above upper over the closed bound on W
    gives a value above upper. Between them the polygon of the cuts is searched where the scales have no cost, else
    intervals of radii, whose ends are those at which another quadratic may become the best one.
    """
    low_R, low_W = problem.lower_bounds
    if low_R <= 0 or low_W <= 0:
        return 0.0, 0.0
    inequalities, high = Inequalities.of(problem, cuts), max(upper / low_W, low_R)
    if not problem.has_costs:
        bound, radius = inequalities.smallest_product(low_R, high)
        return min(bound, upper), radius
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = (1.0 - BEFORE) * inequalities.value / inequalities.slope
        ends = upper * inequalities.delta / inequalities.value
    free = ~inequalities.with_costs
    edges = np.concatenate([inequalities.delta[inequalities.with_costs], roots[free], ends[free]])
    edges = np.unique(np.append(edges[(edges > low_R) & (edges < high)], (low_R, high)))
    bound, radius = min([inequalities.bound_on(*pair) for pair in pairwise(edges.tolist())], default=(upper, high))
    return min(bound, upper), radius
