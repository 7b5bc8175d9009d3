"""Driver ``kernel_scaling``: problem (15) of Bi, locally by Frank-Wolfe steps, or to its global optimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.answers.certificate import WORD, Certificate, Kind, reason_to_stop
from fsopt.answers.results import DriverResult, Status
from fsopt.certificates.kernel_scaling import (
    Cut,
    ScalingProblem,
    certify_scaling,
    certify_stationary,
    lower_bound,
    lower_hull,
)
from fsopt.certificates.points import of_bounds, relative_gap
from fsopt.common.arguments import word
from fsopt.compiler.values import store
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge
from fsopt.drivers.loop import Iterate, Loop, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.errors import SolverError
from fsopt.models.blocks import number, vector
from fsopt.models.mop.kernel_scaling import build_kernel_scaling, build_kernel_scaling_step
from fsopt.solvers.base import Session
from fsopt.solvers.registry import no_multipliers
from fsopt.typing import Mask, Vector

SCALINGS = ("local", "global")
GLOBAL = "scip"
"""Solver of the model ``kernel-scaling`` where the scales have costs."""
FRANK_WOLFE_STEPS, MAX_PROGRAMS = 20, 1000
"""Largest numbers of steps of a descent, and of linear programs in all."""
GAP = 1e-6
"""Relative optimality gap at which (15) counts as solved globally."""
IMPROVEMENT = 1e-9
"""Relative decrease of the objective value below which a step is none: it is within a solver's tolerance."""
FEASIBILITY = 1e-7
"""Relative excess of the hinge loss over E up to which scales are feasible, above the tolerances of LP solvers."""


class LinearPrograms:
    """The linear programs over the feasible set of problems (15) of one data set: one model, its numbers in place."""

    def __init__(self, data: Dataset, recorder: Recorder, opened: Callable[[pyo.ConcreteModel], Session]) -> None:
        self.recorder = recorder
        self.session = opened(build_kernel_scaling_step(data, w=np.ones(data.p), e_cap=0.0))
        recorder.renew(*recorder.sessions, self.session)

    def load(self, problem: ScalingProblem) -> None:
        """Go on with a problem of the data."""
        self.active, m = problem.active, self.session.model
        store(m.weight, problem.w)
        store(m.w_square, problem.w**2)
        m.e_cap.set_value(problem.e_cap)
        m.b.fix(problem.b)
        _fix_inactive(m, problem.active)
        self.session.update(m.image, m.capacity, m.risk, m.b)

    def minimise(self, weight_R: float, weight_W: float, costs: Vector) -> tuple[Vector, Cut | None]:
        """Minimise a weighted sum of R and W with costs (p,); return the scales (p,), and any multipliers."""
        session, m = self.session, self.session.model
        m.price_R.set_value(weight_R)
        m.price_W.set_value(weight_W)
        store(m.price_s, costs)
        session.update(m.objective)
        point = self.recorder.solve(session, "a linear program of (15)", load=False, checked=False, certify=False).point
        assert point is not None
        s = np.where(self.active, np.maximum(point.x[session.columns(m.s)], 0.0), 0.0)
        if point.y is None:
            return s, None
        mu, beta = (np.maximum(sign * point.y[session.rows(c)], 0.0) for sign, c in ((1, m.margin), (-1, m.ball)))
        return s, Cut(mu, beta, weight_W)


def _fix_inactive(m: pyo.ConcreteModel, active: Mask) -> None:
    """Let the scales of active features alone be positive."""
    for j, may in enumerate(active.tolist()):
        m.s[j].setub(None if may else 0.0)


