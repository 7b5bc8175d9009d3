"""Driver ``pmm``: the number of misclassified samples as a parameter that is lowered (Mangasarian, Table 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.results import DriverResult, Status
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hyperplane_errors
from fsopt.drivers.column_generation import column_generation
from fsopt.drivers.l1_hinge_program import certify_l1_hinge
from fsopt.drivers.loop import Iterate, Loop, Within, run_loop
from fsopt.drivers.recorder import EARLY, Recorder
from fsopt.drivers.run import DEFAULT_RUN, OutOfTimeError, Run, Steps, loop
from fsopt.typing import Vector

NOTE = "no hyperplane with fewer errors was found from those tried; that there is none is not proved"
SEPARATES = "the hyperplane separates the classes"
TOLERANCE = 1e-9
"""A descent ends when the loss falls by less than this, relative."""
COUNT = "a number of errors is nonnegative"
"""Source of the lower bound 0."""


@dataclass(frozen=True)
class StationaryPoint:
    """The end of a descent for d dropped samples: a hyperplane of smallest loss on the others, with a loss > 0.

    The field names are keys of saved fits. ``value`` is the hinge loss without the d largest ones; the multipliers
    ``alpha`` (n,) prove that the hyperplane solves the linear program on the others.
    """

    d: int
    value: float
    w: Vector
    b: float
    alpha: Vector | None = None


@dataclass
class _BestHyperplane:
    """The hyperplane with the fewest errors so far, and the stationary points, by the parameter d of their descent."""

    data: Dataset
    errors: int
    w: Vector
    b: float = 0.0
    stationary: dict[int, StationaryPoint] = field(default_factory=dict)

    @property
    def low(self) -> int:
        """The largest d below the number of errors with a stationary point, -1 if there is none."""
        return max((d for d in self.stationary if d < self.errors), default=-1)

    def starts(self) -> list[tuple[Vector, float]]:
        """Return the incumbent, and the stationary point of ``low`` where it is another hyperplane."""
        found, before = [(self.w, self.b)], self.stationary.get(self.low)
        if before is not None and (before.b != self.b or np.any(before.w != self.w)):
            found.append((before.w, before.b))
        return found

    def count_errors(self, w: Vector, b: float) -> None:
        """Count the errors of a hyperplane and take it over if it has the fewest."""
        errors = hyperplane_errors(self.data, w, b)
        if errors < self.errors:
            self.errors, self.w = errors, w
            self.b = b

    def iterate(self, record: Mapping[str, Any] | None = None, stop: str = "") -> Iterate:
        """Return the incumbent as an iterate."""
        point = {"w": self.w, "gamma": -self.b, "below": self.stationary.get(self.errors - 1)}
        return Iterate(float(self.errors), point, record=record, stop=stop)


def _lower(data: Dataset, recorder: Recorder) -> Loop:
    """Yield the incumbents of the search for the smallest d with f(d) = 0."""
    # Step 1: more errors than there are samples, and no stationary point.
    search = _BestHyperplane(data, data.n + 1, np.zeros(data.p))
    # Each pass finds the stationary point of another d below the number of errors, or lowers that number: at most 2 n
    # passes.
    while search.low < search.errors - 1:
        # Step 2: d halfway between them, 0 at first; descents from both hyperplanes, unless one reaches f(d) = 0.
        d, ends = 0 if search.errors > data.n else (search.low + search.errors) // 2, []
        for w, b in search.starts():
            end = yield from _descend(search, recorder, d, w, b)
            if end is None:
                break
            ends.append(end)
        else:
            search.stationary[d] = min(ends, key=lambda end: end.value)
    # Step 3: the stationary point for one error less is the evidence.
    yield search.iterate(stop="stationary")


def _descend(
    search: _BestHyperplane, recorder: Recorder, d: int, w: Vector, b: float
) -> Within[StationaryPoint | None]:
    """Alternate between the d samples to drop and the hyperplane for the others; return None where f(d) = 0."""
    # The stopping criterion compares recomputed sums: the solver's own value may lie below them for ever, by its
    # feasibility tolerance.
    # Step 2.1: the d samples of the largest hinge losses cost nothing.
    costs, here = without_largest(search.data, d, w, b)
    # The recomputed loss falls by more than the tolerance in each pass, and is never negative.
    while True:
        # Step 2.2: the hyperplane of smallest loss on the others, by programs of some of them.
        start = (w, b) if w.any() else None
        step = column_generation(search.data, costs, np.zeros(search.data.p), start=start, run=recorder.inner_run())
        recorder.include(step)
        new_w, new_b = step.point["w"], step.point["b"]
        search.count_errors(new_w, new_b)
        new_costs, value = without_largest(search.data, d, new_w, new_b)
        yield search.iterate({"d": d, "hinge": value, "errors": search.errors})
        if step.stop == "interrupted":
            raise KeyboardInterrupt
        if step.stop in EARLY:
            raise OutOfTimeError("the time limit passed between two solves", "give more seconds")
        # Step 2.3: at most d misclassified samples, or no smaller loss.
        if search.errors <= d:
            return None
        if value >= here - TOLERANCE * (1.0 + here):
            return StationaryPoint(d, here, w, b, step.point["alpha"] if step.status is Status.OPTIMAL else None)
        w, b = new_w, new_b
        costs, here = new_costs, value


@loop
def pmm(data: Dataset, *, run: Run = DEFAULT_RUN) -> Steps[DriverResult]:
    r"""Find a hyperplane with few misclassified samples by lowering the number d of them that are allowed.

    .. math::

        f(d) = \min_{w, \gamma, r}\ \sum_i (1 - r_i)\, (1 - y_i (x_i'w - \gamma))_+
        \quad\text{s.t.}\quad e'r \le d,\ 0 \le r \le e

    For fixed d, alternate between r, by sorting the hinge losses, and the hyperplane, a linear program by
    :func:`fsopt.drivers.column_generation`, without a model of all samples: Frank-Wolfe on a bilinear problem, which
    ends at a vertex with the minimum principle. The smallest d with f(d) = 0 is sought by bisection between the d of
    stationary points with f > 0 and the smallest number of misclassified samples so far (that hyperplane, made longer,
    gives f = 0).

    Parameters
    ----------
    data : preprocessed.
    run : solver (any for LP that returns multipliers), options, time limit, progress. After a limit the answer is
        feasible only.

    Returns
    -------
    DriverResult
        The objective is the number of samples on the wrong side of the hyperplane or on it, counted; ``point`` has
        ``w``, ``gamma`` and ``below``, a stationary point for one error less. ``optimal``, with the bound 0, where
        there are no errors; ``stationary`` where the stationary point satisfies the minimum principle. The number is
        then an upper bound on the smallest one; f(d) is minimised locally, and gives no lower bound.

    Raises
    ------
    SolverError : a linear program was not solved, or a solver that returns no multipliers.

    Notes
    -----
    Mangasarian, (16) and Table 1, without a rule for d; bisection is ours.
    """
    recorder = Recorder([], run)
    at, stop = yield from run_loop(_lower(data, recorder), recorder)
    certificate = certify_pmm(data, int(at.objective), at.point["below"])
    status = Status.FEASIBLE
    if certificate.kind is Kind.GLOBAL:
        status, stop = Status.OPTIMAL, "optimal" if stop == "stationary" else stop
    elif stop == "stationary" and certificate.ok:
        status = Status.STATIONARY
    return recorder.end(
        status, stop, objective=at.objective, bound=certificate.bound, certificate=certificate, point=at.point
    )


def without_largest(data: Dataset, d: int, w: Vector, b: float) -> tuple[Vector, float]:
    """Return 0 for the d samples with the largest hinge losses of a hyperplane, 1 for the others, and their sum."""
    losses = np.maximum(1.0 - data.y * (data.X @ w + b), 0.0)
    costs = np.ones(data.n)
    costs[np.argsort(-losses, kind="stable")[:d]] = 0.0
    return costs, float(costs @ losses)


def certify_pmm(data: Dataset, errors: int, below: StationaryPoint | None) -> Certificate:
    """Certify that 0 errors are the minimum, or that the search for one error less ended at the minimum principle.

    The samples that are left are recomputed from the hyperplane; the multipliers bound the linear program on them.
    """
    if errors == 0:
        return make(Kind.GLOBAL, {"gap": 0.0}, objective=0.0, bound=0.0, bound_source=COUNT, notes=(SEPARATES,))
    proved = below is not None and below.d == errors - 1 and hyperplane_errors(data, below.w, below.b) >= errors
    if below is None or below.alpha is None or not proved:
        return make(Kind.FEASIBLE, {}, objective=float(errors), notes=(NOTE,))
    costs, here = without_largest(data, below.d, below.w, below.b)
    found = certify_l1_hinge(data, costs, np.zeros(data.p), below.w, below.b, below.alpha)
    residuals = {
        "cost": found.residuals["cost"],
        "minimum principle": max(here - (found.bound or 0.0), 0.0) / (1.0 + here),
        "loss": abs(here - below.value) / (1.0 + here),
    }
    return make(Kind.PMM, residuals, objective=float(errors), notes=(NOTE,))
