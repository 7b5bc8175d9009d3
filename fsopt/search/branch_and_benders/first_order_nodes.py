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
of :math:`\Omega(w)`, found by Newton's method in :math:`\mu^{-1/2}`. The steps are those of
:mod:`fsopt.linear.first_order`, in the inverse of the sums :math:`\sum_i |Z_{ij}|` and :math:`\sum_j |Z_{ij}|`.

The products take the time, and are in single precision. What is proved does not depend on these numbers: the search
makes alpha dual feasible in integers, and its bound pays for rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fsopt.common import clock
from fsopt.linear.first_order import PrimalDual, Saddle
from fsopt.search.branch_and_benders.interior_point import Goal, NodeHyperplane, Solved
from fsopt.search.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.search.branch_and_benders.relaxation import multipliers
from fsopt.typing import Indices, Vector

LARGE, NODE = 1e6, 2e5
"""Samples times features of a problem, and times free features of a node, above which steps of first order bound it."""
STEPS, MOST_STEPS = 20, 4000
"""Steps between two looks at the gap, and of a run."""
ROOT_GAP = 0.1
"""Gap of a root, of the distance to the cutoff."""
TINY = 1e-30
"""Smallest charge of a feature: one without any has the share 1."""
NEWTON, EXACT = 100, 0.7
"""Largest number of steps to a multiplier, and the power of the precision of a number at which they end."""


def suited(problem: SelectionProblem) -> bool:
    """Return whether the steps know a problem: a column for each feature, a (squared) hinge, at most one R >= 0."""
    constrained = len(problem.r) <= 1 and bool(np.all(problem.R >= 0.0))
    return constrained and not problem.term.entropy and problem.columns is None


def large(problem: SelectionProblem, at: Partial) -> bool:
    """Return whether a node is bounded here."""
    sizes = problem.n * problem.p > LARGE and problem.n * np.count_nonzero(at.free) > NODE
    return bool(sizes) and suited(problem)


def relaxed(problem: SelectionProblem, at: Partial, free: Indices, near: NodeHyperplane | None, goal: Goal) -> Solved:
    """Return the relaxation of a node with some of its free features, from a hyperplane near it."""
    if math.isfinite(goal.cutoff) and not goal.branch:
        goal = goal._replace(branch=ROOT_GAP)
    known = near is not None and near.alpha.max() > 0.0
    start = Saddle(near.w, near.b, near.alpha.astype(float)) if near is not None and known else beginning(problem)
    steps = RelaxationSteps(problem, at, free, problem.single, start)
    steps.run(goal)
    return steps.solution()


def beginning(problem: SelectionProblem) -> Saddle:
    """Return w = 0 and balanced multipliers."""
    return Saddle(np.zeros(problem.p), 0.0, balanced(problem.y, problem.each_term[0]))


