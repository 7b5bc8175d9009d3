"""Shared by FSP-M and FSP-lambda as printed: weights multiplied by binary selections."""

from __future__ import annotations

import pyomo.environ as pyo
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import add_classifier, new_model, number
from fsopt.models.gbd.limits import Limits
from fsopt.models.gbd.mixed_integer import largest_weight
from typing import Any


def new_printed_model(name: str, data: Dataset, c: float, limits: Limits, equation: str) -> pyo.ConcreteModel:
    """Return the products v_j = sigma_j w_j, the margins in them, and the limits."""
    c = number(name, "c", c, low=0.0, strict=True)
    model = new_model(name, data)
    add_classifier(model)
    bound = largest_weight(data, c)
    model.w.setlb(-bound)
    model.w.setub(bound)
    model.sigma = pyo.Var(model.J, within=pyo.Binary, doc="sigma, selection")
    model.v = pyo.Var(model.J, bounds=(-bound, bound), doc="v_j = sigma_j w_j, weights after selection")
    model.xi = pyo.Var(model.I, within=pyo.NonNegativeReals, doc="xi, hinge slacks")
    yX, labels, products = data.X * data.y[:, None], data.y.tolist(), tuple(model.v.values())

    def margin(model: pyo.ConcreteModel, i: int) -> Any:
        return dot(yX[i], products) + labels[i] * model.b + model.xi[i] >= 1

    def product(model: pyo.ConcreteModel, j: int) -> Any:
        return model.v[j] - model.sigma[j] * model.w[j] == 0

    model.margin = pyo.Constraint(model.I, rule=margin, doc=f"{equation} y_i (v'x_i + b) + xi_i >= 1")
    model.product = pyo.Constraint(model.J, rule=product, doc=f"{equation} v_j = sigma_j w_j")
    limits.add_to(model)
    return model


def loss(model: pyo.ConcreteModel, c: float) -> Any:
    """Return 1/2 sum_j sigma_j w_j^2 + C e'xi."""
    return 0.5 * sum(model.v[j] * model.w[j] for j in model.J) + c * pyo.quicksum(model.xi.values())
