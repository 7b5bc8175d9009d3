r"""What proves a lower bound on the kernel scaling problem (15) of paper 5: multipliers of linear programs, in numpy.

Every :math:`\mu, \beta \ge 0` and :math:`\delta \ge 0` with, for all features j that are not switched off,

.. math:: w_j (X'Y\mu)_j \le \delta w_j^2 + \sum_i \beta_i x_{ij}^2 + \tau q_j

prove by weak duality, with :math:`A = e'\beta` and :math:`v = \sum_i \mu_i (1 - y_i b) - E \max_i \mu_i`, the cut

.. math:: A R + \delta W + \tau\,q's \ge v

for all feasible scales; q are the prices of the scales, and :math:`\tau \in \{0, 1\}`. For a radius R, cuts with
factors :math:`t_k \ge 0` such that :math:`\sum_k t_k\delta_k \le R` and :math:`\sum_k t_k\tau_k \le 1` prove that

.. math:: RW + q's \ge \sum_k t_k (v_k - A_k R)

With t chosen as a function of R each sum is a quadratic in R, whose least value on an interval has a closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from fsopt.certificates.certificate import Certificate, Kind, make
from fsopt.certificates.residuals import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge
from fsopt.typing import Mask, Vector

STEEP = 1e-10
"""Least weight of W in a cut, in units of the start: a cut on R alone would be a vertical line."""


ROUNDING = 1e-9
"""Violations up to this, relative, are removed by shrinking mu, larger ones by raising the weights of R and W."""


ULP = 1e-15
"""Rounding, relative, of a difference: steep lines make it large."""


PARTS = 32
"""Parts of an interval of radii, each with its own bound."""


BEFORE = 1e-4
"""Relative distance from the least radius at which an interval of radii begins that no point has."""


@dataclass(frozen=True)
class ScalingProblem:
    """Problem (15) for one plane.

    Attributes
    ----------
    data : the rows, unscaled.
    w, b : (p,) and scalar, the plane: the scores of scales s are ``X (s * w) + b``.
    e_cap : E, the hinge loss that the scales have to keep.
    price : (p,) q >= 0, the prices of the scales; all positive or all zero where ``alive``.
    alive : (p,) features whose scale may be positive.
    """

    data: Dataset
    w: Vector
    b: float
    e_cap: float
    price: Vector
    alive: Mask

    def size(self, s: Vector) -> tuple[float, float]:
        """Return the least R and W of scales s (p,)."""
        return float((self.squares @ s).max()), float(s @ self.w**2)

    def value(self, s: Vector) -> float:
        """Return RW + q's."""
        radius, capacity = self.size(s)
        return radius * capacity + float(self.price @ s)

    def excess(self, s: Vector) -> float:
        """Return by how much the hinge loss of scales is above E, relative to max(1, E)."""
        loss = hinge(self.data.X @ (s * self.w) + self.b, self.data.y)
        return max(loss - self.e_cap, 0.0) / max(1.0, self.e_cap)

    @property
    def priced(self) -> bool:
        """Whether scales have a price."""
        return bool(self.price[self.alive].any())

    @cached_property
    def squares(self) -> Vector:
        """The squared entries of X (n, p)."""
        squared: Vector = self.data.X**2
        return squared

    @cached_property
    def units(self) -> tuple[float, float]:
        """R and W of the scales e, the units of their multipliers; 1 where they vanish."""
        radius, capacity = self.size(self.alive.astype(float))
        return radius or 1.0, capacity or 1.0

    @cached_property
    def least(self) -> tuple[float, float]:
        r"""Positive lower bounds on R and W, or zeros where s = 0 is feasible.

        With :math:`D = \sum_i (1 - y_i b)_+ - E`, :math:`D \le \sum_j s_j |w_j| \sum_i |x_{ij}|`.
        """
        gain = hinge(np.full(self.data.n, self.b), self.data.y) - self.e_cap
        reach = np.abs(self.data.X).sum(axis=0)
        felt = np.flatnonzero(self.alive & (self.w != 0) & (reach > 0))
        if gain <= 0 or not len(felt):
            return 0.0, 0.0
        weight, reach = np.abs(self.w[felt]), reach[felt]
        spread = self.squares[:, felt].mean(axis=0)
        return gain * float((spread / (weight * reach)).min()), gain * float((weight / reach).min())


