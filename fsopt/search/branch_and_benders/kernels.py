"""The loops that numba compiles over the formulas of a step, for programs with at most one constraint.

In numpy a formula takes arrays, here the numbers of one sample or feature after another: numba takes ten times as long
for a sum of arrays as for the same loop, and to compile it. Functions without an entry here are compiled as they are.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from fsopt.common import jit
from fsopt.common.jit import LOOPS
from fsopt.linear.pieces import EPSILON
from fsopt.search.branch_and_benders import interior_point, newton, relaxation
from fsopt.search.branch_and_benders.newton import System, of_sample
from fsopt.search.branch_and_benders.relaxation import INNER, InteriorPoint, NodeRelaxation, sizes
from fsopt.typing import Matrix, Vector

__all__ = ["LOOPS", "compiled"]

OPTIONS: dict[str, Any] = {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy"}
"""What the compiler may change: the order of sums, and a product and a sum in one. Infinities keep their meaning."""

VALUES = 4
"""Largest number of values of a formula."""
BLOCK = 16
"""Columns of a matrix that are computed at once, from their diagonal on."""


def instead(of: Any) -> Any:
    """Let compiled functions call another one in the place of a function."""
    return jit.instead(of, **OPTIONS)


@cache
def compiled(function: Any) -> Any:
    """Return a function of a search, compiled."""
    return jit.compiled(function, INNER, **OPTIONS)


@instead(relaxation.choice)
def choice(condition: bool, one: float, other: float) -> float:
    """Return one number where a condition holds, else the other."""
    return one if condition else other


def one_of(given: Any, i: int) -> Any:
    """Return the numbers at a place of arrays, and others as they are, as a tuple."""


@overload(one_of, jit_options=OPTIONS, strict=False)
def _one_of(given: Any, i: int) -> Any:
    if not len(given):
        return lambda given, i: ()
    if isinstance(given[0], types.Array):
        return lambda given, i: (given[0][i], *one_of(given[1:], i))
    return lambda given, i: (given[0], *one_of(given[1:], i))


@instead(relaxation.each)
def each(formula: Any, *given: Any) -> Matrix:
    """Return the values of a formula, each of them a row."""
    found = np.empty((VALUES, len(given[0])))
    for i in range(len(given[0])):
        values = formula(*one_of(given, i))
        for k in range(len(values)):
            found[k, i] = values[k]
    return found


def factor(A: Matrix, theta: Vector, delta: Vector) -> Matrix:
    """Return the lower Cholesky factor, with the inverse of its diagonal, of order 0 where the matrix is singular."""
    scaled, L = A * theta, np.empty((len(A), len(A)))
    for a in range(0, len(A), BLOCK):
        L[a:, a : a + BLOCK] = np.dot(scaled[a:], A[a : a + BLOCK].T)
    for i in range(len(delta)):
        L[i, i] += delta[i]
    L[-1, -1] *= 1.0 + EPSILON
    for i in range(len(L)):
        for j in range(i):
            rest = L[i, j]
            for k in range(j):
                rest -= L[i, k] * L[j, k]
            L[i, j] = rest * L[j, j]
        rest = L[i, i]
        for k in range(i):
            rest -= L[i, k] * L[i, k]
        if not rest > 0.0:
            return np.zeros((0, 0))
        L[i, i] = 1.0 / np.sqrt(rest)
    return L


def solved(L: Matrix, b: Vector) -> None:
    """Replace b by the solution of L L'x = b."""
    for i in range(len(L)):
        rest = b[i]
        for k in range(i):
            rest -= L[i, k] * b[k]
        b[i] = rest * L[i, i]
    for i in range(len(L) - 1, -1, -1):
        b[i] *= L[i, i]
        for k in range(i):
            b[k] -= L[i, k] * b[i]


class Factor(NamedTuple):
    """The system of a step with at most one constraint: its factor, the border solved, and the matrix of mu."""

    L: Matrix
    border: Vector
    schur: float


