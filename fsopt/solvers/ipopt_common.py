"""Shared by both ways to Ipopt: the solve, from the starting point to a proof that a convex program has no optimum."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fsopt.answers.results import Point, Status
from fsopt.certificates.bounds import farkas
from fsopt.certificates.points import infeasibility
from fsopt.compiler import Program
from fsopt.compiler.derivatives import derivatives_of
from fsopt.errors import OptionError, SolverError
from fsopt.solvers.interface import Change, Outcome, Settings
from fsopt.solvers.proof_programs import elastic_program
from fsopt.typing import Vector

TOLERANCE = 1e-10
NEAR = 1e-6
"""Primal residual up to which a convex program is taken to have a point."""


@dataclass(frozen=True)
class Run:
    """Where Ipopt stopped: the primal-dual point, its code and its words."""

    point: Point
    code: int
    message: str


class Ipopt(ABC):
    """One program given to Ipopt.

    The arrays are read from the program at every solve, so that a change needs nothing but the next solve. Ipopt
    is deterministic and its linear solver has one thread here: ``seed`` and ``threads`` change nothing.

    Attributes
    ----------
    statuses : Ipopt's code -> status and stop; each way to Ipopt has its own codes.
    options : by Ipopt's names.
    last : (n,) the last usable point, from which the next solve starts; None before there is one.
    iterations : of the present solve, those of its proofs included.
    """

    statuses: ClassVar[Mapping[int, tuple[Status, str]]]

    def __init__(self, program: Program, settings: Settings) -> None:
        self.program = program
        self.options = _common_options(settings)
        derivatives_of(program)  # refuses a function without derivatives before anything is solved
        self.last: Vector | None = None
        self.iterations = 0

    @abstractmethod
    def run(self, program: Program, x: Vector, deadline: float) -> Run:
        """Solve a program from x (n,), until the deadline on the clock ``time.perf_counter``."""

    def update(self, change: Change) -> str | None:
        """Take over a change: nothing to do, the next solve reads the program."""
        return None

    def solve(self, time_limit: float | None, mip_gap: float | None = None) -> Outcome:
        """Run Ipopt from the last point, or from the values of the variables where the program is not convex."""
        started = time.perf_counter()
        self.iterations = 0
        p = self.program
        deadline = np.inf if time_limit is None else started + time_limit
        found = self.run(p, self._start(), deadline)
        if found.code not in self.statuses:
            raise SolverError(f"Ipopt stopped with code {found.code} ({found.message})", "try another solver")
        status, stop = self.statuses[found.code]
        usable = status in (Status.STATIONARY, Status.FEASIBLE) and bool(np.all(np.isfinite(found.point.x)))
        if usable:
            self.last = found.point.x
        ray = None
        if p.convex and stop in ("infeasible", "unbounded", "numerical"):
            proved, ray = self._prove(found.point, deadline)
            if proved is not Status.NONE:
                status, stop = proved, proved.value
                usable = False
        if p.convex and status is Status.STATIONARY:
            status = Status.OPTIMAL
        point = found.point if usable else None
        return Outcome(status, stop, point, None, self.iterations, time.perf_counter() - started, found.message, ray)

    def _start(self) -> Vector:
        """Return the starting point; of a program that is not convex, it decides which local optimum is found."""
        p = self.program
        if self.last is not None and len(self.last) == p.n:
            return self.last
        start = np.zeros(p.n) if p.convex else p.values()
        return np.clip(start, p.lb, p.ub)

    def _prove(self, point: Point, deadline: float) -> tuple[Status, Point | None]:
        """Tell whether a convex program has no point, or an objective that falls for ever.

        The elastic program always has an optimum, so Ipopt does not diverge on it. Its multipliers are a candidate for
        a Farkas vector; where its point is one of the program, Ipopt diverged for want of a bound. The certificate
        decides whether either word counts.
        """
        p = self.program
        relaxed = elastic_program(p)
        start = np.append(np.clip(np.zeros(p.n), p.lb, p.ub), np.ones(len(relaxed.c) - p.n))
        found = self.run(relaxed, start, deadline).point
        ray = Point(found.x[: p.n], found.y, found.z)
        if farkas(p, ray).ok or min(infeasibility(p, ray.x), infeasibility(p, point.x)) > NEAR:
            return Status.INFEASIBLE, ray
        return Status.UNBOUNDED, None


def refused(names: Iterable[str]) -> OptionError:
    """Return the error for options of the user of which Ipopt does not say which one it refused."""
    return OptionError(f"solver 'ipopt' refused its options ({', '.join(map(str, names))})", "see the solver's manual")


def _common_options(settings: Settings) -> dict[str, Any]:
    """Return the options that mean the same for every solver, by Ipopt's names."""
    tolerance = TOLERANCE if settings.tolerance is None else max(settings.tolerance, 1e-12)
    return {
        "print_level": 5 if settings.tee else 0,
        "sb": "yes",
        "tol": tolerance,
        "constr_viol_tol": tolerance,
        "compl_inf_tol": tolerance,
        "acceptable_tol": 10 * tolerance,
        "bound_relax_factor": 0.0,  # by default Ipopt moves bounds outwards, and its answer violates them
        "max_iter": 1000,
    }
