r"""The l1-hinge program, its objective values and its dual bound, in numpy alone.

.. math:: f(w, b) = \sum_j c_j |w_j| + \sum_i d_i \max(0,\ 1 - y_i(w'x_i + b)), \qquad c, d \ge 0

Every :math:`0 \le \alpha \le d` with :math:`y'\alpha = 0` and :math:`|X'Y\alpha|_j \le c_j` for all features j gives
the lower bound :math:`1'\alpha`. Any vector is made dual feasible: it is clipped, its heavier class is shrunk, and it
is scaled down as a whole until the constraints of the features hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.certificates.points import relative_gap
from fsopt.data import Dataset
from fsopt.data.hyperplanes import project_multipliers
from fsopt.data.matrices import divided, root_mean_squares, row_norms
from fsopt.typing import Mask, Matrix, Vector

SLACK = 1e-8
"""Tolerance of |X'Y alpha|_j <= c_j, relative to the norms of the two vectors of the scalar product."""


@dataclass(frozen=True)
class L1Hinge:
    """An l1-hinge program on centred features of unit deviation, which leave its value as it is.

    Attributes
    ----------
    Z : (n, p) centred and scaled data times the labels: row i is ``y_i z_i``; constant features are 0. Sparse data are
        not centred; their unit is the root of the mean square. Every column has the norm sqrt(n), or 0.
    y, d : (n,) labels, and penalty weights of the hinge losses.
    c : (p,) costs of the features in their new units.
    mean, unit : (p,) ``z = (x - mean) / unit``.
    reach : (n,) the largest change of each margin for a step of length 1 in (w, b).
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
            unit = root_mean_squares(data.X)
            unit[unit == 0.0] = 1.0
            Z = divided(data.X, unit, data.y)
            reach = np.sqrt(1.0 + row_norms(Z) ** 2)
            return L1Hinge(Z, data.y, row_costs, column_costs / unit, np.zeros(data.p), unit, reach)
        mean, deviation = data.X.mean(axis=0), data.X.std(axis=0)
        constant = deviation <= 1e-12 * np.abs(data.X).max(axis=0)
        unit = np.where(constant, 1.0, deviation)
        Z = data.X - mean
        Z /= unit
        Z *= data.y[:, None]
        Z[:, constant] = 0.0
        reach = np.sqrt(1.0 + np.einsum("ij,ij->i", Z, Z))
        return L1Hinge(Z, data.y, row_costs, column_costs / unit, mean, unit, reach)

    def margins(self, w: Vector, b: float) -> Vector:
        """Return y_i (w'z_i + b) (n,)."""
        return np.asarray(self.Z @ w + b * self.y, dtype=float)

    def value(self, w: Vector, margins: Vector) -> float:
        """Return f at weights with these margins."""
        return float(self.c @ np.abs(w) + self.d @ np.maximum(1.0 - margins, 0.0))

    def best_intercept(self, margins: Vector, b: float) -> float:
        """Return an intercept that minimises the loss of weights whose margins with intercept b are given.

        The loss is convex and piecewise linear in the intercept. Its slope left of all breakpoints is minus the weight
        of the positive class, and rises by d_i at the breakpoint of sample i: the first one with a slope >= 0 is best.
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

    def dual(self, alpha: Vector) -> tuple[Vector, Vector, float]:
        """Return alpha (n,) within its bounds and balanced, the excess (p,) of |X'Y alpha| over c, and a factor.

        The factor makes alpha feasible for all features: ``factor * 1'alpha`` is a lower bound up to :data:`SLACK`.
        """
        alpha = project_multipliers(alpha, self.y, self.d)
        s = np.abs(self.Z.T @ alpha)
        # Every column of Z has norm sqrt(n): this is the rounding of its scalar product with alpha.
        excess = s - self.c - SLACK * np.sqrt(len(alpha)) * float(np.linalg.norm(alpha))
        over = excess > 0
        return alpha, excess, float((1.0 - excess[over] / s[over]).min(initial=1.0))

    def bound(self, alpha: Vector) -> tuple[Vector, Vector, float]:
        """Return dual feasible multipliers (n,), the excess (p,) of the features, and the lower bound they prove."""
        alpha, excess, factor = self.dual(alpha)
        return factor * alpha, excess, factor * float(alpha.sum())

    def slack(self, alpha: Vector, w: Vector) -> float:
        """Return the error of the bound by alpha at weights w, from constraints that are violated within the slack."""
        return float(np.maximum(np.abs(self.Z.T @ alpha) - self.c, 0.0) @ np.abs(w))

    @property
    def free(self) -> Mask:
        """The features without a cost (p,), which are all in the restricted problem from the start."""
        return np.asarray(self.c == 0.0)


def certify_l1_hinge(
    data: Dataset,
    row_costs: Vector,
    column_costs: Vector,
    w: Vector,
    b: float,
    alpha: Vector,
    *,
    residuals: Mapping[str, float] | None = None,
) -> Certificate:
    """Certify a hyperplane as optimal for the whole program by multipliers, with further residuals if there are some.

    Parameters
    ----------
    data : all samples and features, in the units of w.
    row_costs, column_costs : (n,) d >= 0 and (p,) c >= 0.
    w, b : (p,) and scalar, the hyperplane.
    alpha : (n,) multipliers; infeasible ones make the bound weaker, not wrong.

    Returns
    -------
    Certificate
        Of kind ``convex``: the gap between f(w, b) and the bound, and ``cost``, the error of the bound from
        constraints that hold within rounding only.
    """
    program = L1Hinge.of(data, row_costs, column_costs)
    hinges = np.maximum(1.0 - data.y * (data.X @ w + b), 0.0)
    value = float(column_costs @ np.abs(w) + row_costs @ hinges)
    feasible, _, factor = program.dual(alpha)
    bound = factor * float(feasible.sum())
    slack = program.slack(factor * feasible, w * program.unit)
    found = {"gap": relative_gap(value, bound), "cost": slack / max(1.0, abs(value))}
    return make(Kind.CONVEX, {**(residuals or {}), **found}, objective=value, bound=bound, bound_source="dual point")
