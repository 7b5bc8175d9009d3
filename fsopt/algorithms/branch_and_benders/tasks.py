"""Subtrees as tasks of any ``concurrent.futures.Executor``: some open nodes in, a slice of the search, the rest out.

A task carries all it needs, so that processes and clusters (Dask: ``Client.get_executor()``) run it alike. Numbers of
nodes and cuts are unique by blocks, so that the parts of the tree fit together without renaming.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from threadpoolctl import threadpool_limits

from fsopt.algorithms.branch_and_benders.branching import Gains
from fsopt.algorithms.branch_and_benders.cuts import Cut, Pool
from fsopt.algorithms.branch_and_benders.incumbents import Incumbent
from fsopt.algorithms.branch_and_benders.problem import SelectionProblem
from fsopt.algorithms.branch_and_benders.search import Node, Search
from fsopt.algorithms.branch_and_benders.tree import Tree
from fsopt.common import clock
from fsopt.drivers.interruption import deferred_interruption
from fsopt.errors import OutOfTimeError

BLOCK = 2**20
"""Numbers that a task may use."""
BATCH = 256
"""Largest number of open nodes in a task."""
SLICE = 1.0
"""Seconds of a task."""
SHARED = 16
"""New cuts of a task that go into the pool of all."""
POLL = 0.2
"""Seconds after which the driver looks at the clock and for an interruption."""


@dataclass
class Task:
    """A slice of a search: its problem, open nodes, pool, incumbent, where its numbers begin, its seconds, and those of
    the whole search that are left, None without a limit.
    """

    problem: SelectionProblem
    tolerance: float
    nodes: list[Node]
    pool: Pool
    best: Incumbent | None
    width: tuple[float, float]
    gains: Gains
    first: int
    seconds: float
    left: float | None


@dataclass
class Outcome:
    """The rest of a slice: open nodes, part of the tree, smallest closed bound, incumbent, cuts, what was learned."""

    nodes: list[Node]
    tree: Tree
    closed: float
    best: Incumbent | None
    cuts: list[Cut]
    width: tuple[float, float]
    gains: Gains
    visited: int
    solved: int


def run_task(task: Task) -> Outcome:
    """Run a slice of a search, on one thread."""
    end = time.perf_counter() + task.seconds
    search = Search(task.problem, task.tolerance, tree=Tree(next=task.first))
    search.pool = search.incumbents.pool = task.pool
    search.incumbents.best = task.best
    search.solver.width, search.solver.widest = task.width
    search.gains.add(task.gains)
    for node in task.nodes:
        search.push(node)
    # Ctrl-C reaches all processes of a terminal: the driver ends the search, a task goes on to the end of its slice.
    with threadpool_limits(1), deferred_interruption(), clock.limited(task.left), suppress(OutOfTimeError):
        # A node uses a few numbers for each feature at most.
        enough = task.first + BLOCK - 64 * (task.problem.p + 64)
        search.run(2**62, lambda: time.perf_counter() < end and search.tree.next < enough)
    left = [entry[2] for entry in search.heap]
    names = [name for name in search.pool.names.tolist() if name >= task.first]
    places = {name: k for k, name in enumerate(search.pool.names.tolist())}
    shared = sorted(names, key=lambda name: -search.pool.score[places[name]])[:SHARED]
    search.tree.forget({node.cut.name for node in left} | set(shared), 2**62)
    cuts = [cut for cut in search.pool.cuts() if cut.name in set(shared)]
    width = search.solver.width, search.solver.widest
    gains = search.gains.since(task.gains)
    best = search.incumbents.best
    return Outcome(left, search.tree, search.closed, best, cuts, width, gains, search.nodes, search.solved)


@contextmanager
def processes(count: int) -> Iterator[Executor]:
    """Yield worker processes that end with the block, and that need no guard in the user's script."""
    # Not joblib's reusable ones: its own tasks would then find them without the folders that it expects there.
    from joblib.externals.loky import ProcessPoolExecutor

    executor = ProcessPoolExecutor(max_workers=count)
    try:
        yield executor
    finally:
        executor.shutdown()


@dataclass
class Team:
    """A search whose open nodes are given out in tasks.

    Attributes
    ----------
    jobs : tasks at a time.
    pending : the tasks that are out, with the nodes they were given.
    broken : whether the executor lost its processes; their nodes are open again.
    """

    search: Search
    executor: Executor
    jobs: int
    pending: dict[Future[Outcome], list[Node]]
    broken: bool = False

    @property
    def bound(self) -> float:
        """The lower bound on the problem, with the nodes that are out."""
        out = [node.bound for nodes in self.pending.values() for node in nodes]
        return min([self.search.bound, *out])

    @property
    def names_out(self) -> set[int]:
        """The cuts that tasks may refer to."""
        return {node.cut.name for nodes in self.pending.values() for node in nodes}

    def run(self, go_on: Callable[[], bool]) -> None:
        """Give out and take in tasks until the clock says stop, or nothing is open."""
        while go_on() and (self.pending or self.search.heap) and not self.broken:
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
        given = entries[::idle][:BATCH]
        chosen = {entry[1] for entry in given}
        search.heap = [entry for entry in entries if entry[1] not in chosen]
        nodes = [entry[2] for entry in given]
        width, gains = (search.solver.width, search.solver.widest), search.gains.copy()
        first = search.tree.next
        search.tree.next += BLOCK
        best = search.incumbents.best
        left = clock.left()
        seconds = SLICE if left is None else min(SLICE, left)
        task = Task(search.problem, search.tolerance, nodes, search.pool, best, width, gains, first, seconds, left)
        self.pending[self.executor.submit(run_task, task)] = nodes

    def _take(self, future: Future[Outcome]) -> None:
        """Take in what is left of a task, or its nodes as they were given out where its process is lost."""
        search, nodes = self.search, self.pending.pop(future)
        try:
            outcome = future.result()
        except (BrokenExecutor, CancelledError):
            self.broken = True
            for node in nodes:
                search.push(node)
            return
        search.tree.merge(outcome.tree)
        search.closed = min(search.closed, outcome.closed)
        search.nodes += outcome.visited
        search.solved += outcome.solved
        search.solver.width, search.solver.widest = outcome.width
        search.gains.add(outcome.gains)
        search.incumbents.offer(outcome.best)
        for cut in outcome.cuts:
            search.pool.add(cut)
        for node in outcome.nodes:
            search.push(node)
