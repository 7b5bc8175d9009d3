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
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fsopt.compiler.cones import ConeStack
from fsopt.typing import Indices, Mask, Vector

Stack: TypeAlias = NDArray[np.float64]
"""Matrices of equal shape, one for each constraint: (N, k, k) or (N, r, k)."""


@dataclass
class Quadratic:
    """A quadratic constraint ``lo <= x'Qx + a'x + d <= hi`` as it was read, Q as triples (i, j, value)."""

    constraint: Any
    terms: list[tuple[int, int, float]]
    linear: dict[int, float]
    constant: float
    lo: float
    hi: float


@dataclass
class Family:
    """N quadratic constraints ``x'Qx + a'x + d <= 0`` with the same terms in different variables.

    Attributes
    ----------
    members : (N,) positions in the list of quadratics.
    columns : (N, k) columns of their variables.
    Q, a, d : (N, k, k), (N, k) and (N,) coefficients; a lower bound is multiplied by -1.
    """

    members: Indices
    columns: Indices
    Q: Stack
    a: Stack
    d: Vector

    def take(self, which: Indices) -> Family:
        """Return the family of some members."""
        return Family(self.members[which], self.columns[which], self.Q[which], self.a[which], self.d[which])


@dataclass
class Cones:
    """N cones of one size: the nonzeros of G (N, r, k) over columns (N, k), h (N, r), and the rest of a ConeStack."""

    members: Indices
    columns: Indices
    places: tuple[Indices, Indices, Indices]
    values: Vector
    h: Stack
    scale: float = 1.0
    pair: int = 0

    @classmethod
    def of(cls, part: Family, G: Stack, h: Stack, scale: float = 1.0) -> Cones:
        """Return the cones Gx + h over the columns of a family."""
        member, row, column = np.nonzero(G)
        return cls(part.members, part.columns, (member, row, column), G[member, row, column], h, scale)


def families(quadratics: Sequence[Quadratic], senses: Vector, refused: dict[int, str]) -> list[Family]:
    """Group quadratics by the positions of their terms, numbered in the order of their first occurrence."""
    groups: dict[Any, list[tuple[int, list[int]]]] = {}
    for i, q in enumerate(quadratics):
        if i in refused:
            continue
        place: dict[int, int] = {}
        number = place.setdefault
        pairs = tuple([(number(j, len(place)), number(k, len(place))) for j, k, _ in q.terms])
        linear = tuple([number(j, len(place)) for j in q.linear])
        groups.setdefault((pairs, linear), []).append((i, list(place)))
    return [_family(quadratics, senses, pairs, linear, listed) for (pairs, linear), listed in groups.items()]


def _family(
    quadratics: Sequence[Quadratic],
    senses: Vector,
    pairs: tuple[tuple[int, int], ...],
    linear: tuple[int, ...],
    listed: list[tuple[int, list[int]]],
) -> Family:
    """Return the arrays of quadratics (position, columns) with terms in the same pairs and linear positions."""
    members = np.array([i for i, _ in listed])
    columns = np.array([c for _, c in listed], dtype=int)
    alike = [quadratics[i] for i in members]
    sense = senses[members]
    Q = np.zeros((*columns.shape, columns.shape[1]))
    values = sense[:, None] * np.array([[v for _, _, v in q.terms] for q in alike]) / 2
    for t, (j, k) in enumerate(pairs):
        Q[:, j, k] += values[:, t]
        Q[:, k, j] += values[:, t]
    a = np.zeros(columns.shape)
    a[:, list(linear)] = sense[:, None] * np.array([list(q.linear.values()) for q in alike])
    bound = np.where(sense > 0, [q.hi for q in alike], [q.lo for q in alike])
    constant = np.array([q.constant for q in alike])
    return Family(members, columns, Q, a, sense * (constant - bound))


