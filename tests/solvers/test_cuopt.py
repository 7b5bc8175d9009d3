"""cuOpt's interface without a GPU: a package in its place, which does what NVIDIA documents by another solver."""

import sys
from dataclasses import replace
from types import ModuleType, SimpleNamespace

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from pyomo.common.errors import ApplicationError
from pyomo.contrib.solver.common.factory import SolverFactory
from solver_cases import PRICES, active_bounds, failing, shadow_prices

import fsopt
from fsopt.errors import OptionError, SolverError
from fsopt.solvers import cuopt
from fsopt.solvers.base import Session
from fsopt.solvers.registry import SOLVERS

DEFAULTS = {"log_to_console": True, "time_limit": float("inf"), "method": 0, "iteration_limit": 2147483647}
DEFAULTS |= {f"{a}_{b}_tolerance": 1e-4 for a in ("absolute", "relative") for b in ("primal", "dual", "gap")}


class SolverSettings(dict):
    """Settings by name, refused where the name is unknown."""

    get_parameter = DEFAULTS.__getitem__

    def set_parameter(self, name, value):
        if name not in DEFAULTS:
            raise ValueError("Invalid parameter. Please check documentation")
        self[name] = value


class DataModel:
    """Keeps the arrays of each ``set_NAME`` as NAME."""

    def __getattr__(self, name):
        return lambda *arrays: setattr(self, name.removeprefix("set_"), arrays)


def model_of(data):
    """Return the program min c'x + x'Qx of the arrays of a data model, as documented, as a Pyomo model."""
    (c,), (lb,), (ub,) = data.objective_coefficients, data.variable_lower_bounds, data.variable_upper_bounds
    (low,), (high,) = data.constraint_lower_bounds, data.constraint_upper_bounds
    A = sp.csr_matrix(data.csr_constraint_matrix, shape=(len(low), len(c))).toarray()
    Q = sp.csr_matrix(vars(data).get("quadratic_objective_matrix", (len(c),) * 2), (len(c),) * 2).toarray()
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(len(c)), bounds=lambda m, j: (float(lb[j]), float(ub[j])))
    x = np.array(list(m.x.values()))
    rows = [i for i in range(len(low)) if A[i].any()]
    m.rows = pyo.Constraint(rows, rule=lambda m, i: (float(low[i]), A[i] @ x, float(high[i])))
    m.o, m.dual = pyo.Objective(expr=c @ x + x @ (Q @ x)), pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def solve(data, settings):
    m = model_of(data)
    found = fsopt.solve(m, "clarabel")
    word = {"optimal": "Optimal", "infeasible": "PrimalInfeasible", "unbounded": "DualInfeasible"}[found.status]
    solved = word == "Optimal"
    x = [v.value for v in m.x.values()] if solved else []
    dual = [m.dual.get(m.rows[i], 0.0) if i in m.rows else 0.0 for i in range(len(data.constraint_lower_bounds[0]))]
    return SimpleNamespace(
        get_primal_solution=lambda: np.array(x),
        get_dual_solution=lambda: np.array(dual if solved else []),
        get_lp_stats=lambda: {"nb_iterations": 7},
        get_termination_reason=lambda: word,
    )


@pytest.fixture
def package(monkeypatch):
    linear = ModuleType("cuopt.linear_programming")
    linear.SolverSettings, linear.DataModel, linear.Solve = SolverSettings, DataModel, solve
    parameters = ModuleType("cuopt.linear_programming.solver.solver_parameters")
    parameters.solver_params = list(DEFAULTS)
    for module in (linear, parameters):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(SOLVERS.shipped, "cuopt", replace(cuopt.SPEC, present=lambda: True))


@pytest.mark.parametrize("square", [0.0, 0.3])
@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_values_and_shadow_prices_are_those_that_are_documented(square, sense, package):
    m = active_bounds(sense, square)
    found = fsopt.solve(m, "cuopt", options={"method": 1, "tolerance": 1e-7}, time_limit=5.0)
    assert (found.status, found.solver, found.iterations, found.evidence) == ("optimal", "cuopt", 7, None)
    assert shadow_prices(m) == pytest.approx({k: sense * v for k, v in PRICES.items()}, abs=1e-6)


@pytest.mark.parametrize("kind", ["LP", "QP"])
@pytest.mark.parametrize("what", ["infeasible", "unbounded"])
def test_its_words_are_proved_by_another_solver(kind, what, package):
    found = fsopt.solve(failing(kind, what), "cuopt")
    assert (found.status, found.certificate.ok) == (what, True)


def test_a_program_without_constraints_gets_one_and_an_unknown_option_is_named(package):
    m = pyo.ConcreteModel()
    m.x = pyo.Var()
    m.o = pyo.Objective(expr=(m.x - 3) ** 2)
    assert Session(m, "cuopt").connection.solve(None).point.x == pytest.approx([3.0], abs=1e-6)
    with pytest.raises(OptionError, match="no_such"):
        fsopt.solve(m, "cuopt", options={"no_such": 1})


def test_without_a_gpu_it_says_that_it_needs_one(monkeypatch):
    monkeypatch.setitem(SOLVERS.shipped, "cuopt", replace(cuopt.SPEC, present=lambda: False))
    with pytest.raises(SolverError, match="with an NVIDIA GPU"):
        fsopt.solve(active_bounds(1, 0.0), "cuopt")
    assert not SolverFactory("fsopt_cuopt").available()
    with pytest.raises(ApplicationError, match="with an NVIDIA GPU"):
        SolverFactory("fsopt_cuopt").solve(active_bounds(1, 0.0))
