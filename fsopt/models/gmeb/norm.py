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
        size = np.abs(w)
        candidates = list(self.ends)
        if len(candidates) == 2:
            candidates.append(self._inner_maximiser(size))
        values = [float(size @ self.weights(t)) for t in candidates]
        best = int(np.argmax(values))
        return values[best], candidates[best]

    def _inner_maximiser(self, size: Vector) -> float:
        """Return the theta in (0, 1) at which the concave sum is largest; the search never evaluates the ends."""
        used = np.flatnonzero(size)
        plus, minus = self.v_plus[used] / self.r_plus, self.v_minus[used] / self.r_minus

        def negative_sum(theta: float) -> float:
            return -float(size[used] @ np.sqrt(theta * plus + (1.0 - theta) * minus))

        inner = scipy.optimize.minimize_scalar(
            negative_sum, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-12}
        )
        return float(inner.x)

    def scales(self, w: Vector) -> Vector:
        r"""Return the sigma (p,) of (15) that belongs to w.

        By the Cauchy-Schwarz inequality :math:`\sigma_j = |w_j|/(N u_j(\theta))` at the maximising theta: it is
        feasible for both radii, and :math:`\sum_j w_j^2/\sigma_j = N^2`.
        """
        norm, theta = self.at(w)
        u = norm * self.weights(theta)
        sigma: Vector = np.where(u > 0, np.abs(w) / np.where(u > 0, u, 1.0), 0.0)
        return sigma

    def theta_of(self, mu_plus: float, mu_minus: float) -> float:
        r"""Return the theta of the multipliers of the radii, :math:`\mu_+R_+/(\mu_+R_+ + \mu_-R_-)`."""
        plus = max(mu_plus, 0.0) * self.r_plus if np.isfinite(self.r_plus) else 0.0
        minus = max(mu_minus, 0.0) * self.r_minus if np.isfinite(self.r_minus) else 0.0
        return plus / (plus + minus) if plus + minus > 0 else self.ends[0]


def second_moments(data: Dataset) -> tuple[Vector, Vector]:
    """Return v+ and v- (p,), the second moments of each feature about 0 over the two classes.

    They are no variances: the paper centres the features by the mean of all training samples, which the method does
    before a model is built. Samples count by their weights.
    """
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
    """Add ``moment_plus moment_minus`` and their parameters ``r_plus r_minus``, of the radii that are finite.

    ``moment`` is the expression of second moments (p,), by default v'sigma; ``doc`` is that of the first constraint.
    """
    scales = tuple(m.sigma.values())
    for side, sign, v, given in zip(("plus", "minus"), "+-", second_moments(data), (r_plus, r_minus), strict=True):
        largest = radius(m.name, f"r_{side}", given)
        if np.isfinite(largest):
            bound = pyo.Param(initialize=largest, mutable=True, doc=f"R{sign}")
            m.add_component(f"r_{side}", bound)
            found = dot(v, scales) if moment is None else moment(v)
            m.add_component(f"moment_{side}", pyo.Constraint(expr=found <= bound, doc=doc.replace("+", sign)))
