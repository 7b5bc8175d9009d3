"""Linear machines that are one convex program, as a table, and the methods ``svm`` and ``l1-svm`` of it.

``svm`` is the baseline that selects nothing, linear or with a kernel; ``l1-svm`` is the one-norm support vector machine
of the comparisons in Peleg & Meir, 6.1.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.fits import Fit
from fsopt.answers.results import DriverResult, SolveResult, Status
from fsopt.common.arguments import with_keywords_of
from fsopt.common.customising import changes_in_force
from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.data.hyperplanes import midpoint_intercept, project_multipliers
from fsopt.data.matrices import SMALL
from fsopt.data.weights import loss_weights
from fsopt.drivers.column_generation import column_generation
from fsopt.drivers.run import Run, Steps, multipliers
from fsopt.errors import ParameterError
from fsopt.linear import first_order, interior_point
from fsopt.linear.certificate import certify
from fsopt.linear.penalties import HALF_NORM, Penalty, Squares
from fsopt.methods.baselines.subset_svm import TOLERANCE
from fsopt.methods.large_programs import first_certified, generation_order, interior_order
from fsopt.methods.preprocessing import (
    THRESHOLD,
    Hyperplane,
    SelectionRule,
    centred_factor,
    certified,
    deviations,
    kernel_values,
    make_fit,
    preprocess,
    raw_hyperplane,
    selection,
    support_vectors,
    without_rounding,
)
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.methods.verdict import evidence
from fsopt.models.blocks import number
from fsopt.models.gbd.feature_lists import WeightBounds, weight_bounds
from fsopt.models.gbd.onsvm import build_onsvm
from fsopt.models.gbd.svm import build_svm
from fsopt.models.gmeb.svm_norm import build_svm_norm
from fsopt.typing import Vector

_Found: TypeAlias = tuple[Vector, float, SolveResult | DriverResult, Mapping[str, Any]]
"""Hyperplane w, b, the outcome of its solver or driver, and the evidence for the details of the fit."""


def _by_steps(work: Dataset, c: float, run: Run) -> Steps[DriverResult]:
    """Solve the C-SVM by the interior point, of large sparse data by first-order steps."""
    if not work.sparse:
        return interior_point.minimise.steps(work, c=c, run=run)
    if work.n * work.p > SMALL:
        return first_order.minimise.steps(work, c=c, run=run)
    dense = work.with_X(work.X.toarray())  # type: ignore[attr-defined]
    return interior_point.minimise.steps(dense, c=c, tolerance=TOLERANCE, run=run)


def _by_interior_point(work: Dataset, c: float, run: Run) -> Steps[DriverResult]:
    """Solve the machine of an unsquared norm."""
    return interior_point.minimise.steps(work, HALF_NORM, c=c, run=run)


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
        "svm": Machine(build_svm, _by_steps, interior_order),
        "onsvm": Machine(build_onsvm, _by_generation, generation_order),
        "svm-norm": Machine(build_svm_norm, _by_interior_point, interior_order, HALF_NORM),
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


RULE = SelectionRule(units="scaled", epsilon=THRESHOLD)


@with_keywords_of(weight_bounds, without=("positive", "negative"))
def fit_svm(
    data: Dataset,
    run: Run,
    *,
    c: float = 1.0,
    scale: str = "standard",
    kernel: str | None = None,
    width: float | None = None,
    **bounds: Any,
) -> Fit | Steps[Fit]:
    r"""Fit the support vector machine (C-SVM), the baseline that selects nothing.

    .. math:: \min\ \tfrac12 w'w + C e'\xi \ \text{s.t.}\ y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0,\ l \le w \le u

    Of data of 500,000 entries and more fsopt's own interior point solves the program, without a model, where no solver
    is named (:func:`fsopt.linear.interior_point.minimise`), of sparse data of more than 5 million entries
    first-order steps, :func:`fsopt.linear.first_order.minimise`.

    Parameters
    ----------
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center`` or ``none``.
    kernel : str, optional
        ``gaussian``, ``polynomial`` of degree 2, or ``linear``: a classifier on the kernel values of the preprocessed
        samples, whose features are the training samples; None for a hyperplane in the space of the features.
    width : float, optional
        > 0, of the Gaussian kernel, in the units of the preprocessed features; None takes sqrt(p v / 2), with v the
        variance of all entries of the preprocessed samples.

    Returns
    -------
    Fit
        ``objective`` is that of the program, in preprocessed units. With a kernel the support vectors are selected.

    Raises
    ------
    ParameterError : c <= 0, an unknown kernel, or bounds with a kernel.

    Notes
    -----
    Aytug, (1); with a kernel Bi, (4) and section 4.1.
    """
    if kernel is not None:
        if any(bounds.values()):
            raise ParameterError("bounds on weights are of features, and a kernel is named", "leave one of them out")
        return fit_kernel_svm(data, run, kernel, c=c, scale=scale, width=width)
    return fit_machine("svm", data, run, c=c, scale=scale, rule=RULE, bounds=bounds)


def selected(saved: SavedFit) -> tuple[int, ...]:
    """Return the features that the rule selects, with a kernel the support vectors."""
    if saved.fit.kernel is None:
        return selected_by(RULE, saved)
    return support_vectors(np.abs(saved.w))


def fit_kernel_svm(data: Dataset, run: Run, kernel: str, *, c: float, scale: str, width: float | None) -> Fit:
    r"""Fit the C-SVM with a kernel.

    .. math:: \min\ \tfrac12 w'w + C e'\xi \quad\text{s.t.}\quad y_i(w'\Phi(x_i) + b) \ge 1 - \xi_i,\ \xi \ge 0,
        \qquad w = \sum_i \alpha_i y_i \Phi(x_i)

    Parameters
    ----------
    kernel, c, scale, width : as in :func:`fsopt.methods.baselines.machines.fit_svm`.
    """
    started = time.perf_counter()
    c = number("svm", "c", c)
    work, map_ = preprocess(data, scale)
    function, values, warnings = kernel_values(work, kernel, width)
    # The images less their mean: with y'alpha = 0 neither w nor the loss depends on it.
    model = build_svm(centred_factor(values), c=c)
    session, result = run.solve(model, "'svm'")
    found = multipliers(session, result, model.margin)
    alpha = project_multipliers(found, data.y, loss_weights(c, data.weights))
    beta = alpha * data.y
    b = midpoint_intercept(values.X @ beta, data.y, data.weights)
    certificate = certify(values, Squares(values.X), c, beta, b, alpha, gram=True)
    return make_fit(
        values,
        map_,
        Hyperplane(beta, b, support_vectors(alpha)),
        certified(result, certificate),
        started=started,
        warnings=warnings,
        details={"alpha": alpha},
        kernel=function,
    )


SVM = MethodSpec(
    "svm",
    fit_svm,
    ("svm",),
    equation="Aytug, (1)",
    estimator="SVM",
    driver="interior-point",
    support=selected,
    weights="samples",
    sparse=True,
)


EPSILON = 0.01
"""The threshold of the paper."""
RULE_OF_L1 = SelectionRule(units="scaled", epsilon=EPSILON)


def fit_l1_svm(
    data: Dataset,
    run: Run,
    *,
    c: float = 1.0,
    scale: str = "standard",
) -> Steps[Fit]:
    r"""Fit the one-norm support vector machine of Peleg & Meir, which selects weights above a share of the largest.

    .. math:: \min\ \|w\|_1 + C e'\xi \ \text{s.t.}\ y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0

    Of large data restricted programs of some samples and features are solved (:func:`fsopt.drivers.column_generation`)
    instead of the whole one, as ``onsvm`` does.

    Parameters
    ----------
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    scale : str, default 'standard'
        Preprocessing of the features: ``standard`` (default), ``center``, the paper's, or ``none``; the selection
        depends on it.

    Returns
    -------
    Fit
        ``objective`` is that of the program, in preprocessed units. Features below the threshold of the rule are not
        selected, and have a weight in the classifier.

    Raises
    ------
    ParameterError : c <= 0.

    Notes
    -----
    Peleg & Meir, section 6.1. A weight is selected whose size, times the standard deviation of its feature, is at least
    0.01 of the largest; the paper's own rule compares weights in the features' units:
    :class:`fsopt.methods.preprocessing.SelectionRule` of ``fit.coef``. Method ``onsvm`` is the same program, with signs
    and bounds of the weights.
    """
    return fit_machine("onsvm", data, run, c=c, scale=scale, rule=RULE_OF_L1)


L1_SVM = MethodSpec(
    "l1-svm",
    fit_l1_svm,
    ("onsvm",),
    equation="Peleg & Meir, 6.1",
    estimator="L1SVM",
    support=partial(selected_by, RULE_OF_L1),
    weights="samples",
    sparse=True,
    threshold=EPSILON,
)
SPECS = (SVM, L1_SVM)
