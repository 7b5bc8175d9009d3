"""Driver ``worst_case_generation``: L1-MPM with many more features than samples, by restricted master problems."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.results import DriverResult, Point
from fsopt.certificates.points import relative_gap
from fsopt.compiler import Program
from fsopt.data import Dataset
from fsopt.drivers.column_generation.worst_case_program import Multipliers, WorstCaseProgram, certify_worst_case
from fsopt.drivers.loop import Iterate, Loop, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, NoPoint, Run, Steps, loop
from fsopt.models.mpm.moments import Moments, kappa
from fsopt.models.registry import build
from fsopt.typing import Indices, Mask, Vector

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


def add_violated(columns: Mask, excess: Vector) -> bool:
    """Add the features of the largest excess; return whether there are any."""
    excess = np.where(columns, 0.0, excess)
    new = np.argsort(-excess, kind="stable")[:COLUMNS]
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
