"""The part that Peleg & Meir, (10) and (11) share: weights that are products of w and the feature scales sigma."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.models.blocks import margin_constraint, new_model, squares
from fsopt.typing import Vector


def new_product_model(name: str, data: Dataset, scale: float) -> pyo.ConcreteModel:
    """Return a model with w, sigma >= 0, u for the products w_j sigma_j (J), b and xi >= 0 (I).

    It starts at equal weights of norm 1, every sigma_j at ``scale``, b = 0 and slacks of 1.
    """
    m = new_model(name, data)
    start = 1 / np.sqrt(data.p)
    m.w = pyo.Var(m.J, initialize=start, doc="w, weights of the scaled features")
    m.sigma = pyo.Var(m.J, within=pyo.NonNegativeReals, initialize=scale, doc="sigma, feature scales")
    m.u = pyo.Var(m.J, initialize=start * scale, doc="u_j = w_j sigma_j, weights of the hyperplane")
    m.b = pyo.Var(initialize=0.0, doc="b, intercept")
    m.xi = pyo.Var(m.I, within=pyo.NonNegativeReals, initialize=1.0, doc="xi, hinge slacks")
    return m


def add_products(m: pyo.ConcreteModel, data: Dataset, equation: str) -> None:
    """Add the constraints ``unit_norm``, ``product`` (J) and ``margin`` (I), the last with the weights u."""

    def product(m: pyo.ConcreteModel, j: int) -> Any:
        return m.u[j] - m.w[j] * m.sigma[j] == 0

    m.unit_norm = pyo.Constraint(expr=squares(m.w) <= 1, doc=f"{equation} w'w <= 1")
    m.product = pyo.Constraint(m.J, rule=product, doc=f"{equation} u_j = w_j sigma_j")
    m.margin = margin_constraint(m, data, m.u, f"{equation} y_i (u'x_i + b) >= 1 - xi_i")


def scaled_moment(m: pyo.ConcreteModel, v: Vector) -> Any:
    """Return the expression sum_j v_j sigma_j^2 for second moments v (p,)."""
    return pyo.quicksum(float(v[j]) * m.sigma[j] ** 2 for j in m.J)


def largest_equal_scale(r: float, v: Vector) -> float:
    """Return R / sum_j v_j, the largest common value of sigma_j^2 within a radius; infinity if all moments are 0."""
    sum_of_moments = float(v.sum())
    return r / sum_of_moments if sum_of_moments > 0 else np.inf
