"""Sensitivity: prices and ranges against solves with changed right-hand sides and costs."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest
from support import blobs

import fsopt
from fsopt.errors import SolverError


def product_mix():
    """The example of Wyndor Glass in textbooks: 36 at (2, 6), prices 0, 1.5, 1."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), within=pyo.NonNegativeReals, doc="x, batches")
    left = (m.x[0], 2 * m.x[1], 3 * m.x[0] + 2 * m.x[1])
    m.plant = pyo.Constraint(range(3), rule=lambda m, i: left[i] <= (4.0, 12.0, 18.0)[i], doc="(1) hours")
    m.o = pyo.Objective(expr=3 * m.x[0] + 5 * m.x[1], sense=pyo.maximize)
    return m


def test_prices_and_ranges_of_a_textbook_program():
    found = fsopt.sensitivity(product_mix())
    assert found.result.objective == pytest.approx(36.0)
    assert [line.price for line in found.constraints] == pytest.approx([0.0, 1.5, 1.0])
    assert found.constraints[1].range == pytest.approx((6.0, 18.0))
    assert found.constraints[2].range == pytest.approx((12.0, 24.0))
    assert found.variables[0].range == pytest.approx((0.0, 7.5))
    assert found.variables[1].range[0] == pytest.approx(2.0)
    assert [line.name for line in found.largest()] == ["plant[1]", "plant[2]"]
    assert found.constraints[0].equation == "(1) hours"


def test_other_classes_have_prices_without_ranges():
    model = fsopt.build("svm", blobs(20, 3))
    found = fsopt.sensitivity(model)
    assert all(line.range is None for line in found.constraints)
    assert [line.price for line in found.constraints] == [model.dual[c] for c in model.margin.values()]


def test_a_model_without_an_optimum_is_refused():
    m = product_mix()
    m.never = pyo.Constraint(expr=m.x[0] >= 5)
    with pytest.raises(SolverError, match=r"no certified optimum: infeasible.*explain"):
        fsopt.sensitivity(m)
