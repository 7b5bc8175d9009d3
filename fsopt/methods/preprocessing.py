"""Preprocessing of the features, and hyperplanes before and after it.

With kernel values in the place of the features each training sample is described by its similarities to all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.common.arguments import word
from fsopt.data import Dataset
from fsopt.data.kernels import Kernel
from fsopt.data.matrices import Preprocessing, column_deviations, column_means, constant_columns, refuse_sparse
from fsopt.errors import ParameterError
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


RANK = 1e-12
"""Eigenvalues of a centred Gram matrix below this, relative to the largest, are 0 up to rounding."""

FLAT = 1e-4
"""Kernel values that differ by less, relative to the largest one, are too alike for the precision of solvers."""


def kernel_values(data: Dataset, name: str, width: float | None) -> tuple[Kernel, Dataset, tuple[str, ...]]:
    r"""Return the kernel on the samples, its values :math:`K_{ij} = k(z_i, z_j)` as a data set, and warnings.

    Parameters
    ----------
    data : preprocessed.
    name, width : as in :class:`fsopt.data.kernels.Kernel`. The width None is sqrt(p v / 2) with v the variance
        of all entries: sqrt(p / 2) for standardised features, scikit-learn's ``gamma="scale"``.

    Raises
    ------
    ParameterError : an unknown kernel, a parameter outside its range, or kernel values that are too alike.
    """
    refuse_sparse("a kernel", data.X)
    if width is None:
        width = float(np.sqrt(data.p * data.X.var() / 2)) or 1.0
    kernel = Kernel(name, data.X, width)
    values = kernel.dataset(data)
    size = FLAT * np.abs(values.X).max()
    if np.ptp(values.X, axis=0).max() <= size:
        raise ParameterError(
            f"the {kernel.name} kernel has nearly the same values for all samples",
            "choose a smaller width, or centre the features",
        )
    nearest = (values.X - np.diag(np.diag(values.X))).max(axis=1)
    if name != "gaussian" or np.median(nearest) > size:
        return kernel, values, ()
    warning = (
        f"at width {width:g} most samples are unlike every other: the classifier says little about new samples; "
        "choose a larger width"
    )
    return kernel, values, (warning,)


def centred_factor(kernel: Dataset) -> Dataset:
    """Return F (n, r) as a data set, FF' the Gram matrix of the images less their mean, r its rank."""
    K = kernel.X - kernel.X.mean(axis=0)
    K = K - K.mean(axis=1)[:, None]
    values, Q = np.linalg.eigh(0.5 * (K + K.T))
    keep = values > RANK * values[-1]
    return Dataset(Q[:, keep] * np.sqrt(values[keep]), kernel.y, name=kernel.name, weights=kernel.weights)


def expansion(factor: Dataset, w: Vector) -> Vector:
    """Return beta (n,) with F'beta = w and sum 0.

    A constant in beta does not change FF'beta, but it changes the scores of further samples.
    """
    # The columns of F are orthogonal.
    beta = factor.X @ (w / (factor.X**2).sum(axis=0))
    centred: Vector = beta - beta.mean()
    return centred
