"""Independent calls side by side, in processes here or in any ``concurrent.futures.Executor``."""

from __future__ import annotations

import os
import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, as_completed
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from fsopt.errors import ParameterError, WorkersLost

MOST_JOBS = 1024
"""Largest number of processes that is taken for what the user meant."""

_GIVEN: ContextVar[Executor | None] = ContextVar("_GIVEN", default=None)
"""The executor of :func:`calls_on`."""

Outcome = TypeVar("Outcome")


def check_jobs(jobs: int) -> int:
    """Return the number of processes; raises ParameterError."""
    if jobs == 0 or jobs < -1 or jobs > MOST_JOBS:
        hint = f"give 1 to {MOST_JOBS} processes, or -1 for all processors"
        raise ParameterError(f"jobs={jobs} is no number of processes", hint)
    return (os.cpu_count() or 1) if jobs < 0 else jobs


def side_by_side(
    function: Callable[..., Outcome],
    calls: Iterable[tuple[Any, ...]],
    jobs: int,
    each: Callable[[Outcome], None] | None = None,
) -> list[Outcome]:
    """Return the values of a function at tuples of arguments, computed by joblib's processes; -1 takes all processors.

    They are in the order of the calls. With ``each``, which is called with a value as soon as it is there, they are in
    the order in which they came. Within :func:`calls_on` the executor given there takes the place of the processes.
    Raises ParameterError for another number of processes, WorkersLost where that executor can run nothing any more.
    """
    from joblib import Parallel, delayed

    check_jobs(jobs)
    executor = _GIVEN.get()
    if executor is not None:
        return _submitted(executor, function, calls, each)
    tasks = (delayed(function)(*call) for call in calls)
    with warnings.catch_warnings():
        # joblib replaces a worker that has grown: its warning, made an error, would end the thread that waits for them.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        if each is None:
            return list(Parallel(n_jobs=jobs)(tasks))
        values = []
        for value in Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks):
            values.append(value)
            each(value)
        return values


@contextmanager
def calls_on(executor: Executor | None) -> Iterator[None]:
    """Let an executor run the calls of :func:`side_by_side` in a block; None leaves them to processes here."""
    before = _GIVEN.set(executor)
    try:
        yield
    finally:
        _GIVEN.reset(before)


def _submitted(
    executor: Executor,
    function: Callable[..., Outcome],
    calls: Iterable[tuple[Any, ...]],
    each: Callable[[Outcome], None] | None,
) -> list[Outcome]:
    """Return what :func:`side_by_side` does, computed by an executor; calls that are out are cancelled by an error."""
    from joblib.externals.loky.backend.reduction import dumps

    futures: list[Future[Outcome]] = []
    values: list[Outcome] = []
    try:
        for call in calls:
            task = bytes(dumps((function, call)))  # most are local functions, which an executor's own pickle refuses
            with reached(Exception):
                futures.append(executor.submit(_unpacked, task))
        for future in futures if each is None else as_completed(futures):
            with reached():
                values.append(future.result())
            if each is not None:
                each(values[-1])
        return values
    finally:
        for future in futures:
            future.cancel()


@contextmanager
def reached(*others: type[Exception]) -> Iterator[None]:
    """Tell apart an executor that is lost, after which its calls are still to be computed, from a call that is.

    Each library has an error of its own, one of the ``others``, for an executor that takes no calls.
    """
    lost: tuple[type[BaseException], ...] = (BrokenExecutor, CancelledError, *others)
    try:
        yield
    except lost as error:
        raise WorkersLost(
            "the workers, or their scheduler, were lost",
            "start them again: what the store has is kept, and the run goes on",
        ) from error


def _unpacked(task: bytes) -> Any:
    """Return the value of a call that was packed."""
    function, call = pickle.loads(task)
    return function(*call)


@contextmanager
def processes(count: int, given: Executor | None = None) -> Iterator[Executor]:
    """Yield a given executor, or worker processes that end with the block and need no guard in the user's script."""
    if given is not None:
        yield given
        return
    # Not joblib's reusable ones: its own tasks would then find them without the folders that it expects there.
    from joblib.externals.loky import ProcessPoolExecutor

    executor = ProcessPoolExecutor(max_workers=count)
    try:
        yield executor
    finally:
        executor.shutdown()
