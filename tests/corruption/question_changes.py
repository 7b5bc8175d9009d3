"""Changes of the question: method and parameters, judged by fitting again; and of the details behind an answer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from corruption.changes import Record, edited, of_both, of_fits, scaled, without
from corruption.claim_changes import HUGE

import fsopt

EVIDENCE = frozenset(
    {
        "alpha",
        "alphas",
        "below",
        "columns",
        "cuts",
        "leaves",
        "multipliers",
        "penalties",
        "point",
        "program",
        "program_params",
        "scaling",
        "sigma",
        "sparse_alpha",
        "sparse_b",
        "sparse_w",
        "starts",
        "units",
    }
)
"""Details that are evidence (multipliers, cuts, subproblems), not statements: an answer stays true without them."""


@of_fits("params: changed")
def _params(record, rng, data):
    for name, value in record["params"].items():
        for other in other_values(name, value):
            changed = edited(record, "params", name, value=other)
            yield f"{name}: {value!r} to {other!r}", changed, not true_again(changed, record, data)


@of_fits("params: removed")
def _params_removed(record, rng, data):
    for name in record["params"]:
        changed = without(record, "params", name)
        yield name, changed, not true_again(changed, record, data)
    yield "all", edited(record, "params", value={}), not true_again(edited(record, "params", value={}), record, data)


@of_both("params: unknown or damaged")
def _params_unknown(record, rng, data):
    yield "unknown", edited(record, "params", "colour", value="red"), True
    yield "a list", edited(record, "params", value=[1, 2]), True
    yield "null", edited(record, "params", value=None), True
    for name, value in record["params"].items():
        if isinstance(value, float):
            yield f"{name} NaN", edited(record, "params", name, value="nan"), True
            yield f"{name} 400 digits", edited(record, "params", name, value=HUGE), True
            yield f"{name} a list", edited(record, "params", name, value=[value]), True


@of_fits("method: renamed")
def _method(record, rng, data):
    yield "nonsense", edited(record, "method", value="nonsense"), True
    yield "null", edited(record, "method", value=None), True
    for name in fsopt.METHODS:
        if name != record["method"]:
            changed = edited(record, "method", value=name)
            yield name, changed, not true_again(changed, record, data)


def other_values(name: str, value: Any) -> list[Any]:
    """Return values of a parameter that it does not have."""
    words = {
        "scale": ("none", "center", "standard", "unit-rows"),
        "scaling": ("local", "global"),
        "route": ("auto", "dual", "primal", "cuts"),
        "approx": ("exp", "log"),
        "kernel": ("gaussian", "polynomial", "linear"),
        "start": ("all", "none"),
    }
    if name in words:
        return [word for word in words[name] if word != value][:2]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1]
    if isinstance(value, float):
        return [2 * value, value / 2] if value else [0.5]
    if isinstance(value, list):
        return [[0]]
    return ["nonsense"]


def true_again(changed: Record, record: Record, data: Any) -> bool:
    """Return whether the method and parameters of a changed record give the answer of the record."""
    try:
        fit = fsopt.fit(changed["method"], data, **_keywords(changed["params"]))
    except Exception:
        return False
    if len(fit.coef) != len(record["coef"]) or list(fit.support) != record["support"]:
        return False
    same = (
        np.array(fit.coef),
        np.array([fit.intercept]),
        np.array([np.nan if fit.objective is None else fit.objective]),
    )
    before = (record["coef"], [record["intercept"]], [record["objective"]])
    close = all(np.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(same, before, strict=True))
    return close and str(fit.status) == record["status"] and fit.preprocessing.kind == record["preprocessing"]["kind"]


def _keywords(params: Record) -> Record:
    return {k: math.inf if v == "inf" else v for k, v in params.items()}


@of_fits("numbers of the details: by 1e-3")
def _details_perturbed(record, rng, data):
    for key, value in record["details"].items():
        yield key, edited(record, "details", key, value=scaled(value, 1.001)), key not in EVIDENCE


@of_fits("details: no numbers")
def _details_damaged(record, rng, data):
    for key, value in record["details"].items():
        for damage in (_all_nan(value), None, "word", [], HUGE):
            yield f"{key}: {str(damage)[:20]}", edited(record, "details", key, value=damage), key not in EVIDENCE


def _all_nan(value: Any) -> Any:
    if isinstance(value, list):
        return [_all_nan(v) for v in value]
    if isinstance(value, dict):
        return {k: _all_nan(v) for k, v in value.items()}
    return "nan" if isinstance(value, float) else value
