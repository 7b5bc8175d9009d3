r"""A compiled program as affine rows in cones, in the units and the sense of the model: the content of conic formats.

Quadratic constraints are the second-order cones of ``program.cones``, linear matrix inequalities the upper triangles of
their matrices of variables. A convex quadratic objective moves to a variable of its own, above a rotated cone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from math import isqrt

import numpy as np

from fsopt.compiler import Program
from fsopt.compiler.values import STATE, TRANSFORMATIONS
from fsopt.errors import FileError
from fsopt.typing import Indices, Matrix, Vector

SINGULAR = 1e-14
"""Pivots below this fraction of their diagonal entry end the factorization of a quadratic objective: they consist of
rounding errors, some tens of the machine precision 2e-16 for sums of many terms."""
EPIGRAPH = "epigraph of the quadratic objective"


@dataclass(frozen=True)
class Affine:
    """An affine row ``sum_j form[j] x_j + constant``, and the name of its origin."""

    form: dict[int, float]
    constant: float
    name: str


@dataclass(frozen=True)
class ConeRows:
    """Rows in a cone of a kind.

    The kinds are ``L=`` (rows equal to 0), ``L+`` (>= 0), ``L-`` (<= 0), ``Q`` (the first row is an upper bound of the
    norm of the others), ``QR`` (twice the product of the first two, both >= 0, is an upper bound of the squared norm of
    the others), and ``PSD`` (the upper triangle, column by column, of a positive semidefinite matrix).
    """

    kind: str
    rows: tuple[Affine, ...]

    @property
    def order(self) -> int:
        """Order of the matrix of a ``PSD`` cone."""
        return isqrt(8 * len(self.rows) + 1) // 2

    def triangle(self) -> Iterator[tuple[int, int, Affine]]:
        """Yield row and column, row <= column, from 0, and entry of the matrix of a ``PSD`` cone."""
        places = ((i, j) for j in range(self.order) for i in range(j + 1))
        yield from ((i, j, entry) for (i, j), entry in zip(places, self.rows, strict=True))


@dataclass(frozen=True)
class ConicModel:
    """Variables, a linear objective in the model's sense, and rows in cones.

    A variable is of the kind ``F`` (free), ``L+``, ``L-`` or ``L=``. Linear constraints and bounds are cones of one row
    each, in the model's order, before all other cones.
    """

    name: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    integer: tuple[int, ...]
    objective: Affine
    maximise: bool
    cones: tuple[ConeRows, ...]


def refuse_kinds(program: Program, suffix: str, able: Sequence[str] = ()) -> None:
    """Raise FileError for a part of ``Program.unsupported`` of a kind that is not held by the format of a suffix."""
    for kind, name in program.unsupported.items():
        if kind not in able:
            raise FileError(
                f"cannot export '{program.model.name}' to {suffix}: it has a part of the kind {kind} ('{name}')",
                TRANSFORMATIONS.get(kind, STATE),
            )


def conic_model(program: Program, suffix: str) -> ConicModel:
    """Return the conic form of a program, in original units; FileError, which names the suffix, where it has none."""
    refuse_kinds(program, suffix)
    _refuse(program, suffix)
    names = [str(v.name) for v in program.variables]
    cost = _form(np.arange(program.n), program.sign * program.c)
    cones = [*_rows(program), *_bounds(program), *_quadratic_and_semidefinite(program)]
    kinds = [_kind(lb, ub) for lb, ub in zip(program.lb, program.ub, strict=True)]
    if program.P.count_nonzero():
        # x'Px/2 <= t with P = F'F is ||Fx||^2 <= 2 t 1, a rotated cone.
        every = np.arange(program.n)
        half, one = Affine({program.n: 1.0}, 0.0, EPIGRAPH), Affine({}, 1.0, "1")
        factor = pivoted_cholesky(program.P.toarray())
        tail = tuple(Affine(_form(every, row), 0.0, f"factor {k}") for k, row in enumerate(factor))
        cones.append(ConeRows("QR", (half, one, *tail)))
        cost[program.n] = program.sign
        names.append(EPIGRAPH)
        kinds.append("F")
    return ConicModel(
        name=str(program.model.name),
        names=tuple(names),
        kinds=tuple(kinds),
        integer=tuple(np.flatnonzero(program.integer).tolist()),
        objective=Affine(cost, float(program.sign * program.c0), "objective"),
        maximise=program.sign < 0,
        cones=tuple(cones),
    )


def _refuse(program: Program, suffix: str) -> None:
    failed = f"cannot export '{program.model.name}' to {suffix}"
    no_other = "no format holds that beside a linear matrix inequality" if program.cones.orders.any() else ""
    if program.nonconic:
        (name, reason), more = program.nonconic[0], len(program.nonconic) - 1
        others = f" (and {more} more)" if more else ""
        raise FileError(
            f"{failed}, which holds linear constraints and convex cones: '{name}'{others} is neither ({reason})",
            no_other or "use .nl",
        )
    if not program.convex:
        raise FileError(
            f"{failed}: the quadratic objective '{program.objective_name}' is not convex", no_other or "use .nl or .lp"
        )


def _form(columns: Indices, values: Vector) -> dict[int, float]:
    keep = np.flatnonzero(values)
    return dict(zip(columns[keep].tolist(), values[keep].tolist(), strict=True))


def _kind(lb: float, ub: float) -> str:
    """Return the cone of a variable: its bounds of 0. Every other bound is a row."""
    if lb == 0:
        return "L=" if ub == 0 else "L+"
    return "L-" if ub == 0 else "F"


def _rows(program: Program) -> Iterator[ConeRows]:
    A = program.A
    for i, constraint in enumerate(program.constraints):
        part = slice(A.indptr[i], A.indptr[i + 1])
        yield from _interval(_form(A.indices[part], A.data[part]), program.lo[i], program.hi[i], constraint.name)


def _bounds(program: Program) -> Iterator[ConeRows]:
    """Yield the bounds that the kind of a variable does not express."""
    for j, variable in enumerate(program.variables):
        lb, ub = float(program.lb[j]), float(program.ub[j])
        if _kind(lb, ub) != "L=":
            yield from _interval({j: 1.0}, -np.inf if lb == 0 else lb, np.inf if ub == 0 else ub, variable.name)


def _interval(form: dict[int, float], lo: float, hi: float, name: str) -> Iterator[ConeRows]:
    """Yield the cones of ``lo <= form <= hi``."""
    if lo == hi:
        yield ConeRows("L=", (Affine(form, -float(lo), name),))
        return
    if hi != np.inf:
        yield ConeRows("L-", (Affine(form, -float(hi), name),))
    if lo != -np.inf:
        yield ConeRows("L+", (Affine(form, -float(lo), name),))


def _quadratic_and_semidefinite(program: Program) -> Iterator[ConeRows]:
    cones, G = program.cones, program.cones.G
    for k, constraint in enumerate(cones.constraints):
        order = int(cones.orders[k])
        # A ConeStack multiplies the off-diagonal entries of a matrix by the root of 2, a file has the entries.
        factors = [1.0 if i == j else float(np.sqrt(2.0)) for j in range(order) for i in range(j + 1)]
        rows = []
        for r, factor in zip(range(cones.starts[k], cones.starts[k + 1]), factors or repeat(1.0), strict=False):
            part = slice(G.indptr[r], G.indptr[r + 1])
            form = _form(G.indices[part], G.data[part] / factor)
            rows.append(Affine(form, float(cones.h[r] / factor), constraint.name))
        yield ConeRows("PSD" if order else "Q", tuple(rows))


def pivoted_cholesky(P: Matrix) -> list[Vector]:
    """Return rows F with F'F = P for a positive semidefinite P (n, n), by the Cholesky method with pivots.

    The largest pivot comes first, relative to its diagonal entry, so that features in different units count alike. The
    number of rows is the numerical rank, and the entries of a sparse or integer P stay readable, unlike eigenvectors.
    """
    rest, rows = P.copy(), []
    size = np.where(np.diag(P) > 0, np.diag(P), 1.0)
    for _ in range(len(P)):
        k = int(np.argmax(np.diag(rest) / size))
        if rest[k, k] <= SINGULAR * size[k]:
            break
        row: Vector = rest[k] / np.sqrt(rest[k, k])
        row[k] = np.sqrt(rest[k, k])
        near = np.flatnonzero(row)
        rest[np.ix_(near, near)] -= np.outer(row[near], row[near])
        rest[k, :] = rest[:, k] = 0.0  # exactly, as rounding would leave a pivot that is taken again
        rows.append(row)
    return rows
