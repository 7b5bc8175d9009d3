"""Residuals: a violation is divided by the largest term of its constraint, or by its unit."""

import numpy as np
import pyomo.environ as pyo
import pytest

from fsopt.certificates.residuals import primal_residual
from fsopt.compiler import compile_model


@pytest.mark.parametrize(("lo", "hi", "x"), [(-1e6, 1.0, 1.5), (-1.0, 1e6, -1.5)])
def test_a_far_side_does_not_hide_the_violation_of_the_near_one(lo, hi, x):
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-4, 4))
    m.row = pyo.Constraint(expr=pyo.inequality(lo, m.x[0] + m.x[1], hi))
    m.objective = pyo.Objective(expr=m.x[0])
    program = compile_model(m)
    assert primal_residual(program, np.array([x, 0.0])) == pytest.approx(0.5 / 4)
