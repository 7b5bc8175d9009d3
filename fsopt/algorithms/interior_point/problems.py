r"""The hinge-loss problems that the interior point solves, and what Newton's method has to know of each.

.. math::

    \min_{w, b}\ \tfrac12 w'w + C e'\xi \qquad \min_{w, b}\ e'\xi \ \text{s.t.}\ w'w \le W \qquad
    \min_{w, b}\ \tfrac12 \|w\| + C e'\xi

Newton's method divides each by C and takes centred samples of mean square norm 1, so that multipliers are in [0, 1], or
between 0 and the weights of the samples, in every unit of the data. Then :math:`\gamma w = V'a` at the optimum, where

* gamma is a number in the first problem;
* gamma is the multiplier r of the ball in the second, with :math:`t = W - w'w \ge 0`, :math:`rt = 0`;
* :math:`\gamma = 1/r` in the third, :math:`\rho\|w\| = \min_{r > 0} w'w/(2r) + \rho^2 r/2`, whose derivative in r has
  the slack :math:`t = \rho^2 - \gamma^2 w'w \ge 0`, :math:`rt = 0`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fsopt.data import Dataset
from fsopt.data.hyperplanes import combination, hinge, midpoint_intercept
from fsopt.data.matrices import refuse_sparse
from fsopt.typing import Vector


class WeightTerm(Protocol):
    """The term of the weights in the problem of Newton's method.

    Attributes
    ----------
    fixed : whether gamma is a number, without r and t.
    """

    @property
    def fixed(self) -> bool:
        """Whether gamma is a number."""

    def gamma(self, r: float) -> float:
        """Return gamma."""

    def slope(self, r: float) -> float:
        """Return the derivative of gamma in r."""

    def slack(self, r: float, w: Vector) -> float:
        """Return t."""

    def slack_slopes(self, r: float, w: Vector) -> tuple[float, float]:
        """Return the derivative of t in r, and the factor of w in its gradient in w."""

    def begin(self, length: float) -> tuple[float, float]:
        """Return r and t of the first iterate, at w = 0, for the length of V'a."""


@dataclass(frozen=True)
class Square:
    """The term gamma/2 w'w."""

    value: float
    fixed: bool = True

    def gamma(self, r: float) -> float:
        """Return gamma."""
        return self.value

    def slope(self, r: float) -> float:
        """Return 0."""
        return 0.0

    def slack(self, r: float, w: Vector) -> float:
        """Return 0."""
        return 0.0

    def slack_slopes(self, r: float, w: Vector) -> tuple[float, float]:
        """Return zeros."""
        return 0.0, 0.0

    def begin(self, length: float) -> tuple[float, float]:
        """Return zeros."""
        return 0.0, 0.0


@dataclass(frozen=True)
class Ball:
    """The constraint w'w <= W."""

    capacity: float
    fixed: bool = False

    def gamma(self, r: float) -> float:
        """Return r."""
        return r

    def slope(self, r: float) -> float:
        """Return 1."""
        return 1.0

    def slack(self, r: float, w: Vector) -> float:
        """Return W - w'w."""
        return self.capacity - float(w @ w)

    def slack_slopes(self, r: float, w: Vector) -> tuple[float, float]:
        """Return 0 and -2."""
        return 0.0, -2.0

    def begin(self, length: float) -> tuple[float, float]:
        """Return the r with ||V'a|| = r sqrt(W)."""
        return length / float(np.sqrt(self.capacity)), self.capacity


@dataclass(frozen=True)
class Norm:
    """The term rho ||w||."""

    rho: float
    fixed: bool = False

    def gamma(self, r: float) -> float:
        """Return 1 / r."""
        return 1.0 / r

    def slope(self, r: float) -> float:
        """Return -1 / r^2."""
        return -1.0 / r**2

    def slack(self, r: float, w: Vector) -> float:
        """Return rho^2 - w'w / r^2."""
        return self.rho**2 - float(w @ w) / r**2

    def slack_slopes(self, r: float, w: Vector) -> tuple[float, float]:
        """Return 2 w'w / r^3 and -2 / r^2."""
        return 2.0 * float(w @ w) / r**3, -2.0 / r**2

    def begin(self, length: float) -> tuple[float, float]:
        """Return the r of a w of norm 1, and t at w = 0."""
        return 1.0 / self.rho, self.rho**2


@dataclass(frozen=True)
class HingeProblem:
    """One of the three problems: the first, with ``capacity`` W the second, with ``norm`` the third.

    Attributes
    ----------
    data, c : the samples, and C > 0.
    capacity : W > 0; None for the other problems.
    norm : whether the term of the weights is half their norm.
    """

    data: Dataset
    c: float
    capacity: float | None = None
    norm: bool = False

    def __post_init__(self) -> None:
        refuse_sparse("the interior point", self.data.X)

    def penalty(self, unit: float) -> WeightTerm:
        """Return the term of the weights of samples that are divided by a unit."""
        if self.capacity is not None:
            return Ball(self.capacity * unit**2)
        if self.norm:
            return Norm(0.5 / (self.c * unit))
        return Square(1.0 / (self.c * unit**2))

    def hyperplane(self, w: Vector) -> tuple[Vector, float, float]:
        """Return w, shortened where it is too long, its best intercept, and the objective value."""
        square = float(w @ w)
        if self.capacity is not None and square > self.capacity:
            w = w * np.sqrt(self.capacity / square)
        scores = self.data.X @ w
        b = midpoint_intercept(scores, self.data.y, self.data.weights)
        loss = self.c * hinge(scores + b, self.data.y, self.data.weights)
        if self.capacity is not None:
            return w, b, loss
        return w, b, loss + 0.5 * (float(np.sqrt(square)) if self.norm else square)

    def bound(self, alpha: Vector) -> tuple[Vector, float]:
        """Return multipliers (n,) in [0, C] with y'alpha = 0, shortened where they are too long, and their bound."""
        length = float(np.linalg.norm(combination(self.data, alpha)))
        if self.norm:
            alpha = alpha * min(1.0, 0.5 / max(length, 1e-300))
            return alpha, float(alpha.sum())
        cost = 0.5 * length**2 if self.capacity is None else np.sqrt(self.capacity) * length
        return alpha, float(alpha.sum() - cost)
