r"""Approximations of the number of nonzeros of w, each as a difference of convex functions for DCA.

All are :math:`\sum_j \varphi(|w_j|)` with :math:`\varphi` concave, increasing, 0 at 0 and of finite slope s there, so

.. math:: \sum_j \varphi(|w_j|) = s\|w\|_1 - h(w), \qquad h(w) = \sum_j \big(s|w_j| - \varphi(|w_j|)\big)

with h convex. Paper 2 has ``exp``; the others, with the same parameter alpha, answer its closing question for better
approximations. ``exp``, ``capped-l1`` and ``scad`` share the slope alpha and the plateau 1; ``log`` and ``lp`` are 1
at :math:`|w_j| = 1` and have no plateau.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fsopt.errors import ParameterError
from fsopt.models.blocks import number

Vector = NDArray[np.float64]
LEAST = 1e-8
"""Cost of a large weight in a step, relative to the slope: a solver can still see it, exact ones underflow."""


class Penalty(Protocol):
    """A function of w that is g - h, with g = slope * ||w||_1 and h convex: all that DCA needs to know."""

    @property
    def slope(self) -> float:
        """Slope of the penalty at 0."""

    def value(self, w: Vector) -> float:
        """Return g(w) - h(w) of the weights w (p,)."""

    def gradient(self, w: Vector) -> Vector:
        """Return the gradient (p,), or a subgradient, of h at w, with entries strictly inside [-slope, slope]."""


@dataclass(frozen=True)
class Approximation(ABC):
    """A penalty of the sizes of the weights, one by one; ``alpha`` > 0 is its steepness."""

    alpha: float

    def __post_init__(self) -> None:
        number(type(self).__name__, "alpha", self.alpha, low=0.0, strict=True)

    @property
    def slope(self) -> float:
        """Slope s of phi at 0."""
        return self.alpha

    @abstractmethod
    def height(self, size: Vector) -> Vector:
        """Return phi (p,) of the sizes (p,)."""

    @abstractmethod
    def flattening(self, size: Vector) -> Vector:
        """Return s - phi' (p,) at the sizes (p,): the derivative of h."""

    def value(self, w: Vector) -> float:
        """Return the penalty of w (p,)."""
        return float(self.height(np.abs(w)).sum())

    def gradient(self, w: Vector) -> Vector:
        """Return v (p,), the gradient of h; a cost s - |v_j| is at least 1e-8 s."""
        v: Vector = np.sign(w) * np.minimum(self.flattening(np.abs(w)), self.slope * (1 - LEAST))
        return v


@dataclass(frozen=True)
class Exponential(Approximation):
    r""":math:`\varphi(t) = 1 - e^{-\alpha t}`; paper 2, (30) and (40)."""

    def height(self, size: Vector) -> Vector:
        """Return phi."""
        return -np.expm1(-self.alpha * size)

    def flattening(self, size: Vector) -> Vector:
        """Return s - phi'."""
        return -self.alpha * np.expm1(-self.alpha * size)


@dataclass(frozen=True)
class Logarithm(Approximation):
    r""":math:`\varphi(t) = \log(1 + \alpha t) / \log(1 + \alpha)` with :math:`s = \alpha / \log(1 + \alpha)`."""

    @property
    def slope(self) -> float:
        """Slope s of phi at 0."""
        return float(self.alpha / np.log1p(self.alpha))

    def height(self, size: Vector) -> Vector:
        """Return phi."""
        height: Vector = np.log1p(self.alpha * size) / np.log1p(self.alpha)
        return height

    def flattening(self, size: Vector) -> Vector:
        """Return s - phi'."""
        return self.slope * self.alpha * size / (1 + self.alpha * size)


@dataclass(frozen=True)
class CappedL1(Approximation):
    r""":math:`\varphi(t) = \min(1, \alpha t)`; at its kink the subgradient 0 of h is taken."""

    def height(self, size: Vector) -> Vector:
        """Return phi."""
        return np.minimum(1.0, self.alpha * size)

    def flattening(self, size: Vector) -> Vector:
        """Return s - phi'."""
        return np.where(self.alpha * size > 1.0, self.alpha, 0.0)


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


PENALTIES: Mapping[str, Callable[[float], Approximation]] = MappingProxyType(
    {"exp": Exponential, "log": Logarithm, "capped-l1": CappedL1, "scad": Scad, "lp": Power}
)
"""Name -> function of alpha; the names are the words of ``approx`` in :func:`fsopt.methods.l0_mpm.fit_l0_mpm`."""


def approximation(name: str, alpha: float) -> Approximation:
    """Return a registered approximation; raises ParameterError for another name, or an alpha that is not positive."""
    if name not in PENALTIES:
        raise ParameterError(f"approx is {name!r}", f"one of {', '.join(PENALTIES)}")
    return PENALTIES[name](alpha)
