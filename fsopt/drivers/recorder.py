"""Bookkeeping that every driver needs: time left, one record per iteration, progress, interruption."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fsopt.certificates.certificate import Certificate
from fsopt.drivers.run import DEFAULT_RUN, OutOfTime, Run, usable
from fsopt.results import DriverResult, SolveResult, Status
from fsopt.solvers.base import Session

PHASES = ("translate", "update", "solve", "load")


class Recorder:
    """The history of a driver over one or more sessions.

    Parameters
    ----------
    sessions : the sessions whose seconds count.
    run : its time limit starts now; its progress is called with each record as it is made.
    """

    def __init__(self, sessions: Sequence[Session], run: Run = DEFAULT_RUN) -> None:
        self.sessions = sessions
        self._spent = dict.fromkeys(PHASES, 0.0)
        self.history: list[Mapping[str, Any]] = []
        self._deadline = None if run.time_limit is None else time.perf_counter() + run.time_limit
        self._progress, self.options = run.progress, run.options
        self._solvers: dict[str, None] = {}
        self._seen = dict.fromkeys(PHASES, 0.0)

    @property
    def remaining(self) -> float | None:
        """Seconds left for the next solve, at least a tenth; None without a limit."""
        return None if self._deadline is None else max(self._deadline - time.perf_counter(), 0.1)

    @property
    def expired(self) -> bool:
        """Whether the time limit has passed."""
        return self._deadline is not None and time.perf_counter() >= self._deadline

    def rest(self, run: Run) -> Run:
        """Return how a loop inside this one is run: in the time left, without progress and checkpoints of its own."""
        return Run(solver=run.solver, time_limit=self.remaining, options=run.options)

    def check_clock(self) -> None:
        """Raise OutOfTime once the limit has passed, for a loop that has a point.

        A solver looks at the clock between its own iterations, and a program that is warm at its optimum takes none.
        """
        if self.expired:
            raise OutOfTime("the time limit passed between two solves", "give more seconds")

    def solve(
        self, session: Session, what: str, *, load: bool = True, mip_gap: float | None = None, checked: bool = True
    ) -> SolveResult:
        """Solve a subproblem within the time left; raise OutOfTime or SolverError where it holds no point.

        A driver that proves everything itself, whatever point it is given, takes them unchecked.
        """
        result = session.solve(time_limit=self.remaining, load=load, mip_gap=mip_gap)
        if not checked and result.point is not None:
            return result
        if not result.status.solved and (result.stop == "time-limit" or self.expired):
            raise OutOfTime(f"the time limit passed before {what} was solved for the first time", "give more seconds")
        return usable(result, what)

    def renew(self, *sessions: Session) -> None:
        """Go on with other sessions; the seconds of those before still count."""
        self._spent, self.sessions = self.seconds, sessions

    def include(self, result: DriverResult) -> None:
        """Count the seconds of a loop that ran inside this one, and name its solver."""
        self._spent = {k: self._spent[k] + result.seconds[k] for k in PHASES}
        self._solvers[result.solver] = None

    def count(self, solver: str, seconds: float) -> None:
        """Count seconds of a solve without a session, and name what solved it."""
        self._spent["solve"] += seconds
        self._solvers[solver] = None

    def record(self, **fields: Any) -> None:
        """Append the record of one iteration, with the seconds it took and why anything was rebuilt."""
        seconds = self.seconds
        spent = {f"seconds_{k}": seconds[k] - self._seen[k] for k in PHASES}
        self._seen = seconds
        rebuilt = "; ".join(s.rebuilt for s in self.sessions if s.rebuilt)
        entry = {"iteration": len(self.history) + 1, **fields, **spent, "rebuilt": rebuilt}
        self.history.append(entry)
        if self._progress is not None:
            self._progress(entry)

    def end(
        self,
        status: Status,
        stop: str,
        *,
        objective: float,
        point: Mapping[str, Any],
        certificate: Certificate,
        bound: float | None = None,
    ) -> DriverResult:
        """Return the result of the loop that was recorded."""
        return DriverResult(
            status=status,
            stop=stop,
            objective=objective,
            bound=bound,
            iterations=len(self.history),
            point=point,
            history=tuple(self.history),
            certificate=certificate,
            solver="+".join(self._solvers | dict.fromkeys(session.spec.name for session in self.sessions)),
            seconds=self.seconds,
        )

    @property
    def seconds(self) -> dict[str, float]:
        """Total seconds of each phase over all sessions."""
        return {k: self._spent[k] + sum(s.seconds[k] for s in self.sessions) for k in PHASES}


def stop_word(reason: BaseException) -> str:
    """Return why a loop ended early: its time was over, or the user interrupted it."""
    return "time-limit" if isinstance(reason, OutOfTime) else "interrupted"


def proved_least(step: SolveResult) -> float:
    """Return the value that no point of a step goes below: its certified bound, minus infinity without one."""
    return step.bound if step.status is Status.OPTIMAL and step.bound is not None else -np.inf
