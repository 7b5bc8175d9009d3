"""fsopt's solvers in Pyomo's factories: on any Pyomo model, whichever package is imported first."""

import math
import subprocess
import sys

import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.contrib.solver.common.results import SolutionStatus, TerminationCondition
from pyomo.contrib.solver.common.util import IncompatibleModelError, NoOptimalSolutionError
from pyomo_models import model_of
from support import blobs, sampled

import fsopt
from fsopt.errors import OptionError

MODEL = """
m = pyo.ConcreteModel()
m.x = pyo.Var(range(2))
m.t = pyo.Var(within=pyo.NonNegativeReals)
m.cone = pyo.Constraint(expr=m.x[0] ** 2 + m.x[1] ** 2 <= m.t**2)
m.plane = pyo.Constraint(expr=3 * m.x[0] + 4 * m.x[1] == 10)
m.o = pyo.Objective(expr=m.t)
"""
SOLVED = f"""{MODEL}
from pyomo.contrib.solver.common.factory import SolverFactory
first = pyo.SolverFactory("fsopt_clarabel").solve(m)
assert round(pyo.value(m.o), 6) == 2.0 and str(first.solver.termination_condition) == "optimal"
assert SolverFactory("fsopt_clarabel").solve(m).extra_info.status == "optimal"
"""


def distance() -> pyo.ConcreteModel:
    """Return the distance, 2, of the plane 3x + 4y = 10 from the origin."""
    scope = {"pyo": pyo}
    exec(MODEL, scope)
    return scope["m"]


@pytest.mark.parametrize(
    "first", sampled(["import pyomo.environ as pyo, fsopt", "import fsopt, pyomo.environ as pyo"], 0)
)
def test_either_import_comes_first(first):
    subprocess.run([sys.executable, "-W", "error", "-c", f"{first}\n{SOLVED}"], capture_output=True, check=True)


@pytest.mark.parametrize("probe", sampled(["pyomo.contrib.solver.common.factory", "pyomo.environ"], 0))
def test_a_probe_for_pyomo_before_its_import_undoes_nothing(probe):
    code = f"import fsopt, importlib.util; importlib.util.find_spec({probe!r})\nimport pyomo.environ as pyo\n{SOLVED}"
    subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)


def test_results_have_the_certificate_and_the_source_of_the_bound():
    m = distance()
    solver = SolverFactory("fsopt_clarabel")
    results = solver.solve(m)
    assert results.solution_status is SolutionStatus.optimal
    assert results.termination_condition is TerminationCondition.convergenceCriteriaSatisfied
    assert results.incumbent_objective == pytest.approx(2.0)
    assert results.objective_bound == pytest.approx(2.0, rel=1e-6)
    assert results.objective_bound <= results.incumbent_objective
    assert results.extra_info.bound_source == "dual point"
    assert results.extra_info.certificate.ok
    assert results.solution_loader.get_duals()[m.plane] == pytest.approx(0.2)
    m.more = pyo.Constraint(expr=m.t <= 1)
    with pytest.raises(NoOptimalSolutionError, match="provenInfeasible"):
        solver.solve(m)
    assert results.solution_loader.get_vars()[m.t] == pytest.approx(2.0)  # still those of the first solve


def test_the_bound_of_an_integer_program_is_the_word_of_its_solver():
    goal, row = (lambda *x, a=a: pyo.sum_product(a, x) for a in ([4, 7, 5, 8, 6, 4], [3, 4, 5, 6, 3, 4]))
    m = model_of(goal, lambda *x: row(*x) <= 11, bounds=[(0, 1)] * 6, whole=range(6), sense=pyo.maximize)
    results = SolverFactory("fsopt_scip").solve(m)
    assert results.extra_info.bound_source == "the word of scip"
    assert results.solution_status is SolutionStatus.optimal
    assert pyo.value(m.o) == pytest.approx(results.incumbent_objective)


def test_a_stationary_point_is_no_optimum():
    m = model_of(lambda x: pyo.sin(3 * x) - x, bounds=[(-2, 2)], start=[1.5])
    results = SolverFactory("fsopt_ipopt").solve(m)
    assert results.solution_status is SolutionStatus.feasible
    assert results.termination_condition is TerminationCondition.convergenceCriteriaSatisfied
    assert results.extra_info.status == "stationary"
    assert results.objective_bound == -math.inf


def test_an_answer_whose_certificate_fails_is_not_called_optimal():
    m = distance()
    coarse = SolverFactory("fsopt_clarabel", tolerance=1e-2)
    results = coarse.solve(m, raise_exception_on_nonoptimal_result=False, load_solutions=False)
    assert results.solution_status is not SolutionStatus.optimal
    with pytest.raises(NoOptimalSolutionError):
        coarse.solve(m)


def test_options_and_limits_reach_the_solver():
    solver = SolverFactory("fsopt_clarabel", raise_exception_on_nonoptimal_result=False, load_solutions=False)
    assert solver.available()
    few = solver.solve(fsopt.build("svm", blobs()), solver_options={"max_iter": 1})
    assert few.solution_status is SolutionStatus.feasible
    assert few.termination_condition is TerminationCondition.iterationLimit
    with pytest.raises(OptionError, match="no_such_option"):
        solver.solve(distance(), solver_options={"no_such_option": 1})
    with pytest.raises(IncompatibleModelError, match="does not solve"):
        SolverFactory("fsopt_highs").solve(distance())
