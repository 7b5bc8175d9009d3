"""Dual variables are those of the solved model: a constraint of any other model gets an error, never a number.

Values and multipliers that other software put into a Pyomo model.
"""

import copy
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


def test_no_multipliers_is_an_error_that_says_so():
    m = model()
    m.x[0].domain = pyo.Integers
    with pytest.raises(ParameterError, match="gave no multipliers: choose one that 'fsopt solvers' lists with duals"):
        fsopt.solve(m, "highs").duals(m.total)


def circle() -> pyo.ConcreteModel:
    """Return max x + y on the unit disc with y <= 1/2: the optimum is (sqrt(3)/2, 1/2), its multipliers by hand."""
    m = pyo.ConcreteModel()
    m.x, m.y, m.idle = pyo.Var(), pyo.Var(), pyo.Var()
    m.disc = pyo.Constraint(expr=m.x**2 + m.y**2 <= 1)
    m.cap = pyo.Constraint(expr=m.y <= 0.5)
    m.objective = pyo.Objective(expr=m.x + m.y, sense=pyo.maximize)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    m.x.set_value(3**0.5 / 2)
    m.y.set_value(0.5)
    return m


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_shadow_prices_of_a_cone_by_hand(sign):
    """The gradient (1, 1) is lambda (2x, 2y) + mu (0, 1): lambda = 1 / sqrt(3), mu = 1 - 1 / sqrt(3)."""
    m = circle()
    m.dual[m.disc], m.dual[m.cap] = sign / 3**0.5, sign * (1 - 1 / 3**0.5)
    found = fsopt.certify(m)
    assert (found.kind, found.ok) == ("convex", True)
    assert found.bound == pytest.approx(0.5 + 3**0.5 / 2)
    m.dual[m.cap] = 0.5
    assert not fsopt.certify(m).ok


def test_values_without_multipliers_are_feasible_and_no_values_are_an_error():
    m = circle()
    assert fsopt.certify(m).kind == "feasible"
    m.dual[m.cap] = 1.0  # not of every constraint
    assert fsopt.certify(m).kind == "feasible"
    m.y.set_value(0.6)
    assert not fsopt.certify(m).ok
    m.y.clear()
    with pytest.raises(ParameterError, match="'y' has no value"):
        fsopt.certify(m)
