"""fsopt's solvers in Pyomo's factories, by Pyomo's own contract; and Pyomo's solvers as ``pyomo:NAME``."""

import logging
import subprocess
import sys
from unittest import SkipTest

import pyomo.environ as pyo
import pyomo.kernel as pmo
import pyomo_contract
import pytest
from pyomo.contrib.solver.common import util
from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.contrib.solver.common.results import SolutionStatus, TerminationCondition
from support import sampled

import fsopt
from fsopt.errors import OptionError, SolverError, UnknownNameError
from fsopt.models.draws import build_trial
from fsopt.solvers import NAMES as OURS
from fsopt.solvers.pyomo_call import PREFIX
from fsopt.solvers.pyomo_names import KNOWN
from fsopt.solvers.registry import SOLVERS, solver_spec

MODEL = """
m = pyo.ConcreteModel()
m.x = pyo.Var(range(2))
m.t = pyo.Var(within=pyo.NonNegativeReals)
m.cone = pyo.Constraint(expr=m.x[0] ** 2 + m.x[1] ** 2 <= m.t**2)
m.plane = pyo.Constraint(expr=3 * m.x[0] + 4 * m.x[1] == 10)
m.o = pyo.Objective(expr=m.t)
"""
SOLVED = f"""{MODEL}
from pyomo.contrib.solver.common import util
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


STARTS = (
    "import pyomo.environ as pyo, fsopt",
    "import fsopt, pyomo.environ as pyo",
    "import fsopt, importlib.util; importlib.util.find_spec('pyomo.environ'); import pyomo.environ as pyo",
)


@pytest.mark.parametrize("start", sampled(STARTS, 0))
def test_either_import_comes_first_and_a_probe_undoes_nothing(start):
    subprocess.run([sys.executable, "-W", "error", "-c", f"{start}\n{SOLVED}"], capture_output=True, check=True)


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
    with pytest.raises(util.NoOptimalSolutionError, match="provenInfeasible"):
        solver.solve(m)
    assert results.solution_loader.get_vars()[m.t] == pytest.approx(2.0)  # still those of the first solve


def test_an_answer_whose_certificate_fails_is_not_called_optimal():
    m = distance()
    coarse = SolverFactory("fsopt_clarabel", solver_options={"tolerance": 1e-2})
    results = coarse.solve(m, raise_exception_on_nonoptimal_result=False, load_solutions=False)
    assert results.solution_status is not SolutionStatus.optimal
    with pytest.raises(util.NoOptimalSolutionError):
        coarse.solve(m)


EXPECTED = (
    util.IncompatibleModelError,
    util.NoDualsError,
    util.NoOptimalSolutionError,
    util.NoReducedCostsError,
    OptionError,
    AttributeError,
)
"""What ends a test that a class is not to pass: nothing wrong is answered."""
CLASSES = sampled(sorted(pyomo_contract.NAMES, key="fsopt_highs".__ne__), 1)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_passes_every_test_of_pyomos_contract_but_for_named_reasons(name, capfd):
    if not SolverFactory(name).available():
        pytest.skip(f"{name} is not installed")
    logging.getLogger("pyomo").setLevel(logging.ERROR)
    assert len(list(pyomo_contract.tests())) >= 55
    failed, passed = [], 0
    for case, test, function in pyomo_contract.tests():
        why = pyomo_contract.reason(name, test, pyomo_contract.kind(function))
        try:
            pyomo_contract.run(case, test, name)
        except SkipTest:  # of Pyomo: a library that is not installed
            continue
        except Exception as error:
            if name == "fsopt_mosek" and "licence" in str(error):
                return
            if not (why and isinstance(error, EXPECTED)):
                failed.append(f"{test}: {type(error).__name__}: {error}")
        else:
            passed += 1
            if why and (name, test) not in pyomo_contract.EITHER:
                failed.append(f"{test} passes, though {why}")
    assert not failed
    assert passed >= len(pyomo_contract.UNSOLVED)


def test_every_solver_has_a_class():
    assert set(OURS) == set(SOLVERS) - {"fsopt"}
    assert set(pyomo_contract.NAMES) == {"fsopt", *(f"fsopt_{name.rpartition(':')[2]}" for name in OURS)}


def test_a_model_of_pyomo_kernel_is_refused_in_one_line():
    m = pmo.block()
    m.x = pmo.variable(lb=0.0)
    m.o = pmo.objective(m.x)
    with pytest.raises(fsopt.FsoptError, match=r"pyomo\.kernel") as error:
        SolverFactory("fsopt").solve(m)
    assert "\n" not in str(error.value)


CALLED = [name for name in KNOWN if solver_spec(PREFIX + name).available]
"""The rows of the table whose program is installed; the others are left out, as no machine has them all."""


ABSENT = {"glpk": "glpk-utils", "cbc": "coinor-cbc", "baron": "not installed"}


def test_an_absent_or_unknown_solver_is_one_line_with_what_to_do(monkeypatch, capfd):
    monkeypatch.setenv("PATH", "")
    for name, line in {**ABSENT, "glkp": r"Pyomo knows no solver 'glkp'.*glpk"}.items():
        with pytest.raises(SolverError if name in ABSENT else UnknownNameError, match=line) as caught:
            fsopt.solve(build_trial("onsvm"), f"pyomo:{name}")
        assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", CALLED)
def test_a_wrong_option_is_named_whatever_the_solver_says_of_it(name):
    with pytest.raises(OptionError, match=f"pyomo:{name}.*'no_such_option'"):
        fsopt.solve(build_trial("onsvm"), PREFIX + name, options={"no_such_option": 1})
