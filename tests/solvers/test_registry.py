"""The registry: which solver is taken, what is said of missing ones, and that a new one is one file and one line."""

import dataclasses
import subprocess
import sys
from types import ModuleType

import pyomo.environ as pyo
import pytest
from pyomo_models import model_of
from support import blobs

import fsopt
from fsopt.common.registry import Registry
from fsopt.errors import ParameterError, SolverError, UnknownNameError
from fsopt.solvers import spec
from fsopt.solvers.registry import SOLVERS, choose, no_multipliers, preference

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


@pytest.mark.slow
def test_the_registry_and_the_listing_import_no_solver():
    packages = [s.package for s in SOLVERS.values()]
    listing = "import sys; from fsopt.cli import models; models.solvers(json=True)"
    code = f"{listing}; print([name for name in {packages} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_package_is_imported_at_its_first_use(monkeypatch):
    package = spec.Package("some_solver_of_a_test")
    module = ModuleType("some_solver_of_a_test")
    module.answer = 42
    monkeypatch.setitem(sys.modules, "some_solver_of_a_test", module)
    assert package.answer == 42
    with pytest.raises(ModuleNotFoundError):
        _ = spec.Package("no_such_solver").Model


def register(monkeypatch, entry):
    """Register an entry as the one line in the registry and the one new module would."""
    module = ModuleType(f"fsopt.solvers.{entry.name}")
    module.SPEC = entry
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(SOLVERS, "modules", (*SOLVERS.modules, entry.name))
    monkeypatch.setattr(SOLVERS, "shipped", Registry.shipped.func(SOLVERS))


def test_a_new_module_and_its_line_make_a_solver_that_is_taken_by_its_rank(monkeypatch):
    new = dataclasses.replace(SOLVERS["clarabel"], name="newcomer", ranks={"LP": 1, "SOCP": 15})
    register(monkeypatch, new)
    assert list(SOLVERS.shipped)[-1] == "newcomer"
    assert preference("LP")[0] is new
    assert [s.name for s in preference("SOCP")][:2] == ["clarabel", "newcomer"]
    assert "newcomer" in str(no_multipliers("scip", "SOCP"))
    result = fsopt.solve(fsopt.build("onsvm", blobs(20, 3)))
    assert (result.solver, result.status) == ("newcomer", "optimal")


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


def test_highs_refuses_quadratic_programs_with_the_reason_in_one_line():
    m = model_of(lambda x: x**2, bounds=[(1, 5)])
    told = (
        r"highs.*QP \(it solves LP, MILP; its QP solver fails on everyday support vector machines\).*for QP: clarabel"
    )
    with pytest.raises(SolverError, match=told) as caught:
        fsopt.solve(m, "highs")
    assert "\n" not in str(caught.value)


def test_unknown_names_and_objectives_that_are_none_or_two():
    m = linear()
    with pytest.raises(UnknownNameError, match=r"clarable.*clarabel"):
        fsopt.solve(m, "clarable")
    m.second = pyo.Objective(expr=m.x[0])
    with pytest.raises(ParameterError, match="o, second"):
        fsopt.solve(m)
    m.o.deactivate()
    m.second.deactivate()
    result = fsopt.solve(m)
    assert (result.status, result.objective) == ("optimal", 0.0)
    assert 1 <= m.x[0].value <= 5
    assert set(result.seconds) == {"build", "translate", "solve", "load"}
    assert result.seconds["translate"] > 0 < result.seconds["solve"]


def test_a_solver_without_multipliers_is_named_with_those_that_give_them(monkeypatch):
    monkeypatch.setattr(spec, "find_spec", lambda name: None if name in ("mosek", "pyscipopt") else object())
    told = str(no_multipliers("scip", "SOCP"))
    assert "'scip' gives no multipliers" in told
    able, missing = told.split("installed for SOCP: ")[1].split("; not installed: ")
    assert [name for name in able.split(", ") if name in OURS] == ["clarabel", "ipopt", "scs", "gurobi", "xpress"]
    assert "mosek (pip install mosek)" in missing
    assert "scip" not in missing
    with pytest.raises(SolverError, match=r"no installed solver takes 'm', a MISDP.*'fsopt solvers' lists the classes"):
        choose(None, "MISDP", "m")
