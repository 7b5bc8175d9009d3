r"""Penalties as differences of convex functions: the protocol for DCA, and the base class of the registered ones.

An approximation of the number of nonzeros of w is :math:`\sum_j \varphi(|w_j|)` with :math:`\varphi` concave and
increasing on :math:`[0, \infty)`, :math:`\varphi(0) = 0` and a finite slope :math:`s = \varphi'(0)`. It is g - h with

.. math:: g(w) = s\,\|w\|_1, \qquad h(w) = \sum_j \big(s\,|w_j| - \varphi(|w_j|)\big),

both convex, and h differentiable at 0: the subdifferential of :math:`\varphi(|\cdot|)` there is that of g.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from fsopt.models.blocks import number
from fsopt.typing import Vector

SMALLEST_COST = 1e-8
"""Smallest cost of a weight in a step, relative to the slope s. The exact cost phi'(|w|) of a large weight underflows,
and the step would be unbounded along it; 1e-8 s is above the rounding of solvers."""


@runtime_checkable
class Penalty(Protocol):
    """A function g - h of w with g = slope * ||w||_1 and h convex: all that DCA needs to know of it."""

    @property
    def slope(self) -> float:
        """Slope s of the penalty at 0."""

    def value(self, w: Vector) -> float:
        """Return g(w) - h(w) of the weights w (p,)."""

    def gradient(self, w: Vector) -> Vector:
        """Return the gradient (p,), or a subgradient, of h at w, with entries strictly inside [-slope, slope]."""


@dataclass(frozen=True)
class Approximation(ABC):
    """A penalty of the absolute values of the weights, one by one; ``alpha`` > 0 is its steepness."""

    alpha: float

    def __post_init__(self) -> None:
        number(type(self).__name__, "alpha", self.alpha)

    @property
    def slope(self) -> float:
        """Slope s of phi at 0."""
        return self.alpha

    @abstractmethod
    def phi(self, size: Vector) -> Vector:
        """Return phi (p,) of the absolute values (p,)."""

    @abstractmethod
    def h_slope(self, size: Vector) -> Vector:
        """Return s - phi' (p,), the derivative of s t - phi(t), at the absolute values (p,)."""

    def phi_slope(self, size: Vector) -> Vector:
        """Return phi' (p,) at the absolute values (p,)."""
        return self.slope - self.h_slope(size)

    def value(self, w: Vector) -> float:
        """Return the penalty of w (p,)."""
        return float(self.phi(np.abs(w)).sum())

    def gradient(self, w: Vector) -> Vector:
        """Return v (p,), the gradient of h; the cost s - |v_j| of a weight is at least ``SMALLEST_COST`` s."""
        v: Vector = np.sign(w) * np.minimum(self.h_slope(np.abs(w)), self.slope * (1 - SMALLEST_COST))
        return v


def step_costs(penalty: Penalty, size: Vector) -> Vector:
    """Return the costs phi' >= 0 (p,) of the absolute values (p,) of the weights in a step of SLA."""
    if isinstance(penalty, Approximation):
        return penalty.phi_slope(size)
    costs: Vector = penalty.slope - np.abs(penalty.gradient(size))
    return costs


@dataclass(frozen=True)
class PenaltySpec:
    """One registered approximation: the last line of its module.

    Attributes
    ----------
    name : word for it in ``approx`` of the methods ``l0-mpm`` and ``fsv``.
    make : function of the steepness alpha that returns the approximation, an :class:`Approximation` or any other
        :class:`Penalty`.
    formula : phi of t = |w|, in plain text.
    """

    name: str
    make: Callable[[float], Penalty]
    formula: str
