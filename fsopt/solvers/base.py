"""Solving: choose a solver, check the class, translate, call, load, certify; once, or again and again."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.results import SolveResult, Status
from fsopt.common import clock
from fsopt.common.arguments import FLAG, NUMBER, OPTIONS, SECONDS, TEXT, checked, each, optional
from fsopt.common.clock import end_if_interrupted
from fsopt.compiler import Program, compile_model
from fsopt.compiler.classes import program_class, smoothly_convex
from fsopt.compiler.program import COMPONENT, MODEL, ROW, read_constraints, with_objective
from fsopt.compiler.values import STATE, TRANSFORMATIONS, refuse_infinite
from fsopt.errors import FsoptError, ParameterError, SolverError
from fsopt.solvers.auxiliary import with_evidence
from fsopt.solvers.outcome import certified_result, load_values, step_result
from fsopt.solvers.registry import choose
from fsopt.solvers.spec import Change, Connection, Outcome, Settings, SolverSpec
from fsopt.typing import Indices, Vector

ANOTHER = "the model has other components or terms, or other functions than linear and convex quadratic ones"
"""Why a model that was read again is translated anew."""


@checked(time_limit=optional(SECONDS))
def solve(
    model: pyo.ConcreteModel,
    solver: str | None = None,
    *,
    time_limit: float | None = None,
    options: Mapping[str, Any] | None = None,
    tee: bool = False,
) -> SolveResult:
    """Solve a Pyomo model, load the answer into it, and certify the answer.

    Parameters
    ----------
    model : pyo.ConcreteModel
        Any Pyomo model in a class that a registered solver takes, not only fsopt's own.
    solver : str, optional
        Registry name; None takes the preferred installed solver of the model's class.
    time_limit : float, optional
        Seconds; None for no limit.
    options : Mapping[str, Any], optional
        ``tolerance``, ``mip_gap``, ``threads``, ``seed``, and the solver's own by its own names.
    tee : bool, default False
        Show the solver's log.

    Returns
    -------
    SolveResult
        ``optimal`` only where the certificate holds. Values are in the model's variables; shadow prices
        (d objective / d right-hand side) and reduced costs in its suffixes ``dual`` and ``rc``.

    Raises
    ------
    SolverError, OptionError, UnknownNameError : before the solver is called.
    OutOfTimeError : the time limit passed while the model was translated.
    """
    with clock.limited(time_limit):
        return Session(model, solver, options=options, tee=tee).solve(time_limit=time_limit)


class Session:
    """A model that stays translated and loaded in one solver, for loops that change it and solve it again.

    Change the model and :meth:`solve` it again: it is read again, and the solver gets what differs, in place where it
    can. :meth:`add` appends new constraints; :meth:`update` of an objective alone reads nothing else.

    Attributes
    ----------
    spec : the solver's registry entry.
    program : the arrays of the model.
    seconds : total ``translate``, ``update``, ``solve`` and ``load`` seconds.
    rebuilt, requested : why the last update needed a new translation, else empty; whether the caller named the solver.
    """

    @checked(model=MODEL, solver=optional(TEXT), options=optional(OPTIONS), tee=FLAG)
    def __init__(
        self,
        model: pyo.ConcreteModel,
        solver: str | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        tee: bool = False,
    ) -> None:
        started = time.perf_counter()
        self.model, self.requested = model, solver is not None
        self.settings = Settings.make(options, tee=tee)
        self.program = compile_model(model)
        self.problem_class = program_class(self.program)
        self.spec: SolverSpec = self._choose(solver)
        clock.look()
        self.connection, self.rebuilt = Connection(self.spec, self.program, self.settings), ""
        self.seconds = {"build": 0.0, "translate": time.perf_counter() - started, "update": 0.0}
        self.seconds |= {"solve": 0.0, "load": 0.0}

    def _choose(self, solver: str | None) -> SolverSpec:
        for kind, name in self.program.unsupported.items():
            who = "no solver takes" if solver is None else f"solver '{solver}' does not take"
            raise SolverError(
                f"{who} '{self.model.name}' as it is: it has a part of the kind {kind} ('{name}')",
                TRANSFORMATIONS.get(kind, STATE),
            )
        try:
            return choose(solver, self.problem_class, self.model.name, convex=smoothly_convex(self.program))
        except SolverError as error:
            if self.program.nonconic:
                name, reason = self.program.nonconic[0]
                error.message += f" (constraint '{name}': {reason})"
            raise

    @checked(components=each(COMPONENT))
    def update(self, *components: Any) -> None:
        """Read again an objective, where nothing else is named; else the whole model: the solver gets what differs."""
        self.rebuilt = ""
        self._read_again(objective={component.ctype for component in components} == {pyo.Objective})

    def _read_again(self, *, objective: bool = False) -> bool:
        """Read the model, or its objective, and take over what differs; return whether anything does."""
        started = time.perf_counter()
        new = with_objective(self.program) if objective else compile_model(self.model)
        change = difference(self.program, new)
        changed = change is None or change.rows is not None or change != Change()
        if change is None:
            self._rebuild(ANOTHER)
        elif changed:
            for name in ("P", "c", "c0", "A", "lo", "hi", "lb", "ub"):
                setattr(self.program, name, getattr(new, name))
            self._send(change)
        self.seconds["update"] += time.perf_counter() - started
        return changed

    @checked(constraints=each(ROW))
    def add(self, *constraints: Any) -> None:
        """Append linear constraints (data objects, for example of a ConstraintList) at the end of the program."""
        started = time.perf_counter()
        self.rebuilt = ""
        rows = read_constraints(constraints, self.program.column)
        refuse_infinite(rows, [(row.constraint, row.terms) for row in rows])
        if not all(row.terms.linear for row in rows):
            raise ParameterError("only linear constraints can be added to a session", "open a new session")
        self.program.append(rows)
        self._send(Change(added=len(constraints)))
        self.seconds["update"] += time.perf_counter() - started

    @checked(time_limit=optional(SECONDS), load=FLAG, mip_gap=optional(NUMBER), certify=FLAG)
    def solve(
        self,
        *,
        time_limit: float | None = None,
        load: bool = True,
        mip_gap: float | None = None,
        certify: bool = True,
    ) -> SolveResult:
        """Solve the model and certify the answer; what changed, and was not named, is read before.

        ``load=False`` leaves variables and suffixes; ``mip_gap`` is for this call only. ``certify=False`` is for the
        steps of a loop that names its changes: a point that meets the constraints within the tolerance of the solver
        is measured as it comes, without a bound; :meth:`completed` has that of the last step.
        """
        before = dict(self.seconds)
        clock.look()
        if certify:
            self._read_again()
        limit = clock.left(clock.seconds_of(time_limit))
        with clock.limited(limit):
            outcome = self.connection.solve(limit, None if mip_gap is None else float(mip_gap))
            started = time.perf_counter()
            step = None if certify else step_result(self.program, outcome, self.spec.name)
            self.seconds["load"] += time.perf_counter() - started
            outcome = outcome if step else self._with_evidence(outcome, limit)
        end_if_interrupted(outcome.stop)
        self.seconds["solve"] += outcome.seconds
        started = time.perf_counter()
        result = step or self._certified(outcome, limit, mip_gap)
        if load and result.status.solved and result.point is not None:
            load_values(self.program, result.point, result.shadow_prices)
        self.seconds["load"] += time.perf_counter() - started
        seconds = {k: v - before[k] for k, v in self.seconds.items() if k != "update"}
        return replace(result, seconds=seconds | {"translate": self.seconds["translate"]})

    def completed(self, step: SolveResult, x: Vector) -> SolveResult:
        """Return the last step of a loop, by ``solve(certify=False)``, with the evidence that it was without.

        Where its multipliers prove that a point x (n,) of the loop is optimal, that is its point.
        """
        if self._read_again():
            return self.solve(load=False)
        started, found = time.perf_counter(), step
        if step.point is not None and step.bound is None and step.stop in ("optimal", "almost"):
            own = Outcome(Status.OPTIMAL, step.stop, step.point, None, step.iterations, 0.0, step.message)
            found = certified_result(self.program, replace(own, point=replace(step.point, x=x)), step.solver)
            if found.status is not Status.OPTIMAL:
                found = self._certified(self._with_evidence(own, clock.left()), clock.left())
        self.seconds["load"] += time.perf_counter() - started
        return replace(found, seconds=step.seconds)

    def _with_evidence(self, outcome: Outcome, limit: float | None) -> Outcome:
        return with_evidence(self.program, outcome, self.settings, limit, self.spec.name)

    def _certified(self, outcome: Outcome, limit: float | None, mip_gap: float | None = None) -> SolveResult:
        """Return the certified result; where a solver's optimum has none, that of a new start or a finer tolerance."""
        # A solver may contradict its own point after an update in place. Solvers measure residuals in the units of
        # their own equilibration, the certificate relative to the terms of each constraint.
        first = certified_result(self.program, outcome, self.spec.name)
        gap = self.settings.mip_gap if mip_gap is None else mip_gap
        claimed = outcome.status is Status.OPTIMAL and first.status in (Status.FEASIBLE, Status.NONE)
        if not claimed or self.settings.tolerance is not None or gap > Settings.mip_gap:
            return first
        ends = math.inf if limit is None else time.perf_counter() + limit - outcome.seconds
        for tolerance in (*(None,) * self.connection.updated, *self.spec.finer):
            left = None if limit is None else ends - time.perf_counter()
            if left is not None and left <= 0.0:
                break
            try:
                connection = Connection(self.spec, self.program, replace(self.settings, tolerance=tolerance))
                found = self._with_evidence(connection.solve(left), left)
            except FsoptError:
                break
            result = certified_result(self.program, found, self.spec.name)
            if tolerance is None:
                self.connection = connection
            if result.status is Status.OPTIMAL:
                words = "from a new start" if tolerance is None else f"at the tolerance {tolerance:g}"
                return replace(result, message=f"{result.message}; solved again {words}")
        return first

    def with_solver(self, solver: str) -> Session:
        """Return a session of the same arrays in another solver, with the options that all solvers have.

        Its places of variables and constraints are those of this session; later updates of this one do not reach it.
        """
        started = time.perf_counter()
        other = copy.copy(self)
        other.settings = replace(self.settings, own={})
        other.spec = self._choose(solver)
        other.connection = Connection(other.spec, other.program, other.settings)
        other.seconds = dict.fromkeys(self.seconds, 0.0) | {"translate": time.perf_counter() - started}
        return other

    @checked(component=COMPONENT)
    def columns(self, component: pyo.Var) -> Indices:
        """Return the places (k,) of a variable component in ``SolveResult.point.x``."""
        return self._places(self.program.column, component)

    @checked(component=COMPONENT)
    def rows(self, component: pyo.Constraint) -> Indices:
        """Return the places (k,) of a linear constraint component in ``SolveResult.point.y``."""
        return self._places(self.program.row_of, component)

    def _places(self, known: Mapping[int, int], component: pyo.Component) -> Indices:
        try:
            return np.array([known[id(data)] for data in component.values()], dtype=int)
        except KeyError as error:
            raise ParameterError(
                f"'{component.name}' is not, or not with all its members, in the program of '{self.model.name}'",
                "give variables and linear constraints of the model as it was read",
            ) from error

    def _send(self, change: Change) -> None:
        reason = self.connection.update(change)
        if reason:
            self._rebuild(reason)

    def _rebuild(self, reason: str) -> None:
        self.rebuilt, self.program = reason, compile_model(self.model)
        self.problem_class = program_class(self.program)
        kept = self.requested or self.problem_class in self.spec.classes
        self.spec = self._choose(self.spec.name if kept else None)
        self.connection = Connection(self.spec, self.program, self.settings)


