r"""Evidence for the word of a solver, found by another one: multipliers, Farkas vectors, rays, fixed integers.

A convex program is called optimal, infeasible or unbounded by what can be recomputed from its arrays, not by the word
of the solver that was called. Where that solver returns no multipliers, no Farkas vector or no ray, an auxiliary
program gives them:

* optimal: the program itself, in the first other solver whose multipliers close the gap;
* infeasible: the same, for its Farkas vector, also where the solver has no word for it and a point that is none;
* unbounded: the direction d in the unit box with the steepest descent among the recession directions,

  .. math:: \min_d\ c'd \quad\text{s.t.}\quad Pd = 0,\ Ad \in \mathrm{rec}[\ell, u],\ Gd \in K,\
            d \in \mathrm{rec}[\mathrm{lb}, \mathrm{ub}],\ -1 \le d \le 1,

  and a feasible point, from the program without its objective.

Points and multipliers are mended (:mod:`fsopt.solvers.mending`) before they count. The incumbent of a program with
integers is solved again with its integers fixed, so that no tolerance hides in a product with an integer. A search that
fails leaves the answer as the solver gave it, and the message says so.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from fsopt.answers.certificate import FEASIBLE, Kind
from fsopt.answers.results import Point, Status
from fsopt.certificates.bounds import Box, cleaned, farkas, reduced_costs
from fsopt.certificates.convex import certify_convex
from fsopt.certificates.model import certify_point, certify_unbounded, fixed_program
from fsopt.certificates.near import moved
from fsopt.certificates.points import infeasibility, judged_point, minimised
from fsopt.common import clock
from fsopt.compiler import Program
from fsopt.compiler.classes import CONVEX, program_class, smoothly_convex
from fsopt.errors import SolverError, said
from fsopt.solvers.mending import closes, inwards, linear_first, mended, mended_ray, newton_step, stationary
from fsopt.solvers.registry import preference
from fsopt.solvers.shared import elastic_program, recession_program, without_objective
from fsopt.solvers.spec import Connection, Outcome, Settings
from fsopt.typing import Vector

SHARE = 5.0
"""Largest cost of a mend, in the seconds of the solve; at least ``BRIEF``."""
BRIEF = 10.0
NOISE = 1e-9
"""Share of the largest entry of a direction up to which an entry may be rounding noise."""
SMALL = 1000
"""Most variables of a convex program with nonlinear functions whose point takes a step of dense linear algebra."""


def with_evidence(
    program: Program, outcome: Outcome, settings: Settings, time_limit: float | None, solver: str
) -> Outcome:
    """Return an outcome with the evidence that its solver did not return, as far as the time left finds it."""
    started = time.perf_counter()
    rest = None if time_limit is None else max(time_limit - outcome.seconds, 1.0)
    try:
        with clock.limited(rest, extend=True):
            outcome = _evidence_added(program, outcome, settings, solver)
    except Exception as error:  # the first answer stays, whatever the search for its evidence ends in
        outcome = replace(outcome, failed=f"the search for evidence failed: {said(error)}")
    return replace(outcome, seconds=outcome.seconds + time.perf_counter() - started)


def nearest(program: Program, x: Vector, step: Point | None) -> Vector:
    """Return the point (n,) next to x that meets every constraint, at a step's multipliers; or SolverError."""
    if infeasibility(program, x) > FEASIBLE:
        terms = None
        if step is not None and step.y is not None and step.z is not None:
            terms = reduced_costs(program, x, *cleaned(program, step))[0].terms
        x = moved(program, x, time.perf_counter() + BRIEF, terms)
        if infeasibility(program, x) > FEASIBLE:
            raise SolverError("no point near that of the solver meets every constraint", "try another solver")
    return judged_point(program, x)


def _evidence_added(program: Program, outcome: Outcome, settings: Settings, solver: str) -> Outcome:
    known = "" if settings.own else solver
    settings = Settings(tolerance=settings.tolerance, threads=settings.threads, seed=settings.seed)
    deadline = time.perf_counter() + max(SHARE * outcome.seconds, BRIEF)
    if program_class(program) in CONVEX:
        found = _convex(program, outcome, settings, deadline, known)
        return _settled(program, found, _elastic(program, found, settings), settings, deadline)
    if outcome.point is not None:
        return _fixed(program, _moved(program, outcome, deadline), settings, deadline)
    relaxed = replace(program, integer=np.zeros_like(program.integer))
    return _without_point(program, relaxed, outcome, settings, deadline)


