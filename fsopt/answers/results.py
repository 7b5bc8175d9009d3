"""Results of a solve, a driver and a method: frozen records with the status separate from the reason to stop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pyomo.common.collections import ComponentMap

from fsopt.answers.certificate import Certificate, Kind, status_line
from fsopt.common.arguments import Argument, checked
from fsopt.errors import ParameterError
from fsopt.typing import Vector

if TYPE_CHECKING:
    import pyomo.environ as pyo


_GLOBAL = frozenset({Kind.CONVEX, Kind.MIXED_INTEGER, Kind.GLOBAL, Kind.GBD})
_LOCAL = frozenset({Kind.KKT, Kind.DCA, Kind.SLA, Kind.PMM})


class Status(StrEnum):
    """The strongest statement about an answer that fsopt verified; never the solver's status alone."""

    OPTIMAL = "optimal"
    """A global optimum within the optimality gap; the certificate holds."""
    STATIONARY = "stationary"
    """A point with a verified first-order condition; not known to be a global optimum."""
    FEASIBLE = "feasible"
    """A feasible point without a verified optimality condition."""
    INFEASIBLE = "infeasible"
    """The model has no point; a Farkas vector proves it."""
    UNBOUNDED = "unbounded"
    """The objective has no bound: a feasible point and a direction along which it falls prove it."""
    NONE = "none"
    """No usable point."""

    @property
    def solved(self) -> bool:
        """Whether there is a usable answer (exit code 0 of the command line)."""
        return self in (Status.OPTIMAL, Status.STATIONARY, Status.FEASIBLE)


@dataclass(frozen=True)
class Point:
    """A primal-dual point of a compiled program, in the sign convention of its minimisation form.

    Attributes
    ----------
    x : (n,) values of the variables.
    y : (m,) multipliers of the linear constraints, ``y >= 0`` at an active lower bound and ``y <= 0`` at an active
        upper bound, followed by the multipliers of the general constraints (neither linear nor cones); None if unknown.
    z : (k,) stacked multipliers of the cones, each block in the (self-dual) cone; None if unknown.
    """

    x: Vector
    y: Vector | None = None
    z: Vector | None = None

    @property
    def multipliers(self) -> tuple[Vector, Vector]:
        """The multipliers y and z; raises ParameterError if one of them is unknown."""
        if self.y is None or self.z is None:
            raise ParameterError(
                "the point has no multipliers", "choose a solver that 'fsopt solvers' lists with duals"
            )
        return self.y, self.z


