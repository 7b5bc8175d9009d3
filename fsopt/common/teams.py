"""Independent calls side by side, in processes here or in any ``concurrent.futures.Executor``."""

from __future__ import annotations

import atexit
import os
import pickle
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import islice
from typing import Any, TypeVar

from fsopt.common.interruption import held_interruption, whole_or_interrupted
from fsopt.errors import ParameterError, WorkersLost

MOST_JOBS = 1024
"""Largest number of processes that is taken for what the user meant."""
WINDOW = 64
"""Calls that an executor holds at a time: enough for its workers, few enough to start and stop at once."""
POLL = 0.2
"""Seconds after which the driver looks at the clock and for an interruption."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that say how many threads the numerical libraries of a process take."""

REACH = 10.0
"""Seconds after which calls that have not reached their processes are given up."""
IDLE = 60.0
"""Seconds that worker processes wait for the next task."""
WATCH = 1.0
"""Seconds between two looks of a worker process at its parent."""
_POOLS: dict[int, Any] = {}
"""Number of processes -> those that no block uses."""
atexit.register(_POOLS.clear)  # not later: they need modules that the end of the interpreter clears
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
    """Return the values of a function at tuples of arguments, computed by processes of :func:`processes`; -1 takes all.

    They are in the order of the calls; ``each`` is called with a value as soon as it is there. Within :func:`calls_on`
    the executor given there takes the place of the processes. One process is this one. Raises ParameterError for
    another number of processes, WorkersLost where the executor can run nothing any more.
    """
    count, given = check_jobs(jobs), _GIVEN.get()
    values: dict[int, Outcome] = {}
    if count == 1 and given is None:
        return _gathered(values, ((k, _whole(function, call)) for k, call in enumerate(calls)), each)
    with processes(count, given) as executor:
        tasks = ((k, (_unpacked, _packed(function, call))) for k, call in enumerate(calls))
        ended = results(executor, tasks, 2 * count if given is None else WINDOW)
        return _gathered(values, ((k, future.result()) for k, future in ended), each)


def _gathered(
    values: dict[int, Outcome], found: Iterable[tuple[int, Outcome]], each: Callable[[Outcome], None] | None
) -> list[Outcome]:
    """Return numbered values in their order; ``each`` is told them as they come."""
    for number, value in found:
        values[number] = value
        if each is not None:
            each(value)
    return [values[k] for k in sorted(values)]


def results(
    executor: Executor, calls: Iterable[tuple[Any, tuple[Any, ...]]], most: int, idle: Callable[[], None] | None = None
) -> Iterator[tuple[Any, Future[Any]]]:
    """Submit calls to an executor, ``most`` of them at a time, and yield the key of each with its future as it ends.

    Where the caller ends, calls that are out are cancelled. Raises WorkersLost where the executor can run nothing.

    Parameters
    ----------
    calls : key, and function with its arguments; made when there is place for them.
    idle : called where there is no result yet.
    """
    todo, out = iter(calls), dict[Future[Any], Any]()
    try:
        while True:
            for key, call in islice(todo, most - len(out)):
                with _reached(Exception):
                    out[executor.submit(*call)] = key
            if not out:
                return
            if idle is not None and not any(future.done() for future in out):
                idle()
            wait(out, timeout=POLL, return_when=FIRST_COMPLETED)
            for future in [future for future in out if future.done()]:  # also those that their executor cancelled
                with _reached():
                    if isinstance(error := future.exception(), BrokenExecutor):
                        raise error
                yield out.pop(future), future
    finally:
        for future in out:
            future.cancel()


@contextmanager
def calls_on(executor: Executor | None) -> Iterator[None]:
    """Let an executor run the calls of :func:`side_by_side` in a block; None leaves them to processes here."""
    before = _GIVEN.set(executor)
    try:
        yield
    finally:
        _GIVEN.reset(before)


@contextmanager
def _reached(*others: type[Exception]) -> Iterator[None]:
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


def _packed(function: Callable[..., Any], call: tuple[Any, ...]) -> bytes:
    """Return a call as bytes; most functions are local ones, which an executor's own pickle refuses."""
    from joblib.externals.loky.backend.reduction import dumps

    return bytes(dumps((function, call)))


def _unpacked(task: bytes) -> Any:
    """Return the value of a call that was packed."""
    return _whole(*pickle.loads(task))


@whole_or_interrupted()
def _whole(function: Callable[..., Outcome], call: tuple[Any, ...]) -> Outcome:
    """Return the value of a call, which is a part of a longer question."""
    return function(*call)


@contextmanager
def processes(count: int, given: Executor | None = None) -> Iterator[Executor]:
    """Yield a given executor, or worker processes here, which need no guard in the user's script.

    They wait :data:`IDLE` seconds for the next block, and are killed where an exception ends this one. All together use
    each processor once, unless the user has set the variables :data:`THREADS`.
    """
    if given is not None:
        yield given
        return
    # Not joblib's reusable ones: its own tasks would then find them without the folders that it expects there.
    executor = _POOLS.pop(count, None) or _pool(count)
    with warnings.catch_warnings():
        # A worker that has grown is replaced: its warning, made an error, would end the thread that waits for them.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        try:
            yield executor
        except BaseException:
            _kill(executor)
            raise
        with suppress(BrokenExecutor):  # its workers were lost in the block
            executor.submit(int).result()
            _POOLS[count] = executor


def _kill(executor: Any) -> None:
    """Kill the processes of an executor with their calls, at most two for each process.

    First all calls leave the executor's list, the last of them one made here: the thread that hands them over would end
    with an error, and the processes live on, where a call of the list was dropped by the kill, or cancelled before it.
    """
    try:
        with suppress(RuntimeError):  # its workers were lost
            last, end = executor.submit(int), time.monotonic() + REACH
            while not (last.running() or last.done()) and time.monotonic() < end:
                time.sleep(0.01)
    finally:
        executor.shutdown(kill_workers=True)


def _pool(count: int) -> Any:
    from multiprocessing import resource_tracker

    from joblib.externals.loky import ProcessPoolExecutor

    share = str(max((os.cpu_count() or 1) // count, 1))
    env = {name: os.environ.get(name, share) for name in THREADS}
    if sys.platform != "win32":
        resource_tracker.ensure_running()  # its start in the block would end the hold
    executor = ProcessPoolExecutor(count, timeout=IDLE, env=env, initializer=_end_with_parent)
    with held_interruption():
        executor.submit(int)  # starts them all
    return executor


def _end_with_parent() -> None:
    """Let this process end soon after its parent, which may be killed while a call takes long."""
    parent = os.getppid()

    def wait() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
