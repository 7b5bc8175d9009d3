"""The search behind problem (15) of paper 5: linear programs over its feasible set, and what they prove."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from fsopt.certificates.certificate import Certificate, Kind
from fsopt.compiler.values import store
from fsopt.drivers.kernel_scaling.proof import Cut, ScalingProblem, certify_scaling, certify_stationary, lower_bound
from fsopt.drivers.recorder import Recorder
from fsopt.errors import SolverError
from fsopt.results import SolveResult, Status
from fsopt.solvers.base import Session
from fsopt.solvers.registry import no_multipliers
from fsopt.typing import Vector

FRANK_WOLFE_STEPS = 20


STILL = 1e-9
"""Relative gain below which a step changes nothing."""


KEPT = 1e-7
"""By how much the loss of scales may be above E, relative, and still count as kept."""


NEAR = 1e-8
"""Relative distance above the least radius at which a program for it is solved, and below which two points are one."""


@dataclass
class Search:
    """The linear programs of one problem (15), the best scales that they have brought up, and what they prove.

    Attributes
    ----------
    problem, session, recorder : the problem; the model ``kernel-scaling-step`` of its data; the loop that it is in.
    s, value : (p,) and scalar, the incumbent; empty and infinite before there is one.
    cuts : what was proved: known before, then in the order of the programs.
    points : (R, W) of the start and of the scales that were found without prices.
    stationary : the cut at the incumbent, of the Frank-Wolfe step that gained nothing.
    programs : number of linear programs solved.
    recording : whether each round of :meth:`close` is an iteration of the loop.
    """

    problem: ScalingProblem
    session: Session
    recorder: Recorder
    s: Vector = field(default_factory=lambda: np.zeros(0))
    value: float = np.inf
    cuts: list[Cut] = field(default_factory=list)
    points: list[tuple[float, float]] = field(default_factory=list)
    stationary: Cut | None = None
    programs: int = 0
    recording: bool = False

    def pose(self) -> None:
        """Write the problem into the model."""
        m, at = self.session.model, self.problem
        store(m.weight, at.w)
        store(m.w_square, at.w**2)
        m.e_cap.set_value(at.e_cap)
        m.b.fix(at.b)
        m.R.setub(None)
        for j, alive in enumerate(at.alive.tolist()):
            m.s[j].setub(None if alive else 0.0)
        self.session.update(m.image, m.capacity, m.risk, m.b)

    def offer(self, s: Vector) -> bool:
        """Take scales over as incumbent if they are feasible and better; return whether they gain anything."""
        value, before = self.problem.value(s), self.value
        if value < before and self.problem.excess(s) <= KEPT:
            self.s, self.value = s, value
        return self.value < before - STILL * max(1.0, abs(value))

    def solve(
        self, price_R: float, price_W: float, *, priced: bool, radius: float | None = None
    ) -> tuple[bool, Cut | None]:
        """Solve one linear program, at most at a radius; return whether it gains anything, and its cut."""
        session, m = self.session, self.session.model
        m.price_R.set_value(price_R)
        m.price_W.set_value(price_W)
        store(m.price_s, self.problem.price * priced)
        if m.R.ub != radius:
            m.R.setub(radius)
            session.update(m.R)
        session.update(m.objective)
        result = self.recorder.solve(session, "a linear program of (15)", load=False, checked=False)
        self.programs += 1
        assert result.point is not None
        s = np.where(self.problem.alive, np.maximum(result.point.x[session.columns(m.s)], 0.0), 0.0)
        if not priced:
            self.points.append(self.problem.size(s))
        cut = self._cut(result, price_W, priced)
        if cut is not None:
            self.cuts.append(cut)
        return self.offer(s), cut

    def _cut(self, result: SolveResult, price_W: float, priced: bool) -> Cut | None:
        session, m = self.session, self.session.model
        if result.point is None or result.point.y is None:
            return None
        y = result.point.y
        return Cut(
            np.maximum(y[session.rows(m.margin)], 0.0), np.maximum(-y[session.rows(m.ball)], 0.0), price_W, priced
        )

    def start(self, s: Vector) -> None:
        """Write the problem into the model and descend from s, or from a first program where s loses too much."""
        self.pose()
        self.offer(s)
        if self.problem.excess(s) <= KEPT:
            self.points.append(self.problem.size(s))
        if not np.isfinite(self.value):
            radius, capacity = self.problem.units
            self.solve(capacity, radius, priced=self.problem.priced)
        if not np.isfinite(self.value):
            raise SolverError(
                f"solver '{self.session.spec.name}' found no scales that keep the loss of the plane",
                "give a larger E, or take another solver",
            )
        self.descend()

    def descend(self) -> None:
        """Take Frank-Wolfe steps on (R, W) from the incumbent until one gains nothing."""
        for _ in range(FRANK_WOLFE_STEPS):
            radius, capacity = self.problem.size(self.s)
            gains, self.stationary = self.solve(capacity, radius, priced=self.problem.priced)
            if not gains:
                break

    def close(self, tolerance: float, max_programs: int) -> str:
        """Solve linear programs until the cuts prove the incumbent; return why the loop ended."""
        if self.problem.least[0] > 0:
            self._ends()
        before = None
        while True:
            bound, radius = lower_bound(self.problem, self.cuts, self.value)
            if self.recording:
                self.recorder.record(objective=self.value, bound=bound, radius=radius, linear_programs=self.programs)
            if self.value - bound <= tolerance * max(1.0, abs(self.value)):
                return "optimal"
            if self.recorder.expired:
                return "time-limit"
            if self.programs >= max_programs:
                return "iteration-limit"
            if before == (bound, radius):
                return "stalled"
            before = bound, radius
            if self.problem.priced:
                radius = max(radius, self._least_radius())
                gains, _ = self.solve(0.0, radius, priced=True, radius=radius)
            else:
                gains = self._chord(radius)
            if gains:
                self.descend()

    def _ends(self) -> None:
        """Solve for the least R and for the least W, and with prices for the best point at the least R."""
        least_R = self._extremes()
        if self.problem.priced:
            slope, radius = least_R.proved(self.problem)[0], self._least_radius()
            _, cut = self.solve(0.0, radius, priced=True, radius=radius)
            assert cut is not None
            # Any multiple of the first cut may be added: this one keeps the bound from falling to the left.
            share = max(cut.proved(self.problem)[2], self.value) / (radius * slope)
            self.cuts.append(Cut(cut.mu + share * least_R.mu, cut.beta + share * least_R.beta, radius, True))
            self.descend()

    def _extremes(self) -> Cut:
        """Solve for the least R and, if nothing is known of it, for the least W; return the cut of the first."""
        _, least_R = self.solve(1.0, 0.0, priced=False)
        if all(cut.priced or cut.beta.any() for cut in self.cuts):
            self.solve(0.0, 1.0, priced=False)
        if least_R is None:
            raise no_multipliers(self.session.spec.name, self.session.problem_class)
        return least_R

    def _least_radius(self) -> float:
        """Return the least radius that was found, and a little more so that a program at it has a point."""
        return min(radius for radius, _ in self.points) * (1.0 + NEAR)

    def _chord(self, radius: float) -> bool:
        """Solve for the vertex of the frontier that is furthest below the chord over a radius."""
        corners = lower_hull(self.points)
        if len(corners) < 2:
            return False
        k = int(np.clip(np.searchsorted(corners[:, 0], radius), 1, len(corners) - 1))
        (left, high), (right, low) = corners[k - 1], corners[k]
        gains, _ = self.solve(high - low, right - left, priced=False)
        return gains

    def whole(self) -> None:
        """Solve for all vertices of the frontier: for each chord, until no point lies below it."""
        self._extremes()
        chords = list(pairwise(map(tuple, lower_hull(self.points).tolist())))
        while chords and not self.recorder.expired:
            (left, high), (right, low) = chords.pop()
            if right - left <= NEAR * right or high - low <= NEAR * high:
                continue
            self.solve(high - low, right - left, priced=False)
            R, W = self.points[-1]
            below = (high - low) * (R - left) + (right - left) * (W - high)
            if below < -NEAR * (high - low) * right:
                chords += [((left, high), (R, W)), ((R, W), (right, low))]

    def claim(self, scaling: str, tolerance: float) -> tuple[Status, float | None, Certificate]:
        """Return what is held about the incumbent: status, lower bound, certificate."""
        if scaling == "local":
            certificate = certify_stationary(self.problem, self.s, self.stationary)
            held = certificate.ok and certificate.kind is Kind.KKT
            return Status.STATIONARY if held else Status.FEASIBLE, None, certificate
        bound, _ = lower_bound(self.problem, self.cuts, self.value)
        certificate = certify_scaling(self.problem, self.s, self.cuts, bound, tolerance)
        return Status.OPTIMAL if certificate.ok else Status.FEASIBLE, bound, certificate


def lower_hull(points: Sequence[tuple[float, float]]) -> Vector:
    """Return the vertices (k, 2) of the lower left frontier of points (R, W): R increases, W falls."""
    corners: list[tuple[float, float]] = []
    for R, W in sorted(set(points)):
        if corners and corners[-1][1] * (1 - NEAR) <= W:
            continue
        while corners and corners[-1][0] * (1 + NEAR) >= R:
            corners.pop()
        while len(corners) > 1 and _turn(corners[-2], corners[-1], (R, W)) <= 0:
            corners.pop()
        corners.append((R, W))
    return np.array(corners).reshape(-1, 2)


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    """Return whether b lies below the chord from a to c: twice the area, positive where it does."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
