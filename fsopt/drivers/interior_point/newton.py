r"""Newton's method for support vector machines: the iterates, their linear systems, and the best answer so far.

The optimality conditions of :class:`HingeProblem`, with V = YX, the multipliers a of the margins, s and u of the bounds
of a, and the multiplier gamma of w'w/2 (1 where that is in the objective) with the slack t of the capacity:

.. math::

    \gamma w = V'a, \quad y'a = 0, \quad Vw + by - e = s - u, \quad
    a_i s_i = (C - a_i) u_i = \mu, \quad \gamma t = \mu, \ t = W - w'w

With D = diag(s / a + u / (C - a)) each step solves systems :math:`D\,\delta a + V \delta w = q`,
:math:`\gamma\,\delta w - V'\delta a = r`, which are eliminated in the smaller dimension of the data.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.linalg import cho_solve

from fsopt import clock
from fsopt.certificates.residuals import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, midpoint_intercept, project_multipliers
from fsopt.data.weights import loss_weights
from fsopt.drivers.pieces import cholesky, gram
from fsopt.drivers.recorder import Recorder
from fsopt.typing import Indices, Matrix, Vector

SOLVER = "fsopt"
"""Name of the solver in results: the loop is this package's own."""
BACK = 0.99
"""Share of the step to the boundary that is taken."""
CAREFUL = 0.9
"""Share of that step for gamma and t: w = V'a / gamma follows gamma, and its square should not leave the ball far."""
INSIDE = 1e-12
"""Distance of the first multipliers from their bounds, relative to C."""
Solve: TypeAlias = Callable[[Vector, Vector], tuple[Vector, Vector]]
"""Function (q (n,), r (p,)) -> (delta a, delta w)."""


@dataclass(frozen=True)
class HingeProblem:
    r"""Minimise :math:`\tfrac12 w'w + C e'\xi`, or :math:`C e'\xi` subject to :math:`w'w \le W`, the hinge loss e'xi.

    Attributes
    ----------
    data, c : the samples, and C > 0.
    capacity : W > 0; None for the first problem.
    """

    data: Dataset
    c: float
    capacity: float | None = None

    def hyperplane(self, w: Vector) -> tuple[Vector, float, float]:
        """Return w, shortened where it is too long, its best intercept, and the objective value."""
        square = float(w @ w)
        if self.capacity is not None and square > self.capacity:
            w = w * np.sqrt(self.capacity / square)
        scores = self.data.X @ w
        b = midpoint_intercept(scores, self.data.y, self.data.weights)
        loss = self.c * hinge(scores + b, self.data.y, self.data.weights)
        return w, b, loss if self.capacity is not None else loss + 0.5 * square

    def bound(self, alpha: Vector) -> float:
        """Return the lower bound by multipliers (n,) in [0, C] with y'alpha = 0."""
        square = float(((self.data.X.T @ (alpha * self.data.y)) ** 2).sum())
        cost = 0.5 * square if self.capacity is None else np.sqrt(self.capacity * square)
        return float(alpha.sum() - cost)


@dataclass
class _Iterate:
    """A point of the optimality conditions, or a direction from one."""

    w: Vector
    b: float
    a: Vector
    s: Vector
    u: Vector
    gamma: float = 1.0
    t: float = 0.0

    def plus(self, step: _Iterate, length: float) -> _Iterate:
        """Return the point after a step of this length."""
        moved = {name: value + length * getattr(step, name) for name, value in vars(self).items()}
        return _Iterate(**moved)


@dataclass(frozen=True)
class _Products:
    """Reductions asked of the products a s, (C - a) u and gamma t."""

    lower: Vector
    upper: Vector
    length: float


