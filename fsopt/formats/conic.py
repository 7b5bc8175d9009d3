r"""A compiled program as rows in cones, in the units and the sense of the model: what the conic formats hold.

Quadratic constraints in the shapes that the models write become cones with the numbers of the model in them,
without a factorization, so that a file is readable and the same on every machine:

* :math:`\sum a_i x_i^2 \le b^2 t^2` and :math:`\sum a_i x_i^2 \le d`: a second-order cone;
* :math:`\sum a_i x_i^2 \le s\,(c't)` and :math:`\sum a_i x_i^2 \le c't + d`: a rotated cone.

Any other cone is taken from ``program.cones``, a linear matrix inequality as the upper triangle of its matrix of
variables. A convex quadratic objective moves to a column of its own, bounded below by a rotated cone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from math import isqrt

import numpy as np
from pyomo.environ import Block, Constraint, ExternalFunction, Objective, Param, RangeSet, Set, Suffix, Var
from pyomo.environ import Expression as NamedExpression
from pyomo.repn.util import categorize_valid_components

from fsopt.compiler import Program
from fsopt.compiler.classes import convex
from fsopt.compiler.rows import read_row
from fsopt.errors import FileError
from fsopt.typing import Indices, Vector

HELD = {Block, Constraint, ExternalFunction, NamedExpression, Objective, Param, RangeSet, Set, Suffix, Var}
"""Kinds of components that mean nothing beyond what the compiler reads."""
SINGULAR = 1e-14
"""Pivots below this fraction of their diagonal entry end the factorization of a quadratic objective."""


@dataclass(frozen=True)
class Affine:
    """An affine row ``sum_j form[j] x_j + constant``, and the name of what it comes from."""

    form: dict[int, float]
    constant: float
    name: str


@dataclass(frozen=True)
class Cone:
    """Rows that lie in a cone: ``L=`` (0), ``L+``, ``L-``, ``Q`` (first row bounds the norm of the others),
    ``QR`` (twice the product of the first two bounds the squared norm of the others, both >= 0) or ``PSD``
    (the upper triangle, column by column, of a positive semidefinite matrix).
    """  # fmt: skip

    kind: str
    rows: tuple[Affine, ...]

    @property
    def order(self) -> int:
        """Number of rows of the matrix of a ``PSD`` cone."""
        return isqrt(8 * len(self.rows) + 1) // 2

    def triangle(self) -> Iterator[tuple[int, int, Affine]]:
        """Yield row <= column, counted from 0, and the entry of the matrix of a ``PSD`` cone."""
        places = ((i, j) for j in range(self.order) for i in range(j + 1))
        yield from ((i, j, entry) for (i, j), entry in zip(places, self.rows, strict=True))


@dataclass(frozen=True)
class ConicModel:
    """Columns, a linear objective in the model's sense, and rows in cones.

    Attributes
    ----------
    name : of the model.
    names, kinds : of each column; the kind is ``F`` (free), ``L+``, ``L-`` or ``L=``.
    integer : the integer columns.
    objective : affine; ``maximise`` is its sense.
    cones : linear rows and bounds as cones of one row each, in the model's order, then the others.
    """

    name: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    integer: tuple[int, ...]
    objective: Affine
    maximise: bool
    cones: tuple[Cone, ...]


def conic_model(program: Program, suffix: str) -> ConicModel:
    """Return the conic form of a program, in original units.

    Raises
    ------
    FileError : something that is neither linear nor a recognised cone, by name; ``suffix`` is for the message.
    """
    _refuse(program, suffix)
    names = [v.name for v in program.variables]
    cost = _form(np.arange(program.n), program.sign * program.c)
    cones = [*_rows(program), *_bounds(program), *_curved(program)]
    kinds = [_kind(lb, ub) for lb, ub in zip(program.lb, program.ub, strict=True)]
    if program.P.count_nonzero():
        factor = _factor(program.P.toarray())
        half = Affine({program.n: 1.0}, 0.0, "epigraph of the quadratic objective")
        one = Affine({}, 1.0, "1")
        tail = tuple(Affine(_form(np.arange(program.n), row), 0.0, f"factor {k}") for k, row in enumerate(factor))
        cones.append(Cone("QR", (half, one, *tail)))
        cost[program.n] = program.sign
        names.append("epigraph of the quadratic objective")
        kinds.append("F")
    objective = Affine(cost, float(program.sign * program.c0), "objective")
    model = ConicModel(
        str(program.model.name), tuple(names), tuple(kinds), tuple(np.flatnonzero(program.integer).tolist()),
        objective, program.sign < 0, tuple(cones),
    )  # fmt: skip
    _refuse_infinite(model, suffix)
    return model


def _refuse(program: Program, suffix: str) -> None:
    what = f"cannot export '{program.model.name}' to {suffix}"
    without = "no format holds that beside a linear matrix inequality" if program.cones.orders.any() else ""
    if program.nonconic:
        (name, reason), more = program.nonconic[0], len(program.nonconic) - 1
        raise FileError(
            f"{what}, which holds linear rows and convex cones: '{name}'{f' (and {more} more)' * (more > 0)} is "
            f"no such thing, {reason}",
            without or "use .nl or .gms",
        )
    if not convex(program.P):
        raise FileError(
            f"{what}: the quadratic objective '{program.objective_name}' is not convex", without or "use .nl or .lp"
        )
    _, unknown = categorize_valid_components(program.model, active=True, valid=HELD, targets=set())
    if unknown:
        kinds = ", ".join(sorted(kind.__name__ for kind in unknown))
        component = next(iter(unknown.values()))[0]
        raise FileError(
            f"{what}: it has components of the kind {kinds} ('{component.name}')", without or "use .nl or .gms"
        )


def _refuse_infinite(model: ConicModel, suffix: str) -> None:
    for row in (model.objective, *(row for cone in model.cones for row in cone.rows)):
        if not np.all(np.isfinite([row.constant, *row.form.values()])):
            raise FileError(f"cannot export '{model.name}' to {suffix}: '{row.name}' has a number that is not finite",
                            "correct the data of the model")  # fmt: skip


def _form(columns: Indices, values: Vector) -> dict[int, float]:
    keep = np.flatnonzero(values)
    return dict(zip(columns[keep].tolist(), values[keep].tolist(), strict=True))


def _kind(lb: float, ub: float) -> str:
    if lb == 0:
        return "L=" if ub == 0 else "L+"
    return "L-" if ub == 0 else "F"


def _rows(program: Program) -> Iterator[Cone]:
    A = program.A
    for i, constraint in enumerate(program.constraints):
        part = slice(A.indptr[i], A.indptr[i + 1])
        yield from _sides(_form(A.indices[part], A.data[part]), program.lo[i], program.hi[i], constraint.name)


def _bounds(program: Program) -> Iterator[Cone]:
    """Yield the bounds that the kind of a column does not say."""
    for j, variable in enumerate(program.variables):
        lb, ub = float(program.lb[j]), float(program.ub[j])
        if _kind(lb, ub) != "L=":
            yield from _sides({j: 1.0}, -np.inf if lb == 0 else lb, np.inf if ub == 0 else ub, variable.name)


def _sides(form: dict[int, float], lo: float, hi: float, name: str) -> Iterator[Cone]:
    if lo == hi:
        yield Cone("L=", (Affine(form, -float(lo), name),))
        return
    if hi != np.inf:
        yield Cone("L-", (Affine(form, -float(hi), name),))
    if lo != -np.inf:
        yield Cone("L+", (Affine(form, -float(lo), name),))


def _curved(program: Program) -> Iterator[Cone]:
    cones, G = program.cones, program.cones.G
    for k, constraint in enumerate(cones.constraints):
        order = int(cones.orders[k])
        exact = None if order else _ExactCone(program, constraint, float(cones.sense[k])).cone()
        if exact is not None:
            yield exact
            continue
        # The vector of a matrix has its off-diagonal entries times the root of 2, a file has the entries.
        factors = [1.0 if i == j else float(np.sqrt(2.0)) for j in range(order) for i in range(j + 1)]
        rows = []
        for r, factor in zip(range(cones.starts[k], cones.starts[k + 1]), factors or repeat(1.0), strict=False):
            part = slice(G.indptr[r], G.indptr[r + 1])
            form = _form(G.indices[part], G.data[part] / factor)
            rows.append(Affine(form, float(cones.h[r] / factor), constraint.name))
        yield Cone("PSD" if order else "Q", tuple(rows))


class _ExactCone:
    """One quadratic constraint, turned so that it reads ``squares + cross + linear + constant <= 0``."""

    def __init__(self, program: Program, constraint: object, side: float) -> None:
        row = read_row(constraint, program.column)
        self.program = program
        self.name = row.constraint.name
        entries: dict[tuple[int, int], float] = {}
        for i, j, v in row.terms.quadratic:
            place = (min(i, j), max(i, j))
            entries[place] = entries.get(place, 0.0) + side * v
        self.squares = {i: v for (i, j), v in sorted(entries.items()) if i == j and v}
        self.cross = {place: v for place, v in sorted(entries.items()) if place[0] != place[1] and v}
        self.linear = {j: side * v for j, v in sorted(row.terms.affine(program.column).items()) if v}
        self.constant = side * row.terms.constant - (row.hi if side > 0 else -row.lo)

    def cone(self) -> Cone | None:
        """Return the cone, or None where the constraint has none of the shapes that need no factorization."""
        negative = [j for j, v in self.squares.items() if v < 0]
        if self.cross:
            return None if negative or self.linear or self.constant else self._product()
        if negative:
            return None if self.linear or self.constant or len(negative) > 1 else self._norm(negative[0])
        if self.linear:
            bound = Affine({j: -v for j, v in self.linear.items()}, 0.0 - self.constant, self.name)
            return Cone("QR", (bound, self._affine({}, 0.5), *self._tail()))
        return Cone("Q", (self._affine({}, float(np.sqrt(-self.constant))), *self._tail()))

    def _norm(self, head: int) -> Cone | None:
        sign = self._sign({head: 1.0})
        size = float(np.sqrt(-self.squares[head]))
        return Cone("Q", (self._affine({head: sign * size}), *self._tail())) if sign else None

    def _product(self) -> Cone | None:
        """Return the rotated cone of ``squares <= x_k (c't)``, both factors with a sign that the bounds show."""
        for k in sorted(set.intersection(*(set(place) for place in self.cross))):
            other = {i + j - k: -v for (i, j), v in self.cross.items()}
            sign = self._sign({k: 1.0})
            apart = not ({k, *other} & set(self.squares))
            if apart and sign and sign == self._sign(other):
                half = {j: sign * v / 2 for j, v in other.items()}
                return Cone("QR", (self._affine({k: sign}), self._affine(half), *self._tail()))
        return None

    def _sign(self, form: dict[int, float]) -> float:
        """Return +1 or -1 if the bounds show that the form or its negative is >= 0, else 0."""
        for sign in (1.0, -1.0):
            if all(self.program.lb[j] >= 0 if sign * v > 0 else self.program.ub[j] <= 0 for j, v in form.items()):
                return sign
        return 0.0

    def _tail(self) -> list[Affine]:
        return [self._affine({j: float(np.sqrt(v))}) for j, v in self.squares.items() if v > 0]

    def _affine(self, form: dict[int, float], constant: float = 0.0) -> Affine:
        return Affine(form, constant, self.name)


def _factor(P: Vector) -> list[Vector]:
    """Return rows F with F'F = P for a positive semidefinite P, by the Cholesky method with pivots."""
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
        rest[k, :] = rest[:, k] = 0.0
        rows.append(row)
    return rows
