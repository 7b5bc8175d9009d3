"""Changes of a file as such, and of solves: point, solution, model and scale."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pyomo.environ as pyo
from corruption.answers import SECONDS
from corruption.changes import WORD, Record, edited, of_both, of_solves, scaled, without

import fsopt
from fsopt.compiler.classes import CONVEX


@of_both("data_sha256: replaced")
def _digest(record, rng, data):
    yield "", edited(record, "data_sha256", value="0" * 64), True
    yield "null", edited(record, "data_sha256", value=None), True


@of_both("file: key removed")
def _key_removed(record, rng, data):
    needed = (
        "method",
        "model",
        "params",
        "status",
        "coef",
        "intercept",
        "support",
        "objective",
        "preprocessing",
        "point",
    )
    for key in record:
        yield key, without(record, key), key in needed and not (key == "objective" and record[key] is None)


@of_both("file: key twice")
def _key_twice(record, rng, data):
    yield "status", '{"status": "unbounded", ' + json.dumps(record)[1:], False
    yield "objective", json.dumps(record)[:-1] + ', "objective": 12345.0}', True


@of_solves("solution: changed against the point")
def _solution(record, rng, data):
    for name, values in (record["solution"] or {}).items():
        yield name, edited(record, "solution", name, value=scaled(values, 1.01)), _some_number(values)
        yield f"{name} removed", without(record, "solution", name), False


def _some_number(values: Any) -> bool:
    flat = np.array(list(values.values()) if isinstance(values, dict) else values, dtype=object).ravel()
    return any(isinstance(v, (int, float)) and abs(v) > 1e-3 for v in flat)


@of_solves("point: perturbed")
def _point(record, rng, data):
    for name in ("x", "y", "z"):
        part = (record["point"] or {}).get(name)
        if part:
            false = name == "x" and max(map(abs, part)) > 1e-3
            yield f"{name} by 1e-3", edited(record, "point", name, value=scaled(part, 1.001)), false
            yield f"{name} NaN", edited(record, "point", name, 0, value="nan"), name == "x"
            yield f"{name} shorter", edited(record, "point", name, value=part[:-1]), name == "x"
            yield f"{name} a word", edited(record, "point", name, value="word"), name == "x"
    if record["point"]:
        yield "removed", edited(record, "point", value=None), True
        yield "a list", edited(record, "point", value=[1.0]), True


@of_solves("params: changed")
def _solve_params(record, rng, data):
    for name, default in fsopt.MODELS[record["model"]].parameters.items():
        value = record["params"].get(name, default)
        if not isinstance(value, bool) and isinstance(value, (int, float)):
            other = value + 3 if isinstance(value, int) else 2 * value + 0.1
            changed = edited(record, "params", name, value=other)
            yield f"{name}: {value} to {other}", changed, truth_of(changed, record, data)


def truth_of(changed: Record, record: Record, data: Any) -> bool | str:
    """Return whether a solve with other parameters is false, judged by solving its model again.

    The answer of a search that is feasible for the new model, with the same objective value, is false in its bound
    alone.
    """
    try:
        model = fsopt.build(changed["model"], data, **changed["params"])
    except fsopt.FsoptError:
        return True
    result = fsopt.solve(model, record["solver"], time_limit=SECONDS)
    if result.objective is None or record["objective"] is None:
        return str(result.status) != record["status"]
    if math.isclose(result.objective, record["objective"], rel_tol=1e-5, abs_tol=1e-6):
        return False
    searched = fsopt.MODELS[record["model"]].problem_class not in CONVEX
    return WORD if searched and answers(model, record) else True


def answers(model: pyo.ConcreteModel, record: Record) -> bool:
    """Return whether the stated values of the variables are feasible in a model, by Pyomo, and have their objective."""
    for component in model.component_objects(pyo.Var):
        values = np.ravel(record["solution"][component.name])
        for variable, value in zip(component.values(), values, strict=True):
            variable.set_value(float(value), skip_validation=True)
    violations = [0.0]
    for constraint in model.component_data_objects(pyo.Constraint, active=True):
        body = pyo.value(constraint.body)
        low, high = pyo.value(constraint.lower), pyo.value(constraint.upper)
        violations += [low - body] if low is not None else []
        violations += [body - high] if high is not None else []
    objective = next(model.component_data_objects(pyo.Objective, active=True))
    same = math.isclose(pyo.value(objective), record["objective"], rel_tol=1e-5, abs_tol=1e-6)
    return same and max(violations) <= 1e-5


@of_solves("proof: without a point")
def _proof(record, rng, data):
    for name in ("ray", "direction", "evidence"):
        proof = record[name]
        if proof and not record["point"]:
            yield f"{name} removed", edited(record, name, value=None), True
            for part in ("x", "y", "z"):
                if proof[part]:
                    needless = part == "x" and name == "ray"
                    turned = [v + float(rng.normal()) for v in proof[part]]
                    yield f"{name} {part} drawn", edited(record, name, part, value=turned), not needless
                    zero = [0.0] * len(proof[part])
                    yield f"{name} {part} zero", edited(record, name, part, value=zero), False
                    yield f"{name} {part} NaN", edited(record, name, part, 0, value="nan"), not needless
                    yield f"{name} {part} shorter", edited(record, name, part, value=proof[part][1:]), True
            for value in (3, "ray", [1.0], {}):
                yield f"{name} {value!r}", edited(record, name, value=value), True
    if not record["point"]:
        yield "with an objective value", edited(record, "objective", value=1.0), True
        yield "with a bound", edited(record, "bound", value=1.0), True
        yield "with a solution", edited(record, "solution", value={"w": [1.0]}), True


@of_solves("model: swapped")
def _model(record, rng, data):
    for slug in ("svm", "onsvm", "gmeb-dual", "gmeb-primal", "fsv-step", "rlp", "svm-norm", "nonsense", None):
        if slug != record["model"]:
            yield str(slug), edited(record, "model", value=slug), True


@of_solves("scale: changed")
def _solve_scale(record, rng, data):
    for scale in ("standard", "center", "nonsense", None):
        if scale != record["scale"]:
            yield str(scale), edited(record, "scale", value=scale), True


@of_solves("labels: changed")
def _solve_labels(record, rng, data):
    yield "reversed", edited(record, "labels", value=record["labels"][::-1]), True
