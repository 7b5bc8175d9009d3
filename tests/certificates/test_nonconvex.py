"""The certificate of programs that are not convex: the repair of a small violation, by hand."""

import numpy as np
import pyomo.environ as pyo
import pytest

from fsopt.certificates.nonconvex import repaired
from fsopt.compiler import compile_model


@pytest.mark.parametrize(
    ("other", "expected"),
    [(pyo.NonNegativeReals, [0.5, 0.5]), (pyo.NonNegativeIntegers, [1.0, 0.0])],
    ids=["continuous", "integer"],
)
def test_a_violation_is_repaired_by_the_continuous_variable_whose_change_costs_most(other, expected):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(domain=pyo.NonNegativeReals)
    m.k = pyo.Var(domain=other)
    m.demand = pyo.Constraint(expr=m.x + m.k >= 1)
    m.objective = pyo.Objective(expr=m.x + 10 * m.k)
    program = compile_model(m)
    assert repaired(program, np.array([0.5, 0.0])) == pytest.approx(expected)
    assert repaired(program, np.array([1.0, 0.0])) == pytest.approx([1.0, 0.0])
