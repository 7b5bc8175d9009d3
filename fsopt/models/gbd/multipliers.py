"""Shared by the duals: multipliers 0 <= alpha <= C with y'alpha = 0, and q = X'Y alpha."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import new_model, number
from typing import Any


def add_multipliers(name: str, data: Dataset, c: float, equation: str) -> pyo.ConcreteModel:
    """Return a model with the multipliers alpha of the margins and q = X'Y alpha."""
    c = number(name, "c", c, low=0.0, strict=True)
    m = new_model(name, data)
    m.alpha = pyo.Var(m.I, bounds=(0, c), doc="alpha, multipliers of the margins")
    m.q = pyo.Var(m.J, doc="q_j = sum_i alpha_i y_i x_ij")
    alphas, Xy = tuple(m.alpha.values()), np.ascontiguousarray((data.X * data.y[:, None]).T)

    def expansion(m: pyo.ConcreteModel, j: int) -> Any:
        return dot(Xy[j], alphas) - m.q[j] == 0

    m.expansion = pyo.Constraint(m.J, rule=expansion, doc=f"{equation} q = X'Y alpha; multiplier w")
    m.balance = pyo.Constraint(expr=dot(data.y, alphas) == 0, doc=f"{equation} y'alpha = 0; multiplier b")
    return m
