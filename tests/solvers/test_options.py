"""The registry, options and limits: which solver is taken, numbers of every kind, bad values by name, Ctrl-C."""

import math
import os
import re
import signal
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo_models import model_of
from solver_cases import active_bounds, knapsacks, takers, usable_solvers
from support import blobs, sampled, there

import fsopt
from fsopt.errors import OptionError, ParameterError, SolverError, UnknownNameError
from fsopt.solvers import spec
from fsopt.solvers.registry import preference
from fsopt.solvers.spec import Connection, Settings

ORDER = {
    "LP": ["highs", "clarabel", "scs", "scip", "gurobi", "xpress", "mosek", "ipopt"],
    "QP": ["clarabel", "scs", "scip", "gurobi", "xpress", "mosek", "ipopt"],
    "MILP": ["highs", "scip", "gurobi", "xpress", "mosek"],
    "SOCP": ["clarabel", "scs", "scip", "gurobi", "xpress", "mosek", "ipopt"],
    "SDP": ["clarabel", "scs", "mosek"],
    "MIQP": ["scip", "gurobi", "xpress", "mosek"],
    "MISOCP": ["scip", "gurobi", "xpress", "mosek"],
    "NLP": ["scip", "gurobi", "ipopt"],
    "MINLP": ["scip", "gurobi", "xpress"],
    "MPEC": [],
}
"""The order in which the solvers of this package are taken: answers depend on it."""
OURS = {name for names in ORDER.values() for name in names}


@pytest.mark.parametrize("problem_class", list(ORDER))
def test_the_ranks_give_the_order_of_each_class(problem_class):
    assert [s.name for s in preference(problem_class) if s.name in OURS] == ORDER[problem_class]


def linear(whole=()):
    return model_of(lambda x: x, bounds=[(1, 5)], whole=whole)


def test_a_missing_package_is_an_error_with_the_pip_line(monkeypatch):
    monkeypatch.setattr(spec, "find_spec", lambda name: object() if name == "clarabel" else None)
    monkeypatch.setenv("PATH", "")
    m = linear()
    with pytest.raises(SolverError, match=r"highs.*not installed.*pip install highspy.*installed for LP: clarabel"):
        fsopt.solve(m, "highs")
    result = fsopt.solve(m)
    assert (result.solver, result.objective) == ("clarabel", pytest.approx(1.0, rel=1e-6))
    with pytest.raises(SolverError, match="pip install highspy"):
        fsopt.solve(linear(whole=[0]))


def test_unknown_names_and_seconds():
    with pytest.raises(UnknownNameError, match=r"clarable.*clarabel"):
        fsopt.solve(linear(), "clarable")
    result = fsopt.solve(linear())
    assert set(result.seconds) == {"build", "translate", "solve", "load"}
    assert result.seconds["translate"] > 0 < result.seconds["solve"]


DATA = blobs(12, 2)
USABLE = usable_solvers()
WHOLE = (int, np.int8, np.int64, np.uint16, np.uint64, np.longlong)
REAL = (float, np.float16, np.float32, np.float64)


def taken(name):
    classes = fsopt.SOLVERS[name].classes if name in fsopt.SOLVERS else {"LP"}
    return fsopt.build("svm", DATA) if "QP" in classes else active_bounds(1, 0.0)


def test_every_kind_of_number_is_an_option_and_a_time_limit():
    for kind in WHOLE:
        made = Settings.make({"threads": kind(1), "seed": kind(3)})
        assert [(type(v), v) for v in (made.threads, made.seed)] == [(int, 1), (int, 3)], kind
    for kind in REAL:
        made = Settings.make({"tolerance": kind(0.25), "mip_gap": kind(0.5)})
        assert [(type(v), v) for v in (made.tolerance, made.mip_gap)] == [(float, 0.25), (float, 0.5)], kind
    for limit in (np.uint16(30), np.longdouble(30), np.longdouble(np.inf), 10**400):
        assert fsopt.solve(active_bounds(1, 0.0), time_limit=limit).status == "optimal", repr(limit)


def test_other_values_are_refused_in_one_line():
    model = active_bounds(1, 0.0)
    for limit in (0, -1.0, math.nan, np.float32(np.nan), True, np.bool_(True), "30", 3j, np.array([30])):
        with pytest.raises(ParameterError, match="time limit must be positive"):
            fsopt.solve(model, time_limit=limit)
    for threads in (1.5, np.float32(1.0), True, np.bool_(True), "1", -1, 2**40):
        with pytest.raises(OptionError, match="whole number"):
            Settings.make({"threads": threads})
    values = ("tolerance", "a"), ("tolerance", -1), ("mip_gap", math.nan), ("seed", True), ("mip_gap", None)
    for name, value in values:
        with pytest.raises(OptionError, match=name):
            Settings.make({name: value})


