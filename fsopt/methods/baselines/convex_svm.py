"""Shared by the support vector machines that one program gives: ``svm``, ``l1-svm``, ``onsvm``."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.drivers.column_generation.loop import column_generation as generate_rows_and_columns
from fsopt.drivers.run import Run, usable
from fsopt.methods.verification import evidence
from fsopt.methods.assembly import make_fit
from fsopt.methods.preprocessing import Hyperplane, preprocess, raw_hyperplane
from fsopt.methods.selection import NOISE, check_rule, select_by_size
from fsopt.models.blocks import number
from fsopt.results import DriverResult, Fit, SolveResult
from fsopt.solvers.base import solve

THRESHOLD = 1e-6


def fit_one_solve(
    name: str,
    builder: Callable[..., pyo.ConcreteModel],
    data: Dataset,
    run: Run,
    *,
    c: float,
    scale: str,
    rule: str = "relative",
    units: str = "scaled",
    epsilon: float = THRESHOLD,
    generate: bool = False,
) -> Fit:
    started = time.perf_counter()
    check_rule(rule, units, epsilon)
    work, map_ = preprocess(data, scale)
    result: SolveResult | DriverResult
    if generate:
        c = number(name, "c", c, low=0.0, strict=True)
        result = generate_rows_and_columns(work, np.full(data.n, c), np.ones(data.p), run=run)  # fmt: skip
        plane = Hyperplane(result.point["w"], result.point["b"], ())
        details: dict[str, Any] = {"alpha": result.point["alpha"]}
    else:
        model = builder(work, c=c)
        result = usable(solve(model, run.solver, time_limit=run.time_limit, options=run.options), f"'{name}'")
        plane = Hyperplane(values_of(model.w), model.b.value, ())
        details = evidence(name, {"c": c}, result.point)
    coef, deviation = raw_hyperplane(plane, map_)[0], data.X.std(axis=0)
    felt = np.where(np.abs(coef) * deviation > NOISE, coef, 0.0)
    chosen = select_by_size(felt, deviation, rule=rule, units=units, epsilon=epsilon)
    assert result.objective is not None
    return make_fit(
        data, map_, replace(plane, support=chosen), objective=result.objective, outcome=result,
        started=started, details=details,
    )  # fmt: skip
