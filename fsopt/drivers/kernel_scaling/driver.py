"""Driver ``kernel_scaling``: problem (15) of Bi, locally by Frank-Wolfe steps, or globally by linear programs alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fsopt.answers.certificate import Certificate, Kind, closed, make
from fsopt.answers.results import DriverResult, Status
from fsopt.certificates.kernel_scaling.bounds import Cut, lower_bound
from fsopt.certificates.kernel_scaling.problem import ScalingProblem as ScalingProblem
from fsopt.certificates.points import of_bounds, relative_gap
from fsopt.common.arguments import word
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge
from fsopt.drivers.kernel_scaling.programs import LinearPrograms, WholeProgram
from fsopt.drivers.loop import Iterate, Loop, Within, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.errors import SolverError
from fsopt.models.blocks import number, vector
from fsopt.models.mop.kernel_scaling import build_kernel_scaling_step
from fsopt.solvers.registry import no_multipliers
from fsopt.typing import Vector

FRANK_WOLFE_STEPS = 20
IMPROVEMENT = 1e-9
"""Relative decrease of the objective value below which a step is none: it is within a solver's tolerance."""
FEASIBILITY = 1e-7
"""Relative excess of the hinge loss over E up to which scales are feasible, above the tolerances of LP solvers."""
NEAR = 1e-8
"""Relative distance below which two points of the frontier are one, and above the minimum radius of programs at it."""


