"""Shared by ``svm``, ``l1-svm``, ``onsvm``: linear machines that are one convex program."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.fits import Fit
from fsopt.answers.results import DriverResult, SolveResult
from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.data.matrices import SMALL
from fsopt.data.weights import loss_weights
from fsopt.drivers.column_generation.driver import column_generation
from fsopt.drivers.run import Run, Steps
from fsopt.linear import first_order, interior_point
from fsopt.methods.assembly import make_fit
from fsopt.methods.baselines.subset_svm import TOLERANCE
from fsopt.methods.large_programs import first_certified
from fsopt.methods.preprocessing import Hyperplane, deviations, preprocess, raw_hyperplane
from fsopt.methods.selection import SelectionRule, without_rounding
from fsopt.methods.spec import SavedFit
from fsopt.methods.verdict import evidence
from fsopt.models.blocks import number
from fsopt.models.gbd.feature_lists import WeightBounds
from fsopt.typing import Vector


@dataclass(frozen=True)
class _Found:
    """The hyperplane of a route, its outcome, and the evidence for the details of the fit."""

    w: Vector
    b: float
    result: SolveResult | DriverResult
    details: Mapping[str, Any]


def fit_convex_svm(
    slug: str,
    builder: Callable[..., pyo.ConcreteModel],
    data: Dataset,
    run: Run,
    *,
    c: float,
    scale: str,
    rule: SelectionRule,
    order: tuple[bool, ...],
    bounds: Mapping[str, Any] = {},
) -> Steps[Fit]:
    """Solve a support vector machine on preprocessed data and return its Fit.

    Parameters
    ----------
    slug, builder : of the model, which has the parameter ``c`` and the variables ``w`` and ``b``.
    c : penalty weight of the hinge loss.
    scale : preprocessing.
    rule : which weights count as selected.
    order : the routes in their order: false for the model, true for the driver without it, for ``svm`` the interior
        point or, on large sparse data, first-order steps; for ``onsvm`` column and constraint generation.
    bounds : parameters of :func:`fsopt.models.gbd.feature_lists.weight_bounds`, with which the model is the only route.
    """
    started = time.perf_counter()
    c = number(slug, "c", c)
    work, map_ = preprocess(data, scale)
    limits = WeightBounds.of(slug, data, bounds).scaled(map_.scale)
    at = {"c": c, **limits.words(data)}
    order = (False,) if limits else order

    def by_model() -> _Found:
        model = builder(work, **at)
        _, result = run.solve(model, f"'{slug}'")
        return _Found(limits.clipped(values_of(model.w)), model.b.value, result, evidence(slug, at, result.supported))

    def by_driver() -> Steps[_Found]:
        if slug == "svm":
            result = yield from _svm_without_model(work, c, run)
        else:
            d = np.ones(data.n) * loss_weights(c, data.weights)
            result = yield from column_generation.steps(work, d, np.ones(data.p), run=run)
        return _Found(result.point["w"], result.point["b"], result, {"alpha": result.point["alpha"]})

    routes = [by_driver if own else by_model for own in order]
    found, warnings = yield from first_certified(routes, lambda found: found.result)
    hyperplane = Hyperplane(found.w, found.b, ())
    coef, deviation = raw_hyperplane(hyperplane, map_)[0], deviations(data)
    # The rule is relative: without this, rounded zeros would be selected where w = 0.
    support = rule.select(without_rounding(coef, deviation), deviation)
    return make_fit(
        data,
        map_,
        replace(hyperplane, support=support),
        found.result,
        started=started,
        warnings=warnings,
        details=found.details,
    )


def _svm_without_model(work: Dataset, c: float, run: Run) -> Steps[DriverResult]:
    """Solve a support vector machine by the interior point, on large sparse data by first-order steps."""
    if not work.sparse:
        return interior_point.minimise.steps(work, c=c, run=run)
    if work.n * work.p > SMALL:
        return first_order.minimise.steps(work, c=c, run=run)
    dense = work.with_X(work.X.toarray())  # type: ignore[attr-defined]
    return interior_point.minimise.steps(dense, c=c, tolerance=TOLERANCE, run=run)


def selected_by(rule: SelectionRule, saved: SavedFit) -> tuple[int, ...]:
    """Return the features that a rule selects from a saved fit, rounded zeros apart."""
    deviation = deviations(saved.raw)
    return rule.select(without_rounding(saved.fit.coef, deviation), deviation)
