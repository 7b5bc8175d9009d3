r"""A compiled program in rational numbers, and its dual, both as sets of points.

.. math::

    \min\ \tfrac12 x'Px + c'x + c_0 \quad\text{s.t.}\quad \ell \le Ax \le u,\quad
    \underline x \le x \le \overline x,\quad \sum_k \omega_k v_k(x)^2 \le l(x) r(x),\quad S(x) \succeq 0.

The dual point of it has multipliers y of the rows, :math:`(\alpha, \beta, \gamma)` of each cone with
:math:`\alpha, \beta \ge 0` and :math:`\sum_k \gamma_k^2/\omega_k \le 4\alpha\beta`, a matrix :math:`Z \succeq 0`
of each matrix inequality, and a point :math:`\hat x` of the quadratic objective.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice, pairwise
from typing import Any, TypeAlias

import numpy as np

from fsopt.answers.results import Point
from fsopt.certificates.exact.cones import Cone, cone_of, dual_of
from fsopt.certificates.exact.forms import Form
from fsopt.compiler import Program
from fsopt.errors import NotShownError
from fsopt.typing import Mask
from fsopt.typing import Vector as Floats
from fsopt.verifier.programs import semidefinite, triangle

Limits: TypeAlias = Sequence[Fraction | None]
"""Limits of forms; None for an infinite one."""
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

    @cached_property
    def joint(self) -> tuple[Form, ...]:
        """The inequalities of several variables."""
        return tuple(form for form in self.inequalities if len(form.columns) > 1)

    @cached_property
    def limits(self) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
        """Lower and upper bounds of the variables that are alone in an equation, inequality or factor of a cone."""
        lower: dict[int, Fraction] = {}
        upper: dict[int, Fraction] = {}
        forms = [*self.equations, *(form.times(-1) for form in self.equations), *self.inequalities]
        for form in [*forms, *(form for cone in self.cones for form in (cone.left, cone.right))]:
            if len(form.columns) != 1:
                continue
            j, value = form.columns[0], -form.offset / form.coefficients[0]
            if form.values[0] > 0:
                lower[j] = max(lower.get(j, value), value)
            else:
                upper[j] = min(upper.get(j, value), value)
        return lower, upper


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
        """What the diagonal of P lacks of a convex objective, of the order of rounding; NotShownError for more."""
        if all(i == j for i, j in self.P) and all(v > 0 for v in self.P.values()):
            return {}
        largest = max(map(abs, self.P.values()), default=Fraction(0))
        for share in (Fraction(0), *SHIFTS):
            shift = dict.fromkeys(self.curved, share * largest) if share else {}
            shifted = {(j, j): self.P.get((j, j), Fraction(0)) + s for j, s in shift.items()}
            if semidefinite({**self.P, **shifted}):
                return shift
        raise NotShownError("the quadratic objective is not convex in rational numbers")

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
        forms = (*self.rows, *(Form.of([j], [Fraction(1)]) for j in range(self.n)))
        sides = _sides(forms, (*self.lo, *self.lb), (*self.hi, *self.ub))
        return PointSet(self.n, *sides, self.cones, self.matrices)

    @cached_property
    def reduced_costs(self) -> tuple[Form, ...]:
        """The reduced cost of each variable, an affine form in the dual variables."""
        columns: list[dict[int, Fraction]] = [{} for _ in range(self.n)]
        for place, form, factor in self._terms():
            for j, v in zip(form.columns, form.times(-factor).coefficients, strict=True):
                columns[j][place] = v
        first = self.dual_size - len(self.curved)
        of_point = {j: first + k for k, j in enumerate(self.curved)}
        for (i, j), entry in self.P.items():
            columns[i][of_point[j]] = columns[j][of_point[i]] = entry
        return tuple(Form.of([*terms], terms.values(), c) for terms, c in zip(columns, self.c, strict=True))

    def _terms(self) -> list[tuple[int, Form, int]]:
        """Return (dual variable, the form that it multiplies, how often)."""
        found = [(i, row, 1) for i, row in enumerate(self.rows)]
        for cone in self.cones:
            found += [(len(found) + k, form, 1) for k, form in enumerate(cone.forms)]
        for matrix in self.matrices:
            places = zip(triangle(matrix.order), matrix.entries, strict=True)
            found += [(len(found) + k, form, 2 - (i == j)) for k, ((i, j), form) in enumerate(places)]
        return found

    @cached_property
    def dual_size(self) -> int:
        """Number of dual variables: rows, cones, matrices, and the point of the quadratic objective."""
        return len(self._terms()) + len(self.curved)

    @cached_property
    def duals(self) -> PointSet:
        """The feasible dual points."""
        single = [Form.of([k], [Fraction(1)]) for k in range(self.dual_size)]
        forms = (*single[: len(self.rows)], *self.reduced_costs)
        least, most = (
            tuple(None if end is not None else Fraction(0) for end in ends)
            for ends in ((*self.hi, *self.ub), (*self.lo, *self.lb))
        )
        rest, cones = iter(single[len(self.rows) :]), []
        matrices = []
        for cone in self.cones:
            left, right, *tails = islice(rest, len(cone.forms))
            cones.append(Cone(tuple(tails), tuple(1 / (4 * w) for w in cone.weights), left, right))
        for matrix in self.matrices:
            matrices.append(Matrix(matrix.order, tuple(islice(rest, len(matrix.entries)))))
        return PointSet(self.dual_size, *_sides(forms, least, most), tuple(cones), tuple(matrices))


def _sides(forms: Sequence[Form], lo: Limits, hi: Limits) -> tuple[tuple[Form, ...], tuple[Form, ...]]:
    """Return the equations and the inequalities ``form >= 0`` of forms between limits."""
    limits = list(zip(forms, lo, hi, strict=True))
    equations = tuple(form.less(low) for form, low, high in limits if low is not None and low == high)
    inequalities: list[Form] = []
    for form, low, high in limits:
        if low is None or low != high:
            inequalities += [] if low is None else [form.less(low)]
            inequalities += [] if high is None else [form.less(high).times(-1)]
    return equations, tuple(inequalities)


def exact_program(program: Program) -> ExactProgram:
    """Return a compiled program in rational numbers; NotShownError where it is not convex but for its integers."""
    if program.unsupported or program.nonconic:
        name = next(iter(program.unsupported.values()), "") or program.nonconic[0][0]
        raise NotShownError(f"'{name}' is not convex in the arrays", "the statement stays verified numerically")
    A = program.A.tocsr()
    parts = [slice(*ends) for ends in pairwise(A.indptr.tolist())]
    count = int(np.sum(program.cones.orders == 0)) if len(program.cones) else 0
    return ExactProgram(
        P=_upper(program.P),
        c=tuple(map(Fraction, program.c.tolist())),
        c0=Fraction(program.c0),
        rows=tuple(Form.of(A.indices[part].tolist(), map(Fraction, A.data[part].tolist())) for part in parts),
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
            parts += (z[block] / [1.0 if i == j else np.sqrt(2.0) for i, j in triangle(order)]).tolist()
    return np.array([*parts, *point.x[list(exact.curved)].tolist()])


def _matrix(program: Program, place: int) -> Matrix:
    block = program.cones.G[int(program.cones.starts[place]) : int(program.cones.starts[place + 1])].tocsr()
    entries = tuple(Form.of([int(j)], [Fraction(1)]) for j in block.indices)
    return Matrix(int(program.cones.orders[place]), entries)


def limits_of(values: Floats) -> tuple[Fraction | None, ...]:
    """Return bounds in rational numbers; None for an infinite one."""
    return tuple(Fraction(v) if np.isfinite(v) else None for v in values.tolist())
