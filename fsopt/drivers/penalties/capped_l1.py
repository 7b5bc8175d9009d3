"""A concave approximation of the number of nonzeros: min(1, alpha |w|)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.drivers.penalties.approximation import Approximation
from fsopt.typing import Vector


@dataclass(frozen=True)
class CappedL1(Approximation):
    r""":math:`\varphi(t) = \min(1, \alpha t)`; at its kink the subgradient 0 of h is taken."""

    def height(self, size: Vector) -> Vector:
        """Return phi."""
        return np.minimum(1.0, self.alpha * size)

    def flattening(self, size: Vector) -> Vector:
        """Return s - phi'."""
        return np.where(self.alpha * size > 1.0, self.alpha, 0.0)
