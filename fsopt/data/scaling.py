"""The map of samples before a method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.typing import Matrix, Vector


@dataclass(frozen=True)
class Preprocessing:
    """The map of samples before a method: an affine map of each feature, and division by the norm if ``unit_rows``.

    A sample x (p,) becomes ``z = (x - shift) / scale``, and with ``unit_rows`` then ``z / ||z||`` (0 stays 0).

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
        if not self.unit_rows:
            return np.ones(len(X))
        norms: Vector = np.linalg.norm((X - self.shift) / self.scale, axis=1)
        return np.where(norms > 0, norms, 1.0)

    def apply(self, X: Matrix) -> Matrix:
        """Return the preprocessed copy of the samples X (n, p)."""
        Z: Matrix = (X - self.shift) / self.scale / self.row_norms(X)[:, None]
        return Z
