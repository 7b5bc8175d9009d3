r"""Driver ``worst_case_generation``: L1-MPM with many more features than samples, by restricted master problems.

The weighted L1-MPM, its values and its dual bound are in numpy alone:

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
from fsopt.answers.results import DriverResult, Point
from fsopt.certificates.points import relative_gap
from fsopt.compiler import Program
from fsopt.data import Dataset
from fsopt.drivers.loop import Iterate, Loop, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, NoPoint, Run, Steps, loop
from fsopt.models.mpm.moments import Moments, kappa
from fsopt.models.registry import build
from fsopt.typing import Indices, Mask, Matrix, Vector

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


COLUMNS = 200
"""Number of features in the first restricted master problem, and largest number added in an iteration."""
TOLERANCE = 1e-9
"""Relative gap at which the loop stops."""


@dataclass(frozen=True)
class WorstCaseData:
    """The data of a worst-case accuracy: what every restricted master problem is made of.

    Attributes
    ----------
    data : all samples and features.
    moments : theirs.
    delta : the worst-case accuracy.
    ridge : of the moments.
    """

    data: Dataset
    moments: Moments
    delta: float
    ridge: float = 0.0

    def program(self, alpha: float, v: Vector) -> WorstCaseProgram:
        """Return the program of all features with the costs alpha - v and alpha + v."""
        return WorstCaseProgram.of(self.moments, kappa(self.delta), alpha - v, alpha + v)

    def restricted(self, columns: Indices, alpha: float, v: Vector | None = None) -> pyo.ConcreteModel:
        """Return ``l0-mpm-step`` of some features."""
        part = self.data.columns(columns)
        return build("l0-mpm-step", part, delta=self.delta, alpha=alpha, v=v, ridge=self.ridge)

    def multipliers(self, model: pyo.ConcreteModel, program: Program, point: Point, columns: Indices) -> Multipliers:
        """Return the multipliers of a solved restricted problem."""
        factors = (self.moments.factor1[:, columns], self.moments.factor2[:, columns])
        return Multipliers.of_point(model, program, point, factors)


def first_columns(scores: Vector) -> Mask:
    """Return the features (p,) of the first restricted problem, those of the largest scores."""
    columns = np.zeros(len(scores), dtype=bool)
    columns[np.argsort(-scores, kind="stable")[:COLUMNS]] = True
    return columns


def add_violated(columns: Mask, excess: Vector, most: int | None = None) -> bool:
    """Add the features of the largest excess, of the most negative reduced costs; return whether there are any."""
    excess = np.where(columns, 0.0, excess)
    new = np.argsort(-excess, kind="stable")[: COLUMNS if most is None else most]
    new = new[excess[new] > 0]
    columns[new] = True
    return len(new) > 0


@loop
def worst_case_generation(
    problem: WorstCaseData,
    *,
    alpha: float = 1.0,
    v: Vector | None = None,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Minimise a weighted one-norm at a worst-case accuracy by column generation, with a bound for all features.

    .. math::

        \min\ \alpha\|w\|_1 - v'w \quad\text{s.t.}\quad w'\mu_1 + b \ge \max(1, \kappa(\delta)\|F_1w\|), \quad
        -(w'\mu_2 + b) \ge \max(1, \kappa(\delta)\|F_2w\|)

    A restricted master problem has some of the features, at first those whose means differ most. Its multipliers do not
    depend on the number of features: they price all others, and those whose reduced cost is negative are added. Scaled
    down until every reduced cost is nonnegative, they bound the optimum from below. The loop ends at a gap of 1e-9, or
    where no feature is left to add.

    Parameters
    ----------
    problem : data, moments and accuracy.
    alpha : > 0, the weight of the one-norm.
    v : (p,) with |v_j| <= alpha; None for zeros.
    run : solver (any for SOCP that returns multipliers), options, time limit, progress.

    Returns
    -------
    DriverResult
        ``point`` has ``w``, ``b`` of the classifier w'x + b, the ``multipliers`` behind ``bound``, and ``columns``, the
        mask (p,) of the features in the last restricted problem. ``optimal`` where :func:`certify_worst_case` holds.

    Raises
    ------
    SolverError : a restricted master problem was not solved, or without multipliers.

    Notes
    -----
    The program is that of Yang & Ju, (12)-(15) and (42)-(46).
    """
    v = np.zeros(problem.data.p) if v is None else v
    program = problem.program(alpha, v)
    recorder = Recorder([], run)
    at, stop = yield from run_loop(_add_features(problem, program, alpha, v, recorder), recorder)
    certificate = certify_worst_case(program, at.point["w"], at.point["b"], at.point["multipliers"])
    stop = stop if certificate.ok or stop != "optimal" else "stalled"
    return recorder.end_certified(certificate, stop, at.point)


def _add_features(
    problem: WorstCaseData, program: WorstCaseProgram, alpha: float, v: Vector, recorder: Recorder
) -> Loop:
    """Yield the hyperplanes and bounds of restricted master problems with more and more features."""
    difference = problem.moments.mean1 - problem.moments.mean2
    scores = np.maximum(difference / program.above, -difference / program.below)
    columns = first_columns(scores)
    proof, bound = Multipliers(0.0, np.zeros(0), np.zeros(0)), -np.inf
    stop = ""
    # Each pass adds a feature, of which there are p, or ends.
    while not stop:
        try:
            w, b, at = _solve(problem, columns, alpha, v, recorder)
        except NoPoint:
            # Too few features for the accuracy; all of them allow it, or the whole program is infeasible.
            if columns.all():
                raise
            columns[np.argsort(-scores, kind="stable")[: 2 * int(columns.sum())]] = True
            continue
        # The multipliers do not depend on the number of features: they price all others.
        feasible, excess, lower = program.dual(at)
        if lower > bound:
            proof, bound = feasible, lower
        value = program.value(w)
        record = {"objective": value, "bound": bound, "columns": int(columns.sum())}
        if relative_gap(value, bound) <= TOLERANCE or not add_violated(columns, excess):
            stop = "optimal"
        point = {"w": w, "b": b, "multipliers": proof, "columns": columns.copy()}
        yield Iterate(value, point, bound, record=record, stop=stop)


def _solve(
    problem: WorstCaseData, columns: Mask, alpha: float, v: Vector, recorder: Recorder
) -> tuple[Vector, float, Multipliers]:
    """Return hyperplane and multipliers of a restricted master problem."""
    kept = np.flatnonzero(columns)
    model = problem.restricted(kept, alpha, v[kept])
    session = recorder.run.open(model)
    recorder.renew(session)
    point, _ = recorder.multipliers(session, "a restricted program")
    w = np.zeros(problem.data.p)
    w[kept] = point.x[session.columns(model.w)]
    b = -float(point.x[session.columns(model.b)][0])
    return w, b, problem.multipliers(model, session.program, point, kept)
