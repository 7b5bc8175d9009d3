"""PIQP and ProxQP: updates between solves, infeasible and unbounded programs, options."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest
from solver_cases import active_bounds, shadow_prices
from support import blobs

import fsopt
from fsopt.errors import OptionError
from fsopt.solvers.registry import SOLVERS

SQUARE = [name for name in ("piqp", "proxqp") if SOLVERS[name].available]


def test_they_are_installed_with_all():
    assert SQUARE == ["piqp", "proxqp"]


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
@pytest.mark.parametrize("name", SQUARE)
def test_shadow_prices_of_every_kind_of_bound_are_those_of_clarabel(name, sense):
    mine, theirs = active_bounds(sense, 1.0), active_bounds(sense, 1.0)
    assert fsopt.solve(mine, name).status == "optimal"
    fsopt.solve(theirs, "clarabel")
    assert shadow_prices(mine) == pytest.approx(shadow_prices(theirs), abs=1e-6)


@pytest.mark.parametrize("name", SQUARE)
def test_a_session_follows_changed_bounds_and_new_constraints(name):
    model = fsopt.build("svm", blobs(30, 3), c=1.0)
    session = fsopt.Session(model, name)
    session.solve()
    model.b.fix(0.5)
    session.update(model.b)
    fixed = session.solve()
    assert session.rebuilt == "a bound appeared or vanished"
    assert fixed.objective == pytest.approx(fsopt.solve(model, "clarabel").objective, rel=1e-6)


@pytest.mark.parametrize("name", SQUARE)
def test_an_infeasible_quadratic_program_is_proved_infeasible(name):
    model = fsopt.build("svm", blobs(20, 3), c=1.0)
    model.never = pyo.Constraint(expr=sum(model.xi.values()) <= -1)
    result = fsopt.solve(model, name)
    assert (result.status, result.objective) == ("infeasible", None)


@pytest.mark.parametrize("name", SQUARE)
def test_a_bad_value_is_refused_by_the_name_of_its_option(name):
    with pytest.raises(OptionError, match="max_iter"):
        fsopt.solve(fsopt.build("svm", blobs(20, 3)), name, options={"max_iter": "many"})
