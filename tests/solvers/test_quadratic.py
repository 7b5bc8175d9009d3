"""Everyday quadratic programs: every solver of QPs solves support vector machines on benchmark data, or says it failed.

The variable ``FSOPT_TRUTH=1`` adds the programs on which a solver takes seconds.

A nonconvex program whose rows or objective are in other units has the answer of the same program in natural ones.
"""

import os

import pyomo.environ as pyo
import pytest
from pyomo_models import FREE, model_of
from solver_cases import takers
from support import SHARED, blobs, there

import fsopt
from fsopt.compiler import compile_model
from fsopt.compiler.classes import program_class
from fsopt.errors import SolverError
from fsopt.methods.preprocessing import preprocess
from fsopt.solvers.base import Session
from fsopt.solvers.registry import preference

C = (0.01, 1.0, 100.0)
OPTIMA = {
    "wdbc": (0.869345986, 26.5254552, 1245.71375),
    "ionosphere": (1.29945895, 63.0395470, 5126.78451),
    "sonar": (1.09914600, 44.7054141, 1079.80928),
    "pima": (4.40564104, 396.427649, 39570.9363),
    "bupa": (2.86820846, 251.243023, 24809.7931),
}
"""Data -> optimum for each C on standardised data, the same to nine digits by Clarabel, SCS and Ipopt."""
PROGRAMS = [("svm", name, c) for name in OPTIMA for c in C]
PROGRAMS += [("svm-dual", name, c) for name in ("sonar", "bupa") for c in C[1:]]
SOLVERS = [spec.name for spec in preference("QP") if spec.available]
SLOW = ("ipopt", "scip", "daqp")
"""They take seconds for wdbc, ionosphere and pima."""
QUICK = (("svm", "wdbc", 1.0), *(case for case in PROGRAMS if case[1] in ("sonar", "bupa") and case[2] != 100.0))
CASES = [
    (solver, *case)
    for solver in SOLVERS
    for case in PROGRAMS
    if solver not in SLOW or case in QUICK or os.environ.get("FSOPT_TRUTH") == "1"
]


@pytest.mark.parametrize("solver", takers("LP"))
def test_what_rounding_leaves_of_a_zero_weight_does_not_break_its_bounds(solver):
    """Of w = 1e-17 between -v and v at v = 0, say: relative to the terms of the constraint it is all of them."""
    for slug, n, p, seed in (("fsv-step", 20, 8, 4), ("onsvm", 30, 20, 0)):
        assert fsopt.solve(fsopt.build(slug, blobs(n, p, seed=seed)), solver).status == "optimal", slug


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(("solver", "slug", "name", "c"), CASES)
def test_an_answer_that_is_called_optimal_is_the_optimum(solver, slug, name, c, shared):
    data = fsopt.load_dataset(name if name == "wdbc" else SHARED / "data" / f"{name}.csv.gz")
    model = fsopt.build(slug, preprocess(data, "standard")[0], c=c)
    try:
        result = fsopt.solve(model, solver, time_limit=20)
    except SolverError as error:
        if "licence" not in str(error):
            raise
        return  # the licence refuses the size: nothing is claimed
    assert result.status in ("optimal", "feasible", "none"), "neither infeasible nor unbounded"
    if result.status == "optimal":
        assert result.certificate.ok
        assert result.objective == pytest.approx(OPTIMA[name][C.index(c)], rel=1e-6)
    else:
        # A failure is told. SCIP reaches the dual's constraints to 1e-6 only, ProxQP and OSQP the limit of iterations.
        assert solver in ("proxqp", "osqp") or (solver, slug, c) == ("scip", "svm-dual", 100.0)


def noise():
    """The right-hand side of c is rounding noise of 0: t = -3.25, a = 2.25, b = 1."""
    rows = (lambda t, a, b: a - b <= 1.25), (lambda t, a, b: -t - a - b <= -1e-16)
    return model_of(lambda t, a, b: t + 0.1 * b**2, *rows, bounds=[FREE, (0, 2.5), (0, 1)]), -3.25 - 0.25 + 0.25 + 0.1


def loose_rows():
    """The rows x <= 1e8 z are loose: z = (8000, 2000)."""
    m = pyo.ConcreteModel()
    m.x, m.z = pyo.Var([1, 2], bounds=(0, None)), pyo.Var([1, 2], bounds=(0, None))
    m.q = pyo.Var(bounds=(0, None))
    m.b = pyo.Constraint(expr=m.x[1] + m.x[2] - m.q == 0)
    m.g = pyo.Constraint([1, 2], rule=lambda m, i: m.x[i] - m.z[i] == 0)
    m.u = pyo.Constraint([1, 2], rule=lambda m, i: m.x[i] - 1e8 * m.z[i] <= 0)
    m.d = pyo.Constraint([1, 2], rule=lambda m, i: m.z[i] + 0 * m.q >= 1000 * i)
    m.k = pyo.Constraint(expr=m.q + 0 * m.x[1] <= 10000)
    m.o = pyo.Objective(expr=3 * m.z[1] + 2 * m.z[2] - m.q, sense=pyo.maximize)
    return m, 18000.0


def tiny_row():
    """The coefficient 1e-9 is one that HiGHS leaves out of a row: y >= x / 1000 >= 1 / 2."""
    return model_of(lambda x, y: x + 200 * y, lambda x, y: 1e-9 * x <= 1e-6 * y, bounds=[(500, 1e10), (0, 1)]), 600.0


def tiny_whole_row():
    """Integers, which keep their unit: 1e-10 z <= 2.5e-10 holds for z <= 2."""
    row = lambda z, y: 1e-10 * z + 1e-10 * y <= 2.5e-10  # noqa: E731
    return model_of(lambda z, y: z + y, row, bounds=[(0, 100), (0, 1)], whole=[0], sense=pyo.maximize), 2.5


PROGRAMS = (noise, loose_rows, tiny_row, tiny_whole_row)
CASES = [
    pytest.param(make, spec.name, id=f"{make.__name__}-{spec.name}")
    for make in PROGRAMS
    for spec in preference(program_class(compile_model(make()[0])))
    if spec.available
]


@pytest.mark.parametrize(("make", "solver"), CASES)
def test_every_solver_finds_the_optimum(make, solver):
    model, optimum = make()
    session = Session(model, solver)
    try:
        outcome = session.connection.solve(20.0)
    except SolverError as error:
        if "licence" not in str(error):
            raise
        return
    assert outcome.point is not None, outcome
    assert session.program.objective_at(outcome.point.x) == pytest.approx(optimum, rel=1e-4)


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
