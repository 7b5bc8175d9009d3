"""Sums, products and factors of a program; :mod:`fsopt.search.branch_and_benders.kernels` has them for compiled code.

The formulas of a step of the interior point are of one sample or feature, or of each: numpy gives arrays, loops
numbers. Here are the marks of the functions that are compiled where numba is installed, too, and those that are so far.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import scipy

from fsopt.common import clock
from fsopt.data.losses import dual_curvature, dual_slopes
from fsopt.linear.pieces import cholesky, gram
from fsopt.typing import Indices, Matrix, Vector

EPSILON = 1e-14
"""The diagonal of the intercept, as a share of the sum of theta."""
Number = Any
"""A number of Python, or of numpy."""


def total(x: Vector) -> Number:
    """Return the sum of x (n,), or those of (m, n)."""
    return x.sum() if x.ndim == 1 else np.add.reduce(x, axis=1, keepdims=True)


def lowest(x: Vector) -> Number:
    """Return the smallest entry of x (n,)."""
    return x.min()


def choice(condition: Any, one: Any, other: Any) -> Any:
    """Return numbers where a condition holds, others elsewhere."""
    return np.where(condition, one, other)


def keep(best: Any, feasible: Any, value: Number, alpha: Vector, mu: Vector) -> None:
    """Put values, with their multipliers, into the arrays of the best ones where they are larger."""
    if feasible and value > best.bound[0]:
        best.bound[0], best.alpha[:] = value, alpha
        best.mu[:] = mu


def times(A: Matrix, x: Vector) -> Vector:
    """Return A x."""
    return A @ x


def across(x: Vector, A: Matrix) -> Vector:
    """Return A'x."""
    return x @ A


def falling(value: Vector) -> Indices:
    """Return the places of values (n,) by falling value."""
    return np.argsort(-value, kind="stable")


def normal_factor(A: Matrix, theta: Vector, delta: Vector) -> Matrix:
    r"""Return a factor of :math:`A \\Theta A' + \\mathrm{diag}(\\Delta, \\epsilon)`, for :func:`solved`.

    Parameters
    ----------
    A, theta, delta : (p + 1, n), (n,), (p,) or (p, p).

    Returns
    -------
    Matrix
        The lower Cholesky factor, of order 0 where the matrix is singular in floating point.

    Raises
    ------
    OutOfTimeError : the time limit passed within the factorisation.
    """
    clock.check()
    matrix = gram((A * np.sqrt(theta)).T)
    ends = EPSILON * matrix[-1, -1]
    if delta.ndim == 2:  # blocks of groups
        matrix[:-1, :-1] += delta
        matrix[-1, -1] += ends
    else:
        matrix.ravel(order="K")[:: len(matrix) + 1] += np.append(delta, ends)
    factor = cholesky(matrix)
    return np.zeros((0, 0)) if factor is None else factor


def solved(factor: Matrix, right: Vector) -> Vector:
    """Return the solution of the system of a factor for a right-hand side, or for each row of several."""
    return np.asarray(scipy.linalg.lapack.dpotrs(factor, right.T, lower=1)[0].T)


def small_solved(matrix: Matrix, right: Vector) -> Vector:
    """Return the solution of the system of the constraints, mostly of order 1."""
    if len(matrix) <= 1:
        return right / matrix[0] if len(matrix) else right
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0], dtype=float)


F = TypeVar("F", bound=Callable[..., Any])
ENTRIES: list[Callable[..., Any]] = []
"""Functions that :func:`fast` compiles."""
INNER: list[Callable[..., Any]] = []
"""Functions that these call."""
COMPILED: dict[Callable[..., Any], Callable[..., Any]] = {}
"""Function -> the compiled one, where searches have gone on to that."""


def entry(function: F) -> F:
    """Mark a function that :func:`fast` compiles."""
    ENTRIES.append(function)
    return function


def inner(function: F) -> F:
    """Mark a function that compiled functions call."""
    INNER.append(function)
    return function


def fast(function: F) -> F:
    """Return a function compiled where searches have gone on to that, else as it is."""
    return COMPILED.get(function, function)  # type: ignore[return-value]


@inner
def balance(up: Number, down: Number, balance: Number) -> tuple[Number, Number, Any]:
    """Return factors of the multipliers of both classes, whose sums are up and down, and whether these balance them."""
    least = np.minimum(up + balance, down)
    feasible = (least >= 0.0) & (least >= balance)
    on_plus = np.minimum(np.maximum(least - balance, 0.0) / np.maximum(up, 1e-300), 1.0)
    return on_plus, np.maximum(least, 0.0) / np.maximum(down, 1e-300), feasible


@inner
def of_sample(
    alpha: Number, rest: Number, z: Number, xi: Number, score: Number, caps: Number, gamma: Number, entropy: bool
) -> tuple[Number, Number]:
    """Return Theta and the residual m of a sample, or of each."""
    product = alpha * rest
    theta = product / (z * rest + xi * alpha + dual_curvature(alpha, caps, gamma, entropy) * product)
    return theta, dual_slopes(alpha, caps, gamma, entropy) - score + z - xi


@inner
def of_feature(
    rho: Number, sigma: Number, v: Number, slack: Number, q: Number
) -> tuple[Number, Number, Number, Number, Number]:
    """Return rho / v, 1 / h, sigma q / h, Delta and sigma / (h + q^2) of a free feature, or of each."""
    ratio = rho / v
    h = slack + sigma * ratio
    curved = h + q * q
    return ratio, 1.0 / h, q * sigma / h, h / (sigma * curved), sigma / curved


@inner
def before(
    to_rho: Number,
    to_sigma: Number,
    v: Number,
    sigma: Number,
    ratio: Number,
    box: Number,
    cone: Number,
    inverse_h: Number,
) -> tuple[Number, Number]:
    """Return the parts of d rho and d sigma of a free feature, or of each, that no other step changes."""
    first = to_rho / v - ratio * box
    return first, (to_sigma - sigma * (first + cone)) * inverse_h


@inner
def after(
    d_q: Number,
    paid: Number,
    first: Number,
    second: Number,
    sigma: Number,
    ratio: Number,
    inverse_h: Number,
    slope: Number,
    delta: Number,
) -> tuple[Number, Number, Number]:
    """Return d q, d sigma and d rho of a free feature, or of each, that pays R'd mu."""
    d_q = (d_q + slope * paid) * delta
    d_sigma = second - sigma * inverse_h * paid + slope * d_q
    return d_q, d_sigma, first + ratio * d_sigma


@inner
def longest(fall: Number) -> Number:
    """Return the largest length of a step at which nothing is negative, given the smallest relative change."""
    return -1.0 / np.minimum(fall, -1e-300)
