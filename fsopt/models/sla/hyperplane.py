r"""The polyhedron that all problems of Mangasarian share: the hyperplane x'w = gamma and its errors.

.. math:: y \ge -Aw + e\gamma + e, \quad z \ge Bw - e\gamma + e, \quad y, z \ge 0

The matrices A (m, p) and B (k, p) hold the samples with y = +1 and y = -1. The classifier is sign(x'w - gamma).
"""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.data.weights import weights_of_classes
from fsopt.models.blocks import new_model, total


def new_hyperplane_model(name: str, data: Dataset) -> pyo.ConcreteModel:
    """Return a model with w, gamma and the errors y, z >= 0; index sets IA, IB (samples of A and of B), I and J."""
    m = new_model(name, data)
    m.IA = pyo.RangeSet(0, int((data.y > 0).sum()) - 1)
    m.IB = pyo.RangeSet(0, int((data.y < 0).sum()) - 1)
    m.w = pyo.Var(m.J, doc="w, weights")
    m.gamma = pyo.Var(doc="gamma, the hyperplane is x'w = gamma")
    m.y = pyo.Var(m.IA, within=pyo.NonNegativeReals, doc="y, errors of the samples in A")
    m.z = pyo.Var(m.IB, within=pyo.NonNegativeReals, doc="z, errors of the samples in B")
    return m


def add_errors(m: pyo.ConcreteModel, data: Dataset, equation: str) -> None:
    """Add the constraints ``errors_a`` (IA) and ``errors_b`` (IB)."""
    A, B = data.X[data.y > 0], data.X[data.y < 0]
    weights = tuple(m.w.values())

    def errors_a(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(A[i], weights) - m.gamma + m.y[i] >= 1

    def errors_b(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(-B[i], weights) + m.gamma + m.z[i] >= 1

    m.errors_a = pyo.Constraint(m.IA, rule=errors_a, doc=f"{equation} y >= -Aw + e gamma + e")
    m.errors_b = pyo.Constraint(m.IB, rule=errors_b, doc=f"{equation} z >= Bw - e gamma + e")


def set_start(m: pyo.ConcreteModel) -> None:
    """Set the start of a nonconvex model: the hyperplane w = 0, gamma = 0 and its errors, which are 1."""
    for component, value in ((m.w, 0.0), (m.gamma, 0.0), (m.y, 1.0), (m.z, 1.0)):
        for variable in component.values():
            variable.set_value(value)


def average_errors(m: pyo.ConcreteModel, data: Dataset) -> Any:
    """Return the expression e'y/m + e'z/k, each term times the weight of its class."""
    positive, negative = weights_of_classes(data.y, data.weights)
    if positive == negative == 1.0:
        return total(m.y) / len(m.IA) + total(m.z) / len(m.IB)
    return positive / len(m.IA) * total(m.y) + negative / len(m.IB) * total(m.z)


def add_sizes(m: pyo.ConcreteModel) -> None:
    """Add v >= 0 (J), the sizes |w| of the weights where v is minimised."""
    m.v = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="v >= |w|")


def add_size_bounds(m: pyo.ConcreteModel) -> None:
    """Add the constraints ``above`` and ``below`` (J): -v <= w <= v."""

    def above(m: pyo.ConcreteModel, j: int) -> Any:
        return m.v[j] - m.w[j] >= 0

    def below(m: pyo.ConcreteModel, j: int) -> Any:
        return m.v[j] + m.w[j] >= 0

    m.above = pyo.Constraint(m.J, rule=above, doc="(21) w <= v")
    m.below = pyo.Constraint(m.J, rule=below, doc="(21) -v <= w")
