"""Where the units of a study run: any ``concurrent.futures.Executor``, with hard limits that hold on each of them.

The task of an executor is :func:`run_limited`. It hands the unit to a process of its own and waits for it: a thread of
this program does so under :func:`local_processes`, and a thread of a worker under Dask. The process is killed at the
hard limit, and it may crash, without harm to the thread; one process serves one thread, unit after unit.
"""

from __future__ import annotations

import logging
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from fsopt.common.clock import seconds_of
from fsopt.common.interruption import whole_or_interrupted
from fsopt.common.registry import REGISTRIES
from fsopt.data import Dataset
from fsopt.errors import PackageError, ParameterError
from fsopt.methods.registry import METHODS
from fsopt.studies.methods import study_fit, study_spec
from fsopt.studies.units import FAILED, TIMEOUT, Unit, failure, run_unit
from fsopt.studies.workers import Failure, Process, threads

Own: TypeAlias = dict[str, dict[str, Any]]
"""The entries of the user's own in each registry, which a process gets before its first unit."""
Task: TypeAlias = tuple[Unit, Dataset | None, float | None, Own]
"""A unit, its data where no file has them, its gigabytes, and the entries of the user's own."""
LIBRARIES = ("sklearn.metrics", "sklearn.model_selection", "sklearn.svm", "clarabel", "highspy")
"""Loaded before the memory of a unit is limited: libraries that start threads hang where the limit stops these."""
HARD, MORE = 2.0, 30.0
"""A unit may use this multiple of its time or CPU limit and these seconds of a processor."""
ASLEEP = 10.0
"""Multiple of both after which it is killed by the clock, the start of its process included: it may sleep."""
ATTEMPTS = 2
"""Processes that a unit is given: the first may have been killed by somebody else."""
_THREAD = threading.local()
SAMPLES, FEATURES = 20, 4
FIRST_LIMIT = 10.0
"""Seconds of the first fit of a method; all together take less than half a second, imports apart."""


def hard_limit(unit: Unit) -> float | None:
    """Return the seconds of a processor after which the process of a unit is killed."""
    limits = [limit for limit in map(seconds_of, (unit.time_limit, unit.cpu_limit)) if limit is not None]
    return HARD * min(limits) + MORE if limits else None


def run_task(task: Task, cpu_seconds: float | None = None) -> dict[str, Any]:
    """Run a unit in this process, within its memory, and return its row; the system ends it after the CPU seconds.

    Neither limit is on what comes before the unit: modules that are loaded, and the first fit of its method.
    """
    unit, data, gigabytes, own = task
    _register(own)
    warm_up(unit.method, unit.solver)
    if gigabytes is not None:
        for name in LIBRARIES:
            import_module(name)
    with limited_memory(gigabytes), limited_cpu(cpu_seconds):
        return run_unit(unit, data)


def run_alone(task: Task) -> dict[str, Any]:
    """Run a unit in a process that has no other purpose, with its hard limit."""
    limit = hard_limit(task[0])
    return run_task(task, None if limit is None else limit * threads())


def own_entries() -> Own:
    """Return the entries of the user's own: what is registered -> name -> entry."""
    return {what: dict(registry.own) for what, registry in REGISTRIES.items() if registry.own}


def _register(own: Own) -> None:
    """Register entries of the user's own that this process does not know."""
    for what, entries in own.items():
        REGISTRIES[what].own.update({k: entry for k, entry in entries.items() if k not in REGISTRIES[what]})


def run_limited(task: Task) -> dict[str, Any]:
    """Run a unit in the process of this thread, and return its row, also where that process ends."""
    process: Process | None = getattr(_THREAD, "process", None)
    if process is None:
        process = _THREAD.process = Process(run_alone)
        getattr(_THREAD, "opened", []).append(process)
    limit = hard_limit(task[0])
    for _ in range(ATTEMPTS):
        answer = process.ask(task, None if limit is None else ASLEEP * limit)
        if process.ended or not isinstance(answer, Failure) or answer.late:
            break
    if isinstance(answer, Failure):
        return failure(answer.message, TIMEOUT if answer.late else FAILED, seconds=answer.seconds)
    if isinstance(answer, BaseException):
        raise answer
    row: dict[str, Any] = answer
    return row


