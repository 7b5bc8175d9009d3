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
from dataclasses import dataclass, replace
from math import isfinite, sqrt
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fsopt.compiler.cones import ConeStack
from fsopt.compiler.rows import ConstraintRow
from fsopt.typing import Indices, Mask, Matrix, Vector

Stack: TypeAlias = NDArray[np.float64]
"""Matrices of equal shape, one for each constraint: (N, k, k) or (N, r, k)."""


@dataclass
class Family:
    """N quadratic constraints ``t'Qt + a't + d <= 0`` with the same terms in different variables ``x = units * t``.

    They have positions (N,), columns of variables (N, k), and powers of 2, in which the diagonal of Q is near 1.
    """

    members: Indices
    columns: Indices
    Q: Stack
    a: Stack
    d: Vector
    units: Stack

    def take(self, which: Indices) -> Family:
        """Return the family of some members."""
        return replace(self, **{name: values[which] for name, values in vars(self).items()})


@dataclass
class Cones:
    """N cones of one size: rows G (N r, .) and constants h (N, r), and the rest of a ConeStack."""

    members: Indices
    G: sp.csr_matrix
    h: Stack
    scale: float | Vector = 1.0
    pair: int = 0

    @classmethod
    def of(cls, part: Family, G: Stack, h: Stack, scale: float | Vector = 1.0) -> Cones:
        """Return the cones Gt + h over the columns of a family, as Gx + h in the variables x = units * t."""
        member, row, column = np.nonzero(G)
        values = G[member, row, column] / part.units[member, column]
        places = member * G.shape[1] + row, part.columns[member, column]
        return cls(part.members, sp.csr_matrix((values, places), (h.size, part.columns.max() + 1)), h, scale)


def bodies_of(rows: Sequence[ConstraintRow], senses: Vector, column: dict[int, int]) -> sp.csr_matrix:
    """Return the functions q of constraints ``q(x) <= 0``, as the bodies of a ConeStack, with a constant each."""
    n = len(column)
    terms: list[tuple[int, int, float]] = []
    for k, (row, sense) in enumerate(zip(rows, senses.tolist(), strict=True)):
        constant = row.terms.constant - (row.hi if sense > 0 else row.lo)
        linear = ((j, n, v) for j, v in row.terms.affine(column).items())
        products = (*row.terms.quadratic, *linear, (n, n, constant))
        terms.extend((k, min(i, j) * (n + 1) + max(i, j), sense * v) for i, j, v in products)
    place, entry, values = np.array(terms).reshape(-1, 3).T
    return sp.csr_matrix((values, (place.astype(int), entry.astype(int))), (len(rows), (n + 1) ** 2))


def families(bodies: sp.csr_matrix, n: int, members: Sequence[int]) -> list[Family]:
    """Group functions by the positions of their terms, numbered in the order of their first occurrence."""
    groups: dict[Any, list[tuple[int, list[int]]]] = {}
    for i in members:
        place = {n: -1}
        pairs = []
        for entry in bodies.indices[bodies.indptr[i] : bodies.indptr[i + 1]].tolist():
            j, k = divmod(entry, n + 1)
            pairs.append((place.setdefault(j, len(place) - 1), place.setdefault(k, len(place) - 1)))
        groups.setdefault(tuple(pairs), []).append((i, list(place)[1:]))
    return [_family(bodies, np.array(pairs).T, listed) for pairs, listed in groups.items()]


def _family(bodies: sp.csr_matrix, places: Indices, listed: list[tuple[int, list[int]]]) -> Family:
    """Return the arrays of functions (position, columns) with terms in the same places (2, t), -1 for the constant."""
    members = np.array([i for i, _ in listed])
    columns = np.array([c for _, c in listed], dtype=int)
    half = np.zeros((len(members), *(columns.shape[1] + 1,) * 2))
    half[:, places[0], places[1]] = 0.5 * bodies.data[bodies.indptr[members][:, None] + np.arange(places.shape[1])]
    whole = half + np.swapaxes(half, 1, 2)
    Q = whole[:, :-1, :-1]
    units = unit_diagonal(Q)
    slopes, constants = 2.0 * units * whole[:, :-1, -1], whole[:, -1, -1]
    return Family(members, columns, units[:, :, None] * Q * units[:, None, :], slopes, constants, units)


