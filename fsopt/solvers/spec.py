"""The contract of a solver: what its interface takes and gives, its entry, and a program loaded in it.

Compiled arrays go in, an outcome in the program's own convention comes out. Two kinds of programs are answered without
a solver: one with a lower bound above the upper one is infeasible, and one without any coefficient in objective and
constraints, which some solvers refuse, has every point within its bounds as a solution.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from fsopt.answers.results import Point, Status
from fsopt.certificates.bounds import crossed
from fsopt.common import clock
from fsopt.common.arguments import native
from fsopt.compiler import Program
from fsopt.errors import OptionError, SolverError, foreign, shown
from fsopt.solvers.shared import without_objective
from fsopt.typing import Indices, Vector

UNKNOWN = (Status.NONE, "numerical")
"""Status and reason to stop for a word of a solver that is not in the table of its interface."""
EITHER = (Status.NONE, "either")
"""The same for a solver's word that a program is infeasible or unbounded."""
LARGEST = 2**31 - 1
"""The largest whole number that every solver takes."""
COARSE = 1e-5
"""The coarsest integer tolerance that solvers have by default; it counts for one that does not state its own."""
INFINITY = 1e20
"""Bounds from this size on count as absent, as the solvers themselves take them."""
HINT = "choose smaller parameters, other units or another solver: 'fsopt solvers' lists them"


@dataclass(frozen=True)
class Settings:
    """Options that mean the same for every solver, and the solver's own ones.

    Attributes
    ----------
    tolerance : feasibility and gap tolerance asked of the solver; None for the interface's default.
    mip_gap : relative gap at which branch and bound stops.
    threads, seed, tee : threads, random seed, and whether to show the solver's log.
    own : options of the solver by its own names.
    """

    tolerance: float | None = None
    mip_gap: float = 1e-7
    threads: int = 1
    seed: int = 0
    tee: bool = False
    own: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def make(options: Mapping[str, Any] | None, *, tee: bool = False) -> Settings:
        """Split a mapping of options into the common ones and the solver's own."""
        given = {name: native(value) for name, value in (options or {}).items()}
        for name, value in given.items():
            if isinstance(value, float) and math.isnan(value):  # one that solvers compare with itself, or loop on
                raise OptionError(f"option '{name}' is not a number (nan)", "correct the option")
        common: dict[str, Any] = {}
        for name, kind in (("tolerance", float), ("mip_gap", float), ("threads", int), ("seed", int)):
            if name in given:
                value = given.pop(name)
                most = LARGEST if kind is int else float(np.finfo(float).max)
                if isinstance(value, bool) or not isinstance(value, (int, kind)) or not 0 <= value <= most:
                    reason = f"must be a {'whole ' if kind is int else ''}number from 0 to {most:g}, not {shown(value)}"
                    raise OptionError(f"option '{name}' {reason}", "correct the option")
                common[name] = kind(value)
        return Settings(tee=tee, own=given, **common)


@dataclass(frozen=True)
class Change:
    """The parts of a program that an update changed.

    Attributes
    ----------
    objective : the linear costs or the constant of the objective.
    hessian : its quadratic part.
    bounds : bounds of variables.
    rows : places of the linear constraints with new coefficients or bounds; None for none.
    added : number of linear constraints appended at the end.
    """

    objective: bool = False
    hessian: bool = False
    bounds: bool = False
    rows: Indices | None = None
    added: int = 0


@dataclass(frozen=True)
class Outcome:
    """The answer of a solver, in the minimisation form of the program.

    Attributes
    ----------
    status : the solver's own word, before fsopt's certificate.
    stop : optimal, almost, infeasible, unbounded, time-limit, iteration-limit, interrupted or numerical.
    point : primal-dual point, None where there is none.
    bound : lower bound on the minimisation form that the solver states; None if unknown.
    ray : proof of infeasibility, a point whose y and z are a Farkas certificate; None if unknown.
    direction : proof of unboundedness, a point whose x is a recession direction of descent; None if unknown.
    evidence : primal-dual point of another solver, whose multipliers bound the program (with its integers fixed), or
        the feasible point from which the direction leaves; None where the point has multipliers of its own.
    evidence_source : name of that solver.
    iterations, seconds, message : the solver's count, its wall time, its own words.
    failed : why the search for evidence failed; empty where it did not.
    integer_tolerance : largest distance from a whole number at which the solver takes a value for it, and largest
        violation of the bound by which branching fixes it.
    """

    status: Status
    stop: str
    point: Point | None
    bound: float | None
    iterations: int
    seconds: float
    message: str
    ray: Point | None = None
    direction: Point | None = None
    evidence: Point | None = None
    evidence_source: str = ""
    failed: str = ""
    integer_tolerance: float = COARSE


