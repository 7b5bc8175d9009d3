"""Residuals of a point in a compiled program, relative to the terms of their own constraint.

All residuals are measured in the units of :class:`fsopt.compiler.scaling.Scaling`, so that they do not depend on the
units of the data. A residual is divided by 1 plus the size of the terms in its constraint: the first is an absolute
tolerance for constraints with small terms, the second a relative one that allows for the rounding of large terms.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from fsopt.certificates.certificate import TOLERANCE
from fsopt.compiler import Program
from fsopt.typing import Vector


def relative_gap(value: float, bound: float) -> float:
    """Return ``|value - bound| / max(1, |value|)``; a bound on the wrong side of the value is an error as well."""
    return abs(value - bound) / max(1.0, abs(value))


def primal_residual(program: Program, x: Vector) -> float:
    """Return the largest relative violation of linear constraints, bounds and cones at x (n,)."""
    units = program.scaling
    rows = relative(row_excess(program, x) * units.rows, lambda: largest_term(program.A, x) * units.rows)
    outside = bound_excess(program, x) / (units.columns + np.abs(x))
    # The Euclidean distance to the cone, not the violation of w^2 <= s t: at s = t = 0 a tolerance of 1e-8 on the
    # squares allows w = 1e-4.
    s = units.cone @ (program.cones.G @ x + program.cones.h)
    cones = program.cones.distances(s) / (1.0 + block_norms(program, s))
    return float(max(rows, outside.max(initial=0.0), cones.max(initial=0.0)))


def row_excess(program: Program, x: Vector) -> Vector:
    """Return the violation (m,) of each linear constraint at x."""
    activity = program.A @ x
    excess: Vector = np.maximum(np.maximum(program.lo - activity, activity - program.hi), 0.0)
    return excess


def bound_excess(program: Program, x: Vector) -> Vector:
    """Return the violation (n,) of the bounds of each variable at x."""
    excess: Vector = np.maximum(np.maximum(program.lb - x, x - program.ub), 0.0)
    return excess


def split_by_bound(multiplier: Vector, low: Vector, high: Vector) -> tuple[float, Vector]:
    """Return the sum of multipliers times their finite bounds, and the size of each multiplier of an infinite bound.

    A positive multiplier belongs to the lower bound, a negative one to the upper bound.
    """
    bound = np.where(multiplier > 0, low, high)
    finite = np.isfinite(bound)
    total = float(multiplier[finite] @ bound[finite])
    return total, np.where(finite, 0.0, np.abs(multiplier))


def relative(absolute: Vector, terms: Callable[[], Vector]) -> float:
    """Return the largest of ``absolute / (1 + terms)``.

    If all entries are far below the tolerance, the result is the largest entry itself: it is an upper bound, and the
    terms, which cost as much as a product with the matrix, are not computed.
    """
    worst = float(absolute.max(initial=0.0))
    if worst <= 0.01 * TOLERANCE:
        return worst
    return float((absolute / (1.0 + terms())).max(initial=0.0))


def largest_term(matrix: sp.csr_matrix, x: Vector) -> Vector:
    """Return the largest absolute term of each row of ``matrix @ x``."""
    if not matrix.nnz:
        return np.zeros(matrix.shape[0])
    terms = np.abs(matrix.data * x[matrix.indices])
    largest = np.zeros(matrix.shape[0])
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    np.maximum.at(largest, rows, terms)
    return largest


def block_norms(program: Program, s: Vector) -> Vector:
    """Return the Euclidean norm of each block of s (k,)."""
    if not len(program.cones):
        return np.zeros(0)
    norms: Vector = np.sqrt(np.add.reduceat(s**2, program.cones.starts[:-1]))
    return norms
