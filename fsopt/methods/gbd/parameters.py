"""What the parameters of ``gbd`` and ``gbd-lambda`` say: rows for training, limits, and prices of the features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fsopt.data import Dataset
from fsopt.data.splits import random_parts
from fsopt.errors import FileError, ParameterError
from fsopt.models.blocks import number, whole
from fsopt.models.gbd.selection_constraints import SelectionConstraints, feature_weights
from fsopt.typing import Indices, Vector

RULES = ("include", "exclude", "implies", "conflicts")


def limits_of(data: Dataset, at: Mapping[str, Any]) -> SelectionConstraints:
    """Return the limits in the parameters of a method; a number of features where there is no price of them."""
    rules = {name: at[name] for name in RULES if name in at}
    limits = SelectionConstraints.of(
        "gbd", data, m=at.get("m"), costs=at.get("costs"), budget=at.get("budget"), **rules
    )
    return limits.with_default_cardinality() if at.get("lam") is None else limits


def prices_of(data: Dataset, at: Mapping[str, Any]) -> Vector:
    """Return the prices lambda (p,) in the parameters of a method, zeros without."""
    return np.zeros(data.p) if at.get("lam") is None else feature_weights("gbd-lambda", data, at["lam"])


def split(data: Dataset, share: float | None, seed: int) -> tuple[Indices, Indices]:
    """Return the rows for training and those held out, each increasing: the same share of both classes.

    Raises
    ------
    ParameterError : a share outside (0, 1), or a class of less than 2 rows.
    """
    seed = whole("gbd", "seed", seed, low=0, high=2**32 - 1)
    if share is None:
        return np.arange(data.n), np.zeros(0, dtype=np.int64)
    share = number("gbd", "validation", share, low=0.0, strict=True)
    if share >= 1.0 or min(len(data.positive), len(data.negative)) < 2:
        raise ParameterError(
            f"'validation' of 'gbd' is {share:g}, of {len(data.positive)} and {len(data.negative)} rows of the classes",
            "a share in (0, 1), of at least 2 rows of each class",
        )
    validation, train = random_parts(data, (share, 1.0 - share), seed)
    return train, validation


def training(data: Dataset, at: Mapping[str, Any]) -> Dataset:
    """Return the rows that the machine of a fit was trained on."""
    share = at.get("validation")
    return data if share is None else data.rows(split(data, share, at.get("seed", 0))[0])


def selection(data: Dataset, at: Mapping[str, Any]) -> Vector:
    """Return the saved selection sigma (p,); raises FileError where it is none."""
    try:
        sigma = np.array(at["sigma"], dtype=float)
        if sigma.shape == (data.p,) and np.isin(sigma, (0.0, 1.0)).all():
            return sigma
    except (KeyError, TypeError, ValueError):
        pass
    raise FileError("the saved selection is damaged", "fit again and save with -o")
