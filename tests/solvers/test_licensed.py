"""Gurobi and Xpress: agreement with the open solvers, certified; shadow prices, statuses, updates, refusals."""

from __future__ import annotations

import re
from importlib.util import find_spec

import numpy as np
import pyomo.environ as pyo
import pytest
from solver_cases import SHAPES, active_bounds, knapsacks, one_cone, shadow_prices
from support import blobs, integers

import fsopt
from fsopt.errors import OptionError, SolverError
from fsopt.solvers.base import Session

CLASSES = ("LP", "QP", "SOCP", "MILP", "MIQP", "MISOCP")
PARAMETERS = {"fsp-master": {"m": 2}}
CONVEX = [slug for slug, spec in fsopt.MODELS.items() if spec.problem_class in CLASSES]
PACKAGES = {"gurobi": "gurobipy", "xpress": "xpress"}
LICENCE = {"gurobi": "GRB_LICENSE_FILE", "xpress": "XPAUTH_PATH"}
BAD = {
    "gurobi": [{"nope": 1}, {"_private": 1}, {"Method": 99}, {"Method": "a"}, {"Time*": 1}],
    "xpress": [{"nope": 1}, {"_private": 1}, {"presolve": "a"}, {"threads": -5}],
}
LIMIT = {"gurobi": "BarIterLimit", "xpress": "bariterlimit"}
LOG = {"gurobi": "Barrier", "xpress": "Xpress"}
IN_PLACE = {"gurobi": ("r", "d"), "xpress": ()}
"""Parameters of the model below that are changed without a new load."""


@pytest.fixture(params=list(PACKAGES))
def solver(request: pytest.FixtureRequest) -> str:
    if find_spec(PACKAGES[request.param]) is None:
        pytest.skip(f"{request.param} is not installed")
    return request.param


def close(value, expected):
    return abs(value - expected) <= 1e-6 * max(1.0, abs(expected))


@pytest.mark.slow
@pytest.mark.parametrize("slug", CONVEX)
def test_models_are_solved_to_the_certified_optimum_of_the_open_solvers(slug, solver):
    # Overlapping classes, except where only separable ones have a solution.
    data = blobs(30, 4, seed=1, gap=3.0 if slug == "gmeb-hard-margin" else 0.6)
    model = fsopt.build(slug, data, **PARAMETERS.get(slug, {}))
    kind = fsopt.classify(model)
    open_solver = {"LP": "highs", "MILP": "highs", "MIQP": "scip", "MISOCP": "scip"}.get(kind, "clarabel")
    reference = fsopt.solve(model, open_solver)
    result = fsopt.solve(model, solver)
    assert (reference.status, result.status, result.stop) == ("optimal", "optimal", "optimal")
    assert result.certificate.ok
    assert result.certificate.kind == ("mixed-integer" if kind.startswith("MI") else "convex")
    assert close(result.objective, reference.objective)
    assert close(result.bound, reference.objective)


@pytest.mark.parametrize("slug", ["mpm", "gmeb-dual", "svm"])
def test_raw_units_do_not_leak_into_the_answer(slug, solver):
    data = blobs(30, 4, seed=2)
    model = fsopt.build(slug, fsopt.Dataset(data.X * [1e-3, 1.0, 30.0, 1e3], data.y))
    result, reference = fsopt.solve(model, solver), fsopt.solve(model, "clarabel")
    assert (result.status, result.certificate.ok) == ("optimal", True)
    assert close(result.objective, reference.objective)


@pytest.mark.parametrize("square", [0.0, 0.3])
@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_shadow_prices_are_derivatives_of_the_optimal_value(square, sense, solver):
    m = active_bounds(sense, square)
    assert fsopt.solve(m, solver).status == "optimal"
    for name, price in shadow_prices(m).items():
        above, below = (fsopt.solve(active_bounds(sense, square, name, t), "clarabel").objective for t in (1e-3, -1e-3))
        slope = (above - below) / 2e-3
        assert abs(slope) > 0.05, "the bound does not matter: the test is empty"
        assert price == pytest.approx(slope, rel=1e-4), name


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_shadow_price_of_a_cone_is_that_of_its_quadratic_constraint(monkeypatch, shape, sense, solver):
    if solver == "gurobi":
        own = "fsopt.solvers.gurobi.Gurobi._dual"
        monkeypatch.setattr(own, lambda self, ray: pytest.fail("Gurobi's own multipliers were not good enough"))
    m, price = one_cone(shape, sense)
    assert fsopt.solve(m, solver).status == "optimal"
    assert m.dual[m.q] == pytest.approx(price, rel=1e-5)


