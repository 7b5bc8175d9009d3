"""Preprocessing of the columns, and hyperplanes on either side of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.results import Preprocessing
from fsopt.typing import Mask, Vector

SCALES = ("standard", "center", "none", "unit-rows")


def preprocess(data: Dataset, kind: str) -> tuple[Dataset, Preprocessing]:
    """Return the preprocessed data set and the map that was applied, by statistics of this data set.

    ``standard``: centre, unit deviation (constant columns keep scale 1); ``center``: centre only; ``none``;
    ``unit-rows``: standard, then each row divided by its norm.
    """
    if kind not in SCALES:
        raise ParameterError(f"scale is {kind!r}", f"one of {', '.join(SCALES)}")
    shift, scale = np.zeros(data.p), np.ones(data.p)
    if kind != "none":
        shift = data.X.mean(axis=0)
    if kind in ("standard", "unit-rows"):
        deviation = data.X.std(axis=0)
        scale = np.where(constant_columns(data.X), 1.0, deviation)
    map_ = Preprocessing(kind, shift, scale)
    return (data if kind == "none" else data.with_X(map_.apply(data.X))), map_


def constant_columns(X: Vector) -> Mask:
    """Return which columns (p,) of X (n, p) are constant up to rounding, in whatever units."""
    constant: Mask = X.std(axis=0) <= 1e-12 * np.abs(X).max(axis=0)
    return constant


@dataclass(frozen=True)
class Hyperplane:
    """A plane in the preprocessed space, ``sign(w'z + b)``, and the selection that goes with it."""

    w: Vector
    b: float
    support: tuple[int, ...]


def raw_hyperplane(plane: Hyperplane, map_: Preprocessing) -> tuple[Vector, float]:
    """Return (coef, intercept) for raw columns, see :class:`fsopt.results.Fit`."""
    coef = plane.w / map_.scale
    return coef, plane.b if map_.unit_rows else plane.b - float(coef @ map_.shift)


def scaled_hyperplane(coef: Vector, intercept: float, map_: Preprocessing) -> tuple[Vector, float]:
    """Return (w, b) in the preprocessed space, the inverse of :func:`raw_plane`."""
    return coef * map_.scale, intercept if map_.unit_rows else intercept + float(coef @ map_.shift)
