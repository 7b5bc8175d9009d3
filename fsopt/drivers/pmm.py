"""PMM: the number of misclassified rows as a parameter that is lowered (the baseline of paper 3, Table 1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fsopt.certificates.certificate import Certificate, Kind, make
from fsopt.certificates.convex import dual_point
from fsopt.compiler import compile_model
from fsopt.compiler.values import store, values_of
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hyperplane_errors
from fsopt.drivers.recorder import Recorder, stop_word
from fsopt.drivers.run import DEFAULT_RUN, OutOfTime, Run
from fsopt.models.sla.misclass_step import build_misclass_step
from fsopt.results import DriverResult, Point, Status
from fsopt.solvers.base import Session
from fsopt.typing import Vector

FREE = 1e3
"""Error at which the cost exp(-y) of a row is 0 in floating point."""
NOTE = "no plane with fewer errors was found from the planes tried; that there is none is not proved"


@dataclass(frozen=True)
class Stuck:
    """Where the descent for d dropped rows ended: a plane that is best for the rows it keeps, with a loss > 0.

    Attributes
    ----------
    d, value : the parameter, and the hinge loss without the d largest errors.
    w, b : the plane.
    point : primal-dual point of the linear program on the rows kept, which proves that the plane solves it.
    """

    d: int
    value: float
    w: Vector
    b: float
    point: Point | None


@dataclass
class _Search:
    """The best plane so far, and the values of d at which the descent got stuck."""

    data: Dataset
    session: Session
    recorder: Recorder
    tolerance: float
    errors: int
    w: Vector
    b: float = 0.0
    stuck: dict[int, Stuck] = field(default_factory=dict)

    @property
    def low(self) -> int:
        """The largest d below the number of errors at which the descent got stuck, -1 if there is none."""
        return max((d for d in self.stuck if d < self.errors), default=-1)

    def try_parameter(self, d: int) -> None:
        """Descend for d from the best plane and from the one that got stuck last, unless one reaches f(d) = 0."""
        starts = [(self.w, self.b)] + [(s.w, s.b) for s in (self.stuck.get(self.low),) if s is not None]
        ends = []
        for w, b in starts:
            end = self._descend(d, w, b)
            if end is None:
                return
            ends.append(end)
        self.stuck[d] = min(ends, key=lambda end: end.value)

    def _descend(self, d: int, w: Vector, b: float) -> Stuck | None:
        """Alternate between the d rows to drop and the plane for the others; None where f(d) = 0 was reached.

        Both sides of the stop test are sums recomputed from a plane: they fall by more than rounding at each step, so
        that the loop ends. The solver's own value may lie below them for ever, by its feasibility tolerance.
        """
        costs, here = kept(self.data, d, w, b)
        while True:
            step, new_w, new_b = self._plane(costs)
            new_costs, value = kept(self.data, d, new_w, new_b)
            self.recorder.record(d=d, hinge=value, errors=self.errors)
            if self.errors <= d:
                return None
            if value >= here - self.tolerance * (1.0 + here):
                return Stuck(d, here, w, b, step.point if step.status is Status.OPTIMAL else None)
            w, b, costs, here = new_w, new_b, new_costs, value
            self.recorder.check_clock()

    def _plane(self, costs: Vector) -> tuple[Any, Vector, float]:
        """Solve the linear program with these costs of the errors and count the errors of its plane."""
        model = self.session.model
        if self.recorder.history:  # The session was opened with costs of 1, those of the first step.
            for cost, rows in ((model.cost_y, self.data.positive), (model.cost_z, self.data.negative)):
                store(cost, costs[rows])
            self.session.update(model.objective)
        step = self.recorder.solve(self.session, "a step of PMM")
        w, b = values_of(model.w), -float(model.gamma.value)
        errors = hyperplane_errors(self.data, w, b)
        if errors < self.errors:
            self.errors, self.w, self.b = errors, w, b
        return step, w, b


def pmm(
    data: Dataset,
    *,
    tolerance: float = 1e-9,
    run: Run = DEFAULT_RUN,
) -> DriverResult:
    r"""Find a plane with few errors by lowering the number d of rows that it may misclassify.

    .. math::

        f(d) = \min_{w, \gamma, r}\ \sum_i (1 - r_i)\, (1 - y_i (x_i'w - \gamma))_+
        \quad\text{s.t.}\quad e'r \le d,\ 0 \le r \le e

    For fixed d, alternate between r, by sorting the errors, and the plane, a linear program: Frank-Wolfe on a
    bilinear problem, which ends at a vertex with the minimum principle. The least d with f(d) = 0 is sought by
    bisection between the d where the descent got stuck at f > 0 and the least number of errors of any plane seen
    (such a plane, made longer, gives f = 0).

    Parameters
    ----------
    data : preprocessed.
    tolerance : a descent ends when the loss falls by less than this, relative.
    time_limit : seconds; the answer is then feasible only.

    Returns
    -------
    DriverResult
        The objective is the number of rows on the wrong side of the plane or on it, counted; ``point`` has ``w``,
        ``gamma`` and ``below``, a :class:`Stuck` for one error less. ``stationary`` where that one satisfies the
        minimum principle. The number is an upper bound on the least one; f(d) is minimised locally, so no lower
        bound is known, except that 0 errors cannot be improved.

    Raises
    ------
    SolverError : a linear program was not solved.

    Notes
    -----
    Paper 3, (16) and Table 1, which gives no rule for d; bisection is ours.
    """
    session = run.open(build_misclass_step(data, alpha=1.0))
    recorder = Recorder([session], run)
    search = _Search(data, session, recorder, tolerance, data.n + 1, np.zeros(data.p))
    stop = "stationary"
    try:
        while search.low < search.errors - 1:
            search.try_parameter(0 if search.errors > data.n else (search.low + search.errors) // 2)
            if recorder.expired:
                stop = "time-limit"
                break
    except (KeyboardInterrupt, OutOfTime) as reason:
        if search.errors > data.n:
            raise
        stop = stop_word(reason)
    below = search.stuck.get(search.errors - 1)
    certificate = certify_pmm(data, search.errors, below)
    status = Status.STATIONARY if stop == "stationary" and certificate.ok else Status.FEASIBLE
    return recorder.end(
        status, stop, objective=float(search.errors), certificate=certificate,
        point={"w": search.w, "gamma": -search.b, "below": below},
    )  # fmt: skip


def kept(data: Dataset, d: int, w: Vector, b: float) -> tuple[Vector, float]:
    """Return 0 for the d rows with the largest errors of the plane, 1 for the others, and the errors of these."""
    errors = np.maximum(1.0 - data.y * (data.X @ w + b), 0.0)
    costs = np.ones(data.n)
    costs[np.argsort(-errors, kind="stable")[:d]] = 0.0
    return costs, float(costs @ errors)


def certify_pmm(data: Dataset, errors: int, below: Stuck | None) -> Certificate:
    """Certify that the search for one error less ended at the minimum principle; nothing is claimed without it.

    The rows kept are recomputed from the plane, and the multipliers bound the linear program on them from below.
    """
    if errors == 0:
        return make(Kind.PMM, {}, objective=0.0, notes=("the plane separates the classes",))
    if below is None or below.d != errors - 1 or below.point is None or hyperplane_errors(data, below.w, below.b) < errors:
        return make(Kind.FEASIBLE, {}, objective=float(errors), notes=(NOTE,))
    costs, here = kept(data, below.d, below.w, below.b)
    y, z = (FREE * (1.0 - costs[rows]) for rows in (data.positive, data.negative))
    least, dual = dual_point(compile_model(build_misclass_step(data, alpha=1.0, y=y, z=z)), below.point)
    residuals = {"dual": dual["dual"], "minimum principle": max(here - least, 0.0) / (1.0 + here)}
    residuals["loss"] = abs(here - below.value) / (1.0 + here)
    return make(Kind.PMM, residuals, objective=float(errors), notes=(NOTE,))
