r"""The weighted L1-MPM, its values and its dual bound, in numpy alone.

.. math::

    \min_{w, b}\ & \sum_j c^+_j w^+_j + c^-_j w^-_j, \qquad w = w^+ - w^-,\ w^+, w^- \ge 0 \\
    \text{s.t.}\ & w'\mu_1 + b \ge \max(1, \kappa\|F_1w\|), \quad -(w'\mu_2 + b) \ge \max(1, \kappa\|F_2w\|)

Its dual has one multiplier for both classes and one for each row of the factors, whatever the number of features:

.. math::

    \max_{\lambda, u_1, u_2}\ 2\lambda - \frac{\|u_1\| + \|u_2\|}{\kappa} \quad\text{s.t.}\quad
    \|u_k\| \le \kappa\lambda,\quad -c^- \le q \le c^+,\quad q = \lambda(\mu_1 - \mu_2) - F_1'u_1 - F_2'u_2
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.results import Point
from fsopt.certificates.points import relative_gap
from fsopt.compiler import Program
from fsopt.models.mpm.moments import Moments
from fsopt.typing import Matrix, Vector

SLACK = 1e-8
"""Tolerance of -c- <= q <= c+, relative to the largest term of q: rounding, and the stopping criterion of solvers."""


@dataclass(frozen=True)
class Multipliers:
    """The multipliers of the weighted L1-MPM: ``mean`` is lambda, ``u1`` and ``u2`` have the rows of the factors."""

    mean: float
    u1: Vector
    u2: Vector

    @staticmethod
    def of_point(
        model: pyo.ConcreteModel, program: Program, point: Point, factors: tuple[Matrix, Matrix]
    ) -> Multipliers:
        """Return the multipliers of a solved ``l0-mpm-step``.

        Parameters
        ----------
        factors : the columns of the factors of the covariances that belong to the features of the model.

        Raises
        ------
        ParameterError : the point has no multipliers.
        """
        y = point.multipliers[0]
        means = [float(y[program.row_of[id(c)]]) for c in (model.mean1, model.mean2)]
        return Multipliers(0.5 * sum(means), *spread_multipliers(model, program, point, factors))

    def scaled(self, factor: float) -> Multipliers:
        """Return all multipliers times a factor."""
        return Multipliers(factor * self.mean, factor * self.u1, factor * self.u2)


def spread_multipliers(
    model: pyo.ConcreteModel, program: Program, point: Point, factors: tuple[Matrix, Matrix]
) -> tuple[Vector, Vector]:
    """Return u1 and u2 of a solved model of some features, minus the multipliers of its constraints u_k = F_k w.

    Parameters
    ----------
    factors : the columns of the factors of the covariances that belong to the features of the model.

    Raises
    ------
    ParameterError : the point has no multipliers.
    """
    y, A = point.multipliers[0], program.A.tocsr()
    columns = [program.column[id(v)] for v in model.w.values()]

    def of_class(spreads: pyo.Constraint, factor: Matrix) -> Vector:
        rows = [program.row_of[id(c)] for c in spreads.values()]
        if len(rows) == factor.shape[0]:
            return -np.asarray(y[rows])
        # The model of some features has a factor R of fewer rows with R'R = F'F. The least-squares x with Rx = u gives
        # Fx, with F'(Fx) = R'u and a norm of at most ||u||.
        return -np.asarray(factor @ np.linalg.lstsq(A[rows][:, columns].toarray(), y[rows], rcond=None)[0])

    return of_class(model.spread1, factors[0]), of_class(model.spread2, factors[1])


@dataclass(frozen=True)
class WorstCaseProgram:
    """The weighted L1-MPM of all features.

    Attributes
    ----------
    moments : means (p,) and covariance factors (r_k, p) of the classes.
    kappa : the number of deviations kappa(delta) > 0.
    above, below : (p,) costs c+ and c- > 0.
    sizes : (2, p) norms of the columns of the factors.
    """

    moments: Moments
    kappa: float
    above: Vector
    below: Vector
    sizes: Matrix

    @staticmethod
    def of(moments: Moments, kappa: float, above: Vector, below: Vector) -> WorstCaseProgram:
        """Return the program of these moments."""
        factors = (moments.factor1, moments.factor2)
        sizes = np.sqrt([(factor * factor).sum(axis=0) for factor in factors])
        return WorstCaseProgram(moments, kappa, above, below, sizes)

    def value(self, w: Vector) -> float:
        """Return the objective at weights (p,)."""
        return float(self.above @ np.maximum(w, 0.0) + self.below @ np.maximum(-w, 0.0))

    def violation(self, w: Vector, b: float) -> float:
        """Return the largest relative violation of the constraints by the hyperplane w'x + b."""
        largest = 0.0
        at = self.moments
        for mean, factor, sign in ((at.mean1, at.factor1, 1.0), (at.mean2, at.factor2, -1.0)):
            needed = max(1.0, self.kappa * float(np.linalg.norm(factor @ w)))
            largest = max(largest, (needed - sign * float(mean @ w + b)) / needed)
        return largest

    def dual(self, at: Multipliers) -> tuple[Multipliers, Vector, float]:
        """Return multipliers in their cones, the excess (p,) of q over the costs, and the bound for all features.

        The bound is that of the multipliers times the largest factor in (0, 1] with which they are feasible, up to
        :data:`SLACK`.
        """
        mean, moments = max(at.mean, 0.0), self.moments
        norms = [float(np.linalg.norm(u)) for u in (at.u1, at.u2)]
        within = [min(1.0, self.kappa * mean / norm) if norm else 1.0 for norm in norms]
        u1, u2 = within[0] * at.u1, within[1] * at.u2
        norms = [share * norm for share, norm in zip(within, norms, strict=True)]
        difference = moments.mean1 - moments.mean2
        q = mean * difference - u1 @ moments.factor1 - u2 @ moments.factor2
        terms = mean * np.abs(difference) + norms[0] * self.sizes[0] + norms[1] * self.sizes[1]
        excess = np.maximum(q - self.above, -q - self.below) - SLACK * terms
        over = excess > 0
        factor = float((1.0 - excess[over] / np.abs(q[over])).min(initial=1.0))
        feasible = Multipliers(mean, u1, u2).scaled(factor)
        return feasible, excess, factor * (2.0 * mean - sum(norms) / self.kappa)

    def slack(self, at: Multipliers, w: Vector) -> float:
        """Return the error of the bound at weights w, from constraints that are violated within the slack."""
        moments = self.moments
        q = at.mean * (moments.mean1 - moments.mean2) - at.u1 @ moments.factor1 - at.u2 @ moments.factor2
        over = np.maximum(np.maximum(q - self.above, -q - self.below), 0.0)
        return float(over @ np.abs(w))


def certify_worst_case(
    program: WorstCaseProgram, w: Vector, b: float, at: Multipliers, *, residuals: Mapping[str, float] | None = None
) -> Certificate:
    """Certify a hyperplane as optimal for all features by multipliers, with further residuals if there are some.

    Parameters
    ----------
    w, b : (p,) and scalar, the hyperplane.
    at : multipliers; infeasible ones make the bound weaker, not wrong.

    Returns
    -------
    Certificate
        Of kind ``convex``: the violation of the constraints, the gap between the value and the bound, and ``cost``, the
        error of the bound from constraints that hold within rounding only.
    """
    value = program.value(w)
    feasible, _, bound = program.dual(at)
    found: dict[str, Any] = {
        "primal": program.violation(w, b),
        "gap": relative_gap(value, bound),
        "cost": program.slack(feasible, w) / max(1.0, abs(value)),
    }
    return make(Kind.CONVEX, {**(residuals or {}), **found}, objective=value, bound=bound, bound_source="dual point")
