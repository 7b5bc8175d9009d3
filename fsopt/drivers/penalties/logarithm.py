"""Penalty ``log``: the number of nonzeros approximated by log(1 + alpha |w|) / log(1 + alpha)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.drivers.penalties.penalty import Approximation, PenaltySpec
from fsopt.typing import Vector


@dataclass(frozen=True)
class Logarithm(Approximation):
    r""":math:`\varphi(t) = \log(1 + \alpha t) / \log(1 + \alpha)`, :math:`s = \alpha / \log(1 + \alpha)`."""

    @property
    def slope(self) -> float:
        """Slope s of phi at 0."""
        return float(self.alpha / np.log1p(self.alpha))

    def phi(self, size: Vector) -> Vector:
        """Return log(1 + alpha t) / log(1 + alpha) (p,)."""
        value: Vector = np.log1p(self.alpha * size) / np.log1p(self.alpha)
        return value

    def h_slope(self, size: Vector) -> Vector:
        """Return s alpha t / (1 + alpha t) (p,)."""
        return self.slope * self.alpha * size / (1 + self.alpha * size)


SPEC = PenaltySpec("log", Logarithm, "log(1 + alpha t) / log(1 + alpha)")
