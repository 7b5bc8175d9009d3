"""Software that reads a model file and solves it."""

from pathlib import Path

import pytest


def highs(path: Path) -> float:
    highspy = pytest.importorskip("highspy")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return solver.getInfo().objective_function_value


def scip(path: Path, tolerance: float = 1e-9) -> float:
    model = pytest.importorskip("pyscipopt").Model()
    model.hideOutput()
    model.readProblem(str(path))
    model.setParams({"numerics/epsilon": tolerance, "numerics/feastol": tolerance, "limits/gap": 0.0})
    model.optimize()
    assert model.getStatus() == "optimal"
    return model.getObjVal()