@dataclass
class Search:
    """The incumbent ``s`` (p,) of one problem (15), its linear programs, and the cuts that they have proved.

    ``points`` are the (R, W) of the start and of the solutions, ``stationary`` the cut of the last Frank-Wolfe step,
    ``bound`` that of the global solver, and ``programs`` the number of linear programs.
    """

    problem: ScalingProblem
    linear: LinearPrograms
    s: Vector = field(default_factory=lambda: np.zeros(0))
    value: float = np.inf
    cuts: list[Cut] = field(default_factory=list)
    points: list[tuple[float, float]] = field(default_factory=list)
    stationary: Cut | None = None
    bound: float = -np.inf
    programs: int = 0

    def iterate(self, stop: str = "", **record: Any) -> Iterate:
        """Return the incumbent, if there is one, as an iterate, with a record where that has fields."""
        point = {"s": self.s} if np.isfinite(self.value) else {}
        return Iterate(self.value, point, record=record or None, stop=stop, within=not record)

    def load(self, s: Vector) -> None:
        """Load the problem, and take the scales s over where they are feasible."""
        self.linear.load(self.problem)
        if self._take(s):
            self.points.append(self.problem.size(s))

    def descend(self) -> Loop:
        """Take Frank-Wolfe steps on (R, W), of the gradient (W, R), from the incumbent or the scales e."""
        for _ in range(FRANK_WOLFE_STEPS):
            radius, capacity = self.problem.size(self.s) if len(self.s) else self.problem.units
            improves, self.stationary = self._solve(capacity, radius)
            if not len(self.s):
                raise SolverError("no scales with a hinge loss of at most E were found", "give a larger E")
            yield self.iterate()
            if not improves:
                return

    def close_gap(self) -> Loop:
        """Solve linear programs until the cuts prove the incumbent optimal: for scales without costs."""
        if self.problem.lower_bounds[0] > 0:
            # The ends of the frontier of (R, W); a cut on W alone may be known before.
            if self._solve(1.0, 0.0)[1] is None:
                raise no_multipliers(self.linear.session.spec.name, "LP")
            if all(cut.beta.any() for cut in self.cuts):
                self._solve(0.0, 1.0)
        before = None
        # Each pass solves a linear program, of which there are at most MAX_PROGRAMS, or finds none to solve: then the
        # bound and its radius are those of the last pass, and the loop ends as stalled.
        while True:
            bound, radius = lower_bound(self.problem, self.cuts, self.value)
            stop = "stalled" if before == (bound, radius) else ""
            if self.value - bound <= GAP * max(1.0, abs(self.value)):
                stop = "optimal"
            elif self.programs >= MAX_PROGRAMS:
                stop = "iteration-limit"
            yield self.iterate(stop, objective=self.value, bound=bound, radius=radius, linear_programs=self.programs)
            if stop:
                return
            before = bound, radius
            # The vertex of the frontier that is furthest below the chord over the radius.
            vertices = lower_hull(self.points)
            if len(vertices) > 1:
                k = int(np.clip(np.searchsorted(vertices[:, 0], radius), 1, len(vertices) - 1))
                (left, high), (right, low) = vertices[k - 1], vertices[k]
                self._solve(high - low, right - left)

    def ask_solver(self) -> Loop:
        """Solve the model of (15) by a global solver, and descend from its scales: for scales with costs."""
        at, recorder = self.problem, self.linear.recorder
        low_R, low_W = at.lower_bounds
        self.bound = 0.0
        if low_R > 0 and low_W > 0:
            model = build_kernel_scaling(at.data, w=at.w, b=at.b, e_cap=at.e_cap)
            store(model.price_s, at.costs)
            _fix_inactive(model, at.active)
            for variable, low, other in ((model.R, low_R, low_W), (model.W, low_W, low_R)):
                variable.setlb((1.0 - FEASIBILITY) * low)
                variable.setub((1.0 + FEASIBILITY) * self.value / other)
            result = recorder.solve_once(Session(model, GLOBAL), "problem (15)", mip_gap=0.1 * GAP)
            self.bound = -np.inf if result.bound is None else result.bound
            self._solve(*at.size(np.array([v.value for v in model.s.values()]))[::-1])
            yield from self.descend()
        near = self.value - self.bound <= GAP * max(1.0, abs(self.value))
        stop = "optimal" if near else "stalled"
        yield self.iterate(stop, objective=self.value, bound=self.bound, linear_programs=self.programs)

    def certified(self, scaling: str) -> tuple[Status, float | None, Certificate]:
        """Return status, lower bound and certificate of the incumbent: stationary where ``local``, else global."""
        if scaling == "local":
            certificate = certify_stationary(self.problem, self.s, self.stationary)
            stationary = certificate.ok and certificate.kind is Kind.KKT
            return Status.STATIONARY if stationary else Status.FEASIBLE, None, certificate
        if self.problem.has_costs:
            bound = None if np.isinf(self.bound) else self.bound
            risk, source = {"risk": self.problem.excess(self.s)}, f"{WORD}{GLOBAL}"
            certificate = of_bounds(Kind.GLOBAL, risk, self.value, self.bound, tolerance=GAP, source=source)
        else:
            bound, _ = lower_bound(self.problem, self.cuts, self.value)
            certificate = certify_scaling(self.problem, self.s, self.cuts, bound, GAP)
        return Status.OPTIMAL if certificate.ok else Status.FEASIBLE, bound, certificate

    def _solve(self, weight_R: float, weight_W: float) -> tuple[bool, Cut | None]:
        """Minimise a weighted sum of R and W; return whether the incumbent was improved, and the cut, if any."""
        s, cut = self.linear.minimise(weight_R, weight_W, self.problem.costs)
        self.programs += 1
        self.points.append(self.problem.size(s))
        self.cuts += [] if cut is None else [cut]
        return self._take(s), cut

    def _take(self, s: Vector) -> bool:
        """Take scales over as incumbent if they are feasible and better; return whether they improve it."""
        value, before = self.problem.value(s), self.value
        if value < before and self.problem.excess(s) <= FEASIBILITY:
            self.s, self.value = s, value
        return self.value < before - IMPROVEMENT * max(1.0, abs(value))


