r"""Linear matrix inequalities: blocks of a Pyomo model with a positive semidefinite matrix of variables.

Pyomo has no component for :math:`F_0 + \sum_j x_j F_j \succeq 0`. Here it is a block with variables S, linear
constraints ``S[i, j] == entry``, none where S are variables of the model, and the attribute ``semidefinite``. The
compiler turns S into a cone of the program: the upper triangle, column by column, with the off-diagonal entries
multiplied by :math:`\sqrt2`, so that the inner product of two vectors equals the inner product of their matrices.
Software other than fsopt sees S as free variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from fsopt.compiler.cones import ConeStack


def lmi(matrix: Sequence[Sequence[Any]], doc: str = "", *, own: bool = False) -> pyo.Block:
    """Return the block "a symmetric matrix of affine expressions is positive semidefinite".

    Parameters
    ----------
    matrix : k rows of k expressions or numbers; the upper triangle is used.
    doc : the inequality, with its equation number.
    own : whether the entries are free variables of the model, each of this entry alone: they are S then.
    """
    size = len(matrix)
    block = pyo.Block(concrete=True, doc=doc)
    block.semidefinite = size
    places = [(i, j) for j in range(size) for i in range(j + 1)]
    block.S = pyo.Reference({(i, j): matrix[i][j] for i, j in places}) if own else pyo.Var(places, doc="upper triangle")
    defined = [] if own else places
    block.entry = pyo.Constraint(defined, rule=lambda b, i, j: b.S[i, j] - matrix[i][j] == 0, doc=doc)
    return block


def blocks(model: pyo.ConcreteModel) -> list[pyo.Block]:
    """Return the active linear matrix inequalities of a model."""
    found = model.block_data_objects(active=True, descend_into=True)
    return [b for b in found if getattr(b, "semidefinite", None)]


def with_semidefinite(cones: ConeStack, model: pyo.ConcreteModel, column: dict[int, int]) -> ConeStack:
    """Return the cones of a program followed by the cones of its linear matrix inequalities."""
    marked = blocks(model)
    if not marked:
        return cones
    sizes = [b.semidefinite for b in marked]
    lengths = [k * (k + 1) // 2 for k in sizes]
    columns = np.array([column[id(v)] for b in marked for v in b.S.values()], dtype=int)
    weights = np.array([1.0 if i == j else np.sqrt(2.0) for b in marked for i, j in b.S])
    rows = sp.csr_matrix((weights, (np.arange(len(columns)), columns)), shape=(len(columns), cones.G.shape[1]))
    return ConeStack(
        G=sp.csr_matrix(sp.vstack([cones.G, rows])),
        h=np.concatenate([cones.h, np.zeros(len(columns))]),
        starts=np.concatenate([cones.starts, cones.starts[-1] + np.cumsum(lengths)]).astype(int),
        constraints=[*cones.constraints, *marked],
        pairs=np.concatenate([cones.pairs, np.zeros(len(marked), dtype=int)]),
        scale=np.concatenate([cones.scale, np.full(len(marked), np.nan)]),
        sense=np.concatenate([cones.sense, np.ones(len(marked))]),
        orders=np.concatenate([cones.orders, sizes]).astype(int),
    )
