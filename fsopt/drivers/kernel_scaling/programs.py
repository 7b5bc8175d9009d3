"""The linear programs over the feasible set of problem (15) of Bi: of all samples, or of some of them.

Constraint generation solves the programs of many samples. A restricted program has the margins and the constraints of
the ball of the samples nearest to their margin and farthest from the origin. Every other sample is taken on the linear
piece of its hinge at given scales, which bounds its loss from below, so that the restricted program is a relaxation.
Its solution solves the whole program as soon as no sample left out is on its other piece, or outside the ball; until
then such samples are added. With the multiplier of the hinge loss for a sample on its positive piece, and 0 for the
others, the multipliers of a restricted program are dual feasible for the whole one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np

from fsopt.answers.results import Point
from fsopt.certificates.kernel_scaling.problem import ScalingProblem
from fsopt.compiler.values import store
from fsopt.data import Dataset
from fsopt.drivers.recorder import Recorder
from fsopt.models.mop.kernel_scaling import build_kernel_scaling_step
from fsopt.solvers.base import Session
from fsopt.typing import Mask, Vector

CROSSED = 1e-9
"""Loss of the samples on their other piece, relative to E, up to which a restricted program is exact."""
OUTSIDE = 1e-9
"""Relative excess over the radius up to which a sample is inside the ball."""
NEAREST, FOR_EACH = 1000, 10
"""Number of samples nearest to their margin in the first restricted program, and how many more for each feature."""
FARTHEST = 100
"""Number of samples that enter a restricted program for the ball."""
Multipliers: TypeAlias = tuple[Vector, Vector]
"""Those of the margins and of the constraints of the ball, (n,) each, nonnegative."""


class LinearPrograms(Protocol):
    """The linear programs of one data set."""

    @property
    def session(self) -> Session:
        """The model of the last program."""

    def load(self, problem: ScalingProblem, s: Vector) -> None:
        """Go on with a problem of the data; s (p,) are scales near its solution."""

    def minimise(
        self, weights: tuple[float, float], costs: Vector, radius: float | None
    ) -> tuple[Vector, Multipliers | None]:
        """Minimise a weighted sum of R and W with costs (p,) of the scales, over R up to a radius.

        Returns the scales (p,), and the multipliers, if the solver returned any.
        """


@dataclass
class WholeProgram:
    """The programs as one model of all samples, ``kernel-scaling-step`` of the data."""

    session: Session
    recorder: Recorder
    active: Mask = field(init=False)

    def load(self, problem: ScalingProblem, s: Vector) -> None:
        """Write a problem into the model; the scales are not needed."""
        m = self.session.model
        self.active = problem.active
        store(m.weight, problem.w)
        store(m.w_square, problem.w**2)
        m.e_cap.set_value(problem.e_cap)
        m.b.fix(problem.b)
        m.R.setub(None)
        for j, active in enumerate(problem.active.tolist()):
            m.s[j].setub(None if active else 0.0)
        self.session.update(m.image, m.capacity, m.risk, m.b)

    def minimise(
        self, weights: tuple[float, float], costs: Vector, radius: float | None
    ) -> tuple[Vector, Multipliers | None]:
        """Solve a program, see :class:`LinearPrograms`."""
        point, m = _solve(self.session, self.recorder, weights, costs, radius), self.session.model
        if point.y is None:
            return _scales(self.session, point, self.active), None
        mu, beta = point.y[self.session.rows(m.margin)], -point.y[self.session.rows(m.ball)]
        return _scales(self.session, point, self.active), (np.maximum(mu, 0.0), np.maximum(beta, 0.0))


@dataclass
class RestrictedPrograms:
    """The programs by constraint generation over the samples, without a model of all of them.

    Attributes
    ----------
    data, recorder : the samples and the bookkeeping.
    solver : registry name; None for the preferred one.
    problem : the problem that was loaded.
    kept : (n,) samples of the restricted program.
    left : (n,) samples left out on the positive piece of their hinge.
    session : the last restricted program, valid until samples were added.
    """

    data: Dataset
    recorder: Recorder
    solver: str | None = None
    problem: ScalingProblem = field(init=False)
    kept: Mask = field(init=False)
    left: Mask = field(init=False)
    session: Session = field(init=False)

    def load(self, problem: ScalingProblem, s: Vector) -> None:
        """Take the samples nearest to their margin at scales s, of each class one, and those farthest from 0."""
        self.problem = problem
        margins = self._margins(s)
        distance, squares = np.abs(margins - 1.0), problem.squares @ s
        self.kept = _smallest(distance, NEAREST + FOR_EACH * self.data.p) | _smallest(-squares, FARTHEST)
        for sign in (1.0, -1.0):
            members = np.flatnonzero(self.data.y == sign)
            self.kept[members[np.argmin(distance[members])]] = True
        self.left = (margins < 1.0) & ~self.kept
        self._open()

    def minimise(
        self, weights: tuple[float, float], costs: Vector, radius: float | None
    ) -> tuple[Vector, Multipliers | None]:
        """Solve restricted programs until one is exact, see :class:`LinearPrograms`."""
        # Each pass but the last adds samples, of which there are n; the recorder looks at the clock.
        while True:
            point = _solve(self.session, self.recorder, weights, costs, radius)
            s = _scales(self.session, point, self.problem.active)
            if not self._add_samples(s):
                break
            self._open()
        if point.y is None:
            return s, None
        m, session = self.session.model, self.session
        mu, beta = np.zeros(self.data.n), np.zeros(self.data.n)
        mu[self.kept] = np.maximum(point.y[session.rows(m.margin)], 0.0)
        mu[self.left] = max(-float(point.y[session.rows(m.risk)][0]), 0.0)
        beta[self.kept] = np.maximum(-point.y[session.rows(m.ball)], 0.0)
        return s, (mu, beta)

    def _margins(self, s: Vector) -> Vector:
        """Return the margins (n,) of the hyperplane with scales s (p,)."""
        at = self.problem
        margins: Vector = self.data.y * (self.data.X @ (s * at.w) + at.b)
        return margins

    def _add_samples(self, s: Vector) -> bool:
        """Add samples that scales s put on their other piece or outside the ball, largest errors first, if any."""
        at, margins = self.problem, self._margins(s)
        error = np.where(self.kept, 0.0, np.maximum(np.where(self.left, margins - 1.0, 1.0 - margins), 0.0))
        squares = at.squares @ s
        excess = np.where(self.kept, 0.0, squares - (1.0 + OUTSIDE) * float(squares[self.kept].max()))
        new = np.zeros(self.data.n, dtype=bool)
        if error.sum() > CROSSED * max(1.0, at.e_cap):
            new |= (error > 0.0) & _smallest(-error, int(self.kept.sum()))
        new |= (excess > 0.0) & _smallest(-excess, FARTHEST)
        self.kept |= new
        self.left &= ~new
        return bool(new.any())

    def _open(self) -> None:
        """Load the restricted program of the present samples."""
        at, data = self.problem, self.data
        part = data.rows(np.flatnonzero(self.kept))
        turned = self.left * data.y
        offset = np.append(turned @ data.X, self.left.sum() - at.b * turned.sum())
        model = build_kernel_scaling_step(part, w=at.w, b=at.b, e_cap=at.e_cap, offset=offset)
        for j in np.flatnonzero(~at.active).tolist():
            model.s[j].setub(0.0)
        self.session = Session(model, self.solver)
        self.recorder.renew(self.session)


def _smallest(values: Vector, count: int) -> Mask:
    """Return the places (n,) of so many of the smallest values."""
    if count >= len(values):
        return np.ones(len(values), dtype=bool)
    mask = np.zeros(len(values), dtype=bool)
    mask[np.argpartition(values, count)[:count]] = True
    return mask


def _solve(
    session: Session, recorder: Recorder, weights: tuple[float, float], costs: Vector, radius: float | None
) -> Point:
    """Solve the program of a session with other weights of R and W, other costs and another largest radius."""
    m = session.model
    m.price_R.set_value(weights[0])
    m.price_W.set_value(weights[1])
    store(m.price_s, costs)
    if m.R.ub != radius:
        m.R.setub(radius)
        session.update(m.R)
    session.update(m.objective)
    point = recorder.solve(session, "a linear program of (15)", load=False, checked=False).point
    assert point is not None
    return point


def _scales(session: Session, point: Point, active: Mask) -> Vector:
    """Return the scales (p,) of a point: nonnegative, and 0 where a feature is not active."""
    return np.where(active, np.maximum(point.x[session.columns(session.model.s)], 0.0), 0.0)