def _without_point(
    program: Program, relaxed: Program, outcome: Outcome, settings: Settings, deadline: float
) -> Outcome:
    """Return the outcome without a point with a proof of it by the relaxation of the program, where that is convex."""
    if outcome.status is Status.UNBOUNDED and program_class(relaxed) in CONVEX:
        return _unbounded(program, relaxed, outcome, settings, deadline)
    if outcome.status is Status.INFEASIBLE and program_class(relaxed) in CONVEX:
        return _infeasible(relaxed, outcome, settings, deadline)
    return outcome


def _convex(program: Program, outcome: Outcome, settings: Settings, deadline: float, known: str) -> Outcome:
    if outcome.point is None:
        if outcome.status in (Status.INFEASIBLE, Status.UNBOUNDED) or outcome.stop != "numerical":
            return _without_point(program, program, outcome, settings, deadline)
        return _settled(program, outcome, _solved(program, settings, known=known), settings, deadline)
    boxes: dict[float, Box] = {}
    point = mended(program, outcome.point, deadline, boxes)
    if infeasibility(program, point.x) > FEASIBLE:
        inner = _solved(without_objective(program), settings, duals=False)
        if inner is not None and inner[0].point is None:
            return _settled(program, outcome, inner, settings, deadline)
        if inner is not None and inner[0].point is not None:
            ends = (inwards(program, x, inner[0].point.x) for x in (point.x, outcome.point.x))
            best = min(ends, key=lambda x: (infeasibility(program, x) > FEASIBLE, minimised(program, x)))
            point = replace(point, x=best)
    outcome = _with_point(program, outcome, point)
    if infeasibility(program, point.x) > FEASIBLE:
        return outcome
    if point.y is not None and closes(program, judged_point(program, point.x), point, boxes):
        return outcome
    found = _solved(program, settings, known="" if point.y is None else known)
    if found is None or found[0].point is None or found[0].point.y is None:
        return _settled(program, outcome, found, settings, deadline)
    pair = mended(program, found[0].point, time.perf_counter() + max(SHARE * found[0].seconds, BRIEF))
    if point.y is None or certify_convex(program, point.x, pair, "").ok:
        # Where the solver has multipliers, they are those that certify: loops read them from the point.
        own = Point(point.x) if point.y is None else Point(point.x, pair.y, pair.z)
        return replace(outcome, point=own, evidence=pair, evidence_source=found[1])
    return outcome


def _elastic(program: Program, outcome: Outcome, settings: Settings) -> tuple[Outcome, str] | None:
    """Return the multipliers of the smallest violation as a Farkas vector, for an outcome that no evidence supports."""
    point, ray = outcome.point, outcome.ray
    feasible = point is not None and infeasibility(program, point.x) <= FEASIBLE
    proved = outcome.direction is not None or (ray is not None and farkas(program, ray).ok)
    if feasible or proved or outcome.stop in ("time-limit", "interrupted"):
        return None
    # Right-hand sides of any size: x = size * x' leaves the multipliers as they are.
    ends = {name: getattr(program, name) for name in ("lo", "hi", "lb", "ub")} | {"h": program.cones.h}
    size = max(float(np.abs(v[np.isfinite(v)]).max(initial=0.0)) for v in ends.values()) or 1.0
    cones = replace(program.cones, h=ends.pop("h") / size)
    found = _solved(elastic_program(replace(program, cones=cones, **{k: v / size for k, v in ends.items()})), settings)
    if found is None or found[0].point is None:
        return None
    return replace(found[0], status=Status.INFEASIBLE, ray=found[0].point, point=None), found[1]


def _settled(
    program: Program, outcome: Outcome, found: tuple[Outcome, str] | None, settings: Settings, deadline: float
) -> Outcome:
    """Return the outcome as infeasible or unbounded where another solver says so by evidence that holds."""
    if found is None:
        return outcome
    other, name = found
    ray = None if other.ray is None else mended_ray(program, other.ray, deadline)
    if ray is not None:
        ended = replace(outcome, status=Status.INFEASIBLE, stop="infeasible", ray=ray, evidence_source=name)
    elif other.status is Status.UNBOUNDED:
        unbounded = replace(outcome, status=Status.UNBOUNDED, stop="unbounded")
        ended = _unbounded(program, program, unbounded, settings, deadline)
        if ended.direction is None and ended.ray is None:
            return outcome
    else:
        return outcome
    return replace(ended, point=None, message=f"{outcome.message}, but {name} found it {ended.status}")


def _with_point(program: Program, outcome: Outcome, point: Point) -> Outcome:
    """Return an outcome with a mended point, and the words for it where it is another point."""
    old = outcome.point
    if old is None or infeasibility(program, old.x) <= FEASIBLE:
        return replace(outcome, point=point)
    away = float(np.abs(point.x - old.x).max(initial=0.0))
    words = f"the point was moved by at most {away:.1e} to meet every constraint"
    return replace(outcome, point=point, message="; ".join(part for part in (outcome.message, words) if part))