@dataclass
class OuterApproximation:
    """The incumbent of one problem (15), and the cuts that its linear programs have proved.

    Attributes
    ----------
    problem, linear : the problem, and the linear programs of its data.
    s, value : (p,) and scalar, the incumbent; empty and infinite before there is one.
    cuts : those known before, then those of the linear programs in their order.
    points : (R, W) of the start and of the solutions of programs without costs.
    stationary : the cut of the Frank-Wolfe step at the incumbent that did not improve it.
    programs : number of linear programs solved.
    """

    problem: ScalingProblem
    linear: LinearPrograms
    s: Vector = field(default_factory=lambda: np.zeros(0))
    value: float = np.inf
    cuts: list[Cut] = field(default_factory=list)
    points: list[tuple[float, float]] = field(default_factory=list)
    stationary: Cut | None = None
    programs: int = 0

    def iterate(self, record: Mapping[str, Any] | None = None, stop: str = "") -> Iterate:
        """Return the incumbent, if there is one, as an iterate."""
        point = {"s": self.s} if np.isfinite(self.value) else {}
        return Iterate(self.value, point, record=record, stop=stop, within=record is None)

    def load(self, s: Vector) -> None:
        """Load the problem, and take the scales s over where they are feasible."""
        self.linear.load(self.problem, s)
        self._update_incumbent(s)
        if self.problem.excess(s) <= FEASIBILITY:
            self.points.append(self.problem.size(s))

    def start(self) -> Loop:
        """Descend from the scales that were loaded, or from a first vertex where they are not feasible."""
        if not np.isfinite(self.value):
            radius, capacity = self.problem.units
            self._solve(capacity, radius, with_costs=self.problem.has_costs)
        if not np.isfinite(self.value):
            raise SolverError(
                f"solver '{self.linear.session.spec.name}' found no scales with a hinge loss of at most E",
                "give a larger E, or take another solver",
            )
        yield from self.descend()

    def _update_incumbent(self, s: Vector) -> bool:
        """Take scales over as incumbent if they are feasible and better; return whether they improve it."""
        value, before = self.problem.value(s), self.value
        if value < before and self.problem.excess(s) <= FEASIBILITY:
            self.s, self.value = s, value
        return self.value < before - IMPROVEMENT * max(1.0, abs(value))

    def _solve(
        self, weight_R: float, weight_W: float, *, with_costs: bool, radius: float | None = None
    ) -> tuple[bool, Cut | None]:
        """Minimise a weighted sum of R and W; return whether the incumbent was improved, and the cut, if any."""
        s, multipliers = self.linear.minimise((weight_R, weight_W), self.problem.costs * with_costs, radius)
        self.programs += 1
        if not with_costs:
            self.points.append(self.problem.size(s))
        cut = None if multipliers is None else Cut(*multipliers, weight_W, with_costs)
        if cut is not None:
            self.cuts.append(cut)
        return self._update_incumbent(s), cut

    def descend(self) -> Loop:
        """Take Frank-Wolfe steps on (R, W) from the incumbent until one does not improve it.

        The gradient of RW at (R, W) is (W, R): each step is one linear program with these weights.
        """
        for _ in range(FRANK_WOLFE_STEPS):
            radius, capacity = self.problem.size(self.s)
            improves, self.stationary = self._solve(capacity, radius, with_costs=self.problem.has_costs)
            yield self.iterate()
            if not improves:
                return

    def close_gap(self, tolerance: float, max_programs: int) -> Within[str]:
        """Solve linear programs until the cuts prove the incumbent optimal; return the stopping criterion that held."""
        if self.problem.lower_bounds[0] > 0:
            yield from self._solve_for_ends()
        before = None
        # Each pass solves a linear program, of which there are at most max_programs, or finds none to solve: then the
        # bound and its radius are those of the last pass, and the loop ends as stalled.
        while True:
            bound, radius = lower_bound(self.problem, self.cuts, self.value)
            stop = "stalled" if before == (bound, radius) else ""
            if self.value - bound <= tolerance * max(1.0, abs(self.value)):
                stop = "optimal"
            elif self.programs >= max_programs:
                stop = "iteration-limit"
            record = {"objective": self.value, "bound": bound, "radius": radius, "linear_programs": self.programs}
            yield self.iterate(record, stop)
            if stop:
                return stop
            before = bound, radius
            if self.problem.has_costs:
                radius = max(radius, self._smallest_radius())
                improves, _ = self._solve(0.0, radius, with_costs=True, radius=radius)
            else:
                improves = self._refine_chord(radius)
            if improves:
                yield from self.descend()

    def _solve_for_ends(self) -> Loop:
        """Solve for both ends of the frontier, and with costs for the best point at the minimum radius."""
        smallest_R = self._solve_for_minima()
        if self.problem.has_costs:
            slope, radius = smallest_R.proved(self.problem)[0], self._smallest_radius()
            _, cut = self._solve(0.0, radius, with_costs=True, radius=radius)
            assert cut is not None
            # Every nonnegative combination of cuts holds. This multiple of the cut on R alone makes the sum so steep
            # that its bound does not fall to the left of the minimum radius. In extreme units the multipliers of the
            # ball are rounded to 0, and there is no such cut.
            if radius * slope > 0.0:
                share = max(cut.proved(self.problem)[2], self.value) / (radius * slope)
                self.cuts.append(Cut(cut.mu + share * smallest_R.mu, cut.beta + share * smallest_R.beta, radius, True))
            yield from self.descend()

    def _solve_for_minima(self) -> Cut:
        """Minimise R, and W where no cut bounds it alone; return the cut of the first."""
        _, smallest_R = self._solve(1.0, 0.0, with_costs=False)
        if all(cut.priced or cut.beta.any() for cut in self.cuts):
            self._solve(0.0, 1.0, with_costs=False)
        if smallest_R is None:
            raise no_multipliers(self.linear.session.spec.name, self.linear.session.problem_class)
        return smallest_R

    def _smallest_radius(self) -> float:
        """Return the smallest radius found, raised by rounding, so that a program with it as bound stays feasible."""
        return min(radius for radius, _ in self.points) * (1.0 + NEAR)

    def _refine_chord(self, radius: float) -> bool:
        """Solve for the vertex of the frontier that is furthest below the chord over a radius."""
        vertices = lower_hull(self.points)
        if len(vertices) < 2:
            return False
        k = int(np.clip(np.searchsorted(vertices[:, 0], radius), 1, len(vertices) - 1))
        (left, high), (right, low) = vertices[k - 1], vertices[k]
        improves, _ = self._solve(high - low, right - left, with_costs=False)
        return improves

    def find_frontier(self, max_programs: int) -> Within[str]:
        """Solve for all vertices of the frontier of (R, W): for each chord, until no point lies below it.

        Returns the limit that was reached; empty where all were found.
        """
        self._solve_for_minima()
        chords = list(pairwise(map(tuple, lower_hull(self.points).tolist())))
        # Each pass solves a linear program, of which there are at most max_programs, or drops a chord: one of two
        # chords that replace another is shorter by more than NEAR, so that no chord comes back.
        while chords:
            if self.programs >= max_programs:
                return "iteration-limit"
            (left, high), (right, low) = chords.pop()
            if right - left <= NEAR * right or high - low <= NEAR * high:
                continue
            self._solve(high - low, right - left, with_costs=False)
            yield self.iterate()
            R, W = self.points[-1]
            below = (high - low) * (R - left) + (right - left) * (W - high)
            if below < -NEAR * (high - low) * right:
                chords += [((left, high), (R, W)), ((R, W), (right, low))]
        return ""

    def certified(self, scaling: str, tolerance: float) -> tuple[Status, float | None, Certificate]:
        """Return status, lower bound and certificate of the incumbent: stationary where ``local``, else global."""
        if scaling == "local":
            certificate = certify_stationary(self.problem, self.s, self.stationary)
            stationary = certificate.ok and certificate.kind is Kind.KKT
            return Status.STATIONARY if stationary else Status.FEASIBLE, None, certificate
        bound, _ = lower_bound(self.problem, self.cuts, self.value)
        certificate = certify_scaling(self.problem, self.s, self.cuts, bound, tolerance)
        return Status.OPTIMAL if certificate.ok else Status.FEASIBLE, bound, certificate


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
    # below those, and tau <= 1, bounds the linearisation from below.
    share = min(1.0, capacity / max(slope, 1e-300), radius / delta)
    here = value + radius * capacity
    residuals["first order"] = max(here - share * proved, 0.0) / max(1.0, here)
    return make(Kind.KKT, residuals, objective=value)


