r"""Newton's method for support vector machines: the iterates, their linear systems, and the best answer so far.

The optimality conditions of a :class:`fsopt.algorithms.interior_point.problems.HingeProblem`, with V = YX of centred
samples, the weights g of their losses, the multipliers a of the margins, and s and u of the bounds of a:

.. math::

    \gamma w = V'a, \quad y'a = 0, \quad Vw + by - e = s - u, \quad
    a_i s_i = (g_i - a_i) u_i = \mu, \quad r t = \mu

where gamma, r and t belong to the term of the weights. With D = diag(s / a + u / (g - a)) each step solves systems
:math:`D\,\delta a + V \delta w = q`, :math:`\gamma\,\delta w - V'\delta a = r`, which are eliminated in the smaller
dimension of the data.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy

from fsopt.algorithms.interior_point.problems import HingeProblem
from fsopt.algorithms.pieces import PIECE, cholesky, gram
from fsopt.certificates.points import relative_gap
from fsopt.common import clock
from fsopt.data.hyperplanes import project_multipliers
from fsopt.data.weights import loss_weights
from fsopt.drivers.loop import Iterate
from fsopt.drivers.recorder import Recorder
from fsopt.typing import Matrix, Vector

SOLVER = "fsopt"
"""Name of the solver in results: the loop is this package's own."""
BACK = 0.99
"""Share of the step to the boundary that is taken."""
CAREFUL = 0.7
"""Share of that step for r and t: w = V'a / gamma follows r, and its square should not leave the ball far."""
ROUNDED = (0.0, 1e-15)
"""The smallest number added to the diagonal of a matrix of features, as a share of its largest entry: the second where
rounding leaves no Cholesky factor, since features depend on each other and gamma is next to nothing."""
PROGRESS = 0.01
"""Share by which a measure has to fall to count as progress."""
Solve: TypeAlias = Callable[[Vector, Vector], tuple[Vector, Vector]]
"""Function (q (n,), r (p,)) -> (delta a, delta w)."""


@dataclass
class _Iterate:
    """A point of the optimality conditions, or a direction from one."""

    # The distance z of a from its upper bound g is a part of its own: computed as g - a it would be rounded to 0.

    w: Vector
    b: float
    a: Vector
    z: Vector
    s: Vector
    u: Vector
    r: float
    t: float

    def plus(self, step: _Iterate, length: float) -> _Iterate:
        """Return the point after a step of this length."""
        moved = {name: value + length * getattr(step, name) for name, value in vars(self).items()}
        return _Iterate(**moved)


@dataclass(frozen=True)
class _Products:
    """Reductions asked of the products a s, (g - a) u and r t."""

    lower: Vector
    upper: Vector
    length: float


