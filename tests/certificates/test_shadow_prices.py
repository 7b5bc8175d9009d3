"""Values and multipliers that other software put into a Pyomo model."""

import pyomo.environ as pyo
import pytest

import fsopt
from fsopt.errors import ParameterError


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
