"""The selection problem in arrays of a master problem that was built."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from fsopt.algorithms.branch_and_benders.problem import SelectionProblem
from fsopt.compiler import compile_model
from fsopt.data import Dataset
from fsopt.drivers.gbd.master_program import check_objective, constraints_on_selection, searchable
from fsopt.errors import ParameterError


def selection_problem(data: Dataset, master: pyo.ConcreteModel, c: float) -> SelectionProblem | None:
    """Return the problem whose master was built; None where it has variables beside sigma and theta, or cuts.

    Raises
    ------
    ParameterError : a master of other features, or one that minimises anything but theta and penalties of sigma.
    """
    if len(master.sigma) != data.p:
        raise ParameterError(
            f"the master given to 'gbd' has {len(master.sigma)} features, the data {data.p}",
            "build both models from the data set that the driver is given",
        )
    program = compile_model(master)
    columns = np.array([program.column[id(v)] for v in master.sigma.values()])
    check_objective(program, columns, program.column.get(id(master.theta)))
    if not searchable(data, program, columns):
        return None
    R, r = constraints_on_selection(program, columns)
    return SelectionProblem.of(data, c, R, r, program.c[columns].copy())
