"""Independent calls side by side, and open nodes of a search as tasks of any ``concurrent.futures.Executor``.

A task of a search gets nodes and returns the rest of a slice. It carries all it needs, so that processes and clusters
(Dask: ``Client.get_executor()``) run it alike.
"""

from __future__ import annotations

import math
import os
import pickle
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, as_completed, wait
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from fsopt.common import clock
from fsopt.errors import ParameterError, WorkersLost

FEWEST, BATCH = 16, 256
"""Open nodes of the first tasks, and largest number of them in a later one."""
SLICE = 1.0
"""Seconds of a task."""
MOST_JOBS = 1024
"""Largest number of processes that is taken for what the user meant."""
POLL = 0.2
"""Seconds after which the driver looks at the clock and for an interruption."""

_GIVEN: ContextVar[Executor | None] = ContextVar("_GIVEN", default=None)
"""The executor of :func:`calls_on`."""

Node = TypeVar("Node")
Outcome = TypeVar("Outcome")


class Heap(Protocol[Node]):
    """A search with open nodes by bound and number."""

    heap: list[tuple[float, int, Node]]

    def push(self, node: Node) -> None:
        """Add an open node."""


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


@dataclass
class Team(Generic[Node, Outcome]):
    """A search whose open nodes are given out in tasks.

    Attributes
    ----------
    search : with the open nodes.
    jobs : tasks at a time.
    task : returns the task of some nodes, its seconds and those of the whole search that are left, None without a
        limit.
    take : takes in what is left of a task with its nodes, and returns how many it visited.
    pending : the tasks that are out, with the nodes they were given.
    broken : whether the executor lost its processes; their nodes are open again.
    batch : open nodes of the next task, twice as many as the last one visited: those that come back unvisited cost
        their way.
    """

    search: Heap[Node]
    executor: Executor
    jobs: int
    task: Callable[[list[Node], float, float | None], Callable[[], Outcome]]
    take: Callable[[list[Node], Outcome], int]
    pending: dict[Future[Outcome], list[Node]] = field(default_factory=dict)
    broken: bool = False
    batch: int = FEWEST

    @property
    def out(self) -> list[Node]:
        """The nodes that are out."""
        return [node for nodes in self.pending.values() for node in nodes]

    def run(self, go_on: Callable[[], bool], seconds: float = math.inf) -> None:
        """Give out and take in tasks for some seconds, or until the clock says stop, or nothing is open."""
        end = time.perf_counter() + seconds
        while go_on() and time.perf_counter() < end and (self.pending or self.search.heap) and not self.broken:
            while len(self.pending) < self.jobs and self.search.heap:
                self._give()
            done, _ = wait(self.pending, timeout=POLL, return_when=FIRST_COMPLETED)
            for future in done:
                self._take(future)

    def finish(self) -> None:
        """Wait for the tasks that are out, and take them in."""
        for future in list(self.pending):
            self._take(future)

    def _give(self) -> None:
        """Give out every k-th open node, k the number of tasks that are missing: all get a share of the best."""
        search = self.search
        idle = self.jobs - len(self.pending)
        entries = sorted(search.heap, key=lambda entry: entry[:2])
        given = entries[::idle][: self.batch]
        chosen = {entry[1] for entry in given}
        search.heap = [entry for entry in entries if entry[1] not in chosen]
        nodes = [entry[2] for entry in given]
        left = clock.left()
        seconds = SLICE if left is None else min(SLICE, left)
        self.pending[self.executor.submit(self.task(nodes, seconds, left))] = nodes

    def _take(self, future: Future[Outcome]) -> None:
        """Take in what is left of a task, or its nodes as they were given out where its process is lost."""
        nodes = self.pending.pop(future)
        try:
            outcome = future.result()
        except (BrokenExecutor, CancelledError):
            self.broken = True
            for node in nodes:
                self.search.push(node)
            return
        self.batch = min(max(2 * self.take(nodes, outcome), FEWEST), BATCH)
