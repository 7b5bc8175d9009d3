"""Variant ``paper`` of ``gbd`` and ``gbd-lambda``: the loop of Aytug as printed, and its Fit."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fsopt.answers.results import Fit
from fsopt.data import Dataset
from fsopt.drivers.gbd.driver import gbd
from fsopt.drivers.gbd.settings import GbdSettings
from fsopt.drivers.run import Run
from fsopt.methods.assembly import make_fit
from fsopt.methods.gbd.parameters import features_of, split, trimmed
from fsopt.methods.preprocessing import Hyperplane, preprocess
from fsopt.models.blocks import number
from fsopt.models.gbd.fsp_master import build_fsp_master
from fsopt.models.gbd.fsp_sub import build_fsp_sub


@dataclass(frozen=True)
class Training:
    """The training samples, and the penalty weight of their hinge loss.

    Attributes
    ----------
    c : > 0, penalty weight of the hinge loss.
    scale : preprocessing, by statistics of the training samples.
    validation : share in (0, 1) of each class that is held out; None for none.
    seed : of the split.
    """

    c: float
    scale: str
    validation: float | None
    seed: int


def fit_by_decomposition(
    method: str, data: Dataset, run: Run, training: Training, settings: GbdSettings, constraints: Mapping[str, Any]
) -> Fit:
    """Run generalized Benders decomposition on the training samples and return the Fit of its incumbent.

    Parameters
    ----------
    method : its name, for the selection rule.
    training : samples and penalty weight.
    settings : of the driver.
    constraints : keywords of :func:`fsopt.models.gbd.fsp_master.build_fsp_master`.
    """
    started = time.perf_counter()
    c = number("gbd", "c", training.c, low=0.0, strict=True)
    train, held_out = split(data, training.validation, training.seed)
    work, map_ = preprocess(data.rows(train) if len(held_out) else data, training.scale)
    validation = None
    if len(held_out):
        validation = data.rows(held_out)
        validation = validation.with_X(map_.apply(validation.X))
    master = build_fsp_master(work, **constraints)
    sub = build_fsp_sub(work, c=c)
    result = gbd(work, master, sub, c=c, settings=settings, validation=validation, run=run)
    at = result.point
    sigma, w = trimmed(work, constraints, at["sigma"], at["w"])
    return make_fit(
        data,
        map_,
        Hyperplane(w, at["b"], features_of(sigma)),
        result,
        started=started,
        details={"alphas": at["alphas"], "c": c, "sigma": sigma},
    )
