"""Symmetric products and Cholesky factors by blocks: the clock is checked between them, about ten times a second."""

from __future__ import annotations

import numpy as np
import scipy

from fsopt.common import clock
from fsopt.typing import Matrix

PIECE = 2**31
"""Multiplications and additions of a block of a product, a fifth of a second of a slow processor."""
FEWEST = 64
"""Smallest number of rows of a block: thinner products are slow."""
TILE = 1024
"""Order of the tiles of a factor; matrices of up to twice that order are one."""


def gram(A: Matrix) -> Matrix:
    """Return the lower triangle of A'A (p, p) of a matrix A (n, p), in Fortran order; the upper one is undefined.

    Raises
    ------
    OutOfTimeError : the time limit passed between two blocks.
    """
    n, p = A.shape
    rows = max(FEWEST, PIECE // max(p * p, 1))
    total: Matrix = scipy.linalg.blas.dsyrk(1.0, A[:rows], trans=1, lower=1)
    for k in range(rows, n, rows):
        clock.check()
        total = scipy.linalg.blas.dsyrk(1.0, A[k : k + rows], beta=1.0, c=total, trans=1, lower=1, overwrite_c=1)
    return total


def cholesky(matrix: Matrix) -> Matrix | None:
    r"""Return the lower Cholesky factor of a matrix given by its lower triangle, which it overwrites.

    A large matrix is factorised by tiles: with L the factor of the tiles so far, tile (i, j) becomes
    :math:`(A_{ij} - \sum_{m<j} L_{im} L_{jm}')\,L_{jj}^{-\top}`.

    Returns
    -------
    Matrix or None
        In Fortran order, the upper triangle undefined; None where the matrix is not positive definite in floating
        point.

    Raises
    ------
    OutOfTimeError : the time limit passed between two tiles.
    """
    order = len(matrix)
    if order <= 2 * TILE:
        factor, failed = scipy.linalg.lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
        return None if failed else np.asarray(factor)
    L = np.asfortranarray(matrix)
    tiles = [slice(k, min(k + TILE, order)) for k in range(0, order, TILE)]
    for j, columns in enumerate(tiles):
        corner = np.zeros((0, 0))
        for i in range(j, len(tiles)):
            clock.check()
            for m in range(j):
                L[tiles[i], columns] -= L[tiles[i], tiles[m]] @ L[columns, tiles[m]].T
            if i > j:
                L[tiles[i], columns] = np.asarray(
                    scipy.linalg.blas.dtrsm(1.0, corner, L[tiles[i], columns], side=1, lower=1, trans_a=1)
                )
                continue
            corner, failed = scipy.linalg.lapack.dpotrf(L[columns, columns], lower=1, clean=1)
            if failed:
                return None
            L[columns, columns] = corner
    return L