BAD = {
    "highs": ({"presolve": "bad"}, {"presolve": [1]}, {"simplex_strategy": 99}),
    "clarabel": ({"max_iter": "a"}, {"max_iter": -5}, {"default": 1}, {"direct_solve_method": "bad"}),
    "scs": (
        {"verbose": True},
        {"max_iters": -1},
        {"max_iters": "a"},
        {"alpha": 5.0},
        {"normalize": 2},
        {"linear_solver": "bad"},
        {"log_csv_filename": 3},
        {"eps_abs": -1.0},
    ),
    "ipopt": ({"tol": "a"}, {"max_iter": -5}, {"linear_solver": "none_such"}),
    "scip": ({"limits/nodes": "a"}, {"limits/nodes": -7}, {"lp/pricing": "z"}, {"numerics/feastol": 5.0}),
    "gurobi": ({"Method": 99}, {"Method": "a"}),
    "xpress": ({"presolve": "a"},),
    "piqp": ({"max_iter": "many"}, {"max_iter": -4}),
    "proxqp": ({"max_iter": "many"},),
    "osqp": ({"max_iter": "many"}, {"alpha": 5.0}, {"rho": 0.0}),
    "daqp": ({"iter_limit": "many"}, {"iter_limit": 10**12}),
    "qoco": ({"max_iters": -1}, {"abstol": 0.0}, {"ruiz_iters": 2.5}),
}
"""Values that an interface refuses, beside options that it does not have."""


@pytest.mark.parametrize("solver", [*usable_solvers(), "pyomo:appsi_highs"])
def test_bad_options_are_named_and_nothing_is_printed(solver, capfd):
    model = taken(there(solver))
    private = () if solver.startswith("pyomo:") else ({"_private": 1},)
    for bad in ({"no_such_option": 1}, *private, *BAD.get(solver, ())):
        with pytest.raises(OptionError, match=re.escape(next(iter(bad)))):
            fsopt.solve(model, solver, options=bad)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("solver", sampled(USABLE, 7, 0))
def test_the_log_is_shown_only_when_asked(solver, capfd):
    fsopt.solve(taken(solver), solver)
    assert capfd.readouterr() == ("", "")
    fsopt.solve(taken(solver), solver, tee=True)
    assert capfd.readouterr().out or solver == "daqp"


LIMITS = [("clarabel", "max_iter", 2), ("scs", "max_iters", 20), ("ipopt", "max_iter", 2)]
LIMITS += [("osqp", "max_iter", 25), ("qoco", "max_iters", 2)]


@pytest.mark.parametrize(("solver", "option", "most"), LIMITS)
def test_an_end_at_a_limit_of_iterations_is_told(solver, option, most):
    found = fsopt.solve(fsopt.build("svm", DATA), there(solver), options={option: most})
    assert (found.stop, found.iterations) == ("iteration-limit", most)
    assert found.status in ("none", "feasible")


# -- interruptions, and what Gurobi and Xpress alone refuse ------------------------------------------------------

PACKAGES = {"gurobi": "gurobipy", "xpress": "xpress"}
LICENCE = {"gurobi": "GRB_LICENSE_FILE", "xpress": "XPAUTH_PATH"}
INSTALLED = [name for name, package in PACKAGES.items() if find_spec(package) is not None]


@pytest.mark.parametrize("solver", sampled([name for name in ("highs", "scip", "gurobi") if name in takers("MILP")], 2))
def test_ctrl_c_ends_a_solve_and_keeps_the_incumbent_where_the_solver_gives_it(solver, usual_interruption, monkeypatch):
    fsopt.solve(knapsacks(2), solver)  # its package is loaded, which may take a second of its own

    def interrupted(self, *given):  # by another process: SCIP lets no thread run, and a bare machine has no `sleep`
        monkeypatch.undo()  # the other solves of its evidence are not
        with subprocess.Popen([sys.executable, "-c", f"import os, time; time.sleep(1); os.kill({os.getpid()}, 2)"]):
            return self.solve(*given)

    monkeypatch.setattr(Connection, "solve", interrupted)
    result = fsopt.solve(knapsacks(45), solver, time_limit=60.0, options={"mip_gap": 0.0})
    assert result.stop == "interrupted"
    assert result.status == ("none" if solver == "gurobi" else "feasible")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("solver", INSTALLED)
@pytest.mark.parametrize("place", ["constraint", "objective"])
def test_what_is_not_quadratic_is_refused_by_name(place, solver):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 2))
    m.growth = pyo.Constraint(expr=(pyo.exp(m.x) if place == "constraint" else m.x) <= 3)
    m.gain = pyo.Objective(expr=-m.x if place == "constraint" else pyo.exp(m.x))
    with pytest.raises(SolverError, match=rf"{solver}.*{'growth' if place == 'constraint' else 'gain'}.*exp.*ipopt"):
        fsopt.solve(m, solver)


@pytest.mark.parametrize("solver", INSTALLED)
def test_a_model_beyond_the_free_licence_is_an_error_that_says_what_to_do(solver):
    m = model_of(lambda *x: sum(x), bounds=[(0, 1)] * 6000)
    try:
        fsopt.solve(m, solver)
    except SolverError as error:
        told = str(error)
    else:
        pytest.skip("there is a full licence here")
    assert re.fullmatch(rf".*licence.* does not take a model of this size.*{LICENCE[solver]}.*", told)
