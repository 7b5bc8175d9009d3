"""Parts of a Pyomo model as arrays: bounds, linear and quadratic coefficients, and constraints as rows of a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp
from pyomo.core.expr.numvalue import value

from fsopt.compiler.expressions import Dot, Terms, constant, read
from fsopt.typing import Indices, Vector


@dataclass
class ConstraintRow:
    """A constraint ``lo <= body <= hi`` as it was read: its terms, the constant included, and its bounds."""

    constraint: pyo.Constraint
    terms: Terms
    lo: float
    hi: float


class LinearRows(NamedTuple):
    """Linear constraints ``lo <= Ax <= hi``: A (m, n) with sorted indices, lo and hi (m,)."""

    A: sp.csr_matrix
    lo: Vector
    hi: Vector


def linear_part(terms: Terms, column: dict[int, int]) -> Vector:
    """Return the linear coefficients (n,) of an expression."""
    c = np.zeros(len(column))
    np.add.at(c, np.asarray(terms.columns, dtype=int), terms.values)
    for scale, d in terms.dots:
        np.add.at(c, [column[id(v)] for v in d.variables], scale * d.coefs)
    return c


def hessian(terms: Terms, n: int) -> sp.csc_matrix:
    """Return the symmetric matrix P (n, n) of the quadratic part x'Px/2 of an expression."""
    if not terms.quadratic:
        return sp.csc_matrix((n, n))
    rows, columns, values = np.array(terms.quadratic, dtype=float).T
    Q = sp.coo_matrix((values, (rows.astype(int), columns.astype(int))), shape=(n, n))
    return (Q + Q.T).tocsc()


def read_row(data: pyo.Constraint, column: dict[int, int]) -> ConstraintRow:
    """Read one constraint; the constant of its body stays in its terms."""
    # Where both sides have variables, Pyomo's body would be a new expression, their difference: they are read in turn.
    expression = getattr(data, "expr", None)  # a row of a MatrixConstraint has none
    sides: tuple[Any, ...] = () if expression is None else expression.args
    if len(sides) == 2 and not constant(sides[0]) and not constant(sides[1]):
        terms = read(sides[1], column, -1.0, read(sides[0], column))
        return ConstraintRow(data, terms, 0.0 if data.equality else -np.inf, 0.0)
    lower, body, upper = data.to_bounded_expression()
    terms = read(body, column)
    lo = -np.inf if lower is None else value(lower)
    hi = np.inf if upper is None else value(upper)
    return ConstraintRow(data, terms, lo, hi)


def build_rows(rows: Sequence[ConstraintRow], column: dict[int, int]) -> LinearRows:
    """Return the matrix and the bounds of linear constraints; constants of their bodies move to the bounds.

    Constraints with the same tuple of variables, the samples of a data matrix for example, are read together.
    """
    shared: dict[int, list[tuple[int, float, Dot]]] = {}
    plain_rows: list[int] = []
    plain_columns: list[int] = []
    plain_values: list[float] = []
    for i, row in enumerate(rows):
        plain_rows.extend([i] * len(row.terms.columns))
        plain_columns.extend(row.terms.columns)
        plain_values.extend(row.terms.values)
        for scale, d in row.terms.dots:
            shared.setdefault(id(d.variables), []).append((i, scale, d))
    parts = [_dot_entries(listed, column) for listed in shared.values()]
    parts.append((np.array(plain_rows, int), np.array(plain_columns, int), np.array(plain_values, float)))
    places, columns, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    A = sp.coo_matrix((values, (places, columns)), shape=(len(rows), len(column))).tocsr()
    A.sum_duplicates()
    shift = np.array([r.terms.constant for r in rows])
    lo = np.array([r.lo for r in rows], dtype=float) - shift
    hi = np.array([r.hi for r in rows], dtype=float) - shift
    return LinearRows(A, lo, hi)


def _dot_entries(listed: list[tuple[int, float, Dot]], column: dict[int, int]) -> tuple[Indices, Indices, Vector]:
    """Return rows, columns and values of the nonzeros of linear forms (row, scale, Dot) in the same variables."""
    columns = np.array([column[id(v)] for v in listed[0][2].variables], dtype=int)
    numbers = np.array([i for i, _, _ in listed])
    block = np.array([d.coefs for _, _, d in listed]) * np.array([scale for _, scale, _ in listed])[:, None]
    if block.all():
        return np.repeat(numbers, len(columns)), np.tile(columns, len(numbers)), block.ravel()
    i, j = np.nonzero(block)
    return numbers[i], columns[j], block[i, j]
