"""Shared by the nonconvex models of Mangasarian: the exponential approximation of the step function, and a start."""

from __future__ import annotations

import pyomo.environ as pyo
from collections.abc import Iterable
from fsopt.data import Dataset
from fsopt.models.sla.hyperplane import new_hyperplane_model
from typing import Any


def with_start(name: str, data: Dataset, equation: str) -> pyo.ConcreteModel:
    """Return the polyhedron with values: the hyperplane w = 0, gamma = 0 and its errors."""
    m = new_hyperplane_model(name, data, equation)
    for component, value in ((m.w, 0.0), (m.gamma, 0.0), (m.y, 1.0), (m.z, 1.0)):
        for v in component.values():
            v.set_value(value)
    return m


def exponentials(alpha: float, variables: Iterable[Any]) -> Any:
    """Return the sum of 1 - exp(-alpha x), the concave approximation of the step function."""
    return pyo.quicksum(1 - pyo.exp(-alpha * x) for x in variables)
