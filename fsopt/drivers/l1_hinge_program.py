r"""The l1-hinge program, its objective values and its dual bound, in numpy alone.

.. math:: f(w, b) = \sum_j c_j |w_j| + \sum_i d_i \max(0,\ 1 - y_i(w'x_i + b)), \qquad c, d \ge 0

Every :math:`0 \le \alpha \le d` with :math:`y'\alpha = 0` and :math:`|X'Y\alpha|_j \le c_j` for all features j gives
the lower bound :math:`1'\alpha`. Any vector is made dual feasible: it is clipped, its heavier class is shrunk, and it
is scaled down as a whole until the constraints of the features hold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.certificates.points import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import project_multipliers
from fsopt.data.matrices import divided, exact_sums, row_norms
from fsopt.typing import Matrix, Vector

SLACK = 1e-8
"""Tolerance of |X'Y alpha|_j <= c_j, relative to the norms of the two vectors of the scalar product."""


@dataclass(frozen=True)
class L1Hinge:
    """An l1-hinge program on centred features of unit deviation, which leave its value as it is.

    Z (n, p) are the features ``(x - mean) / unit`` times the labels y (n,): every column has the norm sqrt(n), or 0 for
    a constant feature. Sparse data are not centred; their unit is the root of the mean square. The weights d (n,) and c
    (p,) are those of the hinge losses and features, and reach (n,) is the largest change of each margin for a step of
    length 1 in (w, b).
    """

    Z: Matrix
    y: Vector
    d: Vector
    c: Vector
    mean: Vector
    unit: Vector
    reach: Vector

    @staticmethod
    def of(data: Dataset, row_costs: Vector, column_costs: Vector) -> L1Hinge:
        """Return the program of a data set with the weights d (n,) and c (p,)."""
        if data.sparse:
            mean, unit = np.zeros(data.p), np.sqrt(exact_sums(data.X**2) / data.n)
            constant = unit == 0.0
        else:
            mean, unit = data.X.mean(axis=0), data.X.std(axis=0)
            constant = unit <= 1e-12 * np.abs(data.X).max(axis=0)
        unit[constant] = 1.0
        Z = divided(data.X if data.sparse else data.X - mean, unit, data.y)
        if not data.sparse:
            Z[:, constant] = 0.0
        squares = row_norms(Z) ** 2 if data.sparse else np.einsum("ij,ij->i", Z, Z)
        return L1Hinge(Z, data.y, row_costs, column_costs / unit, mean, unit, np.sqrt(1.0 + squares))

    def margins(self, w: Vector, b: float) -> Vector:
        """Return y_i (w'z_i + b) (n,)."""
        return np.asarray(self.Z @ w + b * self.y, dtype=float)

    def value(self, w: Vector, margins: Vector) -> float:
        """Return f at weights with these margins."""
        return float(self.c @ np.abs(w) + self.d @ np.maximum(1.0 - margins, 0.0))

    def best_intercept(self, margins: Vector, b: float) -> float:
        """Return an intercept that minimises the loss of weights whose margins with intercept b are given.

        The loss is convex and piecewise linear in it: its slope rises by d_i at the breakpoint of sample i.
        """
        counted = self.d > 0
        y, d = self.y[counted], self.d[counted]
        points = b + (1.0 - margins[counted]) * y
        if not len(points):
            return b
        order = np.argsort(points)
        slopes = np.cumsum(d[order]) - d[y > 0].sum()
        return float(points[order[min(int(np.searchsorted(slopes, 0.0)), len(slopes) - 1)]])

    def scaled(self, w: Vector, b: float) -> tuple[Vector, float]:
        """Return a hyperplane in the space of Z; ``raw`` is the inverse."""
        return w * self.unit, b + float(w @ self.mean)

    def raw(self, w: Vector, b: float) -> tuple[Vector, float]:
        """Return a hyperplane in the space of the data."""
        w = w / self.unit
        return w, b - float(w @ self.mean)

    def bound(self, alpha: Vector) -> tuple[Vector, Vector, float]:
        """Return dual feasible multipliers (n,), the excess (p,) of |X'Y alpha| over c before their last scaling, and
        the lower bound that they prove up to :data:`SLACK`.
        """
        alpha = project_multipliers(alpha, self.y, self.d)
        s = np.abs(self.Z.T @ alpha)
        # Every column of Z has norm sqrt(n): this is the rounding of its scalar product with alpha.
        excess = s - self.c - SLACK * np.sqrt(len(alpha)) * float(np.linalg.norm(alpha))
        over = excess > 0
        factor = float((1.0 - excess[over] / s[over]).min(initial=1.0))
        return factor * alpha, excess, factor * float(alpha.sum())


def certify_l1_hinge(
    data: Dataset,
    row_costs: Vector,
    column_costs: Vector,
    w: Vector,
    b: float,
    alpha: Vector,
) -> Certificate:
    """Certify a hyperplane as optimal for the whole program by multipliers (n,).

    The certificate is of kind ``convex``: the gap between f(w, b) and the bound, and ``cost``, the error of the bound
    from constraints that hold within rounding only. Infeasible multipliers make the bound weaker, not wrong.
    """
    program = L1Hinge.of(data, row_costs, column_costs)
    hinges = np.maximum(1.0 - data.y * (data.X @ w + b), 0.0)
    value = float(column_costs @ np.abs(w) + row_costs @ hinges)
    feasible, _, bound = program.bound(alpha)
    slack = float(np.maximum(np.abs(program.Z.T @ feasible) - program.c, 0.0) @ np.abs(w * program.unit))
    found = {"gap": relative_gap(value, bound), "cost": slack / max(1.0, abs(value))}
    return make(Kind.CONVEX, found, objective=value, bound=bound, bound_source="dual point")
