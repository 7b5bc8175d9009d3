"""Reading parts of a model again into its program, after its parameters, bounds or fixed variables changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler.expressions import read
from fsopt.compiler.program import Program
from fsopt.compiler.rows import build_rows, hessian, linear_part, read_bounds, read_row
from fsopt.typing import Indices


def reread_bounds(p: Program) -> bool:
    """Read the bounds again; return whether the integer variables and the signs in cones are as before.

    A rotated cone w^2 <= s t is one because of s, t >= 0: the sign of every bound is part of the class.
    """
    lb, ub = read_bounds(p.variables)
    same = np.array_equal(p.integer, [not v.is_continuous() for v in p.variables])
    if len(p.cones):
        same &= np.array_equal(lb >= 0, p.lb >= 0) and np.array_equal(ub <= 0, p.ub <= 0)
    p.lb, p.ub = lb, ub
    return bool(same)


def reread_objective(p: Program) -> bool | None:
    """Read the objective again; return whether its quadratic part changed, None where it cannot be read."""
    if p.objective is None or not p.objective.active:
        return None
    terms = read(p.objective.expr, p.column)
    if terms.nonlinear:
        return None
    sign = 1.0 if p.objective.sense == pyo.minimize else -1.0
    if sign != p.sign:
        return None
    p.c, p.c0 = p.sign * linear_part(terms, p.column), p.sign * terms.constant
    P = p.sign * hessian(terms, p.n)
    if not (P != p.P).nnz:
        return False
    p.P = P
    return True


def reread_rows(p: Program, rows: list[Any]) -> Indices | None:
    """Write new coefficients and bounds into the program; return its rows, None for another pattern of them."""
    if any(id(data) not in p.row_of or not data.active for data in rows):
        return None
    numbers = np.array([p.row_of[id(data)] for data in rows])
    read_anew = [read_row(data, p.column) for data in rows]
    if not all(row.terms.linear for row in read_anew):
        return None
    A, lo, hi = build_rows(read_anew, p.column)
    places = np.concatenate([np.arange(p.A.indptr[i], p.A.indptr[i + 1]) for i in numbers])
    if len(places) != A.nnz or not np.array_equal(p.A.indices[places], A.indices):
        return None
    p.A.data[places] = A.data
    p.lo[numbers], p.hi[numbers] = lo, hi
    return numbers
