"""Symmetric products by blocks, between which the clock is checked, and Cholesky factors."""

from __future__ import annotations

import numpy as np
import scipy

from fsopt.common import clock
from fsopt.typing import Matrix

PIECE = 2**31
"""Multiplications and additions of a block of a product, a fifth of a second of a slow processor."""
FEWEST = 64
"""Smallest number of rows of a block: thinner products are slow."""


def gram(A: Matrix) -> Matrix:
    """Return the lower triangle of A'A (p, p) of a matrix A (n, p), in Fortran order; the upper one is undefined."""
    n, p = A.shape
    rows = max(FEWEST, PIECE // max(p * p, 1))
    total: Matrix = scipy.linalg.blas.dsyrk(1.0, A[:rows], trans=1, lower=1)
    for k in range(rows, n, rows):
        clock.check()
        total = scipy.linalg.blas.dsyrk(1.0, A[k : k + rows], beta=1.0, c=total, trans=1, lower=1, overwrite_c=1)
    return total


def cholesky(matrix: Matrix) -> Matrix | None:
    """Return the lower Cholesky factor of a matrix given by its lower triangle, which it overwrites; None for none.

    The factor is in Fortran order, its upper triangle undefined; the clock is checked before it.
    """
    clock.check()
    factor, failed = scipy.linalg.lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
    return None if failed else np.asarray(factor)