def test_cone_multipliers_lie_in_the_cone_and_are_stationary_at_an_apex(solver):
    m = pyo.ConcreteModel()
    m.x, m.t = pyo.Var(range(2)), pyo.Var(bounds=(0, None))
    m.q = pyo.Constraint(expr=m.x[0] ** 2 + m.x[1] ** 2 <= m.t**2)
    m.o = pyo.Objective(expr=2 * m.t + m.x[0] + 0.5 * m.x[1])
    result = fsopt.solve(m, solver)
    assert (result.status, result.certificate.ok) == ("optimal", True)
    assert result.objective == pytest.approx(0.0, abs=1e-6)
    assert sorted(result.point.z[1:]) == pytest.approx([0.5, 1.0], abs=1e-5)


# -- integers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["MILP", "MIQP", "MISOCP"])
def test_integer_programs_agree_with_enumeration(kind, solver):
    m, optimum = integers(kind)
    assert fsopt.classify(m) == kind
    result = fsopt.solve(m, solver)
    assert (result.status, result.stop) == ("optimal", "optimal")
    assert (result.certificate.kind, result.certificate.ok) == ("mixed-integer", True)
    assert close(result.objective, optimum)
    assert close(result.bound, optimum)
    assert all(v.value == round(v.value) for v in m.x.values())


def test_a_time_limit_gives_the_incumbent_and_a_bound(solver):
    m = knapsacks(60)
    result = fsopt.solve(m, solver, time_limit=0.5)
    assert (result.status, result.stop) == ("feasible", "time-limit")
    assert result.objective == pytest.approx(pyo.value(m.o))
    assert result.objective < result.bound < 1.1 * result.objective
    assert all(pyo.value(c.body) <= c.upper + 1e-6 for c in m.c.values())
    assert fsopt.solve(m, solver, options={"mip_gap": 0.5}).stop == "optimal"


def test_nonconvex_quadratics_are_solved_globally(solver):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(0, 2))
    m.product = pyo.Constraint(expr=m.x[0] * m.x[1] <= 0.5)
    m.curve = pyo.Constraint(expr=m.x[0] ** 2 + m.x[1] == 1.5 + m.x[0])
    m.o = pyo.Objective(expr=-m.x[0] - 2 * m.x[1] + 1)
    assert fsopt.classify(m) == "NLP"
    result = fsopt.solve(m, solver)
    assert result.stop == "optimal"
    u = np.linspace(0, 2, 400001)
    v = 1.5 + u - u**2
    optimum = (1 - u - 2 * v)[(v >= 0) & (v <= 2) & (u * v <= 0.5)].min()
    assert result.objective == pytest.approx(optimum, abs=2e-5)
    assert result.bound == pytest.approx(result.objective, abs=1e-6)
    assert m.x[0].value ** 2 + m.x[1].value == pytest.approx(1.5 + m.x[0].value, abs=1e-7)


def test_a_nonconvex_objective_and_integers_reach_the_better_of_two_local_optima(solver):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(-1, 2), domain=pyo.Integers)
    m.o = pyo.Objective(expr=-(m.x[0] ** 2) - 2 * m.x[0] * m.x[1] + m.x[0])
    assert fsopt.classify(m) == "MINLP"
    result = fsopt.solve(m, solver)
    assert result.objective == pytest.approx(min(-a * a - 2 * a * b + a for a in range(-1, 3) for b in range(-1, 3)))
    assert result.bound == pytest.approx(result.objective, abs=1e-6)


@pytest.mark.parametrize("place", ["constraint", "objective"])
def test_what_is_not_quadratic_is_refused_by_name(place, solver):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 2))
    m.growth = pyo.Constraint(expr=(pyo.exp(m.x) if place == "constraint" else m.x) <= 3)
    m.gain = pyo.Objective(expr=-m.x if place == "constraint" else pyo.exp(m.x))
    with pytest.raises(SolverError, match=rf"{solver}.*{'growth' if place == 'constraint' else 'gain'}.*exp.*ipopt"):
        fsopt.solve(m, solver)


