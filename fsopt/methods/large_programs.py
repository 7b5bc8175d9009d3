"""Large data: when programs are solved by column generation or an interior point, and in which order routes are tried.

Of several routes to one answer the next is taken where one does not end in a certified optimum, and the fit says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from fsopt.answers.results import DriverResult, SolveResult, Status
from fsopt.common import clock
from fsopt.common.registry import changes_in_force
from fsopt.data import Dataset
from fsopt.drivers.recorder import EARLY
from fsopt.drivers.run import ENDS, Run, Steps, through
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
    """Return the routes to an answer, true for fsopt's own engine: first for large data, alone without a model."""
    if not (large or data.sparse):
        return (False, True)
    return (True,) if data.sparse or data.X.size > MODELLED else (True, False)


def interior_order(data: Dataset, run: Run, least: int | None = None) -> tuple[bool, ...]:
    """Return the routes to an SVM, true for the interior point: the first from ``least`` entries of the data on."""
    if run.solver is not None or changes_in_force():
        return (False,)
    return _order(data, large=data.X.size >= (INTERIOR if least is None else least))


def generation_order(data: Dataset, run: Run) -> tuple[bool, ...]:
    """Return the routes to a linear program, true for restricted programs, which a solver that is named solves, too."""
    large = uses_generation(data, run)
    if not data.sparse and (run.solver is not None or changes_in_force()):
        return (large and not changes_in_force(),)
    return _order(data, large=large)


def uses_generation(data: Dataset, run: Run, *, features: bool = True) -> bool:
    """Return whether an LP is solved by restricted programs: of sparse data, of large data by a solver with duals."""
    large = max(data.X.shape if features else (data.n,)) >= LONG and data.X.size >= LARGE
    return data.sparse or (large and (run.solver is None or solver_spec(run.solver).duals))


def by_features(data: Dataset, run: Run) -> bool:
    """Return whether a program is solved by a working set of features: of many, unless the user changes the model."""
    return data.p >= LONG and uses_generation(data, run) and not changes_in_force()


Answer = TypeVar("Answer")


def first_certified(
    routes: Sequence[Callable[[], Answer | Steps[Answer]]], outcome: Callable[[Answer], SolveResult | DriverResult]
) -> Steps[tuple[Answer, tuple[str, ...]]]:
    """Return the first answer that is a certified optimum, else the best one, and warnings; or the first error.

    Of changed models the first route is the only one: the models of the next are not changed.
    """
    answers: list[Answer] = []
    reasons: list[str] = []
    errors: list[SolverError] = []
    for route in routes[:1] if changes_in_force() else routes:
        try:
            with clock.anew():
                answer = yield from through(route())
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

    def rank(answer: Answer) -> tuple[bool, float]:
        ended = outcome(answer)
        return ended.status is Status.OPTIMAL, -np.inf if ended.bound is None else ended.bound

    best = max(answers, key=rank)
    return best, (f"{'; '.join(reasons)}: the answer is that of {outcome(best).solver}",) if reasons else ()
