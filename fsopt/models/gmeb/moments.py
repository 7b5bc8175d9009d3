"""Shared by the models of Peleg & Meir: second moments of the classes, radii, scaled features."""

from __future__ import annotations

from fsopt.typing import Vector

import numpy as np
import pyomo.environ as pyo
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import add_classifier, new_model, number
from typing import Any


def second_moments(data: Dataset) -> tuple[Vector, Vector]:
    """Return v+ and v- (p,), the raw second moments of each column over the two classes.

    Moments about 0, not variances: centre the columns by the training mean before (the method does).
    """
    return (data.X[data.y > 0] ** 2).mean(axis=0), (data.X[data.y < 0] ** 2).mean(axis=0)


def radius(model: str, name: str, value: Any) -> float:
    """Return R > 0; infinity or None stands for a constraint that is left out."""
    if value is None or value == np.inf:
        return np.inf
    return number(model, name, value, low=0.0, high=np.inf, strict=True)


def add_scaled_classifier(name: str, data: Dataset) -> pyo.ConcreteModel:
    """Return a model with the plane (w, b) and the squared scales sigma."""
    m = new_model(name, data)
    add_classifier(m)
    m.sigma = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="sigma, squared feature scales")
    return m


def add_moments(m: pyo.ConcreteModel, data: Dataset, r_plus: float, r_minus: float) -> None:
    """Add the rows of the finite radii."""
    r_plus, r_minus = radius(m.name, "r_plus", r_plus), radius(m.name, "r_minus", r_minus)
    v_plus, v_minus = second_moments(data)
    sigmas = tuple(m.sigma.values())
    if np.isfinite(r_plus):
        m.moment_plus = pyo.Constraint(expr=dot(v_plus, sigmas) <= r_plus, doc="(15) v+'sigma <= R+")
    if np.isfinite(r_minus):
        m.moment_minus = pyo.Constraint(expr=dot(v_minus, sigmas) <= r_minus, doc="(15) v-'sigma <= R-")


def add_perspective(m: pyo.ConcreteModel) -> None:
    def perspective(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] ** 2 <= m.sigma[j] * m.t[j]

    m.perspective = pyo.Constraint(m.J, rule=perspective, doc="(15) w_j^2 <= sigma_j t_j")
