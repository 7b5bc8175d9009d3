"""Support vector machines, whole, one-norm and on few features: methods ``svm``, ``l1-svm``, ``onsvm``, ``gbd``."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.drivers.gbd import gbd
from fsopt.drivers.generation import generate as generate_rows_and_columns
from fsopt.drivers.recorder import usable
from fsopt.errors import ParameterError
from fsopt.methods.common import Plane, Run, check_rule, choose, make_fit, preprocess, proof, raw_plane
from fsopt.models.blocks import number, whole
from fsopt.models.fsp import build_fsp_master, build_fsp_sub, build_onsvm, build_svm
from fsopt.results import DriverResult, Fit, SolveResult
from fsopt.solvers.base import solve
from fsopt.solvers.registry import SOLVERS

THRESHOLD = 1e-6
NOISE = 1e-10
"""A weight that moves scores by less than this, next to a margin of 1, is 0 up to the solver's rounding."""
LONG, LARGE = 3_000, 150_000
"""Rows or columns, and entries, from which small programs beat the whole one 3 times, see benchmarks/scale.py."""


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


def _generates(generate: bool | str, data: Dataset, run: Run) -> bool:
    """Return whether small programs of some rows and columns are solved instead of the whole one."""
    if generate not in (True, False, "auto"):
        raise ParameterError(f"generate is {generate!r}", "one of auto, true, false")
    if generate != "auto":
        return bool(generate)
    large = max(data.X.shape) >= LONG and data.X.size >= LARGE
    return large and (run.solver is None or (run.solver in SOLVERS and SOLVERS[run.solver].duals))


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
        generate=_generates(generate, data, run),
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
    return _one_solve("onsvm", build_onsvm, data, run, c=c, scale=scale, generate=_generates(generate, data, run))


def fit_gbd(
    data: Dataset,
    run: Run,
    *,
    m: int | None = None,
    costs: Sequence[float] | None = None,
    budget: float | None = None,
    c: float = 1.0,
    tolerance: float = 1e-6,
    max_cuts: int = 250,
    scale: str = "standard",
) -> Fit:
    """Fit the support vector machine that is best with a limited number of features (GBD-M).

    Parameters
    ----------
    m : largest number of features; 5 (or all, where there are fewer) if no limit is given.
    costs, budget : prices of the features and the budget, instead of m.
    c : > 0, price of a unit of hinge loss.
    tolerance, max_cuts : as in :func:`fsopt.drivers.gbd.gbd`.
    scale : ``standard`` (default), ``center`` or ``none``.

    Returns
    -------
    Fit
        ``objective`` is F(sigma) of the final machine and ``bound`` the master's, in preprocessed units;
        ``optimal`` where they meet, else ``feasible`` with the gap between them. Paper 4, GBD-M.
    """
    started = time.perf_counter()
    c = number("gbd", "c", c, low=0.0, strict=True)
    max_cuts = whole("gbd", "max_cuts", max_cuts, low=2, high=100_000)
    tolerance = number("gbd", "tolerance", tolerance, low=0.0)
    if m is None and costs is None and budget is None:
        m = min(5, data.p)
    work, map_ = preprocess(data, scale)
    master = build_fsp_master(work, m=m, costs=costs, budget=budget)
    sub = build_fsp_sub(work, sigma=np.zeros(data.p), c=c)
    result = gbd(
        work, master, sub, c=c, sub_solver=run.solver, options=run.options, tolerance=tolerance,
        max_cuts=max_cuts, time_limit=run.time_limit, progress=run.progress,
    )  # fmt: skip
    w, sigma = result.point["w"], result.point["sigma"]
    assert result.objective is not None
    details: dict[str, Any] = {"alphas": result.point["alphas"], "c": c, "sigma": sigma}
    chosen = tuple(np.flatnonzero((sigma > 0.5) & (np.abs(w) > THRESHOLD * np.abs(w).max(initial=0.0))).tolist())
    return make_fit(
        data, map_, Plane(w, result.point["b"], chosen), objective=result.objective, outcome=result,
        started=started, details=details,
    )  # fmt: skip
