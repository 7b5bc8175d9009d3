"""An oracle of solver answers that is independent of the package's certificates.

Answers are evaluated with Pyomo's ``value`` on the solved model, and compared with those of the other solvers.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr.numeric_expr import LinearExpression, MonomialTermExpression, SumExpression
from solver_cases import usable_solvers

import fsopt
from fsopt.errors import SolverError

AGREE = 1e-6
"""Largest relative difference of two optima, and of an objective value from its recomputation."""
SATISFIED = 2e-5
"""Largest violation of a constraint, relative to its own largest term."""
FLOOR = 1e-1
"""Smallest size by which a violation is divided."""
FEASIBLE = 1e-9
"""Largest violation of a point that no valid bound excludes."""
MAY_BE_INFEASIBLE = ("gmeb-hard-margin", "kernel-scaling", "l0-mpm", "l1-mpm", "mpm", "rsvm-least-norm")
"""The models that may be infeasible, their steps too. In the others w = 0 (zero multipliers, in a dual) is feasible."""
MAY_BE_UNBOUNDED = frozenset({"bmpm", "s-mpm"})
"""The models that may be unbounded, with a singular covariance matrix. The others have bounded objectives."""


@dataclass(frozen=True)
class Answer:
    """The answer of one solver, as in its result, and what the model says of it."""

    solver: str
    status: str
    objective: float | None
    bound: float | None
    held: bool = True  # certify confirms an optimum
    value: float | None = None  # the objective by Pyomo
    violation: float = 0.0  # the largest one
    worst: str = ""  # the name of it
    feasible: bool = False  # up to rounding: no valid bound excludes it
    rounded: float | None = None  # the optimum with the integers fixed at their rounded values

    def __str__(self) -> str:
        shown = f"{self.solver} {self.status}"
        if self.objective is not None:
            shown += f" {self.objective:.10g}"
        return shown if self.bound is None else f"{shown} (bound {self.bound:.10g})"


def claimants(slug: str) -> list[str]:
    return [s for s in usable_solvers() if fsopt.MODELS[slug].problem_class in fsopt.SOLVERS[s].classes]


def solve(model: Any, solver: str, time_limit: float) -> Answer | None:
    """Solve a model and evaluate the answer; None where the solver refuses the model."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = fsopt.solve(model, solver, time_limit=time_limit)
    except SolverError:
        return None
    answer = Answer(solver, str(result.status), result.objective, result.bound)
    if not result.status.solved:
        return answer
    violation, worst = largest_violation(model)
    return replace(
        answer,
        held=result.status != "optimal" or fsopt.certify(model, result).ok,
        value=float(pyo.value(objective_of(model))),
        violation=violation,
        worst=worst,
        feasible=largest_violation(model, strict=True)[0] <= FEASIBLE,
        rounded=value_of_rounded(model),
    )


def objective_of(model: Any) -> Any:
    return next(model.component_data_objects(pyo.Objective, active=True))


def terms(expression: Any) -> Iterator[Any]:
    if isinstance(expression, (SumExpression, LinearExpression)):
        for argument in expression.args:
            yield from terms(argument)
    else:
        yield expression


def largest_violation(model: Any, *, strict: bool = False) -> tuple[float, str]:
    """Return the largest violation of constraints, bounds and integrality at the values of a model, and its name.

    It is relative to the largest term of its own constraint. Unless ``strict``, a term that is a variable alone counts
    with the largest value in its component, and nothing is smaller than :data:`FLOOR`: at w = 0 the constraint
    -v <= w <= v has no terms, and 1e-9 is as good as 0.
    """
    worst, floor = (0.0, ""), 1e-300 if strict else FLOOR
    for row in model.component_data_objects(pyo.Constraint, active=True):
        lower, upper, body = (None if e is None else pyo.value(e) for e in (row.lower, row.upper, row.body))
        excess = _excess(body, lower, upper)
        if excess > 0:
            sides = [abs(side) for side in (lower, upper) if side is not None]
            sizes = [abs(pyo.value(t)) if strict else _term_size(t) for t in terms(row.body)]
            worst = max(worst, (excess / max(*sizes, *sides, floor), row.name))
    for variable in model.component_data_objects(pyo.Var, active=True):
        if variable.value is None or variable.fixed:
            continue
        excess = _excess(variable.value, *variable.bounds)
        worst = max(worst, (excess / max(_component_size(variable), floor), variable.name))
        if not variable.is_continuous():
            worst = max(worst, (abs(variable.value - round(variable.value)), variable.name))
    return worst