def rescale(search: Search, scaling: str) -> Loop:
    """Yield the incumbents of (15), first the scales that were loaded, if they are one."""
    yield search.iterate()
    yield from search.descend()
    if scaling == "local":
        yield search.iterate("settled", objective=search.value, linear_programs=search.programs)
    elif search.problem.has_costs:
        yield from search.ask_solver()
    else:
        yield from search.close_gap()


@loop
def kernel_scaling(
    data: Dataset,
    *,
    w: ArrayLike,
    b: float,
    e_cap: float | None = None,
    c: float = 0.0,
    scaling: str = "global",
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Minimise the product of squared radius and squared norm over the scales of the features, problem (15).

    .. math::

        \min_{s, \xi \ge 0} R(s)\,W(s) + c\,e's \quad\text{s.t.}\quad
        y_i\Big(\sum_j s_j w_j x_{ij} + b\Big) \ge 1 - \xi_i,\quad e'\xi \le E, \qquad
        R(s) = \max_i \sum_j s_j x_{ij}^2,\quad W(s) = \sum_j s_j w_j^2

    A local search takes Frank-Wolfe steps from s = e: linear programs with the weights (W, R) of the last iterate on
    (R, W). For c = 0 the optimum is a vertex of the frontier of (R, W), and a global search continues with further
    programs: they prove an outer polygon of it, which is refined below the chord over its vertex with the smallest
    product. For c > 0 it continues with the model ``kernel-scaling`` by SCIP, whose scales the steps go on from.

    Parameters
    ----------
    data : the samples.
    w, b : (p,) and scalar, the hyperplane.
    e_cap : E >= 0; the hinge loss of the hyperplane by default.
    c : >= 0, cost of each scale.
    scaling : ``global`` (default) or ``local``.
    run : solver (any for LP that returns multipliers), options, time limit, progress. After a limit the answer is
        feasible, with its bound.

    Returns
    -------
    DriverResult
        ``optimal`` for c = 0 where the cuts close the gap, verified numerically, and for c > 0 where SCIP's lower
        bound does, which is SCIP's word; ``stationary`` for a local answer whose first-order condition holds; else
        ``feasible``. The point has ``s``, the squared ``radius`` R, ``capacity`` W, and the ``cuts`` behind the bound.

    Raises
    ------
    ParameterError : another word for scaling, a vector of the wrong length, or a number outside its range.
    SolverError : a linear program that was not solved (no scales reach E), a solver without multipliers, or no SCIP.

    Notes
    -----
    Bi, problem (15), linear kernel; its text has a local solver for it. R is the squared radius.
    """
    word("parameter 'scaling' of 'kernel_scaling'", scaling, SCALINGS)
    weights = vector("kernel_scaling", "w", w, data.p)
    b = number("kernel_scaling", "b", b)
    c = number("kernel_scaling", "c", c)
    risk = hinge(data.X @ weights + b, data.y) if e_cap is None else number("kernel_scaling", "e_cap", e_cap)
    problem = ScalingProblem(data, weights, b, risk, np.full(data.p, c), np.full(data.p, True))
    recorder = Recorder([], run)
    search = Search(problem, LinearPrograms(data, recorder, run.open))
    search.load(np.ones(data.p))
    _, stop = yield from run_loop(rescale(search, scaling), recorder)
    status, bound, certificate = search.certified(scaling)
    if bound is not None:
        stop = reason_to_stop(stop, relative_gap(search.value, bound), GAP)
    radius, capacity = problem.size(search.s)
    point = {"s": search.s, "radius": radius, "capacity": capacity, "cuts": search.cuts}
    return recorder.end(status, stop, objective=search.value, bound=bound, point=point, certificate=certificate)
