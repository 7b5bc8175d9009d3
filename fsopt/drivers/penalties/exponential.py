"""Penalty ``exp``: the number of nonzeros approximated by 1 - exp(-alpha |w|), the choice of Yang & Ju."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.drivers.penalties.penalty import Approximation, PenaltySpec
from fsopt.models.sla.step_function import step_costs
from fsopt.typing import Vector


@dataclass(frozen=True)
class Exponential(Approximation):
    r""":math:`\varphi(t) = 1 - e^{-\alpha t}`; Yang & Ju, (30) and (40)."""

    def phi(self, size: Vector) -> Vector:
        """Return 1 - exp(-alpha t) (p,)."""
        return -np.expm1(-self.alpha * size)

    def h_slope(self, size: Vector) -> Vector:
        """Return alpha (1 - exp(-alpha t)) (p,)."""
        return -self.alpha * np.expm1(-self.alpha * size)

    def phi_slope(self, size: Vector) -> Vector:
        """Return alpha exp(-alpha t) (p,), to the last digit for large t, too."""
        return step_costs(self.alpha, size)


SPEC = PenaltySpec("exp", Exponential, "1 - exp(-alpha t)")
