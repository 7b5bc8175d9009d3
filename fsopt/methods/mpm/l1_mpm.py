"""Method ``l1-mpm`` (Yang & Ju): a sparse hyperplane with a worst-case accuracy."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate
from fsopt.answers.fits import Fit
from fsopt.common.arguments import with_keywords_of
from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.drivers.column_generation.worst_case import certify_worst_case, worst_case_generation
from fsopt.drivers.run import Run, Steps
from fsopt.methods.assembly import make_fit
from fsopt.methods.large_programs import first_certified
from fsopt.methods.mpm.feature_space import FeatureSpace, asked_delta, stated_accuracies
from fsopt.methods.mpm.many_features import (
    RouteResult,
    has_multipliers,
    many_features_order,
    multiplier_details,
    saved_program,
    worst_case_data,
)
from fsopt.methods.mpm.worst_case import worst_case
from fsopt.methods.preprocessing import Hyperplane
from fsopt.methods.spec import MethodSpec, SavedFit
from fsopt.methods.verdict import check_program, evidence
from fsopt.models.mpm.l1_mpm import build_l1_mpm


@with_keywords_of(FeatureSpace.of)
def fit_l1_mpm(
    data: Dataset,
    run: Run,
    *,
    delta: float | None = None,
    **options: Any,
) -> Steps[Fit]:
    r"""Fit the hyperplane of smallest 1-norm with worst-case accuracy delta on both classes (L1-MPM).

    .. math:: \min\ \|w\|_1 \quad\text{s.t.}\quad w'\mu_1 + b \ge \max(1, \kappa(\delta)\|F_1w\|), \quad
        -(w'\mu_2 + b) \ge \max(1, \kappa(\delta)\|F_2w\|), \qquad \kappa(\delta)^2 = \delta/(1 - \delta)

    From 3,000 features on, column generation solves it, :func:`fsopt.drivers.column_generation.worst_case`, with the
    same objective value and a bound for all features: no model of all of them is built.

    Parameters
    ----------
    delta : float, optional
        In (0, alpha*]; None asks for 0.9 alpha* of the data.

    Returns
    -------
    Fit
        ``objective`` is the 1-norm of w in preprocessed units; ``details`` has ``delta``, ``kappa_limit``,
        ``alpha_limit`` and ``worst_case``, the accuracy on class +1 and -1.

    Raises
    ------
    InfeasibleError : delta > alpha*, known before any solver is called.
    ParameterError : a number outside its range.

    Notes
    -----
    Yang & Ju, (12)-(15).
    """
    started = time.perf_counter()
    space = FeatureSpace.of(data, **options)
    work, warnings = space.work, list(space.warnings)
    asked = asked_delta("l1-mpm", delta, space.limit, warnings)
    params = {"delta": asked, **space.moment_options}

    def by_model() -> RouteResult:
        model = build_l1_mpm(work, **params)
        _, result = run.solve(model, "L1-MPM")
        return RouteResult(values_of(model.w), -model.b.value, result, evidence("l1-mpm", params, result.supported))

    def by_generation() -> Steps[RouteResult]:
        result = yield from worst_case_generation.steps(worst_case_data(space, asked), run=run)
        at = result.point
        return RouteResult(at["w"], at["b"], result, multiplier_details(at["multipliers"]))

    routes = [by_generation if priced else by_model for priced in many_features_order(space, run)]
    found, remarks = yield from first_certified(routes, lambda found: found.result)
    w, b = found.w, found.b
    return make_fit(
        work,
        space.map_,
        Hyperplane(w, b, SPEC.select(w)),
        replace(found.result, objective=float(np.abs(w).sum())),
        started=started,
        warnings=(*warnings, *remarks),
        details={**found.details, **space.details(asked), "worst_case": worst_case(w, b, space.moments)},
        kernel=space.kernel,
    )


def check(saved: SavedFit) -> Certificate:
    """Certify the cone program of a saved fit again.

    The multipliers of column generation are priced for all features in numpy, without a model of them.
    """
    if not has_multipliers(saved):
        return check_program(saved)
    program, at = saved_program(saved, 1.0, np.zeros(saved.data.p))
    return certify_worst_case(program, saved.w, saved.b, at)


SPEC = MethodSpec(
    "l1-mpm",
    fit_l1_mpm,
    ("l1-mpm",),
    check=check,
    stated=stated_accuracies,
    paper="mpm",
    equation="(12)-(15)",
    estimator="L1MPM",
    # The 1-norm in a cone program leaves about 1e-7 of the largest weight in place of zeros, more near alpha*.
    threshold=1e-4,
)
