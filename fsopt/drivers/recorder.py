"""Bookkeeping of every driver: subproblems and their solvers, one record per iteration, interruption."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from fsopt.answers.certificate import Certificate, Kind
from fsopt.answers.results import DriverResult, Point, SolveResult, Status
from fsopt.common import clock
from fsopt.common.clock import uninterrupted
from fsopt.drivers.run import DEFAULT_RUN, NoPoint, OutOfTimeError, Run, usable
from fsopt.errors import FsoptError, SolverError
from fsopt.solvers.base import Session
from fsopt.solvers.registry import no_multipliers, preference
from fsopt.solvers.spec import SolverSpec
from fsopt.typing import Vector

PHASES = ("translate", "update", "solve", "load")
LATE = 3
"""Largest number of solves, of a tenth of a second each, after the time limit: the first incumbent may take several."""


EARLY = ("time-limit", "interrupted", "memory")
"""Reasons to stop that end all runs of a driver, and leave an answer that more time or memory may better."""


class Recorder:
    """The history of a driver over one or more sessions, whose seconds count, with the run of those to come."""

    def __init__(self, sessions: Sequence[Session], run: Run = DEFAULT_RUN) -> None:
        self.sessions = sessions
        self.run = run
        self.history: list[Mapping[str, Any]] = []
        self._late = 0
        self._spent = dict.fromkeys(PHASES, 0.0)
        self._seen = dict.fromkeys(PHASES, 0.0)
        self._solvers: dict[str, None] = {}
        self._substitutes: dict[str, None] = {}
        self._fallbacks: list[str] = []

    def inner_run(self) -> Run:
        """Return how a loop inside this one is run: without progress and checkpoints of its own."""
        return Run(solver=self.run.solver, options=self.run.options)

    def check_clock(self) -> None:
        """Raise OutOfTimeError for one solve too many after the time limit: the place where every loop meets the clock.

        A solver looks at the clock between its own iterations, and a program that is warm at its optimum takes none: a
        loop over such programs would go on for ever.
        """
        self._late += clock.expired()
        if self._late > LATE:
            raise OutOfTimeError("the time limit passed between two solves", "give more seconds")

    def solve(
        self,
        session: Session,
        what: str,
        *,
        load: bool = True,
        mip_gap: float | None = None,
        checked: bool = True,
        certify: bool = True,
        vertex: bool = False,
    ) -> SolveResult:
        """Solve a subproblem within the time left; where its solver returns no point, by another one of the class.

        The record of the iteration then says so in ``fallback``, and the result of the driver names both solvers.
        ``what`` is the subproblem in the words of messages. A driver that proves its bounds from any point takes those
        whose certificate fails, not ``checked``; without ``certify`` a loop completes its last step in the session; a
        ``vertex`` is asked of another solver too.

        Raises OutOfTimeError before there is a point, NoPoint for an infeasible subproblem, and SolverError where no
        solver returned a point, or where the one that the user named refused its first solve.
        """
        self.check_clock()
        how, tried = {"load": load, "mip_gap": mip_gap, "certify": certify}, list[str]()
        error: SolverError | None = None
        for spec in chain([session.spec], _others(session, vertex)):
            try:
                at = session if error is None else session.with_solver(spec.name)
                result = _attempt(at, what, checked, **how)
            except (OutOfTimeError, NoPoint):
                raise
            except FsoptError as failed:
                if error is not None:
                    tried.append(spec.name)
                elif not isinstance(failed, SolverError) or (session.requested and not session.seconds["solve"]):
                    raise
                else:
                    error = failed
                continue
            if error is not None:
                self._absorb(at)
                self._substitutes[spec.name] = None
                self._fallbacks.append(f"{error.message}; {spec.name} solved it")
            return result
        assert error is not None
        if tried:
            error.message += f"; nor was it by {', '.join(tried)}"
        raise error

    def multipliers(self, session: Session, what: str, **how: bool) -> tuple[Point, Vector]:
        """Solve a subproblem as :meth:`solve`, without loading it, and return its point and the multipliers y of it."""
        point = self.solve(session, what, load=False, **how).point
        if point is None or point.y is None:
            raise no_multipliers(session.spec.name, session.problem_class)
        return point, point.y

    def solve_once(self, session: Session, what: str, *, mip_gap: float | None = None) -> SolveResult:
        """Solve a session that is not one of the loop's, count its seconds and name its solver."""
        result = self.solve(session, what, mip_gap=mip_gap)
        self._absorb(session)
        self._solvers[session.spec.name] = None
        return result

    def renew(self, *sessions: Session) -> None:
        """Go on with these sessions; the seconds of those that go still count."""
        for session in self.sessions:
            if session not in sessions:
                self._absorb(session)
        self.sessions = sessions

    def include(self, result: SolveResult | DriverResult) -> None:
        """Count the seconds of a solve or loop that ran inside this one, and name its solver."""
        self._spent = {k: self._spent[k] + result.seconds.get(k, 0.0) for k in PHASES}
        self._solvers[result.solver] = None
        if isinstance(result, DriverResult):
            self._fallbacks += [record["fallback"] for record in result.history if record["fallback"]]

    @property
    def solvers(self) -> list[str]:
        """The names of the solvers so far."""
        own = dict.fromkeys(session.spec.name for session in self.sessions)
        return list(self._solvers | own | self._substitutes)

    def resume(self, history: Sequence[Mapping[str, Any]], solvers: Sequence[str]) -> None:
        """Go on with the records and the solvers of a run that was interrupted."""
        self.history.extend(history)
        self._solvers = dict.fromkeys(solvers)

    def count(self, solver: str, seconds: float) -> None:
        """Count seconds of a solve without a session, and name its solver."""
        self._spent["solve"] += seconds
        self._solvers[solver] = None

    def _absorb(self, session: Session) -> None:
        """Count the seconds of a session that is not solved again."""
        self._spent = {k: self._spent[k] + session.seconds[k] for k in PHASES}

    def append(self, **fields: Any) -> None:
        """Append the record of one iteration: its seconds, why anything was rebuilt, which other solver was needed."""
        seconds = self.seconds
        spent = {f"seconds_{k}": seconds[k] - self._seen[k] for k in PHASES}
        self._seen = seconds
        rebuilt = "; ".join(s.rebuilt for s in self.sessions if s.rebuilt)
        fallback, self._fallbacks = "; ".join(self._fallbacks), []
        entry = {"iteration": len(self.history) + 1, **fields, **spent, "rebuilt": rebuilt, "fallback": fallback}
        self.history.append(entry)

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
            solver="+".join(self.solvers),
            seconds=self.seconds,
        )

    def end_certified(self, certificate: Certificate, stop: str, point: Mapping[str, Any]) -> DriverResult:
        """Return the result whose objective value and bound are those of its certificate: optimal where it holds."""
        assert certificate.objective is not None
        status = Status.OPTIMAL if certificate.ok else Status.FEASIBLE
        return self.end(
            status,
            stop,
            objective=certificate.objective,
            bound=certificate.bound,
            point=point,
            certificate=certificate,
        )

    @property
    def seconds(self) -> dict[str, float]:
        """Total seconds of each phase over all sessions."""
        return {k: self._spent[k] + sum(s.seconds[k] for s in self.sessions) for k in PHASES}


