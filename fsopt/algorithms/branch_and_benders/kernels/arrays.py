"""What compiled functions of a node take: its program, its iterate and work arrays, their products, the decorator."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numba
import numpy as np

from fsopt.common.files import only_mine
from fsopt.typing import Indices, Matrix, Vector

F = TypeVar("F", bound=Callable[..., object])
FLAGS = {"reassoc", "contract", "nsz"}
"""What the compiler may change: the order of sums, and a product and a sum in one. Infinities keep their meaning."""


def kernel(function: F) -> F:
    """Compile a function that Python calls, at its first call, or take it from the cache of an earlier process.

    Where this user has no folder for a cache, a search does not use them: each process would compile again.
    The files of the cache are pickles: whoever can write them has his code run by each process that reads them.
    """
    return _compiled(function)


def inner(function: F) -> F:
    """Compile a function that others call, as :func:`kernel` does, in half of the time: Python does not call it."""
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def _compiled(function: F, **options: bool) -> F:
    settings = {"fastmath": FLAGS, "error_model": "numpy", **options}
    try:
        compiled = numba.njit(function, cache=True, **settings)
        stats = getattr(compiled, "stats", None)  # None where numba is told to compile nothing
        cached = stats is None or only_mine(stats.cache_path, f"*.{function.__name__}-*.nb?")
    except RuntimeError:  # no folder of this user can be written
        cached = False
    return compiled if cached else numba.njit(function, **settings)  # type: ignore[no-any-return]


class NodeProgram(NamedTuple):
    """The program of a node.

    Attributes
    ----------
    A : (F + 1, n) signed samples of the s selected and then the f free features, and the labels.
    caps, gamma : (n,) upper bounds of the multipliers, and the curvature of their term.
    s : number of selected features; ``k`` : of constraints, 0 or 1.
    weight, lam : (f,) coefficients of the constraint, and penalty weights.
    left : right-hand side of the constraint.
    q, constant, balance : (F,) and numbers, of frozen samples.
    """

    A: Matrix
    caps: Vector
    gamma: Vector
    s: int
    k: int
    weight: Vector
    lam: Vector
    left: float
    q: Vector
    constant: float
    balance: float


class NodeIterate(NamedTuple):
    """An iterate: the complementary pairs x and z, q (F,) and the hyperplane (F + 1,), all changed in place."""

    x: Vector
    z: Vector
    q: Vector
    hyperplane: Vector


class StepArrays(NamedTuple):
    """Arrays of a step, with the names of the module in numpy.

    Attributes
    ----------
    theta, margin, shift, score : (n,); ``scaled`` : (F + 1, n).
    cone, box, ratio, inverse, slope, first, second : (f,).
    linear, weight, delta, e, border, solved, dh, dq : (F + 1,); ``matrix`` : of order F + 1.
    dx, dz, target : as x.
    """

    theta: Vector
    margin: Vector
    shift: Vector
    score: Vector
    scaled: Matrix
    cone: Vector
    box: Vector
    ratio: Vector
    inverse: Vector
    slope: Vector
    first: Vector
    second: Vector
    linear: Vector
    weight: Vector
    delta: Vector
    e: Vector
    border: Vector
    solved: Vector
    dh: Vector
    dq: Vector
    matrix: Matrix
    dx: Vector
    dz: Vector
    target: Vector


@inner
def factorise(A: Matrix) -> bool:
    """Replace the lower triangle of A by its Cholesky factor, with the inverse of its diagonal; False without one."""
    for i in range(len(A)):
        for j in range(i):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            A[i, j] = total * A[j, j]
        total = A[i, i]
        for k in range(i):
            total -= A[i, k] * A[i, k]
        if not total > 0.0:
            return False
        A[i, i] = 1.0 / np.sqrt(total)
    return True


@inner
def solve_factor(L: Matrix, b: Vector) -> None:
    """Replace b by the solution x of L L'x = b, of a factor with the inverse of its diagonal."""
    for i in range(len(L)):
        total = b[i]
        for k in range(i):
            total -= L[i, k] * b[k]
        b[i] = total * L[i, i]
    for i in range(len(L) - 1, -1, -1):
        b[i] *= L[i, i]
        for k in range(i):
            b[k] -= L[i, k] * b[i]


@inner
def scores(A: Matrix, hyperplane: Vector, out: Vector) -> None:
    """Write hyperplane'A (n,) to out."""
    for i in range(len(out)):
        out[i] = 0.0
    for j in range(len(A)):
        for i in range(len(out)):
            out[i] += hyperplane[j] * A[j, i]


@inner
def products(A: Matrix, alpha: Vector, out: Vector) -> None:
    """Write A alpha (F + 1,) of the first n entries of alpha to out."""
    for j in range(len(A)):
        total = 0.0
        for i in range(A.shape[1]):
            total += A[j, i] * alpha[i]
        out[j] = total


@inner
def falling(value: Vector, order: Indices) -> None:
    """Write the places of values by falling value to order, by heapsort: that of numpy takes seconds to compile."""
    n = len(order)
    for i in range(n):
        order[i] = i
    for k in range(n // 2 + n - 1):
        # First every place is made a heap, with the smallest value on top; then the top goes to the end.
        top, end = (n // 2 - 1 - k, n) if k < n // 2 else (0, n // 2 + n - 1 - k)
        if k >= n // 2:
            order[0], order[end] = order[end], order[0]
        here, child = top, 2 * top + 1
        while child < end:
            if child + 1 < end and value[order[child + 1]] < value[order[child]]:
                child += 1
            if value[order[here]] <= value[order[child]]:
                break
            order[here], order[child] = order[child], order[here]
            here, child = child, 2 * child + 1


@inner
def work_of(n: int, F: int, f: int, N: int) -> StepArrays:
    """Return arrays for programs of a size."""
    S = np.empty((4, n))
    V = np.zeros((8, F + 1))
    W = np.empty((7, f))
    D = np.zeros((3, N))
    V[2] = 1.0
    return StepArrays(
        S[0],
        S[1],
        S[2],
        S[3],
        np.empty((F + 1, n)),
        W[0],
        W[1],
        W[2],
        W[3],
        W[4],
        W[5],
        W[6],
        V[0],
        V[1],
        V[2],
        V[3],
        V[4],
        V[5],
        V[6],
        V[7],
        np.empty((F + 1, F + 1)),
        D[0],
        D[1],
        D[2],
    )