def stacked(found: Sequence[Cones], quadratics: Sequence[Quadratic], senses: Vector, n: int) -> ConeStack:
    """Stack cones in the order of their constraints."""
    members = np.concatenate([np.zeros(0, int), *(c.members for c in found)])
    order = np.argsort(members)
    sizes = np.concatenate([np.zeros(0, int), *(np.full(len(c.members), c.h.shape[1]) for c in found)])[order]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    start_of = dict(zip(members[order].tolist(), starts[:-1].tolist(), strict=True))
    h = np.zeros(int(starts[-1]))
    rows: list[Indices] = [np.zeros(0, int)]
    columns: list[Indices] = [np.zeros(0, int)]
    values: list[Vector] = [np.zeros(0)]
    for c in found:
        first = np.array([start_of[i] for i in c.members.tolist()])
        row = first[:, None] + np.arange(c.h.shape[1])
        h[row] = c.h
        rows.append(row[c.places[:2]])
        columns.append(c.columns[c.places[0], c.places[2]])
        values.append(c.values)
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    scale = np.concatenate([np.zeros(0), *(np.full(len(c.members), c.scale) for c in found)])[order]
    pairs = np.concatenate([np.zeros(0, int), *(np.full(len(c.members), c.pair) for c in found)])[order]
    return ConeStack(
        G=sp.csr_matrix(entries, shape=(len(h), n)),
        h=h,
        starts=starts,
        constraints=[quadratics[i].constraint for i in members[order].tolist()],
        pairs=pairs.astype(int),
        scale=scale,
        sense=senses[members[order]] if len(members) else np.zeros(0),
    )


ZERO = 1e-12
"""Eigenvalues below this fraction of the largest one of their block count as zero: the error of ``eigh`` is a small
multiple of the machine precision, 2e-16, times the largest eigenvalue."""
LARGE = 500
"""Terms from which a sum of squares is recognised without the matrix of its quadratic form."""
ROUNDING = 1e-15
"""Entries of normed eigenvectors below this count as zero, so that the cones stay sparse."""


def recognise(
    quadratics: Sequence[Quadratic], lb: Vector, ub: Vector, n: int
) -> tuple[ConeStack, list[tuple[str, str]]]:
    """Return the cones of quadratic constraints in n variables, and (name, reason) of every other constraint.

    Parameters
    ----------
    quadratics : the constraints, as read.
    lb, ub : (n,) bounds of the variables.
    """
    found: list[Cones] = []
    refused: dict[int, str] = {
        i: "a quadratic equation or range is not convex"
        for i, q in enumerate(quadratics)
        if isfinite(q.lo) and isfinite(q.hi)
    }
    senses = np.array([1.0 if isfinite(q.hi) else -1.0 for q in quadratics])
    norms = {i: cone for i, q in enumerate(quadratics) if (cone := _norm(i, q, senses[i], lb)) is not None}
    found.extend(norms.values())
    for family in families(quadratics, senses, {**refused, **dict.fromkeys(norms, "")}):
        found.extend(_second_order_cones(family, lb, ub, refused))
    names = [(quadratics[i].constraint.name, refused[i]) for i in sorted(refused)]
    return stacked(found, quadratics, senses, n), names


def _norm(place: int, q: Quadratic, sense: float, lb: Vector) -> Cones | None:
    """Return the cone of a large constraint ``sum_j c_j x_j^2 <= d`` or ``<= c_0 x_0^2``, x_0 >= 0; or None."""
    if len(q.terms) < LARGE or q.linear or any(j != k for j, k, _ in q.terms) or isfinite(q.lo) == isfinite(q.hi):
        return None
    columns, at = np.unique([j for j, _, _ in q.terms], return_inverse=True)
    values = sense * np.bincount(at, weights=[v for _, _, v in q.terms])
    bound = sense * ((q.hi if sense > 0 else q.lo) - q.constant)
    head = np.flatnonzero(values < 0)
    tail = np.flatnonzero(values > 0)
    h = np.zeros((1, 1 + len(tail)))
    if len(head) == 0 and bound >= 0:
        h[0, 0] = np.sqrt(bound)
    elif len(head) != 1 or bound != 0 or lb[columns[head[0]]] < 0:
        return None
    rows = np.concatenate([np.zeros(len(head), dtype=int), 1 + np.arange(len(tail))])
    which = np.concatenate([head, tail])
    places = (np.zeros(len(rows), dtype=int), rows, which)
    return Cones(np.array([place]), columns[None], places, np.sqrt(np.abs(values[which])), h)


