r"""Second-order cones recognised from plain quadratic constraints.

A constraint :math:`q(x) = x'Qx + a'x + d \le 0` is a second-order cone in two cases, and is refused with a reason in
every other case:

* :math:`Q = F'F \succeq 0`: then :math:`\|(2Fx,\, 1 + a'x + d)\| \le 1 - a'x - d`
  (or :math:`\|Fx\| \le \sqrt{-d}` if :math:`a = 0` and :math:`d \le 0`);
* :math:`Q` has exactly one negative eigenvalue :math:`-\lambda` with eigenvector :math:`u`, and
  :math:`q(x) = (x - z)'Q(x - z) + d'` with :math:`d' \ge 0`, and the bounds of the variables imply
  :math:`u'(x - z) \ge 0`: then :math:`\|(F(x - z),\, \sqrt{d'})\| \le \sqrt\lambda\,u'(x - z)` with
  :math:`F'F = Q + \lambda uu'`. Rotated cones :math:`w^2 + d' \le s t` with affine :math:`s, t \ge 0` are of this kind.
  The eigenvectors of a product of two linear forms are the sum and the difference of these forms brought to equal
  length, so the cone is balanced in all units of the data.

Rank and signs are those of Q in units of the variables in which its diagonal is 1: a congruence keeps them (Sylvester),
and no unit of a variable decides what is a rounding error. What floating-point numbers cannot tell is decided in whole
numbers: :func:`_eliminated`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from fsopt.compiler.cones import Cone
from fsopt.compiler.expressions import ConstraintRow
from fsopt.typing import Indices, Matrix, Vector

ZERO = 2.0**-50
"""What the rounding of products like X'X leaves of a zero, for each variable: an eigenvalue or pivot of k variables in
their own units (:func:`unit_diagonal`) is zero up to k times this, a sum up to this fraction of its terms."""
PASSES = 20
"""Largest number of passes over a quadratic form for its units; each halves the distance of their logarithms."""
LARGE = 500
"""Terms from which a sum of squares is recognised without the matrix of its quadratic form."""
NEARLY_FLAT = 1e-8
"""Eigenvalues below this fraction of the largest one have lost digits or their sign: :func:`_eliminated` has them."""
FEW = 40
"""Largest number of variables for which whole numbers decide what floating-point numbers cannot tell."""
DIGITS, DUST = 2.0**160, 2**60
"""Unit of the whole numbers in :func:`_eliminated`, and what their own rounding leaves of a zero."""
ROUNDING = 1e-15
"""Entries of normed eigenvectors below this count as zero, so that the cones stay sparse."""


def recognise(
    rows: Sequence[ConstraintRow], column: dict[int, int], lb: Vector, ub: Vector
) -> tuple[list[Cone], list[tuple[ConstraintRow, str]]]:
    """Return the cones of quadratic constraints as read, and (row, reason) of every other constraint."""
    cones: list[Cone] = []
    refused: list[tuple[ConstraintRow, str]] = []
    known: dict[tuple[bytes, bytes], tuple[Vector, Matrix, Vector, Matrix, float]] = {}
    for row in rows:
        sense = 1.0 if isfinite(row.hi) else -1.0
        entries, values = _body(row, sense, column)
        found: Cone | str = "a quadratic equation or range is not convex"
        if not (isfinite(row.lo) and isfinite(row.hi)):
            found = _cone(entries, values, lb, ub, known)
        if isinstance(found, str):
            refused.append((row, found))
        else:
            cones.append(found._replace(constraint=row.constraint, sense=sense, body=(entries, values)))
    return cones, refused


def _body(row: ConstraintRow, sense: float, column: dict[int, int]) -> tuple[Indices, Vector]:
    """Return the function q of a constraint ``q(x) <= 0`` as entries of a body of a ConeStack, the constant last."""
    n = len(column)
    linear = ((j, n, v) for j, v in row.terms.affine(column).items())
    sums = {n * (n + 2): row.terms.constant - (row.hi if sense > 0 else row.lo)}
    for i, j, v in (*row.terms.quadratic, *linear):
        entry = min(i, j) * (n + 1) + max(i, j)
        sums[entry] = sums.get(entry, 0.0) + v
    entries = sorted(sums)
    return np.array(entries), sense * np.array([sums[entry] for entry in entries])


def _cone(entries: Indices, values: Vector, lb: Vector, ub: Vector, known: dict[Any, Any]) -> Cone | str:
    """Return the cone of a function, without its constraint, or why there is none; ``known`` grows by its squares."""
    first, second = np.divmod(entries, len(lb) + 1)
    norm = _norm(first, values, lb) if len(entries) > LARGE and (first == second).all() else None
    if norm is not None:
        return norm
    columns, places = np.unique([first, second], return_inverse=True)
    places, columns = places.reshape(2, -1), columns[:-1]
    key = places.tobytes(), values.tobytes()
    if key not in known:
        half = np.zeros((len(columns) + 1,) * 2)
        half[places[0], places[1]] = 0.5 * values
        known[key] = _squares(half + half.T)
    units, whole, signs, forms, rest = known[key]
    heads, tails = forms[signs < 0], forms[signs > 0]
    if not len(heads):
        G, h, scale, pair = _convex_quadratic(tails[:, :-1], 2.0 * whole[:-1, -1], float(whole[-1, -1]))
    else:
        sign = _branch(heads[0], lb[columns] / units, ub[columns] / units)
        reason = "" if sign else "the bounds do not separate its two branches (give its larger part lower bounds 0)"
        if len(heads) > 1:
            reason = f"its quadratic part has {len(heads)} negative eigenvalues"
        elif rest < 0:
            reason = "its quadratic part has a negative eigenvalue beside linear terms or a constant"
        if reason:
            return f"it is not convex: {reason}"
        G, h, scale, pair = _one_branch(np.vstack([sign * heads, tails]), rest)
    row, place = np.nonzero(G)
    return Cone((row, columns[place], G[row, place] / units[place]), h, scale, pair)


def _norm(columns: Indices, values: Vector, lb: Vector) -> Cone | None:
    """Return the cone of ``sum_j c_j x_j^2 <= d`` or ``<= c_0 x_0^2``, x_0 >= 0, the constant -d last; or None."""
    squares, bound = values[:-1], -values[-1]
    head, tail = np.flatnonzero(squares < 0), np.flatnonzero(squares > 0)
    h = np.zeros(1 + len(tail))
    if len(head) == 0 and bound >= 0:
        h[0] = np.sqrt(bound)
    elif len(head) != 1 or bound != 0 or lb[columns[head[0]]] < 0:
        return None
    which = np.concatenate([head, tail])
    line = np.concatenate([np.zeros(len(head), dtype=int), 1 + np.arange(len(tail))])
    return Cone((line, columns[which], np.sqrt(np.abs(squares[which]))), h)


def _convex_quadratic(F: Matrix, a: Vector, d: float) -> tuple[Matrix, Vector, float, int]:
    """Return the cone of ``||F x||^2 + a'x + d <= 0``, its scale and its pair; that of a negative bound is empty."""
    h = np.zeros(1 + len(F))
    if not a.any() and d <= 0:
        h[0] = sqrt(-d)
        return np.pad(F, ((1, 0), (0, 0))), h, 1.0, 0
    # ||Fx||^2 <= -(a'x + d) =: u is ||(2 sqrt(f) Fx, f - u)|| <= f + u, as (f + u)^2 - (f - u)^2 = 4 f u. With f
    # of the size of d, the sum and the difference keep the digits of both.
    f = 4.0 ** float(np.round(np.log2(abs(d) or 1.0) / 2))
    h[0] = f - d
    return np.vstack([-a, 2 * np.sqrt(f) * F, a]), np.append(h, f + d), 0.25 / f, 1 + len(F)