def _moved(program: Program, outcome: Outcome, deadline: float) -> Outcome:
    """Return an outcome with a point that meets every constraint, as far as the least change goes, and no noise."""
    point = outcome.point
    if point is not None and infeasibility(program, point.x) > FEASIBLE:
        prices = linear_first(program, point.x)
        for terms in (prices,) if outcome.bound is None else (None, prices):
            x = moved(program, point.x, deadline, terms)
            if infeasibility(program, x) <= FEASIBLE:
                break
        outcome = _with_point(program, outcome, replace(point, x=x))
        point = outcome.point
    if point is None or point.y is None or outcome.bound is not None:
        return outcome
    found = certify_point(program, point)
    if found.kind is Kind.KKT and program.n <= SMALL and smoothly_convex(program):
        step = newton_step(program, point)
        if certify_point(program, step).kind is Kind.CONVEX:
            return replace(outcome, point=step)
    if found.ok:
        return outcome
    settled = stationary(program, point, deadline)
    return replace(outcome, point=settled) if certify_point(program, settled).ok else outcome


def _infeasible(program: Program, outcome: Outcome, settings: Settings, deadline: float) -> Outcome:
    """Return the outcome with a Farkas vector that holds, where one is found."""
    ray = None if outcome.ray is None else mended_ray(program, outcome.ray, deadline)
    if ray is not None:
        return replace(outcome, ray=ray)
    found = _solved(without_objective(program), settings)  # with it a solver may see a free direction first
    if found is None or found[0].ray is None:
        return outcome
    ray = mended_ray(program, found[0].ray, deadline)
    return outcome if ray is None else replace(outcome, ray=ray, evidence_source=found[1])


def _solved(program: Program, settings: Settings, *, duals: bool = True, known: str = "") -> tuple[Outcome, str] | None:
    """Return the outcome of the first installed solver but ``known`` that solves a program, and its name."""
    best = None
    for spec in preference(program_class(program)):
        if spec.name == known and spec.finer:  # it solves again, at a finer tolerance
            break
        if not spec.available or (duals and not spec.duals) or spec.name == known:
            continue
        try:
            outcome = Connection(spec, program, settings).solve(clock.left())
        except SolverError:
            continue
        if outcome.point is not None or outcome.ray is not None or outcome.status is Status.UNBOUNDED:
            return outcome, spec.name
        best = best or (outcome, spec.name)
    return best


def _unbounded(program: Program, relaxed: Program, outcome: Outcome, settings: Settings, deadline: float) -> Outcome:
    """Return the outcome with a feasible point and a recession direction of descent, where both are found."""
    # Where a Farkas vector shows that there is no point, the program is infeasible, whatever its solver said.
    steepest = _solved(recession_program(relaxed), settings, duals=False)
    start = _solved(without_objective(program), settings, duals=False)
    if start is not None and start[0].ray is not None and start[0].point is None:
        ray = mended_ray(relaxed, start[0].ray, deadline)
        message = f"{outcome.message}, but {start[1]} found a Farkas vector"
        if ray is not None:
            return replace(outcome, status=Status.INFEASIBLE, stop="infeasible", ray=ray, message=message)
    if steepest is None or start is None or steepest[0].point is None or start[0].point is None:
        return outcome
    direction = moved(recession_program(relaxed), steepest[0].point.x, deadline)
    x = moved(without_objective(program), start[0].point.x, deadline)
    for d in (direction, np.where(np.abs(direction) > NOISE * np.abs(direction).max(), direction, 0.0)):
        if certify_unbounded(program, Point(d), Point(x)).ok:
            return replace(outcome, direction=Point(d), evidence=Point(x), evidence_source=steepest[1])
    return outcome


def _fixed(program: Program, outcome: Outcome, settings: Settings, deadline: float) -> Outcome:
    """Return the outcome with the best point at the integers of its incumbent, and that program's multipliers."""
    if outcome.point is None or not program.discrete:
        return outcome
    rest = fixed_program(program, outcome.point.x)
    if program_class(rest) not in CONVEX:
        return outcome
    found = _solved(rest, settings)
    if found is None or found[0].point is None or found[0].point.y is None:
        return outcome
    best = mended(rest, found[0].point, deadline)
    x = np.where(rest.lb == rest.ub, rest.lb, best.x)
    return replace(outcome, point=Point(x), evidence=Point(x, best.y, best.z), evidence_source=found[1])
