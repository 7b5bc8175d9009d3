"""How a loop is run: solver, options, limits, progress, checkpoints; step by step or whole; and what ends it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar, cast

import pyomo.environ as pyo

from fsopt.answers.results import SolveResult, Status
from fsopt.common import clock
from fsopt.common.clock import end_if_interrupted
from fsopt.errors import MemoryLimitError, ParameterError, SolverError
from fsopt.errors import OutOfTimeError as OutOfTimeError
from fsopt.solvers.base import Session
from fsopt.solvers.registry import no_multipliers
from fsopt.typing import Vector

P = ParamSpec("P")
T = TypeVar("T")
Progress: TypeAlias = Callable[[Mapping[str, Any]], None]
Steps: TypeAlias = Generator[Mapping[str, Any], None, T]
"""A computation step by step: it yields the record of each iteration and returns its result. An exception of
``ENDS`` that is thrown into it ends its loop with the incumbent."""


class Stepwise(Protocol[P, T]):
    """A function that returns the result of a computation; its member ``steps`` gives the computation step by step."""

    steps: Callable[P, Steps[T]]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run to the end; the records go to the progress function."""


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
        state of ``branch_and_benders``, the others refuse it.
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
        """Solve a model once, within the time limit; NoPoint for an infeasible one, SolverError without a point."""
        with clock.limited(self.time_limit):
            session = self.open(model)
            return session, usable(session.solve(load=load), what)


ENDS = (KeyboardInterrupt, OutOfTimeError, MemoryLimitError, MemoryError)
"""What ends a loop with its incumbent: Ctrl-C, its time limit, and a step that does not fit into the memory."""
DEFAULT_RUN = Run()
"""The preferred solver, no limit, no progress."""


def drained(steps: Steps[T], progress: Progress | None = None) -> T:
    """Run a computation to its end, give each record to a progress function, and return the result.

    An exception of the function, as CallbackError, or its KeyboardInterrupt ends the loop, and is raised where the loop
    has no incumbent yet. In a question of many solves no result is returned after Ctrl-C.
    """
    try:
        record = next(steps)
        while True:
            reason = None if progress is None else _told(record, progress)
            if reason is None:
                record = next(steps)
            else:
                progress = None
                record = steps.throw(reason)
    except StopIteration as end:
        end_if_interrupted()
        return cast("T", end.value)


def _told(record: Mapping[str, Any], progress: Progress) -> KeyboardInterrupt | None:
    """Call a progress function; return what ends the loop, None where it goes on."""
    try:
        progress(record)
    except KeyboardInterrupt as error:
        return error
    except Exception as error:
        said = f"progress raised {type(error).__name__} ({error}): the loop ends with its incumbent"
        warnings.warn(said, RuntimeWarning, stacklevel=2)
        reason = CallbackError(said)
        reason.__cause__ = error
        return reason
    return None


def through(part: Steps[T] | T) -> Steps[T]:
    """Go through the steps of a part of a computation, where it has any, and return its result."""
    return (yield from part) if isinstance(part, Generator) else part


def stepwise(
    progress: Callable[[Mapping[str, Any]], Progress | None],
) -> Callable[[Callable[P, Steps[T]]], Stepwise[P, T]]:
    """Return a decorator: the function runs a computation to its end, and has the computation as its member ``steps``.

    ``progress`` returns the progress function of the keywords of a call.
    """

    def decorate(steps: Callable[P, Steps[T]]) -> Stepwise[P, T]:
        @wraps(steps)
        def whole(*args: P.args, **kwargs: P.kwargs) -> T:
            return drained(steps(*args, **kwargs), progress(kwargs))

        result = str(steps.__annotations__["return"]).removeprefix("Steps[").removesuffix("]")
        vars(whole).update(steps=steps, __signature__=signature(steps).replace(return_annotation=result))
        return cast("Stepwise[P, T]", whole)

    return decorate


def loop(driver: Callable[P, Steps[T]], *, saved: bool = False) -> Stepwise[P, T]:
    """Decorate a driver: the limit of its ``run`` holds for all it does; ``saved`` where it has checkpoints."""

    @wraps(driver)
    def steps(*args: P.args, **kwargs: P.kwargs) -> Steps[T]:
        run = cast("Run", kwargs.get("run", DEFAULT_RUN))
        if not saved and (run.checkpoint or run.resume):
            raise ParameterError(f"'{driver.__name__}' has no checkpoints", "leave out 'checkpoint' and 'resume'")
        with clock.limited(run.time_limit):
            return (yield from driver(*args, **kwargs))

    return stepwise(lambda kwargs: kwargs.get("run", DEFAULT_RUN).progress)(steps)


def resumable(driver: Callable[P, Steps[T]]) -> Stepwise[P, T]:
    """Decorate a driver with checkpoints, as :func:`loop`."""
    return loop(driver, saved=True)


def usable(result: SolveResult, what: str) -> SolveResult:
    """Return a subproblem's result if it holds a point; else raise OutOfTimeError, NoPoint, or SolverError."""
    if result.status.solved:
        clock.found()
        return result
    infeasible = result.status is Status.INFEASIBLE
    if not infeasible and (clock.expired() or (result.stop == "time-limit" and result.status is Status.NONE)):
        raise OutOfTimeError(f"the time limit passed before {what} was solved for the first time", "give more seconds")
    error = NoPoint if infeasible else SolverError
    raise error(
        f"{what} was not solved: {result.status} ({result.stop}; {result.solver}: {result.message})",
        "try another solver, other parameters or scaled data",
    )


def multipliers(session: Session, result: SolveResult, constraints: pyo.Constraint) -> Vector:
    """Return the multipliers (k,) of linear constraints, of a second solve where the solver gives none."""
    point = result.supported
    if point is None or point.y is None:
        raise no_multipliers(result.solver, session.problem_class)
    y: Vector = point.y[session.rows(constraints)]
    return y