class Interface(Protocol):
    """A solver with one program loaded."""

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Solve what is loaded, warm where the solver can; ``mip_gap`` overrides the settings for this call."""

    def update(self, change: Change) -> str | None:
        """Take over a change of the program in place; return why not, if it cannot."""


def optional(bounds: Vector) -> list[float | None]:
    """Return bounds (k,) as numbers, None for the absent ones."""
    return [bound if abs(bound) < INFINITY else None for bound in bounds.tolist()]


def set_options(
    solver: str,
    options: Mapping[str, Any],
    put: Callable[[str, Any], object],
    errors: tuple[type[Exception], ...],
) -> None:
    """Set options of a solver, by its own names, one by one; raise OptionError for the first that it does not take.

    ``put`` sets one option, or raises one of ``errors``, by which the solver refuses a name or a value.
    """
    for name, value in options.items():
        try:
            put(name, value)
        except errors as error:
            reason = f"unknown name or bad value {shown(value)}: {error}".replace("\n", " ").rstrip()
            raise refuse_option(solver, name, reason) from error


def refuse_option(solver: str, name: str, reason: str) -> OptionError:
    """Return the error for an option that a solver does not take."""
    return OptionError(f"solver '{solver}' does not take the option '{name}' ({reason})", "see the solver's manual")


class Package:
    """A solver's Python package, or a module of it, imported when its first attribute is read."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if self._name not in sys.modules:  # Pyomo takes a package for missing from a warning on that is an error
            with warnings.catch_warnings(action="ignore"):
                import_module(self._name)
        return getattr(import_module(self._name), attribute)


@dataclass(frozen=True, eq=False)
class SolverSpec:
    """One solver: the last line of its module.

    Attributes
    ----------
    name : registry name, as given to ``solver=``.
    connect : function that loads a compiled program into the solver.
    package : importable Python package that must be installed.
    ranks : problem class that it solves -> its rank among the solvers of that class. Where the user names no solver,
        the installed one of the smallest rank is taken; equal ranks follow the order of the registry. None: the
        solver is called by name alone. Classes are whole, because "QP yes, MILP yes" does not mean "MIQP yes".
    declined : problem class that the software takes but this entry does not -> the reason, for the message.
    proves : ``global`` or ``local``.
    duals, vertex, in_place : whether it returns multipliers, returns vertices, and updates a model in place.
    tolerance : relative accuracy of the objective that it reaches on the classes it solves.
    pip : command that installs the package.
    licence : its licence, and how to get one.
    executable : program on the search path that it calls; empty for none.
    finer : tolerances of further solves where the certificate of an answer at the default one fails.
    present : whether the solver can be called; None asks for the package.
    """

    name: str
    connect: Callable[[Program, Settings], Interface]
    package: str
    ranks: Mapping[str, int | None]
    pip: str
    licence: str
    proves: str = "global"
    duals: bool = True
    vertex: bool = False
    in_place: bool = False
    tolerance: float = 1e-6
    executable: str = ""
    declined: Mapping[str, str] = field(default_factory=dict)
    finer: tuple[float, ...] = ()
    present: Callable[[], bool] | None = None

    @property
    def classes(self) -> frozenset[str]:
        """Problem classes that it solves."""
        return frozenset(self.ranks)

    @property
    def available(self) -> bool:
        """Whether the solver can be called."""
        if self.present is not None:
            return self.present()
        return find_spec(self.package) is not None


class Connection:
    """A program loaded in a solver, whose ``interface`` is None while bounds exclude one another (``crossed``)."""

    updated = False

    def __init__(self, spec: SolverSpec, program: Program, settings: Settings) -> None:
        self.program = program
        self.crossed = crossed(program)
        self.spec, self.settings = spec, settings
        with self._boundary():
            self.interface = None if self.crossed else spec.connect(program, settings)

    def update(self, change: Change) -> str | None:
        """Take over a change of the program in place; return why not, if the solver cannot."""
        self.crossed = crossed(self.program)
        if self.crossed:
            self.interface = None
            return None
        if self.interface is None:
            return "bounds excluded one another"
        self.updated = True
        with self._boundary():
            return self.interface.update(change)

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Run the solver, unless bounds exclude one another or no variable has a coefficient."""
        if self.interface is None:
            return Outcome(Status.INFEASIBLE, "infeasible", None, None, 0, 0.0, self.crossed)
        if (point := _any_point(self.program)) is not None:
            words = "no variable has a coefficient"
            return Outcome(Status.OPTIMAL, "optimal", point, self.program.c0, 0, 0.0, words)
        with self._boundary():
            found = self.interface.solve(time_limit, mip_gap)
            return self._told_apart(found) if (found.status, found.stop) == EITHER else found

    def _told_apart(self, found: Outcome) -> Outcome:
        """Return an outcome as infeasible or unbounded: without its objective, a program is not unbounded."""
        other = self.spec.connect(without_objective(self.program), self.settings).solve(clock.left())
        unbounded = other.point is not None
        status, stop = (Status.UNBOUNDED, "unbounded") if unbounded else (other.status, other.stop)
        return replace(found, status=status, stop=stop, ray=other.ray, seconds=found.seconds + other.seconds)

    @contextmanager
    def _boundary(self) -> Iterator[None]:
        """Turn the exceptions of a solver's package into a SolverError."""
        name = self.spec.name  # for example for numbers that the package takes for infinite
        with foreign(name, f"solver '{name}' fails on '{self.program.model.name}'", HINT, SolverError, passed=()):
            yield


def _any_point(program: Program) -> Point | None:
    """Return a point within the bounds, with multipliers 0, of a program without coefficients; None for any other."""
    p = program
    if p.c.any() or p.general or p.objective_terms or len(p.cones) or p.P.count_nonzero():
        return None
    if p.A.count_nonzero() or np.any((p.lo > 0.0) | (p.hi < 0.0)):
        return None
    low, high = (np.where(p.integer, whole(end), end) for whole, end in ((np.ceil, p.lb), (np.floor, p.ub)))
    return Point(np.clip(0.0, low, high), np.zeros(len(p.lo)), np.zeros(0))
