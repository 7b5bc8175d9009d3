"""Shared by the models of Mangasarian: the hyperplane x'w = gamma, its errors y and z, sizes v of the weights."""

from __future__ import annotations

from fsopt.typing import Vector

import numpy as np
import pyomo.environ as pyo
from fsopt.compiler import dot
from fsopt.data import Dataset
from typing import Any


def new_hyperplane_model(name: str, data: Dataset, equation: str) -> pyo.ConcreteModel:
    """Return the polyhedron that all problems of the paper share, without an objective."""
    A, B = data.X[data.y > 0], data.X[data.y < 0]
    m = pyo.ConcreteModel(name=name)
    m.IA, m.IB = pyo.RangeSet(0, len(A) - 1), pyo.RangeSet(0, len(B) - 1)
    m.J = pyo.RangeSet(0, data.p - 1)
    m.w = pyo.Var(m.J, doc="w, weights")
    m.gamma = pyo.Var(doc="gamma, the hyperplane is x'w = gamma")
    m.y = pyo.Var(m.IA, within=pyo.NonNegativeReals, doc="y, errors of the rows of A")
    m.z = pyo.Var(m.IB, within=pyo.NonNegativeReals, doc="z, errors of the rows of B")
    weights = tuple(m.w.values())

    def errors_a(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(A[i], weights) - m.gamma + m.y[i] >= 1

    def errors_b(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(-B[i], weights) + m.gamma + m.z[i] >= 1

    m.errors_a = pyo.Constraint(m.IA, rule=errors_a, doc=f"{equation} y >= -Aw + e gamma + e")
    m.errors_b = pyo.Constraint(m.IB, rule=errors_b, doc=f"{equation} z >= Bw - e gamma + e")
    return m


def average_errors(m: pyo.ConcreteModel) -> Any:
    """Return e'y/m + e'z/k."""
    return pyo.quicksum(m.y.values()) / len(m.IA) + pyo.quicksum(m.z.values()) / len(m.IB)


def add_sizes(m: pyo.ConcreteModel) -> None:
    """Add v and the rows -v <= w <= v."""
    m.v = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="v >= |w|")

    def above(m: pyo.ConcreteModel, j: int) -> Any:
        return m.v[j] - m.w[j] >= 0

    def below(m: pyo.ConcreteModel, j: int) -> Any:
        return m.v[j] + m.w[j] >= 0

    m.above = pyo.Constraint(m.J, rule=above, doc="(21) w <= v")
    m.below = pyo.Constraint(m.J, rule=below, doc="(21) -v <= w")


def step_costs(alpha: float, at: Vector) -> Vector:
    """Return alpha exp(-alpha x), the gradient of the concave approximation 1 - exp(-alpha x)."""
    costs: Vector = alpha * np.exp(-alpha * at)
    return costs


def costs(alpha: float, at: Vector) -> dict[int, float]:
    return dict(enumerate(step_costs(alpha, at).tolist()))
