r"""The programs of a worst-case accuracy with many more features than samples, by a working set of features.

The weighted L1-MPM, which is that of L1-MPM for costs of 1 and the step of DCA on L0-MPM for others, and its dual:

.. math::

    \min_{w, b}\ & \sum_j c^+_j w^+_j + c^-_j w^-_j, \qquad w = w^+ - w^-,\ w^+, w^- \ge 0 \\
    \text{s.t.}\ & w'\mu_1 + b \ge \max(1, \kappa\|F_1w\|), \quad -(w'\mu_2 + b) \ge \max(1, \kappa\|F_2w\|)

.. math::

    \max_{\lambda, u_1, u_2}\ 2\lambda - \frac{\|u_1\| + \|u_2\|}{\kappa} \quad\text{s.t.}\quad
    \|u_k\| \le \kappa\lambda,\quad -c^- \le q \le c^+,\quad q = \lambda(\mu_1 - \mu_2) - F_1'u_1 - F_2'u_2

It has one multiplier for both classes and one for each row of the factors, whatever the number of features.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.results import DriverResult, Point
from fsopt.certificates.points import relative_gap
from fsopt.compiler import Program, compile_model
from fsopt.data import Dataset
from fsopt.drivers.dca import best_descent, dca
from fsopt.drivers.loop import Iterate, Loop, run_loop
from fsopt.drivers.penalties import Penalty
from fsopt.drivers.recorder import EARLY, Recorder
from fsopt.drivers.run import DEFAULT_RUN, Run, Steps, loop
from fsopt.drivers.working_set import working_set
from fsopt.models.mpm.moments import Moments, kappa
from fsopt.models.registry import build
from fsopt.typing import Indices, Matrix, Vector

SLACK = 1e-8
"""Tolerance of -c- <= q <= c+, relative to the largest term of q: rounding, and the stopping criterion of solvers."""
CLOSED = 1e-9
"""Relative gap at which no further feature is looked for."""
NOTHING = {"criticality": np.inf, "rise": 0.0}
"""Evidence for an iterate of which nothing is proved yet."""


@dataclass(frozen=True)
class Multipliers:
    """Those of a worst-case accuracy: ``mean`` is lambda, ``u1`` and ``u2`` have the rows of the factors."""

    mean: float
    u1: Vector
    u2: Vector

    def scaled(self, factor: float) -> Multipliers:
        """Return all multipliers times a factor."""
        return Multipliers(factor * self.mean, factor * self.u1, factor * self.u2)

    def prices(self, moments: Moments) -> tuple[Vector, Vector]:
        """Return q (p,) of all features, and the part of its terms (p,) that counts as rounding."""
        d = moments.mean1 - moments.mean2
        q, terms = self.mean * d, self.mean * np.abs(d)
        for u, factor in ((self.u1, moments.factor1), (self.u2, moments.factor2)):
            q = q - u @ factor
            terms = terms + np.linalg.norm(u) * np.sqrt((factor * factor).sum(axis=0))
        return q, SLACK * terms


def multipliers_of(
    model: pyo.ConcreteModel, program: Program, point: Point, moments: Moments, places: Indices
) -> Multipliers:
    """Return the multipliers of a solved model: minus those of u_k = F_k w, and the mean of those of the means.

    Parameters
    ----------
    moments : of all features.
    places : of those of the model.

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

    means = [model.component(name) for name in ("mean1", "mean2")]
    mean = 1.0 if None in means else 0.5 * sum(float(y[program.row_of[id(c)]]) for c in means)
    spreads = ((model.spread1, moments.factor1), (model.spread2, moments.factor2))
    return Multipliers(mean, *(of_class(rows, factor[:, places]) for rows, factor in spreads))