def _one_branch(forms: Matrix, rest: float) -> tuple[Matrix, Vector, float, int]:
    """Return the cone of forms, the head first; a row in the same variables as the head is its pair."""
    used = forms[:, :-1] != 0
    alike = 1 + np.flatnonzero(np.all(used[1:] == used[0], axis=1))
    pair = int(alike[0]) if len(alike) and np.count_nonzero(used[0]) > 1 else 0
    if rest > 0:
        forms = np.pad(forms, ((0, 1), (0, 0)))
        forms[-1, -1] = sqrt(rest)
    return forms[:, :-1], forms[:, -1], 1.0, pair


def _branch(head: Vector, low: Vector, high: Vector) -> float:
    """Return the sign with which the bounds imply ``head'(x, 1) >= 0``, 0 where they imply none."""
    for sign in (1.0, -1.0):
        ends = np.append(np.where(sign * head[:-1] > 0, low, high), 1.0)
        terms = sign * head * np.where(head == 0, 0.0, ends)
        if isfinite(lowest := terms.sum()) and lowest >= -ZERO * np.abs(terms).sum():
            return sign
    return 0.0


def _squares(whole: Matrix) -> tuple[Vector, Matrix, Vector, Matrix, float]:
    """Return units (k,), the matrix in them, and s (k,), f (k, k + 1), d with ``q(x) = sum_i s_i f_i(x, 1)^2 + d``.

    The matrix (k + 1, k + 1) is that of q(x) in (x, 1); d is -inf if q is unbounded where all squares are 0.
    """
    k = len(whole) - 1
    units = unit_diagonal(whole[:k, :k])
    whole = np.append(units, 1.0)[:, None] * whole * np.append(units, 1.0)
    Q, a = whole[:k, :k], 2.0 * whole[:k, k]
    values, vectors = _eigen(Q)
    flat, sizes = values == 0, np.abs(values)
    slopes = a @ vectors
    steps = np.where(flat, 0.0, slopes / np.where(flat, 1.0, 2.0 * values))
    forms = np.sqrt(sizes)[:, None] * np.column_stack([vectors.T, steps])
    signs, rest = np.sign(values), float(whole[k, k] - np.sum(values * steps**2))
    if np.any(flat & (np.abs(slopes) > ZERO * k * np.abs(a).max(initial=0.0))):
        rest = -np.inf
    null = flat & (np.abs(Q @ vectors).max(axis=0, initial=0.0) <= ZERO) & (not a.any())
    nearly = ~null & Q.any(axis=0) & (sizes < NEARLY_FLAT * sizes.max(initial=0.0))
    terms = abs(whole[k, k]) + np.sum(forms[:, -1] ** 2)
    doubtful = nearly.any() and np.count_nonzero(values) > 1  # one square alone has all of its digits
    doubtful |= (values < 0).any() and abs(rest) < NEARLY_FLAT * terms
    if doubtful and k <= FEW and np.sum(values < -NEARLY_FLAT) < 2:
        signs, forms, rest = _eliminated(whole, vectors[:, values.argmin()])
    return units, whole, signs, forms, 0.0 if -ZERO * terms <= rest < 0 else rest