# -- statuses ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("what", ["infeasible", "unbounded", "infeasible with a free direction"])
def test_infeasible_and_unbounded_are_told_apart(kind, what, solver):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(0, 9), domain=pyo.Integers if "MI" in kind else pyo.Reals)
    m.y = pyo.Var()
    a, b, c = m.x.values()
    m.c = pyo.Constraint(expr=a + b >= 2)
    if "SOCP" in kind:
        m.q = pyo.Constraint(expr=a**2 <= b * c)
    if what != "unbounded":
        m.no = pyo.Constraint(expr=a + b + c <= -1)
    goal = a + b + 3 * c + ((a - 1) ** 2 if "QP" in kind else 0) - (0 if what == "infeasible" else m.y)
    m.o = pyo.Objective(expr=goal)
    assert fsopt.classify(m) == kind
    result = fsopt.solve(m, solver)
    expected = what.split()[0]
    status = "none" if (expected, kind) == ("unbounded", "MISOCP") else expected  # there is no proof
    assert (result.status, result.stop, result.point) == (status, expected, None)
    if expected == "infeasible" and kind in ("LP", "QP"):
        assert (result.certificate.kind, result.certificate.ok) == ("infeasible", True)


# -- updates ----------------------------------------------------------------------------------------------


def test_a_session_that_changes_gives_what_a_new_model_gives(solver):
    m = pyo.ConcreteModel()
    m.r, m.a, m.d = (pyo.Param(initialize=v, mutable=True) for v in (4.0, 1.0, 3.0))
    m.x = pyo.Var(range(3), bounds=(0, 5))
    x, y, z = m.x.values()
    m.row = pyo.Constraint(expr=m.a * x + y + z >= m.r)
    m.o = pyo.Objective(expr=2 * x + m.d * y + 4 * z + 0.5)
    session = Session(m, solver)
    assert session.solve().objective == pytest.approx(8.5)
    for name, value, component in (("r", 6.0, m.row), ("d", 1.0, m.o), ("a", 3.0, m.row)):
        getattr(m, name).set_value(value)
        session.update(component)
        fresh = fsopt.solve(m, "highs")
        assert session.solve().objective == pytest.approx(fresh.objective), name
        assert bool(session.rebuilt) is (name not in IN_PLACE[solver]), name
    y.setub(1.0)
    session.update(m.x)
    assert session.solve().objective == pytest.approx(fsopt.solve(m, "highs").objective)
    m.more = pyo.Constraint(expr=x <= 1)
    session.add(m.more)
    assert session.solve().objective == pytest.approx(fsopt.solve(m, "highs").objective)


# -- refusals ---------------------------------------------------------------------------------------------


def test_a_model_beyond_the_free_licence_is_an_error_that_says_what_to_do(solver):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(6000), bounds=(0, 1))
    m.o = pyo.Objective(expr=sum(m.x.values()))
    try:
        fsopt.solve(m, solver)
    except SolverError as error:
        told = str(error)
    else:
        pytest.skip("there is a full licence here")
    assert re.fullmatch(rf".*licence.* does not take a model of this size.*{LICENCE[solver]}.*", told)


def test_unknown_options_and_bad_values_are_named(solver):
    m, _ = integers("MILP")
    for bad in BAD[solver]:
        with pytest.raises(OptionError, match=re.escape(next(iter(bad)))):
            fsopt.solve(m, solver, options=bad)


def test_options_reach_the_solver_and_the_log_is_shown_only_on_request(solver, capfd):
    m = fsopt.build("svm", blobs(30, 4, seed=1))
    fsopt.solve(m, solver)
    assert capfd.readouterr() == ("", "")
    stopped = fsopt.solve(m, solver, options={LIMIT[solver]: 1, "seed": 3, "threads": 1}, tee=True)
    assert stopped.stop == "iteration-limit"
    assert stopped.status in ("feasible", "none")
    assert LOG[solver] in capfd.readouterr().out
