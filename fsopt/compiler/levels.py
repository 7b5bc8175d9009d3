r"""Levels: the sizes that the coefficients of a program and the facts in its bounds give to rows and columns.

The coefficients alone give units up to one factor for each connected part of the program: those in which they are about
1, and which are closest to 1 themselves. The factor follows from facts, which are one-sided:

* :math:`x \ge l > 0`, or :math:`a'x \ge l > 0`: something is at least as large as l;
* :math:`|x| \le u`, or :math:`a'x \le u` without a negative term: nothing there is larger than u.

The factor is the largest of the first or the smallest of the others, that of rows before that of columns, the nearer
one, and 1 if both are far. So a right-hand side of :math:`10^{-16}` in the place of 0, a bound :math:`x \ge 10^{-12}`
that stands for :math:`x > 0` and a loose bound :math:`10^{10}` decide nothing where another fact does, and a bound that
is far from the level of its row or column says nothing about its unit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from fsopt.typing import Mask, Vector

WINDOW = 20.0
"""Distance, as a logarithm, at which a bound says nothing about a unit."""
PASSES = 5
"""Alternations of the least-squares units; they need not be exact."""


class Facts(NamedTuple):
    """Logarithms of what rows, then columns, are at least (-inf without such a fact) and at most (inf without one)."""

    least: Vector
    most: Vector


def levels(A: sp.csr_matrix, logarithms: Vector, facts: Facts) -> tuple[Vector, Vector]:
    """Return logarithms of the levels of the rows (m,) and the columns (n,) of A, whose entries have ``logarithms``."""
    m = A.shape[0]
    rows, columns = np.repeat(np.arange(m), np.diff(A.indptr)), A.indices
    sizes = np.concatenate(_balanced(rows, columns, logarithms, A.shape))
    edges = sp.coo_matrix((np.ones(A.nnz), (rows, m + columns)), shape=(len(sizes), len(sizes)))
    count, part = sp.csgraph.connected_components(edges, directed=False)
    sizes -= (np.bincount(part, sizes, count) / np.bincount(part, minlength=count))[part]

    def ends(of: slice) -> tuple[Vector, Vector]:
        least, most = np.full(count, -np.inf), np.full(count, np.inf)
        np.maximum.at(least, part[of], (facts.least - sizes)[of])
        np.minimum.at(most, part[of], (facts.most - sizes)[of])
        return least, most

    of_rows, of_columns = ends(slice(m)), ends(slice(m, None))
    told = np.isfinite(of_rows[0]) | np.isfinite(of_rows[1])
    factor = np.where(told, _nearer(*of_rows), _nearer(*of_columns))
    factor = np.minimum(factor, np.minimum(of_rows[1], of_columns[1]))
    found = sizes + np.maximum(factor, np.maximum(of_rows[0], of_columns[0]))[part]
    return found[:m], found[m:]


def _nearer(least: Vector, most: Vector) -> Vector:
    """Return the end that is nearer to 0, and 0 if it is far."""
    end = np.where(np.abs(least) <= np.abs(most), least, most)
    return np.where(np.abs(end) <= WINDOW, end, 0.0)


def _balanced(rows: Vector, columns: Vector, logarithms: Vector, shape: tuple[int, int]) -> tuple[Vector, Vector]:
    """Return r and c for which ``log |a_ij| + c_j - r_i`` is small in the least squares (Curtis and Reid, 1972)."""
    (m, n), r = shape, np.zeros(shape[0])
    per_row = np.maximum(np.bincount(rows, minlength=m), 1)
    per_column = np.maximum(np.bincount(columns, minlength=n), 1)
    c = np.zeros(n)
    for _ in range(PASSES):
        c = np.bincount(columns, r[rows] - logarithms, n) / per_column
        r = np.bincount(rows, logarithms + c[columns], m) / per_row
    return r, c


def facts(
    A: sp.csr_matrix, row_bounds: tuple[Vector, Vector], column_bounds: tuple[Vector, Vector], integer: Mask
) -> Facts:
    """Return the facts in the bounds of a program; an integer column has the unit 1.

    Parameters
    ----------
    row_bounds, column_bounds : lower and upper bounds (m,) of the rows and (n,) of the columns.
    """
    (lo, hi), (lb, ub) = row_bounds, column_bounds
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    up = ((A.data > 0) & (lb[A.indices] >= 0)) | ((A.data < 0) & (ub[A.indices] <= 0))
    down = ((A.data < 0) & (lb[A.indices] >= 0)) | ((A.data > 0) & (ub[A.indices] <= 0))
    rising, falling = (np.bincount(rows, ~signs, len(lo)) == 0 for signs in (up, down))
    row_most = np.where(rising, hi, np.where(falling, -lo, np.inf))
    column_most = np.maximum(-lb, ub)
    with np.errstate(divide="ignore"):
        least = np.log2(np.maximum(np.concatenate([np.maximum(lo, -hi), np.maximum(lb, -ub)]), 0.0))
        most = np.log2(np.maximum(np.concatenate([row_most, column_most]), 0.0))
    most[np.isneginf(most)] = np.inf  # a bound 0 has no size
    whole = len(lo) + np.flatnonzero(integer)
    least[whole] = most[whole] = 0.0
    return Facts(least, most)
