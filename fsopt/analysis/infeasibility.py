r"""Infeasibility explained: constraints and bounds that contradict each other, by component and equation.

The multipliers of a Farkas certificate name the constraints and bounds of a convex program that prove its
infeasibility. A deletion filter makes the set irreducible: one member after the other is left out, and stays out where
the rest is infeasible still (Chinneck, Feasibility and Infeasibility in Optimization, section 6). For programs with
integers the filter starts from all linear constraints.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.questions import Answer
from fsopt.answers.results import Point, Status
from fsopt.certificates.bounds import farkas
from fsopt.common.arguments import SECONDS, checked
from fsopt.common.figures import bars_figure
from fsopt.compiler import Program
from fsopt.compiler.classes import CONVEX, program_class
from fsopt.compiler.program import MODEL
from fsopt.errors import ParameterError
from fsopt.solvers.base import Session
from fsopt.solvers.connection import Connection
from fsopt.solvers.interface import Settings
from fsopt.solvers.registry import preference
from fsopt.solvers.shared import without_objective
from fsopt.typing import Mask

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SMALL = 1e-7
"""Terms of a Farkas certificate below this fraction of the largest one are rounding."""
MOST = 2000
"""Members from which the deletion filter is left out."""
NUMBER = "{:.6g}"


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
    session = Session(model)
    program = without_objective(session.program)
    if np.any(program.lb > program.ub) or np.any(program.lo > program.hi):
        return Explanation("infeasible", _empty_ranges(program), True, "an empty range")
    result = session.solve(time_limit=time_limit, load=False)
    if result.status.solved:
        return Explanation("feasible", (), False, result.solver)
    convex = program_class(program) in CONVEX
    active = _Active.all_of(program)
    ray = result.ray if result.status is Status.INFEASIBLE else None
    if convex and ray is not None:
        active = _Active.of_ray(program, ray)
    if not convex and result.status is not Status.INFEASIBLE:
        return Explanation("unknown", (), False, result.solver)
    if convex and ray is None and not _infeasible(active.program(program), end)[0]:
        feasible = result.status in (Status.UNBOUNDED, Status.FEASIBLE)
        return Explanation("feasible" if feasible else "unknown", (), False, result.solver)
    active, irreducible = _filtered(program, active, end)
    _, ray = _infeasible(active.program(program), end + 1.0)
    proved = ray is not None and farkas(active.program(program), ray).ok
    irreducible = irreducible and not len(program.cones) and not program.general  # which are not filtered
    return Explanation(
        "infeasible", _members(program, active, ray), irreducible, "Farkas multipliers" if proved else result.solver
    )


@dataclass(frozen=True)
class _Active:
    """Which constraints (m,) and which lower and upper bounds (n,) are in force; cones always are."""

    rows: Mask
    lower: Mask
    upper: Mask

    @classmethod
    def all_of(cls, p: Program) -> _Active:
        """Return all that are finite."""
        return cls(np.ones(len(p.lo), dtype=bool), np.isfinite(p.lb), np.isfinite(p.ub))

    @classmethod
    def of_ray(cls, p: Program, ray: Point) -> _Active:
        """Return those with a multiplier in a Farkas certificate."""
        y, z = ray.multipliers
        y = y[: len(p.lo)]
        reduced = -(p.A.T @ y + p.cones.G.T @ z)
        terms = np.abs(np.concatenate([y / p.scaling.rows, reduced * p.scaling.columns]))
        needed = terms > SMALL * terms.max(initial=0.0)
        columns = needed[len(y) :]
        return cls(
            needed[: len(y)],
            columns & (reduced > 0) & np.isfinite(p.lb),
            columns & (reduced < 0) & np.isfinite(p.ub),
        )

    def program(self, p: Program) -> Program:
        """Return the program with these in force only."""
        found = replace(
            p,
            lo=np.where(self.rows, p.lo, -np.inf),
            hi=np.where(self.rows, p.hi, np.inf),
            lb=np.where(self.lower, p.lb, -np.inf),
            ub=np.where(self.upper, p.ub, np.inf),
        )
        found.__dict__.pop("scaling", None)
        return found

    def without(self, place: tuple[str, int]) -> _Active:
        """Return the same without one."""
        name, k = place
        mask = getattr(self, name).copy()
        mask[k] = False
        return replace(self, **{name: mask})

    def places(self) -> list[tuple[str, int]]:
        """Return mask and place of each, bounds first: constraints are the better explanation."""
        order = ("lower", "upper", "rows")
        return [(name, int(k)) for name in order for k in np.flatnonzero(getattr(self, name))]

    def groups(self, p: Program) -> list[list[tuple[str, int]]]:
        """Return the places by component."""
        found: dict[tuple[str, str], list[tuple[str, int]]] = {}
        for name, k in self.places():
            data = p.constraints[k] if name == "rows" else p.variables[k]
            found.setdefault((name, str(data.parent_component().name)), []).append((name, k))
        return list(found.values())


def _filtered(p: Program, active: _Active, end: float) -> tuple[_Active, bool]:
    """Return an infeasible part of what is in force, and whether it is irreducible."""
    start = active.program(p)
    if not _infeasible(start, end)[0]:  # the certificate lost digits by its small terms
        active = _Active.all_of(p)
    for group in active.groups(p):  # an interior point leaves a term of every constraint
        fewer = active
        for place in group:
            fewer = fewer.without(place)
        if _infeasible(fewer.program(p), end)[0]:
            active = fewer
    places = active.places()
    if len(places) > MOST:
        return active, False
    for place in places:
        if time.perf_counter() > end:
            return active, False
        fewer = active.without(place)
        if _infeasible(fewer.program(p), end)[0]:
            active = fewer
    return active, True


def _infeasible(p: Program, end: float) -> tuple[bool, Point | None]:
    """Return whether a solver finds a program infeasible, and its Farkas vector."""
    left = max(end - time.perf_counter(), 0.1)
    for spec in preference(program_class(p)):
        if spec.available and (spec.duals or program_class(p) not in CONVEX):
            outcome = Connection(spec, p, Settings()).solve(left)
            return outcome.status is Status.INFEASIBLE, outcome.ray
    raise ParameterError("no installed solver takes a part of the model", "'fsopt solvers' lists them")


def _members(p: Program, active: _Active, ray: Point | None) -> tuple[Member, ...]:
    """Return what is in force, and the cones with a multiplier; without multipliers all of them."""
    members = [_constraint(p, int(i)) for i in np.flatnonzero(active.rows)]
    for sign, mask in ((">=", active.lower), ("<=", active.upper)):
        for j in np.flatnonzero(mask).tolist():
            members.append(_bound(p.variables[j], sign))
    z = None if ray is None else ray.z
    for k, constraint in enumerate(p.cones.constraints):
        first, last = (int(a) for a in p.cones.starts[k : k + 2])
        if z is None or np.abs(z[first:last]).max(initial=0.0) > SMALL * np.abs(z).max(initial=0.0):
            members.append(_member(constraint, "cone", f"{constraint.name}: {_short(str(constraint.expr))}"))
    members += [_member(row.constraint, "constraint", row.constraint.name) for row in p.general]
    return tuple(members)


def _constraint(p: Program, i: int) -> Member:
    constraint = p.constraints[i]
    lo, hi = p.lo[i], p.hi[i]
    names = (f"{NUMBER.format(a)} {p.variables[j].name}" for a, j in _entries(p, i))
    body = _short(" + ".join(names).replace("+ -", "- ")) or "0"
    if lo == hi:
        text = f"{body} = {NUMBER.format(hi)}"
    elif np.isinf(lo):
        text = f"{body} <= {NUMBER.format(hi)}"
    else:
        text = f"{body} >= {NUMBER.format(lo)}" + (f" and <= {NUMBER.format(hi)}" if np.isfinite(hi) else "")
    return _member(constraint, "constraint", f"{constraint.name}: {text}")


def _entries(p: Program, i: int) -> Iterable[tuple[float, int]]:
    first, last = p.A.indptr[i : i + 2]
    return zip(p.A.data[first:last].tolist(), p.A.indices[first:last].tolist(), strict=True)


def _bound(variable: pyo.Var, sign: str) -> Member:
    value = variable.lb if sign == ">=" else variable.ub
    if variable.fixed:
        return _member(variable, "bound", f"{variable.name} is fixed at {NUMBER.format(variable.value)}")
    return _member(variable, "bound", f"{variable.name} {sign} {NUMBER.format(value)}")


def _member(data: pyo.Var | pyo.Constraint, kind: str, text: str) -> Member:
    parent = data.parent_component()
    index = data.index() if parent.is_indexed() else None
    return Member(str(parent.name), index, str(parent.doc or ""), kind, text)


def _empty_ranges(p: Program) -> tuple[Member, ...]:
    """Return the constraint or variable whose lower bound lies above its upper one."""
    rows, columns = np.flatnonzero(p.lo > p.hi), np.flatnonzero(p.lb > p.ub)
    if len(rows):
        return (_constraint(p, int(rows[0])),)
    variable = p.variables[int(columns[0])]
    return (_bound(variable, ">="), _bound(variable, "<="))


def _short(text: str) -> str:
    return text if len(text) <= 90 else text[:87] + "..."


@dataclass(frozen=True)
class Member:
    """A constraint or bound of a contradiction.

    Attributes
    ----------
    component, index : of the model; ``index`` is None for a component without indices.
    equation : its ``doc``, which begins with the equation of the paper.
    kind : ``constraint``, ``bound`` (of a variable), or ``cone``.
    text : what it asks for.
    """

    component: str
    index: object
    equation: str
    kind: str
    text: str


@dataclass(frozen=True)
class Explanation(Answer):
    """The answer of :func:`fsopt.explain_infeasibility`.

    Attributes
    ----------
    status : ``infeasible``, ``feasible``, or ``unknown`` where no solver settled it in time.
    members : the contradiction; empty for a feasible model.
    irreducible : whether each member is needed: without any of them the others have a point.
    evidence : ``Farkas multipliers`` that hold, or the name of the solver on whose search the statement rests.
    """

    status: str
    members: tuple[Member, ...]
    irreducible: bool
    evidence: str

    @property
    def heading(self) -> dict[str, Any]:
        """Status, irreducibility and evidence."""
        return {"status": self.status, "irreducible": self.irreducible, "evidence": self.evidence}

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record for each member: the attributes of a :class:`Member`."""
        return [asdict(member) for member in self.members]

    def plot(self) -> Figure:
        """Return the number of members of each component."""
        counts = Counter(member.component for member in self.members)
        return bars_figure(list(counts), list(counts.values()), "members of the contradiction")

    def summary(self) -> str:
        """Return the contradiction as text, one line for each member, by component."""
        if self.status != "infeasible":
            return f"the model is {self.status}" if self.status == "feasible" else "not settled in time"
        head = "an irreducible contradiction" if self.irreducible else "a contradiction, not known to be irreducible,"
        lines = [f"the model is infeasible: {head} of {len(self.members)} members ({self.evidence})"]
        for name in dict.fromkeys(m.component for m in self.members):
            group = [m for m in self.members if m.component == name]
            lines.append(f"  {name}: {group[0].equation}" if group[0].equation else f"  {name}")
            lines += [f"    {m.text}" for m in group[:10]]
            lines += [f"    and {len(group) - 10} more"] if len(group) > 10 else []
        return "\n".join(lines)
