r"""Values and exact derivatives of the terms of a program that are neither linear nor conic.

A nonlinear term is read into a *shape* (its operators and the positions of its variables in them) and the numbers in
it. Terms of the same shape, for example :math:`e^{-\alpha y_i}` for all samples i, are evaluated together by the chain
rule, with one row of an array for each term; sums, linear and quadratic forms inside a term are arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fsopt.compiler.expressions import build_rows
from fsopt.compiler.jets import UNARY, Jet, Shape, TermReader, power
from fsopt.compiler.program import Program
from fsopt.errors import SolverError
from fsopt.typing import Indices, Matrix, Vector


class _Batch:
    """Terms of one shape: functions (b,), factors (b,), columns (b, k) by first use, and numbers (b, d) in order."""

    def __init__(self, shape: Shape, members: Sequence[tuple[int, float, list[int], list[float]]]) -> None:
        self.shape = shape
        owner, scale, columns, numbers = zip(*members, strict=True)
        self.owner, self.scale = np.array(owner, dtype=int), np.array(scale)
        self.columns = np.array(columns, dtype=int)
        self.numbers = np.array(numbers, dtype=float).reshape(len(members), -1)
        self.lower = np.tril_indices(self.columns.shape[1])

    def jet(self, x: Vector) -> Jet:
        """Return the scaled jets at the point x (n,); outside the domain of an operator they are nan or inf."""
        self._next = 0
        with np.errstate(all="ignore"):
            jet = self._evaluate(self.shape, x[self.columns])
        return jet.times(self.scale)

    def _take(self, count: int) -> Matrix:
        """Return the next numbers (b, count), in the order in which the reader wrote them."""
        self._next += count
        return self.numbers[:, self._next - count : self._next]

    def _evaluate(self, shape: Shape, X: Matrix) -> Jet:
        kind = shape[0]
        if kind == "form":
            return self._form(shape, X)
        if kind == "*":
            return self._evaluate(shape[1], X) * self._evaluate(shape[2], X)
        if kind == "power":
            p = self._take(1)[:, 0]
            inner = self._evaluate(shape[1], X)
            return inner.through(power(inner.f, p))
        inner = self._evaluate(shape[1], X)
        return inner.through(UNARY[kind](inner.f))

    def _form(self, shape: Shape, X: Matrix) -> Jet:
        slots, pairs, children = shape[1:]
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
        jet = Jet(constant + np.einsum("bi,bi->b", g + 0.5 * curved, X), g + curved, H)
        for child, scale in zip(children, scales.T, strict=True):
            jet = jet + self._evaluate(child, X).times(scale)
        return jet


class Pattern(NamedTuple):
    """Positions of the entries of a sparse matrix, and for each contribution to it the number of its entry."""

    rows: Indices
    columns: Indices
    entry: Indices


class Derivatives:
    """Functions 0..q-1, the general constraints of a program, and function q, the nonlinear terms of its objective.

    The patterns of the Jacobian (q + 1, n), and of the lower triangle of the Hessian of a weighted sum, do not depend
    on the point. Constants of constraints are part of their bounds ``lo`` and ``hi`` (q,).
    """

    def __init__(self, program: Program) -> None:
        self.q = len(program.general)
        rows = build_rows(program.general, program.column)
        self.lo, self.hi = rows.lo, rows.hi
        self.linear = rows.A.tocoo()
        terms = [(r, i, j, v) for r, row in enumerate(program.general) for i, j, v in row.terms.quadratic]
        table = np.array(terms, dtype=float).reshape(-1, 4)
        self.r = table[:, 0].astype(int)
        self.i = table[:, 1].astype(int)
        self.j = table[:, 2].astype(int)
        self.v = table[:, 3]
        self.batches = _batches(program, self.q)
        self.shape = (self.q + 1, program.n)
        owners = [np.repeat(b.owner, b.columns.shape[1]) for b in self.batches]
        places = np.concatenate([self.linear.row, self.r, self.r, *owners])
        columns = np.concatenate([self.linear.col, self.i, self.j, *(b.columns.ravel() for b in self.batches)])
        self.jacobian_pattern = _pattern(places, columns, program.n)
        first = np.concatenate([self.i, *(b.columns[:, b.lower[0]].ravel() for b in self.batches)])
        second = np.concatenate([self.j, *(b.columns[:, b.lower[1]].ravel() for b in self.batches)])
        self.hessian_pattern = _pattern(np.maximum(first, second), np.minimum(first, second), program.n)
        self._seen: tuple[bytes, list[Jet]] | None = None

    def _jets(self, x: Vector) -> list[Jet]:
        """Return the jets of all batches; a solver asks for values and derivatives at the same point one by one."""
        key = x.tobytes()
        if self._seen is None or self._seen[0] != key:
            self._seen = key, [b.jet(x) for b in self.batches]
        return self._seen[1]

    def values(self, x: Vector) -> Vector:
        """Return the values (q + 1,) at x (n,)."""
        owners = [self.linear.row, self.r, *(b.owner for b in self.batches)]
        parts = [self.linear.data * x[self.linear.col], self.v * x[self.i] * x[self.j], *(j.f for j in self._jets(x))]
        return _summed(np.concatenate(owners), parts, self.q + 1)

    def jacobian_values(self, x: Vector, *, absolute: bool = False) -> Vector:
        """Return the entries of the Jacobian at x (n,), in the order of its pattern; or the sums of their terms."""
        entries = [self.linear.data, self.v * x[self.j], self.v * x[self.i], *(jet.g.ravel() for jet in self._jets(x))]
        entries = [np.abs(part) for part in entries] if absolute else entries
        return _summed(self.jacobian_pattern.entry, entries, len(self.jacobian_pattern.rows))

    def jacobian(self, x: Vector, *, absolute: bool = False) -> sp.csr_matrix:
        """Return the Jacobian (q + 1, n) at x (n,), or the sums of the absolute values of the terms of its entries."""
        pattern, values = self.jacobian_pattern, self.jacobian_values(x, absolute=absolute)
        return sp.csr_matrix((values, (pattern.rows, pattern.columns)), shape=self.shape)

    def hessian_values(self, x: Vector, weights: Vector) -> Vector:
        """Return the entries of the Hessian of ``sum_r weights[r] * function r``, in the order of its pattern."""
        # v x_i x_j has the entry v below the diagonal, v x_i^2 the entry 2v on it.
        entries = [weights[self.r] * self.v * np.where(self.i == self.j, 2.0, 1.0)]
        for batch, jet in zip(self.batches, self._jets(x), strict=True):
            entries.append((weights[batch.owner][:, None] * jet.H[:, batch.lower[0], batch.lower[1]]).ravel())
        return _summed(self.hessian_pattern.entry, entries, len(self.hessian_pattern.rows))


def _batches(program: Program, q: int) -> list[_Batch]:
    """Return the terms that are neither linear nor quadratic, grouped by shape."""
    terms = [(r, scale, node) for r, row in enumerate(program.general) for scale, node in row.terms.nonlinear]
    terms += [(q, program.sign * scale, node) for scale, node in program.objective_terms]
    groups: dict[tuple[Shape, int], list[tuple[int, float, list[int], list[float]]]] = {}
    for owner, scale, node in terms:
        reader = TermReader(program.column)
        shape = reader.operator(node)
        if reader.unsupported:
            fault = f"fsopt has no derivatives of the operator '{reader.unsupported[0]}' (in {str(node)[:60]})"
            raise SolverError(fault, "write it with smooth functions, or use a solver that reads expressions itself")
        member = owner, float(scale), list(reader.slots), reader.numbers
        groups.setdefault((shape, len(reader.slots)), []).append(member)
    return [_Batch(shape, members) for (shape, _), members in groups.items()]


def _summed(entry: Indices, parts: Sequence[Vector], length: int) -> Vector:
    """Return the sums (length,) of contributions to the same entry."""
    return np.bincount(entry, np.concatenate(parts), length).astype(float)


def _pattern(rows: Indices, columns: Indices, n: int) -> Pattern:
    """Return the different positions among those of all contributions to a matrix with n columns."""
    width = max(n, 1)
    found, entry = np.unique(rows.astype(np.int64) * width + columns.astype(np.int64), return_inverse=True)
    return Pattern(found // width, found % width, entry)


def derivatives_of(program: Program) -> Derivatives:
    """Return the derivatives of a program, read at the first call and kept: no update changes its functions."""
    known = program.__dict__.get("_derivatives")
    if known is None:
        known = program.__dict__["_derivatives"] = Derivatives(program)
    found: Derivatives = known
    return found
