"""The seam between branch and bound and the programs it is for: a convex relaxation for every box of the variables."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from fsopt.compiler import Program
from fsopt.errors import SolverError
from fsopt.typing import Mask, Vector


class Relaxation(Protocol):
    r"""The convex relaxations of a program on boxes :math:`\underline{x} \le x \le \overline{x}` of its variables.

    Branch and bound, and the replay of its trees, know a program through these names alone. The optimum of the
    relaxation of a box must be a lower bound of the program's minimisation form on that box; the bound of a tree is as
    true as this sentence. The replay builds the relaxation of each leaf anew, so that it may depend on the box (as
    secants and envelopes do), but its numbers of rows and cones may not.

    Attributes
    ----------
    program : that is relaxed.
    integer : (n,) its integer variables: they branch into ``x <= v`` and ``x >= v + 1``, others into ``x <= v`` and
        ``x >= v``.
    """

    program: Program
    integer: Mask

    def at(self, low: Vector, high: Vector) -> Program:
        """Return the convex program of a box; its first n variables are those of the program.

        A relaxation may return one and the same object with other bounds each time, which stays loaded in a solver.
        """

    def violations(self, x: Vector) -> Vector:
        """Return by how much (n,) each variable, at the relaxation's optimum, asks for a branching; 0 for none."""


class Integrality:
    """The relaxation of a convex program with integers: the program without its integrality."""

    def __init__(self, program: Program) -> None:
        self.program, self.integer = program, program.integer
        free = np.zeros_like(program.integer)
        self.relaxed = replace(program, lb=program.lb.copy(), ub=program.ub.copy(), integer=free)
        self.relaxed.__dict__["scaling"] = program.scaling

    def at(self, low: Vector, high: Vector) -> Program:
        """Return the program on a box: always the same object."""
        self.relaxed.lb[:], self.relaxed.ub[:] = low, high
        return self.relaxed

    def violations(self, x: Vector) -> Vector:
        """Return the distance of each integer variable from a whole number."""
        found: Vector = np.where(self.integer, np.abs(x - np.round(x)), 0.0)
        return found


def relaxation_of(program: Program) -> Relaxation:
    """Return the relaxations of a program.

    Raises
    ------
    SolverError : it has constraints that no convex relaxation here contains.
    """
    if program.unsupported or not program.convex:
        name = next(iter(program.unsupported.values()), "") or (program.nonconic[0][0] if program.nonconic else "")
        reason = f"'{name or program.objective_name}' is not convex"
        raise SolverError(f"nothing is proved of '{program.model.name}': {reason}", "state it by cones and integers")
    return Integrality(program)
