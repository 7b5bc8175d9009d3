"""A concave approximation of the number of nonzeros: 1 - exp(-alpha |w|)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.drivers.penalties.approximation import Approximation
from fsopt.typing import Vector


@dataclass(frozen=True)
class Exponential(Approximation):
    r""":math:`\varphi(t) = 1 - e^{-\alpha t}`; paper 2, (30) and (40)."""

    def height(self, size: Vector) -> Vector:
        """Return phi."""
        return -np.expm1(-self.alpha * size)

    def flattening(self, size: Vector) -> Vector:
        """Return s - phi'."""
        return -self.alpha * np.expm1(-self.alpha * size)