def _second_order_cones(family: Family, lb: Vector, ub: Vector, refused: dict[int, str]) -> list[Cones]:
    """Return the cones of a family, one group for each pattern of signs, and enter the others in ``refused``."""
    values, vectors = _eigen(family.Q)
    patterns = np.column_stack([np.sign(values), family.a.any(axis=1), np.sign(family.d)]) + 0.0  # no zero is -0.0
    alike: dict[bytes, list[int]] = {}
    for i, signs in enumerate(patterns):
        alike.setdefault(signs.tobytes(), []).append(i)
    found: list[Cones] = []
    for which in map(np.array, alike.values()):
        part, pattern = family.take(which), patterns[which[0]]
        negative, positive = np.flatnonzero(pattern[:-2] < 0), np.flatnonzero(pattern[:-2] > 0)
        F = np.sqrt(values[which][:, positive])[:, :, None] * np.swapaxes(vectors[which][:, :, positive], 1, 2)
        if len(negative) > 1:
            reason = f"it is not convex: its quadratic part has {len(negative)} negative eigenvalues"
            refused.update(dict.fromkeys(part.members.tolist(), reason))
        elif len(negative) == 1:
            found.extend(_one_branch(part, F, (values[which], vectors[which]), (lb, ub), refused))
        else:
            found.append(_convex_quadratics(part, F))
    return found


def _eigen(Q: Stack) -> tuple[Stack, Stack]:
    """Return eigenvalues (N, k) and eigenvectors (N, k, k) of Q (N, k, k)."""
    # Blocks of variables without common terms are decomposed separately: their units may differ by 1e12, and a small
    # eigenvalue is zero only relative to its own block.
    N, k = Q.shape[:2]
    values = np.ascontiguousarray(np.diagonal(Q, axis1=1, axis2=2)).copy()
    vectors = np.tile(np.eye(k), (N, 1, 1))
    pattern = np.any(Q != 0, axis=0)
    np.fill_diagonal(pattern, False)
    if not pattern.any():
        return values, vectors
    label = sp.csgraph.connected_components(sp.csr_matrix(pattern), directed=False)[1]
    for name in np.unique(label[pattern.any(axis=0)]):
        block = np.flatnonzero(label == name)
        found, turn = np.linalg.eigh(Q[:, block[:, None], block])
        largest = np.abs(found).max(axis=1, keepdims=True)
        values[:, block] = np.where(np.abs(found) > ZERO * largest, found, 0.0)
        vectors[:, block[:, None], block] = np.where(np.abs(turn) < ROUNDING, 0.0, turn)
    return values, vectors


def _convex_quadratics(part: Family, F: Stack) -> Cones:
    """Return the cones of ``||F x||^2 + a'x + d <= 0``; that of a negative upper bound is empty."""
    N, r = F.shape[:2]
    if part.a.any() or part.d[0] > 0:
        # ||Fx||^2 <= -(a'x + d) =: u is ||(2Fx, 1 - u)|| <= 1 + u, as (1 + u)^2 - (1 - u)^2 = 4u.
        G = np.concatenate([-part.a[:, None], 2 * F, part.a[:, None]], axis=1)
        h = np.column_stack([1.0 - part.d, np.zeros((N, r)), 1.0 + part.d])
        return replace(Cones.of(part, G, h, 0.25), pair=1 + r)
    G = np.concatenate([np.zeros((N, 1, F.shape[2])), F], axis=1)
    return Cones.of(part, G, np.column_stack([np.sqrt(-part.d), np.zeros((N, r))]))


