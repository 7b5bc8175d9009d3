"""The approximations of the number of nonzeros: concave functions of the absolute weights, from 0 towards 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.drivers.penalties.penalty import Approximation, PenaltySpec
from fsopt.models.blocks import number
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


@dataclass(frozen=True)
class CappedL1(Approximation):
    r""":math:`\varphi(t) = \min(1, \alpha t)`; at its kink, t = 1 / alpha, the subgradient 0 of h is taken."""

    def phi(self, size: Vector) -> Vector:
        """Return min(1, alpha t) (p,)."""
        return np.minimum(1.0, self.alpha * size)

    def h_slope(self, size: Vector) -> Vector:
        """Return alpha beyond the kink and 0 up to it (p,)."""
        return np.where(self.alpha * size > 1.0, self.alpha, 0.0)


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


SPECS = (
    PenaltySpec("exp", Exponential, "1 - exp(-alpha t)"),
    PenaltySpec("log", Logarithm, "log(1 + alpha t) / log(1 + alpha)"),
    PenaltySpec("capped-l1", CappedL1, "min(1, alpha t)"),
    PenaltySpec("scad", Scad, "alpha t up to 2 / (4.7 alpha), then a quadratic up to the plateau 1 (a = 3.7)"),
    PenaltySpec("lp", Power, "((1 + alpha t)^q - 1) / ((1 + alpha)^q - 1), q = 1/2"),
    PenaltySpec("inverse-power", InversePower, "1 - 1 / (1 + alpha t)"),
)
