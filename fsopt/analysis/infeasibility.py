"""Infeasibility explained: constraints and bounds that contradict each other, by component and equation.

A deletion filter (Chinneck, Feasibility and Infeasibility in Optimization, section 6): each constraint and bound is
left out, and stays out where the rest is infeasible still, with all that its Farkas certificate does not name.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.records import Answer
from fsopt.answers.results import Status
from fsopt.certificates.bounds import farkas
from fsopt.common.arguments import SECONDS, checked
from fsopt.common.figures import bars_figure
from fsopt.compiler import Program
from fsopt.compiler.classes import CONVEX, program_class
from fsopt.compiler.program import MODEL
from fsopt.errors import ParameterError
from fsopt.solvers.base import Session
from fsopt.solvers.registry import preference
from fsopt.solvers.shared import without_objective
from fsopt.solvers.spec import Connection, Outcome, Settings
from fsopt.typing import Mask

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALL = 1e-7
"""Terms of a Farkas certificate below this fraction of the largest one are rounding."""


@checked(model=MODEL, time_limit=SECONDS)
def explain_infeasibility(model: pyo.ConcreteModel, *, time_limit: float = 60.0) -> Explanation:
    """Explain the infeasibility of a model by component and equation.

    Parameters
    ----------
    model : pyo.ConcreteModel
        Any Pyomo model of a class that an installed solver takes; its objective does not matter.
    time_limit : float, default 60.0
        Seconds. Where they are over, the set found by then is returned.

    Returns
    -------
    Explanation
        The members contradict each other: a Farkas certificate of theirs was recomputed by fsopt, or, with integers
        and nonconvex constraints, the named solver finds no point.

    Raises
    ------
    SolverError : no installed solver takes the model.
    """
    end = time.perf_counter() + time_limit
    p = without_objective(Session(model).program)
    active = np.concatenate([np.isfinite(p.lo) | np.isfinite(p.hi), np.isfinite(p.lb), np.isfinite(p.ub)])
    solver, outcome = _solved(p, active, end)
    if outcome.status is not Status.INFEASIBLE:
        return Explanation("feasible" if outcome.status.solved else "unknown", (), False, solver)
    active = _named(p, active, outcome, end)
    for k in np.roll(np.arange(len(active)), -len(p.lo)):  # bounds leave first: constraints are the better explanation
        rest = active & (np.arange(len(active)) != k)
        if active[k] and time.perf_counter() < end and (found := _solved(p, rest, end)[1]).status is Status.INFEASIBLE:
            active = _named(p, rest, found, end)
    whole = time.perf_counter() < end and not len(p.cones) and not p.general  # which are always in force
    proved = (ray := _solved(p, active, end + 1.0)[1].ray) is not None and farkas(_part(p, active), ray).ok
    owners = [*p.constraints, *p.variables, *p.variables]
    limits = [""] * len(p.lo) + [f">= {low:.6g}" for low in p.lb] + [f"<= {high:.6g}" for high in p.ub]
    members = [_member(owners[k], limits[k]) for k in np.flatnonzero(active)]
    members += [_member(one) for one in (*p.cones.constraints, *(row.constraint for row in p.general))]
    return Explanation("infeasible", tuple(members), whole, "Farkas multipliers" if proved else solver)


def _part(p: Program, active: Mask) -> Program:
    """Return the program with some constraints, lower and upper bounds (m + 2n,) only; cones are always in force."""
    rows, lower, upper = np.split(active, np.cumsum([len(p.lo), len(p.lb)]))
    ends: dict[str, Any] = {"lo": (rows, -np.inf), "hi": (rows, np.inf), "lb": (lower, -np.inf), "ub": (upper, np.inf)}
    part = replace(p, **{name: np.where(one[0], getattr(p, name), one[1]) for name, one in ends.items()})
    part.__dict__.pop("scaling", None)
    return part


def _solved(p: Program, active: Mask, end: float) -> tuple[str, Outcome]:
    """Return the answer to a part of a program, and the name of its solver."""
    part = _part(p, active)
    for spec in preference(program_class(part)):
        if spec.available and (spec.duals or program_class(part) not in CONVEX):
            return spec.name, Connection(spec, part, Settings()).solve(max(end - time.perf_counter(), 0.1))
    raise ParameterError("no installed solver takes a part of the model", "'fsopt solvers' lists them")


def _named(p: Program, active: Mask, outcome: Outcome, end: float) -> Mask:
    """Return the part of an infeasible one that its Farkas certificate names, all of it where that is feasible."""
    if outcome.ray is None:
        return active
    (y, z), m = outcome.ray.multipliers, len(p.lo)
    reduced = -(p.A.T @ y[:m] + p.cones.G.T @ z) * p.scaling.columns
    terms = np.concatenate([np.abs(y[:m] / p.scaling.rows), reduced, -reduced])
    named: Mask = active & (terms > SMALL * np.abs(terms).max(initial=0.0))
    return named if _solved(p, named, end)[1].status is Status.INFEASIBLE else active


def _member(data: Any, limit: str = "") -> dict[str, Any]:
    """Return a constraint, whose long expression is cut in the middle, or a bound as a member."""
    text = f"{data.name} {limit}" if limit else " ".join(f"{data.name}: {data.expr}".split())
    text = text if len(text) <= 90 else f"{text[:60]} ... {text[-25:]}"
    index = data.index() if (parent := data.parent_component()).is_indexed() else None
    return {"component": parent.name, "index": index, "equation": parent.doc or "", "text": text}


@dataclass(frozen=True)
class Explanation(Answer):
    """The answer of :func:`fsopt.explain_infeasibility`.

    Attributes
    ----------
    status : ``infeasible``, ``feasible``, or ``unknown`` where no solver settled it in time.
    members : a record for each constraint and bound of the contradiction: ``component`` and ``index`` (None without
        one) of the model, ``equation``, its ``doc``, and ``text``, what it asks for. Empty for a feasible model.
    irreducible : whether each member is needed: without any of them the others have a point.
    evidence : ``Farkas multipliers`` that hold, or the name of the solver on whose search the statement rests.
    """

    status: str
    members: tuple[dict[str, Any], ...]
    irreducible: bool
    evidence: str

    shown: ClassVar[tuple[str, ...]] = ("equation", "text")

    @property
    def heading(self) -> dict[str, Any]:
        """Status, irreducibility and evidence."""
        return {"status": self.status, "irreducible": self.irreducible, "evidence": self.evidence}

    def to_records(self) -> list[dict[str, Any]]:
        """Return the members."""
        return list(self.members)

    def plot(self) -> Figure:
        """Return the number of members of each component."""
        counts = Counter(member["component"] for member in self.members)
        return bars_figure(list(counts), list(counts.values()), "members of the contradiction")