def unit_diagonal(Q: Stack) -> Stack:
    """Return powers of 2 (N, k) with which the rows of ``units_i Q_ij units_j`` (N, k, k) have a largest size near 1.

    Where Q is positive semidefinite, its diagonal gives them; a row whose diagonal is 0 has those of its largest entry.
    """
    sizes = np.abs(Q)
    diagonal = np.diagonal(sizes, axis1=1, axis2=2)
    units = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    for _ in range(PASSES):
        largest = (units[:, :, None] * sizes * units[:, None, :]).max(axis=2)
        if np.all((largest == 0.0) | ((largest > 0.5) & (largest < 2.0))):
            break
        units /= np.sqrt(np.where(largest > 0.0, largest, 1.0))
    return np.asarray(np.exp2(np.round(np.log2(units))))


def lacking(P: sp.csc_matrix) -> Vector | None:
    """Return what the diagonal of a matrix (n, n) lacks to be semidefinite; None beyond the rounding of X'X."""
    diagonal = P.diagonal()
    lack = np.zeros(len(diagonal))
    if sp.triu(P, 1).count_nonzero() == 0:
        return lack if np.all(diagonal >= 0.0) else None
    active = np.flatnonzero(np.diff(P.indptr))
    Q = P[active][:, active].toarray()
    units = unit_diagonal(Q[None])[0]
    Q = units[:, None] * Q * units
    smallest = np.linalg.eigvalsh(Q)[0]
    told = len(Q) > FEW or abs(smallest) > NEARLY_FLAT
    signs = smallest + ZERO * len(Q) if told else _eliminated(np.pad(Q, (0, 1)), np.eye(1, len(Q))[0])[0]
    lack[active] = max(-smallest, 0.0) / units**2
    return lack if np.all(signs >= 0.0) else None


def stacked(
    found: Sequence[Cones], rows: Sequence[ConstraintRow], senses: Vector, bodies: sp.csr_matrix, n: int
) -> ConeStack:
    """Stack cones in the order of their constraints."""
    for c in found:
        c.G.resize(c.h.size, n)
    tables = (np.stack(np.broadcast_arrays(c.members, c.h.shape[1], c.scale, c.pair)) for c in found)
    table = np.hstack([np.zeros((4, 0)), *tables])
    ends, order = np.cumsum(table[1]).astype(int), np.argsort(table[0])
    members, sizes, pairs = table[:, order][[0, 1, 3]].astype(int)
    moved = np.concatenate([np.zeros(0, int), *map(np.arange, ends[order] - sizes, ends[order])])
    stack = ConeStack(
        G=sp.vstack([sp.csr_matrix((0, n)), *(c.G for c in found)], format="csr")[moved],
        h=np.concatenate([np.zeros(0), *(c.h.ravel() for c in found)])[moved],
        starts=np.append(0, np.cumsum(sizes)),
        constraints=[rows[i].constraint for i in members.tolist()],
        pairs=pairs,
        scale=table[2][order],
        sense=senses[members],
    )
    stack.bodies = bodies[members]
    return stack


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
) -> tuple[ConeStack, list[tuple[str, str]]]:
    """Return the cones of quadratic constraints as read, and (name, reason) of every other constraint."""
    refused: dict[int, str] = {
        i: "a quadratic equation or range is not convex"
        for i, row in enumerate(rows)
        if isfinite(row.lo) and isfinite(row.hi)
    }
    senses = np.array([1.0 if isfinite(row.hi) else -1.0 for row in rows])
    bodies = bodies_of(rows, senses, column)
    others = [i for i in range(len(rows)) if i not in refused]
    norms = {i: cone for i in others if (cone := _norm(bodies, i, lb)) is not None}
    found = [*norms.values()]
    for family in families(bodies, len(lb), [i for i in others if i not in norms]):
        found.extend(_second_order_cones(family, lb, ub, refused))
    names = [(rows[i].constraint.name, refused[i]) for i in sorted(refused)]
    return stacked(found, rows, senses, bodies, len(lb)), names


