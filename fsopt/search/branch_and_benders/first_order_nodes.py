r"""First-order steps for relaxations with many samples and features, by products with the samples alone.

With Z = YX, penalty weights :math:`\lambda`, one constraint :math:`R\sigma \le r` and the loss :math:`\ell` of the
margins, whose conjugate gives the term :math:`\psi` of the multipliers, a relaxation is the saddle point problem

.. math:: \min_{w, b}\ \max_{0 \le \alpha \le \bar\alpha}\ \Omega(w) - \alpha'(Zw + yb) + \psi(\alpha), \qquad
          \Omega(w) = \min_{0 \le \sigma \le 1,\ R\sigma \le r}\ \sum_j \Big(\frac{w_j^2}{2\sigma_j}
          + \lambda_j \sigma_j\Big),

for a cardinality alone half the squared k-support norm (Argyriou, Foygel and Srebro, 2012); :math:`\sigma_j = 1` of
selected features. A proximal step of w at z, with lengths :math:`\tau_j`, is

.. math:: w_j = \frac{\sigma_j z_j}{\sigma_j + \tau_j}, \qquad
          \sigma_j = \Pi_{[0, 1]}\Big(\frac{|z_j|}{\sqrt{2(\lambda_j + \mu R_j)}} - \tau_j\Big),

with the smallest :math:`\mu \ge 0` at which :math:`R\sigma \le r`; at :math:`\tau = 0` the same :math:`\sigma` is that
of :math:`\Omega(w)`. Without penalty weights :math:`R\sigma` is piecewise linear in :math:`\mu^{-1/2}`, of which
Newton's method takes few steps. The steps are those of :mod:`fsopt.linear.first_order`, in the inverse of the sums
:math:`\sum_i |Z_{ij}|` and :math:`\sum_j |Z_{ij}|`.

A node has a working set of features: those with a weight in its parent and those of largest :math:`|q_j|`. It takes in
others while the bound of all features is far below that of its own. The products take the time, and are in single
precision. What is proved does not depend on these numbers: the search rounds alpha to its grid and bounds by integers.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fsopt.common import clock
from fsopt.linear.first_order import PrimalDual, Saddle
from fsopt.search.branch_and_benders.cuts import multipliers
from fsopt.search.branch_and_benders.interior_point import Goal, Solved
from fsopt.search.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.typing import Indices, Mask, Vector

LARGE, NODE = 1e6, 2e5
"""Samples times features from which a problem, and samples times free features from which a node of it, are bounded by
first-order steps."""
STEPS, MOST_STEPS = 20, 3000
"""Steps between two looks at the gap, and of all sweeps on one working set."""
POWER = 10
"""Steps of the power method for a working set."""
FIRST, MORE = 200, 500
"""Features that a working set begins with at least, and takes in at most."""
ROUNDS = 8
"""Largest number of working sets."""
LEFT_OUT, ROOT_GAP = 0.25, 0.1
"""What the features outside may cost, as a share of the gap that a node may have; and that of a root, as a share of the
distance to the cutoff."""
TINY = 1e-30
"""Smallest charge of a feature: one without any has the share 1."""
NEWTON, EXACT = 100, 0.7
"""Largest number of steps to a multiplier, and the power of the precision of a number at which they end."""


def suited(problem: SelectionProblem) -> bool:
    """Return whether the steps know the problem: one constraint without negative coefficients at most, neither groups
    nor bounds on weights, and a loss that is 0 from a margin on.
    """
    constrained = len(problem.r) <= 1 and bool(np.all(problem.R >= 0.0))
    return constrained and not problem.term.entropy and problem.columns is None


def large(problem: SelectionProblem, at: Partial) -> bool:
    """Return whether a node is bounded here."""
    sizes = problem.n * problem.p > LARGE and problem.n * np.count_nonzero(at.free) > NODE
    return bool(sizes) and isinstance(problem.X, np.ndarray) and suited(problem)


@dataclass(frozen=True)
class Terms:
    """What features cost in a relaxation.

    Attributes
    ----------
    features : (k,) their places. ``costs``, ``weights`` : lambda and R of these (k,), 0 of selected ones.
    budget, constant : what is left of r, inf without a constraint, and the penalty weights of selected features.
    capped : whether the constraint leaves some of the features out.
    """

    features: Indices
    costs: Vector
    weights: Vector
    budget: float
    constant: float
    capped: bool

    @classmethod
    def of(cls, problem: SelectionProblem, at: Partial, features: Indices) -> Terms:
        """Return the terms of some features of a node."""
        free, (weights, right) = at.free[features], problem.knapsack
        left = math.inf if problem.main is None else right - float(weights[at.inside].sum())
        costs, weights = problem.lam[features] * free, weights[features] * free
        constant = float(problem.lam[at.inside].sum())
        return cls(features, costs, weights, left, constant, float(weights.sum()) > left)

    def bound(self, value: float, q: Vector) -> tuple[float, float]:
        """Return the lower bound by multipliers of a value psi and products q (k,), and the multiplier mu."""
        gains = 0.5 * q * q - self.costs
        mu = multipliers(gains, self.weights, self.budget)[1] if self.capped else 0.0
        paid = float(np.sum(np.maximum(gains - mu * self.weights, 0.0))) + (mu * self.budget if mu else 0.0)
        return self.constant + value - paid, float(mu)


def relaxed(problem: SelectionProblem, at: Partial, start: Saddle | None, goal: Goal) -> tuple[Solved, Indices]:
    """Bound a node, from weights (p,), intercept and multipliers (n,) of its parent, if there is one.

    Returns
    -------
    tuple of Solved and Indices
        The solution, whose ``bound`` is that of all features, and the features of its ``sigma``.
    """
    inside, everything = np.flatnonzero(at.inside), Terms.of(problem, at, np.flatnonzero(~at.outside))
    if math.isfinite(goal.cutoff) and not goal.branch:
        goal = Goal(goal.gap, goal.cutoff, ROOT_GAP)
    if start is None or start.alpha.max() <= 0.0:
        start = Saddle(np.zeros(problem.p), 0.0, balanced(problem.y, problem.each_term[0]))
    working = at.inside | (at.free & (start.w != 0.0))
    q = problem.single @ start.alpha.astype(np.float32)
    working |= _largest(np.where(working | at.outside, 0.0, np.abs(q)), FIRST - int(working.sum()))
    best, kept = None, inside
    for _ in range(ROUNDS):
        features = np.flatnonzero(working & at.free)
        columns = np.append(inside, features)
        steps = RelaxationSteps(problem, Terms.of(problem, at, columns), problem.single[columns], start, POWER)
        steps.run(goal, MOST_STEPS)
        found, q = steps.solution(len(inside), len(problem.r)), problem.single @ steps.alpha
        bound, mu = everything.bound(steps.value(steps.alpha), q[everything.features])
        late = clock.expired()
        if best is None or bound > best.bound:
            best, kept = replace(found, mu=np.full(len(problem.r), mu), bound=bound, late=late), features
        allowed = LEFT_OUT * goal.branch * (goal.cutoff - bound) if goal.branch else 0.0
        if late or bound >= goal.cutoff or steps.lower - bound <= max(allowed, goal.gap * abs(bound)):
            break
        start = Saddle(np.zeros(problem.p), found.b, found.alpha)
        start.w[columns] = found.w
        gains = 0.5 * q * q - problem.lam - steps.mu * problem.knapsack[0]
        working |= _largest(np.where(working | at.outside, 0.0, gains), MORE)
    assert best is not None
    return best, kept


def _largest(values: Vector, most: int) -> Mask:
    """Return the places (p,) of the largest positive values."""
    order = np.argpartition(-values, most - 1)[:most] if 0 < most < len(values) else np.arange(len(values))
    found = np.zeros(len(values), dtype=bool)
    found[order] = most > 0
    return found & (values > 0.0)


class RelaxationSteps:
    """Primal-dual steps of a relaxation with some of the features.

    Attributes
    ----------
    lower, alpha, mu : the best lower bound and its multipliers, balanced.
    upper, near : the smallest value, and the pair whose hyperplane has it.
    """

    def __init__(
        self, problem: SelectionProblem, terms: Terms, Z: Any, start: Saddle | None = None, power: int = 30
    ) -> None:
        """Begin at weights (p,), or at w = 0; steps are in the precision of Z (k, n), the samples of the features."""
        features, kind = terms.features, Z.dtype
        caps, gamma, _ = problem.each_term
        self.Z, self.terms = Z, terms
        self.y = problem.y.astype(kind)
        self.caps, self.gamma = caps.astype(kind), gamma.astype(kind)
        self.costs, self.weights = terms.costs.astype(kind), terms.weights.astype(kind)
        self.exact, self._mu = float(np.finfo(kind).eps) ** EXACT, 1.0
        self.lower, self.upper = -math.inf, math.inf
        self.mu = 0.0
        at = self._beginning() if start is None else Saddle(start.w[features].astype(kind), start.b, start.alpha)
        at = Saddle(at.w, float(at.b), np.minimum(at.alpha.astype(kind), self.caps))
        self.near, self.alpha = at, balanced(self.y, at.alpha)
        by_feature, by_sample = problem.absolute_sums
        share = float(by_feature[features].sum() / max(by_feature.sum(), TINY))
        of_w, of_alpha = 1.0 / np.maximum(by_feature[features], TINY), 1.0 / (1.0 + share * by_sample)
        units = of_w.astype(kind), 1.0 / problem.n, of_alpha.astype(kind)
        self.steps = PrimalDual(
            Z, self.y, self.caps, self._proximal, self.ends, at, self.gamma, units, period=STEPS, power=power
        )

    def run(self, goal: Goal, most: int, end: float = math.inf) -> bool:
        """Take steps up to a goal, so many in all, until a time or that of the clock; return whether it is late.

        There is one sweep at least; a later call goes on.
        """
        while not (self.steps.total and self._reached(goal)):
            if self.steps.total and (self.steps.total >= most or time.perf_counter() > end or clock.expired()):
                return True
            self.steps.sweep()
        return False

    def _reached(self, goal: Goal) -> bool:
        left = self.upper - self.lower
        branched = goal.branch > 0.0 and left <= goal.branch * (goal.cutoff - max(self.lower, 0.0))
        return branched or left <= goal.gap * abs(self.upper) or self.lower >= goal.cutoff

    def solution(self, selected: int, constraints: int) -> Solved:
        """Return the best multipliers and hyperplane, with the shares of the features after those selected."""
        w, alpha = self.near.w.astype(float), balanced(self.y, self.alpha.astype(float))
        sigma = self.shares(self.near.w, 0.0)[selected:].astype(float)
        return Solved(alpha, np.full(constraints, self.mu), w, self.near.b, sigma, self.lower)

    def value(self, alpha: Vector) -> float:
        """Return psi of multipliers."""
        return float(np.sum(alpha - 0.5 * self.gamma * alpha * alpha))

    def ends(self, pair: Saddle) -> tuple[float, float]:
        """Return the lower bound by the multipliers of a pair, and the value of the relaxation at its hyperplane."""
        alpha, sigma = balanced(self.y, pair.alpha), self.shares(pair.w, 0.0)
        lower, mu = self.terms.bound(self.value(alpha), self.Z @ alpha)
        slacks = np.maximum(1.0 - pair.w @ self.Z - pair.b * self.y, 0.0)
        most = np.minimum(self.caps, slacks / np.maximum(self.gamma, TINY))
        upper = self.terms.constant + float(self.costs @ sigma) + float(np.sum(slacks * most))
        upper += 0.5 * float(np.sum(pair.w * pair.w / (sigma + TINY)) - np.sum(self.gamma * most * most))
        if lower > self.lower:
            self.lower, self.mu = lower, mu
            self.alpha = alpha
        if upper < self.upper:
            self.upper, self.near = upper, pair
        return lower, upper

    def shares(self, z: Vector, tau: Vector | float) -> Vector:
        """Return sigma (k,) of a proximal step with the lengths tau (k,) at z; with 0 that of Omega at z."""
        size, weights = np.abs(z), self.weights
        low, high = 0.0, math.inf
        mu, sigma = self._mu if self.terms.capped else 0.0, size
        for _ in range(NEWTON):
            charges = self.costs + mu * weights + TINY
            reach = size / np.sqrt(2.0 * charges)
            sigma = np.minimum(np.maximum(reach - tau, 0.0), 1.0)
            over = float(weights @ sigma) - self.terms.budget
            if abs(over) <= self.exact * self.terms.budget or (mu == 0.0 and over <= 0.0):
                break
            low, high = (mu, high) if over > 0.0 else (low, mu)
            # The derivative in u = 1 / sqrt(mu), times u, is that of the features between 0 and 1.
            moving = np.where((sigma > 0.0) & (sigma < 1.0), reach, 0.0)
            slope = mu * float(np.sum(moving * weights * weights / charges))
            longer = 1.0 - over / slope if slope > 0.0 else 0.0
            mu = mu / (longer * longer) if longer > 0.0 else 0.0
            if not low < mu < high:
                mu = 4.0 * low if high == math.inf else math.sqrt(low * high) if low else 1e-3 * high
                mu = mu if mu > TINY else 0.0
        self._mu = mu if mu > 0.0 else 1.0
        return sigma

    def _proximal(self, z: Vector, tau: Vector) -> Vector:
        sigma = self.shares(z, tau)
        return sigma * z / (sigma + tau)

    def _beginning(self) -> Saddle:
        """Return w = 0 and balanced multipliers, of half their bounds, scaled to a positive dual value."""
        alpha = balanced(self.y, 0.5 * self.caps)
        total = float(np.sum(alpha))
        square = total + self.terms.constant - self.terms.bound(self.value(alpha), self.Z @ alpha)[0]  # at least 0
        return Saddle(0.0 * self.costs, 0.0, alpha * min(1.0, 0.5 * total / max(square, TINY)))


def balanced(y: Vector, alpha: Vector) -> Vector:
    """Return multipliers with y'alpha = 0, those of the heavier class scaled down."""
    plus = y > 0.0
    up, down = float(alpha[plus].sum()), float(alpha[~plus].sum())
    least = min(up, down)
    return np.asarray(np.where(plus, least / max(up, TINY), least / max(down, TINY)).astype(alpha.dtype) * alpha)