@dataclass(frozen=True)
class Cut:
    """Multipliers of a linear program over the feasible set of (15).

    Attributes
    ----------
    mu, beta : (n,) multipliers of the margins and of the rows of the ball.
    delta : weight of W.
    priced : whether the prices of the scales count (tau = 1).
    """

    mu: Vector
    beta: Vector
    delta: float
    priced: bool

    def proved(self, problem: ScalingProblem) -> tuple[float, float, float]:
        r"""Return (A, delta, v) of the inequality :math:`AR + \delta W + \tau q's \ge v` that is proved.

        Nothing is taken on trust: a violation is removed by shrinking mu or by raising A and delta.
        """
        w, y = problem.w, problem.data.y
        mu, beta, delta = np.maximum(self.mu, 0.0), np.maximum(self.beta, 0.0), max(self.delta, 0.0)
        radius, capacity = problem.units
        delta = max(delta, STEEP * radius / capacity)
        cost = delta * w**2 + problem.squares.T @ beta + (problem.price if self.priced else 0.0)
        pull = w * (problem.data.X.T @ (mu * y))
        excess = np.where(problem.alive, np.maximum(pull - cost, 0.0), 0.0)
        slope, wrong = float(beta.sum()), excess > 0
        if wrong.any():
            share = float((excess[wrong] / np.maximum(cost[wrong], 1e-300)).max())
            if share <= ROUNDING:
                mu = mu / (1.0 + share)
            else:
                spread = w**2 / capacity + problem.squares.mean(axis=0) / radius
                raised = float((excess[wrong] / spread[wrong]).max())
                slope, delta = slope + raised / radius, delta + raised / capacity
        return slope, delta, float(mu @ (1.0 - y * problem.b)) - problem.e_cap * float(mu.max(initial=0.0))