def _attempt(session: Session, what: str, checked: bool, **how: Any) -> SolveResult:
    """Return the result of one solve, if it holds a point; else raise what :meth:`Recorder.solve` raises."""
    result = uninterrupted(session.solve(**how))
    as_it_comes = result.certificate is not None and result.certificate.kind is Kind.FEASIBLE
    if result.point is not None and (not checked or (as_it_comes and not how["certify"])):
        clock.found()
        return result
    return usable(result, what)


def _others(session: Session, vertex: bool) -> Iterator[SolverSpec]:
    """Yield the other installed solvers of the session's class, with multipliers where its own solver gives them."""
    for spec in preference(session.problem_class):
        same = (spec.duals or not session.spec.duals) and (spec.vertex or not vertex)
        if spec.name != session.spec.name and same and spec.available:
            yield spec


def stop_word(reason: BaseException) -> str:
    """Return why a loop ended early: its time or memory was over, or the user interrupted it."""
    if isinstance(reason, FsoptError):
        return reason.kind
    return "memory" if isinstance(reason, MemoryError) else "interrupted"


def proved_bound(step: SolveResult) -> float:
    """Return the lower bound of a step that was proved: its certified bound, minus infinity without one."""
    return step.bound if step.status is Status.OPTIMAL and step.bound is not None else -np.inf
