r"""The conic form of a program, for solvers that take cones as arrays.

.. math:: \min \tfrac12 x'Px + q'x \quad\text{s.t.}\quad Mx + s = b,\ s \in \{0\}^e \times \mathbb{R}_+^l \times
          \mathcal{Q}_1 \times \dots

in the units of :class:`fsopt.compiler.scaling.Scaling`, so that features in any units give rows of comparable
size. A row of the program keeps its place here while its values change.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from fsopt.compiler import Program
from fsopt.results import Point
from fsopt.typing import Indices, Vector


class ConicForm:
    """The arrays of a program in conic form.

    Attributes
    ----------
    program : where the values are read from.
    scale : (n,) d with x = d x'.
    M has ``equalities`` rows in the zero cone, ``inequalities`` rows in the nonnegative cone, and then the
    second-order cones of sizes ``program.cones.sizes``.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._layout()

    def _layout(self) -> None:
        """Decide which row of the program goes where; the places do not change with the values."""
        p = self.program
        self.eq = np.flatnonzero(p.lo == p.hi)
        self.up = np.flatnonzero((p.hi < np.inf) & (p.lo != p.hi))
        self.down = np.flatnonzero((p.lo > -np.inf) & (p.lo != p.hi))
        self.fixed = np.flatnonzero(p.lb == p.ub)
        self.above = np.flatnonzero((p.ub < np.inf) & (p.lb != p.ub))
        self.below = np.flatnonzero((p.lb > -np.inf) & (p.lb != p.ub))
        self.turned = sp.csr_matrix(p.scaling.cone @ p.cones.G)
        starts = np.cumsum(
            [0, *map(len, (self.eq, self.fixed, self.up, self.above, self.down, self.below)), len(p.cones.h)]
        )
        row = np.repeat(np.arange(p.A.shape[0]), np.diff(p.A.indptr))
        entries = [
            self._entries(row, self.eq, starts[0]),
            (starts[1] + np.arange(len(self.fixed)), self.fixed, np.full(len(self.fixed), p.A.nnz)),
            self._entries(row, self.up, starts[2]),
            (starts[3] + np.arange(len(self.above)), self.above, np.full(len(self.above), p.A.nnz)),
            self._entries(row, self.down, starts[4]),
            (starts[5] + np.arange(len(self.below)), self.below, np.full(len(self.below), p.A.nnz)),
            (
                starts[6] + np.repeat(np.arange(len(p.cones.h)), np.diff(self.turned.indptr)),
                self.turned.indices,
                p.A.nnz + 1 + np.arange(self.turned.nnz),
            ),
        ]
        i, j, place = (np.concatenate(part) for part in zip(*entries, strict=True))
        self.shape = (int(starts[-1]), p.n)
        # Places are stored from 1 on, as a stored zero would be dropped on the way.
        stacked = sp.csc_matrix((place + 1.0, (i, j)), shape=self.shape)
        self.source = stacked.data.astype(int) - 1
        self.indices, self.indptr = stacked.indices, stacked.indptr
        self.row_sign = np.where(np.arange(self.shape[0]) < starts[4], 1.0, -1.0)
        self.scale = p.scaling.columns

    def _entries(self, row: Indices, chosen: Indices, start: int) -> tuple[Any, Any, Any]:
        """Return new row, column and place of the entries of the chosen rows of A, put from ``start`` on."""
        A = self.program.A
        new = np.full(A.shape[0], -1)
        new[chosen] = start + np.arange(len(chosen))
        taken = np.flatnonzero(new[row] >= 0) if len(chosen) < A.shape[0] else np.arange(A.nnz)
        return new[row[taken]], A.indices[taken], taken

    @property
    def equalities(self) -> int:
        """Number of rows in the zero cone."""
        return len(self.eq) + len(self.fixed)

    @property
    def inequalities(self) -> int:
        """Number of rows in the nonnegative cone."""
        return len(self.up) + len(self.above) + len(self.down) + len(self.below)

    def matrix(self) -> sp.csc_matrix:
        """Return M with the present values of the program."""
        p = self.program
        data = np.concatenate([p.A.data, [1.0], self.turned.data])[self.source] * self.row_sign[self.indices]
        M = sp.csc_matrix((data, self.indices, self.indptr), shape=self.shape)
        M.data *= np.repeat(self.scale, np.diff(self.indptr))
        return M

    def right_hand_side(self) -> Vector:
        """Return b with the present values of the program."""
        p = self.program
        return np.concatenate(
            [p.lo[self.eq], p.lb[self.fixed], p.hi[self.up], p.ub[self.above], -p.lo[self.down],
             -p.lb[self.below], p.scaling.cone @ p.cones.h]
        )  # fmt: skip

    def linear(self) -> Vector:
        """Return q with the present values of the program."""
        q: Vector = self.scale * self.program.c
        return q

    def hessian(self) -> sp.csc_matrix:
        """Return the upper triangle of P with the present values of the program."""
        D = sp.diags(self.scale)
        return sp.triu(D @ self.program.P @ D, format="csc")

    def kinds_changed(self) -> bool:
        """Return whether a side or bound appeared, vanished or met its other one, which moves rows."""
        p = self.program
        return not (
            np.array_equal(self.eq, np.flatnonzero(p.lo == p.hi))
            and np.array_equal(self.up, np.flatnonzero((p.hi < np.inf) & (p.lo != p.hi)))
            and np.array_equal(self.down, np.flatnonzero((p.lo > -np.inf) & (p.lo != p.hi)))
            and np.array_equal(self.fixed, np.flatnonzero(p.lb == p.ub))
            and np.array_equal(self.above, np.flatnonzero((p.ub < np.inf) & (p.lb != p.ub)))
            and np.array_equal(self.below, np.flatnonzero((p.lb > -np.inf) & (p.lb != p.ub)))
        )

    def point(self, x: Vector, z: Vector) -> Point:
        """Return the primal-dual point of the program from x' and the multipliers z of Mx + s = b."""
        p = self.program
        parts = np.split(
            z, np.cumsum([len(k) for k in (self.eq, self.fixed, self.up, self.above, self.down, self.below)])
        )
        y = np.zeros(p.A.shape[0])
        y[self.eq] -= parts[0]
        y[self.up] -= parts[2]
        y[self.down] += parts[4]
        return Point(self.scale * x, y, p.scaling.cone.T @ parts[6])
