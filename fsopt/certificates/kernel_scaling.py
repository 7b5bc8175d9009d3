r"""Problem (15) of Bi and lower bounds on it by cuts: multipliers of linear programs, recomputed in numpy.

Every :math:`\mu, \beta \ge 0` and :math:`\delta \ge 0` with, for all active features j,

.. math:: w_j (X'Y\mu)_j \le \delta w_j^2 + \sum_i \beta_i x_{ij}^2 + q_j

prove by weak duality, with :math:`A = e'\beta` and :math:`v = \sum_i \mu_i (1 - y_i b) - E \max_i \mu_i`, the cut

.. math:: A R + \delta W + q's \ge v

for all feasible scales; q are the costs of the scales. Where they are 0, the cuts have a polygon of (R, W) above them,
at one of whose vertices RW is least.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.certificates.points import of_bounds
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge
from fsopt.typing import Mask, Matrix, Vector

SMALLEST_DELTA = 1e-10
"""Smallest weight delta of W in a cut, in units of the start: a cut on R alone would be a vertical line in (R, W)."""
ROUNDING = 1e-9
"""Violations up to this, relative, are removed by shrinking mu, larger ones by raising the weights of R and W."""
ULP = 1e-15
"""Rounding, relative, of v - A R: the two terms of a steep cut cancel."""
NEAR = 1e-8
"""Relative distance below which two points of the frontier of (R, W) are one."""


@dataclass(frozen=True)
class ScalingProblem:
    r"""Problem (15): the product of squared radius and squared norm over the scales of the features.

    .. math::

        \min_{s \ge 0}\ R(s)\,W(s) + q's \quad\text{s.t.}\quad
        \sum_i \Big(1 - y_i\Big(\sum_j s_j w_j x_{ij} + b\Big)\Big)_+ \le E, \qquad
        R(s) = \max_i \sum_j s_j x_{ij}^2,\quad W(s) = \sum_j s_j w_j^2

    Attributes
    ----------
    data : the samples, unscaled.
    w, b : (p,) and scalar, the hyperplane: the scores of scales s are ``X (s * w) + b``.
    e_cap : E, the hinge loss that the scales must not exceed.
    costs : (p,) q >= 0, the cost of each scale; all positive or all zero where ``active``.
    active : (p,) features whose scale may be positive.
    """

    data: Dataset
    w: Vector
    b: float
    e_cap: float
    costs: Vector
    active: Mask

    def size(self, s: Vector) -> tuple[float, float]:
        """Return the squared radius R and the capacity W of scales s (p,)."""
        return float((self.squares @ s).max()), float(s @ self.w**2)

    def value(self, s: Vector) -> float:
        """Return RW + q's."""
        radius, capacity = self.size(s)
        return radius * capacity + float(self.costs @ s)

    def excess(self, s: Vector) -> float:
        """Return the excess of the hinge loss of scales over E, relative to max(1, E)."""
        loss = hinge(self.data.X @ (s * self.w) + self.b, self.data.y)
        return max(loss - self.e_cap, 0.0) / max(1.0, self.e_cap)

    @property
    def has_costs(self) -> bool:
        """Whether the scales have a cost."""
        return bool(self.costs[self.active].any())

    @cached_property
    def squares(self) -> Matrix:
        """The squared entries of X (n, p)."""
        squared: Matrix = self.data.X**2
        return squared

    @cached_property
    def units(self) -> tuple[float, float]:
        """R and W of the scales e, in whose units their multipliers are rounded; 1 where they vanish."""
        radius, capacity = self.size(self.active.astype(float))
        return radius or 1.0, capacity or 1.0

    @cached_property
    def lower_bounds(self) -> tuple[float, float]:
        r"""Positive lower bounds on R and W, or zeros where s = 0 is feasible.

        Let D be the hinge loss of s = 0 minus E. A scale s_j lowers the loss by at most s_j |w_j| sum_i |x_ij|, so that
        :math:`D \le \sum_j s_j |w_j| \sum_i |x_{ij}|`. With :math:`R \ge \sum_j s_j \sum_i x_{ij}^2 / n` and
        :math:`W = \sum_j s_j w_j^2` each is at least D times its smallest ratio to that sum over the features.
        """
        deficit = hinge(np.full(self.data.n, self.b), self.data.y) - self.e_cap
        reach = np.abs(self.data.X).sum(axis=0)
        used = np.flatnonzero(self.active & (self.w != 0) & (reach > 0))
        if deficit <= 0 or not len(used):
            return 0.0, 0.0
        weight, reach = np.abs(self.w[used]), reach[used]
        mean_squares = self.squares[:, used].mean(axis=0)
        return deficit * float((mean_squares / (weight * reach)).min()), deficit * float((weight / reach).min())


