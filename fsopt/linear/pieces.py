"""Symmetric products by blocks, between which the clock is checked, Cholesky factors, and the systems of a step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

from fsopt.common import clock
from fsopt.typing import Matrix, Vector

PIECE = 2**31
"""Multiplications and additions of a block of a product, a fifth of a second of a slow processor."""
FEWEST = 64
"""Smallest number of rows of a block: thinner products are slow."""
EPSILON = 1e-14
"""The diagonal of the intercept, as a share of the sum of theta."""
Eliminated = Callable[[Matrix, Matrix], tuple[Matrix, Matrix]]
"""The steps of alpha (k, n) and of the hyperplane (k, p + 1) for k right-hand sides, without mu."""


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


def by_features(A: Matrix, theta: Vector, delta: Matrix) -> Eliminated | None:
    """Return the system with alpha eliminated; None where it is singular."""
    matrix = gram((A * np.sqrt(theta)).T)
    ends = EPSILON * matrix[-1, -1]
    if delta.ndim == 2:  # blocks of groups
        matrix[:-1, :-1] += delta
        matrix[-1, -1] += ends
    else:
        matrix.ravel(order="K")[:: len(matrix) + 1] += np.append(delta, ends)
    factor = cholesky(matrix)

    def steps(s: Matrix, g: Matrix) -> tuple[Matrix, Matrix]:
        hyperplane = scipy.linalg.lapack.dpotrs(factor, (g + (theta * s) @ A.T).T, lower=1)[0].T
        return theta * (s - hyperplane @ A), hyperplane

    return None if factor is None else steps


def by_samples(A: Matrix, theta: Vector, delta: Vector) -> Eliminated | None:
    """Return the system with w eliminated; None where it is singular."""
    Z, y = A[:-1], A[-1]
    root = np.sqrt(theta)
    matrix = gram(Z * root / np.sqrt(delta)[:, None])
    matrix.ravel(order="K")[:: len(root) + 1] += 1.0
    factor = cholesky(matrix)
    if factor is None:
        return None

    def multipliers(right: Matrix) -> Matrix:
        return np.asarray(root * scipy.linalg.lapack.dpotrs(factor, (root * right).T, lower=1)[0].T)

    along = multipliers(y[None])[0]
    slope = float(y @ along) + EPSILON * float(theta.sum())

    def steps(s: Matrix, g: Matrix) -> tuple[Matrix, Matrix]:
        weights = g[:, :-1] / delta
        alpha = multipliers(s - weights @ Z)
        b = (g[:, -1] + alpha @ y) / slope
        alpha = alpha - np.outer(b, along)
        return alpha, np.column_stack([weights + (alpha @ Z.T) / delta, b])

    return steps