def _component_size(variable: Any) -> float:
    return max(abs(v.value or 0.0) for v in variable.parent_component().values())


def _term_size(term: Any) -> float:
    """Return the size of a term; a continuous variable alone has the size of its component."""
    factors = term.args if isinstance(term, MonomialTermExpression) else (1.0, term)
    coefficient, variable = pyo.value(factors[0]), factors[1]
    alone = abs(coefficient) == 1.0 and getattr(variable, "ctype", None) is pyo.Var and variable.is_continuous()
    return _component_size(variable) if alone else abs(pyo.value(term))


def _excess(value: float, lower: float | None, upper: float | None) -> float:
    return max(0.0, -np.inf if lower is None else lower - value, -np.inf if upper is None else value - upper)


def value_of_rounded(model: Any) -> float | None:
    """Return the optimum with the integers fixed at their rounded values, by the preferred solver of the rest.

    A continuous variable may leak through a big-M constraint whose binary variable is 1e-6 instead of 0. None where
    the model has no integers or the rest is not solved to an optimum.
    """
    integers = [v for v in model.component_data_objects(pyo.Var, active=True) if not v.is_continuous() and not v.fixed]
    if not integers:
        return None
    rest = model.clone()
    for variable in rest.component_data_objects(pyo.Var, active=True):
        if not variable.is_continuous():
            variable.fix(round(variable.value))
    try:
        result = fsopt.solve(rest, time_limit=5.0)
    except SolverError:
        return None
    return result.objective if result.status == "optimal" else None


def relative(a: float, b: float) -> float:
    """Return the difference of two values, relative to the larger of 1 and them."""
    return abs(a - b) / max(1.0, abs(a), abs(b))


def contradictions(slug: str, answers: list[Answer], sign: float) -> list[str]:
    """Return what is wrong with the answers to one instance, one line each; sign is 1 for a minimisation, else -1."""
    optimal = [a for a in answers if a.status == "optimal"]
    values = [a.objective for a in optimal]
    agreed = not values or relative(max(values), min(values)) <= AGREE
    found = [] if agreed else [f"optima differ: {', '.join(map(str, optimal))}"]
    points = [a for a in answers if a.value is not None and (a.feasible or (a in optimal and agreed))]
    for one in answers:
        found += [f"{what}: {one}{detail}" for what, detail in _faults(slug, one, optimal, points, sign)]
    return found


def _faults(
    slug: str, one: Answer, optimal: list[Answer], points: list[Answer], sign: float
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with one answer, as a name and what contradicts it."""
    if one.value is not None and relative(one.value, one.objective) > AGREE:
        yield "objective", f", by Pyomo {one.value:.10g}"
    if one.status == "optimal" and one.violation > SATISFIED:
        yield "violated", f", '{one.worst}' by {one.violation:.1e} of its largest term"
    if one.status == "optimal" and one.rounded is not None and relative(one.rounded, one.objective) > AGREE:
        yield "leak", f", with its integers rounded {one.rounded:.10g}"
    if not one.held:
        yield "certify", ", refused by fsopt.certify"
    if one.status == "infeasible" and (slug.removesuffix("-step") not in MAY_BE_INFEASIBLE or points):
        yield "false infeasible", f", but {_listed(points) or 'zero is feasible'}"
    if one.status == "unbounded" and (slug not in MAY_BE_UNBOUNDED or optimal):
        yield "false unbounded", f", but {_listed(optimal) or 'the objective is bounded'}"
    better = [p for p in points if p is not one and one.status == "optimal" and _above(one.objective, p.value, sign)]
    if better and one not in points:
        yield "better point", f", attained {_listed(better)}"
    excluded = [p for p in points if one.bound is not None and _above(one.bound, p.value, sign)]
    if excluded:
        yield "bound", f", attained {_listed(excluded)}"


def _above(bound: float, value: float, sign: float) -> bool:
    return sign * (bound - value) > AGREE * max(1.0, abs(value))


def _listed(answers: list[Answer]) -> str:
    return ", ".join(map(str, answers))
