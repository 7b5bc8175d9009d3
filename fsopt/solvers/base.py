"""Solving: choose a solver, check the class, translate, call, load, certify; once, or again and again."""

from __future__ import annotations

import dataclasses
import importlib
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.certify import certify_point, farkas, make
from fsopt.classify import program_class
from fsopt.compiler import Program, compile_model
from fsopt.compiler.expressions import read
from fsopt.compiler.program import build_rows, constraint_data, hessian, linear_part, read_bounds, read_row
from fsopt.errors import ParameterError, SolverError
from fsopt.results import Point, SolveResult, Status
from fsopt.solvers.interface import Change, Interface, Outcome, Settings
from fsopt.solvers.registry import SolverSpec, choose

_CLASS_OF_INTERFACE = {"highs": "Highs", "conic": "Clarabel"}


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
    model : any Pyomo model in a class that a registered solver takes, not only fsopt's own.
    solver : registry name; None takes the preferred installed solver of the model's class.
    time_limit : seconds; None for no limit.
    options : ``tolerance``, ``mip_gap``, ``threads``, ``seed``, and options of the solver by its own names.
    tee : show the solver's log.

    Returns
    -------
    SolveResult
        ``optimal`` only where the certificate holds. Values are in the model's variables; shadow prices
        (d objective / d right-hand side) and reduced costs in its suffixes ``dual`` and ``rc``.

    Raises
    ------
    SolverError, OptionError, UnknownNameError : before the solver is called.
    """
    return Session(model, solver, options=options, tee=tee).solve(time_limit=time_limit)


class Session:
    """A model kept translated and loaded in one solver, for loops that change it and solve it again.

    Change mutable parameters, bounds or fixed variables of the model, name what changed in :meth:`update`
    (or new constraints in :meth:`add`), and :meth:`solve` again: only that part is read and sent anew.

    Attributes
    ----------
    spec : the solver's registry entry.
    program : the arrays of the model.
    seconds : total ``translate``, ``update``, ``solve`` and ``load`` seconds.
    rebuilt : why the last update needed a new translation; empty if it did not.
    """

    def __init__(
        self,
        model: pyo.ConcreteModel,
        solver: str | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        tee: bool = False,
    ) -> None:
        started = time.perf_counter()
        self.model = model
        self.settings = Settings.make(options, tee=tee)
        self.program = compile_model(model)
        self.problem_class = program_class(self.program)
        self.spec: SolverSpec = self._choose(solver)
        self.interface = self._open()
        self.rebuilt = ""
        self.seconds = {"build": 0.0, "translate": time.perf_counter() - started, "update": 0.0}
        self.seconds |= {"solve": 0.0, "load": 0.0}

    def _choose(self, solver: str | None) -> SolverSpec:
        try:
            return choose(solver, self.problem_class, self.model.name)
        except SolverError as error:
            if self.program.unsupported:
                name, reason = self.program.unsupported[0]
                error.message += f" (constraint '{name}': {reason})"
            raise

    def _open(self) -> Interface:
        module = importlib.import_module(f"fsopt.solvers.{self.spec.interface}")
        interface: Interface = getattr(module, _CLASS_OF_INTERFACE[self.spec.interface])(self.program, self.settings)
        return interface

    def update(self, *components: Any) -> None:
        """Read these components of the model again: an Objective, Constraints, or Vars (their bounds)."""
        started = time.perf_counter()
        self.rebuilt = ""
        rows: list[Any] = []
        objective = hessian = bounds = False
        for component in components:
            if component.ctype is pyo.Objective:
                objective = True
                hessian = self._read_objective() or hessian
            elif component.ctype is pyo.Var:
                bounds = True
            else:
                rows.extend(constraint_data([component]))
        if bounds:
            self.program.lb, self.program.ub = read_bounds(self.program.variables)
        numbers = self._read_rows(rows) if rows else None
        if rows and numbers is None:
            self._rebuild("a row got other variables or is no linear row")
        else:
            self._send(Change(objective, hessian, bounds, numbers))
        self.seconds["update"] += time.perf_counter() - started

    def add(self, *constraints: Any) -> None:
        """Append linear constraints (data objects, for example of a ConstraintList) as new rows."""
        started = time.perf_counter()
        self.rebuilt = ""
        p = self.program
        read_anew = [read_row(data, p.column) for data in constraints]
        if not all(row.terms.linear for row in read_anew):
            raise ParameterError("only linear constraints can be added to a session", "open a new session")
        p.append(read_anew)
        self._send(Change(added=len(constraints)))
        self.seconds["update"] += time.perf_counter() - started

    def solve(self, *, time_limit: float | None = None, load: bool = True) -> SolveResult:
        """Solve what is loaded; ``load=False`` leaves the model's variables and suffixes as they are."""
        before = dict(self.seconds)
        if time_limit is not None and time_limit <= 0:
            raise ParameterError(f"the time limit must be positive, not {time_limit}", "give seconds > 0")
        outcome = self.interface.solve(time_limit)
        self.seconds["solve"] += outcome.seconds
        started = time.perf_counter()
        result = _conclude(self.program, outcome, self.spec.name)
        if load and result.point is not None:
            _load(self.program, result)
        self.seconds["load"] += time.perf_counter() - started
        seconds = {k: v - before[k] for k, v in self.seconds.items() if k != "update"}
        seconds["translate"] = self.seconds["translate"]
        return dataclasses.replace(result, seconds=seconds)

    def _send(self, change: Change) -> None:
        reason = self.interface.update(change)
        if reason:
            self._rebuild(reason)

    def _rebuild(self, reason: str) -> None:
        self.rebuilt = reason
        self.program = compile_model(self.model)
        self.interface = self._open()

    def _read_objective(self) -> bool:
        """Read the objective again; return whether its quadratic part changed."""
        p = self.program
        terms = read(p.objective.expr, p.column)
        p.c, p.c0 = p.sign * linear_part(terms, p.column), p.sign * terms.constant
        if not terms.quadratic:
            return False
        P = p.sign * hessian(terms, p.n)
        changed = bool((P != p.P).nnz)
        p.P = P
        return changed

    def _read_rows(self, rows: list[Any]) -> Any:
        """Write new coefficients and sides into the program; None where the pattern is another one."""
        p = self.program
        if any(id(data) not in p.row_of for data in rows):
            return None
        numbers = np.array([p.row_of[id(data)] for data in rows])
        A, lo, hi = build_rows([read_row(data, p.column) for data in rows], p.column)
        places = np.concatenate([np.arange(p.A.indptr[i], p.A.indptr[i + 1]) for i in numbers])
        if len(places) != A.nnz or not np.array_equal(p.A.indices[places], A.indices):
            return None
        p.A.data[places] = A.data
        p.lo[numbers], p.hi[numbers] = lo, hi
        return numbers


