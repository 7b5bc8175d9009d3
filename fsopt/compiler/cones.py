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
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

Vector = NDArray[np.float64]
ZERO = 1e-12
"""Eigenvalues below this fraction of the largest one of their block count as zero."""
SMALL = 16
"""Columns up to which the blocks are found by relabelling, without a graph."""


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
    """Second-order cones ``G_k x + h_k in Q_k`` stacked; the first row of a block is the bound on the norm.

    Attributes
    ----------
    G, h : (k, n) and (k,) stacked rows.
    starts : (number of cones + 1,) first row of each block.
    constraints : the Pyomo constraint behind each block.
    pairs : offset of the tail row that forms the two sides of a rotated cone with the head; 0 where none does.
    scale : the factor f with ``f * (||tail||^2 - head^2) = q(x)`` for each block, and ``side`` = +1 where
        the constraint is an upper bound on its body, -1 where it is a lower bound.
    """

    G: sp.csr_matrix
    h: Vector
    starts: NDArray[np.int64]
    constraints: list[Any]
    pairs: NDArray[np.int64]
    scale: Vector
    side: Vector

    def __len__(self) -> int:
        return len(self.constraints)

    @property
    def sizes(self) -> NDArray[np.int64]:
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
        return distance


@dataclass
class _Block:
    """One cone: G (k, columns), h (k,), its factor and its paired row."""

    constraint: Any
    columns: NDArray[np.int64]
    side: float
    G: Vector
    h: Vector
    scale: float
    pair: int


def recognise(
    quadratics: Sequence[Quadratic], lb: Vector, ub: Vector, n: int
) -> tuple[ConeStack, list[tuple[str, str]]]:
    """Return the cones of quadratic constraints, and (name, reason) of those that are none."""
    blocks: list[_Block] = []
    refused: list[tuple[str, str]] = []
    for q in quadratics:
        if np.isfinite(q.lo) and np.isfinite(q.hi):
            refused.append((q.constraint.name, "a quadratic equation or range is not convex"))
            continue
        side = 1.0 if np.isfinite(q.hi) else -1.0
        columns, Q, a, d = _dense(q, side)
        found = _second_order_cone(Q, a, d, lb[columns], ub[columns])
        if isinstance(found, str):
            refused.append((q.constraint.name, found))
        else:
            blocks.append(_Block(q.constraint, columns, side, *found))
    return _stack(blocks, n), refused


def _dense(q: Quadratic, side: float) -> tuple[NDArray[np.int64], Vector, Vector, float]:
    """Return the columns in a quadratic and Q, a, d over them, turned so that it reads ``q <= 0``."""
    columns = sorted({i for i, _, _ in q.terms} | {j for _, j, _ in q.terms} | set(q.linear))
    place = {j: k for k, j in enumerate(columns)}
    Q = np.zeros((len(columns), len(columns)))
    for i, j, v in q.terms:
        Q[place[i], place[j]] += side * v / 2
        Q[place[j], place[i]] += side * v / 2
    a = np.zeros(len(columns))
    for j, v in q.linear.items():
        a[place[j]] = side * v
    d = side * q.constant - (q.hi if side > 0 else -q.lo)
    return np.array(columns, dtype=int), Q, a, d


def _second_order_cone(
    Q: Vector, a: Vector, d: float, lb: Vector, ub: Vector
) -> tuple[Vector, Vector, float, int] | str:
    """Return (G, h, scale, pair) of ``x'Qx + a'x + d <= 0`` as a cone, or why it is none."""
    values, vectors = _eigen(Q)
    positive = values > 0
    negative = np.flatnonzero(values < 0)
    F = np.sqrt(values[positive])[:, None] * vectors[:, positive].T
    if len(negative) == 0:
        return _convex_quadratic(F, a, d)
    if len(negative) > 1:
        return f"it is not convex: its quadratic part has {len(negative)} negative eigenvalues"
    if a.any() or d != 0:
        return "it is not convex: its quadratic part has a negative eigenvalue beside linear terms"
    u = vectors[:, negative[0]]
    head = _nonnegative(np.sqrt(-values[negative[0]]) * u, lb, ub)
    if head is None:
        return "its two branches are not separated by the bounds: bound the variables on the large side by 0"
    alike = np.flatnonzero(np.all((F != 0) == (head != 0), axis=1))
    pair = 1 + int(alike[0]) if len(alike) and np.count_nonzero(head) > 1 else 0
    return np.vstack([head, F]), np.zeros(1 + len(F)), 1.0, pair


def _eigen(Q: Vector) -> tuple[Vector, Vector]:
    """Return eigenvalues and eigenvectors, block by block: blocks may be in units that differ by 1e12."""
    values, vectors = np.diag(Q).copy(), np.eye(len(Q))
    first, second = np.nonzero(np.triu(Q, 1))
    if not len(first):
        return values, vectors
    if len(Q) > SMALL:
        label = connected_components(sp.csr_matrix(Q), directed=False)[1]
    else:
        label = np.arange(len(Q))
        for i, j in zip(first.tolist(), second.tolist(), strict=True):
            label[label == label[j]] = label[i]
    for k in set(label[first].tolist()):
        block = np.flatnonzero(label == k)
        found, turn = np.linalg.eigh(Q[block[:, None], block])
        values[block] = np.where(np.abs(found) > ZERO * np.abs(found).max(), found, 0.0)
        vectors[block[:, None], block] = np.where(np.abs(turn) < 1e-15, 0.0, turn)
    return values, vectors


def _convex_quadratic(F: Vector, a: Vector, d: float) -> tuple[Vector, Vector, float, int] | str:
    if a.any():
        G = np.vstack([-a, 2 * F, a])
        h = np.concatenate([[1.0 - d], np.zeros(len(F)), [1.0 + d]])
        return G, h, 0.25, 1 + len(F)
    if d > 0:
        return "it has no solution: a sum of squares is asked to be negative"
    return np.vstack([np.zeros(F.shape[1]), F]), np.concatenate([[np.sqrt(-d)], np.zeros(len(F))]), 1.0, 0


def _nonnegative(form: Vector, lb: Vector, ub: Vector) -> Vector | None:
    """Return the form or its negative, whichever the bounds show to be >= 0; None if neither."""
    for sign in (1.0, -1.0):
        g = sign * form
        if np.all(((g > 0) & (lb >= 0)) | ((g < 0) & (ub <= 0)) | (g == 0)):
            return g
    return None


def _stack(blocks: Sequence[_Block], n: int) -> ConeStack:
    starts = np.concatenate([[0], np.cumsum([len(b.h) for b in blocks])]).astype(int)
    rows, cols, vals = [np.zeros(0, int)], [np.zeros(0, int)], [np.zeros(0)]
    for start, b in zip(starts, blocks, strict=False):
        i, j = np.nonzero(b.G)
        rows.append(start + i)
        cols.append(b.columns[j])
        vals.append(b.G[i, j])
    G = sp.csr_matrix((np.concatenate(vals), (np.concatenate(rows), np.concatenate(cols))), shape=(int(starts[-1]), n))
    return ConeStack(
        G,
        np.concatenate([np.zeros(0), *(b.h for b in blocks)]),
        starts,
        [b.constraint for b in blocks],
        np.array([b.pair for b in blocks], dtype=int),
        np.array([b.scale for b in blocks]),
        np.array([b.side for b in blocks]),
    )
