"""Shared by ``gbd`` and ``gbd-lambda``: the loop on the training rows, and the Fit of its hyperplane."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsopt.data import Dataset
from fsopt.drivers.gbd.loop import gbd
from fsopt.drivers.gbd.settings import GbdSettings
from fsopt.drivers.run import Run
from fsopt.methods.assembly import make_fit
from fsopt.methods.gbd.parameters import split
from fsopt.methods.preprocessing import Hyperplane, preprocess
from fsopt.models.blocks import number
from fsopt.models.gbd.fsp_master import build_fsp_master
from fsopt.models.gbd.fsp_sub import build_fsp_sub
from fsopt.results import Fit

THRESHOLD = 1e-6


@dataclass(frozen=True)
class Training:
    """The samples that the loop is run on, and the penalty weight of their hinge loss.

    Attributes
    ----------
    c : > 0, penalty weight of the hinge loss.
    scale : preprocessing, by statistics of the training samples.
    validation : share in (0, 1) of each class that is held out; None for none.
    seed : of the samples that are held out.
    """

    c: float
    scale: str
    validation: float | None
    seed: int


def fit_by_benders(
    data: Dataset, run: Run, training: Training, settings: GbdSettings, limits: Mapping[str, Any]
) -> Fit:
    """Run the loop on the training samples and return the Fit of its incumbent.

    Parameters
    ----------
    limits : keywords of :func:`fsopt.models.gbd.fsp_master.build_fsp_master`.
    """
    started = time.perf_counter()
    c = number("gbd", "c", training.c, low=0.0, strict=True)
    rows, held = split(data, training.validation, training.seed)
    work, map_ = preprocess(data.rows(rows) if len(held) else data, training.scale)
    validation = None
    if len(held):
        validation = data.rows(held)
        validation = validation.with_X(map_.apply(validation.X))
    master = build_fsp_master(work, **limits)
    sub = build_fsp_sub(work, c=c)
    result = gbd(work, master, sub, c=c, settings=settings, validation=validation, run=run)
    w, sigma = result.point["w"], result.point["sigma"]
    assert result.objective is not None
    details: dict[str, Any] = {"alphas": result.point["alphas"], "c": c, "sigma": sigma}
    support = np.flatnonzero((sigma > 0.5) & (np.abs(w) > THRESHOLD * np.abs(w).max(initial=0.0)))
    return make_fit(
        data,
        map_,
        Hyperplane(w, result.point["b"], tuple(support.tolist())),
        objective=result.objective,
        outcome=result,
        started=started,
        details=details,
    )


def few_cuts(p: int) -> Mapping[str, Any]:
    """Return the parameters of the loop in comparisons: 20 cuts, each at a new selection, instead of the paper's 250.

    That is enough for a good selection, not for a proof.
    """
    return {"max_cuts": 20, "stabilisation": "none"}
