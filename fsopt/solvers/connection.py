"""Loading of a compiled program into a solver.

Two kinds of programs are answered without a solver: one with a lower bound above the upper one is infeasible, and one
without any coefficient in objective and constraints, which some solvers refuse, has every point within its bounds as a
solution.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from fsopt.answers.results import Point, Status
from fsopt.certificates.bounds import crossed
from fsopt.compiler import Program
from fsopt.errors import SolverError, foreign
from fsopt.solvers.interface import Change, Outcome, Settings
from fsopt.solvers.spec import SolverSpec

HINT = "choose smaller parameters, other units or another solver: 'fsopt solvers' lists them"


class Connection:
    """A program loaded in a solver; changes of the program reach the solver through it.

    Parameters
    ----------
    spec : the solver's registry entry.
    program : as compiled; certificates are computed from it.
    settings : of the solver.

    Attributes
    ----------
    crossed : bounds that exclude one another, as a sentence; empty if there are none.
    interface : of the solver; None while bounds exclude one another.
    """

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
