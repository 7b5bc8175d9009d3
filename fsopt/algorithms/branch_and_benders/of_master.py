"""The selection problem in arrays of a master problem that was built."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from fsopt.algorithms.branch_and_benders.problem import SelectionProblem
from fsopt.compiler import Program, compile_model
from fsopt.data import Dataset
from fsopt.data.losses import HINGE, Loss
from fsopt.drivers.gbd.master_program import check_objective
from fsopt.models.gbd.selection_constraints import unit_rows
from fsopt.typing import Indices, Matrix, Vector


def selection_problem(
    data: Dataset, master: pyo.ConcreteModel, c: float, loss: Loss = HINGE
) -> SelectionProblem | None:
    """Return the problem whose master was built; None where it has variables beside sigma and theta, or cuts.

    Raises
    ------
    ParameterError : a master of other features, or one that minimises anything but theta and penalties of sigma.
    """
    program = compile_model(master)
    columns = np.array([program.column[id(v)] for v in master.sigma.values()])
    check_objective(data, program, columns, program.column.get(id(master.theta)))
    if not _searchable(data, program, columns):
        return None
    R, r = _constraints_on_selection(program, columns)
    return SelectionProblem.of(data, c, R, r, program.c[columns].copy(), loss)


def _searchable(data: Dataset, program: Program, columns: Indices) -> bool:
    """Return whether a master has no variables but sigma, binary, and theta, and linear constraints on sigma alone."""
    theta = np.setdiff1d(np.arange(program.n), columns)
    linear = not program.nonconic and not program.unsupported and not len(program.cones)
    on_sigma = program.A[:, theta].nnz == 0 and program.n == data.p + 1
    fixed = np.isin(program.lb, (0.0, 1.0)) & (program.lb == program.ub)
    return linear and on_sigma and bool((program.integer | fixed)[columns].all())


def _constraints_on_selection(program: Program, columns: Indices) -> tuple[Matrix, Vector]:
    """Return the constraints of a searchable master, and the bounds of fixed features, as ``R sigma <= r``."""
    A = program.A[:, columns].toarray()
    upper, lower = np.isfinite(program.hi), np.isfinite(program.lo)
    lb, ub = program.lb[columns], program.ub[columns]
    never, always = np.flatnonzero(ub < 1.0), np.flatnonzero(lb > 0.0)
    R = np.vstack([A[upper], -A[lower], unit_rows(never, len(columns)), -unit_rows(always, len(columns))])
    return R, np.concatenate([program.hi[upper], -program.lo[lower], ub[never], -lb[always]])
