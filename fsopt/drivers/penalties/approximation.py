"""What DCA needs of a penalty, and what all approximations of the number of nonzeros share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fsopt.models.blocks import number
from fsopt.typing import Vector

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
