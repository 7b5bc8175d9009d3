"""Shared by ``svm``, ``l1-svm`` and ``onsvm``: linear support vector machines that are one convex program."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.data.weights import loss_weights
from fsopt.drivers.column_generation.driver import column_generation
from fsopt.drivers.interior_point.driver import svm_interior_point
from fsopt.drivers.run import Run
from fsopt.methods.assembly import make_fit
from fsopt.methods.preprocessing import Hyperplane, deviations, preprocess, raw_hyperplane
from fsopt.methods.selection import SelectionRule, without_rounding
from fsopt.methods.spec import SavedFit
from fsopt.methods.verification import evidence
from fsopt.models.blocks import number
from fsopt.results import DriverResult, Fit, SolveResult


def fit_convex_svm(
    slug: str,
    builder: Callable[..., pyo.ConcreteModel],
    data: Dataset,
    run: Run,
    *,
    c: float,
    scale: str,
    rule: SelectionRule,
    generate: bool = False,
    interior: bool = False,
) -> Fit:
    """Solve a support vector machine on preprocessed data and return its Fit.

    Parameters
    ----------
    slug, builder : of the model, which has the parameter ``c`` and the variables ``w`` and ``b``.
    c : penalty weight of the hinge loss.
    scale : preprocessing.
    rule : which weights count as selected.
    generate : whether the program, then that of ``onsvm``, is solved by column and constraint generation.
    interior : whether the program, then that of ``svm``, is solved by fsopt's own interior point.
    """
    started = time.perf_counter()
    work, map_ = preprocess(data, scale)
    result: SolveResult | DriverResult
    if generate or interior:
        c = number(slug, "c", c, low=0.0, strict=True)
        if generate:
            result = column_generation(work, np.ones(data.n) * loss_weights(c, data.weights), np.ones(data.p), run=run)
        else:
            result = svm_interior_point(work, c=c, run=run)
        hyperplane = Hyperplane(result.point["w"], result.point["b"], ())
        details: dict[str, Any] = {"alpha": result.point["alpha"]}
    else:
        model = builder(work, c=c)
        _, result = run.solve(model, f"'{slug}'")
        hyperplane = Hyperplane(values_of(model.w), model.b.value, ())
        details = evidence(slug, {"c": c}, result.point)
    coef, deviation = raw_hyperplane(hyperplane, map_)[0], deviations(data)
    # The rule is relative: without this, rounded zeros would be selected where w = 0.
    support = rule.select(without_rounding(coef, deviation), deviation)
    return make_fit(data, map_, replace(hyperplane, support=support), result, started=started, details=details)


def selected_by(rule: SelectionRule, saved: SavedFit) -> tuple[int, ...]:
    """Return the features that a rule selects from a saved fit, rounded zeros apart."""
    deviation = deviations(saved.raw)
    return rule.select(without_rounding(saved.fit.coef, deviation), deviation)


def selected_by_parameters(saved: SavedFit) -> tuple[int, ...]:
    """Return the features that the rule in the parameters of a saved fit selects."""
    at = saved.params
    return selected_by(SelectionRule(at["rule"], at["units"], float(at["epsilon"])), saved)
