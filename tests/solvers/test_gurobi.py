"""Gurobi alone: proofs of infeasibility, updates in place, licence sizes, options."""

from __future__ import annotations

import re
from importlib.util import find_spec

import pyomo.environ as pyo
import pytest
from support import blobs, integers

import fsopt
from fsopt.errors import OptionError, SolverError
from fsopt.solvers.base import Session

SOLVER = "gurobi"
CLASSES = ("LP", "QP", "SOCP", "MILP", "MIQP", "MISOCP")
PARAMETERS = {"fsp-master": {"m": 2}}
CONVEX = [slug for slug, spec in fsopt.MODELS.items() if spec.problem_class in CLASSES]


@pytest.fixture(autouse=True)
def installed() -> None:
    if find_spec("gurobipy") is None:
        pytest.skip("gurobipy is not installed (pip install gurobipy)")


def test_an_infeasible_cone_program_comes_with_a_proof():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2))
    m.disc = pyo.Constraint(expr=m.x[0] ** 2 + m.x[1] ** 2 <= 1)
    m.line = pyo.Constraint(expr=m.x[0] + m.x[1] >= 3)
    m.o = pyo.Objective(expr=m.x[0])
    result = fsopt.solve(m, SOLVER)
    assert (result.status, result.certificate.kind, result.certificate.ok) == ("infeasible", "infeasible", True)


def test_a_session_that_changes_gives_what_a_new_model_gives():
    m = pyo.ConcreteModel()
    m.r, m.a, m.d = (pyo.Param(initialize=v, mutable=True) for v in (4.0, 1.0, 3.0))
    m.x = pyo.Var(range(3), bounds=(0, 5))
    x, y, z = m.x.values()
    m.row = pyo.Constraint(expr=m.a * x + y + z >= m.r)
    m.o = pyo.Objective(expr=2 * x + m.d * y + 4 * z + 0.5)
    session = Session(m, SOLVER)
    assert session.solve().objective == pytest.approx(8.5)
    for name, value, component in (("r", 6.0, m.row), ("d", 1.0, m.o), ("a", 3.0, m.row)):
        getattr(m, name).set_value(value)
        session.update(component)
        fresh = fsopt.solve(m, "highs")
        assert session.solve().objective == pytest.approx(fresh.objective), name
        assert bool(session.rebuilt) is (name == "a"), name
    y.setub(1.0)
    session.update(m.x)
    assert session.solve().objective == pytest.approx(fsopt.solve(m, "highs").objective)
    m.more = pyo.Constraint(expr=x <= 1)
    session.add(m.more)
    assert session.solve().objective == pytest.approx(fsopt.solve(m, "highs").objective)


# -- refusals ---------------------------------------------------------------------------------------------


def test_a_model_beyond_the_free_licence_is_an_error_that_says_what_to_do():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(6000), bounds=(0, 1))
    m.o = pyo.Objective(expr=sum(m.x.values()))
    try:
        fsopt.solve(m, SOLVER)
    except SolverError as error:
        told = str(error)
    else:
        pytest.skip("there is a full licence here")
    assert re.fullmatch(r".*licence.* does not take a model of this size.*GRB_LICENSE_FILE.*", told)


@pytest.mark.parametrize("bad", [{"nope": 1}, {"_private": 1}, {"Method": 99}, {"Method": "a"}, {"Time*": 1}], ids=str)
def test_unknown_options_and_bad_values_are_named(bad):
    m, _ = integers("MILP")
    with pytest.raises(OptionError, match=next(iter(bad))):
        fsopt.solve(m, SOLVER, options=bad)


def test_options_reach_the_solver_and_the_log_is_shown_only_on_request(capfd):
    m = fsopt.build("svm", blobs(30, 4, seed=1))
    fsopt.solve(m, SOLVER)
    assert capfd.readouterr() == ("", "")
    stopped = fsopt.solve(m, SOLVER, options={"BarIterLimit": 1, "seed": 3, "threads": 1}, tee=True)
    assert stopped.stop == "iteration-limit"
    assert stopped.status in ("feasible", "none")
    assert "Barrier" in capfd.readouterr().out