@dataclass(frozen=True)
class SolveResult:
    """The outcome of one call of a solver.

    Attributes
    ----------
    status : the strongest verified statement; ``optimal`` only if ``certificate.ok``.
    stop : why the solver stopped, one of the words of :class:`fsopt.solvers.spec.Outcome`.
    objective : objective value at the point, in the model's own sense.
    bound : lower bound of a minimum, or upper bound of a maximum; None if there is none.
    solver : name of the solver.
    seconds : ``build`` (0 here), ``translate``, ``solve`` and ``load`` in seconds.
    iterations : simplex, interior-point or branch-and-bound count, as the solver counts.
    certificate : numbers recomputed by fsopt from the model and the point.
    point : the primal-dual point, for certificates and saved answers; None without a usable point.
    evidence, evidence_source : primal-dual point of another solver and its name, where the solver itself returned no
        multipliers: of the same program, or with the integers fixed at their values.
    direction : the recession direction that proves unboundedness; None where there is none.
    ray : the multipliers that prove infeasibility; None if there are none.
    message : the solver's own words, if they say more than ``stop``.
    constraint_duals : pairs of a constraint and its dual variable in Pyomo's shadow-price convention; empty if the
        solver gave no multipliers.
    """

    status: Status
    stop: str
    objective: float | None
    bound: float | None
    solver: str
    seconds: Mapping[str, float]
    iterations: int
    certificate: Certificate | None = None
    point: Point | None = field(default=None, repr=False)
    message: str = ""
    ray: Point | None = field(default=None, repr=False)
    direction: Point | None = field(default=None, repr=False)
    evidence: Point | None = field(default=None, repr=False)
    evidence_source: str = ""
    constraint_duals: tuple[tuple[pyo.Constraint, float], ...] = field(default=(), repr=False)

    @property
    def status_line(self) -> str:
        """The status, with the solver whose word the bound is, or ``numerically``: ``optimal (bound: highs)``."""
        found = self.certificate
        return str(self.status) if found is None else status_line(self.status, found.bound_source, found.notes)

    @cached_property
    def shadow_prices(self) -> ComponentMap:
        """Constraint -> d objective / d right-hand side."""
        # It keeps its constraints alive: of a dictionary of ids a deleted one could answer for another constraint.
        return ComponentMap(self.constraint_duals)

    @property
    def supported(self) -> Point | None:
        """The point whose multipliers show the bound: its own point, or that of another solver where it has none."""
        return self.evidence if self.point is not None and self.point.y is None and self.evidence else self.point

    @checked(component=Argument("a component", lambda value: hasattr(value, "ctype"), "give a constraint of the model"))
    def duals(self, component: pyo.Constraint) -> dict[Any, float]:
        """Return index -> dual variable of the active constraints in a Pyomo component.

        The sign is Pyomo's shadow-price convention, d objective / d right-hand side. The dual variable of a cone
        written as a quadratic constraint is nan at the apex of the cone, where the quadratic form has no multiplier.

        Raises
        ------
        ParameterError : the solver gave no multipliers, or the component was not in the model at the solve.
        """
        if not self.constraint_duals:
            raise ParameterError(
                f"solver '{self.solver}' gave no multipliers", "choose one that 'fsopt solvers' lists with duals"
            )
        active = {index: data for index, data in component.items() if data.active}
        for data in active.values():
            if data not in self.shadow_prices:
                raise ParameterError(
                    f"constraint '{data.name}' is not a constraint of the solved model",
                    "give a component of the model that was solved, as it was at the solve",
                )
        return {index: self.shadow_prices[data] for index, data in active.items()}


RESULT = Argument("a SolveResult", lambda value: isinstance(value, SolveResult), "give the result of fsopt.solve")


@dataclass(frozen=True)
class DriverResult:
    """The outcome of a driver, a loop over solves; status and bound refer to the driver's problem, not to a subproblem.

    Attributes
    ----------
    status, stop, objective, bound, iterations : as in :class:`SolveResult`; other reasons to stop are ``stationary``,
        ``complete``, ``memory`` and, for the gap of a search that no optimum has, for example ``within 10``.
    point : name -> value at the best iterate, and the evidence, as each driver says.
    history : one record per iteration, with the seconds of translate, update, solve and load; ``rebuilt`` holds the
        reason if the model was translated anew, ``fallback`` the reason if another solver was needed for a subproblem.
    certificate, solver : the evidence for the answer; the names of all solvers of the subproblems, joined by ``+``.
    seconds : total ``translate``, ``update``, ``solve`` and ``load`` seconds; a Fit has ``total`` too.
    """

    status: Status
    stop: str
    objective: float | None
    bound: float | None
    iterations: int
    point: Mapping[str, Any]
    history: tuple[Mapping[str, Any], ...]
    certificate: Certificate | None
    solver: str
    seconds: Mapping[str, float]


EVIDENCE: Mapping[Status, frozenset[Kind]] = MappingProxyType(
    {
        Status.OPTIMAL: _GLOBAL,
        Status.STATIONARY: _LOCAL | {Kind.GLOBAL},  # a global optimum satisfies every first-order condition
        Status.FEASIBLE: _GLOBAL | _LOCAL | {Kind.MOP, Kind.FEASIBLE},
        Status.INFEASIBLE: frozenset({Kind.INFEASIBLE}),
        Status.UNBOUNDED: frozenset({Kind.UNBOUNDED}),
    }
)
"""Claimed status -> kinds of certificates that are sufficient evidence for it, if they hold."""
