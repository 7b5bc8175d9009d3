r"""A compiled program in rational numbers, and its dual, both as sets of points.

.. math::

    \min\ \tfrac12 x'Px + c'x + c_0 \quad\text{s.t.}\quad \ell \le Ax \le u,\quad
    \underline x \le x \le \overline x,\quad \sum_k \omega_k v_k(x)^2 \le l(x) r(x),\quad S(x) \succeq 0,

with affine forms v_k, :math:`l \ge 0`, :math:`r \ge 0` and the entries of S, and rational weights :math:`\omega_k > 0`.
Square roots of coefficients, which the arrays for solvers need, do not occur: :math:`\|x\|^2 \le W` has l = W, r = 1.
A constraint is a kind, forms, and what they satisfy, as the verifier has it: a row and its limits; a cone with the
forms l, r and v, and its weights; a matrix inequality with the upper triangle, column by column, and its order.

The dual point of it has multipliers y of the rows, :math:`(\alpha, \beta, \gamma)` of each cone with
:math:`\alpha, \beta \ge 0` and :math:`\sum_k \gamma_k^2/\omega_k \le 4\alpha\beta`, a matrix :math:`Z \succeq 0`
of each matrix inequality, and a point :math:`\hat x` of the quadratic objective.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import count, pairwise
from typing import Any, TypeAlias

import numpy as np

from fsopt.answers.results import Point
from fsopt.certificates.exact.linear import Form, stacked
from fsopt.compiler import Program
from fsopt.compiler.expressions import read_row
from fsopt.errors import NotShownError
from fsopt.typing import Mask
from fsopt.typing import Vector as Floats
from fsopt.verifier.programs import semidefinite, triangle
from fsopt.verifier.rationals import ONE, ZERO

Limit: TypeAlias = Fraction | None
"""A limit of a form; None for an infinite one."""
Constraint: TypeAlias = tuple[str, Sequence[Form], Any]
"""Kind, forms, and what they satisfy."""
ROW = "row"
CONE = "cone"
MATRIX = "matrix inequality"
SHIFTS = tuple(Fraction(1, 2**k) for k in (52, 48, 44, 40, 36, 32))
"""Additions to the diagonal of a matrix that rounding made indefinite, relative to its largest entry."""


@dataclass(frozen=True)
class PointSet:
    """Points (size,) that satisfy constraints."""

    size: int
    constraints: tuple[Constraint, ...]

    @cached_property
    def others(self) -> tuple[Constraint, ...]:
        """The cones and matrix inequalities."""
        return tuple(one for one in self.constraints if one[0] != ROW)

    @cached_property
    def rows(self) -> tuple[tuple[Form, Limit, Limit], ...]:
        """The rows of several variables, with their limits."""
        rows = [(*forms, *ends) for kind, forms, ends in self.constraints if kind == ROW]
        return tuple(row for row in rows if len(row[0].columns) != 1)

    @cached_property
    def limits(self) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
        """Lower and upper bounds of the variables that are alone in a row or in a factor of a cone."""
        lower: dict[int, Fraction] = {}
        upper: dict[int, Fraction] = {}
        rows = [(*forms, *ends) for kind, forms, ends in self.constraints if kind == ROW]
        rows += [(form, ZERO, None) for kind, forms, _ in self.others if kind == CONE for form in forms[:2]]
        for form, *ends in (row for row in rows if len(row[0].columns) == 1):
            (j,), (v,) = form.columns, form.coefficients
            low, high = (end if end is None else (end - form.offset) / v for end in ends[:: 1 if v > 0 else -1])
            if low is not None:
                lower[j] = max(lower.get(j, low), low)
            if high is not None:
                upper[j] = min(upper.get(j, high), high)
        return lower, upper


@dataclass(frozen=True)
class ExactProgram:
    """The program of the module's docstring; bounds that are None are infinite.

    Attributes
    ----------
    P : entries (i, j), i <= j, of the symmetric matrix that are not 0.
    constraints : rows, then cones, then matrix inequalities.
    sign : +1 for a minimisation, -1 for a maximisation, stored as its negative.
    integer : mask of the integer variables, which are relaxed here.
    """

    P: Mapping[tuple[int, int], Fraction]
    c: tuple[Fraction, ...]
    c0: Fraction
    constraints: tuple[Constraint, ...]
    lb: tuple[Limit, ...]
    ub: tuple[Limit, ...]
    integer: Mask
    sign: int = 1

    @cached_property
    def curved(self) -> tuple[int, ...]:
        """The variables with a quadratic term in the objective."""
        return tuple(sorted({j for pair in self.P for j in pair}))

    @cached_property
    def shift(self) -> dict[int, Fraction]:
        """What the diagonal of P lacks of a convex objective, of the order of rounding; NotShownError for more."""
        if all(i == j for i, j in self.P) and all(v > 0 for v in self.P.values()):
            return {}
        largest = max(map(abs, self.P.values()), default=ZERO)
        for share in (ZERO, *SHIFTS):
            shift = dict.fromkeys(self.curved, share * largest) if share else {}
            shifted = {(j, j): self.P.get((j, j), ZERO) + s for j, s in shift.items()}
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
            P[j, j] = P.get((j, j), ZERO) + s
            c[j] -= s * (lo + hi) / 2
            c0 += s * lo * hi / 2
        return replace(self, P=P, c=tuple(c), c0=c0)

    @cached_property
    def points(self) -> PointSet:
        """The feasible points."""
        return PointSet(len(self.c), (*self.constraints, *bounded(map(unit, range(len(self.c))), self.lb, self.ub)))

    @cached_property
    def reduced_costs(self) -> tuple[Form, ...]:
        """The reduced cost of each variable, an affine form in the dual variables."""
        columns: list[dict[int, Fraction]] = [{} for _ in self.c]
        terms = [
            pair for kind, forms, rule in self.constraints for pair in zip(forms, times(kind, forms, rule), strict=True)
        ]
        for place, (form, factor) in enumerate(terms):
            for j, v in zip(form.columns, form.coefficients, strict=True):
                columns[j][place] = -factor * v
        of_point = {j: len(terms) + k for k, j in enumerate(self.curved)}
        for (i, j), entry in self.P.items():
            columns[i][of_point[j]] = columns[j][of_point[i]] = entry
        return tuple(Form.of([*terms], terms.values(), c) for terms, c in zip(columns, self.c, strict=True))

    @cached_property
    def duals(self) -> PointSet:
        """The feasible dual points: multipliers of all forms of constraints, and that of the quadratic objective."""
        places, found = count(), list[Constraint]()
        for kind, forms, rule in self.constraints:
            own = [unit(next(places)) for _ in forms]
            if kind == ROW:
                found += bounded(own, *signs([rule[0]], [rule[1]]))
            else:
                found.append((kind, own, [1 / (4 * w) for w in rule] if kind == CONE else rule))
        rest = bounded(self.reduced_costs, *signs(self.lb, self.ub))
        return PointSet(next(places) + len(self.curved), (*found, *rest))


def unit(j: int) -> Form:
    """Return the form of a variable."""
    return Form.of([j], [ONE])


def bounded(forms: Iterable[Form], low: Iterable[Limit], high: Iterable[Limit]) -> list[Constraint]:
    """Return the constraints of forms between limits."""
    return [(ROW, [form], ends) for form, *ends in zip(forms, low, high, strict=True)]


def signs(low: Iterable[Limit], high: Iterable[Limit]) -> tuple[list[Limit], list[Limit]]:
    """Return the limits of multipliers: at least 0 without an upper limit, at most 0 without a lower one."""
    return [None if end is not None else ZERO for end in high], [None if end is not None else ZERO for end in low]


def times(kind: str, forms: Sequence[Form], rule: Any) -> list[int]:
    """Return how often each form of a constraint counts: an entry beside the diagonal stands for both places."""
    return [2 - (i == j) for i, j in triangle(rule)] if kind == MATRIX else [1] * len(forms)


def exact_program(program: Program) -> ExactProgram:
    """Return a compiled program in rational numbers; NotShownError where it is not convex but for its integers."""
    if program.unsupported or program.nonconic:
        name = next(iter(program.unsupported.values()), "") or program.nonconic[0][0]
        raise NotShownError(f"'{name}' is not convex in the arrays", "the statement stays verified numerically")
    A = program.A.tocsr()
    parts = [slice(*ends) for ends in pairwise(A.indptr.tolist())]
    rows = [Form.of(A.indices[part].tolist(), map(Fraction, A.data[part].tolist())) for part in parts]
    others = [matrix_of if order else cone_of for order in program.cones.orders.tolist()]
    return ExactProgram(
        P=_upper(program.P),
        c=tuple(map(Fraction, program.c.tolist())),
        c0=Fraction(program.c0),
        constraints=(
            *bounded(rows, limits_of(program.lo), limits_of(program.hi)),
            *(made(program, k) for k, made in enumerate(others)),
        ),
        lb=limits_of(program.lb),
        ub=limits_of(program.ub),
        integer=program.integer,
        sign=int(program.sign),
    )


def _upper(P: Any) -> dict[tuple[int, int], Fraction]:
    """Return the upper triangle of a symmetric sparse matrix."""
    whole = P.tocoo()
    entries = zip(whole.row.tolist(), whole.col.tolist(), whole.data.tolist(), strict=True)
    return {(i, j): Fraction(v) for i, j, v in sorted(entries) if i <= j and v}


def limits_of(values: Floats) -> tuple[Limit, ...]:
    """Return bounds in rational numbers; None for an infinite one."""
    return tuple(Fraction(v) if np.isfinite(v) else None for v in values.tolist())


def matrix_of(program: Program, place: int) -> Constraint:
    """Return the matrix inequality in a place of the cones of a program."""
    starts = program.cones.starts
    block = program.cones.G[int(starts[place]) : int(starts[place + 1])].tocsr()
    return MATRIX, [unit(int(j)) for j in block.indices], int(program.cones.orders[place])


def cone_of(program: Program, place: int) -> Constraint:
    """Return the second-order cone in a place of those of a program, from the constraint behind it."""
    row = read_row(program.cones.constraints[place], program.column)
    sign = 1 if program.cones.sense[place] > 0 else -1
    bound = Fraction(row.hi if sign > 0 else row.lo)
    quadratic: dict[tuple[int, int], Fraction] = {}
    for i, j, v in row.terms.quadratic:
        key = (min(i, j), max(i, j))
        quadratic[key] = quadratic.get(key, ZERO) + sign * Fraction(v)
    linear = {j: sign * Fraction(v) for j, v in row.terms.affine(program.column).items() if v}
    constant = sign * (Fraction(row.terms.constant) - bound)
    cone = factored({k: v for k, v in quadratic.items() if v}, linear, constant)
    if cone[1][1].columns and not all(_nonnegative(program, form) for form in cone[1][:2]):
        raise NotShownError("the factors of a cone are not nonnegative by their bounds", "give them lower bounds 0")
    return cone


def _nonnegative(program: Program, form: Form) -> bool:
    """Return whether the bounds of the variables imply that a form without a constant is nonnegative."""
    pairs = zip(form.columns, form.values, strict=True)
    return all(program.lb[j] >= 0 if v > 0 else program.ub[j] <= 0 for j, v in pairs)


def factored(
    quadratic: Mapping[tuple[int, int], Fraction], linear: Mapping[int, Fraction], constant: Fraction
) -> Constraint:
    """Return the cone of ``q(x) <= 0``, q given by its coefficients; NotShownError for one of another form."""
    squares = {i: v for (i, j), v in quadratic.items() if i == j and v > 0}
    others = {key: v for key, v in quadratic.items() if key not in {(i, i) for i in squares}}
    tails, weights = list(map(unit, squares)), list(squares.values())
    if not others:
        bound = Form.of(list(linear), [-v for v in linear.values()], -constant)
        return CONE, [bound, Form.of([], [], ONE), *tails], weights
    common = set.intersection(*({i, j} for i, j in others))
    if linear or constant or not common:
        raise NotShownError("a quadratic constraint is no sum of squares less one product", "write it as w^2 <= s t")
    head = min(common)
    partners = {(j if i == head else i): -v for (i, j), v in others.items()}
    return CONE, [unit(head), Form.of(list(partners), partners.values()), *tails], weights


def dual_start(program: Program, exact: ExactProgram, point: Point) -> Floats:
    """Return the dual variables near the multipliers of a point, not yet feasible."""
    y, z = point.multipliers
    parts = [*y.tolist()]
    G, h = program.cones.G.tocsr(), program.cones.h
    blocks = [slice(*ends) for ends in pairwise(program.cones.starts.tolist())]
    for block, (kind, forms, rule) in zip(blocks, exact.constraints[len(y) :], strict=True):
        if kind == CONE:
            functional = np.asarray(G[block].T @ z[block]).ravel()
            parts += dual_of(forms, functional, float(h[block] @ z[block]))
        else:
            parts += (z[block] / np.sqrt(times(kind, forms, rule))).tolist()
    return np.array([*parts, *point.x[list(exact.curved)].tolist()])


def dual_of(forms: Sequence[Form], functional: Floats, constant: float) -> list[float]:
    r"""Return :math:`(\alpha, \beta, \gamma)` with :math:`\alpha l + \beta r + \gamma'v` near a linear functional.

    The forms are l, r and the v of a cone, the functional (n,) the product of a multiplier of the arrays with it.
    """
    coefficients, offsets = stacked(forms, len(functional))
    whole = np.column_stack([coefficients.toarray(), offsets])
    used, sizes = whole.any(axis=0), np.linalg.norm(whole, axis=1)
    sizes[sizes == 0.0] = 1.0  # of forms of unit size that are alike, the shares are: their product is largest
    target = np.append(functional, constant)[used]
    shares = np.linalg.lstsq((whole[:, used] / sizes[:, None]).T, target, rcond=None)[0]
    return [float(v) for v in shares / sizes]
