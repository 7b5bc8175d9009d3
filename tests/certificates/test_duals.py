"""Dual variables are those of the solved model: a constraint of any other model gets an error, never a number."""

import copy
import gc
import pickle

import pyomo.environ as pyo
import pytest

import fsopt
from fsopt.errors import ParameterError


def at_most_five(m, j):
    return m.x[j] <= 5


def model(size=2):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(size), bounds=(0, None))
    m.total = pyo.Constraint(expr=m.x[0] + 2 * m.x[1] >= 1)
    m.each = pyo.Constraint(range(size), rule=at_most_five)
    m.o = pyo.Objective(expr=m.x[0] + m.x[1])
    return m


@pytest.mark.parametrize("solver", ["highs", "clarabel"])
def test_duals_of_the_solved_model(solver):
    result = fsopt.solve(m := model(), solver)
    assert result.duals(m.total) == {None: pytest.approx(0.5)}
    assert result.duals(m.each) == {0: pytest.approx(0.0, abs=1e-6), 1: pytest.approx(0.0, abs=1e-6)}
    m.each[1].deactivate()
    assert list(result.duals(m.each)) == [0], "an inactive constraint has no dual variable"


def test_a_constraint_of_another_model_or_of_a_copy_or_a_later_one_is_an_error():
    m = model()
    result = fsopt.solve(m, "highs")
    for twin in (model(), pickle.loads(pickle.dumps(m)), m.clone(), copy.deepcopy(m)):
        for component in (twin.total, twin.each):
            with pytest.raises(ParameterError, match=r"'(total|each\[0\])' is not a constraint of the solved model"):
                result.duals(component)
    m.late = pyo.Constraint(expr=m.x[0] <= 3)
    with pytest.raises(ParameterError, match="'late' is not a constraint of the solved model"):
        result.duals(m.late)


def test_reused_ids_give_an_error_and_no_number():
    """Many constraints, as the ids of a few are seldom used again."""
    m = model(size=100)
    seen = {id(data) for data in m.each.values()}
    result = fsopt.solve(m, "highs")
    del m
    gc.collect()
    other = model(size=100)
    assert not seen & {id(data) for data in other.each.values()}, "the result keeps its constraints alive"
    assert not any(data in result.shadow_prices for data in other.each.values())
    for component in (other.total, other.each):
        with pytest.raises(ParameterError, match="of the solved model"):
            result.duals(component)


def test_no_multipliers_is_an_error_that_says_so():
    m = model()
    m.x[0].domain = pyo.Integers
    with pytest.raises(ParameterError, match="gave no multipliers: choose one that 'fsopt solvers' lists with duals"):
        fsopt.solve(m, "highs").duals(m.total)
