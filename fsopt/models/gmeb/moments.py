r"""Second moments of the classes, and the parts of Peleg & Meir, (15) that several models share.

With the moments v+ and v- of the features over the two classes, (15) reads

.. math::

    \min\ 1'\xi \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1 - \xi_i, \quad \sum_j w_j^2/\sigma_j \le 1, \quad
    v^{+\prime}\sigma \le R_+, \quad v^{-\prime}\sigma \le R_-, \quad \sigma, \xi \ge 0
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.data.matrices import exact_sums
from fsopt.models.blocks import add_classifier, new_model, number
from fsopt.typing import Vector


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


def add_moment_bounds(m: pyo.ConcreteModel, data: Dataset, r_plus: float, r_minus: float) -> None:
    """Add the constraints ``moment_plus`` and ``moment_minus`` whose radii are finite."""
    r_plus, r_minus = radius(m.name, "r_plus", r_plus), radius(m.name, "r_minus", r_minus)
    v_plus, v_minus = second_moments(data)
    scales = tuple(m.sigma.values())
    if np.isfinite(r_plus):
        m.moment_plus = pyo.Constraint(expr=dot(v_plus, scales) <= r_plus, doc="(15) v+'sigma <= R+")
    if np.isfinite(r_minus):
        m.moment_minus = pyo.Constraint(expr=dot(v_minus, scales) <= r_minus, doc="(15) v-'sigma <= R-")