def _eliminated(whole: Matrix, start: Vector) -> tuple[Vector, Matrix, float]:
    """Return signs s (k,), rows f (k, k + 1) and d with ``y'My = sum_i s_i (f_i y)^2 + d y_k^2``, each to all digits.

    M is a symmetric matrix (k + 1, k + 1), with y_k = 1 for the linear terms and the constant of a quadratic function.
    A step takes away the square in a direction of the others: ``start`` (k,), where M is not 0 there, and then that of
    the largest entry. d is -inf where products of y_k with other entries are left.
    """
    # Whole numbers of any length: a pivot of 1e-12 is a difference of ones, of which doubles keep four digits.
    k = len(whole) - 1
    size = max(np.abs(whole[k, :k]).max(), np.sqrt(abs(whole[k, k]))) or 1.0
    unit = np.append(np.ones(k), 2.0 ** -np.ceil(np.log2(size)))
    integers = np.vectorize(int, otypes=[object])
    rest, way = integers(unit[:, None] * whole * unit * DIGITS), integers(np.append(start, 0.0) * DIGITS)
    small, lost = (int(ZERO * k * size) for size in (DIGITS, max(abs(rest[k, :k]))))
    signs, forms = np.zeros(k), np.zeros((k, k + 1))
    while any(way):
        line = rest @ way
        pivot = line @ way
        if abs(pivot) > small * int(DIGITS) ** 2:
            place = np.count_nonzero(signs)
            signs[place] = 1.0 if pivot > 0 else -1.0
            forms[place] = line / sqrt(abs(pivot) * int(DIGITS)) / unit
            rest = rest - np.outer(line, line) // pivot
            rest[abs(rest) < DUST] = 0
        i, j = divmod(int(abs(rest[:k, :k]).argmax()), k)
        way[:] = 0
        if abs(rest[i, j]) > small:
            way[[i, j]] = int(DIGITS), int(DIGITS) * (1 if (rest[i, i] + rest[j, j]) * rest[i, j] >= 0 else -1)
    d = rest[k, k] / DIGITS / unit[k] ** 2 if max(abs(rest[k, :k])) <= lost else -np.inf
    return signs, forms, d


