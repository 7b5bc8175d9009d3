"""Subtrees as tasks of any ``concurrent.futures.Executor``: one gets open nodes and returns the rest of a slice.

A task carries all it needs, so that processes and clusters (Dask: ``Client.get_executor()``) run it alike. Numbers of
nodes are unique by blocks of a task each, so that the parts of a tree fit together without renaming. A thread that runs
tasks keeps the problem and the pool of the last search: a task carries its nodes, the most useful cuts and the key of
the search, and the problem only where it may be unknown. One that meets an unknown key comes back unsolved, and a later
one carries the problem.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from uuid import uuid4

import numpy as np
from threadpoolctl import threadpool_limits

from fsopt.common import clock
from fsopt.common.checkpoints import Keeper
from fsopt.common.interruption import deferred_interruption
from fsopt.errors import OutOfTimeError
from fsopt.search.branch_and_benders.compiled import counted
from fsopt.search.branch_and_benders.cuts import BendersCut, Grid, Pool
from fsopt.search.branch_and_benders.incumbents import Incumbent
from fsopt.search.branch_and_benders.problem import BranchSettings, SelectionProblem
from fsopt.search.branch_and_benders.search import SelectionNode, SelectionSearch
from fsopt.search.branch_and_benders.tree import SelectionTree
from fsopt.typing import Matrix, Vector

SHARED = 16
"""Cuts of the pool of all that go into a task, and new ones of a task that go into the pool of all."""
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


@dataclass
class SearchPart:
    """What a task is given of a search, and what it returns.

    Attributes
    ----------
    nodes : open nodes; those that it returns are new.
    tree : the multipliers of the cuts that it is given, and where its numbers begin; its part of the tree.
    cuts : most useful ones.
    best : incumbent.
    width : see :class:`fsopt.search.branch_and_benders.nodes.NodeSolver`.
    gains : of branchings; it returns what it learned.
    untouched : numbers of the given nodes that are still open.
    closed, visited, solved : the smallest closed bound, and its nodes and relaxations.
    """

    nodes: list[SelectionNode]
    tree: SelectionTree
    cuts: list[BendersCut]
    best: Incumbent | None
    width: tuple[float, float]
    gains: Matrix
    untouched: frozenset[int] = frozenset()
    closed: float = np.inf
    visited: int = 0
    solved: int = 0


@dataclass
class _Local:
    """What a thread keeps of the last search: its key, its problem, a pool, and the multipliers of the cuts there."""

    key: str
    problem: SelectionProblem
    pool: Pool
    grids: dict[int, tuple[Grid, Vector]]


_kept = threading.local()


def _local(key: str, problem: SelectionProblem | None) -> _Local | None:
    """Return what this thread keeps of a search, a new one where its problem is given; None without."""
    local: _Local | None = getattr(_kept, "local", None)
    if local is None or local.key != key:
        local = _kept.local = None if problem is None else _Local(key, problem, Pool(problem), {})
    return local


def _take_in(search: SelectionSearch, part: SearchPart) -> None:
    """Let a search go on with a part of another one: what a task is given, or what it returns."""
    search.tree.merge(part.tree)
    search.closed = min(search.closed, part.closed)
    search.nodes += part.visited
    search.solved += part.solved
    search.solver.width, search.solver.widest = part.width
    search.gains += part.gains
    search.incumbents.offer(part.best)
    known = set(search.pool.names.tolist())
    for cut in part.cuts:
        if cut.name not in known:
            search.pool.add(cut)
    search.frontier.push(*part.nodes)


def run_task(
    key: str, problem: SelectionProblem | None, tolerance: float, part: SearchPart, seconds: float, left: float | None
) -> SearchPart | None:
    """Search a part for some seconds of those left for all, on one thread; None where its problem is unknown here."""
    # Ctrl-C reaches all processes of a terminal: the driver ends the search, a task goes on to the end of its slice.
    end = time.perf_counter() + seconds
    with threadpool_limits(1), deferred_interruption(), clock.limited(left):
        local = _local(key, problem)
        return None if local is None else _searched(local, tolerance, part, lambda: time.perf_counter() < end)


def _searched(local: _Local, tolerance: float, part: SearchPart, go_on: Callable[[], bool]) -> SearchPart:
    """Return the rest of a part; what it learned of the pool stays here."""
    first = part.tree.next
    tree = SelectionTree(cuts=dict(local.grids), next=first)
    search = SelectionSearch(local.problem, BranchSettings(tolerance), tree)
    search.pool = search.incumbents.pool = pool = local.pool
    _take_in(search, part)
    with counted(), suppress(OutOfTimeError):
        search.run(2**62, lambda: go_on() and search.tree.next < first + BLOCK)
    cuts, given = search.tree.cuts, {node.number for node in part.nodes}
    local.grids = {name: cuts[name] for name in pool.names.tolist() if name in cuts}
    opened = [node for node in search.frontier if node.number not in given]
    places = {name: k for k, name in enumerate(pool.names.tolist())}
    new = [cut for cut in pool.cuts() if cut.name >= first]
    shared = sorted(new, key=lambda cut: -pool.score[places[cut.name]])[:SHARED]
    search.tree.forget({node.cut.name for node in opened} | {cut.name for cut in shared}, 2**62)
    return SearchPart(
        opened,
        search.tree,
        shared,
        search.incumbents.best,
        (search.solver.width, search.solver.widest),
        search.gains - part.gains,
        frozenset(given.intersection(node.number for node in search.frontier)),
        search.closed,
        search.nodes,
        search.solved,
    )


@dataclass
class Team:
    """A search whose open nodes are given out in tasks.

    Attributes
    ----------
    jobs : tasks at a time.
    owed : so many tasks still have to carry the problem.
    pending : the tasks that are out, with the nodes they were given.
    broken : whether the executor lost its processes; their nodes are open again.
    batch : open nodes of the next task, twice as many as the last one visited: those that come back unvisited cost
        their way.
    """

    search: SelectionSearch
    executor: Executor
    jobs: int
    key: str = field(default_factory=lambda: uuid4().hex)
    owed: int = field(init=False)
    pending: dict[Future[SearchPart | None], list[SelectionNode]] = field(default_factory=dict)
    broken: bool = False
    batch: int = FEWEST

    def __post_init__(self) -> None:
        self.owed = self.jobs

    def rounds(self, go_on: Callable[[], bool], started: float, keeper: Keeper) -> Iterator[bool]:
        """Run tasks in rounds until nothing is open, or it may not go on; yield whether a checkpoint is due."""
        while (self.search.frontier or self.pending) and go_on() and not self.broken:
            self.run(go_on, max(FIRST_ROUND, SHARE * (time.perf_counter() - started)))
            due = keeper.due()
            if due:
                self.finish()
            self.search.given.replace(*(node for nodes in self.pending.values() for node in nodes))
            yield due
        self.finish()
        self.search.given.clear()

    def run(self, go_on: Callable[[], bool], seconds: float) -> None:
        """Give out and take in tasks for some seconds, or until it may not go on, or nothing is open."""
        end, frontier = time.perf_counter() + seconds, self.search.frontier
        while go_on() and time.perf_counter() < end and (self.pending or frontier) and not self.broken:
            while len(self.pending) < self.jobs and frontier:
                nodes, left = frontier.shared(self.jobs - len(self.pending), self.batch), clock.left()
                seconds = SLICE if left is None else min(SLICE, left)
                self.pending[self.executor.submit(self._task(nodes, seconds, left))] = nodes
            wait(self.pending, timeout=POLL, return_when=FIRST_COMPLETED)
            for future in [future for future in self.pending if future.done()]:  # also those that are cancelled
                self._take(future)

    def finish(self) -> None:
        """Wait for the tasks that are out, and take them in."""
        for future in list(self.pending):
            self._take(future)

    def _task(self, nodes: list[SelectionNode], seconds: float, left: float | None) -> Callable[[], SearchPart | None]:
        search = self.search
        multipliers, first = search.tree.cuts, search.tree.next
        search.tree.next += BLOCK + 64 * (search.problem.p + 64)  # a visit uses a few numbers for each feature at most
        cuts = [cut for cut in search.pool.cuts(SHARED) if cut.name in multipliers]
        tree = SelectionTree(cuts={cut.name: multipliers[cut.name] for cut in cuts}, next=first)
        width = (search.solver.width, search.solver.widest)
        part = SearchPart(nodes, tree, cuts, search.incumbents.best, width, search.gains.copy())
        problem = search.problem if self.owed > 0 else None
        self.owed -= problem is not None
        return partial(run_task, self.key, problem, search.settings.tolerance, part, seconds, left)

    def _take(self, future: Future[SearchPart | None]) -> None:
        """Take in what is left of a task, or its nodes as they were given out where its process is lost."""
        search, nodes = self.search, self.pending.pop(future)
        part = None
        try:
            part = future.result()
            self.owed += part is None
        except (BrokenExecutor, CancelledError):
            self.broken = True
        if part is None:
            search.frontier.push(*nodes)
            self.batch = FEWEST
            return
        _take_in(search, part)
        search.frontier.push(*(node for node in nodes if node.number in part.untouched))
        self.batch = min(max(2 * part.visited, FEWEST), BATCH)