@contextmanager
def local_processes(jobs: int) -> Iterator[Executor]:
    """Yield threads of this program with a process each, which end with the block, at once by an exception."""
    opened: list[Process] = []
    threads = ThreadPoolExecutor(jobs, initializer=setattr, initargs=(_THREAD, "opened", opened))
    try:
        yield threads
        threads.shutdown()
    finally:
        for process in opened:
            process.end()
        threads.shutdown(cancel_futures=True)
        for process in opened:
            process.close()


class InProcess(Executor):
    """The executor that runs a unit when it is submitted, in this process: for tests and debuggers; no hard limit."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return a finished future; an interruption is raised here."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def dask_executor(address: str | None) -> Iterator[Executor | None]:
    """Yield the executor of a Dask scheduler, ``tcp://host:port``, and None without an address.

    Raises
    ------
    PackageError : ``distributed`` is not installed.
    ParameterError : there is no scheduler at the address.
    """
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise PackageError("the scheduler needs Dask, which is not installed", "pip install fsopt[dask]") from error
    # What is lost is an error of the study; Dask tells it by tracebacks as well.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError, TypeError) as error:
        raise ParameterError(f"there is no Dask scheduler at '{address}'", "start one with 'dask scheduler'") from error
    with client:
        yield client.get_executor(pure=False)


@contextmanager
def limited_memory(gigabytes: float | None) -> Iterator[None]:
    """Run a block in which this process may ask for so much memory, where the system can hold it to that (Linux)."""
    if gigabytes is None or sys.platform != "linux":
        yield
        return
    with _soft_limit("RLIMIT_DATA", int(gigabytes * 1e9)):
        yield


@contextmanager
def limited_cpu(seconds: float | None) -> Iterator[None]:
    """Run a block in which this process may use so many seconds of a processor, in all its threads (not on Windows).

    The system ends it then (SIGXCPU), whatever it is in. Unlike seconds of the clock they do not pass while other
    programs have the processor.
    """
    if seconds is None or sys.platform == "win32":
        yield
        return
    with _soft_limit("RLIMIT_CORE", 0), _soft_limit("RLIMIT_CPU", math.ceil(time.process_time() + seconds)):
        yield


@contextmanager
def _soft_limit(name: str, value: int) -> Iterator[None]:
    """Run a block with a limit of the system, which no limit that is there already is raised for."""
    import resource

    kind = getattr(resource, name)
    before = resource.getrlimit(kind)
    known = [limit for limit in before if limit != resource.RLIM_INFINITY]
    resource.setrlimit(kind, (min(value, *known), before[1]) if known else (value, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(kind, before)


@cache
@whole_or_interrupted()
def warm_up(method: str, solver: str | None) -> None:
    """Fit a method to a few samples, once in a process: later fits find its modules and its solver loaded.

    A method of the user's own is not called for this. An error is that of this fit alone.

    Raises
    ------
    KeyboardInterrupt : by Ctrl-C, whatever a loop made of it.
    """
    if method in METHODS.own:
        return
    with suppress(Exception):  # data or a solver that the method refuses: the unit itself says so
        params = study_spec(method).compare(FEATURES)
        study_fit(method, _few(), solver=solver, time_limit=FIRST_LIMIT, **params)


def _few() -> Dataset:
    """Return two classes that overlap, of :data:`SAMPLES` samples and :data:`FEATURES` features."""
    y = np.where(np.arange(SAMPLES) % 2 == 0, 1.0, -1.0)
    X = np.random.default_rng(0).standard_normal((SAMPLES, FEATURES))
    X[:, :2] += 0.4 * y[:, None]
    return Dataset(X, y)
