"""Method ``l1-mpm`` (Yang & Ju): a sparse hyperplane with a worst-case accuracy."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from fsopt.answers.fits import Fit
from fsopt.answers.results import DriverResult, SolveResult
from fsopt.common.arguments import with_keywords_of
from fsopt.compiler.values import values_of
from fsopt.data import Dataset
from fsopt.drivers.run import Run, Steps
from fsopt.drivers.working_set import priced
from fsopt.methods.mpm.space import THRESHOLD, FeatureSpace, asked_delta, price, stated_accuracies
from fsopt.methods.preprocessing import Hyperplane
from fsopt.methods.spec import MethodSpec
from fsopt.methods.verdict import evidence
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

    From 3,000 features on, a working set of features solves it (:mod:`fsopt.drivers.working_set`), with the same
    objective value and a bound for all features: no model of all of them is built.

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
    asked = asked_delta("l1-mpm", delta, space.limit)
    params = {"delta": asked, **space.moment_options}
    result: SolveResult | DriverResult
    if space.priced(run):
        result = yield from priced.steps(*space.models(build_l1_mpm, params), run=run)
        at = result.point
        w, b, proof = at["w"], -at["b"], evidence("l1-mpm", params, at["proof"], at["columns"])
    else:
        model = build_l1_mpm(space.work, **params)
        _, result = run.solve(model, "L1-MPM")
        w, b = values_of(model.w), -model.b.value
        proof = evidence("l1-mpm", params, result.supported)
    result = replace(result, objective=float(np.abs(w).sum()))
    return space.fit(Hyperplane(w, b, SPEC.select(w)), result, started=started, details={**proof, "delta": asked})


SPEC = MethodSpec(
    "l1-mpm",
    fit_l1_mpm,
    ("l1-mpm",),
    price=price,
    stated=stated_accuracies,
    paper="mpm",
    equation="(12)-(15)",
    estimator="L1MPM",
    threshold=THRESHOLD,
)
