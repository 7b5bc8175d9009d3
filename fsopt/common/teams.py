"""Independent calls side by side, in processes here or where ``joblib.parallel_config`` says, for example on Dask."""

from __future__ import annotations

import atexit
import faulthandler
import logging
import os
import re
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import contextmanager, nullcontext, suppress
from functools import cache, partial
from itertools import islice, starmap
from pathlib import Path
from typing import Any, TypeVar

from fsopt.common.interruption import held_interruption, whole_or_interrupted
from fsopt.errors import PackageError, ParameterError, WorkersLost

MOST_JOBS = 1024
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that say how many threads the numerical libraries of a process take."""
REACH = 10.0
"""Seconds after which calls that have not reached their processes are given up."""
LOST = "the workers, or their scheduler, were lost"
POLL = 0.2
"""Seconds after which the one who waits for tasks looks at the clock and for an interruption."""
IDLE, WATCH = 60.0, 1.0
"""Seconds that worker processes wait for the next task, and between two looks of one at its parent."""
_POOLS: dict[int, Any] = {}
"""Number of processes -> those that no block uses."""
atexit.register(_POOLS.clear)  # not later: they need modules that the end of the interpreter clears
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
    """Return the values of a function at tuples of arguments, in their order, by processes of :func:`unordered`.

    ``each`` is called with a value as soon as it is there. One process is this one. Raises ParameterError, WorkersLost.
    """
    count, values = check_jobs(jobs), dict[int, Outcome]()
    alone = count == 1 and on_this_machine()
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


def _apart(program: int, seconds: float | None, function: Callable[..., Any], *call: Any) -> tuple[Any, Any]:
    """Return the value of a call of a program, or its error; in another process, which ends after so many seconds.

    A call may hang inside a solver that hears nothing; the exit code is 1 then.
    """
    watched = seconds is not None and os.getpid() != program
    with Path(os.devnull).open("w") as nowhere:
        if watched:
            faulthandler.dump_traceback_later(seconds or 0.0, exit=True, file=nowhere)
        try:
            return function(*call), None
        except Exception as error:
            return None, error
        finally:
            if watched:
                faulthandler.cancel_dump_traceback_later()


def on_this_machine() -> bool:
    """Return whether calls run in processes here: ``joblib.parallel_config`` has named nothing else."""
    from joblib.parallel import get_active_backend

    return type(get_active_backend()[0]).__name__ == "LokyBackend"


def unordered(calls: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[Any]:
    """Yield the values of calls as they end, from processes here or where joblib's configuration says.

    A call is the seconds after which its process ends, None for no limit, a function, and its arguments. Processes here
    use one thread each. They are killed where the caller ends before they do, and by an error of a call. Raises
    WorkersLost where one ended in the middle of its call, or a scheduler with all its workers.
    """
    from joblib import Parallel, delayed, parallel_config

    sent = ended = 0

    def tasks() -> Iterator[Any]:
        nonlocal sent
        for call in calls:
            sent += 1
            yield delayed(_apart)(os.getpid(), *call)

    workers = {"inner_max_num_threads": 1, "initializer": follow, "initargs": (os.getpid(),)}
    config = parallel_config(_backend(), **workers) if on_this_machine() else nullcontext()
    try:
        # Processes that are started in the hold never hear Ctrl-C. With one job the second process stays idle.
        with config, held_interruption():
            most = "2 * n_jobs" if jobs > 1 else 1
            found = Parallel(max(jobs, 2), return_as="generator_unordered", pre_dispatch=most)(tasks())
        try:
            for value, error in found:
                if error is not None:
                    raise error
                ended += 1
                yield value
        finally:
            with warnings.catch_warnings(action="ignore"):  # of the calls that this ends
                found.close()
        if ended < sent:  # joblib notes that a call failed before it keeps the error, and may look for it in between
            raise BrokenExecutor
    except _lost() as error:
        codes = ", ".join(re.findall(r"[A-Z]+\(-?\d+\)", str(error)))
        reason = f"a worker or its scheduler was lost ({codes or type(error).__name__})"
        raise WorkersLost(reason, "the same command goes on with what is left") from error


@cache
def _backend() -> str:
    """Return the name of joblib's processes, which are killed after :func:`_hand_over`."""
    from joblib.parallel import LokyBackend, register_parallel_backend

    class Processes(LokyBackend):  # type: ignore[misc]
        def abort_everything(self, ensure_ready: bool = True) -> None:
            _hand_over(self._workers)
            super().abort_everything(ensure_ready)

    register_parallel_backend("fsopt", Processes)
    return "fsopt"