SCALINGS = ("local", "global")
FRONTIER = "frontier"


@loop
def kernel_scaling(
    data: Dataset,
    *,
    w: ArrayLike,
    b: float,
    e_cap: float | None = None,
    c: float = 0.0,
    scaling: str = "global",
    tolerance: float = 1e-6,
    max_programs: int = 1000,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Minimise the product of squared radius and squared norm over the scales of the features, problem (15).

    .. math::

        \min_{s, \xi \ge 0} R(s)\,W(s) + c\,e's \quad\text{s.t.}\quad
        y_i\Big(\sum_j s_j w_j x_{ij} + b\Big) \ge 1 - \xi_i,\quad e'\xi \le E, \qquad
        R(s) = \max_i \sum_j s_j x_{ij}^2,\quad W(s) = \sum_j s_j w_j^2

    A local search takes Frank-Wolfe steps from s = e: linear programs with the weights (W, R) of the last iterate on
    (R, W). A global search continues with further programs. For c = 0 the optimum is a vertex of the frontier of
    (R, W): the programs prove an outer polygon of it, which is refined below the chord over its vertex with the
    smallest product. For c > 0 programs at single radii (R bounded, W with the weight R) bound the value as a function
    of the radius, see :mod:`fsopt.certificates.kernel_scaling.bounds`; the radius with the smallest bound comes next.

    Parameters
    ----------
    data : the samples.
    w, b : (p,) and scalar, the hyperplane.
    e_cap : E >= 0; the hinge loss of the hyperplane by default.
    c : >= 0, cost of each scale.
    scaling : ``global`` (default), ``local``, or ``frontier``: global, and all vertices of the frontier of (R, W), not
        only those that the certificate needs.
    tolerance : stop when ``upper - lower <= tolerance * max(1, upper)``.
    max_programs : largest number of linear programs.
    run : solver (any for LP that returns multipliers), options, time limit, progress. After a limit the answer is
        feasible, with its bound.

    Returns
    -------
    DriverResult
        ``optimal`` where the cuts close the gap, verified numerically; ``stationary`` for a local answer whose
        first-order condition holds; else ``feasible``. The point holds ``s``, ``radius`` R, ``capacity`` W,
        ``frontier`` (k, 2), the vertices (R, W) that were found, and the ``cuts`` behind the bound.

    Raises
    ------
    ParameterError : another word for scaling, a vector of the wrong length, or a number outside its range.
    SolverError : a linear program that was not solved (no scales reach E), or a solver without multipliers.

    Notes
    -----
    Bi, problem (15), linear kernel; its text has a local solver for it. R is the squared radius.
    """
    word("parameter 'scaling' of 'kernel_scaling'", scaling, (*SCALINGS, FRONTIER))
    weights = vector("kernel_scaling", "w", w, data.p)
    b = number("kernel_scaling", "b", b)
    c = number("kernel_scaling", "c", c)
    risk = hinge(data.X @ weights + b, data.y) if e_cap is None else number("kernel_scaling", "e_cap", e_cap)
    problem = ScalingProblem(data, weights, b, risk, np.full(data.p, c), np.full(data.p, True))
    session = run.open(build_kernel_scaling_step(data, w=weights, b=b, e_cap=risk, c=c))
    recorder = Recorder([session], run)
    search = OuterApproximation(problem, WholeProgram(session, recorder))
    search.load(np.ones(data.p))
    _, stop = yield from run_loop(rescale(search, scaling, tolerance, max_programs), recorder)
    status, bound, certificate = search.certified(scaling, tolerance)
    if bound is not None:
        stop = closed(stop, relative_gap(search.value, bound), tolerance)
    radius, capacity = problem.size(search.s)
    point = {
        "s": search.s,
        "radius": radius,
        "capacity": capacity,
        "frontier": lower_hull(search.points),
        "cuts": search.cuts,
    }
    return recorder.end(status, stop, objective=search.value, bound=bound, point=point, certificate=certificate)


def rescale(search: OuterApproximation, scaling: str, tolerance: float, max_programs: int) -> Loop:
    """Yield the incumbents of (15), first the scales that were loaded, if they are one."""
    yield search.iterate()
    # Frank-Wolfe steps on (R, W).
    yield from search.start()
    if scaling == "local":
        record = {"objective": search.value, "linear_programs": search.programs}
        yield search.iterate(record, "settled")
        return
    # Cuts below the frontier of (R, W), until they prove the incumbent optimal; then its other vertices.
    stop = yield from search.close_gap(tolerance, max_programs)
    if scaling == FRONTIER:
        stop = (yield from search.find_frontier(max_programs)) or stop
    yield search.iterate(stop=stop)