class Search:
    """The iterates, the best hyperplane among them, and the best multipliers.

    Attributes
    ----------
    w, b, value : the hyperplane with the smallest objective value so far.
    alpha, bound : the multipliers with the largest lower bound so far.
    at : the iterate.
    stale : iterations since the gap fell.
    """

    def __init__(self, problem: HingeProblem, recorder: Recorder) -> None:
        self.problem, self.recorder = problem, recorder
        self.data, self.c = problem.data, loss_weights(problem.c, problem.data.weights)
        self.w, self.b = np.zeros(self.data.p), 0.0
        self.alpha = np.zeros(self.data.n)
        self.value, self.bound = np.inf, 0.0
        self.stale = 0
        self.gram: Matrix | None = None

    @property
    def gap(self) -> float:
        """The relative gap between value and bound."""
        return relative_gap(self.value, self.bound) if np.isfinite(self.value) else np.inf

    def begin(self, w: Vector, b: float) -> None:
        """Make the first iterate at a hyperplane, on the central path as far as the hyperplane allows."""
        started = time.perf_counter()
        self.V = self.data.X * self.data.y[:, None]
        mu = float(np.mean(self.c)) * (0.05 if w.any() else 1.0)
        slack = self.V @ w + self.data.y * b - 1.0
        a = _central(slack, mu, self.c)
        self.at = _Iterate(w, b, a, mu / a, mu / (self.c - a))
        if self.problem.capacity is not None:
            self.at.t = max(self.problem.capacity - float(w @ w), 0.05 * self.problem.capacity)
            self.at.gamma = max(float(np.linalg.norm(self.V.T @ a)), mu) / np.sqrt(self.problem.capacity)
        self._look()
        self.recorder.count(SOLVER, time.perf_counter() - started)

    def iterate(self) -> bool:
        """Take one step of predictor and corrector; return whether rounding allowed one."""
        started = time.perf_counter()
        at, c = self.at, self.c
        solve = self._factor()
        if solve is None:
            return False
        along = solve(self.data.y, np.zeros(self.data.p))
        away = (np.zeros(self.data.n), np.zeros(self.data.p))
        if self.problem.capacity is not None:
            away = solve(away[0], -at.w)
        products = _Products(at.a * at.s, (c - at.a) * at.u, at.gamma * at.t)
        ahead = self._direction(solve, along, away, products)
        mu = self._mean_product(at)
        target = mu * (self._mean_product(at.plus(ahead, min(1.0, self._longest(ahead)))) / mu) ** 3
        products = _Products(
            products.lower + ahead.a * ahead.s - target,
            products.upper - ahead.a * ahead.u - target,
            products.length + ahead.gamma * ahead.t - target,
        )
        step = self._direction(solve, along, away, products)
        length = min(1.0, BACK * self._longest(step))
        if not all(np.isfinite(part).all() for part in vars(step).values()):
            return False
        self.at = at.plus(step, length)
        self._look()
        self.recorder.count(SOLVER, time.perf_counter() - started)
        self.recorder.record(objective=self.value, bound=self.bound, step=length)
        return True

    def _mean_product(self, at: _Iterate) -> float:
        """Return mu, the mean of all products of a pair at a point."""
        count = 2 * self.data.n + (self.problem.capacity is not None)
        return float(at.a @ at.s + (self.c - at.a) @ at.u + at.gamma * at.t) / count

    def _factor(self) -> Solve | None:
        """Return the solver of the systems of a step, None where rounding leaves no Cholesky factor."""
        at, V = self.at, self.V
        d = at.s / at.a + at.u / (self.c - at.a)
        if self.data.n < self.data.p:
            self.gram = gram(V.T) if self.gram is None else self.gram
            matrix = self.gram / at.gamma
            matrix[np.diag_indices(self.data.n)] += d
            whole = cholesky(matrix)

            def by_samples(q: Vector, r: Vector) -> tuple[Vector, Vector]:
                a = cho_solve((whole, True), q - V @ (r / at.gamma))
                return a, (V.T @ a + r) / at.gamma

            return None if whole is None else by_samples
        root = np.sqrt(d)
        U: Matrix = V / root[:, None]
        matrix = gram(U)
        matrix[np.diag_indices(self.data.p)] += at.gamma
        small = cholesky(matrix)

        def by_features(q: Vector, r: Vector) -> tuple[Vector, Vector]:
            w = cho_solve((small, True), U.T @ (q / root) + r)
            return (q / root - U @ w) / root, w

        return None if small is None else by_features

    def _direction(
        self, solve: Solve, along: tuple[Vector, Vector], away: tuple[Vector, Vector], products: _Products
    ) -> _Iterate:
        """Return Newton's direction for these reductions of the products.

        ``along`` and ``away`` are the solutions for a change of the intercept and of gamma by 1.
        """
        at, y = self.at, self.data.y
        c = self.c
        off = self.V @ at.w - 1.0 + at.b * y - at.s + at.u
        base = solve(-off - products.lower / at.a + products.upper / (c - at.a), self.V.T @ at.a - at.gamma * at.w)
        slope, rest = float(y @ along[0]), float(y @ base[0] + y @ at.a)
        gamma, beyond = 0.0, 0.0
        if self.problem.capacity is None:
            b = rest / slope
        else:
            beyond = at.t - self.problem.capacity + float(at.w @ at.w)
            pull = -2.0 * at.gamma * at.w
            right = at.gamma * beyond - products.length - float(pull @ base[1])
            matrix = [[slope, -float(y @ away[0])], [-float(pull @ along[1]), float(pull @ away[1]) + at.t]]
            b, gamma = (float(v) for v in np.linalg.solve(matrix, [rest, right]))
        a, w = (base[k] - b * along[k] + gamma * away[k] for k in (0, 1))
        s, u = (-products.lower - at.s * a) / at.a, (-products.upper + at.u * a) / (c - at.a)
        t = -beyond - 2.0 * float(at.w @ w) if self.problem.capacity is not None else 0.0
        return _Iterate(w, b, a, s, u, gamma, t)

    def _longest(self, step: _Iterate) -> float:
        """Return the length of the step to the boundary."""
        at = self.at
        pairs = [(at.a, step.a), (self.c - at.a, -step.a), (at.s, step.s), (at.u, step.u)]
        if self.problem.capacity is not None:
            pairs.append((CAREFUL * np.array([at.gamma, at.t]), np.array([step.gamma, step.t])))
        return min(float((-v[dv < 0] / dv[dv < 0]).min(initial=np.inf)) for v, dv in pairs)

    def _look(self) -> None:
        """Take hyperplane and multipliers of the iterate over where they are better, each on its own."""
        before = self.gap
        w, b, value = self.problem.hyperplane(self.at.w)
        if value < self.value:
            self.value = value
            self.w, self.b = w, b
        alpha = project_multipliers(self.at.a, self.data.y, self.c)
        bound = self.problem.bound(alpha)
        if bound > self.bound:
            self.bound, self.alpha = bound, alpha
        self.stale = 0 if self.gap < before else self.stale + 1
        clock.found()


def _central(slack: Vector, mu: float, c: float | Vector) -> Vector:
    """Return a (n,) in (0, C) with mu / a - mu / (C - a) = slack: the multipliers on the central path."""
    root = np.hypot(slack * c, 2.0 * mu)
    q = slack * c + 2.0 * mu
    # One of the two forms of the root of a quadratic equation does not cancel.
    a = np.where(q >= 0, 2.0 * mu * c / np.where(q >= 0, q + root, 1.0), (q - root) / np.where(q < 0, 2.0 * slack, 1.0))
    return np.clip(a, INSIDE * c, c * (1.0 - INSIDE))


def sample(y: Vector, size: int) -> Indices:
    """Return places of about ``size`` samples at equal distances within each class, both classes present."""
    share = size / len(y)
    parts = [np.flatnonzero(y == sign) for sign in (1.0, -1.0)]
    picked = [part[np.linspace(0, len(part) - 1, max(1, round(share * len(part)))).astype(int)] for part in parts]
    return np.sort(np.concatenate(picked))
