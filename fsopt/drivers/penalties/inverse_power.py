"""Penalty ``inverse-power``: the number of nonzeros approximated by 1 - (1 + alpha |w|)^(-q) (Rinaldi & Sciandrone)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.drivers.penalties.penalty import Approximation, PenaltySpec
from fsopt.models.blocks import number
from fsopt.typing import Vector


@dataclass(frozen=True)
class InversePower(Approximation):
    r"""The negative power :math:`-(t + \epsilon)^{-q}`, q > 0, with :math:`\epsilon = 1/\alpha`, from 0 to its limit 1:

    .. math:: \varphi(t) = \frac{\epsilon^{-q} - (t + \epsilon)^{-q}}{\epsilon^{-q}} = 1 - (1 + \alpha t)^{-q},
              \qquad s = q\alpha

    For q = 1 it is the fraction :math:`\alpha t / (1 + \alpha t)`.
    """

    q: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        number("InversePower", "q", self.q, inside="(0, inf)")

    @property
    def slope(self) -> float:
        """Slope s of phi at 0."""
        return self.q * self.alpha

    def phi(self, size: Vector) -> Vector:
        """Return 1 - (1 + alpha t)^(-q) (p,), by log1p and expm1: it keeps its digits for small alpha t."""
        return -np.expm1(-self.q * np.log1p(self.alpha * size))

    def h_slope(self, size: Vector) -> Vector:
        """Return s (1 - (1 + alpha t)^(-q - 1)) (p,)."""
        return -self.slope * np.expm1((-self.q - 1) * np.log1p(self.alpha * size))


SPEC = PenaltySpec("inverse-power", InversePower, "1 - 1 / (1 + alpha t)")