@instead(newton.system)
def system(p: NodeRelaxation, at: InteriorPoint) -> System:
    """Return the system of a step."""
    n, s, F, f, k = sizes(p)
    x, z = at.x, at.z
    mu = at.x[-1] if k else 0.0
    theta, margin = np.empty(n), np.empty(n)
    inverse, cone = np.empty(f), np.empty(f)
    weight, delta = np.ones(F), np.ones(F)
    share, slope = np.ones(F), np.ones(F)
    box, score = np.empty(f), at.hyperplane @ p.A
    for i in range(n):
        theta[i], margin[i] = of_sample(x[i], x[n + i], z[i], z[n + i], score[i], p.caps[i], p.gamma[i], p.entropy)
    linear = p.A @ x[:n]
    linear[F] += p.balance
    for j in range(F):
        linear[j] += p.q[j] - at.q[j]
        weight[j] = at.hyperplane[j] - at.q[j]
    G, left = np.zeros((k, F + 1)), p.r.copy()
    schur = 0.0
    for j in range(f):
        rho, sigma = x[2 * n + j], x[2 * n + f + j]
        v, slack = z[2 * n + j], z[2 * n + f + j]
        q, row = at.q[s + j], p.R[0, j] if k else 0.0
        h = slack + sigma * (rho / v)
        curved = h + q * q
        share[s + j], slope[s + j] = sigma, q / sigma
        delta[s + j], inverse[j] = h / (sigma * curved), sigma / curved
        weight[s + j] = at.hyperplane[s + j] - sigma * q
        cone[j], box[j] = rho + mu * row + p.lam[j] - 0.5 * q * q - slack, 1.0 - sigma - v
        schur += row * row * inverse[j]
        if k:
            G[0, s + j] = row * slope[s + j] * inverse[j]
            left[0] -= row * sigma
    L = factor(p.A, theta, delta)
    border = np.zeros(F + 1)
    if k and len(L):
        left[0] -= z[-1]
        border[:] = G[0]
        solved(L, border)
        schur += z[-1] / mu + np.dot(G[0], border)
    reduced = Factor(L, border, schur)
    return System(len(L) > 0, margin, linear, weight, cone, box, left, box, theta, share, slope, inverse, G, reduced)


@instead(newton.direction)
def direction(
    p: NodeRelaxation, at: InteriorPoint, of: System, aim: float, d_x: Vector, d_z: Vector, d_q: Vector
) -> tuple[Vector, Vector, Vector, Vector, float]:
    """Return the step to complementary products of an aim."""
    n, s, F, f, k = sizes(p)
    x, z = at.x, at.z
    to_x, wanted = np.empty(len(x)), np.empty(len(x))
    for i in range(len(x)):
        wanted[i] = (aim - x[i] * z[i] - d_x[i] * d_z[i]) / x[i]
    for i in range(n):
        to_x[i] = of.theta[i] * (of.margin[i] + wanted[i] - wanted[n + i])
    hyperplane, to_q = p.A @ to_x[:n], np.empty(F)
    weight = of.weight.copy()
    shared, row = np.empty(f), p.R[0] if k else np.zeros(f)
    mu = wanted[-1] - of.left[0] if k else 0.0
    for j in range(f):
        weight[s + j] -= d_x[2 * n + f + j] * d_q[s + j]
    for j in range(F):
        hyperplane[j] += of.linear[j] - weight[j] / of.share[j]
    hyperplane[F] += of.linear[F]
    for j in range(f):
        lifted = (wanted[2 * n + j] - of.box[j]) * x[2 * n + j] / z[2 * n + j]
        pushed = at.q[s + j] * weight[s + j] / of.share[s + j] + 0.5 * d_q[s + j] * d_q[s + j]
        shared[j] = (wanted[2 * n + f + j] - of.cone[j] - lifted + pushed) * of.inverse[j]
        hyperplane[s + j] += of.slope[s + j] * shared[j]
        mu += row[j] * shared[j]
        to_x[2 * n + j] = lifted
    solved(of.reduced.L, hyperplane)
    if k:
        mu = (mu + np.dot(of.G[0], hyperplane)) / of.reduced.schur
        for j in range(F + 1):
            hyperplane[j] -= of.reduced.border[j] * mu
        to_x[-1] = mu
    score = hyperplane @ p.A
    for i in range(n):
        to_x[i] -= of.theta[i] * score[i]
        to_x[n + i] = -to_x[i]
    for j in range(s):
        to_q[j] = (hyperplane[j] + weight[j]) / of.share[j]
    for j in range(f):
        moved = shared[j] + (of.slope[s + j] * hyperplane[s + j] - row[j] * mu) * of.inverse[j]
        to_q[s + j] = (hyperplane[s + j] + weight[s + j] - at.q[s + j] * moved) / of.share[s + j]
        to_x[2 * n + f + j] = moved
        to_x[2 * n + j] += moved * x[2 * n + j] / z[2 * n + j]
    fall = -1e-300
    to_z = wanted
    for i in range(len(x)):
        to_z[i] -= z[i] * to_x[i] / x[i]
        fall = min(fall, to_x[i] / x[i], to_z[i] / z[i])
    return to_x, to_z, to_q, hyperplane, -1.0 / fall


instead(interior_point.charges)(interior_point.charges_alone)
for _function in (factor, solved, *INNER):
    instead(_function)(_function)
