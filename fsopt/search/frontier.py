"""The open nodes of a search, best bound first, and parts of them as tasks of any ``concurrent.futures.Executor``.

A task gets open nodes and returns the rest of a slice. It carries all it needs, so that processes and clusters (Dask:
``Client.get_executor()``) run it alike. Numbers of nodes are unique by blocks of a task each, so that the parts of a
tree fit together without renaming.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from fsopt.common import clock
from fsopt.common.checkpoints import Keeper
from fsopt.common.interruption import deferred_interruption

FEWEST, BATCH = 16, 256
"""Open nodes of the first tasks, and largest number of them in a later one."""
SLICE = 1.0
"""Seconds of a task."""
FIRST_ROUND, SHARE = 0.2, 0.02
"""Seconds of the first round of tasks between two records, and of the later ones as a share of the time so far."""
POLL = 0.2
"""Seconds after which the driver looks at the clock and for an interruption."""
BLOCK = 2**20
"""Numbers of a task, after which it visits no other node."""


class OpenNode(Protocol):
    """A node with a lower bound on all that is below it, and a number by which equal bounds are told apart."""

    @property
    def number(self) -> int:
        """Its number."""

    @property
    def bound(self) -> float:
        """Its bound."""


Node = TypeVar("Node", bound=OpenNode)
Outcome = TypeVar("Outcome")


@dataclass
class Frontier(Generic[Node]):
    """The open nodes of a search, a heap by bound and number."""

    heap: list[tuple[float, int, Node]] = field(default_factory=list)

    def __len__(self) -> int:
        """Return the number of open nodes."""
        return len(self.heap)

    @property
    def bound(self) -> float:
        """The smallest bound, infinite without an open node."""
        return self.heap[0][0] if self.heap else np.inf

    @property
    def best(self) -> Node:
        """The node of the smallest bound."""
        return self.heap[0][2]

    @property
    def nodes(self) -> list[Node]:
        """The nodes by bound and number."""
        return [node for *_, node in sorted(self.heap, key=lambda entry: entry[:2])]

    def push(self, *nodes: Node) -> None:
        """Add open nodes."""
        for node in nodes:
            heapq.heappush(self.heap, (node.bound, node.number, node))

    def pop(self) -> Node:
        """Remove the node of the smallest bound, and return it."""
        return heapq.heappop(self.heap)[2]

    def replace(self, *nodes: Node) -> None:
        """Make these nodes the open ones."""
        self.heap.clear()
        self.push(*nodes)

    def shared(self, idle: int, most: int) -> list[Node]:
        """Remove every k-th node, and return at most so many: each of k tasks gets a share of the best."""
        nodes = self.nodes
        given = nodes[::idle][:most]
        taken = {node.number for node in given}
        self.replace(*(node for node in nodes if node.number not in taken))
        return given


@dataclass
class Team(Generic[Node, Outcome]):
    """A search whose open nodes are given out in tasks.

    Attributes
    ----------
    jobs : tasks at a time.
    task : returns the task of some nodes, its seconds and those of the whole search that are left, None without a
        limit.
    take : takes in what is left of a task with its nodes, and returns how many it visited.
    pending : the tasks that are out, with the nodes they were given.
    broken : whether the executor lost its processes; their nodes are open again.
    batch : open nodes of the next task, twice as many as the last one visited: those that come back unvisited cost
        their way.
    """

    frontier: Frontier[Node]
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

    def rounds(self, go_on: Callable[[], bool], started: float, keeper: Keeper) -> Iterator[bool]:
        """Run tasks in rounds until nothing is open, or it may not go on; at the end all tasks are taken in.

        Yields, after each round, whether a checkpoint is due, for which all tasks were taken in.

        Parameters
        ----------
        started : when the search began.
        """
        while (self.frontier or self.pending) and go_on() and not self.broken:
            self.run(go_on, max(FIRST_ROUND, SHARE * (time.perf_counter() - started)))
            due = keeper.due()
            if due:
                self.finish()
            yield due
        self.finish()

    def run(self, go_on: Callable[[], bool], seconds: float) -> None:
        """Give out and take in tasks for some seconds, or until it may not go on, or nothing is open."""
        end = time.perf_counter() + seconds
        while go_on() and time.perf_counter() < end and (self.pending or self.frontier) and not self.broken:
            while len(self.pending) < self.jobs and self.frontier:
                self._give()
            wait(self.pending, timeout=POLL, return_when=FIRST_COMPLETED)
            for future in [future for future in self.pending if future.done()]:  # also those that are cancelled
                self._take(future)

    def finish(self) -> None:
        """Wait for the tasks that are out, and take them in."""
        for future in list(self.pending):
            self._take(future)

    def _give(self) -> None:
        nodes, left = self.frontier.shared(self.jobs - len(self.pending), self.batch), clock.left()
        seconds = SLICE if left is None else min(SLICE, left)
        self.pending[self.executor.submit(self.task(nodes, seconds, left))] = nodes

    def _take(self, future: Future[Outcome]) -> None:
        """Take in what is left of a task, or its nodes as they were given out where its process is lost."""
        nodes = self.pending.pop(future)
        try:
            outcome = future.result()
        except (BrokenExecutor, CancelledError):
            self.broken = True
            self.frontier.push(*nodes)
            return
        self.batch = min(max(2 * self.take(nodes, outcome), FEWEST), BATCH)


@contextmanager
def sliced(seconds: float, left: float | None) -> Iterator[Callable[[], bool]]:
    """Run a task on one thread, within the seconds of the whole search; yield whether its slice goes on."""
    # Ctrl-C reaches all processes of a terminal: the driver ends the search, a task goes on to the end of its slice.
    end = time.perf_counter() + seconds
    with threadpool_limits(1), deferred_interruption(), clock.limited(left):
        yield lambda: time.perf_counter() < end
