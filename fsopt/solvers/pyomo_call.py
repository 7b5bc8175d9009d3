"""Every solver that Pyomo can call: the program as a Pyomo model, through Pyomo's own interface.

``gurobi`` and ``xpress`` are called by Pyomo's direct interfaces to their packages, every other one as ``pyomo:NAME``.
"""

from __future__ import annotations

import math
import re
import shutil
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from io import StringIO
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.common.errors import ApplicationError
from pyomo.common.log import LoggingIntercept
from pyomo.common.tee import TeeStream, capture_output

from fsopt.answers.results import Point, Status
from fsopt.compiler import Program
from fsopt.errors import SolverError, UnknownNameError, shown
from fsopt.errors import unknown as unknown_name
from fsopt.solvers.nlp import NonlinearForm, pyomo_model
from fsopt.solvers.pyomo_names import GUROBI, KNOWN, XPRESS, known_solver
from fsopt.solvers.shared import refuse_other_than_quadratic
from fsopt.solvers.spec import EITHER, UNKNOWN, Change, Outcome, Settings, SolverSpec, refuse_option
from fsopt.typing import Vector

PREFIX = "pyomo:"
STATUS_MAP = {
    "optimal": (Status.OPTIMAL, "optimal"),
    "globallyOptimal": (Status.OPTIMAL, "optimal"),
    "locallyOptimal": (Status.STATIONARY, "optimal"),
    "feasible": (Status.FEASIBLE, "almost"),
    "minFunctionValue": (Status.FEASIBLE, "almost"),
    "minStepLength": (Status.FEASIBLE, "numerical"),
    "maxTimeLimit": (Status.FEASIBLE, "time-limit"),
    "maxIterations": (Status.FEASIBLE, "iteration-limit"),
    "maxEvaluations": (Status.FEASIBLE, "iteration-limit"),
    "userInterrupt": (Status.FEASIBLE, "interrupted"),
    "resourceInterrupt": (Status.FEASIBLE, "iteration-limit"),
    "infeasible": (Status.INFEASIBLE, "infeasible"),
    "unbounded": (Status.UNBOUNDED, "unbounded"),
    "infeasibleOrUnbounded": EITHER,
}
"""By the names of ``pyomo.opt.TerminationCondition``; every other one is none."""
REFUSAL = re.compile(r"(?i)invalid|unknown|no match|not recogni|unrecogni|illegal|ambiguous|not understood|no such|bad")
TOLERANCE = 1e-9
"""The smallest that Gurobi takes."""
LIMIT = re.compile(r"(?i)SolutionLimit|objective limit|solve status \((16|17)\)")
"""In the words of a solver that stopped at a limit of its own for which Pyomo has no condition."""
LICENCE = re.compile(r"(?i)licen[sc]e")
"""In the words of a solver without a licence, or with one that does not take the program."""
SIZE = re.compile(r"(?i)size.limited|too (large|many rows)|community licen[sc]e")
"""In those of one whose licence is limited to small programs."""


