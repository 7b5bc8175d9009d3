"""Verification of a solve: the certificate of its model, and the stated numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import Certificate, Kind, bound_residual, make, merged
from fsopt.answers.results import Point, SolveResult, Status
from fsopt.answers.saved import point_from
from fsopt.certificates.bounds import farkas
from fsopt.certificates.model import StatedBound, certify_point, certify_unbounded
from fsopt.certificates.points import relative_gap
from fsopt.compiler import Program, compile_model
from fsopt.compiler.values import all_values
from fsopt.data import Dataset
from fsopt.methods.verification import extend
from fsopt.models.registry import build


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
    if result.point is None:
        return extend(_check_without_point(program, result), _stated_without_point(program, result))
    bound = result.bound
    claim = StatedBound(
        None if bound is None else program.sign * float(bound),
        result.solver,
        result.evidence,
        result.evidence_source,
    )
    found = certify_point(program, result.point, claim)
    objective = float("nan") if result.objective is None else float(result.objective)
    stated = {"objective": relative_gap(found.objective or 0.0, objective)}
    return _with_statements(found, result.status, bound, stated, program.sign)


def _with_statements(
    found: Certificate, status: Status, bound: float | None, stated: dict[str, float], sign: float
) -> Certificate:
    """Return the certificate of the claimed status, with the residuals of the stated numbers."""
    if bound is not None and found.objective is not None and status is not Status.STATIONARY:
        stated["order"] = max(sign * (float(bound) - found.objective), 0.0) / max(1.0, abs(found.objective))
    if status is Status.OPTIMAL or bound is not None:
        stated["stated bound"] = np.inf if status is Status.STATIONARY else bound_residual(bound, found.bound, sign)
    if status is Status.OPTIMAL and bound is not None:
        stated["stated gap"] = relative_gap(found.objective or 0.0, float(bound))
    kept = dict(found.residuals)
    kind = found.kind
    if status is Status.FEASIBLE and kind is not Kind.NONE:
        # The gap may be open, and with it the first-order conditions. A dual point bounds only where it is feasible.
        names = ["infeasibility", "rounding", "bounds", "integrality"]
        names += ["remainder"] * (bound is not None)
        kept, kind = {name: kept[name] for name in names if name in kept}, Kind.FEASIBLE
    residuals = merged(kept, stated)
    if kind is Kind.NONE:
        return Certificate(kind, False, residuals, found.objective, notes=found.notes)
    made = make(
        kind,
        residuals,
        objective=found.objective,
        bound=found.bound,
        bound_source=found.bound_source,
        notes=found.notes,
    )
    return made if found.ok or status is Status.FEASIBLE else extend(made, {"evidence": np.inf})


def _check_without_point(program: Program, result: SolveResult) -> Certificate:
    """Recompute the certificate of a solve that found its model infeasible or unbounded."""
    status = result.status
    if status is Status.INFEASIBLE and result.ray is not None:
        return farkas(program, result.ray)
    if status is Status.UNBOUNDED and result.direction is not None and result.evidence is not None:
        return certify_unbounded(program, result.direction, result.evidence)
    note = "the answer has no point to check"
    if status in (Status.INFEASIBLE, Status.UNBOUNDED):
        note = f"nothing in the answer shows that the model is {status}: that is the word of its solver"
    return Certificate(Kind.NONE, False, {}, notes=(note,))


def _stated_without_point(program: Program, result: SolveResult) -> dict[str, float]:
    """Return 0 or infinity for the numbers beside a claim without a point: there are none, but infinite bounds."""
    implied = {Status.INFEASIBLE: program.sign * np.inf, Status.UNBOUNDED: -program.sign * np.inf}.get(result.status)
    none = {"objective": result.objective is None, "stated bound": result.bound is None or result.bound == implied}
    return {name: 0.0 if holds else np.inf for name, holds in none.items()}


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
