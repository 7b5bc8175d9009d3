"""Verification of a solve: the certificate of its model, and the stated numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import Certificate, bound_residual
from fsopt.answers.results import Point, SolveResult, Status
from fsopt.answers.saved import point_from
from fsopt.certificates.bounds import crossed
from fsopt.certificates.model import StatedBound, certify_point, certify_without_point
from fsopt.certificates.points import relative_gap
from fsopt.compiler import Program, compile_model
from fsopt.compiler.values import all_values
from fsopt.data import Dataset
from fsopt.methods.verdict import extend
from fsopt.models.registry import build
from fsopt.solvers.outcome import supporting


def check_solve(record: Mapping[str, Any], data: Dataset) -> Certificate:
    """Recompute the certificate of a saved solve from the data of its model."""
    model = build(record["model"], data, **record["params"])
    program = compile_model(model)
    result = result_from(record, program)
    found = check_result(program, result)
    if result.point is None:
        return extend(found, {"solution": float("inf") if record.get("solution") else 0.0})
    return extend(found, {"solution": _solution_residual(model, program, result.point, record.get("solution"))})


def result_from(record: Mapping[str, Any], program: Program) -> SolveResult:
    """Return the result of a saved solve of a program; raises FileError where a point does not fit the program."""

    def point(name: str) -> Point | None:
        return None if record.get(name) is None else point_from(record[name], program)

    return SolveResult(
        status=Status(record["status"]),
        stop=str(record.get("stop", "")),
        objective=record.get("objective"),
        bound=record.get("bound"),
        solver=str(record.get("solver")),
        seconds={},
        iterations=0,
        evidence_source=str(record.get("evidence_source", "")),
        point=point("point"),
        evidence=point("evidence"),
        ray=point("ray"),
        direction=point("direction"),
    )


def check_result(program: Program, result: SolveResult) -> Certificate:
    """Recompute the certificate of the result of a solve from the program.

    The bound of a program with integers, or of one that is not convex, rests on the solver's word, and the source of
    the bound says so.
    """
    bound, sign = result.bound, program.sign
    if result.point is None or crossed(program):
        found = certify_without_point(program, result.ray, result.direction, result.evidence)
        return extend(found, _stated_without_point(program, result))
    claim = StatedBound(
        sign * float(bound) if bound is not None and math.isfinite(bound) else None,
        result.solver,
        result.evidence,
        result.evidence_source,
    )
    found = certify_point(program, result.point, claim)
    found = supporting(program, found, result.status, bounded=bound is not None)
    return extend(found, _stated_at_point(found, result, sign))


def _stated_at_point(found: Certificate, result: SolveResult, sign: float) -> dict[str, float]:
    """Return the residuals of the objective value and the bound that a result states of its point."""
    status, bound = result.status, result.bound
    value = found.objective
    objective = math.nan if result.objective is None else float(result.objective)
    stated = {"objective": relative_gap(value or 0.0, objective)}
    if bound is not None and value is not None and status is not Status.STATIONARY:
        stated["order"] = max(sign * (float(bound) - value), 0.0) / max(1.0, abs(value))
    if status is Status.OPTIMAL or bound is not None:
        stated["stated bound"] = math.inf if status is Status.STATIONARY else bound_residual(bound, found.bound, sign)
    if status is Status.OPTIMAL and bound is not None:
        stated["stated gap"] = relative_gap(value or 0.0, float(bound))
    return stated


def _stated_without_point(program: Program, result: SolveResult) -> dict[str, float]:
    """Return 0 or infinity for the numbers beside a claim without a point: there are none, but infinite bounds."""
    highest = {Status.INFEASIBLE: math.inf, Status.UNBOUNDED: -math.inf}.get(result.status, -math.inf)
    stated = result.bound
    true = stated is None or (math.isinf(stated) and program.sign * stated <= highest)
    none = {"objective": result.objective is None, "stated bound": true}
    return {name: 0.0 if holds else math.inf for name, holds in none.items()}


def _solution_residual(model: pyo.ConcreteModel, program: Program, point: Point, solution: Any) -> float:
    """Return the largest relative difference of the stated values of the variables from those of the point."""
    for variable, value in zip(program.variables, point.x.tolist(), strict=True):
        if not variable.fixed:
            variable.set_value(value, skip_validation=True)
    values = {name: np.array(value, dtype=float) for name, value in all_values(model).items()}
    if {name: value.shape for name, value in values.items()} != {k: np.shape(v) for k, v in (solution or {}).items()}:
        return np.inf
    # A text of digits is no number: it cannot be subtracted.
    off = [np.abs(here - solution[name]) / np.maximum(1.0, np.abs(here)) for name, here in values.items()]
    return float(np.max([part.max(initial=0.0) for part in off], initial=0.0))
