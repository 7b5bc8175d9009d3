"""Lemma 23: a fractional program and its convex form have the same optimum, and Theorem 20 is a case of it."""

import numpy as np
import pyomo.environ as pyo
import pytest

import fsopt
from fsopt.errors import ParameterError
from fsopt.models.gmeb.fractional import fractional_to_convex


def test_a_quadratic_over_a_linear_function_by_a_grid():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(1.5, 4))
    m.y = pyo.Var(bounds=(0, 3))
    m.disc = pyo.Constraint(expr=m.x**2 + m.y**2 <= 4)
    m.line = pyo.Constraint(expr=(0.5, m.x + m.y, 3))
    m.objective = pyo.Objective(expr=(m.x - 1) ** 2 + 2 * m.y**2 + 1)
    convex = fractional_to_convex(m, 3 + m.x - 0.5 * m.y)
    found = fsopt.solve(convex)
    x, y = np.meshgrid(np.linspace(1.5, 2, 601), np.linspace(0, 2, 401))
    inside = (x**2 + y**2 <= 4) & (x + y >= 0.5) & (x + y <= 3)
    values = np.where(inside, ((x - 1) ** 2 + 2 * y**2 + 1) / (3 + x - 0.5 * y), np.inf)
    assert found.objective == pytest.approx(values.min(), rel=1e-4)
    t = convex.t.value
    at = [convex.y[j].value / t for j in range(2)]
    best = np.unravel_index(values.argmin(), values.shape)
    assert at == pytest.approx([x[best], y[best]], abs=1e-2)


def test_other_programs_are_refused():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(within=pyo.Integers)
    m.objective = pyo.Objective(expr=m.x)
    with pytest.raises(ParameterError, match="continuous"):
        fractional_to_convex(m, m.x + 1)
    m.x.domain = pyo.Reals
    m.objective.sense = pyo.maximize
    with pytest.raises(ParameterError, match="minimised"):
        fractional_to_convex(m, m.x + 1)
    m.objective.sense = pyo.minimize
    m.objective.set_value(pyo.exp(m.x))
    with pytest.raises(ParameterError, match="linear and quadratic"):
        fractional_to_convex(m, m.x + 1)
