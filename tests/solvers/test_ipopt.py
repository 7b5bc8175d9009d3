"""Ipopt: multipliers, local answers that are called local, interrupts."""

import dataclasses

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo_models import POSITIVE, model_of

import fsopt
from fsopt.answers.results import Point
from fsopt.certificates.points import infeasibility
from fsopt.compiler import compile_model
from fsopt.solvers.base import Session
from fsopt.solvers.nlp import NonlinearForm

pytest.importorskip("cyipopt", exc_type=ImportError)


def test_a_maximisation_and_a_fixed_variable_and_repeated_equations():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3))
    m.x[2].fix(2.0)
    m.same = pyo.Constraint(range(3), rule=lambda m, i: m.x[0] + m.x[1] + m.x[2] == 3)
    m.o = pyo.Objective(expr=1 - (m.x[0] - m.x[1]) ** 2 - m.x[0], sense=pyo.maximize)
    result = fsopt.solve(m, "ipopt")
    assert result.status == "optimal"
    assert (m.x[0].value, m.x[1].value) == (pytest.approx(0.375), pytest.approx(0.625))
    assert m.rc[m.x[2]] == pytest.approx(-sum(m.dual[c] for c in m.same.values()))
    assert sum(m.dual[c] for c in m.same.values()) == pytest.approx(-0.5)


def hyperbola():
    bounds = [(-0.01, None), POSITIVE]  # with x >= 0 it would be a cone
    return model_of(lambda x, y: x + 4 * y, lambda x, y: x * y >= 1, bounds=bounds, start=[3.0, 0.3])


def test_a_nonconvex_quadratic_is_stationary_never_optimal_and_has_multipliers():
    m = hyperbola()
    result = fsopt.solve(m, "ipopt")
    assert (result.status, result.certificate.kind, result.bound) == ("stationary", "kkt", None)
    assert result.objective == pytest.approx(4.0)
    assert (m.x[0].value, m.x[1].value, m.dual[m.row[0]]) == pytest.approx((2, 0.5, 2.0))
    assert fsopt.certify(m, result).ok
    for x, y in ((result.point.x + np.array([1e-4, 0]), result.point.y), (result.point.x, 1.001 * result.point.y)):
        moved = dataclasses.replace(result, point=Point(x, y, result.point.z))
        assert not fsopt.certify(m, moved).ok


@pytest.mark.parametrize(("start", "local"), [(1.5, -4.0), (-0.5, -1.0)])
def test_the_values_of_the_variables_choose_the_local_minimum(start, local):
    result = fsopt.solve(model_of(lambda x: -(x**2), bounds=[(-1, 2)], start=[start]), "ipopt")
    assert result.status == "stationary"
    assert result.objective == pytest.approx(local)


def test_an_infeasible_nonconvex_program_is_not_called_proven():
    m = hyperbola()
    m.d = pyo.Constraint(expr=pyo.exp(m.x[0]) + m.x[1] <= 1.5)
    result = fsopt.solve(m, "ipopt")
    assert (result.status, result.stop, result.objective) == ("none", "infeasible", None)


def test_a_squared_constraint_that_leaks_is_measured_as_a_distance():
    m = hyperbola()
    m.leak = pyo.Constraint(expr=m.x[0] ** 2 <= m.x[1] ** 3)
    assert infeasibility(compile_model(m), np.array([1e-4, 0.0])) > 1e-5


@pytest.mark.parametrize("function", ["objective", "gradient", "constraints", "jacobian", "hessian"])
def test_an_interrupt_in_any_function_ends_the_solve_and_the_next_one_works(monkeypatch, function):
    session = Session(hyperbola(), "ipopt")
    calls = []

    def interrupted(self, *arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(self, *arguments)

    original = getattr(NonlinearForm, function)
    monkeypatch.setattr(NonlinearForm, function, interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.solve()
    assert len(calls) == 3, "the solve went on after the interrupt"
    monkeypatch.undo()
    assert session.solve().status == "stationary"
