"""Method ``gbd`` (paper 4): the support vector machine that is best on few features."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from fsopt.data import Dataset
from fsopt.drivers.gbd import gbd
from fsopt.methods.common import Plane, Run, make_fit, preprocess
from fsopt.models.blocks import number, whole
from fsopt.models.fsp import build_fsp_master, build_fsp_sub
from fsopt.results import Fit

THRESHOLD = 1e-6


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
