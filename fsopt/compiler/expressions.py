"""Linear forms with array coefficients, the reader of Pyomo expressions, and constraints as rows of a matrix."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp
from numpy.typing import ArrayLike
from pyomo.core.base.expression import NamedExpressionData
from pyomo.core.expr.numeric_expr import (
    DivisionExpression,
    LinearExpression,
    MonomialTermExpression,
    NegationExpression,
    PowExpression,
    ProductExpression,
    SumExpression,
)
from pyomo.core.expr.numvalue import native_numeric_types, value
from pyomo.core.expr.visitor import replace_expressions

from fsopt.common import clock
from fsopt.typing import Indices, Vector


class Dot(LinearExpression):  # type: ignore[misc]
    """The linear form ``coefs'variables`` with its coefficients in one array.

    Pyomo's own expressions have an object for each term, n p objects for a data matrix of n samples and p features.
    Here a form is an array and a tuple of variables that all samples share, and the compiler reads the array
    directly. Every other reader sees a :class:`LinearExpression`: Pyomo dispatches on ``__class__``, and the terms
    are made at their first use.
    """

    __slots__ = ("_terms", "coefs", "variables")

    def __init__(self, coefs: Vector, variables: tuple[Any, ...]) -> None:
        self.coefs = coefs
        self.variables = variables
        self._terms: list[Any] | None = None
        self._nargs = len(variables)  # type: ignore[misc]

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return LinearExpression

    @property
    def _args_(self) -> list[Any]:
        if self._terms is None:
            self._terms = list(map(MonomialTermExpression, zip(self.coefs.tolist(), self.variables, strict=True)))
        return self._terms

    def _trunc_append(self, other: Any) -> SumExpression:
        return SumExpression([self, other])

    _trunc_extend = _trunc_append

    def __deepcopy__(self, memo: dict[int, Any]) -> Dot:
        return Dot(self.coefs, copy.deepcopy(self.variables, memo))

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return Dot, (self.coefs, self.variables)


def dot(coefs: ArrayLike, variables: Sequence[Any]) -> Dot:
    """Return the expression ``sum_j coefs[j] * variables[j]``.

    Parameters
    ----------
    coefs : (p,) finite numbers.
    variables : p Pyomo variables; pass the same tuple for every row of a matrix, then it is read only once.

    Raises
    ------
    ValueError : another number of coefficients than variables.
    OutOfTimeError : a time limit passed, and there is no point yet.
    """
    clock.look()
    values = np.asarray(coefs, dtype=float)
    if values.shape != (len(variables),):
        raise ValueError(f"{len(variables)} variables need as many coefficients, not an array {values.shape}")
    return Dot(values, variables if isinstance(variables, tuple) else tuple(variables))


@dataclass(slots=True)
class Terms:
    """An expression as the sum of a constant and of linear, quadratic and other nonlinear terms.

    Attributes
    ----------
    constant : the constant.
    columns, values : linear terms; zeros are kept, so that the coefficient of a mutable parameter keeps its position.
    dots : further linear terms (scale, Dot).
    quadratic : terms (i, j, value), each ``value * x_i * x_j``.
    nonlinear : terms (scale, node) of any other kind.
    """

    constant: float = 0.0
    columns: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    dots: list[tuple[float, Dot]] = field(default_factory=list)
    quadratic: list[tuple[int, int, float]] = field(default_factory=list)
    nonlinear: list[tuple[float, Any]] = field(default_factory=list)

    def affine(self, column: dict[int, int]) -> dict[int, float]:
        """Return the linear part as column -> coefficient, the forms in ``dots`` included."""
        form: dict[int, float] = {}
        for j, v in zip(self.columns, self.values, strict=True):
            form[j] = form.get(j, 0.0) + v
        for scale, d in self.dots:
            for coef, var in zip(d.coefs.tolist(), d.variables, strict=True):
                j = column[id(var)]
                form[j] = form.get(j, 0.0) + scale * coef
        return form

    @property
    def linear(self) -> bool:
        """Whether there are neither quadratic nor other nonlinear terms."""
        return not self.quadratic and not self.nonlinear


def read(expression: Any, column: dict[int, int], scale: float = 1.0, terms: Terms | None = None) -> Terms:
    """Return the terms of a Pyomo expression times ``scale``, after other ``terms`` if there are any.

    ``column`` maps id(variable) to its column. Parameters count with their present value. Terms that are neither linear
    nor quadratic are accepted, in ``nonlinear``: :mod:`fsopt.compiler.classes` decides the class of the program.
    """
    terms = Terms() if terms is None else terms
    stack: list[tuple[float, Any]] = [(scale, expression)]
    while stack:
        scale, node = stack.pop()
        kind: Any = type(node)
        if kind is MonomialTermExpression:
            coef, var = node._args_
            terms.columns.append(column[id(var)])
            terms.values.append(scale * (coef if coef.__class__ in native_numeric_types else float(coef())))
        elif kind is Dot:
            terms.dots.append((scale, node))
        elif kind in native_numeric_types:
            terms.constant += scale * node
        elif (j := column.get(id(node))) is not None:
            terms.columns.append(j)
            terms.values.append(scale)
        elif not node.is_potentially_variable():
            terms.constant += scale * float(value(node))
        else:
            stack.extend(_parts(scale, node, column, terms))
    return terms


def _parts(scale: float, node: Any, column: dict[int, int], terms: Terms) -> list[tuple[float, Any]]:
    """Return parts of which a node is the sum, the last one first; enter a node without such parts in the terms."""
    if isinstance(node, SumExpression):
        return [(scale, part) for part in reversed(node.args)]
    if isinstance(node, NamedExpressionData):
        return [(scale, node.expr)]
    if isinstance(node, NegationExpression):
        return [(-scale, node.args[0])]
    if isinstance(node, DivisionExpression) and constant(node.args[1]):
        return [(scale / float(value(node.args[1])), node.args[0])]
    if isinstance(node, ProductExpression):
        left, right = node._args_
        if constant(left):
            return [(scale * float(value(left)), right)]
        if constant(right):
            return [(scale * float(value(right)), left)]
        _multiply(scale, node, left, right, column, terms)
    elif isinstance(node, PowExpression) and constant(node.args[1]) and value(node.args[1]) == 2:
        _multiply(scale, node, node.args[0], node.args[0], column, terms)
    else:
        terms.nonlinear.append((scale, node))
    return []


def with_constants(terms: Terms, constants: Mapping[int, float], column: dict[int, int]) -> Terms:
    """Return terms in which some variables, id -> value, are constants in the terms that are not linear."""
    if terms.linear or not constants:
        return terms
    at = {column[key]: number for key, number in constants.items() if key in column}
    found = Terms(terms.constant, [*terms.columns], [*terms.values], [*terms.dots])
    for i, j, coefficient in terms.quadratic:
        known = [k for k in (i, j) if k in at]
        factor = coefficient * math.prod(at[k] for k in known)
        if len(known) == 2:
            found.constant += factor
        elif known:
            found.columns.append(j if i in at else i)
            found.values.append(factor)
        else:
            found.quadratic.append((i, j, coefficient))
    for scale, node in terms.nonlinear:
        rest = read(scale * replace_expressions(node, dict(constants)), column)
        found.constant += rest.constant
        for name in ("columns", "values", "dots", "quadratic", "nonlinear"):
            getattr(found, name).extend(getattr(rest, name))
    return found


def constant(node: Any) -> bool:
    """Return whether an expression, or a number, has no variables."""
    return node.__class__ in native_numeric_types or not node.is_potentially_variable()


def _multiply(scale: float, node: Any, left: Any, right: Any, column: dict[int, int], terms: Terms) -> None:
    """Add ``scale * left * right`` for two affine factors; leave the node as nonlinear otherwise."""
    i, j = column.get(id(left)), column.get(id(right))
    if i is not None and j is not None:
        terms.quadratic.append((i, j, scale))
        return
    first = read(left, column)
    second = first if right is left else read(right, column)
    if not (first.linear and second.linear):
        terms.nonlinear.append((scale, node))
        return
    (a, fa), (b, fb) = ((factor.constant, factor.affine(column)) for factor in (first, second))
    terms.constant += scale * a * b
    for form, factor in ((fa, b), (fb, a)):
        if factor:
            terms.columns.extend(form)
            terms.values.extend(scale * factor * v for v in form.values())
    terms.quadratic.extend([(i, j, scale * u * v) for i, u in fa.items() for j, v in fb.items()])


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
    c, form = np.zeros(len(column)), terms.affine(column)
    c[list(form)] = list(form.values())
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
    i, j = np.nonzero(block)
    return numbers[i], columns[j], block[i, j]
