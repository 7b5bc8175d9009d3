r"""Equilibration: scaling factors that bring columns, rows and cones of a program to comparable size.

Features in raw units make columns with entries that differ by a factor of :math:`10^6`. Solvers then stop early, and a
residual of :math:`10^{-7}` in such units can hide an error of a percent in the objective: solvers get the scaled
program. Bounds and right-hand sides fix units only near the levels of rows and columns.

A second-order cone is invariant under multiplication by a positive number, and under the automorphism that multiplies
:math:`f = s_0 + s_r` by k > 0 and divides :math:`g = s_0 - s_r` by k, as :math:`s_0^2 - s_r^2 = fg`. So a rotated cone
:math:`w^2 \le fg` stays the same set while its two factors become equally large.

A matrix S is positive semidefinite iff ESE is, for a diagonal matrix E with a positive diagonal. So the entry (i, j) of
S gets the unit :math:`e_ie_j`, with :math:`e_i^2` the unit of the constraint that states the entry (i, i).

Levels are the sizes that coefficients and the facts in bounds give to rows and columns. The coefficients alone give
units up to one factor for each connected part of the program: those in which they are about 1, and which are closest to
1 themselves. The factor follows from facts, which are one-sided:

* :math:`x \ge l > 0`, or :math:`a'x \ge l > 0`: something is at least as large as l;
* :math:`|x| \le u`, or :math:`a'x \le u` without a negative term: nothing there is larger than u.

The factor is the largest of the first or the smallest of the others, that of rows before that of columns, the nearer
one, and 1 if both are far. So a right-hand side of :math:`10^{-16}` in the place of 0, a bound :math:`x \ge 10^{-12}`
that stands for :math:`x > 0` and a loose bound :math:`10^{10}` decide nothing where another fact does, and a bound that
is far from the level of its row or column says nothing about its unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from fsopt.compiler.cones import ConeStack
from fsopt.typing import Indices, Mask, Vector

DRIFT = 3.0
"""Logarithm by which the unit of an equation of a norm has to exceed that of the norm to be replaced by it."""
WINDOW = 20.0
"""Distance, as a logarithm, at which a bound says nothing about a unit."""
ALTERNATIONS = 3
"""Alternations between the units of rows and columns; they change little after three."""
PASSES = 5
"""Alternations of the least-squares units; they need not be exact."""


@dataclass(frozen=True)
class Scaling:
    """The units of a program.

    Attributes
    ----------
    columns : (n,) d with x = d x'; powers of two.
    rows : (m,) factors of the rows: the largest entry of a row of A becomes about 1, or its bound does.
    cone : (k, k) block-diagonal T; s is in the cones iff T s is. With z the multipliers of the scaled rows, T'z are
        multipliers of the original rows.
    uncone : the inverse of T.
    """

    columns: Vector
    rows: Vector
    cone: sp.csr_matrix
    uncone: sp.csr_matrix


@dataclass(frozen=True)
class _Matrices:
    """The columns (t,) of a program that are entries of upper triangles of matrices, and where each is."""

    columns: Indices
    first: Indices
    second: Indices

    @staticmethod
    def of(cones: ConeStack) -> _Matrices:
        """Return those of the cones of a program."""
        orders = cones.orders[cones.orders > 0]
        triangles = [np.tril_indices(order) for order in orders]  # its rows are the columns of the upper triangle
        starts = np.cumsum(orders) - orders
        places = [np.concatenate([[], *(t[k] + s for t, s in zip(triangles, starts, strict=True))]) for k in (1, 0)]
        return _Matrices(cones.entries(), *(place.astype(int) for place in places))

    def units(self, stated: Vector) -> Vector:
        """Return logarithms (t,) of the units of the entries from those of their constraints; even for a square."""
        diagonal = stated[self.first == self.second]
        e = np.round(np.where(np.isfinite(diagonal), diagonal, 0.0) / 2)  # the constraint may have no other column
        units: Vector = e[self.first] + e[self.second]
        return units


def equilibrate(
    A: sp.csr_matrix,
    row_bounds: tuple[Vector, Vector],
    column_bounds: tuple[Vector, Vector],
    cones: ConeStack,
    curvature: Vector | None = None,
    integer: Mask | None = None,
) -> Scaling:
    """Return the scaling of a program: linear rows A (m, n), columns, and cones.

    A finite nonzero bound near the level of its row or column fixes the unit, and so does the curvature of the
    objective along a column. The other units follow by turns: the unit of a column makes the largest entry of the
    column 1 in the units of its rows, the unit of a row is the largest entry of the row in the units of its columns.
    The cones come last.

    Parameters
    ----------
    row_bounds, column_bounds : lower and upper bounds (m,) of the rows and (n,) of the columns.
    curvature : (n,) diagonal of the matrix of the objective; 1 for a variable of another nonlinear term.
    integer : (n,) mask of the integer columns.
    """
    m, radii = A.shape[0], _radii(cones)
    balls = np.repeat(radii > 0, cones.sizes)
    if balls.any():
        # In a ball ||Fx|| <= r every row of F has the bounds -r and r, so its columns get units from these rows too.
        A = sp.csr_matrix(sp.vstack([A, cones.G[balls]]))
        radius = np.repeat(radii, cones.sizes)[balls]
        row_bounds = np.append(row_bounds[0], -radius), np.append(row_bounds[1], radius)
    if not np.all(A.data):
        A = A.copy()
        A.eliminate_zeros()
    sizes = np.abs(A.data)
    np.log2(sizes, out=sizes)
    anchored_row, row = _anchor(*row_bounds)
    anchored_column, column = _anchor(*column_bounds)
    if curvature is not None:
        # With x = d x' the curvature q becomes q d^2, which is 1 for d = q^(-1/2).
        curved = (curvature > 0) & ~anchored_column
        column = np.where(curved, -0.5 * np.log2(np.where(curved, curvature, 1.0)), column)
        anchored_column |= curved
    whole = np.zeros(A.shape[1], dtype=bool) if integer is None else integer
    column[whole], anchored_column[whole] = 0.0, True  # another unit would change what is integer
    if max(np.abs(row).max(initial=0.0), np.abs(column).max(initial=0.0)) > WINDOW:
        of_rows, of_columns = levels(A, sizes, facts(A, row_bounds, column_bounds, whole))
        anchored_row &= np.abs(row - of_rows) <= WINDOW
        anchored_column &= (np.abs(column - of_columns) <= WINDOW) | whole
    row = np.where(anchored_row, row, np.inf)
    column = np.where(anchored_column, column, np.inf)
    anchors, matrices = (row, column), _Matrices.of(cones)
    row, column = _alternate(A, sizes, anchors, matrices)
    of_norms = _with_norms(A, sizes, anchors, cones)
    if (row - of_norms[0])[np.isinf(anchors[0])].max(initial=0.0) > DRIFT:
        row, column = _alternate(A, sizes, of_norms, matrices)
    # Powers of two: multiplication by them has no rounding error.
    columns: Vector = 2.0 ** np.round(column)
    return Scaling(columns, 2.0 ** -np.round(row[:m]), *_balance(cones, columns, radii))


def _alternate(
    A: sp.csr_matrix, sizes: Vector, anchors: tuple[Vector, Vector], matrices: _Matrices
) -> tuple[Vector, Vector]:
    """Return logarithms of the units of rows and columns; ``anchors`` are those that are fixed, inf the others."""
    turned = sp.csr_matrix((sizes, A.indices, A.indptr), shape=A.shape).tocsc()
    fixed_row, fixed_column = (np.isfinite(part) for part in anchors)
    row, column = anchors
    entries = matrices.columns
    work = np.empty_like(sizes)  # as long as the data: a new array for each term would take most of the time

    def of_rows(units: Vector) -> Vector:
        # A column without a unit is passed over, and a row of such columns has none.
        found = _largest_sum(A.indices, A.indptr, sizes, np.where(np.isinf(units), -np.inf, units), work)
        return np.where(fixed_row, anchors[0], np.where(np.isinf(found), np.inf, found))

    def of_columns(units: Vector) -> Vector:
        return -_largest_sum(turned.indices, turned.indptr, turned.data, -units, work)

    for _ in range(2 * ALTERNATIONS):
        column = np.where(fixed_column, anchors[1], of_columns(row))
        if len(entries):  # a constraint that states an entry has no unit before its other columns have theirs
            column[entries] = np.inf
            column[entries] = matrices.units(of_columns(of_rows(column))[entries])
        before, row = row, of_rows(column)
        if np.array_equal(before, row):
            if np.isfinite(row).all():
                break  # another pass has the same outcome
            row = np.where(np.isinf(row), 0.0, row)  # nothing fixes the units of these rows: they stay as they are
    return row, column


def _with_norms(
    A: sp.csr_matrix, sizes: Vector, anchors: tuple[Vector, Vector], cones: ConeStack
) -> tuple[Vector, Vector]:
    """Return anchors with a unit for each norm |u| <= t, u = Fw: that of t, of its equations as well."""
    # It is the unit of t in the other rows, or, with t in none, the size of the smallest column of F, of the w that the
    # anchors give a unit. Without it these rows follow a w_j that is next to nothing in the row behind its unit, as in
    # d'w = 1 at a small d_j.
    n, G = A.shape[1], cones.G
    heads = cones.starts[:-1]
    plain = (cones.orders == 0) & (cones.pairs == 0) & (np.diff(G.indptr)[heads] == 1) & (cones.h[heads] == 0.0)
    if not plain.any():
        return anchors
    head = np.append(G.indices, 0)[G.indptr[heads]]
    cone = np.full(n, -1)
    cone[G.indices] = np.repeat(np.repeat(np.where(plain, np.arange(len(cones)), -1), cones.sizes), np.diff(G.indptr))
    in_rows = np.bincount(A.indices, minlength=n)
    cone[in_rows != 1] = -1
    cone[head] = -1
    of_row = np.where(np.isinf(anchors[0]), segment_max(cone[A.indices] + 1.0, A.indptr).astype(int) - 1, -1)
    rows, other = np.repeat(of_row, np.diff(A.indptr)), A[of_row < 0]
    column = _alternate(other, sizes[rows < 0], (anchors[0][of_row < 0], anchors[1]), _Matrices.of(cones))[1]
    column = np.where(np.bincount(other.indices, minlength=n) > 0, column, anchors[1])
    direct = anchors[1].copy()
    np.minimum.at(direct, A.indices, np.repeat(anchors[0], np.diff(A.indptr)) - sizes)
    weight = (rows >= 0) & np.isfinite(direct[A.indices])
    pairs, place = np.unique(rows[weight] * n + A.indices[weight], return_inverse=True)
    norms, unit = np.full(len(pairs), -np.inf), np.full(len(cones) + 1, np.inf)
    np.maximum.at(norms, place, (sizes + direct[A.indices])[weight])
    np.minimum.at(unit, pairs // n, norms)
    unit[:-1] = np.where(plain & np.isfinite(column[head]), column[head], unit[:-1])
    row, column = np.where(np.isinf(anchors[0]), unit[of_row], anchors[0]), anchors[1].copy()
    alone = plain & np.isinf(column[head]) & (in_rows[head] == 0)
    column[head[alone]] = unit[:-1][alone]
    return row, column


def _largest_sum(indices: Indices, indptr: Indices, logarithms: Vector, units: Vector, work: Vector) -> Vector:
    """Return for each segment of entries the largest sum of logarithm and unit, 0 for an empty one."""
    np.add(logarithms, np.take(units, indices, out=work, mode="clip"), out=work)
    return segment_max(work, indptr)


def _radii(cones: ConeStack) -> Vector:
    """Return the radius r of each cone of the form ``||Fx + g|| <= r`` with a constant r, 0 for the others."""
    heads = cones.starts[:-1]
    constant = (np.diff(cones.G.indptr)[heads] == 0) & (cones.orders == 0) & (cones.pairs == 0)
    radii: Vector = np.where(constant, cones.h[heads], 0.0)
    return radii


def _anchor(low: Vector, high: Vector) -> tuple[Mask, Vector]:
    """Return a mask of the rows with a finite nonzero bound, and the logarithm of the larger bound (0 elsewhere)."""
    size = np.maximum(np.where(np.isfinite(low), np.abs(low), 0.0), np.where(np.isfinite(high), np.abs(high), 0.0))
    return size > 0, np.log2(np.where(size > 0, size, 1.0))


def segment_max(values: Vector, indptr: Indices) -> Vector:
    """Return the largest value of each segment, 0 for an empty one."""
    result = np.zeros(len(indptr) - 1)
    filled = np.flatnonzero(np.diff(indptr))
    if len(filled):
        result[filled] = np.maximum.reduceat(values, indptr[:-1][filled])
    return result


def _balance(cones: ConeStack, columns: Vector, radii: Vector) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Return T (k, k) and its inverse: an automorphism of each rotated cone, then division of each cone by its size."""
    # The size of a ball is its radius, of another second-order cone its largest entry; a row of a semidefinite cone is
    # divided by its unit.
    k = len(cones.h)
    if not k:
        return sp.csr_matrix((0, 0)), sp.csr_matrix((0, 0))
    G = cones.G
    scaled = sp.csr_matrix((G.data * columns[G.indices], G.indices, G.indptr), shape=G.shape)
    largest = np.maximum(_largest(scaled), np.abs(cones.h))
    paired = np.flatnonzero(cones.pairs)
    head, tail = cones.starts[paired], cones.starts[paired] + cones.pairs[paired]
    factor = np.ones(0)
    if len(paired):
        # w^2 <= f g with f = head + tail and g = head - tail. The factor sqrt(|g| / |f|) makes the largest entries of
        # both equal to sqrt(|f| |g|). Without it, f of size 1e-6 and g of size 1e6 leave head and -tail equal to twelve
        # digits, and their difference f is smaller than a solver's tolerance.
        upper, lower = scaled[head], scaled[tail]
        high, low = cones.h[head], cones.h[tail]
        f = np.maximum(_largest(upper + lower), np.abs(high + low))
        g = np.maximum(_largest(upper - lower), np.abs(high - low))
        both = (f > 0) & (g > 0)
        factor = np.sqrt(np.where(both, g, 1.0) / np.where(both, f, 1.0))
        even, odd = sp.diags((factor + 1 / factor) / 2), sp.diags((factor - 1 / factor) / 2)
        largest[head] = np.maximum(_largest(even @ upper + odd @ lower), np.abs(even @ high + odd @ low))
        largest[tail] = np.maximum(_largest(odd @ upper + even @ lower), np.abs(odd @ high + even @ low))
    size = np.maximum.reduceat(largest, cones.starts[:-1])
    size = np.where(radii > 0, radii, size)
    block = np.repeat(np.where(size > 0, size, 1.0), cones.sizes)
    block[np.repeat(cones.orders > 0, cones.sizes)] = columns[cones.entries()]
    turn, unturn = _hyperbolic_turn(k, head, tail, factor), _hyperbolic_turn(k, head, tail, 1 / factor)
    turn.data /= np.repeat(block, np.diff(turn.indptr))
    unturn.data *= block[unturn.indices]
    return turn, unturn


def _hyperbolic_turn(k: int, head: Indices, tail: Indices, factor: Vector) -> sp.csr_matrix:
    """Return the matrix (k, k) that multiplies s_head + s_tail by the factor and divides s_head - s_tail by it."""
    # With k = e^t this is [[cosh t, sinh t], [sinh t, cosh t]] on (head, tail), and the identity elsewhere.
    even, odd = (factor + 1 / factor) / 2, (factor - 1 / factor) / 2
    every, diagonal = np.arange(k), np.ones(k)
    if not len(head):
        return sp.csr_matrix((diagonal, every, np.arange(k + 1)), shape=(k, k))
    diagonal[head], diagonal[tail] = even, even
    rows, places = np.concatenate([every, head, tail]), np.concatenate([every, tail, head])
    return sp.csr_matrix((np.concatenate([diagonal, odd, odd]), (rows, places)), shape=(k, k))


def _largest(rows: sp.csr_matrix) -> Vector:
    """Return the largest absolute entry of each row, 0 for an empty one."""
    return segment_max(np.abs(rows.data), rows.indptr)


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
