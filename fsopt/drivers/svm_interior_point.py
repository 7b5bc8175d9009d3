"""Driver ``svm_interior_point``: support vector machines of large data, by systems in the smaller dimension of X."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from fsopt import clock
from fsopt.certificates.certificate import Certificate, Kind, make
from fsopt.certificates.residuals import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import midpoint_intercept, project_multipliers, svm_value
from fsopt.drivers.recorder import Recorder, stop_word
from fsopt.drivers.run import DEFAULT_RUN, OutOfTime, Run
from fsopt.models.blocks import number
from fsopt.results import DriverResult, Status
from fsopt.typing import Matrix, Vector

SOLVER = "fsopt"
"""Name of the solver in results: the loop is this package's own."""
PART, SMALLEST = 8, 2_000
"""The first hyperplane is that of n / PART samples, and of at least SMALLEST."""
ROUGH = 1e-3
"""Gap at which the machine of a part ends."""
BACK = 0.99
"""Share of the step to the boundary that is taken."""
INSIDE = 1e-12
"""Distance of the first multipliers from their bounds, relative to C."""
STALLED = 15
"""Iterations without a smaller gap after which rounding has the last word."""


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


def svm_interior_point(
    data: Dataset,
    *,
    c: float = 1.0,
    start: tuple[Vector, float] | None = None,
    tolerance: float = 1e-9,
    max_iterations: int = 200,
    run: Run = DEFAULT_RUN,
) -> DriverResult:
    r"""Solve the support vector machine of Aytug, (1), by a primal-dual interior-point method in numpy.

    .. math::

        \min_{w, b}\ \tfrac12 w'w + C \sum_i \max(0,\ 1 - y_i(w'x_i + b)) \;=\;
        \max_{0 \le \alpha \le C,\ y'\alpha = 0}\ e'\alpha - \tfrac12 \|X'Y\alpha\|^2

    With V = YX, each iteration solves systems with :math:`D + VV'`, D a positive diagonal: by a Cholesky factor of
    :math:`I + V'D^{-1}V` (p, p) where p <= n, else of the matrix itself (n, n). No array is larger than the data.

    Parameters
    ----------
    data : the samples, preprocessed.
    c : C > 0.
    start : a hyperplane (w, b) to start from; by default that of an eighth of the samples where there are thousands.
    tolerance : relative gap at which the loop ends.
    max_iterations : further stopping criterion.
    run : time limit and progress. The loop calls no solver: a solver and its options do not matter.

    Returns
    -------
    DriverResult
        ``point`` has ``w``, ``b`` and the multipliers ``alpha`` (n,) behind ``bound``, which is valid wherever the
        loop stopped. ``optimal`` where :func:`certify_svm` holds, else ``feasible``.

    Raises
    ------
    ParameterError : c <= 0.
    OutOfTime : the time limit passed before the first iteration.

    Notes
    -----
    Mehrotra's predictor and corrector; elimination in the smaller dimension after Ferris & Munson (2002).
    """
    c = number("svm_interior_point", "c", c, low=0.0, strict=True)
    recorder = Recorder([], run)
    search = _Search(data, c, tolerance, recorder)
    stop = "iteration-limit"
    try:
        search.begin(start)
        # Each pass is an iteration, of which there are at most max_iterations.
        for _ in range(max_iterations):
            if search.gap <= tolerance:
                stop = "optimal"
            elif recorder.expired:
                stop = "time-limit"
            elif search.stale > STALLED or not search.iterate():
                stop = "stalled"
            else:
                continue
            break
    except (KeyboardInterrupt, OutOfTime) as reason:
        if not np.isfinite(search.value):
            raise
        stop = stop_word(reason)
    certificate = certify_svm(data, c, search.w, search.b, search.alpha)
    assert certificate.objective is not None
    return recorder.end(
        Status.OPTIMAL if certificate.ok else Status.FEASIBLE,
        stop,
        objective=certificate.objective,
        bound=certificate.bound,
        point={"w": search.w, "b": search.b, "alpha": search.alpha},
        certificate=certificate,
    )


class _Search:
    """The iterates, the best hyperplane among them, and the best multipliers.

    Attributes
    ----------
    w, b, value : the hyperplane with the smallest objective value so far.
    alpha, bound : the multipliers with the largest lower bound so far.
    stale : iterations since the gap fell.
    """

    def __init__(self, data: Dataset, c: float, tolerance: float, recorder: Recorder) -> None:
        self.data, self.c = data, c
        self.tolerance, self.recorder = tolerance, recorder
        self.w, self.b = np.zeros(data.p), 0.0
        self.alpha = np.zeros(data.n)
        self.value, self.bound = np.inf, 0.0
        self.stale = 0

    @property
    def gap(self) -> float:
        """The relative gap between value and bound."""
        return relative_gap(self.value, self.bound) if np.isfinite(self.value) else np.inf

    def begin(self, start: tuple[Vector, float] | None) -> None:
        """Make the first iterate at a hyperplane, by default that of a part of the samples."""
        started = time.perf_counter()
        self.V = self.data.X * self.data.y[:, None]
        self.gram = self.V @ self.V.T if self.data.n < self.data.p else None
        w, b = self._of_a_part() if start is None else start
        mu = self.c * (0.05 if w.any() else 1.0)
        slack = self.V @ w + self.data.y * b - 1.0
        a = _central(slack, mu, self.c)
        self.at = _Iterate(w, b, a, mu / a, mu / (self.c - a))
        self._look()
        self.recorder.count(SOLVER, time.perf_counter() - started)

    def _of_a_part(self) -> tuple[Vector, float]:
        size = max(self.data.n // PART, SMALLEST)
        if size >= self.data.n:
            return np.zeros(self.data.p), 0.0
        part = self.data.rows(_sample(self.data.y, size))
        found = svm_interior_point(
            part, c=self.c * self.data.n / part.n, tolerance=ROUGH, run=Run(time_limit=self.recorder.remaining)
        )
        return found.point["w"], found.point["b"]

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
        at, c, y = self.at, self.c, self.data.y
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


def _sample(y: Vector, size: int) -> Vector:
    """Return places of about ``size`` samples at equal distances within each class, both classes present."""
    share = size / len(y)
    parts = [np.flatnonzero(y == sign) for sign in (1.0, -1.0)]
    picked = [part[np.linspace(0, len(part) - 1, max(1, round(share * len(part)))).astype(int)] for part in parts]
    return np.sort(np.concatenate(picked))


def certify_svm(data: Dataset, c: float, w: Vector, b: float, alpha: Vector) -> Certificate:
    r"""Certify a hyperplane as the optimum of the support vector machine (1) of Aytug, in numpy alone.

    Every :math:`\alpha \in [0, C]^n` with :math:`y'\alpha = 0` gives the lower bound
    :math:`e'\alpha - \tfrac12\|X'Y\alpha\|^2`.

    Parameters
    ----------
    c : penalty weight of the hinge loss.
    alpha : (n,) multipliers; the nearest feasible ones are taken.
    """
    turned = project_multipliers(alpha, data.y, c) * data.y
    bound = float(turned @ data.y) - 0.5 * float(((data.X.T @ turned) ** 2).sum())
    value = svm_value(data, w, b, c)
    gap = {"gap": relative_gap(value, bound)}
    return make(Kind.CONVEX, gap, objective=value, bound=bound, bound_source="dual point")