def _lost() -> tuple[type[Exception], ...]:
    """Return the errors by which joblib, and Dask where it is loaded, tell that workers or their scheduler are lost."""
    if "distributed" not in sys.modules:
        return (BrokenExecutor,)
    from distributed import CancelledError, CommClosedError, KilledWorker

    return BrokenExecutor, KilledWorker, CommClosedError, CancelledError


@contextmanager
def on_scheduler(address: str | None) -> Iterator[None]:
    """Run a block on a Dask scheduler, ``tcp://host:port``, None here; raises PackageError, ParameterError."""
    if address is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise PackageError("the scheduler needs Dask, which is not installed", "pip install fsopt[dask]") from error
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


def results(
    executor: Executor, calls: Iterable[tuple[Any, tuple[Any, ...]]], most: int, idle: Callable[[], None]
) -> Iterator[tuple[Any, Any]]:
    """Submit calls to an executor, ``most`` at a time, and yield the key of each with its value as it ends.

    A call is a key, and a function with its arguments, made when there is place for it; ``idle`` is called where there
    is no result yet. Where the caller ends, calls are cancelled. WorkersLost where the executor can run nothing.
    """
    todo, out = iter(calls), dict[Future[Any], Any]()
    try:
        while True:
            for key, call in islice(todo, most - len(out)):
                out[_submitted(executor, call)] = key
            if not out:
                return
            if not any(future.done() for future in out):
                idle()
            wait(out, timeout=POLL, return_when=FIRST_COMPLETED)
            for future in [future for future in out if future.done()]:  # also those that their executor cancelled
                value = future.result()
                yield out.pop(future), value
    except (BrokenExecutor, CancelledError) as error:
        raise WorkersLost(LOST, "the same command goes on with what is left") from error
    finally:
        for future in out:
            future.cancel()


def _submitted(executor: Executor, call: tuple[Any, ...]) -> Future[Any]:
    """Return the future of a call; WorkersLost for the error, of each library its own, of one that takes no calls."""
    try:
        return executor.submit(*call)
    except Exception as error:
        raise WorkersLost(LOST, "start them again") from error


def _kill(executor: Any) -> None:
    """Kill the processes of an executor with their calls, at most two for each process."""
    try:
        _hand_over(executor)
    finally:
        executor.shutdown(kill_workers=True)


def _hand_over(executor: Any) -> None:
    """Wait until all calls have left the list of an executor, the last of them one made here.

    The thread that hands them over would end with an error where the kill drops a call of the list, or that was
    cancelled before it.
    """
    with suppress(RuntimeError):  # its workers were lost
        last, end = executor.submit(int), time.monotonic() + REACH
        while not (last.running() or last.done()) and time.monotonic() < end:
            time.sleep(0.01)


def _pool(count: int) -> Any:
    from joblib.externals.loky import ProcessPoolExecutor

    share = str(max((os.cpu_count() or 1) // count, 1))
    env = {name: os.environ.get(name, share) for name in THREADS}
    executor = ProcessPoolExecutor(count, timeout=IDLE, env=env, initializer=follow, initargs=(os.getpid(),))
    with held_interruption():
        executor.submit(int)  # starts them all
    return executor


def follow(parent: int) -> None:
    """Let this process end soon after its parent, which may be killed while a call takes long, or before it begins."""

    def wait() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