def _one_branch(
    part: Family, F: Stack, eigen: tuple[Stack, Stack], bounds: tuple[Vector, Vector], refused: dict[int, str]
) -> list[Cones]:
    """Return the cones of quadratics with one negative eigenvalue, and enter the others in ``refused``."""
    values, vectors = eigen
    place = np.flatnonzero(values[0] < 0)[0]
    z, rest, central = _centred(part, values, vectors)
    root = np.sqrt(-values[:, place])[:, None] * vectors[:, :, place]
    shift = -np.einsum("nk,nk->n", root, z)
    sign, separated = _nonnegative(root, shift, *(bound[part.columns] for bound in bounds))
    reasons = np.where(
        central & (rest >= 0),
        "it is not convex: the bounds do not separate its two branches (give its larger part lower bounds 0)",
        "it is not convex: its quadratic part has a negative eigenvalue beside linear terms or a constant",
    )
    kept = central & (rest >= 0) & separated
    refused.update(zip(part.members[~kept].tolist(), reasons[~kept].tolist(), strict=True))
    heads = sign[:, None] * root
    found = []
    for which in (np.flatnonzero(kept & (rest == 0)), np.flatnonzero(kept & (rest > 0))):
        if len(which):
            offsets = -np.einsum("nrk,nk->nr", F[which], z[which])
            h = np.column_stack([(sign * shift)[which], offsets, np.sqrt(rest[which])])
            found.append(_branch(part.take(which), heads[which], F[which], h if rest[which[0]] else h[:, :-1]))
    return found


def _branch(part: Family, heads: Stack, F: Stack, h: Stack) -> Cones:
    """Return the cones with these heads, F and constants; a row of F in the same variables as the head is its pair."""
    alike = np.flatnonzero(np.all((F != 0) == (heads != 0)[:, None], axis=(0, 2)))
    pair = 1 + int(alike[0]) if len(alike) and np.count_nonzero(heads[0]) > 1 else 0
    constant = np.zeros((len(h), h.shape[1] - 1 - F.shape[1], F.shape[2]))
    return replace(Cones.of(part, np.concatenate([heads[:, None], F, constant], axis=1), h), pair=pair)


def _centred(part: Family, values: Stack, vectors: Stack) -> tuple[Stack, Vector, Mask]:
    """Return z (N, k) and d' (N,) with ``q(x) = (x - z)'Q(x - z) + d'``, and which quadratics have such a centre."""
    y = np.einsum("nkj,nk->nj", vectors, part.a)
    flat = values == 0
    central = np.all(~flat | (np.abs(y) <= ZERO * np.abs(part.a).max(axis=1, keepdims=True)), axis=1)
    steps = np.where(flat, 0.0, y / np.where(flat, 1.0, values))
    z = -0.5 * np.einsum("nkj,nj->nk", vectors, steps)
    rest = part.d - 0.25 * np.sum(y * steps, axis=1)
    largest = np.abs(part.d) + 0.25 * np.sum(np.abs(y * steps), axis=1)
    return z, np.where(np.abs(rest) > ZERO * largest, rest, 0.0), central


def _nonnegative(forms: Stack, shift: Vector, lb: Stack, ub: Stack) -> tuple[Vector, Mask]:
    """Return signs (N,) with which the bounds imply ``forms'x + shift >= 0``, and which forms have such a sign."""

    def implied(forms: Stack, shift: Vector) -> Mask:
        ends = np.where(forms > 0, lb, np.where(forms < 0, ub, 0.0))
        terms = np.column_stack([forms * ends, shift])
        lowest = terms.sum(axis=1)
        found: Mask = np.isfinite(lowest)
        found[found] = lowest[found] >= -ZERO * np.abs(terms[found]).sum(axis=1)
        return found

    up = implied(forms, shift)
    return np.where(up, 1.0, -1.0), up | implied(-forms, -shift)
