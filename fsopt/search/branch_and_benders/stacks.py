"""Sums, products and factors of one program, or of a stack of programs, which have one more dimension.

Compiled functions have one program; :mod:`fsopt.search.branch_and_benders.kernels` has these functions for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from fsopt.common import clock
from fsopt.svm.pieces import cholesky, gram
from fsopt.typing import Indices, Matrix, Vector

EPSILON = 1e-14
"""The diagonal of the intercept, as a share of the sum of theta."""
Number = Any
"""A number, or one for each program of a stack (m, 1)."""


def total(x: Vector) -> Number:
    """Return the sum of x (n,), or those of (m, n)."""
    return x.sum() if x.ndim == 1 else np.add.reduce(x, axis=1, keepdims=True)


def lowest(x: Vector) -> Number:
    """Return the smallest entry of x (n,), or those of (m, n)."""
    return x.min() if x.ndim == 1 else np.minimum.reduce(x, axis=1, keepdims=True)


def choice(condition: Any, one: Any, other: Any) -> Any:
    """Return numbers where a condition holds, others elsewhere."""
    return np.where(condition, one, other)


def alone(condition: Any) -> bool:
    """Return whether a condition holds of one program; of a stack False, where others would pay for some."""
    return bool(condition) if np.ndim(condition) == 0 else False


def keep(best: Any, feasible: Any, value: Number, alpha: Vector, mu: Vector) -> None:
    """Put values, with their multipliers, into the arrays of the best ones where they are larger."""
    if alpha.ndim == 1:
        if feasible and value > best.bound[0]:
            best.bound[0], best.alpha[:] = value, alpha
            best.mu[:] = mu
        return
    better = feasible & (value > best.bound)
    np.copyto(best.bound, value, where=better)
    np.copyto(best.alpha, alpha, where=better)


def times(A: Matrix, x: Vector) -> Vector:
    """Return A x."""
    return A @ x if A.ndim == 2 else np.matmul(A, x[:, :, None])[:, :, 0]


def across(x: Vector, A: Matrix) -> Vector:
    """Return A'x."""
    return x @ A if A.ndim == 2 else np.matmul(x[:, None, :], A)[:, 0]


def falling(value: Vector) -> Indices:
    """Return the places of values (n,) by falling value."""
    return np.argsort(-value, kind="stable")


def normal_factor(A: Matrix, theta: Vector, delta: Vector) -> Matrix:
    r"""Return a factor of :math:`A \\Theta A' + \\mathrm{diag}(\\Delta, \\epsilon)`, for :func:`solved`.

    Parameters
    ----------
    A, theta, delta : (p + 1, n), (n,), (p,) or (p, p), or each of three with one more dimension.

    Returns
    -------
    Matrix
        The lower Cholesky factor, of order 0 where the matrix is singular in floating point.
        Of a stack it is the matrices: inverses lose digits.

    Raises
    ------
    OutOfTimeError : the time limit passed within the factorisation.
    """
    clock.check()
    if A.ndim == 2:
        matrix = gram((A * np.sqrt(theta)).T)
        ends = EPSILON * matrix[-1, -1]
        if delta.ndim == 2:  # blocks of groups
            matrix[:-1, :-1] += delta
            matrix[-1, -1] += ends
        else:
            matrix.ravel(order="K")[:: len(matrix) + 1] += np.append(delta, ends)
        factor = cholesky(matrix)
        return np.zeros((0, 0)) if factor is None else factor
    matrix = np.matmul(A * theta[:, None], A.transpose(0, 2, 1))
    places = np.arange(delta.shape[1])
    matrix[:, places, places] += delta
    matrix[:, -1, -1] *= 1.0 + EPSILON
    return np.asarray(matrix)


def solved(factor: Matrix, right: Vector) -> Vector:
    """Return the solution of the system of a factor for a right-hand side, or for each row of several."""
    if factor.ndim == 3:
        return np.asarray(np.linalg.solve(factor, right[:, :, None])[:, :, 0])
    return np.asarray(scipy.linalg.lapack.dpotrs(factor, right.T, lower=1)[0].T)


def small_solved(matrix: Matrix, right: Vector) -> Vector:
    """Return the solution of the system of the constraints, mostly of order 1."""
    if len(matrix) <= 1:
        return right / matrix[0] if len(matrix) else right
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0], dtype=float)
