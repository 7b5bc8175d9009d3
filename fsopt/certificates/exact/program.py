r"""A compiled program in rational numbers, and its dual, both as sets of points.

.. math::

    \min\ \tfrac12 x'Px + c'x + c_0 \quad\text{s.t.}\quad \ell \le Ax \le u,\quad
    \underline x \le x \le \overline x,\quad \sum_k \omega_k v_k(x)^2 \le l(x) r(x),\quad S(x) \succeq 0.

The dual point of it has multipliers y of the rows, :math:`(\alpha, \beta, \gamma)` of each cone with
:math:`\alpha, \beta \ge 0` and :math:`\sum_k \gamma_k^2/\omega_k \le 4\alpha\beta`, a matrix :math:`Z \succeq 0`
of each matrix inequality, and a point :math:`\hat x` of the quadratic objective.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from fsopt.answers.results import Point
from fsopt.certificates.exact.cones import Cone, cone_of, dual_of
from fsopt.certificates.exact.forms import Form, fractions_of
from fsopt.compiler import Program
from fsopt.errors import NotShownError
from fsopt.typing import Mask
from fsopt.typing import Vector as Floats
from fsopt.verifier.programs import semidefinite

SHIFTS = tuple(Fraction(1, 2**k) for k in (52, 48, 44, 40, 36, 32))
"""Additions to the diagonal of a matrix that rounding made indefinite, relative to its largest entry."""


@dataclass(frozen=True)
class Matrix:
    """The inequality ``S(x) >= 0`` in the semidefinite order; entries of the upper triangle, column by column."""

    order: int
    entries: tuple[Form, ...]


@dataclass(frozen=True)
class PointSet:
    """Points that satisfy equations, inequalities ``form >= 0``, cones and matrix inequalities.

    Attributes
    ----------
    size : number of variables.
    """

    size: int
    equations: tuple[Form, ...]
    inequalities: tuple[Form, ...]
    cones: tuple[Cone, ...]
    matrices: tuple[Matrix, ...]


@dataclass(frozen=True)
class ExactProgram:
    """The program of the module's docstring; bounds that are None are infinite.

    Attributes
    ----------
    P : entries (i, j), i <= j, of the symmetric matrix that are not 0.
    sign : +1 for a minimisation, -1 for a maximisation, stored as its negative.
    integer : mask of the integer variables, which are relaxed here.
    """

    P: Mapping[tuple[int, int], Fraction]
    c: tuple[Fraction, ...]
    c0: Fraction
    rows: tuple[Form, ...]
    lo: tuple[Fraction | None, ...]
    hi: tuple[Fraction | None, ...]
    lb: tuple[Fraction | None, ...]
    ub: tuple[Fraction | None, ...]
    cones: tuple[Cone, ...]
    matrices: tuple[Matrix, ...]
    integer: Mask
    sign: int = 1

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.c)

    @cached_property
    def curved(self) -> tuple[int, ...]:
        """The variables with a quadratic term in the objective."""
        return tuple(sorted({j for pair in self.P for j in pair}))

    @cached_property
    def shift(self) -> dict[int, Fraction]:
        """What the diagonal of P lacks to be that of a convex objective, of the order of its rounding.

        Raises
        ------
        NotShownError : it lacks more.
        """
        return _shift(self.P)

    @cached_property
    def relaxed(self) -> ExactProgram:
        """The convex program below this one: -s x^2 / 2 of a shift is above its secant between the bounds of x."""
        if not self.shift:
            return self
        P: dict[tuple[int, int], Fraction] = dict(self.P)
        c, c0 = list(self.c), self.c0
        for j, s in self.shift.items():
            lo, hi = self.lb[j], self.ub[j]
            if lo is None or hi is None:
                raise NotShownError("the quadratic objective is not convex in rational numbers")
            P[j, j] = P.get((j, j), Fraction(0)) + s
            c[j] -= s * (lo + hi) / 2
            c0 += s * lo * hi / 2
        return replace(self, P=P, c=tuple(c), c0=c0)

    @cached_property
    def points(self) -> PointSet:
        """The feasible points."""
        equations, inequalities = [], []
        unit = Fraction(1)
        limits = [(row, lo, hi) for row, lo, hi in zip(self.rows, self.lo, self.hi, strict=True)]
        limits += [(Form.of([j], [unit]), lo, hi) for j, (lo, hi) in enumerate(zip(self.lb, self.ub, strict=True))]
        for form, lo, hi in limits:
            if lo is not None and lo == hi:
                equations.append(form.less(lo))
                continue
            if lo is not None:
                inequalities.append(form.less(lo))
            if hi is not None:
                inequalities.append(form.less(hi).negative())
        return PointSet(self.n, tuple(equations), tuple(inequalities), self.cones, self.matrices)

    @cached_property
    def reduced_costs(self) -> tuple[Form, ...]:
        """The reduced cost of each variable, an affine form in the dual variables."""
        columns: list[list[tuple[int, int, int]]] = [[] for _ in range(self.n)]
        for place, form, factor in self._terms():
            for j, v in zip(form.columns, form.values, strict=True):
                columns[j].append((place, -factor * v, form.denominator))
        first = self.dual_size - len(self.curved)
        of_point = {j: first + k for k, j in enumerate(self.curved)}
        for (i, j), entry in self.P.items():
            columns[i].append((of_point[j], entry.numerator, entry.denominator))
            if i != j:
                columns[j].append((of_point[i], entry.numerator, entry.denominator))
        return tuple(_column(terms, c) for terms, c in zip(columns, self.c, strict=True))

    def _terms(self) -> list[tuple[int, Form, int]]:
        """Return (dual variable, the form that it multiplies, how often)."""
        found = [(i, row, 1) for i, row in enumerate(self.rows)]
        for cone in self.cones:
            found += [(len(found) + k, form, 1) for k, form in enumerate(cone.forms)]
        for matrix in self.matrices:
            twice = [1 if i == j else 2 for j in range(matrix.order) for i in range(j + 1)]
            found += [(len(found) + k, form, twice[k]) for k, form in enumerate(matrix.entries)]
        return found

    @cached_property
    def offsets(self) -> tuple[Fraction, ...]:
        """What each dual variable of a cone or a matrix takes from the bound: the constant of its form."""
        held = self._terms()[len(self.rows) :]
        return tuple(factor * form.offset for _, form, factor in held)

    @cached_property
    def dual_size(self) -> int:
        """Number of dual variables: rows, cones, matrices, and the point of the quadratic objective."""
        return len(self._terms()) + len(self.curved)

    @cached_property
    def duals(self) -> PointSet:
        """The feasible dual points."""
        equations, inequalities = [], []
        unit = Fraction(1)
        limits = [(Form.of([i], [unit]), lo, hi) for i, (lo, hi) in enumerate(zip(self.lo, self.hi, strict=True))]
        limits += list(zip(self.reduced_costs, self.lb, self.ub, strict=True))
        for form, lo, hi in limits:
            if lo is None and hi is None:
                equations.append(form)
            elif hi is None:
                inequalities.append(form)
            elif lo is None:
                inequalities.append(form.negative())
        cones, matrices = [], []
        place = len(self.rows)
        for cone in self.cones:
            left, right, *tails = (Form.of([place + k], [unit]) for k in range(len(cone.forms)))
            cones.append(Cone(tuple(tails), tuple(1 / (4 * w) for w in cone.weights), left, right))
            place += len(cone.forms)
        for matrix in self.matrices:
            size = len(matrix.entries)
            matrices.append(Matrix(matrix.order, tuple(Form.of([place + k], [unit]) for k in range(size))))
            place += size
        return PointSet(self.dual_size, tuple(equations), tuple(inequalities), tuple(cones), tuple(matrices))

    def with_fixed(self, values: dict[int, Fraction]) -> ExactProgram:
        """Return the program with some variables fixed."""
        lb, ub = list(self.lb), list(self.ub)
        for j, value in values.items():
            lb[j] = ub[j] = value
        return replace(self, lb=tuple(lb), ub=tuple(ub))


def exact_program(program: Program) -> ExactProgram:
    """Return a compiled program in rational numbers.

    Raises
    ------
    NotShownError : it is not convex in the form of the module, its integers apart.
    """
    if program.unsupported or program.nonconic:
        name = next(iter(program.unsupported.values()), "") or program.nonconic[0][0]
        raise NotShownError(f"'{name}' is not convex in the arrays", "the statement stays verified numerically")
    rows = []
    A = program.A.tocsr()
    for i in range(A.shape[0]):
        part = slice(A.indptr[i], A.indptr[i + 1])
        rows.append(Form.of(A.indices[part].tolist(), fractions_of(A.data[part].tolist())))
    count = int(np.sum(program.cones.orders == 0)) if len(program.cones) else 0
    return ExactProgram(
        P=_upper(program.P),
        c=tuple(fractions_of(program.c.tolist())),
        c0=Fraction(program.c0),
        rows=tuple(rows),
        lo=limits_of(program.lo),
        hi=limits_of(program.hi),
        lb=limits_of(program.lb),
        ub=limits_of(program.ub),
        cones=tuple(cone_of(program, k) for k in range(count)),
        matrices=tuple(_matrix(program, k) for k in range(count, len(program.cones))),
        integer=program.integer,
        sign=int(program.sign),
    )


def _upper(P: Any) -> dict[tuple[int, int], Fraction]:
    """Return the upper triangle of a symmetric sparse matrix."""
    whole = P.tocoo()
    entries = zip(whole.row.tolist(), whole.col.tolist(), whole.data.tolist(), strict=True)
    return {(i, j): Fraction(v) for i, j, v in sorted(entries) if i <= j and v}


def _shift(P: Mapping[tuple[int, int], Fraction]) -> dict[int, Fraction]:
    """Return what the diagonal of a matrix lacks to be semidefinite; empty for nothing."""
    if all(i == j for i, j in P) and all(v > 0 for v in P.values()):
        return {}
    columns = {j for pair in P for j in pair}
    largest = max(map(abs, P.values()), default=Fraction(0))
    for share in (Fraction(0), *SHIFTS):
        shift = dict.fromkeys(columns, share * largest) if share else {}
        shifted = {**P, **{(j, j): P.get((j, j), Fraction(0)) + s for j, s in shift.items()}}
        if semidefinite(shifted):
            return shift
    raise NotShownError("the quadratic objective is not convex in rational numbers")


def dual_start(program: Program, exact: ExactProgram, point: Point) -> Floats:
    """Return the dual variables (dual_size,) near the multipliers of a point, not yet feasible."""
    y, z = point.multipliers
    parts = [*y.tolist()]
    G = program.cones.G.tocsr()
    h, starts = program.cones.h, program.cones.starts
    for k in range(len(program.cones)):
        block = slice(int(starts[k]), int(starts[k + 1]))
        if k < len(exact.cones):
            functional = np.asarray(G[block].T @ z[block]).ravel()
            parts += dual_of(exact.cones[k], functional, float(h[block] @ z[block]))
        else:
            order = int(program.cones.orders[k])
            whole = [i == j for j in range(order) for i in range(j + 1)]
            parts += np.where(whole, z[block], z[block] / np.sqrt(2.0)).tolist()
    return np.array([*parts, *point.x[list(exact.curved)].tolist()])


def _matrix(program: Program, place: int) -> Matrix:
    block = program.cones.G[int(program.cones.starts[place]) : int(program.cones.starts[place + 1])].tocsr()
    entries = tuple(Form.of([int(j)], [Fraction(1)]) for j in block.indices)
    return Matrix(int(program.cones.orders[place]), entries)


def limits_of(values: Floats) -> tuple[Fraction | None, ...]:
    """Return bounds in rational numbers; None for an infinite one."""
    return tuple(Fraction(v) if np.isfinite(v) else None for v in values.tolist())


def _column(terms: Sequence[tuple[int, int, int]], constant: Fraction) -> Form:
    """Return the form of terms (column, numerator, denominator) and a constant."""
    denominator = math.lcm(constant.denominator, *{below for _, _, below in terms})
    values = tuple(v * (denominator // below) for _, v, below in terms)
    whole = constant.numerator * (denominator // constant.denominator)
    return Form(tuple(j for j, _, _ in terms), values, whole, denominator)
