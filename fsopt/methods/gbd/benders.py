"""Shared by ``gbd`` and ``gbd-lambda``: the loop on the training rows, and the Fit of its hyperplane."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.data import Dataset
from fsopt.drivers.gbd.loop import gbd
from fsopt.drivers.run import Run
from fsopt.methods.fitting import make_fit
from fsopt.methods.gbd.space import split
from fsopt.methods.preprocessing import Hyperplane, preprocess
from fsopt.models.blocks import number
from fsopt.models.gbd.fsp_master import build_fsp_master
from fsopt.models.gbd.fsp_sub import build_fsp_sub
from fsopt.results import Fit

THRESHOLD = 1e-6


@dataclass(frozen=True)
class LoopSettings:
    """The settings of the loop, as in :func:`fsopt.drivers.gbd.loop.gbd`, and of the rows that are held out."""

    c: float
    start: str | ArrayLike
    root_cuts: int
    stabilisation: str
    master_solver: str | None
    tolerance: float
    max_cuts: int
    validation: float | None
    patience: int | None
    seed: int
    scale: str


def fit_by_benders(data: Dataset, run: Run, loop: LoopSettings, limits: Mapping[str, Any]) -> Fit:
    """Run the loop on the training rows and return its machine."""
    started = time.perf_counter()
    c = number("gbd", "c", loop.c, low=0.0, strict=True)
    rows, held = split(data, loop.validation, loop.seed)
    work, map_ = preprocess(data.rows(rows) if len(held) else data, loop.scale)
    validation = None
    if len(held):
        validation = data.rows(held)
        validation = validation.with_X(map_.apply(validation.X))
    master: pyo.ConcreteModel = build_fsp_master(work, **limits)
    result = gbd(
        work, master, build_fsp_sub(work, c=c), c=c, master_solver=loop.master_solver, sub_solver=run.solver,
        start=loop.start, root_cuts=loop.root_cuts, stabilisation=loop.stabilisation, tolerance=loop.tolerance,
        max_cuts=loop.max_cuts, validation=validation, patience=loop.patience, time_limit=run.time_limit,
        options=run.options, progress=run.progress, checkpoint=run.checkpoint, resume=run.resume,
    )  # fmt: skip
    w, sigma = result.point["w"], result.point["sigma"]
    assert result.objective is not None
    details: dict[str, Any] = {"alphas": result.point["alphas"], "c": c, "sigma": sigma}
    chosen = tuple(np.flatnonzero((sigma > 0.5) & (np.abs(w) > THRESHOLD * np.abs(w).max(initial=0.0))).tolist())
    return make_fit(
        data, map_, Hyperplane(w, result.point["b"], chosen), objective=result.objective, outcome=result,
        started=started, details=details,
    )  # fmt: skip


def few_cuts(p: int) -> Mapping[str, Any]:
    """Return the parameters of the loop in comparisons: 20 cuts, each at a new selection, instead of the paper's 250.

    That is enough for a good selection, not for a proof.
    """
    return {"max_cuts": 20, "stabilisation": "none"}
