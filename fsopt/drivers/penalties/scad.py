"""Penalty ``scad``: the number of nonzeros approximated by the smoothly clipped absolute deviation (Fan & Li)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.drivers.penalties.penalty import Approximation, PenaltySpec
from fsopt.typing import Vector


@dataclass(frozen=True)
class Scad(Approximation):
    r"""SCAD with Fan & Li's :math:`a = 3.7`, divided by its plateau; with :math:`\lambda = 2 / ((a + 1)\alpha)`,

    .. math:: \varphi'(t) = \alpha \min\Big(1, \frac{(a\lambda - t)_+}{(a - 1)\lambda}\Big), \qquad
              \varphi(t) = 1 \text{ for } t \ge a\lambda

    which is their penalty of that :math:`\lambda` over its largest value :math:`(a + 1)\lambda^2/2`.
    """

    a = 3.7

    @property
    def _bend(self) -> tuple[float, float]:
        """The interval on which phi bends: its left end lambda and its length (a - 1) lambda."""
        start = 2 / ((self.a + 1) * self.alpha)
        return start, (self.a - 1) * start

    def phi(self, size: Vector) -> Vector:
        """Return phi (p,): linear up to lambda, quadratic on the bend, 1 beyond it."""
        start, length = self._bend
        bent = self.h_slope(size) / self.alpha
        return self.alpha * (np.minimum(size, start) + length * bent * (1 - bent / 2))

    def h_slope(self, size: Vector) -> Vector:
        """Return alpha times the share of the bend up to t (p,)."""
        start, length = self._bend
        return self.alpha * np.clip((size - start) / length, 0.0, 1.0)


SPEC = PenaltySpec("scad", Scad, "alpha t up to 2 / (4.7 alpha), then a quadratic up to the plateau 1 (a = 3.7)")
