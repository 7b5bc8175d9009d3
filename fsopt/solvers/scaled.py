r"""A program in balanced units: the arrays that Gurobi, Xpress and MOSEK get, and the way back.

Solvers have absolute tolerances. With :math:`x = Dx'`, the factors R of the linear constraints, T of the cones and
:math:`f` of the objective, the program

.. math:: \min_{x'}\ f\bigl(\tfrac12 x'^\top DPDx' + (Dc)^\top x' + c_0\bigr) \quad\text{s.t.}\quad
          R\ell \le RADx' \le Ru,\quad T(GDx' + h) \in \mathcal{Q}

has the multipliers :math:`y' = fR^{-1}y` and :math:`z' = fT^{-\top}z`. D, R and f are powers of two: multiplication by
them has no rounding error.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fsopt.compiler import Program
from fsopt.solvers import shared
from fsopt.solvers.powers import row_powers
from fsopt.typing import Vector

FAINT = 1e-8
"""Costs below this fraction of the largest one do not count in the factor of the objective."""


def objective_factor(program: Program, d: Vector) -> float:
    """Return the power of two that balances the costs of a program in the units x = d x'; 1 without costs.

    It brings the geometric mean of the smallest and the largest cost to about 1. The largest alone would leave small
    costs below the tolerance of the reduced costs where a large penalty weight stands beside them.
    """
    D = sp.diags(d)
    curvature = np.abs((D @ program.P @ D).data).max(initial=0.0)
    sizes = np.append(np.abs(d * program.c), curvature)
    largest = sizes.max(initial=0.0)
    if not 0.0 < largest < np.inf:
        return 1.0
    smallest = sizes[sizes >= FAINT * largest].min()
    return float(2.0 ** -np.round((np.log2(largest) + np.log2(smallest)) / 2))


class Scaled:
    """The arrays of a program in the units of a solver; they follow the updates of the program.

    Parameters
    ----------
    program : as compiled; its arrays are read at each access.

    Attributes
    ----------
    columns : (n,) d with x = d x'; 1 for integer variables, which must stay integer.
    factor : of the objective. It stays the one of the first nonzero costs.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.columns = shared.units(program)
        self.cone = program.scaling.cone
        self._rows = shared.row_factors(program)
        self.factor = objective_factor(program, self.columns)
        self._priced = bool(program.c.any() or program.P.nnz)

    @property
    def rows(self) -> Vector:
        """The factors (m,) of the linear constraints; a constraint that was added gets its own."""
        p, known = self.program, len(self._rows)
        if p.A.shape[0] > known:
            added = sp.csr_matrix(p.A[known:] @ sp.diags(self.columns))
            size = np.abs(added).max(axis=1).toarray().ravel()
            mixed = p.A[known:, np.flatnonzero(p.integer)].getnnz(axis=1) > 0
            unit = np.where(mixed, row_powers(added), 2.0 ** -np.round(np.log2(np.where(size > 0, size, 1.0))))
            self._rows = np.concatenate([self._rows, unit])
        return self._rows

    @property
    def A(self) -> sp.csr_matrix:
        """The linear constraints (m, n), explicit zeros kept."""
        A = self.program.A.copy()
        A.data = A.data * self.columns[A.indices] * np.repeat(self.rows, np.diff(A.indptr))
        return A

    @property
    def lo(self) -> Vector:
        """Lower bounds (m,) of the linear constraints."""
        return self.rows * self.program.lo

    @property
    def hi(self) -> Vector:
        """Upper bounds (m,) of the linear constraints."""
        return self.rows * self.program.hi

    @property
    def lb(self) -> Vector:
        """Lower bounds (n,) of the variables."""
        return self.program.lb / self.columns

    @property
    def ub(self) -> Vector:
        """Upper bounds (n,) of the variables."""
        return self.program.ub / self.columns

    @property
    def c(self) -> Vector:
        """Linear costs (n,)."""
        return self._factor() * self.columns * self.program.c

    @property
    def c0(self) -> float:
        """The constant of the objective."""
        return self._factor() * self.program.c0

    @property
    def P(self) -> sp.csc_matrix:
        """The matrix (n, n) of the quadratic costs."""
        D = sp.diags(self.columns)
        return sp.csc_matrix(self._factor() * (D @ self.program.P @ D))

    @property
    def G(self) -> sp.csr_matrix:
        """The cones' matrix (k, n): the cones are G x' + h."""
        return sp.csr_matrix(self.cone @ self.program.cones.G @ sp.diags(self.columns))

    @property
    def h(self) -> Vector:
        """The cones' constants (k,)."""
        return np.asarray(self.cone @ self.program.cones.h)

    def _factor(self) -> float:
        p = self.program
        if not self._priced and (p.c.any() or p.P.nnz):
            self._priced = True
            self.factor = objective_factor(p, self.columns)
        return self.factor

    @property
    def absolute_gap(self) -> float:
        """The unit of an absolute gap between bounds: that of the objective, where it is not scaled up."""
        return min(self.factor, 1.0)

    def x(self, values: Vector) -> Vector:
        """Return the values (n,) of the program's variables from those of the solver."""
        return self.columns * values

    def y(self, multipliers: Vector) -> Vector:
        """Return the multipliers (m,) of the program's linear constraints from those of the solver."""
        return self.rows * multipliers / self.factor

    def z(self, multipliers: Vector) -> Vector:
        """Return the multipliers (k,) of the program's cones from those of the solver."""
        return np.asarray(self.cone.T @ multipliers) / self.factor if len(self.program.cones) else np.zeros(0)

    def bound(self, value: float) -> float:
        """Return a value of the program's objective from one of the solver's."""
        return value / self.factor
