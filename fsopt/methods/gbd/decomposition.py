"""What ``gbd`` and ``gbd-lambda`` share: the cut loop of Aytug on the training samples, its settings, and its Fit."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from fsopt.answers.fits import Fit
from fsopt.common.arguments import word
from fsopt.data import Dataset
from fsopt.drivers.gbd.driver import gbd
from fsopt.drivers.gbd.settings import DEFAULT_SETTINGS, PRINTED_SETTINGS, GbdSettings
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
    data: Dataset, run: Run, training: Training, settings: GbdSettings, constraints: Mapping[str, Any]
) -> Fit:
    """Run generalized Benders decomposition on the training samples and return the Fit of its incumbent.

    Parameters
    ----------
    training : samples and penalty weight.
    settings : of the driver.
    constraints : keywords of :func:`fsopt.models.gbd.fsp_master.build_fsp_master`.
    """
    started = time.perf_counter()
    c = number("gbd", "c", training.c)
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


PRESETS: Mapping[str, GbdSettings] = {"printed": PRINTED_SETTINGS}
"""Word of the parameter ``preset`` -> its settings."""


def settings_of(at: Mapping[str, Any]) -> GbdSettings:
    """Return the settings of the loop: those that are given, and else those of the preset.

    Parameters
    ----------
    at : the parameters of the method; None, or none by a name, is not given.
    """
    preset, settings = at.get("preset"), DEFAULT_SETTINGS
    if preset is not None:
        word("'preset' of 'gbd'", preset, tuple(PRESETS))
        settings = PRESETS[preset]
    given = {f.name: at[f.name] for f in fields(GbdSettings) if at.get(f.name) is not None}
    return replace(settings, **given)


def few_cuts(p: int) -> Mapping[str, Any]:
    """Return the parameters in comparisons: cuts that are enough for a good selection, not for a proof."""
    return {"max_cuts": 20, "tolerance": 1e-4}
