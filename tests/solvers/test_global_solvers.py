"""Solvers by branch and bound against enumeration, and what Gurobi and Xpress alone refuse."""

import os
import re
import signal
import subprocess
from importlib.util import find_spec

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo_models import model_of
from solver_cases import knapsacks, takers
from support import integers

import fsopt
from fsopt.errors import SolverError

PACKAGES = {"gurobi": "gurobipy", "xpress": "xpress"}
LICENCE = {"gurobi": "GRB_LICENSE_FILE", "xpress": "XPAUTH_PATH"}


@pytest.fixture(params=list(PACKAGES))
def solver(request: pytest.FixtureRequest) -> str:
    if find_spec(PACKAGES[request.param]) is None:
        pytest.skip(f"{request.param} is not installed")
    return request.param


def close(value, expected):
    return abs(value - expected) <= 1e-6 * max(1.0, abs(expected))


@pytest.mark.parametrize(
    ("kind", "solver"), [(kind, name) for kind in ("MILP", "MIQP", "MISOCP") for name in takers(kind)]
)
def test_integer_programs_agree_with_enumeration(kind, solver):
    m, optimum = integers(kind)
    assert fsopt.classify(m) == kind
    result = fsopt.solve(m, solver)
    assert (result.status, result.stop) == ("optimal", "optimal")
    assert (result.certificate.kind, result.certificate.ok) == ("mixed-integer", True)
    assert close(result.objective, optimum)
    assert close(result.bound, optimum)
    assert all(v.value == round(v.value) for v in m.x.values())


@pytest.mark.parametrize("solver", takers("NLP", "MINLP"))
def test_nonconvex_quadratics_are_solved_globally(solver):
    rows = (lambda x, y: x * y <= 0.5), (lambda x, y: x**2 + y == 1.5 + x)
    m = model_of(lambda x, y: -x - 2 * y + 1, *rows, bounds=[(0, 2)] * 2)
    assert fsopt.classify(m) == "NLP"
    result = fsopt.solve(m, solver)
    assert result.stop == "optimal"
    u = np.linspace(0, 2, 400001)
    v = 1.5 + u - u**2
    optimum = (1 - u - 2 * v)[(v >= 0) & (v <= 2) & (u * v <= 0.5)].min()
    assert (result.certificate.kind, result.certificate.bound_source) == ("global", f"the word of {solver}")
    assert result.objective == pytest.approx(optimum, abs=2e-5)
    assert result.bound == pytest.approx(result.objective, abs=1e-6)
    assert m.x[0].value ** 2 + m.x[1].value == pytest.approx(1.5 + m.x[0].value, abs=1e-7)


@pytest.mark.parametrize("solver", takers("MINLP"))
def test_a_nonconvex_objective_and_integers_reach_the_better_of_two_local_optima(solver):
    m = model_of(lambda x, y: -(x**2) - 2 * x * y + x, bounds=[(-1, 2)] * 2, whole=range(2))
    assert fsopt.classify(m) == "MINLP"
    result = fsopt.solve(m, solver)
    assert result.objective == pytest.approx(min(-a * a - 2 * a * b + a for a in range(-1, 3) for b in range(-1, 3)))
    assert result.bound == pytest.approx(result.objective, abs=1e-6)


@pytest.mark.parametrize("solver", [name for name in takers("MILP") if name in ("highs", "scip", "gurobi")])
def test_ctrl_c_ends_a_solve_and_keeps_the_incumbent_where_the_solver_gives_it(solver, usual_interruption):
    with subprocess.Popen(["sh", "-c", f"sleep 1; kill -INT {os.getpid()}"]):  # SCIP lets no thread of Python run
        result = fsopt.solve(knapsacks(45), solver, time_limit=60.0, options={"mip_gap": 0.0})
    assert result.stop == "interrupted"
    assert result.status == ("none" if solver == "gurobi" else "feasible")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("place", ["constraint", "objective"])
def test_what_is_not_quadratic_is_refused_by_name(place, solver):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 2))
    m.growth = pyo.Constraint(expr=(pyo.exp(m.x) if place == "constraint" else m.x) <= 3)
    m.gain = pyo.Objective(expr=-m.x if place == "constraint" else pyo.exp(m.x))
    with pytest.raises(SolverError, match=rf"{solver}.*{'growth' if place == 'constraint' else 'gain'}.*exp.*ipopt"):
        fsopt.solve(m, solver)


def test_a_model_beyond_the_free_licence_is_an_error_that_says_what_to_do(solver):
    m = model_of(lambda *x: sum(x), bounds=[(0, 1)] * 6000)
    try:
        fsopt.solve(m, solver)
    except SolverError as error:
        told = str(error)
    else:
        pytest.skip("there is a full licence here")
    assert re.fullmatch(rf".*licence.* does not take a model of this size.*{LICENCE[solver]}.*", told)
