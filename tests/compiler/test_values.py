"""Values of indexed components as arrays, in the order of their index sets."""

import numpy as np
import pyomo.environ as pyo
import pytest

from fsopt.compiler.values import store, values_of


def model():
    m = pyo.ConcreteModel()
    m.J = pyo.Set(initialize=["c", "a", "b"])
    m.x = pyo.Var(m.J, initialize={"a": 1.0, "b": 2.0, "c": 3.0})
    m.free = pyo.Var([0, 1])
    m.k = pyo.Param(m.J, initialize=0.0, mutable=True)
    return m


def test_values_of_variables_and_parameters_follow_the_index_set():
    m = model()
    assert values_of(m.x).tolist() == [3.0, 1.0, 2.0]
    assert values_of(m.k).tolist() == [0.0, 0.0, 0.0]
    assert np.isnan(values_of(m.free)).all(), "a variable without value is no number"
    assert values_of(m.x).dtype == np.float64


@pytest.mark.parametrize("count", [2, 4])
def test_another_number_of_values_is_an_error_that_changes_nothing(count):
    m = model()
    with pytest.raises(ValueError, match="zip"):
        store(m.k, np.ones(count))
    assert values_of(m.k).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_an_error_that_changes_nothing(wrong):
    m = model()
    with pytest.raises(ValueError, match="'k' is not finite"):
        store(m.k, [1.0, wrong, 2.0])
    assert values_of(m.k).tolist() == [0.0, 0.0, 0.0]
