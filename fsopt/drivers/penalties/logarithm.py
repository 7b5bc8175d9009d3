"""A concave approximation of the number of nonzeros: log(1 + alpha |w|) / log(1 + alpha)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.drivers.penalties.approximation import Approximation
from fsopt.typing import Vector


@dataclass(frozen=True)
class Logarithm(Approximation):
    r""":math:`\varphi(t) = \log(1 + \alpha t) / \log(1 + \alpha)` with :math:`s = \alpha / \log(1 + \alpha)`."""

    @property
    def slope(self) -> float:
        """Slope s of phi at 0."""
        return float(self.alpha / np.log1p(self.alpha))

    def height(self, size: Vector) -> Vector:
        """Return phi."""
        height: Vector = np.log1p(self.alpha * size) / np.log1p(self.alpha)
        return height

    def flattening(self, size: Vector) -> Vector:
        """Return s - phi'."""
        return self.slope * self.alpha * size / (1 + self.alpha * size)
