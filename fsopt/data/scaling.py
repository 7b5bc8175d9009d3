"""The map of samples before a method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.data.matrices import divided, is_sparse, row_norms
from fsopt.typing import Matrix, Vector


@dataclass(frozen=True)
class Preprocessing:
    """The map of samples before a method: an affine map of each feature, and division by the norm if ``unit_rows``.

    A sample x (p,) becomes ``z = (x - shift) / scale``, and with ``unit_rows`` then ``z / ||z||`` (0 stays 0). Samples
    of sparse training data are not shifted, so that their zeros stay 0: ``shift`` is 0. The unpenalised intercept b
    of a hyperplane absorbs a shift, w'(x - shift) + b = w'x + (b - w'shift), so that only ``unit-rows`` makes another
    problem of it.

    Attributes
    ----------
    kind : name of the map, for example ``standard`` or ``unit-rows``.
    shift, scale : (p,) each.
    """

    kind: str
    shift: Vector
    scale: Vector

    @property
    def unit_rows(self) -> bool:
        """Whether each sample is divided by its norm after the affine map."""
        return self.kind == "unit-rows"

    def row_norms(self, X: Matrix) -> Vector:
        """Return the divisors (n,) of the samples X (n, p): all ones unless ``unit_rows``."""
        n = X.shape[0]
        if not self.unit_rows:
            return np.ones(n)
        norms = row_norms(divided(self.shifted(X), self.scale, np.ones(n)))
        return np.where(norms > 0, norms, 1.0)

    def apply(self, X: Matrix) -> Matrix:
        """Return the preprocessed copy of the samples X (n, p)."""
        Z: Matrix = divided(self.shifted(X), self.scale, self.row_norms(X))
        return Z

    def shifted(self, X: Matrix) -> Matrix:
        """Return X - shift; raises ValueError for sparse samples of a map that shifts, which would be dense."""
        if not is_sparse(X):
            return X - self.shift
        if self.shift.any():
            raise ValueError("sparse samples are not shifted")
        return X
