r"""Sensitivity of an optimum: shadow prices and reduced costs, and for linear programs the ranges in which they hold.

The shadow price of a constraint is d objective / d right-hand side. For a linear program the simplex basis gives the
range of each right-hand side in which the price stays, and the range of each cost in which the optimal vertex stays.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.questions import Answer
from fsopt.answers.results import SolveResult
from fsopt.common.arguments import TEXT, checked, optional
from fsopt.common.figures import bars_figure
from fsopt.compiler import Program
from fsopt.compiler.program import MODEL
from fsopt.errors import SolverError
from fsopt.solvers.base import Session
from fsopt.solvers.highs import ranges
from fsopt.solvers.registry import no_multipliers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Range = tuple[float, float] | None


@dataclass(frozen=True)
class SensitivityRow:
    """A constraint or variable in the answer.

    Attributes
    ----------
    name, equation : of the constraint or variable; the ``doc`` of its component.
    value : left-hand side of the constraint, or value of the variable.
    price : shadow price, or reduced cost.
    range : of the right-hand side with this price, or of the cost with this vertex; None where it is not known.
    """

    name: str
    equation: str
    value: float
    price: float
    range: Range


@dataclass(frozen=True)
class Sensitivity(Answer):
    """The answer of :func:`sensitivity`: the solve, constraints and variables in the order of the model."""

    result: SolveResult
    constraints: tuple[SensitivityRow, ...]
    variables: tuple[SensitivityRow, ...]

    @property
    def heading(self) -> dict[str, Any]:
        """Objective value and solver."""
        return {"objective": self.result.objective, "solver": self.result.solver}

    def to_records(self) -> list[dict[str, Any]]:
        """Return a record for each constraint and variable: its kind, and the fields of a :class:`SensitivityRow`."""
        kinds = {"constraint": self.constraints, "variable": self.variables}
        return [{"kind": kind, **asdict(line)} for kind, lines in kinds.items() for line in lines]

    def plot(self) -> Figure:
        """Return the largest shadow prices."""
        lines = self.largest(20)
        return bars_figure([line.name for line in lines], [line.price for line in lines], "shadow price")

    def largest(self, count: int = 10) -> tuple[SensitivityRow, ...]:
        """Return the constraints of the largest shadow prices by size, without those of price 0."""
        binding = [line for line in self.constraints if abs(line.price) > 0.0]
        return tuple(sorted(binding, key=lambda line: -abs(line.price))[:count])


@checked(model=MODEL, solver=optional(TEXT))
def sensitivity(model: pyo.ConcreteModel, solver: str | None = None) -> Sensitivity:
    """Solve a model and return shadow prices and reduced costs, with their ranges for a linear program.

    Parameters
    ----------
    model : pyo.ConcreteModel
        Of a class whose solver returns multipliers; with integers fixed, of the program that is left.
    solver : str, optional
        Registry name; ranges come from HiGHS's basis, whichever solver is named.

    Returns
    -------
    Sensitivity
        Prices are derivatives of the optimum in the model's own sense. At a degenerate vertex they are those of one
        basis, and ranges may be a single point.

    Raises
    ------
    SolverError : the model has no optimum, or the solver returns no multipliers.
    """
    session = Session(model, solver)
    return of_optimum(session, session.solve())


def of_optimum(session: Session, result: SolveResult) -> Sensitivity:
    """Return the sensitivity of the result of a session; raises SolverError, as :func:`sensitivity`."""
    if result.status != "optimal":
        raise SolverError(
            f"'{session.model.name}' has no certified optimum: {result.status} ({result.stop})",
            "'fsopt solve --explain' says why a model is infeasible",
        )
    point = result.point
    if point is None or point.y is None:
        raise no_multipliers(result.solver, session.problem_class)
    p = session.program
    right, cost = ranges(p) if session.problem_class == "LP" else (None, None)
    reduced = p.sign * (p.P @ point.x + p.c - p.A.T @ point.y[: len(p.lo)] - _cones(p, point.z))
    activity = p.A @ point.x
    constraints = [
        SensitivityRow(c.name, _equation(c), float(activity[i]), float(p.sign * point.y[i]), _pair(right, i))
        for i, c in enumerate(p.constraints)
    ]
    variables = [
        SensitivityRow(v.name, _equation(v), float(point.x[j]), float(reduced[j]), _turned(_pair(cost, j), p.sign))
        for j, v in enumerate(p.variables)
    ]
    return Sensitivity(result, tuple(constraints), tuple(variables))


def _cones(p: Program, z: Any) -> Any:
    return 0.0 if z is None or not len(p.cones) else p.cones.G.T @ z


def _equation(data: Any) -> str:
    return str(data.parent_component().doc or "")


def _pair(found: Any, k: int) -> Range:
    return None if found is None else (float(found[0][k]), float(found[1][k]))


def _turned(pair: Range, sign: float) -> Range:
    """Return the range of a cost in the model's own sense."""
    return pair if pair is None or sign > 0 else (float(-pair[1]), float(-pair[0]))


def unlimited(value: float) -> bool:
    """Return whether an end of a range is none."""
    return not np.isfinite(value) or abs(value) >= 1e20
