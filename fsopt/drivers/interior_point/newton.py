"""Newton's method for the support vector machine: the iterates, their linear systems, and the best answer so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from fsopt import clock
from fsopt.certificates.residuals import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import midpoint_intercept, project_multipliers, svm_value
from fsopt.drivers.recorder import Recorder
from fsopt.typing import Indices, Matrix, Vector

SOLVER = "fsopt"
"""Name of the solver in results: the loop is this package's own."""
BACK = 0.99
"""Share of the step to the boundary that is taken."""
INSIDE = 1e-12
"""Distance of the first multipliers from their bounds, relative to C."""


@dataclass
class _Iterate:
    """Hyperplane, multipliers a in (0, C), and the multipliers s, u > 0 of their bounds."""

    w: Vector
    b: float
    a: Vector
    s: Vector
    u: Vector

    def move(self, step: _Step, length: float) -> None:
        """Take a step of this length."""
        self.w = self.w + length * step.w
        self.b += length * step.b
        self.a = self.a + length * step.a
        self.s = self.s + length * step.s
        self.u = self.u + length * step.u


@dataclass(frozen=True)
class _System:
    """The linear system of an iteration: its solver, the solution for y, and the residuals of both equations."""

    solve: Callable[[Vector], Vector]
    along: Vector
    off_w: Vector
    off: Vector


@dataclass(frozen=True)
class _Step:
    """A direction of Newton's method, component by component of an :class:`_Iterate`."""

    w: Vector
    b: float
    a: Vector
    s: Vector
    u: Vector


class Search:
    """The iterates, the best hyperplane among them, and the best multipliers.

    Attributes
    ----------
    w, b, value : the hyperplane with the smallest objective value so far.
    alpha, bound : the multipliers with the largest lower bound so far.
    stale : iterations since the gap fell.
    """

    def __init__(self, data: Dataset, c: float, recorder: Recorder) -> None:
        self.data, self.c = data, c
        self.recorder = recorder
        self.w, self.b = np.zeros(data.p), 0.0
        self.alpha = np.zeros(data.n)
        self.value, self.bound = np.inf, 0.0
        self.stale = 0

    @property
    def gap(self) -> float:
        """The relative gap between value and bound."""
        return relative_gap(self.value, self.bound) if np.isfinite(self.value) else np.inf

    def begin(self, w: Vector, b: float) -> None:
        """Make the first iterate at a hyperplane."""
        started = time.perf_counter()
        self.V = self.data.X * self.data.y[:, None]
        self.gram = self.V @ self.V.T if self.data.n < self.data.p else None
        mu = self.c * (0.05 if w.any() else 1.0)
        slack = self.V @ w + self.data.y * b - 1.0
        a = _central(slack, mu, self.c)
        self.at = _Iterate(w, b, a, mu / a, mu / (self.c - a))
        self._look()
        self.recorder.count(SOLVER, time.perf_counter() - started)

    def iterate(self) -> bool:
        """Take one step of predictor and corrector; return whether rounding allowed one."""
        started = time.perf_counter()
        at, c = self.at, self.c
        solve = self._factor()
        if solve is None:
            return False
        off_w = at.w - self.V.T @ at.a
        off = self.V @ (at.w - off_w) - 1.0 + at.b * self.data.y - at.s + at.u
        system = _System(solve, solve(self.data.y), off_w, off)
        complementary = at.a @ at.s + (c - at.a) @ at.u
        mu = complementary / (2 * self.data.n)
        ahead = self._direction(system, at.a * at.s, (c - at.a) * at.u)
        k = min(1.0, self._longest(ahead))
        after = (at.a + k * ahead.a) @ (at.s + k * ahead.s) + (c - at.a - k * ahead.a) @ (at.u + k * ahead.u)
        target = mu * (after / complementary) ** 3
        step = self._direction(
            system, at.a * at.s + ahead.a * ahead.s - target, (c - at.a) * at.u - ahead.a * ahead.u - target
        )
        length = min(1.0, BACK * self._longest(step))
        if not np.isfinite(length) or not all(np.isfinite(part).all() for part in (step.w, step.a)):
            return False
        at.move(step, length)
        self._look()
        self.recorder.count(SOLVER, time.perf_counter() - started)
        self.recorder.record(objective=self.value, bound=self.bound, step=length)
        return True

    def _factor(self) -> Callable[[Vector], Vector] | None:
        """Return the function r -> (D + VV')^{-1} r, None where rounding leaves no Cholesky factor."""
        at = self.at
        d = at.s / at.a + at.u / (self.c - at.a)
        try:
            if self.gram is not None:
                whole = cho_factor(self.gram + np.diag(d))
                return lambda r: np.asarray(cho_solve(whole, r))
            root = np.sqrt(d)
            # (D + VV')^{-1} = D^{-1/2} (I - U (I + U'U)^{-1} U') D^{-1/2} with U = D^{-1/2} V.
            U: Matrix = self.V / root[:, None]
            small = cho_factor(np.eye(self.data.p) + U.T @ U)
        except np.linalg.LinAlgError:
            return None

        def solve(r: Vector) -> Vector:
            z = r / root
            return np.asarray((z - U @ cho_solve(small, U.T @ z)) / root)

        return solve

    def _direction(self, system: _System, lower: Vector, upper: Vector) -> _Step:
        """Return Newton's direction for the products a s -> a s - lower and (C - a) u -> (C - a) u - upper."""
        at, y = self.at, self.data.y
        c = self.c
        z = system.solve(-system.off - lower / at.a + upper / (c - at.a))
        b = float(y @ z + y @ at.a) / float(y @ system.along)
        a = z - b * system.along
        w = self.V.T @ a - system.off_w
        return _Step(w, b, a, (-lower - at.s * a) / at.a, (-upper + at.u * a) / (c - at.a))

    def _longest(self, step: _Step) -> float:
        """Return the length of the step to the boundary."""
        at = self.at
        pairs = ((at.a, step.a), (self.c - at.a, -step.a), (at.s, step.s), (at.u, step.u))
        return min(float((-v[dv < 0] / dv[dv < 0]).min(initial=np.inf)) for v, dv in pairs)

    def _look(self) -> None:
        """Take hyperplane and multipliers of the iterate over where they are better, each on its own."""
        before, at = self.gap, self.at
        b = midpoint_intercept(self.data.X @ at.w, self.data.y)
        value = svm_value(self.data, at.w, b, self.c)
        if value < self.value:
            self.value = value
            self.w, self.b = at.w, b
        alpha = project_multipliers(at.a, self.data.y, self.c)
        bound = float(alpha.sum()) - 0.5 * float(((self.V.T @ alpha) ** 2).sum())
        if bound > self.bound:
            self.bound, self.alpha = bound, alpha
        self.stale = 0 if self.gap < before else self.stale + 1
        clock.found()


def _central(slack: Vector, mu: float, c: float) -> Vector:
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
