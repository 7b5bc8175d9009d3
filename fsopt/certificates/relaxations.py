"""The seam between branch and bound and the programs it is for: a convex relaxation for every box of the variables."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from fsopt.certificates.envelopes import Envelopes
from fsopt.certificates.points import minimised
from fsopt.certificates.propagation import ranges
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
    low, high : (N,) bounds of the variables that may be branched on: the n variables of the program, and others of the
        relaxation.
    integer : (N,) the integer ones: they branch into ``x <= v`` and ``x >= v + 1``, others into ``x <= v`` and
        ``x >= v``.
    cutoff : value of an incumbent; boxes may leave out points that are not better. Infinity where they leave out none.
    incumbent : value of the incumbent, infinite without one. Bounds of boxes may take points that are not better out of
        the ranges of the variables, so that a tree bounds the minimum of the program and this value.
    """

    program: Program
    low: Vector
    high: Vector
    integer: Mask
    cutoff: float
    incumbent: float

    def at(self, low: Vector, high: Vector) -> Program:
        """Return the convex program of a box; its first n variables are those of the program.

        A relaxation may return one and the same object with other bounds each time, which stays loaded in a solver.
        """

    def violations(self, x: Vector, low: Vector, high: Vector) -> Vector:
        """Return by how much (n,) each variable, at the optimum on a box, asks for a branching; 0 for none."""

    def points(self, x: Vector, low: Vector, high: Vector) -> Vector:
        """Return the values (n,) at which the variables would be branched on."""

    def improve(self, value: float) -> None:
        """Take the value of a better incumbent."""

    def ranges(self) -> tuple[Vector, Vector]:
        """Return ranges (N,) that contain every point of the program that is better than the incumbent."""


class Integrality:
    """The relaxation of a convex program with integers: the program without its integrality."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.integer = program.integer
        self.cutoff = self.incumbent = np.inf
        self.low, self.high = program.lb, program.ub
        self._ranges: tuple[Vector, Vector] | None = None
        free = np.zeros_like(program.integer)
        self.relaxed = replace(program, lb=program.lb.copy(), ub=program.ub.copy(), integer=free)
        self.relaxed.__dict__["scaling"] = program.scaling

    def at(self, low: Vector, high: Vector) -> Program:
        """Return the program on a box: always the same object."""
        self.relaxed.lb[:], self.relaxed.ub[:] = low, high
        return self.relaxed

    def violations(self, x: Vector, low: Vector, high: Vector) -> Vector:
        """Return the distance of each integer variable from a whole number."""
        found: Vector = np.where(self.integer, np.abs(x - np.round(x)), 0.0)
        return found

    def points(self, x: Vector, low: Vector, high: Vector) -> Vector:
        """Return the next smaller whole numbers."""
        return np.floor(x)

    def improve(self, value: float) -> None:
        """Take the value of a better incumbent; a box keeps all its points."""
        self.incumbent, self._ranges = min(self.incumbent, value), None

    def ranges(self) -> tuple[Vector, Vector]:
        """Return the ranges that propagation proves, once for each incumbent."""
        if self._ranges is None:
            self._ranges = ranges(self.program, self.incumbent)
        return self._ranges


def relaxation_of(program: Program, x: Vector | None = None) -> Relaxation:
    """Return the relaxations of a program.

    Parameters
    ----------
    x : (n,) an incumbent, whose value counts where the program is not convex; None for none.

    Raises
    ------
    SolverError : it has constraints or terms that no convex relaxation here contains.
    """
    if program.unsupported:
        name = next(iter(program.unsupported.values()))
        raise SolverError(f"nothing is proved of '{program.model.name}': '{name}' has no relaxation", "use integers")
    relaxation: Relaxation = Integrality(program) if program.convex else Envelopes(program)
    if x is not None:
        relaxation.improve(minimised(program, x))
    return relaxation