@dataclass(frozen=True)
class WorstCase:
    """The weighted L1-MPM of all features.

    Attributes
    ----------
    data, moments : all samples and features, and their moments.
    delta, ridge : the worst-case accuracy, and the ridge of the moments.
    alpha, v : costs alpha - v of w+ and alpha + v of w-, (p,) with |v_j| <= alpha.
    """

    data: Dataset
    moments: Moments
    delta: float
    ridge: float
    alpha: float
    v: Vector

    @staticmethod
    def of(data: Dataset, moments: Moments, delta: float, *, ridge: float = 0.0, alpha: float = 1.0) -> WorstCase:
        """Return the program with the same cost for all features."""
        return WorstCase(data, moments, delta, ridge, alpha, np.zeros(data.p))

    @property
    def scores(self) -> Vector:
        """The differences of the means, relative to the costs (p,): features that are the first to be needed."""
        d = self.moments.mean1 - self.moments.mean2
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = np.maximum(d / (self.alpha - self.v), -d / (self.alpha + self.v))
        return np.nan_to_num(scores)

    def value(self, w: Vector) -> float:
        """Return the objective at weights (p,)."""
        return float(self.alpha * np.abs(w).sum() - self.v @ w)

    def violation(self, w: Vector, b: float) -> float:
        """Return the largest relative violation of the constraints by the hyperplane w'x + b."""
        largest, at = 0.0, self.moments
        for mean, factor, sign in ((at.mean1, at.factor1, 1.0), (at.mean2, at.factor2, -1.0)):
            needed = max(1.0, kappa(self.delta) * float(np.linalg.norm(factor @ w)))
            largest = max(largest, (needed - sign * float(mean @ w + b)) / needed)
        return largest

    def dual(self, at: Multipliers) -> tuple[Multipliers, Vector, float]:
        """Return multipliers in their cones, the excess (p,) of q over the costs, and the bound for all features.

        The bound is that of the multipliers times the largest factor in (0, 1] with which they are feasible, up to
        :data:`SLACK`.
        """
        number, mean = kappa(self.delta), max(at.mean, 0.0)
        norms = [float(np.linalg.norm(u)) for u in (at.u1, at.u2)]
        inside = [min(1.0, number * mean / norm) if norm else 1.0 for norm in norms]
        at = Multipliers(mean, inside[0] * at.u1, inside[1] * at.u2)
        q, rounding = at.prices(self.moments)
        excess = np.abs(q + self.v) - self.alpha - rounding
        over = excess > 0
        factor = float((1.0 - excess[over] / np.abs(q[over])).min(initial=1.0))
        deviations = sum(share * norm for share, norm in zip(inside, norms, strict=True))
        return at.scaled(factor), excess, factor * (2.0 * mean - deviations / number)

    def slack(self, at: Multipliers, w: Vector) -> float:
        """Return the error of the bound at weights w, from constraints that are violated within the slack."""
        q = at.prices(self.moments)[0]
        return float(np.maximum(np.abs(q + self.v) - self.alpha, 0.0) @ np.abs(w))

    def model(self, places: Indices) -> pyo.ConcreteModel:
        """Return ``l0-mpm-step`` of some features."""
        how = {"delta": self.delta, "alpha": self.alpha, "ridge": self.ridge}
        return build("l0-mpm-step", self.data.columns(places), v=self.v[places], **how)

    def solve(self, recorder: Recorder, places: Indices) -> tuple[Vector, float, Multipliers]:
        """Return weights (p,), intercept and multipliers of the program of some features."""
        model = self.model(places)
        session = recorder.run.open(model)
        recorder.renew(session)
        point, _ = recorder.multipliers(session, "a restricted program")
        w = np.zeros(self.data.p)
        w[places] = point.x[session.columns(model.w)]
        b = -float(point.x[session.columns(model.b)][0])
        return w, b, multipliers_of(model, session.program, point, self.moments, places)


def certify_worst_case(problem: WorstCase, w: Vector, b: float, at: Multipliers) -> Certificate:
    """Certify a hyperplane as optimal for all features by multipliers.

    Infeasible ones make the bound weaker, not wrong. The certificate is of kind ``convex``: the violation of the
    constraints, the gap between the value and the bound, and ``cost``, the error of the bound from constraints that
    hold within rounding only.
    """
    value, (feasible, _, bound) = problem.value(w), problem.dual(at)
    found = {
        "primal": problem.violation(w, b),
        "gap": relative_gap(value, bound),
        "cost": problem.slack(feasible, w) / max(1.0, abs(value)),
    }
    return make(Kind.CONVEX, found, objective=value, bound=bound, bound_source="dual point")


@loop
def worst_case_norm(problem: WorstCase, *, run: Run = DEFAULT_RUN) -> Steps[DriverResult]:
    r"""Minimise a weighted one-norm at a worst-case accuracy by a working set, with a bound for all features.

    .. math::

        \min\ \alpha\|w\|_1 - v'w \quad\text{s.t.}\quad w'\mu_1 + b \ge \max(1, \kappa(\delta)\|F_1w\|), \quad
        -(w'\mu_2 + b) \ge \max(1, \kappa(\delta)\|F_2w\|)

    Parameters
    ----------
    problem : data, moments, accuracy and costs.
    run : solver (any for SOCP that returns multipliers), options, time limit, progress.

    Returns
    -------
    DriverResult
        ``point`` has ``w``, ``b`` of the classifier w'x + b, and the ``multipliers`` behind ``bound``. ``optimal``
        where the bound meets the value.

    Raises
    ------
    SolverError : a restricted program was not solved, or without multipliers.

    Notes
    -----
    The program is that of Yang & Ju, (12)-(15) and (42)-(46).
    """
    recorder = Recorder([], run)
    at, stop = yield from run_loop(_priced(problem, recorder), recorder)
    certificate = certify_worst_case(problem, at.point["w"], at.point["b"], at.point["multipliers"])
    return recorder.end_certified(certificate, stop, at.point)


