r"""The polyhedron that all problems of Mangasarian share: the hyperplane x'w = gamma and its errors.

.. math:: y \ge -Aw + e\gamma + e, \quad z \ge Bw - e\gamma + e, \quad y, z \ge 0

The matrices A (m, p) and B (k, p) hold the samples with labels +1 and -1. The classifier is sign(x'w - gamma).

Here are also the step function by complementarities (Lemma 2.3) and its concave approximation (19) with slopes.

.. math:: t(x) = 1 - e^{-\alpha x}, \qquad t'(x) = \alpha e^{-\alpha x}, \qquad x \ge 0
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.mpec import Complementarity, complements

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.data.hyperplanes import weights_of_classes
from fsopt.models.blocks import new_model, number, total
from fsopt.typing import Vector


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


def hyperplane_point(data: Dataset, w: Vector, b: float, **_: Any) -> dict[str, Any]:
    """Return w, gamma, the errors y and z, and the sizes v at a hyperplane w'x + b = 0."""
    errors = np.maximum(1.0 - data.y * (data.X @ w + b), 0.0)
    return {"w": w, "gamma": -b, "y": errors[data.y > 0], "z": errors[data.y < 0], "v": np.abs(w)}


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


BIG_M = 1e4
"""M of :func:`without_complementarities`, where none is given."""


def add_step_function(m: pyo.ConcreteModel, suffix: str, r: pyo.Var, y: pyo.Var, u: pyo.Var, doc: str) -> None:
    """Add ``choice`` and ``price`` + suffix: 0 <= r _|_ u - y >= 0 and 0 <= u _|_ e - r >= 0, of y >= 0.

    They are the optimality conditions for r to maximise r'y over [0, 1], with multipliers u: the smallest such r is the
    step function of y. ``doc`` is the equation and the names of r, y and u: ``(16) r y u``.
    """
    equation, names = doc.split(" ")[0], doc.split(" ")[1:]

    def choice(m: pyo.ConcreteModel, i: int) -> Any:
        return complements(r[i] >= 0, u[i] - y[i] >= 0)

    def price(m: pyo.ConcreteModel, i: int) -> Any:
        return complements(u[i] >= 0, 1 - r[i] >= 0)

    at = r.index_set()
    for name, rule, text in (
        ("choice", choice, "0 <= {0} complements {2} - {1} >= 0"),
        ("price", price, "0 <= {2} complements -{0} + e >= 0"),
    ):
        doc = f"{equation} {text.format(*names)}"
        m.add_component(name + suffix, Complementarity(at, rule=rule, doc=doc))


def without_complementarities(model: pyo.ConcreteModel, *, big_m: float = BIG_M) -> pyo.ConcreteModel:
    """Return a copy of a model with binary variables instead of its complementarities, between linear expressions.

    Of the two expressions in 0 <= a _|_ b >= 0 one is 0 and the other at most big_m > 0: one that is too small cuts
    points off. The components keep their names.
    """
    big_m = number(str(model.name), "big_m", big_m)
    copy = pyo.TransformationFactory("mpec.simple_disjunction").create_using(model)
    pyo.TransformationFactory("gdp.bigm").apply_to(copy, bigM=big_m)
    return copy


def approximate_count(alpha: float, *variables: pyo.Var) -> Any:
    """Return the expression sum_x 1 - exp(-alpha x) over the elements x of indexed variables."""
    return pyo.quicksum(1 - pyo.exp(-alpha * x) for variable in variables for x in variable.values())


def exponential_costs(alpha: float, at: Vector) -> Vector:
    """Return alpha exp(-alpha x) (k,) at x (k,): the slopes, which are the costs of the linear program of one step."""
    costs: Vector = alpha * np.exp(-alpha * at)
    return costs


def iterate_of_costs(alpha: float, costs: Vector) -> Vector:
    """Return the x >= 0 (k,) of which :func:`exponential_costs` returns costs (k,) >= 0; 0 is the smallest number."""
    smallest = np.finfo(float).tiny
    x: Vector = np.maximum(-np.log(np.maximum(costs / alpha, smallest)) / alpha, 0.0)
    return x
