"""Powers of two that bring rows and columns of odd size near 1, exactly, and leave all others as they are.

Solvers have absolute tolerances and leave out coefficients below an absolute size: a row of 1e-9 is nothing to them.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fsopt.compiler.scaling import segment_max
from fsopt.typing import Mask, Vector

ODD_ROW = 10.0
"""Logarithm from which a row is of odd size: all its coefficients are that far from 1, on the same side."""
ODD_COLUMN = 20.0
"""The same for columns."""
FAINT = -38.0
"""Logarithm below which HiGHS leaves a coefficient out, at the smallest value of its option ``small_matrix_value``."""
LARGE = 30.0
"""Logarithm to which a row with a faint coefficient may grow."""


def row_powers(A: sp.csr_matrix) -> Vector:
    """Return the factors (m,) of the rows of A."""
    smallest, largest = _ends(A)
    return np.asarray(2.0 ** _shift(smallest, largest, ODD_ROW))


def column_powers(A: sp.csr_matrix, integer: Mask) -> Vector:
    """Return d (n,) with x = d x' for rows A (m, n) in their factors; 1 for an integer column, which stays integer."""
    smallest, largest = _ends(sp.csr_matrix(A.T))
    return np.where(integer, 1.0, 2.0 ** _shift(smallest, largest, ODD_COLUMN))


def raised_powers(A: sp.csr_matrix) -> Vector:
    """Return the factors (m,) of the rows of A in which no coefficient is faint, unless others would become large."""
    smallest, largest = _ends(A)
    shift = _shift(smallest, largest, ODD_ROW)
    return np.asarray(2.0 ** np.maximum(shift, np.minimum(FAINT - smallest, LARGE - largest)))


def _ends(A: sp.csr_matrix) -> tuple[Vector, Vector]:
    """Return the rounded logarithms (m,) of the smallest and the largest entry of each row; 0 for an empty one."""
    A = A.copy()
    A.eliminate_zeros()
    sizes = np.round(np.log2(np.abs(A.data)))
    return -segment_max(-sizes, A.indptr), segment_max(sizes, A.indptr)


def _shift(smallest: Vector, largest: Vector, odd: float) -> Vector:
    """Return the shift of logarithms that brings ends of odd size to 0."""
    return np.where(largest < -odd, -largest, np.where(smallest > odd, -smallest, 0.0))
