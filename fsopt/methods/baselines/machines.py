"""Linear machines that are one convex program, as a table: ``svm``, ``svm-norm`` and ``onsvm``."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.fits import Fit
from fsopt.answers.results import DriverResult, SolveResult, Status
from fsopt.common.customising import changes_in_force
from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.data.matrices import SMALL
from fsopt.data.weights import loss_weights
from fsopt.drivers.column_generation import column_generation
from fsopt.drivers.run import Run, Steps, multipliers
from fsopt.linear import first_order, interior_point
from fsopt.linear.certificate import certify
from fsopt.linear.penalties import HALF_NORM, SQUARES, Penalty
from fsopt.methods.assembly import certified, make_fit
from fsopt.methods.baselines.subset_svm import TOLERANCE
from fsopt.methods.large_programs import first_certified, generation_order, interior_order
from fsopt.methods.preprocessing import Hyperplane, deviations, preprocess, raw_hyperplane
from fsopt.methods.selection import SelectionRule, selection, without_rounding
from fsopt.methods.spec import SavedFit
from fsopt.methods.verdict import evidence
from fsopt.models.blocks import number
from fsopt.models.gbd.feature_lists import WeightBounds
from fsopt.models.gbd.onsvm import build_onsvm
from fsopt.models.gbd.svm import build_svm
from fsopt.models.gmeb.svm_norm import build_svm_norm
from fsopt.typing import Vector

_Found: TypeAlias = tuple[Vector, float, SolveResult | DriverResult, Mapping[str, Any]]
"""Hyperplane w, b, the outcome of its solver or driver, and the evidence for the details of the fit."""


def _by_multipliers(penalty: Penalty) -> Callable[[Dataset, float, Run], Steps[DriverResult]]:
    """Return the driver of a penalty: the interior point, on large sparse data first-order steps."""

    def steps(work: Dataset, c: float, run: Run) -> Steps[DriverResult]:
        if not work.sparse:
            return interior_point.minimise.steps(work, penalty, c=c, run=run)
        if work.n * work.p > SMALL:
            return first_order.minimise.steps(work, penalty, c=c, run=run)
        dense = work.with_X(work.X.toarray())  # type: ignore[attr-defined]
        return interior_point.minimise.steps(dense, penalty, c=c, tolerance=TOLERANCE, run=run)

    return steps


def _by_generation(work: Dataset, c: float, run: Run) -> Steps[DriverResult]:
    """Solve the one-norm machine by restricted programs of some samples and features."""
    costs = np.ones(work.n) * loss_weights(c, work.weights)
    return column_generation.steps(work, costs, np.ones(work.p), run=run)


@dataclass(frozen=True)
class Machine:
    """A machine of a model.

    Attributes
    ----------
    builder : of the model, with the parameter ``c`` and the variables ``w`` and ``b``.
    driver : function of preprocessed data, C and run: the route without the model.
    order : function of data and run that returns the routes in their order, false for the model.
    penalty : by which the answer of the model is certified from its multipliers, where the arrays of the program are
        too coarse in units over many orders; None leaves the evidence to the program.
    """

    builder: Callable[..., pyo.ConcreteModel]
    driver: Callable[[Dataset, float, Run], Steps[DriverResult]]
    order: Callable[[Dataset, Run], tuple[bool, ...]]
    penalty: Penalty | None = None


MACHINES: Mapping[str, Machine] = MappingProxyType(
    {
        "svm": Machine(build_svm, _by_multipliers(SQUARES), interior_order),
        "onsvm": Machine(build_onsvm, _by_generation, generation_order),
        "svm-norm": Machine(build_svm_norm, _by_multipliers(HALF_NORM), interior_order, HALF_NORM),
    }
)
"""Slug of a model -> its machine."""


def fit_machine(
    slug: str,
    data: Dataset,
    run: Run,
    *,
    c: float,
    scale: str,
    rule: SelectionRule | None = None,
    bounds: Mapping[str, Any] = {},
) -> Steps[Fit]:
    """Solve a machine on preprocessed data and return its Fit.

    Parameters
    ----------
    slug : of :data:`MACHINES`.
    c : penalty weight of the hinge loss.
    scale : preprocessing.
    rule : which weights count as selected; None for those that are not 0.
    bounds : parameters of :func:`fsopt.models.gbd.feature_lists.weight_bounds`, with which the model is the only route.
    """
    started = time.perf_counter()
    machine, c = MACHINES[slug], number(slug, "c", c)
    work, map_ = preprocess(data, scale)
    limits = WeightBounds.of(slug, data, bounds).scaled(map_.scale)
    at = {"c": c, **limits.words(data)}

    def by_model() -> _Found:
        model = machine.builder(work, **at)
        session, result = run.solve(model, f"'{slug}'")
        w, b = limits.clipped(values_of(model.w)), model.b.value
        if machine.penalty is None or changes_in_force() or result.status is not Status.OPTIMAL:
            return w, b, result, evidence(slug, at, result.supported)
        alpha = multipliers(session, result, model.margin)
        return w, b, certified(result, certify(work, machine.penalty, c, w, b, alpha)), {"alpha": alpha}

    def by_driver() -> Steps[_Found]:
        result = yield from machine.driver(work, c, run)
        return result.point["w"], result.point["b"], result, {"alpha": result.point["alpha"]}

    order = (False,) if limits else machine.order(data, run)
    routes = [by_driver if own else by_model for own in order]
    (w, b, result, details), warnings = yield from first_certified(routes, lambda found: found[2])
    support = selection(w)
    if rule is not None:
        coef, deviation = raw_hyperplane(Hyperplane(w, b, ()), map_)[0], deviations(data)
        # The rule is relative: without this, rounded zeros would be selected where w = 0.
        support = rule.select(without_rounding(coef, deviation), deviation)
    return make_fit(data, map_, Hyperplane(w, b, support), result, started=started, warnings=warnings, details=details)


def selected_by(rule: SelectionRule, saved: SavedFit) -> tuple[int, ...]:
    """Return the features that a rule selects from a saved fit, rounded zeros apart."""
    deviation = deviations(saved.raw)
    return rule.select(without_rounding(saved.fit.coef, deviation), deviation)