def _norm(bodies: sp.csr_matrix, place: int, lb: Vector) -> Cones | None:
    """Return the cone of a large constraint ``sum_j c_j x_j^2 <= d`` or ``<= c_0 x_0^2``, x_0 >= 0; or None."""
    terms = slice(bodies.indptr[place], bodies.indptr[place + 1])
    columns, second = np.divmod(bodies.indices[terms], len(lb) + 1)
    if len(columns) <= LARGE or (columns != second).any():
        return None
    values, bound = bodies.data[terms][:-1], -bodies.data[terms][-1]
    head = np.flatnonzero(values < 0)
    tail = np.flatnonzero(values > 0)
    h = np.zeros((1, 1 + len(tail)))
    if len(head) == 0 and bound >= 0:
        h[0, 0] = np.sqrt(bound)
    elif len(head) != 1 or bound != 0 or lb[columns[head[0]]] < 0:
        return None
    line = np.concatenate([np.zeros(len(head), dtype=int), 1 + np.arange(len(tail))])
    which = np.concatenate([head, tail])
    entries = (np.sqrt(np.abs(values[which])), (line, columns[which]))
    return Cones(np.array([place]), sp.csr_matrix(entries, (h.size, len(lb))), h)


def _second_order_cones(family: Family, lb: Vector, ub: Vector, refused: dict[int, str]) -> list[Cones]:
    """Return the cones of a family, one group for each pattern of signs, and enter the others in ``refused``."""
    signs, forms, rest = _squares(family)
    patterns = np.column_stack([signs, family.a.any(axis=1), np.sign(family.d), np.sign(rest)])
    label = np.unique(patterns, axis=0, return_inverse=True)[1].ravel()
    found: list[Cones] = []
    for which in (np.flatnonzero(label == name) for name in np.unique(label)):
        part, pattern = family.take(which), signs[which[0]]
        left = rest[which]
        heads, F = forms[which][:, pattern < 0], forms[which][:, pattern > 0]
        if len(heads[0]) == 0:
            found.append(_convex_quadratics(part, F[:, :, :-1]))
            continue
        reason = "the bounds do not separate its two branches (give its larger part lower bounds 0)"
        if len(heads[0]) > 1:
            reason = f"its quadratic part has {len(heads[0])} negative eigenvalues"
        elif left[0] < 0:
            reason = "its quadratic part has a negative eigenvalue beside linear terms or a constant"
        sign = _branches(heads[:, 0], *(bound[part.columns] / part.units for bound in (lb, ub)))
        sign *= len(heads[0]) == 1 and left[0] >= 0
        refused.update(dict.fromkeys(part.members[sign == 0].tolist(), f"it is not convex: {reason}"))
        if sign.any():
            rows = np.concatenate([sign[:, None, None] * heads, F], axis=1)[sign != 0]
            found.append(_one_branch(part.take(sign != 0), rows, left[sign != 0]))
    return found


def _squares(family: Family) -> tuple[Stack, Stack, Vector]:
    """Return s (N, k), f (N, k, k + 1) and d' (N,), -inf if unbounded: ``q(x) = sum_i s_i f_i(x, 1)^2 + d'``."""
    values, vectors = _eigen(family.Q)
    k, flat = values.shape[1], values == 0
    sizes = np.abs(values)
    slopes = np.einsum("nkj,nk->nj", vectors, family.a)
    steps = np.where(flat, 0.0, slopes / np.where(flat, 1.0, 2.0 * values))
    forms = np.sqrt(sizes)[:, :, None] * np.concatenate([np.swapaxes(vectors, 1, 2), steps[:, :, None]], axis=2)
    signs, rest = np.sign(values), family.d - np.sum(values * steps**2, axis=1)
    error = ZERO * k * np.abs(family.a).max(axis=1, keepdims=True)
    rest[np.any(flat & (np.abs(slopes) > error), axis=1)] = -np.inf
    null = flat & (np.abs(family.Q @ vectors).max(axis=1) <= ZERO) & ~family.a.any(axis=1, keepdims=True)
    nearly = ~null & family.Q.any(axis=1) & (sizes < NEARLY_FLAT * sizes.max(axis=1, initial=0.0, keepdims=True))
    doubtful = nearly.any(axis=1) & (np.count_nonzero(values, axis=1) > 1)  # one square alone has all of its digits
    terms = np.abs(family.d) + np.sum(forms[:, :, -1] ** 2, axis=1)
    doubtful |= (values < 0).any(axis=1) & (np.abs(rest) < NEARLY_FLAT * terms)
    for n in np.flatnonzero(doubtful & (np.sum(values < -NEARLY_FLAT, axis=1) < 2)) if k <= FEW else ():
        whole = np.block([[family.Q[n], family.a[n][:, None] / 2], [family.a[n] / 2, family.d[n]]])
        signs[n], forms[n], rest[n] = _eliminated(whole, vectors[n, :, values[n].argmin()])
    rest[(rest < 0) & (rest >= -ZERO * terms)] = 0.0
    return signs, forms, rest


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


