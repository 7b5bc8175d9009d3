"""A nonconvex program whose rows or objective are in other units has the answer of the same program in natural ones."""

import pyomo.environ as pyo
import pytest
from pyomo_models import model_of
from support import there

import fsopt

UNITS = [2.0**k for k in (-26, -20, 20)]
GLOBAL = [("gurobi", ()), ("gurobi", (1,)), ("scip", ()), ("scip", (1,)), ("xpress", (1,))]


def crossing(row=1.0, goal=1.0, whole=()):
    """Return a program with the optimum -7 at (3/2, 1), where the rows cross with the multipliers 13/5 and 7/20.

    With y whole, y = 0 and y = 2 leave -3.2 and -5.75 at best.
    """
    m = model_of(
        lambda x, y: goal * (-x * y - 3 * x - y),
        lambda x, y: row * (x * y) <= row * 1.5,
        lambda x, y: row * (x**2 - 2 * y**2 + x) <= row * 1.75,
        bounds=[(-1, 4), (0, 2)],
        whole=whole,
    )
    m.unit = pyo.Suffix()
    m.unit[m.o] = goal
    return m


@pytest.mark.parametrize("row", [1.0, *UNITS])
@pytest.mark.parametrize(("solver", "whole"), GLOBAL)
def test_small_rows_are_met_as_closely_as_others(solver, whole, row):
    result = fsopt.solve(crossing(row, whole=whole), there(solver))
    assert (result.status, result.objective) == ("optimal", pytest.approx(-7.0, abs=1e-6))


@pytest.mark.parametrize("goal", UNITS)
@pytest.mark.parametrize(("solver", "whole"), GLOBAL)
def test_a_small_objective_is_searched_as_closely_as_another(solver, whole, goal):
    result = fsopt.solve(crossing(goal=goal, whole=whole), there(solver))
    assert result.objective / goal == pytest.approx(-7.0, abs=1e-6)
    assert result.status == "optimal" or whole  # the proof may be left out: the unit of x follows its cost alone


@pytest.mark.parametrize("goal", [1.0, *UNITS])
@pytest.mark.parametrize("row", [1.0, *UNITS])
def test_multipliers_are_in_the_units_of_the_model(row, goal):
    m = crossing(row, goal)
    result = fsopt.solve(m, there("ipopt"))
    found = [m.dual[m.row[i]] * row / goal for i in range(2)]
    assert (result.status, found) == ("stationary", pytest.approx([-2.6, -0.35], abs=1e-5))


@pytest.mark.parametrize("row", [1.0, *UNITS])
def test_a_row_with_a_function_counts_with_the_number_before_it(row):
    m = model_of(lambda t, y: -t, lambda t, y: row * t - row * pyo.sin(y) <= 0.0, bounds=[(-10, 10), (0, 6)])
    result = fsopt.solve(m, there("scip"))
    assert (result.status, result.objective) == ("optimal", pytest.approx(-1.0, abs=1e-6))
