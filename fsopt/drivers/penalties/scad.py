"""A concave approximation of the number of nonzeros: smoothly clipped absolute deviation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.drivers.penalties.approximation import Approximation
from fsopt.typing import Vector


@dataclass(frozen=True)
class Scad(Approximation):
    r"""SCAD with :math:`a = 3.7`, divided by its plateau: with :math:`\lambda = 2 / ((a + 1)\alpha)`,

    .. math:: \varphi'(t) = \alpha \min\Big(1, \frac{(a\lambda - t)_+}{(a - 1)\lambda}\Big), \qquad
              \varphi(t) = 1 \text{ for } t \ge a\lambda

    which is SCAD of that :math:`\lambda` over :math:`(a + 1)\lambda^2/2`.
    """

    a = 3.7

    @property
    def _bend(self) -> tuple[float, float]:
        """Lambda, where phi starts to bend, and the length (a - 1) lambda of the bend."""
        start = 2 / ((self.a + 1) * self.alpha)
        return start, (self.a - 1) * start

    def height(self, size: Vector) -> Vector:
        """Return phi."""
        start, length = self._bend
        bent = self.flattening(size) / self.alpha
        return self.alpha * (np.minimum(size, start) + length * bent * (1 - bent / 2))

    def flattening(self, size: Vector) -> Vector:
        """Return s - phi'."""
        start, length = self._bend
        return self.alpha * np.clip((size - start) / length, 0.0, 1.0)
