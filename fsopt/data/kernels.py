"""Kernel functions and their matrices: the similarities of samples to the patterns of a classifier."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy

from fsopt.common.arguments import NUMBER, word
from fsopt.common.clock import NUMBER as SIZE
from fsopt.common.clock import require
from fsopt.data.dataset import Dataset
from fsopt.data.validation import as_matrix
from fsopt.errors import DataError, ParameterError, shown
from fsopt.typing import Matrix

KERNELS = ("gaussian", "linear")


@dataclass(frozen=True, eq=False)
class Kernel:
    r"""A kernel function and patterns :math:`z_1, \dots, z_m`, to which samples x are compared.

    .. math::

        \text{gaussian: } k(x, z) = e^{-\|x - z\|^2 / (2\sigma^2)}, \qquad
        \text{linear: } k(x, z) = x'z

    Attributes
    ----------
    name : ``gaussian`` or ``linear``.
    patterns : (m, p), one pattern per row; a read-only copy.
    width : sigma > 0 of the Gaussian kernel, in the units of the features.

    Raises
    ------
    ParameterError : another name, or a width that is no number > 0.
    DataError : patterns that are not a matrix of finite numbers.
    """

    name: str
    patterns: Matrix = field(repr=False)
    width: float = 1.0

    def __post_init__(self) -> None:
        word("the kernel", self.name, KERNELS)
        if not NUMBER.holds(self.width) or self.width <= 0:
            raise ParameterError(f"width of the kernel is {shown(self.width)}", "give a number > 0")
        object.__setattr__(self, "patterns", as_matrix(self.patterns))
        if not np.isfinite(self.patterns).all():
            raise DataError("the patterns of the kernel are not finite numbers", "fill or remove missing values")
        self.patterns.setflags(write=False)

    def matrix(self, X: Matrix) -> Matrix:
        """Return the kernel values (n, m) of samples X (n, p) with the patterns."""
        if self.name == "gaussian":
            squares: Matrix = scipy.spatial.distance.cdist(X, self.patterns, "sqeuclidean")
            return np.exp(-squares / (2.0 * self.width**2))
        products: Matrix = np.asarray(X, dtype=float) @ self.patterns.T
        return products

    def dataset(self, data: Dataset) -> Dataset:
        """Return the data set of kernel values of samples, with a feature for each pattern; raises MemoryLimitError."""
        n, m = data.n, len(self.patterns)
        hint = "leave the kernel out, or take fewer samples"
        require(2 * SIZE * n * m, f"kernel values of {n} and {m} samples", hint)
        names = [f"row {i}" for i in range(1, m + 1)]
        return Dataset(self.matrix(data.X), data.y, names, name=data.name, labels=data.labels, weights=data.weights)
