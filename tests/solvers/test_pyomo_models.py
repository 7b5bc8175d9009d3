"""Pyomo's own models for tests of solvers, by every class of fsopt: the optimum that SCIP finds, or a refusal."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import pyomo.solvers.tests.models  # noqa: F401  (registers them)
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.contrib.solver.common.results import SolutionStatus, TerminationCondition
from pyomo.contrib.solver.common.util import IncompatibleModelError
from pyomo.core.kernel.block import IBlock
from pyomo.solvers.tests.models.base import all_models
from pyomo_contract import NAMES, solves
from support import sampled

import fsopt
from fsopt.compiler import compile_model
from fsopt.errors import SolverError
from fsopt.solvers.registry import solver_spec

MODELS = sorted(name for name in all_models() if "kernel" not in name)
NO_KERNEL = "QP_constant_objective_kernel"
"""Pyomo states it without pyomo.kernel, whatever its name says."""
FAILING = {
    "MILP_infeasible": {TerminationCondition.locallyInfeasible},  # the word of a solver, whose search is not repeated
    "infeasible": {TerminationCondition.provenInfeasible},
    "unbounded": {TerminationCondition.unbounded, TerminationCondition.infeasibleOrUnbounded},
}
"""Part of a model's name -> what ends its solve."""
UNPROVED = {"fsopt_ipopt": {"QCP_simple", "QCP_simple_nosuffixes"}}
"""Class -> models, not convex in form, of which it finds the optimum without multipliers that verify it."""
CLASSES = sampled(sorted(NAMES, key="fsopt".__ne__), 1)


def refusable(name: str, model) -> bool:
    """Return whether a class may refuse a model."""
    solver = SolverFactory.get_class(name).solver
    if solver is None:
        return False
    spec = solver_spec(solver)
    sets = bool(compile_model(model).ordered) and not spec.ordered
    return fsopt.classify(model) not in solves(name) or sets or spec.structured


def outcome(name: str, model: str) -> str:
    """Return ``solved`` or ``refused``, else what is wrong."""
    case = all_models(model)()
    case.generate_model()
    solver = SolverFactory(name, raise_exception_on_nonoptimal_result=False, load_solutions=False)
    try:
        results = solver.solve(case.model)
    except IncompatibleModelError as error:
        return "refused" if refusable(name, case.model) and "\n" not in str(error) else str(error)
    for part, conditions in FAILING.items():
        if part in model:
            found = results.termination_condition
            return "solved" if found in conditions else f"stopped with {found.name}"
    value, proved = results.incumbent_objective, results.solution_status is SolutionStatus.optimal
    if proved is (model in UNPROVED.get(name, ())):
        return f"{results.solution_status.name}, {results.extra_info.message}"
    return "solved" if value == pytest.approx(truth(model), rel=1e-6, abs=1e-6) else f"{value}, not {truth(model)}"


@cache
def truth(model: str) -> float:
    """Return the optimum by SCIP of the file that Pyomo writes."""
    case = all_models(model)()
    case.generate_model()
    scip = import_module("pyscipopt").Model()
    scip.hideOutput()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.lp"
        case.model.write(str(path))
        path.write_text(path.read_text().replace(" ^ 2", "^2"))
        scip.readProblem(str(path))
    scip.optimize()
    return scip.getObjVal()


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_solves_or_refuses_each_model(name):
    pytest.importorskip("pyscipopt")
    if not SolverFactory(name).available():
        pytest.skip("not installed")
    try:
        found = {model: outcome(name, model) for model in MODELS}
    except SolverError as error:
        if "licence" not in str(error):
            raise
        assert name == "fsopt_mosek"
        return
    assert {model: words for model, words in found.items() if words not in ("solved", "refused")} == {}
    assert len(found) == 29
    if name == "fsopt":
        assert set(found.values()) == {"solved"}


@pytest.mark.parametrize("model", sorted(set(all_models()) - set(MODELS) - {NO_KERNEL}))
def test_a_model_of_pyomo_kernel_is_refused_in_one_line(model):
    case = all_models(model)()
    case.generate_model()
    assert isinstance(case.model, IBlock)
    with pytest.raises(fsopt.FsoptError, match=r"pyomo\.kernel") as error:
        SolverFactory("fsopt").solve(case.model)
    assert "\n" not in str(error.value)