class RelaxationSteps:
    """Primal-dual steps of a relaxation with some of the features.

    Attributes
    ----------
    features : (k,) selected ones of the node, and free ones. ``mu`` : multiplier of the constraint at the last shares.
    lower, alpha : the best lower bound and its multipliers, balanced.
    upper, near : the smallest value, and the pair whose hyperplane has it.
    """

    def __init__(self, problem: SelectionProblem, at: Partial, free: Indices, samples: Any, start: Saddle) -> None:
        """Begin at weights (p,), with signed samples (p, n), in whose precision the steps are."""
        self.problem, self.node = problem, at
        self.selected = int(np.count_nonzero(at.inside))
        self.features = np.append(np.flatnonzero(at.inside), free)
        self.Z = samples if len(free) == problem.p else samples[self.features]
        kind, (weights, right) = self.Z.dtype, problem.knapsack
        caps, gamma, _ = problem.each_term
        self.y, self.caps, self.gamma = (part.astype(kind) for part in (problem.y, caps, gamma))
        left = at.free[self.features]
        self.costs, self.weights = ((part[self.features] * left).astype(kind) for part in (problem.lam, weights))
        self.constant = float(problem.lam[at.inside].sum())
        self.budget = math.inf if problem.main is None else right - float(weights[at.inside].sum())
        self.exact, self.mu = float(np.finfo(kind).eps) ** EXACT, 0.0
        self.lower, self.upper = -math.inf, math.inf
        begun = Saddle(start.w[self.features].astype(kind), float(start.b), start.alpha.astype(kind))
        self.near, self.alpha = begun, balanced(self.y, begun.alpha)
        size = abs(self.Z)
        units = 1.0 / np.maximum(size.sum(axis=1), TINY), 1.0 / problem.n, 1.0 / (1.0 + size.sum(axis=0))
        self.steps = PrimalDual(
            self.Z, self.y, self.caps, self._proximal, self.ends, begun, self.gamma, units, period=STEPS
        )

    def run(self, goal: Goal) -> None:
        """Take steps up to a goal, or so many, or until the clock stops: one sweep at least."""
        allowed = -math.inf
        while self.upper - self.lower > allowed and self.lower < goal.cutoff:
            if self.steps.total and (self.steps.total >= MOST_STEPS or clock.expired()):
                break
            self.steps.sweep()
            enough = goal.branch * (goal.cutoff - max(self.lower, 0.0)) if goal.branch else 0.0
            allowed = max(goal.gap * abs(self.upper), enough)

    def solution(self) -> Solved:
        """Return the best multipliers and hyperplane, with the shares of the free features."""
        alpha, sigma = balanced(self.y, self.alpha.astype(float)), self.shares(self.near.w, 0.0)
        w, sigma = self.near.w.astype(float), sigma[self.selected :].astype(float)
        mu = np.full(len(self.problem.r), self.bound(self.alpha, self.Z @ self.alpha)[1])
        return Solved(alpha, mu, NodeHyperplane(w, self.near.b, sigma, alpha), self.lower, clock.expired())

    def bound(self, alpha: Vector, q: Vector) -> tuple[float, float]:
        """Return the bound by multipliers of the relaxation, by their products q (k,), and that of the constraint."""
        gains, free = 0.5 * q * q - self.problem.lam[self.features], self.node.free[self.features]
        tau = multipliers(gains[free], self.weights[free], self.budget)[1]
        charged = np.sum(np.maximum(gains[free] - tau * self.weights[free], 0.0)) + (tau * self.budget if tau else 0.0)
        owed = np.sum(gains[~free]) + charged
        return float(np.sum(alpha - 0.5 * self.gamma * alpha * alpha) - owed), tau

    def ends(self, pair: Saddle) -> tuple[float, float]:
        """Return the lower bound by the multipliers of a pair, and the value of the relaxation at its hyperplane."""
        alpha, sigma = balanced(self.y, pair.alpha), self.shares(pair.w, 0.0)
        lower = self.bound(alpha, self.Z @ alpha)[0]
        slacks = np.maximum(1.0 - pair.w @ self.Z - pair.b * self.y, 0.0)
        most = np.minimum(self.caps, slacks / np.maximum(self.gamma, TINY))
        lost = slacks * most - 0.5 * self.gamma * most * most
        size = 0.5 * pair.w * pair.w / (sigma + TINY) + self.costs * sigma
        upper = self.constant + float(np.sum(lost)) + float(np.sum(size))
        if lower > self.lower:
            self.lower, self.alpha = lower, alpha
        if upper < self.upper:
            self.upper, self.near = upper, pair
        return lower, upper

    def shares(self, z: Vector, tau: Vector | float) -> Vector:
        """Return sigma (k,) of a proximal step with the lengths tau (k,) at z; with 0 that of Omega at z."""
        size, weights = np.abs(z), self.weights
        low, high = 0.0, math.inf
        mu = (self.mu or 1.0) if float(weights.sum()) > self.budget else 0.0
        sigma = size
        for _ in range(NEWTON):
            charges = self.costs + mu * weights + TINY
            reach = size / np.sqrt(2.0 * charges)
            sigma = np.minimum(np.maximum(reach - tau, 0.0), 1.0)
            over = float(weights @ sigma) - self.budget
            if abs(over) <= self.exact * self.budget or (mu == 0.0 and over <= 0.0):
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
        self.mu = mu
        return sigma

    def _proximal(self, z: Vector, tau: Vector) -> Vector:
        sigma = self.shares(z, tau)
        return sigma * z / (sigma + tau)


def balanced(y: Vector, alpha: Vector) -> Vector:
    """Return multipliers with y'alpha = 0, those of the heavier class scaled down."""
    plus = y > 0.0
    up, down = float(alpha[plus].sum()), float(alpha[~plus].sum())
    least = min(up, down)
    return np.asarray(np.where(plus, least / max(up, TINY), least / max(down, TINY)).astype(alpha.dtype) * alpha)
