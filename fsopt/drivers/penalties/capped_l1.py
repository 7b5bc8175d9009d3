"""Penalty ``capped-l1``: the number of nonzeros approximated by min(1, alpha |w|)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.drivers.penalties.penalty import Approximation, PenaltySpec
from fsopt.typing import Vector


@dataclass(frozen=True)
class CappedL1(Approximation):
    r""":math:`\varphi(t) = \min(1, \alpha t)`; at its kink, t = 1 / alpha, the subgradient 0 of h is taken."""

    def phi(self, size: Vector) -> Vector:
        """Return min(1, alpha t) (p,)."""
        return np.minimum(1.0, self.alpha * size)

    def h_slope(self, size: Vector) -> Vector:
        """Return alpha beyond the kink and 0 up to it (p,)."""
        return np.where(self.alpha * size > 1.0, self.alpha, 0.0)


SPEC = PenaltySpec("capped-l1", CappedL1, "min(1, alpha t)")