class PyomoCall:
    """One program given to a solver through Pyomo, by Pyomo's name of its interface, translated anew at every solve."""

    def __init__(self, name: str, pyomo_name: str, program: Program, settings: Settings) -> None:
        self.name = name
        self.pyomo_name = pyomo_name
        self.known = known = known_solver(pyomo_name)
        if known.tree:
            refuse_other_than_quadratic(program, name)
        self.program = program
        self.settings = settings
        self.options: dict[str, Any] = dict(known.defaults)
        tolerance = TOLERANCE if settings.tolerance is None else settings.tolerance
        self.options |= {} if program.convex else dict(known.nonconvex)
        self.options |= dict.fromkeys(known.tolerances, max(tolerance, TOLERANCE))
        self.options |= {k: v for k, v in ((known.threads, settings.threads), (known.seed, settings.seed)) if k}
        self.gap = known.gap if program.integer.any() or (known.tree and not program.convex) else ""
        if self.gap:
            self.options[self.gap] = settings.mip_gap
        self.options |= settings.own
        NonlinearForm(program)  # refuses a function without derivatives before anything is solved
        if settings.own:
            self._try_options()

    def update(self, change: Change) -> str | None:
        """Take over a change: nothing to do, the next solve reads the program."""
        return None

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Run the solver."""
        started = time.perf_counter()
        p = self.program
        form = NonlinearForm(p)
        start = form.start(np.clip(p.values(), p.lb, p.ub))
        m = pyomo_model(form, start)
        for variable in m.v.values():
            variable.stale = True
        if not self.known.duals or (self.known.tree and not p.convex):
            m.del_component("dual")
        options = dict(self.options)
        if mip_gap is not None and self.gap:
            options[self.gap] = mip_gap
        condition, message, _ = self._call(m, options, time_limit)
        status, stop = STATUS_MAP.get(condition, UNKNOWN)
        if stop in ("almost", "numerical") and time_limit is not None and time.perf_counter() - started >= time_limit:
            stop = "time-limit"  # GLPK calls it feasible, and Xpress without a point an error
        if "by the user" in message:  # Pyomo calls it an error
            stop = "interrupted"
        point = _point(m, form, start) if status.solved else None
        stated = self._bound(point, status, options)
        seconds, words = time.perf_counter() - started, message or condition
        whole = self.known.integer_tolerance(options)
        return Outcome(status, stop, point, stated, 0, seconds, words, integer_tolerance=whole)

    def _bound(self, point: Point | None, status: Status, options: Mapping[str, Any]) -> float | None:
        """Return a lower bound of a program in need of one, by the gap of its optimum."""
        p = self.program
        unneeded = self.known.proves != "global" or (p.convex and not p.integer.any())
        if unneeded or status is not Status.OPTIMAL or point is None or p.objective_terms:
            return None
        value = float(0.5 * point.x @ (p.P @ point.x) + p.c @ point.x + p.c0)
        return value - float(options.get(self.known.gap, self.settings.mip_gap)) * abs(value)

    def _call(self, m: pyo.ConcreteModel, options: dict[str, Any], limit: float | None) -> tuple[str, str, str]:
        """Run the solver on a model and load its answer; return condition, words and log."""
        with quiet(self.settings.tee) as log:
            try:
                keywords: dict[str, Any] = {"load_solutions": False}
                if limit is not None and self.known.seconds:
                    options = {**options, self.known.seconds: limit}
                elif limit is not None:
                    keywords["timelimit"] = math.ceil(limit) if self.pyomo_name == "glpk" else limit
                solver, own = self._prepared(m, options)
                results = solver.solve(m, tee=True, **own, **keywords)
                _load(solver, results, m)
            except Exception as error:  # of Pyomo's interface, or of the solver's own package
                words = " ".join([*log.getvalue().split("\n")[-8:], str(error)]).split()
                raise self._failure(" ".join(words)[-400:]) from error
        return _condition(results), _words(results), log.getvalue()

    def _failure(self, words: str) -> SolverError:
        """Return the error for a solver's last words, with the next step."""
        known, hint = self.known, f"get a licence at {self.known.licence}, or take another solver"
        if known.licence and SIZE.search(words):
            return SolverError(f"the size-limited licence of '{self.name}' does not take a model of this size", hint)
        if known.licence and LICENCE.search(words):
            return SolverError(f"solver '{self.name}' found no valid licence ({words[-150:]})", hint)
        return SolverError(f"solver '{self.name}' failed: {words}", f"{known.install}; or try another solver")

    def _prepared(self, m: pyo.ConcreteModel, options: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the solver with options and, if it keeps a model, the model; and keywords of its call."""
        solver = _factory(self.pyomo_name)
        if hasattr(solver, "set_instance"):
            solver.set_instance(m)
        if not hasattr(solver, "options"):
            return solver, {"options": options}
        solver.options.update(options)
        return solver, {}

    def _try_options(self) -> None:
        """Solve a tiny program with each of the user's own options; raise OptionError for one that is refused."""
        m = pyo.ConcreteModel()
        m.v = pyo.Var(bounds=(0, 1), initialize=0.5)
        m.rows = pyo.Constraint(expr=m.v >= 0.25)
        m.objective = pyo.Objective(expr=m.v)
        for option, value in self.settings.own.items():
            reason = f"unknown name or bad value {shown(value)}"
            try:
                log = self._call(m, {option: value}, None)[-1]
            except SolverError as error:
                raise refuse_option(self.name, option, f"{reason}: {error.message}") from error
            told = any(REFUSAL.search(line) and str(option) in line for line in log.splitlines())
            if told or option.startswith("_"):
                raise refuse_option(self.name, option, reason)


@contextmanager
def quiet(tee: bool) -> Iterator[StringIO]:
    """Catch what a solver and Pyomo print; with ``tee`` it is shown too."""
    log = StringIO()
    streams = (log, sys.stdout) if tee else (log,)
    with warnings.catch_warnings(), LoggingIntercept(log, "pyomo"), capture_output(TeeStream(*streams)):
        warnings.simplefilter("ignore")
        yield log


def _factory(name: str) -> Any:
    program = known_solver(name).executable
    path = shutil.which(program) if program else None
    solver = pyo.SolverFactory(name) if path is None else pyo.SolverFactory(name, executable=path)
    if type(solver).__name__ == "UnknownSolver":
        raise ApplicationError(f"Pyomo knows no solver '{name}'")
    return solver


def _words(results: Any) -> str:
    """Return what a solver said at its end."""
    said = results.solver.message, results.solver.termination_message
    message = next((part for part in said if part and str(part) != "<undefined>"), "")
    text = message.decode() if isinstance(message, bytes) else str(message)
    return text.replace("\\x3a", ":")


def _condition(results: Any) -> str:
    """Return the name of Pyomo's condition of an end."""
    name = str(results.solver.termination_condition.name)
    return "resourceInterrupt" if name not in STATUS_MAP and LIMIT.search(_words(results)) else name


def _load(solver: Any, results: Any, m: pyo.ConcreteModel) -> None:
    """Write the values and shadow prices of an answer into the model, if it has them."""
    condition = _condition(results)
    if len(results.solution) and not (condition == "resourceInterrupt" and results.solver.status.name == "error"):
        m.solutions.load_from(results)
        return
    if not STATUS_MAP.get(condition, UNKNOWN)[0].solved or not hasattr(solver, "load_vars"):
        return
    try:
        solver.load_vars()
    except Exception:  # a limit was reached before the first point
        return
    if m.component("dual") is None:
        return
    try:
        if hasattr(solver, "get_duals"):
            m.dual.update(solver.get_duals())
        else:
            solver.load_duals()
    except Exception:  # an interface without multipliers: others find them
        return


def _point(m: pyo.ConcreteModel, form: NonlinearForm, start: Vector) -> Point | None:
    """Return the point in a model, None where no value was loaded."""
    if all(variable.stale for variable in m.v.values()):
        return None
    # A variable that occurs nowhere has no value of the solver: its start lies within its bounds.
    v = np.array([start[j] if a.stale or a.value is None else a.value for j, a in m.v.items()])
    if not np.all(np.isfinite(v)):
        return None
    prices = {} if m.component("dual") is None else m.dual
    multipliers = np.zeros(len(form.low))
    for i, row in m.rows.items():
        multipliers[i] = -prices.get(row, 0.0)
    point = form.point(v, multipliers)
    without_rows = not len(m.rows) and form.program.convex and not form.program.integer.any()
    return point if len(prices) or without_rows else Point(point.x)


def _available(name: str) -> bool:
    """Return whether a solver can be called: its program is on the path, or Pyomo says so and its library is found."""
    if known := known_solver(name).executable:
        return shutil.which(known) is not None
    try:
        with quiet(False):
            return bool(pyo.SolverFactory(name).available(exception_flag=False))
    except Exception:
        return False


def spec_of(name: str) -> SolverSpec:
    """Return the entry of a solver by Pyomo's name; UnknownNameError where neither Pyomo nor the path has the name."""
    if name not in KNOWN and name not in pyo.SolverFactory and shutil.which(name) is None:
        names = [n for n in pyo.SolverFactory if not n.startswith("_")]
        error = unknown_name("solver", name, {*KNOWN, *names}, "pyomo help --solvers", {})
        raise UnknownNameError(
            f"Pyomo knows no solver '{name}', and no program of this name is on the path", error.hint
        )
    words = "that of the solver, which is called through Pyomo"
    entry = _entry(PREFIX + name, name, "", 95, words)
    return replace(entry, executable=known_solver(name).executable, present=partial(_available, name))


def _entry(name: str, pyomo_name: str, package: str, rank: int, licence: str) -> SolverSpec:
    known = known_solver(pyomo_name)
    return SolverSpec(
        name=name,
        connect=partial(PyomoCall, name, pyomo_name),
        package=package,
        ranks=dict.fromkeys(known.classes, rank),
        proves=known.proves,
        duals=known.duals,
        vertex=known.vertex,
        pip=known.install,
        licence=licence,
    )


SPECS = (
    _entry("gurobi", "gurobi_direct", "gurobipy", 50, f"commercial, {GUROBI}; the wheel alone takes small programs"),
    _entry("xpress", "xpress_direct", "xpress", 60, f"commercial, {XPRESS}; the wheel alone takes small programs"),
    spec_of("glpk"),
    spec_of("cbc"),
)
"""Those in the registry, and in the tests of agreement; every other one is made when it is named."""