def _conclude(program: Program, outcome: Outcome, solver: str) -> SolveResult:
    """Turn a solver's outcome into a result whose status rests on the certificate."""
    sign = program.sign
    if outcome.point is None:
        return _without_point(program, outcome, solver)
    bound = outcome.bound if outcome.bound is not None and np.isfinite(outcome.bound) else None
    certificate = certify_point(program, outcome.point, bound=bound, source=solver)
    feasible = make("feasible", {"primal": certificate.residuals["primal"]}).ok
    proved = certificate.ok and certificate.kind in ("convex", "mixed-integer")
    status = Status.OPTIMAL if proved else Status.FEASIBLE if feasible else Status.NONE
    if certificate.kind == "convex" and certificate.residuals["dual"] <= certificate.tolerance:
        bound = sign * certificate.bound if certificate.bound is not None else None
    return SolveResult(
        status=status,
        stop=outcome.stop,
        objective=certificate.objective,
        bound=None if bound is None else sign * bound,
        solver=solver,
        seconds={},
        iterations=outcome.iterations,
        certificate=certificate,
        point=outcome.point,
        message=outcome.message,
        _duals=_shadow_prices(program, outcome.point),
    )


def _without_point(program: Program, outcome: Outcome, solver: str) -> SolveResult:
    proved = outcome.claim in (Status.INFEASIBLE, Status.UNBOUNDED)
    certificate = farkas(program, outcome.ray) if outcome.ray is not None else None
    return SolveResult(
        status=outcome.claim if proved else Status.NONE,
        stop=outcome.stop,
        objective=None,
        bound=None if outcome.bound is None else program.sign * outcome.bound,
        solver=solver,
        seconds={},
        iterations=outcome.iterations,
        certificate=certificate,
        message=outcome.message,
    )


def _shadow_prices(program: Program, point: Point) -> dict[int, float]:
    """Return id(constraint) -> d objective / d right-hand side, for rows and for cones as quadratics."""
    if point.y is None or point.z is None:
        return {}
    prices = dict(zip(map(id, program.constraints), (program.sign * point.y).tolist(), strict=True))
    cones = program.cones
    if len(cones):
        heads = (cones.G @ point.x + cones.h)[cones.starts[:-1]]
        at_apex = np.abs(heads) < 1e-9
        prices_q = -point.z[cones.starts[:-1]] / (2 * np.where(at_apex, np.nan, heads)) / cones.scale
        prices |= dict(zip(map(id, cones.constraints), (program.sign * cones.side * prices_q).tolist(), strict=True))
    return prices


def _load(program: Program, result: SolveResult) -> None:
    """Write values, shadow prices and reduced costs into the Pyomo model."""
    assert result.point is not None
    for variable, value in zip(program.variables, result.point.x.tolist(), strict=True):
        if not variable.fixed:
            variable.set_value(value, skip_validation=True)
            variable.stale = False
    if not result._duals:
        return
    y, z = result.point.y, result.point.z
    assert y is not None
    assert z is not None
    reduced = program.P @ result.point.x + program.c - program.A.T @ y - program.cones.G.T @ z
    dual, rc = _suffix(program.model, "dual"), _suffix(program.model, "rc")
    dual.clear()
    rc.clear()
    for constraint in (*program.constraints, *program.cones.constraints):
        dual[constraint] = result._duals[id(constraint)]
    for variable, value in zip(program.variables, (program.sign * reduced).tolist(), strict=True):
        rc[variable] = value


def _suffix(model: pyo.ConcreteModel, name: str) -> Any:
    if model.component(name) is None:
        model.add_component(name, pyo.Suffix(direction=pyo.Suffix.IMPORT))
    return model.component(name)
