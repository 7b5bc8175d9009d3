"""Shared by the interfaces to SCIP, MOSEK and Pyomo: units, factors, programs derived from one, refusals."""

from __future__ import annotations

import dataclasses

import numpy as np
import scipy.sparse as sp

from fsopt.compiler import Program
from fsopt.errors import SolverError
from fsopt.solvers.powers import row_powers
from fsopt.typing import Vector

FAINT = 1e-8
"""Costs below this fraction of the largest one do not count in the factor of the objective."""


# -- arrays -----------------------------------------------------------------------------------------------


def units(program: Program) -> Vector:
    """Return d (n,) with x = d x' for the x' of the solver: 1 for integer variables, which must stay integer."""
    d: Vector = np.where(program.integer, 1.0, program.scaling.columns)
    return d


def row_factors(program: Program) -> Vector:
    """Return the factors (m,) of the linear constraints; one with integer variables gets a factor at odd sizes only.

    A large M beside a binary variable, which keeps its unit, would shrink the rest of its constraint to nothing.
    """
    mixed = np.flatnonzero(program.A[:, np.flatnonzero(program.integer)].getnnz(axis=1))
    factors = program.scaling.rows.copy()
    factors[mixed] = row_powers(sp.csr_matrix(program.A[mixed] @ sp.diags(units(program))))
    return factors


def objective_factor(program: Program, d: Vector) -> float:
    """Return the power of two that balances the costs of a program in the units x = d x'; 1 without costs.

    It brings the geometric mean of the smallest and the largest cost to about 1. The largest alone would leave small
    costs below the tolerance of the reduced costs where a large penalty weight stands beside them.
    """
    D = sp.diags(d)
    curvature = np.abs((D @ program.P @ D).data).max(initial=0.0)
    sizes = np.append(np.abs(d * program.c), curvature)
    largest = sizes.max(initial=0.0)
    if not 0.0 < largest < np.inf:
        return 1.0
    smallest = sizes[sizes >= FAINT * largest].min()
    return float(2.0 ** -np.round((np.log2(largest) + np.log2(smallest)) / 2))


def scaled_cones(program: Program, d: Vector) -> tuple[sp.csr_matrix, Vector]:
    """Return TGD (k, n) and Th (k,): the cones are TGD x' + Th, in balanced units."""
    T = program.scaling.cone
    return sp.csr_matrix(T @ program.cones.G @ sp.diags(d)), np.asarray(T @ program.cones.h)


# -- programs derived from one ----------------------------------------------------------------------------


def without_objective(program: Program) -> Program:
    """Return the program with the objective 0."""
    return dataclasses.replace(program, P=sp.csc_matrix((program.n, program.n)), c=np.zeros(program.n))


# -- refusals ---------------------------------------------------------------------------------------------


def refuse_other_than_quadratic(program: Program, solver: str) -> None:
    """Raise SolverError for the first constraint, else the objective, that is not quadratic."""
    names = [row.constraint.name for row in program.general if row.terms.nonlinear]
    names += [program.objective_name] if program.objective_terms else []
    if names:
        reason = dict(program.nonconic)[names[0]]
        raise SolverError(
            f"solver '{solver}' does not take '{names[0]}' ({reason})", "use a solver for NLP: ipopt, scip"
        )
