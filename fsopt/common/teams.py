"""Independent calls side by side, in processes here or where ``joblib.parallel_config`` says, for example on Dask."""

from __future__ import annotations

import faulthandler
import logging
import os
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice, starmap
from pathlib import Path
from typing import Any, TypeVar

from fsopt.common.clock import deferred_interruption, held_interruption, whole_or_interrupted
from fsopt.errors import ParameterError, WorkersLost, needed

MOST_JOBS = 1024
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that say how many threads the numerical libraries of a process take."""
REACH = 10.0
"""Seconds after which calls that have not reached their processes are given up."""
POLL = 0.2
"""Seconds after which the one who waits for tasks looks at the clock and for an interruption."""
IDLE = 60.0
"""Seconds that worker processes wait for the next task."""
LOST = {"BrokenExecutor", "CancelledError", "KilledWorker", "CommClosedError"}
"""Errors by which executors, and Dask, tell of lost workers or schedulers."""
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
    """Return the values of a function at tuples of arguments, in their order, each handed over as it comes."""
    count, values = check_jobs(jobs), dict[int, Outcome]()
    alone = count == 1 and _place() is None
    part, numbered = partial(_whole, function), enumerate(calls)
    for k, value in starmap(part, numbered) if alone else unordered(((None, part, *one) for one in numbered), count):
        values[k] = value
        if each is not None:
            each(value)
    return [values[k] for k in sorted(values)]


@whole_or_interrupted()
def _whole(function: Callable[..., Outcome], number: int, call: tuple[Any, ...]) -> tuple[int, Outcome]:
    """Return the number and the value of a call, which is a part of a longer question."""
    return number, function(*call)


def _apart(program: int, seconds: float | None, function: Callable[..., Outcome], *call: Any) -> Outcome:
    """Return the value of a call of a program; in another process, which ends after so many seconds with code 1."""
    if seconds is None or os.getpid() == program:
        return function(*call)
    # A call may hang inside a solver that hears nothing.
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
        try:
            return function(*call)
        finally:
            faulthandler.cancel_dump_traceback_later()


def unordered(calls: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[Any]:
    """Yield the values of calls (seconds after which their process ends or None, function, arguments) as they end."""
    program, place = os.getpid(), _place()
    if place == "sequential":
        yield from (_apart(program, *call) for call in calls)
        return
    count = jobs if place is None else sum(place.ncores().values())
    with processes(count, None if place is None else place.get_executor()) as executor:
        waiting = ((None, (_apart, program, *call)) for call in calls)
        for _, value in results(executor, waiting, 2 * count if count > 1 else 1):
            yield value


def _place() -> Any:
    """Return where joblib's configuration wants calls: a client of Dask, None for processes, else ``sequential``."""
    from joblib.parallel import get_active_backend

    backend = get_active_backend()[0]
    own = None if type(backend).__name__ == "LokyBackend" else "sequential"  # joblib's own workers nest no processes
    return getattr(backend, "client", own)


@contextmanager
def on_scheduler(address: str | None) -> Iterator[None]:
    """Run a block on a Dask scheduler, ``tcp://host:port``, None here; raises PackageError, ParameterError."""
    if address is None:
        yield
        return
    needed("distributed", "schedulers", "dask")
    from distributed import Client
    from joblib import parallel_config

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what is lost is an error here
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError, TypeError) as error:
        raise ParameterError(f"there is no Dask scheduler at '{address}'", "start one with 'dask scheduler'") from error
    with client, parallel_config("dask", client=client):
        yield


@contextmanager
def processes(count: int, given: Executor | None = None) -> Iterator[Executor]:
    """Yield a given executor, or worker processes here of one thread each, killed where an exception ends the block."""
    if given is not None:
        yield given
        return
    from joblib.executor import get_memmapping_executor  # one that joblib, which has one for all, can take over

    with held_interruption():
        executor = get_memmapping_executor(count, timeout=IDLE, env=dict.fromkeys(THREADS, "1"), max_nbytes=None)
        executor.submit(int)  # starts them all
    with warnings.catch_warnings():
        # A worker that has grown is replaced: its warning, made an error, would end the thread that waits for them.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        try:
            yield executor
        except BaseException:
            with held_interruption():
                try:
                    _hand_over(executor)
                finally:
                    executor.shutdown(kill_workers=True)  # and their calls, at most two for each
            raise


def results(
    executor: Executor,
    calls: Iterable[tuple[Any, tuple[Any, ...]]],
    most: int,
    idle: Callable[[], None] = lambda: None,
) -> Iterator[tuple[Any, Any]]:
    """Yield the key of each call, which is made when one of ``most`` places is free, with its value; or WorkersLost."""
    todo, out = iter(calls), dict[Future[Any], Any]()
    try:
        while True:
            with deferred_interruption() as asked:  # an exception may leave a lock of the executor closed for ever
                for key, call in islice(todo, most - len(out)):
                    out[_submitted(executor, call)] = key
                if not out:
                    return
                if not any(future.done() for future in out):
                    idle()
                wait(out, timeout=POLL, return_when=FIRST_COMPLETED)
                ended = [future for future in out if future.done()]  # also those that their executor cancelled
            if asked():
                raise KeyboardInterrupt
            for future in ended:
                value = future.result()
                yield out.pop(future), value
    except Exception as error:
        if LOST.isdisjoint(kind.__name__ for kind in type(error).__mro__):
            raise
        codes = ", ".join(re.findall(r"[A-Z]+\(-?\d+\)", str(error)))
        reason = f"a worker or its scheduler was lost ({codes or type(error).__name__})"
        raise WorkersLost(reason, "the same command goes on with what is left") from error
    finally:
        for future in out:
            future.cancel()


def _submitted(executor: Executor, call: tuple[Any, ...]) -> Future[Any]:
    """Return the future of a call; WorkersLost for the error, of each library its own, of one that takes no calls."""
    try:
        with held_interruption():  # it may start a process in place of one that waited for long
            return executor.submit(*call)
    except Exception as error:
        raise WorkersLost("the workers, or their scheduler, were lost", "start them again") from error


def _hand_over(executor: Any) -> None:
    """Wait until all calls have left the list of an executor, the last of them one made here."""
    # The thread that hands them over ends with an error where the kill drops a call of the list, or a cancelled one.
    with suppress(RuntimeError):  # its workers were lost
        last, end = executor.submit(int), time.monotonic() + REACH
        while not (last.running() or last.done()) and time.monotonic() < end:
            time.sleep(0.01)