def _priced(problem: WorstCase, recorder: Recorder) -> Loop:
    """Yield the hyperplanes and bounds of the programs of more and more features."""
    proof, bound = Multipliers(0.0, np.zeros(0), np.zeros(0)), -np.inf

    def excess(answer: tuple[Vector, float, Multipliers]) -> Vector:
        nonlocal proof, bound
        feasible, over, lower = problem.dual(answer[2])
        if lower > bound:
            proof, bound = feasible, lower
        return over if relative_gap(problem.value(answer[0]), bound) > CLOSED else np.zeros(len(over))

    for kept, (w, b, _), last in working_set(problem.scores, partial(problem.solve, recorder), excess):
        value, point = problem.value(w), {"w": w, "b": b, "multipliers": proof, "columns": kept}
        record = {"objective": value, "bound": bound, "columns": int(kept.sum())}
        yield Iterate(value, point, bound, record=record, stop="optimal" if last else "")


@loop
def worst_case_dca(
    problem: WorstCase,
    penalty: Penalty,
    *,
    n_starts: int = 1,
    seed: int = 0,
    start: Vector | None = None,
    tolerance: float = 1e-6,
    run: Run = DEFAULT_RUN,
) -> Steps[DriverResult]:
    r"""Minimise ``penalty(w)`` at a worst-case accuracy by DCA, with working sets of features.

    .. math:: w^{k+1} \in \arg\min_{w \in \Omega}\ \alpha\|w\|_1 - \langle v^k, w \rangle, \qquad
        v^k_j = \operatorname{sign}(w^k_j)(\alpha - \varphi'(|w^k_j|))

    The first step is solved for all features; DCA then goes on with those of its last restricted program. Where it
    ends, the multipliers of its last step price all other features, whose cost is alpha; those of negative reduced cost
    are added, and DCA goes on, until there are none: the answer is then critical for all features. Every step lowers
    the penalty, since its iterate is feasible for the next.

    Parameters
    ----------
    problem : data, moments and accuracy, with the slope of the penalty as the cost of all features.
    penalty, n_starts, seed, start, tolerance, run : as in :func:`fsopt.drivers.dca.dca`.

    Returns
    -------
    DriverResult
        ``point`` has ``w``, ``b`` of the classifier w'x + b, and, where the last step is proved, its ``gradient`` v
        and ``multipliers``. ``stationary`` where the certificate of :func:`fsopt.drivers.dca.dca` holds for all
        features. A local answer; there is no bound.

    Raises
    ------
    SolverError : a step was not solved.

    Notes
    -----
    Yang & Ju, Algorithm 1.
    """
    recorder = Recorder([], run)

    def descents(k: int, v: Vector) -> Loop:
        return _descend(replace(problem, v=v), recorder, penalty, tolerance=tolerance, start=k)

    how = {"n_starts": n_starts, "seed": seed, "size": problem.data.p}
    return (yield from best_descent(descents, start, penalty, recorder, tolerance=tolerance, **how))


def _descend(problem: WorstCase, recorder: Recorder, penalty: Penalty, *, tolerance: float, start: int) -> Loop:
    """Yield the iterates of DCA from the linearisation of a problem, with more and more of the features."""
    w, rise = np.zeros(problem.data.p), 0.0
    kept = np.zeros(problem.data.p, dtype=bool)
    # The first step, for all features.
    for at in _priced(problem, recorder):
        w, kept = at.point["w"], at.point["columns"]
        value, point = penalty.value(w), {"w": w, "b": at.point["b"]}
        record = {"start": start, "objective": value, "criticality": np.inf, "columns": int(kept.sum())}
        yield Iterate(value, point, evidence=NOTHING, record=record)

    def descend(places: Indices) -> tuple[DriverResult, Iterate, Vector]:
        """Return DCA on some features from the last iterate, its last one, and the excess of the others."""
        nonlocal w, rise
        before, evidence = penalty.value(w), NOTHING
        over = np.zeros(len(w))
        model = problem.model(places)
        found = dca(model, penalty, start=w[places], tolerance=tolerance, run=recorder.rest())
        recorder.include(found)
        w, v = np.zeros(len(w)), np.zeros(len(w))
        w[places], v[places] = found.point["w"], found.point["gradient"]
        value, point = penalty.value(w), {"w": w, "b": -float(found.point["b"])}
        assert found.certificate is not None
        rise = max(rise, found.certificate.residuals["ascent"], (value - before) / max(1.0, abs(before)))
        # The multipliers of its last step price all other features, whose cost is the slope.
        if (proof := found.point["proof"]) is not None:
            step = replace(problem, v=v)
            at, over, bound = step.dual(multipliers_of(model, compile_model(model), proof, problem.moments, places))
            here = step.value(w)
            evidence = {"criticality": max(here - bound, 0.0) / max(1.0, abs(here))}
            point |= {"gradient": v, "multipliers": at}
        end = Iterate(value, point, evidence={**evidence, "rise": rise})
        return found, end, np.zeros(len(w)) if found.stop in EARLY else over

    for places, (found, end, _), last in working_set(w, descend, lambda answer: answer[2], kept=kept):
        for step in found.history:
            fields = {"criticality": step["criticality"], "columns": int(places.sum())}
            record = {"start": start, "objective": end.objective, **fields}
            yield replace(end, record=record, stop=found.stop if last else "")
