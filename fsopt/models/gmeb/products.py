"""Shared by the nonconvex models of Peleg & Meir: weights as products of scales and unscaled weights."""

from __future__ import annotations

from fsopt.typing import Vector

import numpy as np
import pyomo.environ as pyo
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import new_model, squares
from typing import Any


def add_products(name: str, data: Dataset, scale: float, equation: str) -> pyo.ConcreteModel:
    """Return a model with w in the unit ball, sigma, u_j = w_j sigma_j and the margins of (u, b)."""
    m = new_model(name, data)
    start = 1 / np.sqrt(data.p)
    m.w = pyo.Var(m.J, initialize=start, doc=f"{equation} w, weights of the scaled features")
    m.sigma = pyo.Var(m.J, within=pyo.NonNegativeReals, initialize=scale, doc=f"{equation} sigma, feature scales")
    m.u = pyo.Var(m.J, initialize=start * scale, doc=f"{equation} u_j = w_j sigma_j, weights of the plane")
    m.b = pyo.Var(initialize=0.0, doc="b, intercept")
    m.xi = pyo.Var(m.I, within=pyo.NonNegativeReals, initialize=1.0, doc="xi, hinge slacks")
    weights, yX = tuple(m.u.values()), data.X * data.y[:, None]

    def product(m: pyo.ConcreteModel, j: int) -> Any:
        return m.u[j] - m.w[j] * m.sigma[j] == 0

    def margin(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(yX[i], weights) + float(data.y[i]) * m.b + m.xi[i] >= 1

    m.unit_norm = pyo.Constraint(expr=squares(list(m.w.values())) <= 1, doc=f"{equation} w'w <= 1")
    m.product = pyo.Constraint(m.J, rule=product, doc=f"{equation} u_j = w_j sigma_j")
    m.margin = pyo.Constraint(m.I, rule=margin, doc=f"{equation} margin: y_i (u'x_i + b) >= 1 - xi_i")
    return m


def moment(v: Vector, m: pyo.ConcreteModel) -> Any:
    """Return sum_j v_j sigma_j^2."""
    return pyo.quicksum(float(v[j]) * m.sigma[j] ** 2 for j in m.J)


def share(r: float, v: Vector) -> float:
    """Return R / sum_j v_j, the equal squared scale that uses up a radius; infinity where nothing does."""
    total = float(v.sum())
    return r / total if total > 0 else np.inf
