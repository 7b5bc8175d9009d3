"""Ipopt: cones that do not leak, multipliers, local answers that are called local, limits, interrupts."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyomo.environ as pyo
import pytest
from support import blobs, sampled

import fsopt
from fsopt.answers.results import Point
from fsopt.certificates.points import infeasibility
from fsopt.compiler import compile_model
from fsopt.errors import OptionError, SolverError
from fsopt.solvers.base import Session
from fsopt.solvers.nlp import NonlinearForm

pytest.importorskip("cyipopt", exc_type=ImportError)

PARAMS = {
    "l1-mpm": {"delta": 0.2},
    "l0-mpm-step": {"delta": 0.2},
    "kernel-scaling-step": {"w": [0.4, -0.3, 0.2, 0.1], "b": 0.1, "e_cap": 20.0},
}
CONVEX = [s for s, spec in fsopt.MODELS.items() if spec.problem_class in ("LP", "QP", "SOCP")]


# -- convex programs --------------------------------------------------------------------------------------


def built(slug, data):
    parameters = fsopt.MODELS[slug].parameters
    given = dict(PARAMS.get(slug, {}))
    if "r_plus" in parameters:
        given |= {"r_plus": 0.8, "r_minus": 1.5}
    if "sigma" in parameters:
        given |= {"sigma": [1, 0, 1, 1]}
    if slug == "rsvm-least-norm":
        given |= {"e_cap": 0.5 * data.n}
    return fsopt.build(slug, data, **given)


@pytest.mark.parametrize("slug", CONVEX)
def test_every_convex_model_is_a_certified_optimum_and_agrees_with_the_other_solver(slug):
    data = blobs(24, 4, seed=5, gap=3.0 if slug == "gmeb-hard-margin" else 0.5)
    m = built(slug, data)
    other = fsopt.solve(m)
    result = fsopt.solve(m, "ipopt")
    assert (other.status, result.status, result.stop) == ("optimal", "optimal", "optimal"), result
    assert result.certificate.kind == "convex"
    assert result.objective == pytest.approx(other.objective, rel=1e-6, abs=1e-7)
    assert result.bound == pytest.approx(other.objective, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("slug", ["gmeb-primal", "gmeb-dual"])
@pytest.mark.parametrize(("scaled", "truth"), sampled([(True, 121.757464796), (False, 229.9026015)], 1))
def test_wdbc_standardised_and_raw_without_a_leak_at_the_apex(slug, scaled, truth, wdbc):
    X = (wdbc.X - wdbc.X.mean(0)) / wdbc.X.std(0) if scaled else wdbc.X
    result = fsopt.solve(fsopt.build(slug, fsopt.Dataset(X, wdbc.y), r_plus=3.0, r_minus=3.0), "ipopt")
    assert result.status == "optimal"
    assert result.objective == pytest.approx(truth, rel=1e-8)
    assert max(result.certificate.residuals.values()) < 1e-7


def test_multipliers_of_rows_and_cones_have_the_signs_and_values_of_the_conic_solver():
    data = blobs(20, 3, seed=2, gap=0.4)
    for sense in (1, -1):
        m = fsopt.build("gmeb-dual", data, r_plus=0.5, r_minus=0.5)
        m.range = pyo.Constraint(expr=(-1, m.mu[0] - m.mu[1], 0.25))
        if sense < 0:
            m.objective.set_value(-m.objective.expr)
            m.objective.sense = pyo.minimize
        duals = {}
        for solver in ("clarabel", "ipopt"):
            result = fsopt.solve(m, solver)
            assert result.status == "optimal"
            y, z = result.point.y, result.point.z
            heads = result.point.z[compile_model(m).cones.starts[:-1]]
            assert (heads >= -1e-9).all()
            duals[solver] = np.concatenate([y, z])
        np.testing.assert_allclose(duals["ipopt"], duals["clarabel"], rtol=1e-4, atol=1e-5)
        assert np.abs(duals["ipopt"][:4]).max() > 1e-3, "all multipliers are 0: the test is empty"


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


def test_an_operator_without_derivatives_is_named_before_the_solve():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 3))
    m.o = pyo.Objective(expr=pyo.ceil(m.x))
    with pytest.raises(SolverError, match="ceil"):
        fsopt.solve(m, "ipopt")


# -- nonconvex programs -----------------------------------------------------------------------------------


def hyperbola(start=(3.0, 0.3)):
    m = pyo.ConcreteModel()
    # With x >= 0 it would be a cone.
    m.x, m.y = pyo.Var(bounds=(-0.01, None), initialize=start[0]), pyo.Var(bounds=(0, None), initialize=start[1])
    m.r = pyo.Param(initialize=1.0, mutable=True)
    m.c = pyo.Constraint(expr=m.x * m.y >= m.r)
    m.o = pyo.Objective(expr=m.x + 4 * m.y)
    return m


def test_a_nonconvex_quadratic_is_stationary_never_optimal_and_has_multipliers():
    m = hyperbola()
    result = fsopt.solve(m, "ipopt")
    assert (result.status, result.certificate.kind, result.bound) == ("stationary", "kkt", None)
    assert result.objective == pytest.approx(4.0)
    assert (m.x.value, m.y.value, m.dual[m.c]) == (pytest.approx(2), pytest.approx(0.5), pytest.approx(2.0))
    assert fsopt.certify(m, result).ok
    for x, y in ((result.point.x + np.array([1e-4, 0]), result.point.y), (result.point.x, 1.001 * result.point.y)):
        moved = dataclasses.replace(result, point=Point(x, y, result.point.z))
        assert not fsopt.certify(m, moved).ok


@pytest.mark.parametrize(("start", "local"), [(1.5, -4.0), (-0.5, -1.0)])
def test_the_values_of_the_variables_choose_the_local_minimum(start, local):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(-1, 2), initialize=start)
    m.o = pyo.Objective(expr=-(m.x**2))
    result = fsopt.solve(m, "ipopt")
    assert result.status == "stationary"
    assert result.objective == pytest.approx(local)


def test_a_concave_objective_of_exponentials():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(0, None), initialize=lambda m, j: 0.2 + j)
    m.c = pyo.Constraint(expr=sum(m.x.values()) == 1)
    m.o = pyo.Objective(expr=sum(1 - pyo.exp(-5 * v) for v in m.x.values()))
    result = fsopt.solve(m, "ipopt")
    assert result.status == "stationary"
    assert result.objective == pytest.approx(1 - np.exp(-5))


def test_an_infeasible_nonconvex_program_is_not_called_proven():
    m = hyperbola()
    m.d = pyo.Constraint(expr=pyo.exp(m.x) + m.y <= 1.5)
    result = fsopt.solve(m, "ipopt")
    assert (result.status, result.stop, result.objective) == ("none", "infeasible", None)


def test_a_squared_constraint_that_leaks_is_measured_as_a_distance():
    m = hyperbola()
    m.leak = pyo.Constraint(expr=m.x**2 <= m.y**3)
    assert infeasibility(compile_model(m), np.array([1e-4, 0.0])) > 1e-5


# -- statuses, limits, options ----------------------------------------------------------------------------


@pytest.mark.parametrize("slug", ["rlp", "svm", "rsvm", "gmeb-primal"])
def test_infeasible_and_unbounded_convex_programs_are_proved(slug):
    m = built(slug, blobs(12, 3))
    m.no = pyo.Constraint(expr=sum(m.xi.values() if slug != "rlp" else m.y.values()) <= -1)
    result = fsopt.solve(m, "ipopt")
    assert (result.status, result.stop) == ("infeasible", "infeasible")
    assert result.certificate.ok
    m.no.deactivate()
    m.free = pyo.Var()
    objective = next(m.component_data_objects(pyo.Objective))
    objective.set_value(objective.expr - m.free)
    result = fsopt.solve(m, "ipopt")
    assert (result.status, result.stop, result.objective) == ("unbounded", "unbounded", None)


def test_a_time_limit_stops_and_holds_for_one_solve(wdbc):
    session = Session(fsopt.build("gmeb-primal", wdbc), "ipopt")
    result = session.solve(time_limit=1e-6)  # passed when Ipopt is called, on every machine
    assert result.stop == "time-limit"
    assert result.status in ("none", "feasible")
    assert session.solve().status == "optimal"


@pytest.mark.parametrize("bad", [{"nope": 1}, {"tol": "a"}, {"max_iter": -5}, {"linear_solver": "none_such"}], ids=str)
def test_bad_options_are_named_and_nothing_is_written_to_the_output(bad, capfd):
    with pytest.raises(OptionError, match=next(iter(bad))):
        fsopt.solve(hyperbola(), "ipopt", options=bad)
    assert capfd.readouterr().out == ""


def test_options_reach_the_solver():
    result = fsopt.solve(hyperbola(), "ipopt", options={"max_iter": 2, "mu_init": 1})
    assert (result.stop, result.iterations) == ("iteration-limit", 2)


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


def test_objective_rows_and_bounds_change_in_place():
    m = pyo.ConcreteModel()
    m.r = pyo.Param(range(3), initialize=[2.0, 1.0, 9.0], mutable=True)
    m.x = pyo.Var(range(2), bounds=lambda m, j: (0, m.r[2]))
    m.c = pyo.Constraint(expr=m.r[1] * m.x[0] + m.x[1] >= m.r[0])
    m.o = pyo.Objective(expr=m.r[1] * m.x[0] ** 2 + m.x[1] ** 2)
    session = Session(m, "ipopt")
    for values, parts in (([2, 1, 9], ()), ([3, 1, 9], (m.c,)), ([3, 2, 9], (m.c, m.o)), ([3, 2, 1.0], (m.x,))):
        m.r.store_values(dict(enumerate(map(float, values))))
        session.update(*parts)
        assert not session.rebuilt
        assert session.solve().objective == pytest.approx(fsopt.solve(m, "clarabel").objective, rel=1e-6)
