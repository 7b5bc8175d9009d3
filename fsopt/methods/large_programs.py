"""Large data: when programs are solved by column generation or by an interior point, and how answers are verified.

Of several routes to one answer the next is taken where one does not end in a certified optimum, and the fit says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from fsopt.answers.results import DriverResult, SolveResult, Status
from fsopt.certificates.points import relative_gap
from fsopt.common import clock
from fsopt.common.registry import changes_in_force
from fsopt.data import Dataset
from fsopt.drivers.recorder import EARLY
from fsopt.drivers.run import ENDS, Run, Steps, within
from fsopt.errors import SolverError
from fsopt.solvers.registry import solver_spec

LONG = 3_000
"""Number of samples or features from which restricted programs are 3 times as fast, see benchmarks/generation.py."""
LARGE = 150_000
"""Number of entries of the data from which they are, where LONG is reached too."""
INTERIOR = 500_000
"""Entries of the data from which support vector machines are solved without a model of them, see docs/limits.md."""
REPEATED = 5_000
"""The same where a loop solves one machine after another: 1.8 times as fast there, 15 times at 250,000 entries."""
MODELLED = 5_000_000
"""Entries of the data up to which a model is a second route: it takes about a gigabyte."""


def _order(data: Dataset, *, large: bool) -> tuple[bool, ...]:
    """Return the routes to an answer in their order, true for fsopt's own engine, false for a solver of its model.

    The engine is first for large data, and the model second where it fits into the memory; models of sparse data would
    be dense. Where the user names a solver or changes a model there is one route, and this is not asked.
    """
    if not (large or data.sparse):
        return (False, True)
    return (True,) if data.sparse or data.X.size > MODELLED else (True, False)


def interior_order(data: Dataset, run: Run, *, own: bool = False, repeated: bool = False) -> tuple[bool, ...]:
    """Return the routes to a support vector machine in their order: true for the interior point, false for its model.

    With ``own`` the interior point is first whatever the size of the data and the changed models; where machines are
    ``repeated`` in a loop, from fewer data on.
    """
    if run.solver is not None or (not own and changes_in_force()):
        return (False,)
    return _order(data, large=own or data.X.size >= (REPEATED if repeated else INTERIOR))


def generation_order(data: Dataset, run: Run) -> tuple[bool, ...]:
    """Return the routes to a linear program, true for restricted programs, false for the whole one, in their order.

    Restricted programs are solved by a solver that the user names, too.
    """
    large = uses_generation(data, run)
    if not data.sparse and (run.solver is not None or changes_in_force()):
        return (large and not changes_in_force(),)
    return _order(data, large=large)


def uses_generation(data: Dataset, run: Run, *, features: bool = True) -> bool:
    """Return whether a linear program is solved by restricted programs of some samples and features.

    That is so for sparse data, and for large ones where the solver gives multipliers. Many features are no reason where
    weights have no cost, since all are then in every restricted program.
    """
    large = max(data.X.shape if features else (data.n,)) >= LONG and data.X.size >= LARGE
    return data.sparse or (large and (run.solver is None or solver_spec(run.solver).duals))


def by_features(data: Dataset, run: Run) -> bool:
    """Return whether a program is solved by a working set of features: of many, unless the user changes the model."""
    return data.p >= LONG and uses_generation(data, run) and not changes_in_force()


Answer = TypeVar("Answer")


def first_certified(
    routes: Sequence[Callable[[], Answer | Steps[Answer]]], outcome: Callable[[Answer], SolveResult | DriverResult]
) -> Steps[tuple[Answer, tuple[str, ...]]]:
    """Return the first answer that is a certified optimum, else the one with the smallest gap; and warnings.

    A route is left for the next where it stalls, ends without a certificate that holds, or raises SolverError; not
    where its time is over or the user interrupts it. The first error is raised where no route has an answer.
    """
    answers: list[Answer] = []
    reasons: list[str] = []
    errors: list[SolverError] = []
    for route in routes:
        try:
            with clock.anew():
                answer = yield from within(route())
        except ENDS:
            if not answers:
                raise
            break
        except SolverError as error:
            errors.append(error)
            reasons.append(error.message)
            continue
        answers.append(answer)
        ended = outcome(answer)
        if ended.status is Status.OPTIMAL or ended.stop in EARLY or clock.expired():
            break
        reasons.append(f"{ended.solver} ended without a certified optimum ({ended.stop})")
    if not answers:
        raise errors[0]
    best = min(answers, key=lambda answer: _gap(outcome(answer)))
    ended = outcome(best)
    words = f"the answer of {ended.solver} is the nearest to an optimum"
    if ended.status is Status.OPTIMAL:
        words = f"the answer is that of {ended.solver}"
    return best, (f"{'; '.join(reasons)}: {words}",) if reasons else ()


def _gap(ended: SolveResult | DriverResult) -> float:
    """Return the gap between value and bound, infinite where one is missing, negative for a certified optimum."""
    if ended.status is Status.OPTIMAL:
        return -1.0
    if ended.objective is None or ended.bound is None:
        return float("inf")
    return relative_gap(ended.objective, ended.bound)
