r"""Second-order cones recognised from plain quadratic constraints.

A constraint :math:`q(x) = x'Qx + a'x + d \le 0` is one of two things here, or it is refused by name:

* :math:`Q = F'F \succeq 0`: then :math:`\|(2Fx,\, 1 + a'x + d)\| \le 1 - a'x - d`
  (or :math:`\|Fx\| \le \sqrt{-d}` where :math:`a = 0`);
* :math:`Q` has exactly one negative eigenvalue :math:`-\lambda` with eigenvector :math:`u`, :math:`a = 0`,
  :math:`d = 0`, and the bounds of the variables give :math:`u'x \ge 0`: then
  :math:`\|Fx\| \le \sqrt\lambda\,u'x`. Rotated cones :math:`w^2 \le s t` with :math:`s, t \ge 0` are of
  this kind; the eigenvectors of a product of two linear forms are those forms brought to equal length, so
  the cone handed to a solver is balanced whatever the units of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from fsopt.typing import Indices, Mask, Vector

ZERO = 1e-12
"""Eigenvalues below this fraction of the largest one of their block count as zero."""


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
class ConeStack:
    """Cones ``G_k x + h_k in K_k`` stacked: second-order cones, and semidefinite ones as scaled upper triangles.

    The first row of a second-order block is the bound on the norm.

    Attributes
    ----------
    G, h : (k, n) and (k,) stacked rows.
    starts : (number of cones + 1,) first row of each block.
    constraints : the Pyomo constraint behind each block.
    pairs : offset of the tail row that forms the two sides of a rotated cone with the head; 0 where none does.
    scale : the factor f with ``f * (||tail||^2 - head^2) = q(x)`` for each block, and ``side`` = +1 where
        the constraint is an upper bound on its body, -1 where it is a lower bound.
    orders : (number of cones,) k of a semidefinite cone of k x k matrices, 0 for a second-order cone.
    """

    G: sp.csr_matrix
    h: Vector
    starts: Indices
    constraints: list[Any]
    pairs: Indices
    scale: Vector
    side: Vector
    orders: Indices = field(default_factory=lambda: np.zeros(0, dtype=int))

    def __post_init__(self) -> None:
        if len(self.orders) != len(self.constraints):
            self.orders = np.zeros(len(self.constraints), dtype=int)

    def __len__(self) -> int:
        return len(self.constraints)

    @property
    def sizes(self) -> Indices:
        """Number of rows of each cone."""
        return np.diff(self.starts)

    def distances(self, s: Vector) -> Vector:
        """Return the Euclidean distance of each block of s (k,) to its cone."""
        if not len(self):
            return np.zeros(0)
        head = s[self.starts[:-1]]
        squares = np.add.reduceat(s**2, self.starts[:-1]) - head**2
        excess = np.sqrt(np.maximum(squares, 0.0)) - head
        inside_polar = np.sqrt(np.maximum(squares, 0.0)) <= -head
        distance: Vector = np.where(
            inside_polar, np.sqrt(np.maximum(squares, 0) + head**2), np.maximum(excess, 0) / np.sqrt(2)
        )
        for k in np.flatnonzero(self.orders):
            eigenvalues = np.linalg.eigvalsh(triangle_to_matrix(s[self.starts[k] : self.starts[k + 1]], self.orders[k]))
            distance[k] = np.linalg.norm(np.minimum(eigenvalues, 0.0))
        return distance


def triangle_to_matrix(v: Vector, size: int) -> Vector:
    """Return the lower triangle (k, k) of the matrix whose scaled upper triangle is v, column by column."""
    L = np.zeros((size, size))
    j, i = np.tril_indices(size)
    L[j, i] = np.where(i == j, v, v / np.sqrt(2.0))
    return L


@dataclass
class _Shape:
    """Quadratics that have the same terms on different columns, as arrays over their N members.

    Attributes
    ----------
    members : (N,) positions in the list of quadratics.
    columns : (N, k); Q : (N, k, k); a : (N, k); d : (N,); each turned so that it reads ``x'Qx + a'x + d <= 0``.
    """

    members: Indices
    columns: Indices
    Q: Vector
    a: Vector
    d: Vector


@dataclass
class _Cones:
    """Cones of one size: G (N, r, k) over columns (N, k), h (N, r), their factor and their paired row."""

    members: Indices
    columns: Indices
    G: Vector
    h: Vector
    scale: float
    pair: int


def recognise(
    quadratics: Sequence[Quadratic], lb: Vector, ub: Vector, n: int
) -> tuple[ConeStack, list[tuple[str, str]]]:
    """Return the cones of quadratic constraints, and (name, reason) of those that are none."""
    found: list[_Cones] = []
    refused: dict[int, str] = {
        i: "a quadratic equation or range is not convex"
        for i, q in enumerate(quadratics)
        if np.isfinite(q.lo) and np.isfinite(q.hi)
    }
    sides = np.array([1.0 if np.isfinite(q.hi) else -1.0 for q in quadratics])
    for shape in _shapes(quadratics, sides, refused):
        found.extend(_second_order_cones(shape, lb, ub, refused))
    names = [(quadratics[i].constraint.name, refused[i]) for i in sorted(refused)]
    return _stack(found, quadratics, sides, n), names


def _shapes(quadratics: Sequence[Quadratic], sides: Vector, refused: dict[int, str]) -> list[_Shape]:
    """Group quadratics by the places of their terms, numbered in the order in which columns first occur."""
    groups: dict[Any, list[tuple[int, list[int]]]] = {}
    for i, q in enumerate(quadratics):
        if i in refused:
            continue
        place: dict[int, int] = {}
        pairs = tuple((place.setdefault(j, len(place)), place.setdefault(k, len(place))) for j, k, _ in q.terms)
        linear = tuple(place.setdefault(j, len(place)) for j in q.linear)
        groups.setdefault((pairs, linear), []).append((i, list(place)))
    shapes = []
    for (pairs, linear), listed in groups.items():
        members = np.array([i for i, _ in listed])
        columns = np.array([c for _, c in listed], dtype=int)
        side = sides[members]
        Q = np.zeros((len(members), columns.shape[1], columns.shape[1]))
        values = side[:, None] * np.array([[v for _, _, v in quadratics[i].terms] for i, _ in listed]) / 2
        for t, (j, k) in enumerate(pairs):
            Q[:, j, k] += values[:, t]
            Q[:, k, j] += values[:, t]
        a = np.zeros(columns.shape)
        a[:, list(linear)] = side[:, None] * np.array([list(quadratics[i].linear.values()) for i, _ in listed])
        limit = np.array([quadratics[i].hi if sides[i] > 0 else quadratics[i].lo for i, _ in listed])
        constant = np.array([quadratics[i].constant for i, _ in listed])
        shapes.append(_Shape(members, columns, Q, a, side * (constant - limit)))
    return shapes


def _second_order_cones(shape: _Shape, lb: Vector, ub: Vector, refused: dict[int, str]) -> list[_Cones]:
    """Return the cones of a shape, one group for each pattern of signs of the eigenvalues; say what is refused."""
    values, vectors = _eigen(shape.Q)
    found: list[_Cones] = []
    signs = np.sign(values)
    kinds = np.column_stack([signs, shape.a.any(axis=1), np.sign(shape.d)])
    for kind in np.unique(kinds, axis=0):
        rows = np.flatnonzero(np.all(kinds == kind, axis=1))
        negative = np.flatnonzero(kind[:-2] < 0)
        positive = np.flatnonzero(kind[:-2] > 0)
        F = np.sqrt(values[rows][:, positive])[:, :, None] * np.swapaxes(vectors[rows][:, :, positive], 1, 2)
        part = _Shape(*(getattr(shape, name)[rows] for name in ("members", "columns", "Q", "a", "d")))
        if len(negative) == 0:
            result: _Cones | str = _convex_quadratics(part, F)
        elif len(negative) > 1:
            result = f"it is not convex: its quadratic part has {len(negative)} negative eigenvalues"
        elif kind[-2] or kind[-1]:
            result = "it is not convex: its quadratic part has a negative eigenvalue beside linear terms"
        else:
            root = np.sqrt(-values[rows, negative[0]])[:, None] * vectors[rows][:, :, negative[0]]
            heads, separated = _nonnegative(root, lb[part.columns], ub[part.columns])
            for i in part.members[~separated]:
                refused[int(i)] = (
                    "its two branches are not separated by the bounds: bound the variables on the large side by 0"
                )
            result = _homogeneous(part, F, heads, separated)
        if isinstance(result, str):
            refused.update(dict.fromkeys(part.members.tolist(), result))
        elif len(result.members):
            found.append(result)
    return found


def _eigen(Q: Vector) -> tuple[Vector, Vector]:
    """Return eigenvalues (N, k) and eigenvectors (N, k, k) of Q (N, k, k).

    Block by block, since blocks may be in units that differ by 1e12: a column that meets no other one is its
    own eigenvector, and a small eigenvalue is zero relative to its own block only.
    """
    N, k = Q.shape[:2]
    values = np.ascontiguousarray(np.diagonal(Q, axis1=1, axis2=2)).copy()
    vectors = np.tile(np.eye(k), (N, 1, 1))
    pattern = np.any(Q != 0, axis=0)
    np.fill_diagonal(pattern, False)
    if not pattern.any():
        return values, vectors
    label = connected_components(sp.csr_matrix(pattern), directed=False)[1]
    for name in np.unique(label[pattern.any(axis=0)]):
        block = np.flatnonzero(label == name)
        found, turn = np.linalg.eigh(Q[:, block[:, None], block])
        largest = np.abs(found).max(axis=1, keepdims=True)
        values[:, block] = np.where(np.abs(found) > ZERO * largest, found, 0.0)
        vectors[:, block[:, None], block] = np.where(np.abs(turn) < 1e-15, 0.0, turn)
    return values, vectors


def _convex_quadratics(part: _Shape, F: Vector) -> _Cones | str:
    N, r, k = F.shape
    if part.a.any():
        G = np.concatenate([-part.a[:, None], 2 * F, part.a[:, None]], axis=1)
        h = np.column_stack([1.0 - part.d, np.zeros((N, r)), 1.0 + part.d])
        return _Cones(part.members, part.columns, G, h, 0.25, 1 + r)
    if part.d[0] > 0:
        return "it has no solution: a sum of squares is asked to be negative"
    G = np.concatenate([np.zeros((N, 1, k)), F], axis=1)
    return _Cones(part.members, part.columns, G, np.column_stack([np.sqrt(-part.d), np.zeros((N, r))]), 1.0, 0)


def _homogeneous(part: _Shape, F: Vector, heads: Vector, keep: Mask) -> _Cones:
    """Return the cones ||F x|| <= head'x; a row of F on the same columns as the head is its pair."""
    F, heads = F[keep], heads[keep]
    alike = np.flatnonzero(np.all((F != 0) == (heads != 0)[:, None], axis=(0, 2)) & (len(F) > 0))
    pair = 1 + int(alike[0]) if len(alike) and np.count_nonzero(heads[0]) > 1 else 0
    G = np.concatenate([heads[:, None], F], axis=1)
    return _Cones(part.members[keep], part.columns[keep], G, np.zeros(G.shape[:2]), 1.0, pair)


