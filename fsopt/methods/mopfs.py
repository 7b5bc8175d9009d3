"""Method ``mopfs`` (paper 5): features that survive the alternation of risk and capacity."""

from __future__ import annotations

import time

import numpy as np

from fsopt.data import Dataset
from fsopt.drivers.mop import mop
from fsopt.methods.common import Plane, Run, make_fit, preprocess
from fsopt.models.blocks import number, whole
from fsopt.results import Fit

SHARE = 0.1
"""Default h / l of the paper's best runs: W0 + 1 is a tenth of the number of rows."""


def fit_mopfs(
    data: Dataset,
    run: Run,
    *,
    w_cap: float | None = None,
    c: float = 1e-3,
    max_iterations: int = 20,
    scale: str = "unit-rows",
) -> Fit:
    """Fit the multi-objective feature selection machine (MOPFS).

    Parameters
    ----------
    w_cap : W0 > 0, the first capacity; None takes h/l = 0.1, that is max(1, n/10 - 1).
    c : >= 0, price of a scale, relative to the product RW of the start.
    max_iterations : of Algorithm 1.
    scale : ``unit-rows`` (default, the paper's: centre, unit deviation, rows to norm 1), ``standard``,
        ``center`` or ``none``.

    Returns
    -------
    Fit
        Selected are the features with a positive scale and weight. ``objective`` is the hinge loss E of the
        final plane; ``feasible`` by nature: the alternation proves no optimum. ``details`` has ``scales``,
        ``E`` and ``H``. Paper 5, section 6.
    """
    started = time.perf_counter()
    cap = max(1.0, SHARE * data.n - 1.0) if w_cap is None else number("mopfs", "w_cap", w_cap, low=0.0, strict=True)
    price = number("mopfs", "c", c, low=0.0)
    max_iterations = whole("mopfs", "max_iterations", max_iterations, low=1, high=100_000)
    work, map_ = preprocess(data, scale)
    result = mop(
        work, w_cap=cap, c=price * cap * _radius(work) / data.p, options=run.options, solver=run.solver,
        max_iterations=max_iterations, time_limit=run.time_limit, progress=run.progress,
    )  # fmt: skip
    at = result.point
    warnings = []
    if len(at["H"]) and np.array_equal(at["scales"], np.ones(data.p)):
        warnings.append("s = 1 is already optimal for (15): no feature was dropped")
    if at["inactive"]:
        warnings.append("the capacity constraint is inactive: the plane of least norm is used")
    chosen = tuple(np.flatnonzero(np.abs(at["w"]) > 1e-9 * np.abs(at["w"]).max(initial=0.0)).tolist())
    assert result.objective is not None
    return make_fit(
        data, map_, Plane(at["w"], at["b"], chosen), objective=result.objective, outcome=result, started=started,
        warnings=tuple(warnings), details={k: at[k] for k in ("scales", "E", "H")},
    )  # fmt: skip


def _radius(data: Dataset) -> float:
    """Return the largest squared norm of a row."""
    return float((data.X**2).sum(axis=1).max())
