"""Preprocessing of the features, and hyperplanes before and after it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.common.arguments import word
from fsopt.data import Dataset
from fsopt.data.matrices import Preprocessing, column_deviations, column_means, constant_columns
from fsopt.typing import Vector

SCALES = ("standard", "center", "none", "unit-rows")
"""The words of the parameter ``scale`` of the methods, see :func:`preprocess`."""


def preprocess(data: Dataset, kind: str) -> tuple[Dataset, Preprocessing]:
    """Return the preprocessed data set and the map that was applied, by statistics of this data set.

    Parameters
    ----------
    kind : ``standard`` subtracts the means and divides by the standard deviations (1 for constant features);
        ``center`` subtracts the means; ``none`` changes nothing; ``unit-rows`` is ``standard``, and then divides each
        sample by its norm. Sparse data are divided without a shift: the means that are subtracted are 0.

    Raises
    ------
    ParameterError : another word.
    """
    word("scale", kind, SCALES)
    shift, scale = np.zeros(data.p), np.ones(data.p)
    if kind != "none" and not data.sparse:
        shift = column_means(data.X, data.weights)
    if kind in ("standard", "unit-rows"):
        scale = np.where(constant_columns(data.X), 1.0, deviations(data))
    map_ = Preprocessing(kind, shift, scale)
    return (data if kind == "none" else data.with_X(map_.apply(data.X))), map_


def deviations(data: Dataset) -> Vector:
    """Return the standard deviations (p,) of the features, by the weights of the samples where they have some."""
    return column_deviations(data.X, data.weights)


@dataclass(frozen=True)
class Hyperplane:
    """The classifier ``sign(w'z + b)`` of preprocessed samples z, and the selected features.

    Attributes
    ----------
    w, b : (p,) weights and the intercept.
    support : places of the selected features, increasing.
    """

    w: Vector
    b: float
    support: tuple[int, ...]


def raw_hyperplane(hyperplane: Hyperplane, map_: Preprocessing) -> tuple[Vector, float]:
    """Return weights (p,) and intercept of a hyperplane for raw features, see :class:`fsopt.answers.fits.Fit`."""
    coef = hyperplane.w / map_.scale
    return coef, hyperplane.b if map_.unit_rows else hyperplane.b - float(coef @ map_.shift)


def scaled_hyperplane(coef: Vector, intercept: float, map_: Preprocessing) -> tuple[Vector, float]:
    """Return weights (p,) and intercept for preprocessed features, the inverse of :func:`raw_hyperplane`."""
    return coef * map_.scale, intercept if map_.unit_rows else intercept + float(coef @ map_.shift)
