r"""The norm N(w) whose unit ball is the feasible set of Peleg & Meir, (15), once sigma is minimised out.

Second moments of the classes, and the parts of Peleg & Meir, (15) that several models share.

With the moments v+ and v- of the features over the two classes, (15) reads

.. math::

    \min\ 1'\xi \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1 - \xi_i, \quad \sum_j w_j^2/\sigma_j \le 1, \quad
    v^{+\prime}\sigma \le R_+, \quad v^{-\prime}\sigma \le R_-, \quad \sigma, \xi \ge 0
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.data.matrices import exact_sums
from fsopt.errors import ParameterError
from fsopt.models.blocks import add_classifier, new_model, number
from fsopt.typing import Vector


@dataclass(frozen=True)
class GmebNorm:
    r"""The norm of GMEB: (15) is :math:`\min 1'\xi` over the hyperplanes with :math:`N(w) \le 1`.

    .. math::

        N(w) = \max_{\theta \in [0,1]} \sum_j |w_j| u_j(\theta), \qquad
        u_j(\theta)^2 = \theta v_j^+/R_+ + (1-\theta) v_j^-/R_-

    The sum is concave in theta. An infinite radius fixes theta at the other end of [0, 1].

    Attributes
    ----------
    v_plus, v_minus : (p,) second moments of the features over the two classes.
    r_plus, r_minus : R+ and R-, at most one of them infinite.
    """

    v_plus: Vector
    v_minus: Vector
    r_plus: float
    r_minus: float

    @classmethod
    def of(cls, data: Dataset, r_plus: float, r_minus: float) -> GmebNorm:
        """Return the norm of a data set; raises ParameterError if both radii are infinite."""
        if np.isinf(r_plus) and np.isinf(r_minus):
            raise ParameterError("both r_plus and r_minus are infinite, nothing bounds w", "give a finite one")
        return cls(*second_moments(data), r_plus, r_minus)

    @property
    def ends(self) -> tuple[float, ...]:
        """The ends of the range of theta: 0 and 1, or one of them if a radius is infinite."""
        return tuple(t for t, r in ((0.0, self.r_minus), (1.0, self.r_plus)) if np.isfinite(r))

    def weights(self, theta: float) -> Vector:
        """Return u(theta) (p,)."""
        u: Vector = np.sqrt(theta * self.v_plus / self.r_plus + (1.0 - theta) * self.v_minus / self.r_minus)
        return u

    def at(self, w: Vector) -> tuple[float, float]:
        """Return N(w) and the theta that attains it."""
        size, ends = np.abs(w), self.ends
        if len(ends) == 1:
            return float(size @ self.weights(ends[0])), ends[0]
        value, theta = minimum(lambda t: -float(size @ self.weights(t)), (0.0, 1.0))
        return -value, theta

    def sigma_of(self, w: Vector) -> Vector:
        """Return the sigma (p,) of (15) that belongs to w, by the Cauchy-Schwarz inequality: |w_j| / (N u_j(theta))."""
        norm, theta = self.at(w)
        u = norm * self.weights(theta)
        sigma: Vector = np.where(u > 0, np.abs(w) / np.where(u > 0, u, 1.0), 0.0)
        return sigma


def minimum(convex: Callable[[float], float], ends: tuple[float, float]) -> tuple[float, float]:
    """Return the minimum of a convex function on an interval, and where it is attained."""
    inner = scipy.optimize.minimize_scalar(convex, bounds=ends, method="bounded", options={"xatol": 1e-12})
    return min((convex(t), t) for t in (*ends, float(inner.x)))


def second_moments(data: Dataset) -> tuple[Vector, Vector]:
    """Return v+ and v- (p,), the weighted second moments of each feature about 0 over the two classes: no variances."""
    weights = np.ones(data.n) if data.weights is None else data.weights
    sides = (data.y > 0, data.y < 0)
    first, second = (exact_sums(data.X[side] ** 2, weights[side]) / math.fsum(weights[side]) for side in sides)
    return first, second


def radius(model: str, name: str, value: Any) -> float:
    """Return R+ or R- as a float > 0; infinity, for infinity or None, stands for a constraint that is omitted."""
    if value is None or (isinstance(value, float) and value == np.inf):
        return np.inf
    return number(model, name, value, inside="(0, inf)")


def new_scaled_model(name: str, data: Dataset) -> pyo.ConcreteModel:
    """Return a model with the hyperplane (w, b) and the squared feature scales sigma >= 0 (J)."""
    m = new_model(name, data)
    add_classifier(m)
    m.sigma = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="sigma, squared feature scales")
    return m


def add_moment_bounds(
    m: pyo.ConcreteModel,
    data: Dataset,
    r_plus: float,
    r_minus: float,
    *,
    moment: Callable[[Vector], Any] | None = None,
    doc: str = "(15) v+'sigma <= R+",
) -> None:
    """Add ``moment_plus moment_minus`` and their parameters, of the finite radii; ``moment`` is a form of v (p,)."""
    scales = tuple(m.sigma.values())
    for side, sign, v, given in zip(("plus", "minus"), "+-", second_moments(data), (r_plus, r_minus), strict=True):
        largest = radius(m.name, f"r_{side}", given)
        if np.isfinite(largest):
            bound = pyo.Param(initialize=largest, mutable=True, doc=f"R{sign}")
            m.add_component(f"r_{side}", bound)
            found = dot(v, scales) if moment is None else moment(v)
            m.add_component(f"moment_{side}", pyo.Constraint(expr=found <= bound, doc=doc.replace("+", sign)))
