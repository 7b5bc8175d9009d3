r"""Penalties :math:`\Omega` of the weights of a linear machine, each by its value and conjugate.

With a loss of :mod:`fsopt.data.hyperplanes` a penalty makes a machine and its dual,

.. math:: \min_{w, b}\ \Omega(w) + \sum_i C_i\,\ell(y_i (w'x_i + b)) \;=\;
          \max_{0 \le \alpha \le \bar\alpha,\ y'\alpha = 0}\ \psi(\alpha) - \Omega^*(X'Y\alpha).

A norm N has the dual norm :math:`N^*(q) = \max \{q'w : N(w) \le 1\}`: as a penalty its conjugate is 0 where
:math:`N^*(q)` is at most its size and infinite elsewhere, and :math:`\Omega^* = r N^*` where N is at most r.

A Gram matrix K stands for the images of samples: w and q are then the coefficients of their combinations, with the
scalar product w'Kq.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsopt.typing import Matrix, Vector

SMALLEST = 1e-300
"""Divisor in the place of 0."""


class Penalty(ABC):
    """What a certificate and the algorithms of this package ask of a penalty."""

    @abstractmethod
    def value(self, w: Vector) -> float:
        """Return Omega(w), where w satisfies its constraints."""

    def violations(self, w: Vector) -> Mapping[str, float]:
        """Return residual -> the violation of its constraints by w, relative to them: none without constraints."""
        return {}

    @abstractmethod
    def conjugate(self, q: Vector) -> tuple[float, float]:
        """Return Omega*(t q) and the largest factor t in [0, 1] at which it is finite."""


@dataclass(frozen=True)
class Euclid:
    """The length of w, by a Gram matrix (n, n) where there is one."""

    gram: Matrix | None = None

    def of(self, w: Vector) -> float:
        """Return (w'w)^(1/2); rounding errors of w'Kw below 0 are 0."""
        return float(np.sqrt(max(float(w @ w if self.gram is None else w @ self.gram @ w), 0.0)))

    def dual(self, q: Vector) -> float:
        """Return the length of q: the norm is its own dual."""
        return self.of(q)


@dataclass(frozen=True)
class OneNorm:
    """The sum of the sizes of the weights, times costs (p,) > 0."""

    costs: Any = 1.0

    def of(self, w: Vector) -> float:
        """Return sum_j c_j |w_j|."""
        return float(np.sum(self.costs * np.abs(w)))

    def dual(self, q: Vector) -> float:
        """Return the largest |q_j| / c_j."""
        return float(np.max(np.abs(q) / self.costs, initial=0.0))

    def shrunk(self, z: Vector, tau: Any) -> Vector:
        """Return z, each weight nearer to 0 by tau times its cost."""
        return np.asarray(np.sign(z) * np.maximum(np.abs(z) - tau * self.costs, 0.0))


@dataclass(frozen=True)
class Squares(Penalty):
    """Half the squared length of w."""

    gram: Matrix | None = None

    def value(self, w: Vector) -> float:
        """Return w'w / 2."""
        return 0.5 * float(w @ w if self.gram is None else w @ self.gram @ w)

    def conjugate(self, q: Vector) -> tuple[float, float]:
        """Return q'q / 2: the penalty is its own conjugate."""
        return self.value(q), 1.0


@dataclass(frozen=True)
class Norm(Penalty):
    """A norm times a size > 0: its conjugate is finite where the dual norm is at most that."""

    norm: Euclid | OneNorm
    size: float = 1.0

    def value(self, w: Vector) -> float:
        """Return the size times N(w)."""
        return self.size * self.norm.of(w)

    def conjugate(self, q: Vector) -> tuple[float, float]:
        """Return 0 and the factor that brings q into the ball of the dual norm."""
        return 0.0, min(1.0, self.size / max(self.norm.dual(q), SMALLEST))


@dataclass(frozen=True)
class Ball(Penalty):
    """No costs, and a capacity: the length of w is at most a radius > 0."""

    norm: Euclid
    radius: float = 1.0

    def value(self, w: Vector) -> float:
        """Return 0."""
        return 0.0

    def violations(self, w: Vector) -> Mapping[str, float]:
        """Return the excess of w'w over the squared radius, relative to it."""
        return {"capacity": max((self.norm.of(w) / self.radius) ** 2 - 1.0, 0.0)}

    def conjugate(self, q: Vector) -> tuple[float, float]:
        """Return the radius times the length of q."""
        return self.radius * self.norm.dual(q), 1.0

    def nearest(self, z: Vector) -> Vector:
        """Return the nearest point of the ball."""
        return z * min(1.0, self.radius / max(self.norm.of(z), SMALLEST))


SQUARES = Squares()
"""The penalty of the support vector machine (1) of Aytug."""


def capped(w_cap: float, gram: Matrix | None = None) -> Ball:
    r"""Return the capacity :math:`w'w \le W` of the rigorous support vector machine (13) of Bi, for W > 0."""
    return Ball(Euclid(gram), float(np.sqrt(w_cap)))


HINGE_MODELS: Mapping[str, Callable[..., Penalty]] = {
    "svm": lambda gram, _: Squares(gram),
    "svm-norm": lambda *_: Norm(Euclid(), 0.5),
    "onsvm": lambda *_: Norm(OneNorm()),
    "rsvm": lambda gram, at: capped(float(at["w_cap"]), gram),
}
"""Slug of a model that is a penalty and the hinge loss -> the penalty, by a Gram matrix and the model's parameters."""


def machine_of(slug: str, params: Mapping[str, Any], gram: Matrix | None = None) -> tuple[Penalty, float]:
    """Return the penalty of one of :data:`HINGE_MODELS` without bounds on weights, and its C."""
    return HINGE_MODELS[slug](gram, params), 1.0 if "w_cap" in params else float(params["c"])