@dataclass(frozen=True)
class Cut:
    """Multipliers of a linear program over the feasible set of (15); the field names are keys of saved fits.

    Attributes
    ----------
    mu, beta : (n,) multipliers of the margins and of the constraints of the ball.
    delta : weight of W.
    """

    mu: Vector
    beta: Vector
    delta: float

    @classmethod
    def of(cls, record: Mapping[str, Any], n: int) -> Cut:
        """Return a cut from plain data of n samples; KeyError, TypeError or ValueError for damaged ones."""
        mu, beta = (np.array(record[name], dtype=float) for name in ("mu", "beta"))
        delta = float(record["delta"])
        if mu.shape != (n,) or beta.shape != (n,) or not np.isfinite([*mu, *beta, delta]).all():
            raise ValueError(f"a cut has {n} and {n} multipliers and a weight, all finite")
        return cls(mu, beta, delta)

    def proved(self, problem: ScalingProblem) -> tuple[float, float, float]:
        r"""Return (A, delta, v) of an inequality :math:`AR + \delta W + q's \ge v` that holds.

        The multipliers are those of a solver, feasible up to its tolerance. Negative ones are clipped. A violation
        of the dual constraints is removed by shrinking mu, which costs a share of v, where it is rounding; a larger
        one by raising delta and A until :math:`\delta w_j^2 + A \sum_i x_{ij}^2 / n` covers it for every j.
        """
        w, y = problem.w, problem.data.y
        mu, beta = np.maximum(self.mu, 0.0), np.maximum(self.beta, 0.0)
        radius, capacity = problem.units
        delta = max(self.delta, SMALLEST_DELTA * radius / capacity)
        cost = delta * w**2 + problem.squares.T @ beta + problem.costs
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


def lower_bound(problem: ScalingProblem, cuts: Sequence[Cut], upper: float) -> tuple[float, float]:
    """Return the lower bound that cuts prove on (15), at most ``upper``, and the radius of the vertex with it.

    No feasible scales have a radius below the closed bound on R; a radius above upper over the closed bound on W
    gives a value above upper. Between them RW, which is quasi-concave for R, W > 0, is least at a vertex of the polygon
    above the cuts: where two lines cross. It is 0 where s = 0 is feasible, or the scales have costs.
    """
    low, low_W = problem.lower_bounds
    if problem.has_costs or low <= 0 or low_W <= 0:
        return 0.0, 0.0
    high = max(upper / low_W, low)
    slope, delta, value = np.array([*(cut.proved(problem) for cut in cuts), (0.0, 1.0, low_W)]).T
    level, slope = value / delta, slope / delta
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = ((level[:, None] - level) / (slope[:, None] - slope)).ravel()
    radii = np.append(crossing[(crossing > low) & (crossing < high)], (low, high))
    fall = slope * radii[:, None]
    products = radii * (level - fall - ULP * (np.abs(level) + np.abs(fall))).max(axis=1)
    at = int(products.argmin())
    return min(float(products[at]), upper), float(radii[at])


def lower_hull(points: Sequence[tuple[float, float]]) -> Vector:
    """Return the vertices (k, 2) of the lower left frontier of points (R, W): R increases, W decreases."""
    vertices: list[tuple[float, float]] = []
    for R, W in sorted(set(points)):
        if vertices and vertices[-1][1] * (1 - NEAR) <= W:
            continue
        # Each pass of these loops removes a vertex, at most one for each point in all.
        while vertices and vertices[-1][0] * (1 + NEAR) >= R:
            vertices.pop()
        while len(vertices) > 1 and _turn(vertices[-2], vertices[-1], (R, W)) <= 0:
            vertices.pop()
        vertices.append((R, W))
    return np.array(vertices).reshape(-1, 2)


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    """Return twice the signed area of three points, positive where b lies below the chord from a to c."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def certify_scaling(
    problem: ScalingProblem, s: Vector, cuts: Sequence[Cut], lower: float, tolerance: float
) -> Certificate:
    """Certify scales as the global optimum of (15): they are feasible, and the cuts close the optimality gap.

    Every number is recomputed from the multipliers in numpy; no solver is asked.
    """
    upper = problem.value(s)
    proved, _ = lower_bound(problem, cuts, upper)
    residuals = {
        "risk": problem.excess(s),
        "sign": float(np.maximum(-s, 0.0).max() + np.abs(s[~problem.active]).max(initial=0.0)),
        "bound": max(lower - proved, 0.0) / max(1.0, abs(upper)),
    }
    return of_bounds(Kind.GLOBAL, residuals, upper, lower, tolerance=tolerance, source="cuts")


def certify_stationary(problem: ScalingProblem, s: Vector, cut: Cut | None) -> Certificate:
    r"""Certify scales as stationary: no feasible point lowers the linearisation :math:`W_0R + R_0W + q's` at them.

    The cut is that of the linear program at s. Without one, nothing but feasibility is certified.
    """
    (radius, capacity), value = problem.size(s), problem.value(s)
    residuals = {"risk": problem.excess(s)}
    if cut is None:
        return make(Kind.FEASIBLE, residuals, objective=value)
    slope, delta, proved = cut.proved(problem)
    # The cut was made feasible, and may now weigh R and W by more than (W_0, R_0). Its largest multiple with weights
    # below those, and at most 1, bounds the linearisation from below.
    share = min(1.0, capacity / max(slope, 1e-300), radius / delta)
    here = value + radius * capacity
    residuals["first order"] = max(here - share * proved, 0.0) / max(1.0, here)
    return make(Kind.KKT, residuals, objective=value)
