r"""Units taken out of a program: columns, rows and cones brought to comparable size.

Data in raw units make columns whose entries differ by a factor of :math:`10^6`. Solvers then stop early, and a
residual of :math:`10^{-7}` in such units can hide an error of a percent in the objective. The scaling found
here is used twice: the conic form is handed to the solver in it, and residuals are measured in it.

A second-order cone may be multiplied by a positive number and, along a row r of its tail, by the automorphism
that takes :math:`f = s_0 + s_r` to :math:`kf` and :math:`g = s_0 - s_r` to :math:`g/k`: a rotated cone
:math:`w^2 \le fg` keeps its meaning while its two sides become equally long.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from fsopt.compiler.cones import ConeStack
from fsopt.typing import Indices, Mask, Vector


@dataclass(frozen=True)
class Scaling:
    """The units of a program.

    Attributes
    ----------
    columns : (n,) d with x = d x', powers of two.
    rows : (m,) factors that bring the largest entry of a row to 1, after the columns.
    cone : (k, k) block-diagonal T that turns cone rows s into T s, again in the cone; T' turns multipliers of
        the turned rows into multipliers of the original ones.
    uncone : the inverse of T.
    """

    columns: Vector
    rows: Vector
    cone: sp.csr_matrix
    uncone: sp.csr_matrix


def equilibrate(
    A: sp.csr_matrix,
    sides: tuple[Vector, Vector],
    bounds: tuple[Vector, Vector],
    cones: ConeStack,
    curvature: Vector | None = None,
    integer: Mask | None = None,
    passes: int = 3,
) -> Scaling:
    """Return the scaling of linear rows A (m, n) with two sides, columns with two bounds, and cones.

    A finite side or bound other than 0 fixes the unit of its row or column, and so does the curvature (n,) that
    the objective has along a column; the rows of a norm with a constant bound have this bound as their sides. The
    other rows follow the columns, the other columns follow the rows, in turn; the other cones follow the columns.
    """
    m, radii = A.shape[0], _radii(cones)
    balls = np.repeat(radii > 0, cones.sizes)
    if balls.any():
        A = sp.csr_matrix(sp.vstack([A, cones.G[balls]]))
        radius = np.repeat(radii, cones.sizes)[balls]
        sides = np.append(sides[0], -radius), np.append(sides[1], radius)
    if not np.all(A.data):
        A = A.copy()
        A.eliminate_zeros()
    log_rows = np.log2(np.abs(A.data))
    by_column = sp.csr_matrix((log_rows, A.indices, A.indptr), shape=A.shape).tocsc()
    anchored_row, row = _anchor(*sides)
    anchored_column, column = _anchor(*bounds)
    if curvature is not None:
        curved = (curvature > 0) & ~anchored_column
        column = np.where(curved, -0.5 * np.log2(np.where(curved, curvature, 1.0)), column)
        anchored_column |= curved
    # A semidefinite matrix may not be scaled entry by entry, nor an integer: their columns keep their unit.
    matrix_rows = np.repeat(cones.orders > 0, cones.sizes)
    held = np.unique(cones.G[matrix_rows].indices) if matrix_rows.any() else np.zeros(0, dtype=int)
    column[held], anchored_column[held] = 0.0, True
    if integer is not None:
        column[integer], anchored_column[integer] = 0.0, True
    for _ in range(passes):
        height = _segment_max(by_column.data - row[by_column.indices], by_column.indptr)
        column = np.where(anchored_column, column, -height)
        largest = _segment_max(log_rows + column[A.indices], A.indptr)
        row = np.where(anchored_row, row, largest)
    columns: Vector = 2.0 ** np.round(column)
    return Scaling(columns, 2.0 ** -np.round(row[:m]), *_balance(cones, columns, radii))


def _radii(cones: ConeStack) -> Vector:
    """Return the bound of each cone that is a norm with a constant bound, 0 for the others."""
    heads = cones.starts[:-1]
    constant = (np.diff(cones.G.indptr)[heads] == 0) & (cones.orders == 0) & (cones.pairs == 0)
    radii: Vector = np.where(constant, cones.h[heads], 0.0)
    return radii


def _anchor(low: Vector, high: Vector) -> tuple[Mask, Vector]:
    """Return where a finite nonzero side fixes the unit, and its logarithm there (0 elsewhere)."""
    size = np.maximum(np.where(np.isfinite(low), np.abs(low), 0.0), np.where(np.isfinite(high), np.abs(high), 0.0))
    return size > 0, np.log2(np.where(size > 0, size, 1.0))


def _segment_max(values: Vector, indptr: Indices) -> Vector:
    """Return the largest value of each segment, 0 for an empty one."""
    result = np.zeros(len(indptr) - 1)
    filled = np.flatnonzero(np.diff(indptr))
    if len(filled):
        result[filled] = np.maximum.reduceat(values, indptr[:-1][filled])
    return result


def _balance(cones: ConeStack, columns: Vector, radii: Vector) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Return T and its inverse: a boost along the paired row of each cone, then division by its radius or size."""
    k = len(cones.h)
    if not k:
        return sp.csr_matrix((0, 0)), sp.csr_matrix((0, 0))
    scaled = sp.csr_matrix(sp.hstack([cones.G @ sp.diags(columns), cones.h[:, None]]))
    paired = np.flatnonzero(cones.pairs)
    head, tail = cones.starts[paired], cones.starts[paired] + cones.pairs[paired]
    f, g = _largest(scaled[head] + scaled[tail]), _largest(scaled[head] - scaled[tail])
    both = (f > 0) & (g > 0)
    factor = np.sqrt(np.where(both, g, 1.0) / np.where(both, f, 1.0))
    boost, unboost = _boost(k, head, tail, factor), _boost(k, head, tail, 1 / factor)
    size = np.maximum.reduceat(_largest(sp.csr_matrix(boost @ scaled)), cones.starts[:-1])
    size = np.where(cones.orders > 0, 1.0, np.where(radii > 0, radii, size))
    block = np.repeat(np.where(size > 0, size, 1.0), cones.sizes)
    return sp.csr_matrix(sp.diags(1 / block) @ boost), sp.csr_matrix(unboost @ sp.diags(block))


def _boost(k: int, head: Indices, tail: Indices, factor: Vector) -> sp.csr_matrix:
    """Return the matrix (k, k) that multiplies s_head + s_tail by the factor and divides s_head - s_tail by it."""
    even, odd = (factor + 1 / factor) / 2 - 1, (factor - 1 / factor) / 2
    rows, columns = np.concatenate([head, tail, head, tail]), np.concatenate([head, tail, tail, head])
    turn = sp.csr_matrix((np.concatenate([even, even, odd, odd]), (rows, columns)), shape=(k, k))
    return sp.csr_matrix(sp.identity(k, format="csr") + turn)


def _largest(matrix: sp.csr_matrix) -> Vector:
    """Return the largest absolute entry of each row, 0 for an empty one."""
    rows = sp.csr_matrix(matrix)
    return _segment_max(np.abs(rows.data), rows.indptr)