def difference(old: Program, new: Program) -> Change | None:
    """Return what differs in a new reading of a program; None where that is another program, or cannot be told."""
    order = [new.row_of.get(key, -1) for key in old.row_of]
    if old.column != new.column or old.objective is not new.objective or sorted(order) != [*range(len(new.row_of))]:
        return None
    if old.nonconic or new.nonconic or new.objective_terms:
        return None
    if order != sorted(order):  # added constraints come last
        new.A = new.A[order]
        new.lo, new.hi = new.lo[order], new.hi[order]
    if old.sign != new.sign or old.constants != new.constants or new.unsupported:
        return None
    cones, others = old.cones, new.cones
    kept: list[tuple[Any, Any]] = [(cones.h, others.h), (cones.starts, others.starts), (cones.orders, others.orders)]
    kept += [(old.integer, new.integer), (old.A.indptr, new.A.indptr), (old.A.indices, new.A.indices)]
    hessian = bool((new.P != old.P).nnz)
    if not all(np.array_equal(*pair) for pair in kept) or (cones.G != others.G).nnz or (hessian and not new.convex):
        return None
    other = (old.lo != new.lo) | (old.hi != new.hi)
    other[np.repeat(np.arange(len(other)), np.diff(old.A.indptr))[old.A.data != new.A.data]] = True
    return Change(
        objective=old.c0 != new.c0 or not np.array_equal(old.c, new.c),
        hessian=hessian,
        bounds=not (np.array_equal(old.lb, new.lb) and np.array_equal(old.ub, new.ub)),
        rows=np.flatnonzero(other) if other.any() else None,
    )
