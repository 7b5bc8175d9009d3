"""The contract of a solver's interface: compiled arrays in, an outcome in the program's own convention out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from fsopt.answers.results import Point, Status
from fsopt.common.arguments import own_number
from fsopt.errors import OptionError, shown
from fsopt.typing import Indices, Vector

UNKNOWN = (Status.NONE, "numerical")
"""Status and reason to stop for a word of a solver that is not in the table of its interface."""
LARGEST = 2**31 - 1
"""The largest whole number that every solver takes."""
COARSE = 1e-5
"""The coarsest integer tolerance that solvers have by default; it counts for one that does not state its own."""
INFINITY = 1e20
"""Bounds from this size on count as absent, as the solvers themselves take them."""


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
        given = {name: own_number(value) for name, value in (options or {}).items()}
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