def _eigen(Q: Matrix) -> tuple[Vector, Matrix]:
    """Return the eigenvalues (k,) and the eigenvectors (k, k) of a symmetric matrix."""
    # Blocks of variables without common terms are decomposed separately: each is as sparse as its terms.
    values, vectors = np.diagonal(Q).copy(), np.eye(len(Q))
    pattern = Q != 0
    np.fill_diagonal(pattern, False)
    label = sp.csgraph.connected_components(sp.csr_matrix(pattern), directed=False)[1]
    for name in np.unique(label[pattern.any(axis=0)]):
        block = np.flatnonzero(label == name)
        found, turn = np.linalg.eigh(Q[np.ix_(block, block)])
        values[block] = np.where(np.abs(found) > ZERO * len(block), found, 0.0)
        vectors[np.ix_(block, block)] = np.where(np.abs(turn) < ROUNDING, 0.0, turn)
    return values, vectors


def unit_diagonal(Q: Matrix) -> Vector:
    """Return powers of 2 (k,) with which the rows of ``units_i Q_ij units_j`` (k, k) have a largest size near 1.

    Where Q is positive semidefinite, its diagonal gives them; a row whose diagonal is 0 has those of its largest entry.
    """
    sizes = np.abs(Q)
    diagonal = np.diagonal(sizes)
    units = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    for _ in range(PASSES):
        largest = (units[:, None] * sizes * units).max(axis=1, initial=0.0)
        if np.all((largest == 0.0) | ((largest > 0.5) & (largest < 2.0))):
            break
        units = units / np.sqrt(np.where(largest > 0.0, largest, 1.0))
    return np.asarray(np.exp2(np.round(np.log2(units))))


def lacking(P: sp.csc_matrix) -> Vector | None:
    """Return what the diagonal of a matrix (n, n) lacks to be semidefinite; None beyond the rounding of X'X."""
    diagonal = P.diagonal()
    lack = np.zeros(len(diagonal))
    if sp.triu(P, 1).count_nonzero() == 0:
        return lack if np.all(diagonal >= 0.0) else None
    active = np.flatnonzero(np.diff(P.indptr))
    Q = P[active][:, active].toarray()
    units = unit_diagonal(Q)
    Q = units[:, None] * Q * units
    smallest = np.linalg.eigvalsh(Q)[0]
    told = len(Q) > FEW or abs(smallest) > NEARLY_FLAT
    signs = smallest + ZERO * len(Q) if told else _eliminated(np.pad(Q, (0, 1)), np.eye(1, len(Q))[0])[0]
    lack[active] = max(-smallest, 0.0) / units**2
    return lack if np.all(signs >= 0.0) else None
