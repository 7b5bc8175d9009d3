"""Support vector machines, whole and one-norm: methods ``svm``, ``l1-svm``, ``onsvm``."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.drivers.generation import generate as generate_rows_and_columns
from fsopt.drivers.recorder import usable
from fsopt.methods.common import NOISE, Plane, Run, check_rule, choose, make_fit, preprocess, proof, raw_plane
from fsopt.methods.generated import generates
from fsopt.models.blocks import number
from fsopt.models.fsp import build_onsvm, build_svm
from fsopt.results import DriverResult, Fit, SolveResult
from fsopt.solvers.base import solve

THRESHOLD = 1e-6


def _one_solve(
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
        result = generate_rows_and_columns(
            work, np.full(data.n, c), np.ones(data.p), solver=run.solver, options=run.options,
            time_limit=run.time_limit, progress=run.progress,
        )  # fmt: skip
        plane = Plane(result.point["w"], result.point["b"], ())
        details: dict[str, Any] = {"alpha": result.point["alpha"]}
    else:
        model = builder(work, c=c)
        result = usable(solve(model, run.solver, time_limit=run.time_limit, options=run.options), f"'{name}'")
        plane = Plane(np.array([x.value for x in model.w.values()]), model.b.value, ())
        details = proof(name, {"c": c}, result.point)
    coef, deviation = raw_plane(plane, map_)[0], data.X.std(axis=0)
    felt = np.where(np.abs(coef) * deviation > NOISE, coef, 0.0)
    chosen = choose(felt, deviation, rule=rule, units=units, epsilon=epsilon)
    assert result.objective is not None
    return make_fit(
        data, map_, replace(plane, support=chosen), objective=result.objective, outcome=result,
        started=started, details=details,
    )  # fmt: skip


def fit_svm(
    data: Dataset,
    run: Run,
    *,
    c: float = 1.0,
    scale: str = "standard",
    rule: str = "relative",
    units: str = "scaled",
    epsilon: float = THRESHOLD,
) -> Fit:
    """Fit the linear support vector machine, the baseline that selects nothing.

    Parameters
    ----------
    c : > 0, price of a unit of hinge loss.
    scale : ``standard`` (default), ``center`` or ``none``.
    rule, units, epsilon : which weights count as selected, as in :func:`fsopt.methods.common.choose`; paper 1
        has ``raw`` and 0.01.

    Returns
    -------
    Fit
        ``objective`` is (1) of paper 4, in preprocessed units.
    """
    return _one_solve("svm", build_svm, data, run, c=c, scale=scale, rule=rule, units=units, epsilon=epsilon)


def fit_l1_svm(
    data: Dataset,
    run: Run,
    *,
    c: float = 1.0,
    scale: str = "center",
    rule: str = "relative",
    units: str = "raw",
    epsilon: float = 0.01,
    generate: bool | str = "auto",
) -> Fit:
    """Fit the one-norm support vector machine as paper 1 has it: columns as they are, its selection rule.

    Parameters
    ----------
    c : > 0, price of a unit of hinge loss.
    scale : ``center`` (default), ``standard`` or ``none``; the selection depends on it.
    rule, units, epsilon : which weights count as selected, as in :func:`fsopt.methods.common.choose`.
    generate : as in :func:`fit_onsvm`.

    Returns
    -------
    Fit
        ``objective`` is (ONSVM) of paper 4, in preprocessed units. Paper 1, section 6.1.
    """
    return _one_solve(
        "onsvm", build_onsvm, data, run, c=c, scale=scale, rule=rule, units=units, epsilon=epsilon,
        generate=generates(generate, data, run),
    )  # fmt: skip


def fit_onsvm(
    data: Dataset, run: Run, *, c: float = 1.0, scale: str = "standard", generate: bool | str = "auto"
) -> Fit:
    """Fit the one-norm support vector machine, a linear program whose vertices are sparse.

    Parameters
    ----------
    c : > 0, price of a unit of hinge loss.
    scale : ``standard`` (default), ``center`` or ``none``; the selection depends on it.
    generate : solve small programs of some rows and columns (:func:`fsopt.drivers.generation.generate`) instead of
        the whole one, with the same objective and a proof for all rows and columns: true, false, or ``auto``
        (default), which does so for large data.

    Returns
    -------
    Fit
        ``objective`` is (ONSVM) of paper 4, in preprocessed units.
    """
    return _one_solve("onsvm", build_onsvm, data, run, c=c, scale=scale, generate=generates(generate, data, run))
