"""A concave approximation of the number of nonzeros: (|w| + eps)^p."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.drivers.penalties.approximation import Approximation
from fsopt.models.blocks import number
from fsopt.typing import Vector


@dataclass(frozen=True)
class Power(Approximation):
    r"""The smoothed :math:`\ell_q` quasi-norm, q in (0, 1), with :math:`\epsilon = 1/\alpha`:

    .. math:: \varphi(t) = \frac{(t + \epsilon)^q - \epsilon^q}{(1 + \epsilon)^q - \epsilon^q}
              = \frac{(1 + \alpha t)^q - 1}{(1 + \alpha)^q - 1}, \qquad s = \frac{q\alpha}{(1 + \alpha)^q - 1}

    It is ``log`` in the limit q = 0.
    """

    q: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        number("Power", "q", self.q, low=0.0, high=1.0, strict=True)

    @property
    def slope(self) -> float:
        """Slope s of phi at 0."""
        return float(self.q * self.alpha / self._rise(np.array(1.0)))

    def _rise(self, size: Vector) -> Vector:
        """Return (1 + alpha t)^q - 1."""
        return np.expm1(self.q * np.log1p(self.alpha * size))

    def height(self, size: Vector) -> Vector:
        """Return phi."""
        return self._rise(size) / self._rise(np.array(1.0))

    def flattening(self, size: Vector) -> Vector:
        """Return s - phi'."""
        return -self.slope * np.expm1((self.q - 1) * np.log1p(self.alpha * size))
