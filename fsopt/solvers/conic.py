r"""The conic form of a program, for solvers that take cones as arrays.

.. math:: \min \tfrac12 x'Px + q'x \quad\text{s.t.}\quad Mx + s = b,\ s \in \{0\}^e \times \mathbb{R}_+^l \times
          \mathcal{Q}_1 \times \dots

in the units of :class:`fsopt.compiler.scaling.Scaling`, so that features in any units give rows of comparable
size. A row of the program keeps its place here while its values change.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fsopt.compiler import Program
from fsopt.results import Point

Vector = NDArray[np.float64]


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
        places = p.A.copy()
        places.data = np.arange(1, p.A.nnz + 1, dtype=float)
        offset = p.A.nnz + 1
        unit = sp.identity(p.n, format="csr")
        unit.data = np.full(p.n, float(offset))
        self.turned = sp.csr_matrix(p.scaling.cone @ p.cones.G)
        cone = self.turned.copy()
        cone.data = offset + 1 + np.arange(cone.nnz, dtype=float)
        stacked = sp.vstack(
            [places[self.eq], unit[self.fixed], places[self.up], unit[self.above], places[self.down],
             unit[self.below], cone], format="csc",
        )  # fmt: skip
        self.source = stacked.data.astype(int) - 1
        self.indices, self.indptr, self.shape = stacked.indices, stacked.indptr, stacked.shape
        plus = len(self.eq) + len(self.fixed) + len(self.up) + len(self.above)
        self.row_sign = np.concatenate([np.ones(plus), -np.ones(stacked.shape[0] - plus)])
        self.scale = p.scaling.columns

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
