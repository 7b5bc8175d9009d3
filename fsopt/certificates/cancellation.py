r"""Right-hand sides that drown in the terms of their rows: a point so far away that a row says nothing of it any more.

At :math:`x = y = 10^{12}` the rows :math:`x - y = 0` and :math:`x - y = 1` are both met relative to their terms, though
no point meets both. Such a row counts as met where the objective holds the point in its place, or where the point of
the least norm that meets the same rows and bounds has terms of comparable size. Else the size of the terms is nobody's
but the solver's, and the row has to be met relative to its right-hand side.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fsopt.answers.certificate import FEASIBLE
from fsopt.certificates import arithmetic
from fsopt.certificates.points import ratio, row_violations, symmetric
from fsopt.compiler import Program
from fsopt.typing import Mask, Vector


def drowned(program: Program, x: Vector) -> bool:
    """Return whether a right-hand side drowns at x (n,), which meets every row relative to its terms."""
    violation, terms = row_violations(program, x)
    side = np.where(program.A @ x < program.lo, program.lo, program.hi)
    size = np.where(np.isfinite(side), np.abs(side), 0.0)
    doubtful = (size > 0.0) & (violation > FEASIBLE * size) & (FEASIBLE * terms > size)
    if not doubtful.any():
        return False
    doubtful &= ~(abs(program.A) @ _held(program, x) > 0)
    if not doubtful.any():
        return False
    return bool((ratio(terms, _least_terms(program, x, terms, side) + size)[doubtful] > 1.0 / FEASIBLE).any())


def _held(program: Program, x: Vector) -> Mask:
    """Return the variables (n,) that rows and cones connect with a term of the objective."""
    rows = sp.csr_matrix(sp.vstack([program.A, program.cones.G]) != 0).astype(float)
    held: Mask = (program.c != 0.0) | (arithmetic.product(symmetric(program), np.ones(len(x))).terms > 0.0)
    if program.objective_terms or program.general:
        return np.ones(program.n, dtype=bool)
    while True:
        more = held | (rows.T @ (rows @ held > 0).astype(float) > 0)
        if np.array_equal(more, held):
            return held
        held = more


def _least_terms(program: Program, x: Vector, terms: Vector, side: Vector) -> Vector:
    """Return the sums of terms (m,) at the least norm, in units of x, that meets the active rows and bounds."""
    from scipy.sparse.linalg import lsmr

    activity = program.A @ x
    away = np.minimum(np.abs(activity - program.lo), np.abs(activity - program.hi))
    active = np.flatnonzero(ratio(away, terms) < FEASIBLE)
    fixed = ((x == program.lb) | (x == program.ub)) & (x != 0.0)
    rows, right = 1.0 / terms[active], side[active] - program.A[active] @ np.where(fixed, x, 0.0)
    unit = np.where(fixed, 0.0, np.abs(x))
    matrix = sp.diags(rows) @ program.A[active] @ sp.diags(unit)
    least = unit * lsmr(matrix, rows * right, atol=1e-15, btol=1e-15)[0]
    return arithmetic.product(program.A, np.where(fixed, x, least)).terms
