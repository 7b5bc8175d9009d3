r"""Equilibration: units of rows, columns and cones in which the entries of a program are of size 1.

Features in raw units make columns with entries that differ by a factor of :math:`10^6`. Solvers then stop early, and a
residual of :math:`10^{-7}` in such units can hide an error of a percent in the objective: solvers get the scaled
program.

The units of rows and columns are those of the least squares :math:`\sum (\log |a_{ij}| + r_i + c_j)^2` (Curtis and
Reid, 1972), finite for every program. Another unit of a row or column changes its own unit and nothing else, so the
scaled program is the same up to the rounding of units. Rounding noise is left out. Further rows are the root of the
diagonal of the objective's matrix and the rows of the cones:

* A second-order cone is invariant under multiplication by a positive number, one unit, and under the automorphism that
  multiplies :math:`f = s_0 + s_r` by k > 0 and divides :math:`g = s_0 - s_r` by k, as :math:`s_0^2 - s_r^2 = fg`. A
  rotated cone :math:`w^2 \le fg` has two units, of f and of g; that of w is the root of their product.
* A matrix S is positive semidefinite iff ESE is, for a diagonal matrix E with a positive diagonal. So the entry (i, j)
  of S has the unit :math:`e_ie_j`.

The sum leaves one factor of each connected part of the program open. It follows from bounds: something in the part is
at least as large as :math:`x \ge l > 0` or :math:`a'x \ge l > 0` says, else at most as large as other bounds say;
beside integers no loose bound makes a unit larger, as a solver's tolerance would hide what an integer pays for. Last, a
column has a unit between the smallest and the largest absolute value that its bounds, or balls, allow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from fsopt.compiler.cones import ConeStack
from fsopt.typing import Indices, Mask, Vector

ROUNDING = 2.0**-45
"""Fraction of the largest entries of its row and column up to which an entry may be rounding noise."""
FAR = 40.0
"""Logarithm from which a bound says nothing of the unit of its row or column: rounding noise, or a loose bound."""
LIGHT = 1e-3
"""Weight of entries that decide where nothing else does: costs, and those of a matrix beside its diagonal."""
STEP = 2.0
"""Logarithms of units are multiples of it: rows and columns of about size 1 stay as they are."""
LIMIT = 400.0
"""Largest logarithm of a unit: products of two are finite."""
ITERATIONS, PRECISION = 200, 1e-6
"""Of the least squares; a chain of n rows takes about 2 n iterations."""


@dataclass(frozen=True)
class Scaling:
    """The units of a program: x = d x' with d in ``columns``, and factors of the ``rows``; both are powers of two.

    s is in the cones iff T s is, with T (k, k) in ``cone`` and its inverse in ``uncone``; multipliers become T'z.
    """

    columns: Vector
    rows: Vector
    cone: sp.csr_matrix
    uncone: sp.csr_matrix


def equilibrate(
    A: sp.csr_matrix,
    row_bounds: tuple[Vector, Vector],
    column_bounds: tuple[Vector, Vector],
    cones: ConeStack,
    curvature: Vector,
    costs: Vector,
    integer: Mask,
) -> Scaling:
    """Return the scaling of rows A (m, n) and columns with their bounds, cones, and an objective.

    Curvature (n,) is the diagonal of its matrix; an integer column has the unit 1, and tells nothing of the others'.
    """
    m, n = A.shape
    least, most = _facts(*(np.concatenate(ends) for ends in zip(row_bounds, column_bounds, strict=True)))
    plain = sp.diags(np.repeat(cones.orders == 0, cones.sizes).astype(float))
    of_cones = plain @ _factors(cones) @ sp.hstack([cones.G, cones.h[:, None]], format="csr")
    U, V = _units_of_rows(m + 2, cones), _units_of_columns(cones, n)
    of_objective = sp.csr_matrix([[*np.sqrt(np.maximum(curvature, 0.0)), 0.0], [*costs, 0.0]])
    every = sp.vstack([sp.hstack([A, 2.0 ** least[:m, None]]), of_objective, of_cones], format="csr")
    every.data = np.abs(every.data) * np.append(~integer, True)[every.indices]
    every.eliminate_zeros()
    weights = _weights(every, m, V)
    row, column = _least_squares(every, weights, U, V)
    sizes = np.append(-(U @ row)[:m], (V @ column)[:n])
    far = np.minimum(most - sizes, 0.0) if integer.any() else most - sizes
    shift = _shift(weights, U, V, least - sizes, far)
    column += shift / np.maximum(V.max(axis=0).toarray().ravel(), 1.0)  # S_ii has twice the unit of i
    units = (V @ (STEP * np.round(column / STEP)))[:n]
    bounded = np.clip(units, np.round(least[m:]), np.round(np.minimum(most[m:], _in_balls(cones))))
    bounded[cones.entries()] = units[cones.entries()]
    columns: Vector = np.where(integer, 1.0, 2.0 ** np.clip(bounded, -LIMIT, LIMIT))
    return Scaling(columns, row_factors(A, columns, integer), *_balance(cones, columns))


def row_factors(A: sp.csr_matrix, columns: Vector, integer: Mask) -> Vector:
    """Return powers of two (m,) that bring entries of rows A to about 1 in the units (n,) of columns: the nearest ones.

    A row that has an entry below 1 and one above it stays as it is: made small, it would be met more loosely. The entry
    of an integer counts in rows of integers alone: a large M beside a binary variable, which keeps its unit, would
    shrink the rest of its row to nothing.
    """
    sizes, rows = np.abs(A.data) * columns[A.indices], np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    others = np.where(integer[A.indices], 0.0, sizes)
    counted = np.where(segment_max(others, A.indptr)[rows] > 0.0, others, sizes)
    largest = segment_max(counted, A.indptr)
    told = counted > ROUNDING * largest[rows]
    smallest = 1.0 / _positive(segment_max(np.where(told, 1.0 / np.where(told, counted, 1.0), 0.0), A.indptr))
    nearest = np.clip(0.0, np.log2(smallest), np.log2(_positive(largest)))
    return np.asarray(2.0 ** (-STEP * np.round(nearest / STEP)))


def segment_max(values: Vector, indptr: Indices) -> Vector:
    """Return the largest value of each segment, 0 for an empty one."""
    result = np.zeros(len(indptr) - 1)
    filled = np.flatnonzero(np.diff(indptr))
    if len(filled):
        result[filled] = np.maximum.reduceat(values, indptr[:-1][filled])
    return result


def _positive(sizes: Vector) -> Vector:
    """Return the sizes, 1 in the place of 0."""
    return np.where(sizes > 0.0, sizes, 1.0)


# -- the least squares ------------------------------------------------------------------------------------


def _pairs(cones: ConeStack) -> tuple[Indices, Indices]:
    """Return the rows of the rotated cones whose sum and difference are the two factors."""
    paired = np.flatnonzero(cones.pairs)
    return cones.starts[paired], cones.starts[paired] + cones.pairs[paired]


def _factors(cones: ConeStack) -> sp.csr_matrix:
    """Return the matrix (k, k) that puts the two factors of each rotated cone in the place of its head and tail."""
    (head, tail), places = _pairs(cones), np.arange(len(cones.h))
    values = np.ones(len(places) + 2 * len(head))
    values[tail] = -1.0
    ij = np.concatenate([places, head, tail]), np.concatenate([places, tail, head])
    return sp.csr_matrix((values, ij), shape=(len(places),) * 2)


def _units_of_rows(m: int, cones: ConeStack) -> sp.csr_matrix:
    """Return the matrix from logarithms of units to those of rows: a cone has one unit, a rotated one has two."""
    k, count = len(cones.h), len(cones)
    block, (head, tail) = np.repeat(np.arange(count), cones.sizes), _pairs(cones)
    first = np.where(cones.pairs > 0, 0.5, 1.0)[block]
    second = 1.0 - first
    first[head], first[tail] = 1.0, 0.0
    second[head], second[tail] = 0.0, 1.0
    parts = [sp.csr_matrix((part, (np.arange(k), block)), shape=(k, count)) for part in (first, second)]
    return sp.block_diag([sp.identity(m), sp.hstack(parts)], format="csr")


def _units_of_columns(cones: ConeStack, n: int) -> sp.csr_matrix:
    """Return the matrix from logarithms of units to those of columns and of constants, 0; entries of matrices share."""
    entries, orders = cones.entries(), cones.orders[cones.orders > 0]
    own = np.setdiff1d(np.arange(n), entries)
    triangles = [np.tril_indices(order) for order in orders]  # its rows are the columns of the upper triangle
    first = n + np.cumsum(orders) - orders
    units = [np.concatenate([[], *(t[k] + f for t, f in zip(triangles, first, strict=True))]) for k in (0, 1)]
    rows, places = np.concatenate([own, entries, entries]), np.concatenate([own, *units]).astype(int)
    return sp.csr_matrix((np.ones(len(rows)), (rows, places)), shape=(n + 1, n + int(orders.sum())))


def _weights(every: sp.csr_matrix, objective: int, V: sp.csr_matrix) -> sp.csr_matrix:
    """Return the weights of the entries in the sum; ``objective`` is the first of the two rows of the objective."""
    turned = every.tocsc()
    of_rows = np.repeat(segment_max(every.data, every.indptr), np.diff(every.indptr))
    of_columns = np.append(segment_max(turned.data, turned.indptr)[:-1], np.inf)[every.indices]
    weights = (every.data > ROUNDING * np.minimum(of_rows, of_columns)).astype(float)
    curved, costs = (slice(*every.indptr[row : row + 2]) for row in (objective, objective + 1))
    weights[curved] *= np.bincount(every.indices)[every.indices[curved]]  # as much as all other entries of its column
    weights[costs] *= LIGHT
    weights[(np.diff(V.indptr) == 2)[every.indices]] *= LIGHT
    return sp.csr_matrix((weights, every.indices, every.indptr), shape=every.shape)


def _least_squares(every: sp.csr_matrix, W: sp.csr_matrix, U: sp.csr_matrix, V: sp.csr_matrix) -> tuple[Vector, Vector]:
    """Return logarithms u, v: the entries, weighted by W, are near 1 in the units Uu of rows and Vv of columns."""
    from scipy.sparse.linalg import lsqr

    root = np.sqrt(W.data)
    rows = np.repeat(np.arange(every.shape[0]), np.diff(every.indptr))
    M = sp.hstack([U[rows], V[every.indices]], format="csr")
    M.data *= np.repeat(root, np.diff(M.indptr))
    units = 1.0 / np.sqrt(_positive(np.asarray(np.bincount(M.indices, M.data**2, M.shape[1]), float)))
    M.data *= units[M.indices]
    goal = -root * np.log2(every.data)
    z = units * lsqr(M, goal, atol=PRECISION, btol=PRECISION, iter_lim=ITERATIONS)[0]
    return z[: U.shape[1]], z[U.shape[1] :]


# -- the factor of each connected part ----------------------------------------------------------------------


def _facts(low: Vector, high: Vector) -> tuple[Vector, Vector]:
    """Return logarithms: at least as large as the first, -inf without such a fact, at most as the second, or inf."""
    least, most = np.maximum(np.maximum(low, -high), 0.0), np.maximum(np.abs(low), np.abs(high))
    with np.errstate(divide="ignore"):
        return np.log2(least), np.log2(np.where(most > 0.0, most, np.inf))


def _shift(W: sp.csr_matrix, U: sp.csr_matrix, V: sp.csr_matrix, least: Vector, most: Vector) -> Vector:
    """Return what the logarithms of the units of columns grow by, the same in a connected part without constants.

    W are weights of entries, 0 where they do not count; facts are those of rows, then columns, relative to their units.
    """
    n, k = V.shape[0] - 1, U.shape[1]
    counted = W > 0.0
    links = U.T @ counted @ V
    part = sp.csgraph.connected_components(sp.bmat([[None, links], [links.T, None]]), directed=False)[1]
    place = np.append(part[: len(least) - n], part[k + V.indices[V.indptr[:n]]])
    low, high = np.full(len(part), -np.inf), np.full(len(part), np.inf)
    np.maximum.at(low, place, least)
    np.minimum.at(high, place, most)
    found = np.where(np.abs(low) <= np.abs(high), low, high)
    fixed = np.bincount(part[:k], U.T @ counted[:, [n]].toarray().ravel(), len(part)) > 0.0
    return np.asarray(np.where(fixed | ~(np.abs(found) <= FAR), 0.0, found)[part[k:]])


# -- the cones ----------------------------------------------------------------------------------------------


def _in_balls(cones: ConeStack) -> Vector:
    """Return the logarithms (n,) of the largest values of columns in balls ``||Fx + g|| <= r``, inf without one."""
    h, G = np.abs(cones.h), cones.G.tocoo()
    heads = cones.starts[:-1]
    inside = (np.diff(cones.G.indptr)[heads] == 0) & (cones.orders == 0) & (cones.pairs == 0) & (h[heads] > 0.0)
    told = np.flatnonzero(np.repeat(inside, cones.sizes)[G.row] & (G.data != 0.0))
    most = np.full(G.shape[1], np.inf)
    radius = np.repeat(h[heads], cones.sizes)[G.row[told]]
    np.minimum.at(most, G.col[told], np.log2((radius + h[G.row[told]]) / np.abs(G.data[told])))
    return most


def _balance(cones: ConeStack, columns: Vector) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Return T (k, k) and its inverse: an automorphism of each rotated cone, then division of each cone by its size.

    Without the automorphism f of size 1e-6 beside g of size 1e6 is a difference below a solver's tolerance.
    """
    if not len(cones):
        return sp.csr_matrix((0, 0)), sp.csr_matrix((0, 0))
    K, (head, tail) = _factors(cones), _pairs(cones)
    size = (abs(K @ cones.G) @ sp.diags(columns)).max(axis=1).toarray().ravel()
    size = np.maximum(size, np.abs(K @ cones.h))
    f, g = size[head], size[tail]
    factor = np.where(f * g > 0.0, 2.0 ** np.round(np.log2(_positive(g) / _positive(f)) / 2.0), 1.0)
    size[head] = size[tail] = np.maximum(f * factor, g / factor)
    largest = _positive(np.maximum.reduceat(size, cones.starts[:-1]))
    unit = np.repeat(2.0 ** np.round(np.log2(largest)), cones.sizes)
    unit[np.repeat(cones.orders > 0, cones.sizes)] = columns[cones.entries()]
    unit[head], unit[tail] = unit[head] / factor, unit[tail] * factor
    back = sp.diags(1.0 / np.diff(K.indptr)) @ K  # K is its own inverse up to the factor 2 of each pair
    return sp.csr_matrix(back @ sp.diags(1.0 / unit) @ K), sp.csr_matrix(back @ sp.diags(unit) @ K)
