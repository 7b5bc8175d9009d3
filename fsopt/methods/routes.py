"""Routes to one answer: where the first does not end in a certified optimum the next is taken, and the fit says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from fsopt.answers.certificate import Certificate
from fsopt.answers.results import Status
from fsopt.common import clock
from fsopt.drivers.recorder import EARLY
from fsopt.drivers.run import ENDS, Steps, within
from fsopt.errors import SolverError


class Ended(Protocol):
    """The outcome of a route: of a solver, of a driver, or an answer that has one.

    Attributes
    ----------
    status, stop, certificate, solver : as in :class:`fsopt.answers.results.SolveResult`.
    """

    @property
    def status(self) -> Status:
        """How much is proved."""

    @property
    def stop(self) -> str:
        """Why it ended."""

    @property
    def certificate(self) -> Certificate | None:
        """The evidence."""

    @property
    def solver(self) -> str:
        """Who solved it."""


Answer = TypeVar("Answer")


def first_certified(
    routes: Sequence[Callable[[], Answer | Steps[Answer]]], outcome: Callable[[Answer], Ended]
) -> Steps[tuple[Answer, tuple[str, ...]]]:
    """Return the first answer that is a certified optimum, else the one with the smallest residual; and warnings.

    A route is left for the next where it stalls, ends without a certificate that holds, or raises SolverError; not
    where its time is over or the user interrupts it.

    Parameters
    ----------
    routes : functions without arguments, the preferred one first.
    outcome : the outcome of an answer.

    Raises
    ------
    SolverError, OutOfTimeError : that of the first route, where no route has an answer.
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
    best = min(answers, key=lambda answer: _worst(outcome(answer)))
    if not reasons:
        return best, ()
    ended = outcome(best)
    if ended.status is Status.OPTIMAL:
        return best, (f"{'; '.join(reasons)}: the answer is that of {ended.solver}",)
    return best, (f"{'; '.join(reasons)}: the answer of {ended.solver} is the nearest to an optimum",)


def _worst(ended: Ended) -> float:
    """Return the largest residual, a negative number for a certified optimum."""
    if ended.status is Status.OPTIMAL:
        return -1.0
    return float("inf") if ended.certificate is None else ended.certificate.worst
