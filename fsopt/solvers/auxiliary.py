r"""Evidence for the word of a solver, found by another one: multipliers, Farkas vectors, rays, fixed integers.

A convex program is called optimal, infeasible or unbounded by what can be recomputed from its arrays, not by the word
of the solver that was called. Where that solver returns no multipliers, no Farkas vector or no ray, an auxiliary
program gives them:

* optimal: the program itself, in a solver that returns multipliers;
* infeasible: the same, for its Farkas vector;
* unbounded: the direction d in the unit box with the steepest descent among the recession directions,

  .. math:: \min_d\ c'd \quad\text{s.t.}\quad Pd = 0,\ Ad \in \mathrm{rec}[\ell, u],\ Gd \in K,\
            d \in \mathrm{rec}[\mathrm{lb}, \mathrm{ub}],\ -1 \le d \le 1,

  and a feasible point, from the program without its objective.

The incumbent of a program with integers is solved again with its integers fixed, so that no tolerance hides in a
product with an integer.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from fsopt.answers.results import Point, Status
from fsopt.certificates.convex import farkas, recession
from fsopt.certificates.model import certify_point, fixed_program
from fsopt.certificates.residuals import primal_residual
from fsopt.common import clock
from fsopt.compiler import Program
from fsopt.compiler.classes import CONVEX, program_class
from fsopt.errors import SolverError
from fsopt.solvers.connection import Connection
from fsopt.solvers.interface import Outcome, Settings
from fsopt.solvers.proof_programs import recession_program
from fsopt.solvers.registry import preference
from fsopt.solvers.shared import without_objective
from fsopt.typing import Vector

FEASIBLE = 1e-6
"""Largest primal residual of a point that counts as feasible."""
SECOND_OPINION = 10.0
"""Time limit, in seconds, of another solver for a feasible point of a program that the first called infeasible."""
ROUNDING = 1e-12
"""Largest residual of a Farkas vector that is rounding."""


def supplement(
    program: Program, outcome: Outcome, settings: Settings, time_limit: float | None, solver: str
) -> Outcome:
    """Return an outcome with the evidence that its solver did not return, as far as auxiliary solves find it.

    Parameters
    ----------
    outcome : of the solver that was called.
    settings : its settings; auxiliary solves take the tolerance and the threads from them.
    time_limit : seconds of the whole solve; all auxiliary solves together have what is left of it, and at least a
        second.
    solver : name of the solver that was called.
    """
    started = time.perf_counter()
    rest = None if time_limit is None else max(time_limit - outcome.seconds, 1.0)
    with clock.limited(rest, extend=True):
        outcome = _supplement(program, outcome, settings, solver)
    return replace(outcome, seconds=outcome.seconds + time.perf_counter() - started)


def _supplement(program: Program, outcome: Outcome, settings: Settings, solver: str) -> Outcome:
    settings = Settings(tolerance=settings.tolerance, threads=settings.threads, seed=settings.seed)
    if program_class(program) in CONVEX:
        return _convex(program, outcome, settings)
    if outcome.point is not None and program.discrete:
        return _fixed(program, outcome, outcome.point.x, settings)
    free = np.zeros_like(program.integer)
    relaxed = replace(program, integer=free, ordered=[], unsupported=program.refused)
    relaxation = program_class(relaxed) in CONVEX
    if outcome.status is Status.UNBOUNDED and relaxation:
        return _unbounded_relaxation(relaxed, outcome, settings)
    if outcome.status is Status.INFEASIBLE:
        ray = _farkas_vector(relaxed, settings) if relaxation else None
        return replace(outcome, ray=ray) if ray is not None else _doubted(program, outcome, settings, solver)
    return outcome


def _farkas_vector(relaxed: Program, settings: Settings) -> Point | None:
    """Return a Farkas vector of a convex relaxation, which excludes the points of the program too; None without one."""
    found = _solved(relaxed, settings)
    ray = None if found is None else found[0].ray
    return ray if ray is not None and farkas(relaxed, ray).ok else None


def _unbounded_relaxation(relaxed: Program, outcome: Outcome, settings: Settings) -> Outcome:
    """Return the outcome without its status where the relaxation of the integers has no direction of descent.

    A program is unbounded only if its relaxation is. The converse holds for rational numbers and a program with a
    point, which stays the word of the solver.
    """
    if _unbounded(relaxed, outcome, settings).direction is not None:
        return outcome
    message = f"{outcome.message}, but no direction of descent of the relaxation was found"
    return replace(outcome, status=Status.NONE, stop="numerical", message=message)


def _convex(program: Program, outcome: Outcome, settings: Settings) -> Outcome:
    point = outcome.point
    if point is not None and outcome.evidence is None and (point.y is None or point.z is None):
        found = _solved(program, settings)
        if found is not None and found[0].point is not None and found[0].point.y is not None:
            return replace(outcome, evidence=found[0].point, evidence_source=found[1])
    if outcome.status is Status.INFEASIBLE:
        return _infeasible(program, outcome, settings)
    if outcome.status is Status.UNBOUNDED:
        return _unbounded(program, outcome, settings)
    return outcome


def _infeasible(program: Program, outcome: Outcome, settings: Settings) -> Outcome:
    """Return the outcome with a Farkas vector, or without its status where another solver finds a feasible point.

    A Farkas vector with the residual r excludes points of less than about 1/r units. One from an interior point is no
    better than 1e-8 or so, and programs in extreme units have points farther away: a second solver is called, unless
    the vector holds up to rounding.
    """
    held = np.inf if outcome.ray is None else farkas(program, outcome.ray).worst
    if held <= ROUNDING:
        return outcome
    found = _solved(program, settings)
    if found is None:
        return outcome
    other, name = found
    if other.point is not None and primal_residual(program, other.point.x) <= FEASIBLE:
        return _contradicted(outcome, name)
    if other.ray is not None and farkas(program, other.ray).worst < held:
        return replace(outcome, ray=other.ray, evidence_source=name)
    return outcome


def _doubted(program: Program, outcome: Outcome, settings: Settings, solver: str) -> Outcome:
    """Return the outcome without its status where another solver finds a feasible point of a program with no proof."""
    goal = without_objective(program)
    for spec in preference(program_class(goal), goal):
        if not spec.available or spec.name == solver:
            continue
        try:
            found = Connection(spec, goal, settings).solve(clock.left(SECOND_OPINION)).point
        except SolverError:
            continue
        if found is not None and certify_point(goal, found).residuals["primal"] <= FEASIBLE:
            return _contradicted(outcome, spec.name)
        break
    return outcome


def _contradicted(outcome: Outcome, other: str) -> Outcome:
    message = f"{outcome.message}, but {other} found a feasible point"
    return replace(outcome, status=Status.NONE, stop="numerical", ray=None, message=message)


def _solved(program: Program, settings: Settings, *, duals: bool = True) -> tuple[Outcome, str] | None:
    """Return the outcome of the first installed solver of the class that solves a program, and its name."""
    best = None
    for spec in preference(program_class(program)):
        if not spec.available or (duals and not spec.duals):
            continue
        try:
            outcome = Connection(spec, program, settings).solve(clock.left())
        except SolverError:
            continue
        if outcome.point is not None or (outcome.ray is not None and farkas(program, outcome.ray).ok):
            return outcome, spec.name
        best = best or (outcome, spec.name)
    return best


def _unbounded(program: Program, outcome: Outcome, settings: Settings) -> Outcome:
    """Return the outcome with a recession direction of descent and a feasible point, where both are found.

    Where a Farkas vector shows that there is no point, the program is infeasible, whatever its solver said.
    """
    steepest = _solved(recession_program(program), settings, duals=False)
    start = _solved(without_objective(program), settings, duals=False)
    if start is not None and start[0].ray is not None and farkas(program, start[0].ray).ok:
        message = f"{outcome.message}, but {start[1]} found a Farkas vector"
        return replace(outcome, status=Status.INFEASIBLE, stop="infeasible", ray=start[0].ray, message=message)
    if steepest is None or start is None or steepest[0].point is None or start[0].point is None:
        return outcome
    direction, x = steepest[0].point.x, start[0].point.x
    if not recession(program, direction).ok or primal_residual(program, x) > FEASIBLE:
        return outcome
    return replace(outcome, direction=Point(direction), evidence=Point(x), evidence_source=steepest[1])


def _fixed(program: Program, outcome: Outcome, incumbent: Vector, settings: Settings) -> Outcome:
    """Return the outcome with the best point at the integers of its incumbent (n,), and that program's multipliers."""
    rest = fixed_program(program, incumbent)
    if program_class(rest) not in CONVEX:
        return outcome
    found = _solved(rest, settings)
    if found is None or found[0].point is None or found[0].point.y is None:
        return outcome
    best = found[0].point
    x = np.where(rest.lb == rest.ub, rest.lb, best.x)
    return replace(outcome, point=Point(x), evidence=Point(x, best.y, best.z), evidence_source=found[1])
