"""One driver for all programs of many features: the model of some of them, and the price of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.certificate import Kind, make
from fsopt.answers.results import DriverResult, SolveResult, Status
from fsopt.compiler import Program
from fsopt.drivers.loop import Iterate, Loop, reader, run_loop
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import DEFAULT_RUN, NoPoint, Run, Steps, loop
from fsopt.solvers.base import Session
from fsopt.typing import Indices, Mask, Vector

COLUMNS = 200
"""Number of features in the first restricted program, and largest number added in an iteration."""
T = TypeVar("T")
Build: TypeAlias = Callable[[Indices], pyo.ConcreteModel]
"""Function of the places of some features that returns their model."""
Price: TypeAlias = Callable[[pyo.ConcreteModel, Program, Vector, Indices], Vector]
"""Function of such a model, compiled, the multipliers y (m,) of its constraints and the places of its features that
returns the excess (p,) of the reduced costs of all features, 0 or less where it is no reason to add a feature."""


def working_set(
    scores: Vector,
    solve: Callable[[Indices], T],
    excess: Callable[[T], Vector],
    *,
    kept: Mask | None = None,
) -> Iterator[tuple[Mask, T, bool]]:
    """Yield features (p,), answer, and whether it is the last, of programs of more and more features.

    The multipliers of a restricted program do not depend on the number of features: they price all others. A feature
    whose dual constraint they violate is added, those of the largest ``excess`` (p,) of an answer first, at most
    :data:`COLUMNS` at once. Where there is none, the multipliers are feasible for the program of all features, and the
    answer with zero weights for the others is its optimum. The first program has the features ``kept``, or those of the
    largest scores (p,), which come next while a program of too few is infeasible; NoPoint where that of all is.
    """
    kept = largest(scores) if kept is None else kept.copy()
    # Each pass adds a feature, of which there are p, or is the last.
    while True:
        try:
            answer = solve(np.flatnonzero(kept))
        except NoPoint:
            if kept.all():
                raise
            kept |= largest(scores, 2 * int(kept.sum()))
            continue
        solved = kept.copy()
        added = add_violated(kept, excess(answer), COLUMNS)
        yield solved, answer, not added
        if not added:
            return


def add_violated(kept: Mask, excess: Vector, most: int) -> bool:
    """Add the features of the largest excess, of the most negative reduced costs; return whether there are any."""
    over = np.where(kept, 0.0, excess)
    new = largest(over, most) & (over > 0.0)
    kept |= new
    return bool(new.any())


def largest(scores: Vector, most: int | None = None) -> Mask:
    """Return the places (p,) of so many of the largest scores, :data:`COLUMNS` by default."""
    places = np.zeros(len(scores), dtype=bool)
    places[np.argsort(-scores, kind="stable")[: COLUMNS if most is None else most]] = True
    return places


def spread(values: Vector, places: Indices, p: int) -> Vector:
    """Return the weights (p,) with these values at some places and zeros elsewhere."""
    w = np.zeros(p)
    w[places] = values
    return w


@dataclass
class Restricted:
    """A convex model of some of the features in one session, which stays while no feature is added.

    ``scores`` (p,) are as in :func:`working_set`, ``kept`` (p,) the features of the first model, and then of the last
    one; all of them where none is priced.
    """

    build: Build
    price: Price
    scores: Vector
    kept: Mask
    recorder: Recorder
    _session: Session | None = None

    @property
    def session(self) -> Session:
        """The session of the last model."""
        assert self._session is not None
        return self._session

    @property
    def places(self) -> Indices:
        """The features of the last model."""
        return np.flatnonzero(self.kept)

    def optima(self, solve: Callable[[Session], SolveResult]) -> Iterator[tuple[SolveResult, bool]]:
        """Yield the results of models of more and more features, feasible ones but for the last, and if it is that."""

        def solved(places: Indices) -> SolveResult:
            self.kept = np.isin(np.arange(len(self.kept)), places)
            if self._session is None or len(self.session.model.w) < len(places):
                self._session = self.recorder.run.open(self.build(places))
                self.recorder.renew(self.session)
            return solve(self.session)

        def excess(found: SolveResult) -> Vector:
            if found.point is None or not found.status.solved or self.kept.all():
                return np.zeros(len(self.kept))
            return self.price(self.session.model, self.session.program, found.point.multipliers[0], self.places)

        for _, found, last in working_set(self.scores, solved, excess, kept=self.kept):
            yield found if last else _without_bound(found), last

    def point(self, found: SolveResult) -> dict[str, Any]:
        """Return the variables of the last model by name, but w of all features, and the ``columns`` of the model."""
        assert found.point is not None
        values, places = reader(self.session)(found.point.x), self.places
        return values | {"w": spread(values["w"], places, len(self.kept)), "columns": places}


@loop
def priced(build: Build, price: Price, scores: Vector, *, run: Run = DEFAULT_RUN) -> Steps[DriverResult]:
    """Solve a convex model of many features by the models of some of them; ``proof`` is the point of the last one."""
    recorder = Recorder([], run)
    problem = Restricted(build, price, scores, largest(scores), recorder)

    def iterates() -> Loop:
        for found, last in problem.optima(lambda session: recorder.solve(session, "a restricted program", load=False)):
            assert found.objective is not None
            point = problem.point(found) | {"proof": found.supported if last else None, "solved": found}
            record = {"objective": found.objective, "columns": len(problem.places)}
            yield Iterate(found.objective, point, record=record, stop=found.stop if last else "")

    at, stop = yield from run_loop(iterates(), recorder)
    found: SolveResult = at.point["solved"]
    assert found.certificate is not None
    how: dict[str, Any] = {"certificate": found.certificate, "bound": found.bound}
    return recorder.end(found.status, stop, objective=at.objective, point=at.point, **how)


def _without_bound(found: SolveResult) -> SolveResult:
    """Return the result of a program that some features are missing in: its point is feasible for all."""
    if found.certificate is None or not found.status.solved:
        return found
    residuals = {"infeasibility": found.certificate.residuals["infeasibility"]}
    return replace(found, status=Status.FEASIBLE, bound=None, certificate=make(Kind.FEASIBLE, residuals))
