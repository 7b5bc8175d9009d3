"""The program of a master problem of generalized Benders: constraints on the selection, its objective, feasibility."""

from __future__ import annotations

import numpy as np

from fsopt.certificates.residuals import bound_excess, row_excess
from fsopt.compiler import Program
from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.models.gbd.selection_constraints import unit_rows
from fsopt.typing import Indices, Matrix, Vector


def searchable(data: Dataset, program: Program, columns: Indices) -> bool:
    """Return whether a master has no variables but sigma, binary, and theta, and linear constraints on sigma alone."""
    theta = np.setdiff1d(np.arange(program.n), columns)
    linear = not program.nonconic and not program.unsupported and not len(program.cones)
    on_sigma = program.A[:, theta].nnz == 0 and program.n == data.p + 1
    return linear and on_sigma and bool(program.integer[columns].all())


def constraints_on_selection(program: Program, columns: Indices) -> tuple[Matrix, Vector]:
    """Return the constraints of a searchable master, and the bounds of fixed features, as ``R sigma <= r``."""
    A = program.A[:, columns].toarray()
    upper, lower = np.isfinite(program.hi), np.isfinite(program.lo)
    lb, ub = program.lb[columns], program.ub[columns]
    never, always = np.flatnonzero(ub < 1.0), np.flatnonzero(lb > 0.0)
    R = np.vstack([A[upper], -A[lower], unit_rows(never, len(columns)), -unit_rows(always, len(columns))])
    return R, np.concatenate([program.hi[upper], -program.lo[lower], ub[never], -lb[always]])


def check_objective(program: Program, columns: Indices, theta: int | None) -> None:
    """Raise ParameterError for a master that minimises anything but theta and penalties of sigma: that bounds no F."""
    others = program.c.copy()
    others[columns] = 0.0
    if theta is not None:
        others[theta] -= 1.0
    linear = program.P.nnz == 0 and program.sign == 1.0 and program.c0 == 0.0
    if theta is None or not linear or others.any():
        raise ParameterError(
            "the master does not minimise 'theta' plus penalty weights of 'sigma'", "give it that objective"
        )


def feasible(program: Program, columns: Indices, sigma: Vector) -> bool:
    """Return whether a selection satisfies the constraints; False too where they have variables of their own."""
    if program.n != len(columns) + 1:
        return False
    x = np.full(program.n, np.finfo(float).max)  # theta as large as any cut asks for
    x[columns] = sigma
    with np.errstate(over="ignore"):
        binary = bool(np.isin(sigma, (0.0, 1.0)).all())
        inside = bool(bound_excess(program, x)[columns].max(initial=0.0) <= 1e-9)
        return binary and inside and bool(row_excess(program, x).max(initial=0.0) <= 1e-9)