@dataclass(frozen=True)
class Lines:
    """The inequalities of cuts: ``A R + delta W + tau q's >= v``, arrays (k,)."""

    slope: Vector
    delta: Vector
    value: Vector
    priced: Mask

    @staticmethod
    def of(problem: ScalingProblem, cuts: Sequence[Cut]) -> Lines:
        """Return what the cuts prove, and beside it the lower bound on W of ``problem.least``."""
        rows = [cut.proved(problem) for cut in cuts] + [(0.0, 1.0, problem.least[1])]
        slope, delta, value = np.array(rows).T
        return Lines(slope, delta, value, np.array([cut.priced for cut in cuts] + [False]))

    def capacity(self, radius: Vector) -> Vector:
        """Return the least W (k,) that the cuts without prices allow at radii (k,)."""
        free = ~self.priced
        level, fall = self.value[free], self.slope[free] * radius[:, None]
        rounding = ULP * (np.abs(level) + np.abs(fall))
        lowest: Vector = ((level - fall - rounding) / self.delta[free]).max(axis=1)
        return lowest

    def least_product(self, low: float, high: float) -> tuple[float, float]:
        """Return the least RW of the polygon of the cuts without prices, and its radius.

        The product is quasi-concave, so it is least at a vertex: where two of the lines cross.
        """
        level, slope = (part[~self.priced] / self.delta[~self.priced] for part in (self.value, self.slope))
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = ((level[:, None] - level) / (slope[:, None] - slope)).ravel()
        radii = np.append(crossing[(crossing > low) & (crossing < high)], (low, high))
        products = radii * self.capacity(radii)
        return float(products.min()), float(radii[products.argmin()])

    def least_on(self, low: float, high: float) -> tuple[float, float]:
        """Return a lower bound on RW + q's for the radii of an interval, and a radius inside where it is attained.

        Each part of the interval takes the quadratic that proves most there.
        """
        c2, c1, c0 = np.hstack([self._alone(high), self._mixed(low, high), self._filled(low)])
        grid = np.linspace(low, high, PARTS + 1)
        left, right = grid[:-1, None], grid[1:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            inner = np.clip(np.where(c2 > 0, -c1 / (2.0 * c2), left), left, right)
        values = np.min([(c2 * R + c1) * R + c0 for R in (left, right, inner)], axis=0).max(axis=1)
        at = int(values.argmin())
        return float(values[at]), float(0.5 * (grid[at] + grid[at + 1]))

    def _alone(self, high: float) -> Vector:
        """Return c2, c1, c0 (3, k) of the bounds by one cut, t = R / delta."""
        use = ~self.priced | (self.delta >= high)
        A, d, v = self.slope[use], self.delta[use], self.value[use]
        return np.array([-A / d, v / d, np.zeros(len(d))])

    def _mixed(self, low: float, high: float) -> Vector:
        """Return those by two cuts with prices, delta on either side: t is linear in R and sums to 1."""
        left, right = (self.priced & side for side in (self.delta <= low, self.delta >= high))
        A, d, v = (part[left][:, None] for part in (self.slope, self.delta, self.value))
        B, e, u = self.slope[right], self.delta[right], self.value[right]
        c2, c1, c0 = (A - B) / (e - d), (u - v + d * B - e * A) / (e - d), (e * v - d * u) / (e - d)
        return np.array([c2.ravel(), c1.ravel(), c0.ravel()])

    def _filled(self, low: float) -> Vector:
        """Return those by one cut with prices, filled up with t = (R - delta) / delta' of one without."""
        use = self.priced & (self.delta <= low)
        A, d, v = (part[use][:, None] for part in (self.slope, self.delta, self.value))
        B, e, u = (part[~self.priced] for part in (self.slope, self.delta, self.value))
        c2, c1, c0 = -B / e + 0 * d, (u + d * B) / e - A, v - d * u / e
        return np.array([c2.ravel(), c1.ravel(), c0.ravel()])


def lower_bound(problem: ScalingProblem, cuts: Sequence[Cut], upper: float) -> tuple[float, float]:
    """Return the lower bound that cuts prove on (15), at most ``upper``, and a radius at which it is attained.

    Radii below ``problem.least[0]`` belong to no point, those above upper / ``problem.least[1]`` to none of a lower
    value. Between them the polygon of the cuts is searched where scales have no price, else intervals of radii.
    """
    low_R, low_W = problem.least
    if low_R <= 0 or low_W <= 0:
        return 0.0, 0.0
    lines, high = Lines.of(problem, cuts), max(upper / low_W, low_R)
    if not problem.priced:
        bound, radius = lines.least_product(low_R, high)
        return min(bound, upper), radius
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = (1.0 - BEFORE) * lines.value / lines.slope, upper * lines.delta / lines.value
    edges = np.concatenate([lines.delta[lines.priced], *(part[~lines.priced] for part in ends)])
    edges = np.unique(np.append(edges[(edges > low_R) & (edges < high)], (low_R, high)))
    bound, radius = min([lines.least_on(*ends) for ends in pairwise(edges.tolist())], default=(upper, high))
    return min(bound, upper), radius


def certify_scaling(
    problem: ScalingProblem, s: Vector, cuts: Sequence[Cut], lower: float, tolerance: float
) -> Certificate:
    """Certify scales as the global optimum of (15): they are feasible, and the cuts close the gap.

    Every number is recomputed from the multipliers in numpy; no solver is asked.
    """
    upper = problem.value(s)
    proved, _ = lower_bound(problem, cuts, upper)
    residuals = {
        "risk": problem.excess(s),
        "sign": float(np.maximum(-s, 0.0).max() + np.abs(s[~problem.alive]).max(initial=0.0)),
        "bound": max(lower - proved, 0.0) / max(1.0, abs(upper)),
        "gap": relative_gap(upper, lower),
    }
    return make(
        Kind.GLOBAL, residuals, tolerance=max(tolerance, 1e-9), objective=upper, bound=lower, bound_source="cuts"
    )


def certify_stationary(problem: ScalingProblem, s: Vector, cut: Cut | None) -> Certificate:
    r"""Certify scales as stationary: no feasible point lowers the linearisation :math:`W_0R + R_0W + q's` at them.

    The cut is that of the linear program at s. Where it is missing, nothing but feasibility is certified.
    """
    (radius, capacity), value = problem.size(s), problem.value(s)
    residuals = {"risk": problem.excess(s)}
    if cut is None:
        return make(Kind.FEASIBLE, residuals, objective=value)
    slope, delta, proved = cut.proved(problem)
    share = min(1.0, capacity / max(slope, 1e-300), radius / delta)  # the largest with weights below those at s
    here = value + radius * capacity
    residuals["first order"] = max(here - share * proved, 0.0) / max(1.0, here)
    return make(Kind.KKT, residuals, objective=value)
