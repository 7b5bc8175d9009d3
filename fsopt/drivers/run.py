"""How a loop is run: solver, options, limits, progress, checkpoints; and the errors that end it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeAlias, TypeVar

import pyomo.environ as pyo

from fsopt.answers.results import SolveResult, Status
from fsopt.common import clock
from fsopt.errors import MemoryLimitError, SolverError
from fsopt.errors import OutOfTimeError as OutOfTimeError
from fsopt.solvers.base import Session
from fsopt.solvers.checkpoints import kept
from fsopt.solvers.registry import no_multipliers
from fsopt.typing import Vector

P = ParamSpec("P")
T = TypeVar("T")
Progress: TypeAlias = Callable[[Mapping[str, Any]], None]


class CallbackError(KeyboardInterrupt):
    """An exception of the user's progress function, its cause: it ends a loop as Ctrl-C does, with the incumbent."""


class NoPoint(SolverError):
    """A subproblem was shown to be infeasible."""


@dataclass(frozen=True)
class Run:
    """How a driver or method is run, apart from its own parameters.

    Attributes
    ----------
    solver : registry name for the continuous subproblems; None for the preferred one of their class. A loop gives a
        subproblem that it does not solve to another installed one, and says so, see
        :meth:`fsopt.drivers.recorder.Recorder.solve`.
    time_limit : seconds for the whole loop; None for no limit.
    options : options of the solver.
    progress : called with the record of each iteration. KeyboardInterrupt, and any other exception of it, ends the
        loop with its incumbent.
    checkpoint, resume : file that is replaced while the loop runs, and one to resume from; None for none. It has the
        state of the loop, or the answers of its solves, see :mod:`fsopt.solvers.checkpoints`.
    executor : runs the tasks of a driver that has any; None for processes of its own.
    """

    solver: str | None = None
    time_limit: float | None = None
    options: Mapping[str, Any] | None = None
    progress: Progress | None = None
    checkpoint: Path | None = None
    resume: Path | None = None
    executor: Executor | None = None

    def open(self, model: pyo.ConcreteModel) -> Session:
        """Return the model translated and loaded in the solver."""
        return Session(model, self.solver, options=self.options)

    def solve(self, model: pyo.ConcreteModel, what: str, *, load: bool = True) -> tuple[Session, SolveResult]:
        """Solve a model once, within the time limit.

        Parameters
        ----------
        what : the model in the words of the message.
        load : whether the values are written into the model.

        Raises
        ------
        NoPoint : the model was shown to be infeasible.
        SolverError : the solver returns no point.
        """
        with clock.limited(self.time_limit):
            session = self.open(model)
            return session, usable(session.solve(load=load), what)


ENDS = (KeyboardInterrupt, OutOfTimeError, MemoryLimitError, MemoryError)
"""What ends a loop with its incumbent: Ctrl-C, its time limit, and a step that does not fit into the memory."""
DEFAULT_RUN = Run()
"""The preferred solver, no limit, no progress."""


def timed(driver: Callable[P, T]) -> Callable[P, T]:
    """Decorate a driver with a checkpoint of its own: its time limit holds for all that it does."""
    return _within(driver, lambda run: clock.limited(run.time_limit))


def loop(driver: Callable[P, T]) -> Callable[P, T]:
    """Decorate a driver: time limit and checkpoint of its keyword ``run`` hold for all solves of the driver."""
    return timed(_within(driver, lambda run: kept(run.checkpoint, run.resume)))


def _within(driver: Callable[P, T], context: Callable[[Run], AbstractContextManager[Any]]) -> Callable[P, T]:
    """Return a driver that runs within a context of its keyword ``run``."""

    @wraps(driver)
    def within(*args: P.args, **kwargs: P.kwargs) -> T:
        run = kwargs.get("run", DEFAULT_RUN)
        assert isinstance(run, Run)
        with context(run):
            return driver(*args, **kwargs)

    return within


def usable(result: SolveResult, what: str) -> SolveResult:
    """Return a subproblem's result if it holds a point.

    Raises
    ------
    OutOfTimeError : its solver stopped at the time limit.
    NoPoint : it is infeasible.
    SolverError : every other reason.
    """
    if result.status.solved:
        clock.found()
        return result
    if result.stop == "time-limit" and result.status is Status.NONE:
        raise OutOfTimeError(f"the time limit passed before {what} was solved for the first time", "give more seconds")
    error = NoPoint if result.status is Status.INFEASIBLE else SolverError
    raise error(
        f"{what} was not solved: {result.status} ({result.stop}; {result.solver}: {result.message})",
        "try another solver, other parameters or scaled data",
    )


def multipliers(session: Session, result: SolveResult, constraints: pyo.Constraint) -> Vector:
    """Return the multipliers (k,) of linear constraints, of the solve that shows the bound where the solver gives none.

    Raises
    ------
    SolverError : no solve gave any.
    """
    point = result.supported
    if point is None or point.y is None:
        raise no_multipliers(result.solver, session.problem_class)
    y: Vector = point.y[session.rows(constraints)]
    return y
