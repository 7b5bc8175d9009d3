r"""Values and exact first and second derivatives of what is neither linear nor conic in a program.

A term is read once into a *shape* (its operators and which of its variables sit where) and the numbers in it.
Terms of the same shape, for example the :math:`e^{-\alpha y_i}` of all samples, are evaluated together: values,
gradients and Hessians go through the operators by the chain rule on arrays with one row per term. Sums, linear
and quadratic forms inside a term come from the reader of the compiler as arrays, so that a shape holds only the
operators that are truly nonlinear. There is no rounding beyond that of the operators, and nothing to build but
numpy arrays; differentiated expression trees would have to be walked in Python at every iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pyomo.core.expr.numeric_expr import (
    DivisionExpression,
    PowExpression,
    ProductExpression,
    UnaryFunctionExpression,
)
from pyomo.core.expr.numvalue import is_potentially_variable, value

from fsopt.compiler.expressions import read
from fsopt.compiler.program import Program
from fsopt.compiler.rows import build_rows
from fsopt.errors import SolverError
from fsopt.typing import Vector

Shape = tuple[Any, ...]
Chain = tuple[Vector, Vector, Vector]
"""Value, first and second derivative of a function of one number, at many numbers."""


def _reciprocal(u: Vector) -> Chain:
    return 1 / u, -1 / u**2, 2 / u**3


def _tan(u: Vector) -> Chain:
    t = np.tan(u)
    return t, 1 + t**2, 2 * t * (1 + t**2)


def _tanh(u: Vector) -> Chain:
    t = np.tanh(u)
    return t, 1 - t**2, -2 * t * (1 - t**2)


def _exp(u: Vector) -> Chain:
    e = np.exp(u)
    return e, e, e


UNARY: Mapping[str, Callable[[Vector], Chain]] = {
    "exp": _exp,
    "log": lambda u: (np.log(u), 1 / u, -1 / u**2),
    "log10": lambda u: (np.log10(u), 1 / (np.log(10) * u), -1 / (np.log(10) * u**2)),
    "sqrt": lambda u: (np.sqrt(u), 0.5 / np.sqrt(u), -0.25 / u**1.5),
    "sin": lambda u: (np.sin(u), np.cos(u), -np.sin(u)),
    "cos": lambda u: (np.cos(u), -np.sin(u), -np.cos(u)),
    "tan": _tan,
    "asin": lambda u: (np.arcsin(u), (1 - u**2) ** -0.5, u * (1 - u**2) ** -1.5),
    "acos": lambda u: (np.arccos(u), -((1 - u**2) ** -0.5), -u * (1 - u**2) ** -1.5),
    "atan": lambda u: (np.arctan(u), 1 / (1 + u**2), -2 * u / (1 + u**2) ** 2),
    "sinh": lambda u: (np.sinh(u), np.cosh(u), np.sinh(u)),
    "cosh": lambda u: (np.cosh(u), np.sinh(u), np.cosh(u)),
    "tanh": _tanh,
    "asinh": lambda u: (np.arcsinh(u), (1 + u**2) ** -0.5, -u * (1 + u**2) ** -1.5),
    "acosh": lambda u: (np.arccosh(u), (u**2 - 1) ** -0.5, -u * (u**2 - 1) ** -1.5),
    "atanh": lambda u: (np.arctanh(u), 1 / (1 - u**2), 2 * u / (1 - u**2) ** 2),
    "abs": lambda u: (np.abs(u), np.sign(u), np.zeros_like(u)),
    "1/": _reciprocal,
}
"""The functions of one argument that a term may contain, each with its two derivatives."""


@dataclass
class _Jet:
    """Values (b,), gradients (b, k) and Hessians (b, k, k) of b terms in their k variables each."""

    f: Vector
    g: Vector
    H: Vector

    def through(self, chain: Chain) -> _Jet:
        """Return the jet of a function of this one."""
        f, first, second = chain
        outer = self.g[:, :, None] * self.g[:, None, :]
        return _Jet(f, first[:, None] * self.g, first[:, None, None] * self.H + second[:, None, None] * outer)

    def __mul__(self, other: _Jet) -> _Jet:
        cross = self.g[:, :, None] * other.g[:, None, :]
        return _Jet(
            self.f * other.f,
            self.f[:, None] * other.g + other.f[:, None] * self.g,
            self.f[:, None, None] * other.H + other.f[:, None, None] * self.H + cross + cross.transpose(0, 2, 1),
        )


class _Reader:
    """Reads one term into its shape, the columns of its variables, and its numbers in the order of the shape."""

    def __init__(self, column: dict[int, int]) -> None:
        self.column = column
        self.slots: dict[int, int] = {}
        self.numbers: list[float] = []

    def _slot(self, j: int) -> int:
        return self.slots.setdefault(j, len(self.slots))

    def form(self, expression: Any) -> Shape:
        """Return the shape of a sum of linear, quadratic and other terms."""
        terms = read(expression, self.column)
        linear = terms.affine(self.column)
        self.numbers += [terms.constant, *linear.values(), *(v for _, _, v in terms.quadratic)]
        self.numbers += [scale for scale, _ in terms.nonlinear]
        pairs = tuple((self._slot(i), self._slot(j)) for i, j, _ in terms.quadratic)
        slots = tuple(map(self._slot, linear))
        return ("form", slots, pairs, tuple(self.operator(node) for _, node in terms.nonlinear))

    def operator(self, node: Any) -> Shape:
        """Return the shape of a node that is neither linear nor quadratic."""
        if isinstance(node, ProductExpression):
            return ("*", self.form(node.args[0]), self.form(node.args[1]))
        if isinstance(node, DivisionExpression):
            return ("*", self.form(node.args[0]), ("1/", self.form(node.args[1])))
        if isinstance(node, PowExpression):
            base, exponent = node.args
            if not is_potentially_variable(exponent):
                self.numbers.append(float(value(exponent)))
                return ("power", self.form(base))
            return ("exp", ("*", self.form(exponent), ("log", self.form(base))))
        if isinstance(node, UnaryFunctionExpression) and node.getname() in UNARY:
            return (node.getname(), self.form(node.args[0]))
        raise SolverError(
            f"the operator '{node.getname()}' has no derivatives here (in {str(node)[:60]})",
            "write it with smooth functions, or use a solver that reads expressions itself",
        )


class _Batch:
    """Terms of one shape: their owners (b,), columns (b, k) and numbers (b, d), scales included."""

    def __init__(self, shape: Shape, members: Sequence[tuple[int, float, list[int], list[float]]]) -> None:
        self.shape = shape
        self.owner = np.array([m[0] for m in members], dtype=int)
        self.scale = np.array([m[1] for m in members])
        self.columns = np.array([m[2] for m in members], dtype=int)
        self.numbers = np.array([m[3] for m in members], dtype=float).reshape(len(members), -1)
        self.lower = np.tril_indices(self.columns.shape[1])

    def jet(self, x: Vector) -> _Jet:
        """Return the scaled jets at the point x (n,)."""
        self._next = 0
        with np.errstate(all="ignore"):
            jet = self._evaluate(self.shape, x[self.columns])
        s = self.scale
        return _Jet(s * jet.f, s[:, None] * jet.g, s[:, None, None] * jet.H)

    def _take(self, count: int) -> Vector:
        self._next += count
        return self.numbers[:, self._next - count : self._next]

    def _evaluate(self, shape: Shape, X: Vector) -> _Jet:
        kind = shape[0]
        if kind == "form":
            return self._form(shape, X)
        if kind == "*":
            return self._evaluate(shape[1], X) * self._evaluate(shape[2], X)
        if kind == "power":
            p = self._take(1)[:, 0]
            inner = self._evaluate(shape[1], X)
            return inner.through(_power(inner.f, p))
        inner = self._evaluate(shape[1], X)
        return inner.through(UNARY[kind](inner.f))

    def _form(self, shape: Shape, X: Vector) -> _Jet:
        _, slots, pairs, children = shape
        constant, linear = self._take(1)[:, 0], self._take(len(slots))
        products, scales = self._take(len(pairs)), self._take(len(children))
        b, k = X.shape
        g, H = np.zeros((b, k)), np.zeros((b, k, k))
        g[:, list(slots)] = linear
        if pairs:
            place: Any = (slice(None), *np.array(pairs).T)
            np.add.at(H, place, products)
            H += H.transpose(0, 2, 1)
        curved = np.einsum("bij,bj->bi", H, X)
        jet = _Jet(constant + np.einsum("bi,bi->b", g + 0.5 * curved, X), g + curved, H)
        for child, s in zip(children, scales.T, strict=True):
            inner = self._evaluate(child, X)
            jet = _Jet(jet.f + s * inner.f, jet.g + s[:, None] * inner.g, jet.H + s[:, None, None] * inner.H)
        return jet


def _power(u: Vector, p: Vector) -> Chain:
    """Return u^p and its derivatives; a factor p or p - 1 that is 0 makes them 0 also where u is 0."""
    first = np.where(p == 0, 0.0, p * u ** (p - 1))
    second = np.where((p == 0) | (p == 1), 0.0, p * (p - 1) * u ** (p - 2))
    return u**p, first, second


class Derivatives:
    """The general constraints of a program (functions 0..q-1) and the other terms of its objective (function q).

    Constants of the constraints are in their sides. The structures of Jacobian and Hessian do not depend on the
    point.

    Attributes
    ----------
    q : number of general constraints; lo, hi : (q,) their sides.
    rows, columns : structure of the Jacobian (q + 1, n).
    below, left : structure of the lower triangle of the Hessian of a weighted sum of the functions.
    """

    def __init__(self, program: Program) -> None:
        self.q = len(program.general)
        A, self.lo, self.hi = build_rows(program.general, program.column)
        self.linear = A.tocoo()
        triples = [(r, i, j, v) for r, row in enumerate(program.general) for i, j, v in row.terms.quadratic]
        table = np.array(triples, dtype=float).reshape(-1, 4)
        self.r, self.i, self.j = table[:, :3].astype(int).T
        self.v = table[:, 3]
        self.batches = _batches(program, self.q)
        n = program.n
        over = [(np.repeat(b.owner, b.columns.shape[1]), b.columns.ravel()) for b in self.batches]
        rows = np.concatenate([self.linear.row, self.r, self.r, *(o[0] for o in over)])
        columns = np.concatenate([self.linear.col, self.i, self.j, *(o[1] for o in over)])
        self.rows, self.columns, self._jacobian_place = _structure(rows, columns, n)
        first = np.concatenate([self.i, *(b.columns[:, b.lower[0]].ravel() for b in self.batches)])
        second = np.concatenate([self.j, *(b.columns[:, b.lower[1]].ravel() for b in self.batches)])
        self.below, self.left, self._hessian_place = _structure(np.maximum(first, second), np.minimum(first, second), n)
        self.shape = (self.q + 1, n)
        self._seen: tuple[bytes, list[_Jet]] | None = None

    def _jets(self, x: Vector) -> list[_Jet]:
        key = x.tobytes()
        if self._seen is None or self._seen[0] != key:
            self._seen = key, [b.jet(x) for b in self.batches]
        return self._seen[1]

    def values(self, x: Vector) -> Vector:
        """Return the values (q + 1,) at x (n,)."""
        owners = [self.linear.row, self.r, *(b.owner for b in self.batches)]
        parts = [self.linear.data * x[self.linear.col], self.v * x[self.i] * x[self.j], *(j.f for j in self._jets(x))]
        return _summed(np.concatenate(owners), parts, self.q + 1)

    def slopes(self, x: Vector) -> Vector:
        """Return the entries of the Jacobian at x (n,), in the order of its structure."""
        entries = [self.linear.data, self.v * x[self.j], self.v * x[self.i], *(jet.g.ravel() for jet in self._jets(x))]
        return _summed(self._jacobian_place, entries, len(self.rows))

    def jacobian(self, x: Vector) -> sp.csr_matrix:
        """Return the Jacobian (q + 1, n) at x (n,)."""
        return sp.csr_matrix((self.slopes(x), (self.rows, self.columns)), shape=self.shape)

    def curvature(self, x: Vector, weights: Vector) -> Vector:
        """Return the entries of the Hessian of ``sum_r weights[r] * function r`` in the order of its structure."""
        entries = [weights[self.r] * self.v * np.where(self.i == self.j, 2.0, 1.0)]
        for batch, jet in zip(self.batches, self._jets(x), strict=True):
            entries.append((weights[batch.owner][:, None] * jet.H[:, batch.lower[0], batch.lower[1]]).ravel())
        return _summed(self._hessian_place, entries, len(self.below))


def _batches(program: Program, q: int) -> list[_Batch]:
    """Return the terms that are neither linear nor quadratic, those of one shape together."""
    terms = [(r, scale, node) for r, row in enumerate(program.general) for scale, node in row.terms.nonlinear]
    terms += [(q, program.sign * scale, node) for scale, node in program.objective_terms]
    groups: dict[tuple[Shape, int], list[tuple[int, float, list[int], list[float]]]] = {}
    for owner, scale, node in terms:
        reader = _Reader(program.column)
        shape = reader.operator(node)
        member = (owner, float(scale), list(reader.slots), reader.numbers)
        groups.setdefault((shape, len(reader.slots)), []).append(member)
    return [_Batch(shape, members) for (shape, _), members in groups.items()]


def _summed(place: NDArray[Any], parts: Sequence[Vector], length: int) -> Vector:
    return np.bincount(place, np.concatenate(parts), length).astype(float)


def _structure(rows: NDArray[Any], columns: NDArray[Any], n: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the distinct positions (rows, columns) and where each of the given ones went."""
    found, place = np.unique(rows.astype(np.int64) * max(n, 1) + columns.astype(np.int64), return_inverse=True)
    return found // max(n, 1), found % max(n, 1), place


def derivatives_of(program: Program) -> Derivatives:
    """Return the derivatives of a program, read once: a change of these functions makes another program."""
    known = program.__dict__.get("_derivatives")
    if known is None:
        known = program.__dict__["_derivatives"] = Derivatives(program)
    found: Derivatives = known
    return found
