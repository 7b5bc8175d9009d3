"""``pyo.SolverFactory("clarabel")`` on any Pyomo model, whichever package is imported first."""

from __future__ import annotations

import subprocess
import sys

import pyomo.environ as pyo
import pytest
from pyomo.opt import TerminationCondition

import fsopt

MODEL = """
m = pyo.ConcreteModel()
m.x = pyo.Var(range(2))
m.t = pyo.Var(within=pyo.NonNegativeReals)
m.cone = pyo.Constraint(expr=m.x[0] ** 2 + m.x[1] ** 2 <= m.t**2)
m.plane = pyo.Constraint(expr=3 * m.x[0] + 4 * m.x[1] == 10)
m.o = pyo.Objective(expr=m.t)
results = pyo.SolverFactory("clarabel").solve(m)
"""


@pytest.mark.parametrize("first", ["import fsopt, pyomo.environ as pyo", "import pyomo.environ as pyo, fsopt"])
def test_either_import_comes_first(first: str) -> None:
    code = f"{first}\n{MODEL}\nprint(round(pyo.value(m.o), 6), results.solver.termination_condition)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2.0", "optimal"]


def test_importing_fsopt_alone_loads_neither_numpy_nor_pyomos_models() -> None:
    code = "import sys, fsopt; print(sorted({'numpy', 'pyomo.environ'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.parametrize("probe", ["pyomo.environ", "pyomo", "pyomo.opt"])
def test_a_probe_for_pyomo_before_its_import_undoes_nothing(probe: str) -> None:
    code = f"import fsopt, importlib.util; importlib.util.find_spec({probe!r})\nimport pyomo.environ as pyo\n{MODEL}"
    subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)


def test_results_in_pyomos_own_words() -> None:
    scope = {"pyo": pyo}
    exec(MODEL, scope)
    m, results = scope["m"], scope["results"]
    assert results.solver.termination_condition == TerminationCondition.optimal
    assert results.problem.upper_bound == pytest.approx(2.0)
    assert results.problem.lower_bound == pytest.approx(2.0, rel=1e-6)
    assert m.dual[m.plane] == pytest.approx(0.2)
    m.more = pyo.Constraint(expr=m.t <= 1)
    again = pyo.SolverFactory("clarabel").solve(m)
    assert again.solver.termination_condition == TerminationCondition.infeasible
    assert pyo.check_optimal_termination(results)
    assert not pyo.check_optimal_termination(again)


def test_options_and_limits_reach_the_solver() -> None:
    scope = {"pyo": pyo}
    exec(MODEL, scope)
    solver = pyo.SolverFactory("clarabel")
    assert solver.available()
    solver.options["max_iter"] = 1
    assert solver.solve(scope["m"]).solver.termination_condition != TerminationCondition.optimal
    solver.options["no_such_option"] = 1
    with pytest.raises(fsopt.FsoptError, match="no_such_option"):
        solver.solve(scope["m"])
