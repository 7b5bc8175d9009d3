"""Pyomo's own models for tests of solvers: the optimum that SCIP finds, or a refusal."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pyomo.solvers.tests.models  # noqa: F401  (registers them)
import pytest
from file_readers import scip
from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.contrib.solver.common.results import SolutionStatus, TerminationCondition
from pyomo.core.kernel.block import IBlock
from pyomo.solvers.tests.models.base import all_models

import fsopt

MODELS = sorted(name for name in all_models() if "kernel" not in name and "SOS" not in name)
NO_KERNEL = "QP_constant_objective_kernel"
"""Pyomo states it without pyomo.kernel, whatever its name says."""
FAILING = {
    "MILP_infeasible": {TerminationCondition.locallyInfeasible},  # the word of a solver, whose search is not repeated
    "infeasible": {TerminationCondition.provenInfeasible},
    "unbounded": {TerminationCondition.unbounded, TerminationCondition.infeasibleOrUnbounded},
}
"""Part of a model's name -> what ends its solve."""


def truth(case) -> float:
    """Return the optimum by SCIP of the file that Pyomo writes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.lp"
        case.model.write(str(path))
        path.write_text(path.read_text().replace(" ^ 2", "^2"))
        return scip(path)


@pytest.mark.parametrize("model", MODELS)
def test_each_model_is_solved(model):
    case = all_models(model)()
    case.generate_model()
    solver = SolverFactory("fsopt", raise_exception_on_nonoptimal_result=False, load_solutions=False)
    results = solver.solve(case.model)
    if (part := next((part for part in FAILING if part in model), None)) is not None:
        assert results.termination_condition in FAILING[part]
    else:
        assert results.solution_status is SolutionStatus.optimal, results.extra_info.message
        assert results.incumbent_objective == pytest.approx(truth(case), rel=1e-6, abs=1e-6)


def test_the_models_are_all_there():
    assert len(MODELS) == 27


@pytest.mark.parametrize("model", sorted(name for name in set(all_models()) - {NO_KERNEL} if "kernel" in name))
def test_a_model_of_pyomo_kernel_is_refused_in_one_line(model):
    case = all_models(model)()
    case.generate_model()
    assert isinstance(case.model, IBlock)
    with pytest.raises(fsopt.FsoptError, match=r"pyomo\.kernel") as error:
        SolverFactory("fsopt").solve(case.model)
    assert "\n" not in str(error.value)
