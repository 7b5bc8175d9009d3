"""Kernel values in the place of the features: each training sample is described by its similarities to all of them."""

from __future__ import annotations

import numpy as np

from fsopt.data import Dataset
from fsopt.data.kernels import Kernel
from fsopt.data.matrices import refuse_sparse
from fsopt.errors import ParameterError
from fsopt.typing import Vector

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
