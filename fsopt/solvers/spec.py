"""The entry of a solver in the registry, its Python package, imported at the first use, and a program loaded in it.

Two kinds of programs are answered without a solver: one with a lower bound above the upper one is infeasible, and one
without any coefficient in objective and constraints, which some solvers refuse, has every point within its bounds as a
solution.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from fsopt.answers.results import Point, Status
from fsopt.certificates.bounds import crossed
from fsopt.compiler import Program
from fsopt.errors import SolverError, foreign
from fsopt.solvers.interface import Change, Interface, Outcome, Settings

HINT = "choose smaller parameters, other units or another solver: 'fsopt solvers' lists them"


class Package:
    """A solver's Python package; it is imported when the first attribute of it is read.

    The registry imports every interface, also those of solvers that are not installed or slow to import. Pyomo's code
    runs with the import of some packages and calls what warns in them: where warnings are errors, Pyomo would
    take the package for missing from then on. The name may be that of a module in the package.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if self._name not in sys.modules:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
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
    interior : (option, value) pairs, by the solver's own names, with which it returns no vertices.
    finer : tolerances of further solves where the certificate of an answer at the default one fails; empty where they
        are not worth their seconds.
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
    interior: tuple[tuple[str, Any], ...] = ()
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
    """A program loaded in a solver; changes of the program reach the solver through it.

    Attributes
    ----------
    crossed : bounds that exclude one another, as a sentence; empty if there are none.
    interface : of the solver; None while bounds exclude one another.
    updated : whether a change reached the solver in place.
    """

    updated = False

    def __init__(self, spec: SolverSpec, program: Program, settings: Settings) -> None:
        self.program = program
        self.crossed = crossed(program)
        self.spec = spec
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
            return self.interface.solve(time_limit, mip_gap)

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