class BestIterate:
    """The iterates, the best hyperplane among them, and the best multipliers.

    Attributes
    ----------
    w, b, value : the hyperplane with the smallest objective value so far.
    alpha, bound : the multipliers with the largest lower bound so far.
    at : the iterate.
    stale : iterations since the last progress, see :meth:`_note_progress`.
    """

    def __init__(self, problem: HingeProblem, recorder: Recorder) -> None:
        self.problem, self.recorder = problem, recorder
        self.data, self.c = problem.data, np.broadcast_to(loss_weights(1.0, problem.data.weights), (problem.data.n,))
        self.w, self.b = np.zeros(self.data.p), 0.0
        self.alpha = np.zeros(self.data.n)
        # At a capacity the multipliers of a bound below 0 are kept, too: their refinement may be the evidence.
        self.value, self.bound = np.inf, 0.0 if problem.capacity is None else -np.inf
        self.basis: Matrix | None = None
        self.gram: Matrix | None = None
        self.stale, self.smallest = 0, np.full(3, np.inf)

    @property
    def gap(self) -> float:
        """The relative gap between value and bound."""
        return relative_gap(self.value, max(self.bound, 0.0)) if np.isfinite(self.value) else np.inf

    def begin(self) -> None:
        """Make the first iterate, at w = 0 with multipliers on the central path."""
        started = time.perf_counter()
        centre = self.data.X.mean(axis=0)
        self.V = (self.data.X - centre) * self.data.y[:, None]
        self.unit = float(np.linalg.norm(self.V)) / np.sqrt(self.data.n) or 1.0
        self.V /= self.unit
        self.penalty = self.problem.penalty(self.unit)
        if self.data.n < self.data.p and self.data.n * self.V.size <= PIECE:
            # V = LQ', with w = Qv: pivoting grades the columns of L, which a Cholesky factor takes in every unit, where
            # VV' is singular up to rounding. LAPACK's factor with pivots is slow and looks at no clock: for larger
            # data VV' has to do.
            self.basis, upper, order = scipy.linalg.qr(self.V.T, mode="economic", pivoting=True)
            self.V = np.ascontiguousarray(upper.T[np.argsort(order)])
        mu, w = float(np.mean(self.c)), np.zeros(self.V.shape[1])
        a = _central(mu, self.c)
        z = self.c - a
        r, t = self.penalty.begin(max(float(np.linalg.norm(self.V.T @ a)), mu))
        self.at = _Iterate(w, 0.0, a, z, mu / a, mu / z, r, t)
        self._look()
        self.recorder.count(SOLVER, time.perf_counter() - started)

    def iterate(self, stop: str, length: float | None = None) -> Iterate:
        """Return the best hyperplane, if there is one, as an iterate, after a step of some length."""
        point = {"w": self.w} if np.isfinite(self.value) else {}
        record = None if length is None else {"objective": self.value, "bound": self.bound, "step": length}
        return Iterate(self.value, point, record=record, stop=stop)

    def step(self) -> float | None:
        """Take one step of predictor and corrector; return its length, None where rounding allowed none."""
        with np.errstate(all="ignore"):  # a multiplier next to its bound overflows; a step is looked at as a whole
            return self._step()

    def _step(self) -> float | None:
        started = time.perf_counter()
        at = self.at
        solve = self._factor()
        if solve is None:
            return None
        along = solve(self.data.y, np.zeros(self.V.shape[1]))
        away = (np.zeros(self.data.n), np.zeros(self.V.shape[1]))
        if not self.penalty.fixed:
            away = solve(away[0], -self.penalty.slope(at.r) * at.w)
        products = _Products(at.a * at.s, at.z * at.u, at.r * at.t)
        ahead = self._direction(solve, along, away, products)
        mu = self._mean_product(at)
        target = mu * (self._mean_product(at.plus(ahead, min(1.0, self._longest(ahead)))) / mu) ** 3
        products = _Products(
            products.lower + ahead.a * ahead.s - target,
            products.upper - ahead.a * ahead.u - target,
            products.length + ahead.r * ahead.t - target,
        )
        step = self._direction(solve, along, away, products)
        length = min(1.0, BACK * self._longest(step))
        if not all(np.isfinite(part).all() for part in vars(step).values()):
            return None
        self.at = at.plus(step, length)
        self._look()
        self.recorder.count(SOLVER, time.perf_counter() - started)
        return length

    def _mean_product(self, at: _Iterate) -> float:
        """Return mu, the mean of all products of a pair at a point."""
        count = 2 * self.data.n + (not self.penalty.fixed)
        return float(at.a @ at.s + at.z @ at.u + at.r * at.t) / count

    def _factor(self) -> Solve | None:
        """Return the solver of the systems of a step, None where rounding leaves no Cholesky factor."""
        at, V = self.at, self.V
        gamma = self.penalty.gamma(at.r)
        d = at.s / at.a + at.u / at.z
        if V.shape[0] < V.shape[1]:
            self.gram = gram(V.T) if self.gram is None else self.gram
            matrix = self.gram / gamma
            matrix[np.diag_indices(len(d))] += d
            whole = cholesky(matrix)

            def by_samples(q: Vector, r: Vector) -> tuple[Vector, Vector]:
                a = scipy.linalg.cho_solve((whole, True), q - V @ (r / gamma), check_finite=False)
                return a, (V.T @ a + r) / gamma

            return None if whole is None else by_samples
        root = np.sqrt(d)
        U: Matrix = V / root[:, None]
        small = _factor_of_features(U, gamma)

        def by_features(q: Vector, r: Vector) -> tuple[Vector, Vector]:
            w = scipy.linalg.cho_solve((small, True), U.T @ (q / root) + r, check_finite=False)
            return (q / root - U @ w) / root, w

        return None if small is None else by_features

    def _direction(
        self, solve: Solve, along: tuple[Vector, Vector], away: tuple[Vector, Vector], products: _Products
    ) -> _Iterate:
        """Return Newton's direction from the solutions for a change by 1 of b (``along``) and r (``away``)."""
        at, y = self.at, self.data.y
        off = self.V @ at.w - 1.0 + at.b * y - at.s + at.u
        stationary = self.V.T @ at.a - self.penalty.gamma(at.r) * at.w
        base = solve(-off - products.lower / at.a + products.upper / at.z, stationary)
        slope, rest = float(y @ along[0]), float(y @ base[0] + y @ at.a)
        in_r, in_w = self.penalty.slack_slopes(at.r, at.w)
        beyond = at.t - self.penalty.slack(at.r, at.w)
        r = 0.0
        if self.penalty.fixed:
            b = rest / slope
        else:
            pull = in_w * at.r * at.w
            right = at.r * beyond - products.length - float(pull @ base[1])
            lower = [-float(pull @ along[1]), float(pull @ away[1]) + at.t + at.r * in_r]
            b, r = (float(v) for v in np.linalg.solve([[slope, -float(y @ away[0])], lower], [rest, right]))
        a, w = (base[k] - b * along[k] + r * away[k] for k in (0, 1))
        s, u = (-products.lower - at.s * a) / at.a, (-products.upper + at.u * a) / at.z
        return _Iterate(w, b, a, -a, s, u, r, -beyond + in_r * r + in_w * float(at.w @ w))

    def _longest(self, step: _Iterate) -> float:
        """Return the length of the step to the boundary."""
        at = self.at
        pairs = [(at.a, step.a), (at.z, -step.a), (at.s, step.s), (at.u, step.u)]
        if not self.penalty.fixed:
            pairs.append((CAREFUL * np.array([at.r, at.t]), np.array([step.r, step.t])))
        return min(float((-v[dv < 0] / dv[dv < 0]).min(initial=np.inf)) for v, dv in pairs)

    def _look(self) -> None:
        """Take hyperplane and multipliers of the iterate over where they are better, each on its own."""
        w = self.at.w if self.basis is None else self.basis @ self.at.w
        w, b, value = self.problem.hyperplane(w / self.unit)
        if value < self.value:
            self.value = value
            self.w, self.b = w, b
        alpha, bound = self.problem.bound(self.problem.c * project_multipliers(self.at.a, self.data.y, self.c))
        if bound > self.bound:
            self.bound, self.alpha = bound, alpha
        self._note_progress()
        clock.found()

    def _note_progress(self) -> None:
        """Count the iterations since the gap, the dual residual or the mean product last fell by a hundredth."""
        # The gap alone does not tell: it is 1 until the multipliers are nearly feasible, which takes dozens of
        # iterations with classes that separate well. The dual residual falls with every step by the share of its
        # length; where all three rest, rounding has the last word.
        at = self.at
        stationary = self.V.T @ at.a - self.penalty.gamma(at.r) * at.w
        residual = float(np.linalg.norm(stationary)) + abs(float(at.a @ self.data.y))
        now = np.array([self.gap, residual, self._mean_product(at)])
        fell = now < (1.0 - PROGRESS) * self.smallest
        self.smallest = np.where(fell, now, self.smallest)
        self.stale = 0 if fell.any() else self.stale + 1


def _factor_of_features(U: Matrix, gamma: float) -> Matrix | None:
    """Return the Cholesky factor of U'U + gamma I, of the next such matrix where rounding leaves it none; else None."""
    for share in ROUNDED:
        matrix = gram(U)
        matrix[np.diag_indices(len(matrix))] += max(gamma, share * float(matrix.diagonal().max(initial=0.0)))
        factor = cholesky(matrix)
        if factor is not None:
            return factor
    return None


def _central(mu: float, c: Vector) -> Vector:
    """Return a (n,) in (0, C) with mu / (C - a) - mu / a = 1: the multipliers on the central path at w = 0."""
    return 2.0 * mu * c / (2.0 * mu - c + np.hypot(c, 2.0 * mu))
