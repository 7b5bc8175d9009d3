r"""Penalties as differences of convex functions: the protocol for DCA, the registered approximations, their registry.

An approximation of the number of nonzeros of w is :math:`\sum_j \varphi(|w_j|)` with :math:`\varphi` concave and
increasing on :math:`[0, \infty)`, :math:`\varphi(0) = 0` and a finite slope :math:`s = \varphi'(0)`. It is g - h with

.. math:: g(w) = s\,\|w\|_1, \qquad h(w) = \sum_j \big(s\,|w_j| - \varphi(|w_j|)\big),

both convex, and h differentiable at 0: the subdifferential of :math:`\varphi(|\cdot|)` there is that of g.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol, runtime_checkable

import numpy as np

from fsopt.common.registry import Registry
from fsopt.errors import ParameterError, shown
from fsopt.models.blocks import number
from fsopt.models.sla.hyperplane import exponential_costs
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
    def phi_slope(self, size: Vector) -> Vector:
        """Return phi' (p,) at the absolute values (p,)."""

    def value(self, w: Vector) -> float:
        """Return the penalty of w (p,)."""
        return float(self.phi(np.abs(w)).sum())

    def gradient(self, w: Vector) -> Vector:
        """Return v (p,), the gradient of h; the cost s - |v_j| of a weight is at least ``SMALLEST_COST`` s."""
        v: Vector = np.sign(w) * (self.slope - np.maximum(self.phi_slope(np.abs(w)), self.slope * SMALLEST_COST))
        return v


def step_costs(penalty: Penalty, size: Vector) -> Vector:
    """Return the costs phi' >= 0 (p,) of the absolute values (p,) of the weights in a step of SLA."""
    if isinstance(penalty, Approximation):
        return penalty.phi_slope(size)
    costs: Vector = penalty.slope - np.abs(penalty.gradient(size))
    return costs


@dataclass(frozen=True)
class PenaltySpec:
    """One registered approximation, an entry of ``SPECS``.

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


@dataclass(frozen=True)
class Exponential(Approximation):
    r""":math:`\varphi(t) = 1 - e^{-\alpha t}`; Yang & Ju, (30) and (40)."""

    def phi(self, size: Vector) -> Vector:
        """Return 1 - exp(-alpha t) (p,)."""
        return -np.expm1(-self.alpha * size)

    def phi_slope(self, size: Vector) -> Vector:
        """Return alpha exp(-alpha t) (p,)."""
        return exponential_costs(self.alpha, size)


@dataclass(frozen=True)
class CappedL1(Approximation):
    r""":math:`\varphi(t) = \min(1, \alpha t)`; at its kink, t = 1 / alpha, the subgradient 0 of h is taken."""

    def phi(self, size: Vector) -> Vector:
        """Return min(1, alpha t) (p,)."""
        return np.minimum(1.0, self.alpha * size)

    def phi_slope(self, size: Vector) -> Vector:
        """Return 0 beyond the kink and alpha up to it (p,)."""
        return np.where(self.alpha * size > 1.0, 0.0, self.alpha)


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
        left = self.phi_slope(size) / self.alpha
        return self.alpha * (np.minimum(size, start) + length * (1 - left**2) / 2)

    def phi_slope(self, size: Vector) -> Vector:
        """Return alpha times the share of the bend from t on (p,)."""
        start, length = self._bend
        return self.alpha * np.clip(1 - (size - start) / length, 0.0, 1.0)


@dataclass(frozen=True)
class Power(Approximation):
    r"""A power of :math:`1 + \alpha t`, q < 1, from 0 to 1 at t = 1, or for q < 0 in the limit.

    With :math:`\epsilon = 1/\alpha`,

    .. math:: \varphi(t) = \frac{(1 + \alpha t)^q - 1}{(1 + \alpha)^q - 1} \text{ for } q > 0, \qquad
              \frac{\log(1 + \alpha t)}{\log(1 + \alpha)} \text{ for } q = 0, \qquad
              1 - (1 + \alpha t)^q \text{ for } q < 0

    These are the smoothed :math:`\ell_q` quasi-norm :math:`(t + \epsilon)^q`, its limit, and the negative power
    :math:`-(t + \epsilon)^q`, each times a constant and from 0; for q = -1 it is the fraction
    :math:`\alpha t / (1 + \alpha t)`.
    """

    q: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        number("Power", "q", self.q, inside="(-inf, 1)")

    def _unscaled(self, size: Vector | float) -> Vector:
        """Return ((1 + alpha t)^q - 1) / q (p,) by log1p and expm1, which keep the digits of small alpha t and q."""
        logarithm: Vector = np.log1p(self.alpha * size)
        return np.expm1(self.q * logarithm) / self.q if self.q else logarithm

    @property
    def slope(self) -> float:
        """Slope s of phi at 0."""
        return -self.q * self.alpha if self.q < 0 else float(self.alpha / self._unscaled(1.0))

    def phi(self, size: Vector) -> Vector:
        """Return phi (p,)."""
        return self._unscaled(size) * (self.slope / self.alpha)

    def phi_slope(self, size: Vector) -> Vector:
        """Return s (1 + alpha t)^(q - 1) (p,)."""
        return self.slope * (1 + self.alpha * size) ** (self.q - 1)


SPECS = (
    PenaltySpec("exp", Exponential, "1 - exp(-alpha t)"),
    PenaltySpec("log", partial(Power, q=0.0), "log(1 + alpha t) / log(1 + alpha)"),
    PenaltySpec("capped-l1", CappedL1, "min(1, alpha t)"),
    PenaltySpec("scad", Scad, "alpha t up to 2 / (4.7 alpha), then a quadratic up to the plateau 1 (a = 3.7)"),
    PenaltySpec("lp", Power, "((1 + alpha t)^q - 1) / ((1 + alpha)^q - 1), q = 1/2"),
    PenaltySpec("inverse-power", partial(Power, q=-1.0), "1 - 1 / (1 + alpha t)"),
)

PENALTIES = Registry(
    PenaltySpec,
    "penalty",
    "fsopt.drivers",
    ("penalties",),
    listing="fsopt methods l0-mpm",
    function="make",
)
"""Name -> entry; the names are the words of ``approx`` in the methods ``l0-mpm`` and ``fsv``."""


def approximation(approx: str | Penalty, alpha: float) -> Penalty:
    """Return the registered approximation of a name at a steepness, or the penalty that is given itself.

    Raises
    ------
    ParameterError : another name, an object that is no penalty, or an alpha that is not positive.
    """
    if isinstance(approx, str) and approx in PENALTIES:
        return PENALTIES[approx].make(alpha)
    if isinstance(approx, Penalty):
        return approx
    table = "; ".join(f"{spec.name}: {spec.formula}" for spec in PENALTIES.values())
    raise ParameterError(
        f"approx is {shown(approx)}", f"an object with slope, value(w) and gradient(w), or one of {table}"
    )


def register_penalty(spec: PenaltySpec, *, replace: bool = False) -> PenaltySpec:
    """Add a penalty of your own: ``approx`` of the methods ``l0-mpm`` and ``fsv`` takes it by its name from then on.

    Parameters
    ----------
    spec : PenaltySpec
        Its entry, as those of ``SPECS`` here.
    replace : bool, default False
        Take the place of a penalty of your own that has the name already, as in a notebook.

    Returns
    -------
    PenaltySpec
        The entry.

    Raises
    ------
    ParameterError : the name is taken, or ``make`` is no function.
    """
    return PENALTIES.register(spec, replace=replace)
