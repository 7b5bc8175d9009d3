r"""The cones of a compiled program, stacked into one matrix.

Pyomo has no component for a linear matrix inequality :math:`F_0 + \sum_j x_j F_j \succeq 0`. Here it is a block with
variables S, linear constraints ``S[i, j] == entry``, and the attribute ``semidefinite``. The compiler turns S into a
cone of the program: the upper triangle, column by column, with the off-diagonal entries multiplied by :math:`\sqrt2`,
so that the inner product of two vectors equals that of their matrices. Other software sees S as free variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from fsopt.typing import Indices, Matrix, Vector

NONE: Indices = np.zeros(0, dtype=int)


class Cone(NamedTuple):
    """A cone by the entries (row, column, value) of its G, and the rest of a ConeStack; ``body`` has entries of q."""

    G: tuple[Indices, Indices, Vector]
    h: Vector
    scale: float = 1.0
    pair: int = 0
    sense: float = 1.0
    order: int = 0
    constraint: Any = None
    body: tuple[Indices, Vector] = (NONE, np.zeros(0))


@dataclass
class ConeStack:
    r"""The constraints :math:`G_k x + h_k \in K_k`, stacked: second-order and semidefinite cones.

    Attributes
    ----------
    G, h, starts : (k, n) and (k,) rows, and the first one of each block; that of a norm is the upper bound of the rest.
    constraints, sense : the Pyomo constraint behind each block; +1 for an upper bound of its body, -1 for a lower one.
    pairs : for a rotated cone, the offset of the row r of its block for which the sum and the difference of head and
        row r are the two factors of the product; 0 for every other cone.
    scale : the number f of each block with ``f * (||tail||^2 - head^2) = q(x)``; nan for a semidefinite cone.
    orders : order of the matrix of a semidefinite cone, 0 for a second-order cone.
    bodies : (number of cones, (n + 1)^2) the constraints q(x) <= 0 as they were read: entry ``i (n + 1) + j`` is the
        coefficient of :math:`x_i x_j`, i <= j, with x_n = 1; empty for semidefinite cones, and for other rows.
    """

    G: sp.csr_matrix
    h: Vector
    starts: Indices
    constraints: list[Any]
    pairs: Indices
    scale: Vector
    sense: Vector
    orders: Indices
    bodies: sp.csr_matrix = field(init=False)

    def __post_init__(self) -> None:
        self.bodies = sp.csr_matrix((len(self.constraints), (self.G.shape[1] + 1) ** 2))

    def __len__(self) -> int:
        return len(self.constraints)

    @property
    def sizes(self) -> Indices:
        """Number of rows of each cone."""
        return np.diff(self.starts)

    def entries(self) -> Indices:
        """Return the columns (t,) of the entries of all semidefinite matrices: upper triangles, column by column."""
        return np.asarray(self.G[np.repeat(self.orders > 0, self.sizes)].indices)

    def by_lower_triangles(self) -> Indices:
        """Return the rows with those of each matrix in the order of its lower triangle, column by column."""
        rows = np.arange(self.starts[-1])
        for start, order in zip(self.starts[:-1], self.orders, strict=True):
            j, i = np.triu_indices(order)  # entry (i, j), i >= j, is number i (i + 1) / 2 + j of the upper triangle
            rows[start : start + len(i)] = start + i * (i + 1) // 2 + j
        return rows

    def receding(self) -> ConeStack:
        """Return the cones of the directions in which these have no end: without constants, and q without slopes."""
        found = replace(self, h=np.zeros_like(self.h))
        found.bodies = self.bodies.copy()
        found.bodies.data[self.bodies.indices % (self.G.shape[1] + 1) == self.G.shape[1]] = 0.0
        return found


def triangle_to_matrix(v: Vector, order: int) -> Matrix:
    """Return the lower triangle (order, order) of the matrix with the scaled upper triangle v, column by column."""
    L = np.zeros((order, order))
    j, i = np.tril_indices(order)
    L[j, i] = np.where(i == j, v, v / np.sqrt(2.0))
    return L


def lmi(matrix: Sequence[Sequence[Any]], doc: str = "") -> pyo.Block:
    """Return the block "a symmetric matrix of affine expressions is positive semidefinite".

    Parameters
    ----------
    matrix : k rows of k expressions or numbers; the upper triangle is used.
    doc : the inequality, with its equation number.
    """
    size = len(matrix)
    block = pyo.Block(concrete=True, doc=doc)
    block.semidefinite = size
    places = [(i, j) for j in range(size) for i in range(j + 1)]
    block.S = pyo.Var(places, doc="upper triangle")
    block.entry = pyo.Constraint(places, rule=lambda b, i, j: b.S[i, j] - matrix[i][j] == 0, doc=doc)
    return block


def blocks(model: pyo.ConcreteModel) -> list[pyo.Block]:
    """Return the active linear matrix inequalities of a model."""
    found = model.block_data_objects(active=True, descend_into=True)
    return [b for b in found if getattr(b, "semidefinite", None)]


def matrix_cones(model: pyo.ConcreteModel, column: dict[int, int]) -> list[Cone]:
    """Return the cones of the linear matrix inequalities of a model."""
    found = []
    for block in blocks(model):
        columns = np.array([column[id(v)] for v in block.S.values()], dtype=int)
        weights = np.array([1.0 if i == j else np.sqrt(2.0) for i, j in block.S])
        entries = np.arange(len(columns)), columns, weights
        found.append(Cone(entries, np.zeros(len(columns)), np.nan, order=block.semidefinite, constraint=block))
    return found


def stacked(cones: Sequence[Cone], n: int) -> ConeStack:
    """Return the stack of cones in n variables."""
    starts = np.append(0, np.cumsum([len(c.h) for c in cones])).astype(int)
    bodies = [c.body for c in cones]
    stack = ConeStack(
        G=_rows([(c.G[0] + first, *c.G[1:]) for c, first in zip(cones, starts, strict=False)], (starts[-1], n)),
        h=np.concatenate([np.zeros(0), *(c.h for c in cones)]),
        starts=starts,
        constraints=[c.constraint for c in cones],
        pairs=np.array([c.pair for c in cones], dtype=int),
        scale=np.array([c.scale for c in cones], dtype=float),
        sense=np.array([c.sense for c in cones], dtype=float),
        orders=np.array([c.order for c in cones], dtype=int),
    )
    listed = [(np.full(len(entries), k), entries, values) for k, (entries, values) in enumerate(bodies)]
    stack.bodies = _rows(listed, stack.bodies.shape)
    return stack


def _rows(parts: Sequence[tuple[Indices, Indices, Vector]], shape: tuple[int, int]) -> sp.csr_matrix:
    """Return the matrix with parts of its entries (row, column, value)."""
    i, j, values = (np.concatenate(part) for part in zip((NONE, NONE, NONE), *parts, strict=True))
    return sp.csr_matrix((values.astype(float), (i, j)), shape=shape)