def _eigen(Q: Stack) -> tuple[Stack, Stack]:
    """Return eigenvalues (N, k) and eigenvectors (N, k, k) of Q (N, k, k)."""
    # Blocks of variables without common terms are decomposed separately: each is as sparse as its terms.
    values = np.ascontiguousarray(np.diagonal(Q, axis1=1, axis2=2)).copy()
    vectors = np.tile(np.eye(Q.shape[1]), (len(Q), 1, 1))
    pattern = np.any(Q != 0, axis=0)
    np.fill_diagonal(pattern, False)
    label = sp.csgraph.connected_components(sp.csr_matrix(pattern), directed=False)[1]
    for name in np.unique(label[pattern.any(axis=0)]):
        block = np.flatnonzero(label == name)
        found, turn = np.linalg.eigh(Q[:, block[:, None], block])
        values[:, block] = np.where(np.abs(found) > ZERO * len(block), found, 0.0)
        vectors[:, block[:, None], block] = np.where(np.abs(turn) < ROUNDING, 0.0, turn)
    return values, vectors


def _convex_quadratics(part: Family, F: Stack) -> Cones:
    """Return the cones of ``||F x||^2 + a'x + d <= 0``; that of a negative upper bound is empty."""
    N, r = F.shape[:2]
    if part.a.any() or part.d[0] > 0:
        # ||Fx||^2 <= -(a'x + d) =: u is ||(2 sqrt(f) Fx, f - u)|| <= f + u, as (f + u)^2 - (f - u)^2 = 4 f u. With f
        # of the size of d, the sum and the difference keep the digits of both.
        f = 4.0 ** np.round(np.log2(np.where(part.d == 0.0, 1.0, np.abs(part.d))) / 2)
        G = np.concatenate([-part.a[:, None], 2 * np.sqrt(f)[:, None, None] * F, part.a[:, None]], axis=1)
        h = np.column_stack([f - part.d, np.zeros((N, r)), f + part.d])
        return replace(Cones.of(part, G, h, 0.25 / f), pair=1 + r)
    return Cones.of(part, np.pad(F, ((0, 0), (1, 0), (0, 0))), np.column_stack([np.sqrt(-part.d), np.zeros((N, r))]))


def _one_branch(part: Family, forms: Stack, rest: Vector) -> Cones:
    """Return the cones of forms, the head first; a row in the same variables as the head is its pair."""
    used = np.any(forms[:, :, :-1] != 0, axis=0)
    alike = 1 + np.flatnonzero(np.all(used[1:] == used[0], axis=1))
    if rest[0] > 0:
        forms = np.pad(forms, ((0, 0), (0, 1), (0, 0)))
        forms[:, -1, -1] = np.sqrt(rest)
    pair = int(alike[0]) if len(alike) and np.count_nonzero(used[0]) > 1 else 0
    return replace(Cones.of(part, forms[:, :, :-1], forms[:, :, -1]), pair=pair)


def _branches(forms: Stack, lb: Stack, ub: Stack) -> Vector:
    """Return signs (N,) with which the bounds imply ``forms'(x, 1) >= 0``, 0 where they imply none."""

    def implied(sign: float) -> Mask:
        ends = np.pad(np.where(sign * forms[:, :-1] > 0, lb, ub), ((0, 0), (0, 1)), constant_values=1.0)
        terms = sign * forms * np.where(forms == 0, 0.0, ends)
        lowest = terms.sum(axis=1)
        found: Mask = np.isfinite(lowest) & (lowest >= -ZERO * np.abs(terms).sum(axis=1))
        return found

    return np.where(implied(1.0), 1.0, -1.0 * implied(-1.0))
