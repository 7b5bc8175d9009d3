r"""A program as the arguments of Xpress's ``loadMIQCQP``: variables x' and s, and the constraints in this order.

1. The linear constraints :math:`R\ell \le R A D x' \le R u`, 2. the equations :math:`TGDx' - s = -Th`, 3. the cones
:math:`\sum_{i>0} s_i^2 - s_0^2 \le 0`, and 4. the other quadratic inequalities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fsopt.compiler import Program
from fsopt.solvers import shared
from fsopt.solvers.interface import INFINITY
from fsopt.solvers.scaled import Scaled
from fsopt.typing import Indices, Vector

ROW_TYPES = {"fixed": "E", "range": "R", "upper": "L", "lower": "G", "free": "N"}
"""Kind of a pair of bounds -> Xpress's letter."""


@dataclass(frozen=True)
class Triples:
    """The upper triangle of a symmetric matrix as Xpress takes it: one entry for each pair of variables."""

    i: Indices
    j: Indices
    values: Vector


@dataclass(frozen=True)
class Inequality:
    """A quadratic inequality ``x'Qx + a'x <= right`` with ``a`` (1, n)."""

    Q: Triples
    a: sp.csr_matrix
    right: float


def load_arguments(scaled: Scaled) -> dict[str, Any]:
    """Return the arguments of ``loadMIQCQP`` for a program in the units of Xpress."""
    p = scaled.program
    k, n_cones = len(p.cones.h), len(p.cones)
    others = _inequalities(p, scaled.columns)
    left = sp.vstack([scaled.A, scaled.G, sp.csr_matrix((n_cones, p.n)), *(q.a for q in others)])
    right = sp.vstack([sp.csr_matrix((p.A.shape[0], k)), -sp.identity(k), sp.csr_matrix((n_cones + len(others), k))])
    M = sp.hstack([left, right], format="csc")
    letters = [ROW_TYPES[kind] for kind in shared.bound_kinds(p.lo, p.hi)]
    integers = np.flatnonzero(p.integer)
    return {
        "probname": "",
        "rowtype": [*letters, *"E" * k, *"L" * (n_cones + len(others))],
        "rhs": np.concatenate([_right_hand_sides(scaled), -scaled.h, np.zeros(n_cones), [q.right for q in others]]),
        "rng": np.concatenate([_ranges(scaled), np.zeros(k + n_cones + len(others))]),
        "start": M.indptr,
        "rowind": M.indices,
        "rowcoef": M.data,
        **_objective(scaled),
        **_bounds(scaled),
        **_quadratic_rows(p, [q.Q for q in others]),
        "coltype": ["I"] * len(integers),
        "entind": integers,
        "settype": [str(one.kind) for one in p.ordered],
        "setstart": np.cumsum([0, *(len(one.columns) for one in p.ordered)]),
        "setind": np.concatenate([np.zeros(0, dtype=int), *(one.columns for one in p.ordered)]),
        "refval": np.concatenate([np.zeros(0), *(np.arange(1.0, 1 + len(one.columns)) for one in p.ordered)]),
    }


def _right_hand_sides(scaled: Scaled) -> Vector:
    """Return the upper bounds of the linear constraints, the lower ones where these are absent."""
    right: Vector = np.where(scaled.hi < np.inf, scaled.hi, shared.present(scaled.lo))
    return right


def _ranges(scaled: Scaled) -> Vector:
    """Return the distance between the bounds of the linear constraints that have both, 0 for the others."""
    low, high = scaled.lo, scaled.hi
    both = np.isfinite(low) & np.isfinite(high)
    ranges: Vector = np.where(both, high, 0.0) - np.where(both, low, 0.0)
    return ranges


def _objective(scaled: Scaled) -> dict[str, Any]:
    Q = _upper(scaled.P)
    costs = np.concatenate([scaled.c, np.zeros(len(scaled.program.cones.h))])
    return {"objcoef": costs, "objqcol1": Q.i, "objqcol2": Q.j, "objqcoef": Q.values}


def _bounds(scaled: Scaled) -> dict[str, Vector]:
    """Return the bounds of x' and of the variables s of the cones, whose heads are at least 0."""
    program = scaled.program
    k = len(program.cones.h)
    low = np.concatenate([scaled.lb, np.full(k, -np.inf)])
    high = np.concatenate([scaled.ub, np.full(k, np.inf)])
    low[program.n + program.cones.starts[:-1]] = 0.0
    return {"lb": np.clip(low, -INFINITY, INFINITY), "ub": np.clip(high, -INFINITY, INFINITY)}


def _quadratic_rows(program: Program, others: list[Triples]) -> dict[str, Any]:
    """Return the places and the quadratic parts of the cones and of the other inequalities."""
    cones = zip(program.cones.starts[:-1].tolist(), program.cones.sizes.tolist(), strict=True)
    matrices = [_lorentz(program.n + start, size) for start, size in cones] + others
    first = program.A.shape[0] + len(program.cones.h)
    return {
        "qrowind": first + np.arange(len(matrices)),
        "nrowqcoefs": [len(Q.values) for Q in matrices],
        "rowqcol1": np.concatenate([np.zeros(0, dtype=int), *(Q.i for Q in matrices)]),
        "rowqcol2": np.concatenate([np.zeros(0, dtype=int), *(Q.j for Q in matrices)]),
        "rowqcoef": np.concatenate([np.zeros(0), *(Q.values for Q in matrices)]),
    }


def _inequalities(program: Program, d: Vector) -> list[Inequality]:
    """Return the quadratic constraints that are no cones, one inequality for each finite bound."""
    return [
        Inequality(_upper(sign * c.Q), sp.csr_matrix((sign * c.a)[None, :]), sign * bound)
        for c in shared.quadratic_constraints(program, d)
        for sign, bound in ((1.0, c.high), (-1.0, c.low))
        if np.isfinite(bound)
    ]


def _upper(matrix: sp.spmatrix) -> Triples:
    U = sp.triu(matrix, format="coo")
    return Triples(U.row, U.col, U.data)


def _lorentz(start: int, size: int) -> Triples:
    """Return the quadratic part of ``sum of squares of the tail - head^2`` over consecutive variables."""
    i = start + np.arange(size)
    return Triples(i, i, shared.lorentz(size))
