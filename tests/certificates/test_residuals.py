"""Residuals: a violation is divided by the largest term of its constraint, or by its unit."""

import numpy as np
import pyomo.environ as pyo
import pytest

from fsopt.answers.results import Point
from fsopt.certificates.convex import primal_cost
from fsopt.certificates.points import primal_residual
from fsopt.compiler import compile_model


@pytest.mark.parametrize(("lo", "hi", "x"), [(-1e6, 1.0, 1.5), (-1.0, 1e6, -1.5)])
def test_a_far_side_does_not_hide_the_violation_of_the_near_one(lo, hi, x):
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-4, 4))
    m.row = pyo.Constraint(expr=pyo.inequality(lo, m.x[0] + m.x[1], hi))
    m.objective = pyo.Objective(expr=m.x[0])
    program = compile_model(m)
    assert primal_residual(program, np.array([x, 0.0])) == pytest.approx(0.5 / 4)


@pytest.mark.parametrize("x", [(0.4, 0.5), (-0.1, 1.1)])
def test_the_cost_of_violations_is_their_sum_at_the_prices(x):
    """min 2 x + y with x + y >= 1 and x, y >= 0 has the price 1 of the constraint and 1 of the bound of x."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, None)), pyo.Var(bounds=(0, None))
    m.row = pyo.Constraint(expr=m.x + m.y >= 1)
    m.objective = pyo.Objective(expr=2 * m.x + m.y)
    dual = Point(np.array([0.0, 1.0]), np.array([1.0]), np.zeros(0))
    assert primal_cost(compile_model(m), np.array(x), dual) == pytest.approx(0.1)


def test_a_satisfied_constraint_pays_for_no_violated_one():
    m = pyo.ConcreteModel()
    m.x = pyo.Var()
    m.rows = pyo.ConstraintList()
    m.rows.add(m.x >= 1)
    m.rows.add(m.x >= -9)
    m.objective = pyo.Objective(expr=2 * m.x)
    dual = Point(np.array([1.0]), np.array([1.0, 1.0]), np.zeros(0))
    assert primal_cost(compile_model(m), np.array([0.5]), dual) == pytest.approx(0.5)
