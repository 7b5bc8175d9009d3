"""Penalty ``lp``: the number of nonzeros approximated by the smoothed quasi-norm (|w| + 1/alpha)^q."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.drivers.penalties.penalty import Approximation, PenaltySpec
from fsopt.models.blocks import number
from fsopt.typing import Vector


@dataclass(frozen=True)
class Power(Approximation):
    r"""The smoothed :math:`\ell_q` quasi-norm, q in (0, 1), with :math:`\epsilon = 1/\alpha`:

    .. math:: \varphi(t) = \frac{(t + \epsilon)^q - \epsilon^q}{(1 + \epsilon)^q - \epsilon^q}
              = \frac{(1 + \alpha t)^q - 1}{(1 + \alpha)^q - 1}, \qquad s = \frac{q\alpha}{(1 + \alpha)^q - 1}

    Its limit for q = 0 is the penalty ``log``.
    """

    q: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        number("Power", "q", self.q, inside="(0, 1)")

    @property
    def slope(self) -> float:
        """Slope s of phi at 0."""
        return float(self.q * self.alpha / self._power_minus_one(np.array(1.0)))

    def _power_minus_one(self, size: Vector) -> Vector:
        """Return (1 + alpha t)^q - 1, by log1p and expm1: the difference keeps its digits for small alpha t and q."""
        return np.expm1(self.q * np.log1p(self.alpha * size))

    def phi(self, size: Vector) -> Vector:
        """Return ((1 + alpha t)^q - 1) / ((1 + alpha)^q - 1) (p,)."""
        return self._power_minus_one(size) / self._power_minus_one(np.array(1.0))

    def h_slope(self, size: Vector) -> Vector:
        """Return s (1 - (1 + alpha t)^(q - 1)) (p,)."""
        return -self.slope * np.expm1((self.q - 1) * np.log1p(self.alpha * size))


SPEC = PenaltySpec("lp", Power, "((1 + alpha t)^q - 1) / ((1 + alpha)^q - 1), q = 1/2")