def _nonnegative(forms: Vector, lb: Vector, ub: Vector) -> tuple[Vector, Mask]:
    """Return forms (N, k) turned so that the bounds show them to be >= 0, and where they do."""
    up = np.all(((forms > 0) & (lb >= 0)) | ((forms < 0) & (ub <= 0)) | (forms == 0), axis=1)
    down = np.all(((forms < 0) & (lb >= 0)) | ((forms > 0) & (ub <= 0)) | (forms == 0), axis=1)
    return np.where(up[:, None], forms, -forms), up | down


def _stack(found: Sequence[_Cones], quadratics: Sequence[Quadratic], sides: Vector, n: int) -> ConeStack:
    """Stack cones in the order of their constraints."""
    members = np.concatenate([np.zeros(0, int), *(c.members for c in found)])
    order = np.argsort(members)
    sizes = np.concatenate([np.zeros(0, int), *(np.full(len(c.members), c.h.shape[1]) for c in found)])[order]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    start_of = dict(zip(members[order].tolist(), starts[:-1].tolist(), strict=True))
    h = np.zeros(int(starts[-1]))
    entries: list[tuple[Any, Any, Any]] = [(np.zeros(0, int), np.zeros(0, int), np.zeros(0))]
    for c in found:
        first = np.array([start_of[i] for i in c.members.tolist()])
        rows = first[:, None] + np.arange(c.h.shape[1])
        h[rows] = c.h
        i, r, j = np.nonzero(c.G)
        entries.append((rows[i, r], c.columns[i, j], c.G[i, r, j]))
    i_all, j_all, v_all = (np.concatenate(part) for part in zip(*entries, strict=True))
    scale = np.concatenate([np.zeros(0), *(np.full(len(c.members), c.scale) for c in found)])[order]
    pairs = np.concatenate([np.zeros(0, int), *(np.full(len(c.members), c.pair) for c in found)])[order]
    return ConeStack(
        G=sp.csr_matrix((v_all, (i_all, j_all)), shape=(int(starts[-1]), n)),
        h=h,
        starts=starts,
        constraints=[quadratics[i].constraint for i in members[order].tolist()],
        pairs=pairs.astype(int),
        scale=scale,
        side=sides[members[order]] if len(members) else np.zeros(0),
    )
