r"""The conic form of a program, for solvers that take cones as arrays.

.. math:: \min \tfrac12 x'Px + q'x \quad\text{s.t.}\quad Mx + s = b,\ s \in \{0\}^e \times \mathbb{R}_+^l \times
          \mathcal{Q}_1 \times \dots

in the units of :class:`fsopt.compiler.scaling.Scaling`, so that features in any units give rows of comparable
size. A row of the program keeps its place here while its values change.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
import scipy.sparse as sp

from fsopt.answers.results import Point
from fsopt.compiler import Program
from fsopt.solvers.interface import Change
from fsopt.solvers.shared import row_powers
from fsopt.typing import Indices, Vector

LOOSE = 2.0**20
"""Right-hand side, in the units of its row, from which the row is divided by it."""


@dataclass(frozen=True)
class Blocks:
    """Places in the program of the rows of M, in the order of M: linear constraints, and bounds of variables.

    Attributes
    ----------
    equal, fixed : equations; variables with equal bounds.
    upper, above : finite upper bounds of the other constraints and of the other variables.
    lower, below : finite lower bounds of the other constraints and of the other variables.
    """

    equal: Indices
    fixed: Indices
    upper: Indices
    above: Indices
    lower: Indices
    below: Indices

    def parts(self) -> tuple[Indices, ...]:
        """Return the blocks in their order."""
        return self.equal, self.fixed, self.upper, self.above, self.lower, self.below

    def starts(self) -> list[int]:
        """Return the first row of each block in M, and the first row of the cones."""
        return [0, *accumulate(map(len, self.parts()))]

    def same(self, other: Blocks) -> bool:
        """Return whether the rows of M stand for the same bounds."""
        return all(np.array_equal(a, b) for a, b in zip(self.parts(), other.parts(), strict=True))


def blocks(program: Program) -> Blocks:
    """Return which finite bounds a program has now."""
    p = program
    rows, columns = p.lo != p.hi, p.lb != p.ub
    return Blocks(
        equal=np.flatnonzero(~rows),
        fixed=np.flatnonzero(~columns),
        upper=np.flatnonzero((p.hi < np.inf) & rows),
        above=np.flatnonzero((p.ub < np.inf) & columns),
        lower=np.flatnonzero((p.lo > -np.inf) & rows),
        below=np.flatnonzero((p.lb > -np.inf) & columns),
    )


@dataclass(frozen=True)
class _ConicEntries:
    """Rows and columns of entries of M, and for each the place of its value in (A.data, 1, TG.data)."""

    i: Indices
    j: Indices
    source: Indices


class ConicForm:
    """The arrays of a program in conic form.

    M has ``equalities`` rows in the zero cone, ``inequalities`` rows in the nonnegative cone, and then the
    second-order cones of sizes ``program.cones.sizes``. Its pattern is found once; :meth:`matrix` fills in the present
    values.

    Attributes
    ----------
    program : where the values are read from.
    scale : (n,) d with x = d x', by default that of the program's units.
    factors : of the rows of M: 1 unless a row is of odd size; with semidefinite matrices, whose entries have units of
        many sizes, those of the program.
    shape, starts : of M; the first row of each block and of the cones.
    """

    def __init__(self, program: Program, scale: Vector | None = None) -> None:
        self.program = program
        self.scale = program.scaling.columns if scale is None else scale
        self.blocks = blocks(program)
        self.starts = self.blocks.starts()
        self.turned = sp.csr_matrix(program.scaling.cone @ program.cones.G)
        self._layout()
        self.factors = self._row_factors()

    def _layout(self) -> None:
        """Decide which row of the program goes where; the places do not change with the values."""
        b, starts = self.blocks, self.starts
        entries = [
            self._of_constraints(b.equal, starts[0]),
            self._of_variables(b.fixed, starts[1]),
            self._of_constraints(b.upper, starts[2]),
            self._of_variables(b.above, starts[3]),
            self._of_constraints(b.lower, starts[4]),
            self._of_variables(b.below, starts[5]),
            self._of_cones(starts[6]),
        ]
        self.shape = (starts[6] + self.turned.shape[0], self.program.n)
        i = np.concatenate([part.i for part in entries])
        j = np.concatenate([part.j for part in entries])
        source = np.concatenate([part.source for part in entries])
        # The entries are in the order of their rows: their sources are sorted into columns as a matrix of integers.
        indptr = np.concatenate([[0], np.cumsum(np.bincount(i, minlength=self.shape[0]))])
        stacked = sp.csr_matrix((source, j, indptr), shape=self.shape).tocsc()
        self.source = stacked.data
        self.indices, self.indptr = stacked.indices, stacked.indptr
        # Lower bounds l <= a'x are the rows -a'x + s = -l, and cones are -TGx + s = Th.
        self.row_sign = np.where(np.arange(self.shape[0]) < starts[4], 1.0, -1.0)

    def _row_factors(self) -> Vector:
        """Return the factors (r,) of the rows of M; those of cones are in their matrix already."""
        b, factors = self.blocks, np.ones(self.shape[0])
        columns, A = self.scale, self.program.A
        entries = self.program.cones.entries()
        if len(entries):
            # A constraint that states an entry has its unit, also where it is a constant of another size.
            sizes = abs(A[:, entries] @ sp.diags(columns[entries])).max(axis=1).toarray().ravel()
            rows = np.where(sizes > 0, 1 / np.where(sizes > 0, sizes, 1.0), self.program.scaling.rows)
            bounds = 1 / columns
        else:
            rows = row_powers(sp.csr_matrix(A @ sp.diags(columns)))
            bounds = row_powers(sp.diags(columns, format="csr"))
        parts = [rows[b.equal], bounds[b.fixed], rows[b.upper], bounds[b.above], rows[b.lower], bounds[b.below]]
        linear = np.concatenate(parts)
        if not len(entries):
            # A loose bound as it stands would be the size that all residuals are compared with.
            right = linear * np.abs(self._bounds())
            linear = np.where(right > LOOSE, linear * 2.0 ** -np.round(np.log2(np.maximum(right, 1.0))), linear)
        factors[: self.starts[6]] = linear
        return factors

    def _bounds(self) -> Vector:
        """Return the right-hand sides of the rows before the cones, without factors."""
        p, at = self.program, self.blocks
        parts = [p.lo[at.equal], p.lb[at.fixed], p.hi[at.upper], p.ub[at.above], -p.lo[at.lower], -p.lb[at.below]]
        return np.concatenate(parts)

    def _of_constraints(self, rows: Indices, start: int) -> _ConicEntries:
        """Return the entries of these rows of A as rows of M from ``start`` on."""
        A = self.program.A
        place = np.full(A.shape[0], -1)
        place[rows] = start + np.arange(len(rows))
        i = np.repeat(place, np.diff(A.indptr))
        taken = np.flatnonzero(i >= 0)
        return _ConicEntries(i[taken], A.indices[taken], taken)

    def _of_variables(self, columns: Indices, start: int) -> _ConicEntries:
        """Return a 1 for each of these columns, in rows of M from ``start`` on."""
        count = len(columns)
        return _ConicEntries(start + np.arange(count), columns, np.full(count, self.program.A.nnz))

    def _of_cones(self, start: int) -> _ConicEntries:
        rows = np.repeat(np.arange(self.turned.shape[0]), np.diff(self.turned.indptr))
        first = self.program.A.nnz + 1
        return _ConicEntries(start + rows, self.turned.indices, first + np.arange(self.turned.nnz))

    @property
    def equalities(self) -> int:
        """Number of rows in the zero cone."""
        return self.starts[2]

    @property
    def inequalities(self) -> int:
        """Number of rows in the nonnegative cone."""
        return self.starts[6] - self.starts[2]

    def matrix(self) -> sp.csc_matrix:
        """Return M with the present values of the program."""
        values = np.concatenate([self.program.A.data, [1.0], self.turned.data])
        data = values[self.source] * (self.row_sign * self.factors)[self.indices]
        M = sp.csc_matrix((data, self.indices, self.indptr), shape=self.shape)
        M.data *= np.repeat(self.scale, np.diff(self.indptr))
        return M

    def right_hand_side(self) -> Vector:
        """Return b with the present values of the program."""
        p = self.program
        right: Vector = self.factors * np.concatenate([self._bounds(), p.scaling.cone @ p.cones.h])
        return right

    def linear(self) -> Vector:
        """Return q with the present values of the program."""
        q: Vector = self.scale * self.program.c
        return q

    def hessian(self) -> sp.csc_matrix:
        """Return the upper triangle of P with the present values of the program."""
        P = self.program.P
        scaled = P.data * self.scale[P.indices] * np.repeat(self.scale, np.diff(P.indptr))
        return sp.triu(sp.csc_matrix((scaled, P.indices, P.indptr), shape=P.shape), format="csc")

    def moved(self, change: Change) -> str | None:
        """Return why a change moves rows, None if it does not: a bound appeared, vanished or met its other one."""
        if change.added:
            return "constraints were added"
        if (change.bounds or change.rows is not None) and not self.blocks.same(blocks(self.program)):
            return "a bound appeared or vanished"
        return None

    def point(self, x: Vector, z: Vector) -> Point:
        """Return the primal-dual point of the program from x' and the multipliers z of Mx + s = b.

        The Lagrangian has z'(Mx - b): a row that stands for an upper bound or an equation has the shadow price -z, one
        that stands for a lower bound +z. The multipliers of the cones Gx + h are T'z.
        """
        p, starts = self.program, self.starts
        z = self.factors * z
        parts = [z[first:last] for first, last in pairwise(starts)]
        y = np.zeros(p.A.shape[0])
        y[self.blocks.equal] -= parts[0]
        y[self.blocks.upper] -= parts[2]
        y[self.blocks.lower] += parts[4]
        return Point(self.scale * x, y, p.scaling.cone.T @ z[starts[6] :])
