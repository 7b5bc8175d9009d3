"""Subtrees as tasks of any ``concurrent.futures.Executor``: one gets open nodes and returns the rest of a slice.

A task carries all it needs, so that processes and clusters (Dask: ``Client.get_executor()``) run it alike. Numbers of
nodes are unique by blocks of a task each, so that the parts of a tree fit together without renaming.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from fsopt.common import clock
from fsopt.common.clock import deferred_interruption
from fsopt.common.teams import results
from fsopt.errors import OutOfTimeError, WorkersLost
from fsopt.search.branch_and_benders.compiled import counted
from fsopt.search.branch_and_benders.cuts import BendersCut
from fsopt.search.branch_and_benders.incumbents import Incumbent
from fsopt.search.branch_and_benders.problem import BranchSettings, SelectionProblem
from fsopt.search.branch_and_benders.search import SelectionNode, SelectionSearch
from fsopt.search.branch_and_benders.tree import SelectionTree
from fsopt.typing import Matrix

SHARED = 16
"""New cuts of a task that go into the pool of all."""
FEWEST, BATCH = 16, 256
"""Open nodes of the first tasks, and largest number of them in a later one."""
SLICE = 1.0
"""Seconds of a task."""
FIRST_ROUND, SHARE = 0.2, 0.02
"""Seconds of the first round of tasks between two records, and of the later ones as a share of the time so far."""
PATIENCE = 2.0
"""Seconds that tasks have to come back after a limit."""
BLOCK = 2**20
"""Numbers of a task, after which it visits no other node."""
Call = tuple[list[SelectionNode], tuple[Any, ...]]
"""Open nodes, and the function and arguments of their task."""


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


def _take_in(search: SelectionSearch, part: SearchPart) -> None:
    """Let a search go on with a part of another one: what a task is given, or what it returns."""
    for number, marks in part.tree.marks.items():
        search.tree.marks.setdefault(number, []).extend(marks)
    search.tree.cuts.update(part.tree.cuts)
    search.closed_bound = min(search.closed_bound, part.closed)
    search.nodes += part.visited
    search.solved += part.solved
    search.solver.width, search.solver.widest = part.width
    search.gains += part.gains
    search.incumbents.offer(part.best)
    known = set(search.pool.names)
    for cut in part.cuts:
        if cut.name not in known:
            search.pool.add(cut)
    search.frontier.push(*part.nodes)


def run_task(
    problem: SelectionProblem, tolerance: float, part: SearchPart, seconds: float, left: float | None
) -> SearchPart:
    """Search a part for some seconds of those left for all, on one thread, and return the rest of it."""
    end, first = time.perf_counter() + seconds, part.tree.next
    search = SelectionSearch(problem, BranchSettings(tolerance), SelectionTree(next=first))
    _take_in(search, part)
    # Ctrl-C reaches all processes of a terminal: the driver ends the search, a task goes on to the end of its slice.
    with threadpool_limits(1), deferred_interruption(), clock.limited(left), counted(), suppress(OutOfTimeError):
        search.run(2**62, lambda: time.perf_counter() < end and search.tree.next < first + BLOCK)
    pool, given = search.pool, {node.number for node in part.nodes}
    opened = [node for node in search.frontier if node.number not in given]
    new = [k for k, cut in enumerate(pool.held) if cut.name >= first]
    shared = [pool.held[k] for k in sorted(new, key=lambda k: -pool.score[k])[:SHARED]]
    search.tree.forget({node.cut.name for node in opened} | {cut.name for cut in shared}, 2**62)
    return SearchPart(
        opened,
        search.tree,
        shared,
        search.incumbents.best,
        (search.solver.width, search.solver.widest),
        search.gains - part.gains,
        frozenset(given.intersection(node.number for node in search.frontier)),
        search.closed_bound,
        search.nodes,
        search.solved,
    )


class Team:
    """The tasks of a search, each with open nodes, while there are any and it may go on.

    Attributes
    ----------
    jobs : tasks at a time.
    batch : open nodes of the next task, twice as many as the last one visited: those that come back unvisited cost
        their way.
    stopped : when it might not go on for the first time.
    """

    def __init__(self, search: SelectionSearch, jobs: int, go_on: Callable[[], bool]) -> None:
        """Begin with small tasks."""
        self.search, self.jobs, self.go_on = search, jobs, go_on
        self.batch, self.stopped = FEWEST, np.inf

    def rounds(self, executor: Executor, started: float) -> Iterator[None]:
        """Run tasks until nothing is open, or it may not go on, or the workers are lost; yield between two rounds."""
        end = time.perf_counter() + FIRST_ROUND
        with suppress(WorkersLost, OutOfTimeError):
            for nodes, part in results(executor, self, self.jobs, self._wait):
                self._take(nodes, part)
                now = time.perf_counter()
                if now > end:
                    yield
                    end = now + max(FIRST_ROUND, SHARE * (now - started))
        self.search.frontier.push(*self.search.given)
        self.search.given.clear()

    def __iter__(self) -> Iterator[Call]:
        return self

    def __next__(self) -> Call:
        """Give out open nodes: return them, and their task."""
        search, left = self.search, clock.left()
        if not search.frontier or not self.go_on():
            raise StopIteration
        nodes = search.frontier.shared(self.jobs, self.batch)
        search.given.push(*nodes)
        multipliers, first = search.tree.cuts, search.tree.next
        search.tree.next += BLOCK + 64 * (search.problem.p + 64)  # a visit uses a few numbers for each feature at most
        cuts = [cut for cut in search.pool.held if cut.name in multipliers]
        tree = SelectionTree(cuts={cut.name: multipliers[cut.name] for cut in cuts}, next=first)
        width = (search.solver.width, search.solver.widest)
        part = SearchPart(nodes, tree, cuts, search.incumbents.best, width, search.gains.copy())
        seconds = SLICE if left is None else min(SLICE, left)
        return nodes, (run_task, search.problem, search.settings.tolerance, part, seconds, left)

    def _wait(self) -> None:
        """Raise OutOfTimeError where no task comes back long after they may not go on."""
        if not self.go_on():
            self.stopped = min(self.stopped, time.perf_counter())
            if time.perf_counter() > self.stopped + PATIENCE:
                raise OutOfTimeError("tasks did not come back in time", "give more seconds")

    def _take(self, nodes: list[SelectionNode], part: SearchPart) -> None:
        """Take in what is left of a task."""
        search, gone = self.search, {node.number for node in nodes}
        search.given.replace(*(node for node in search.given if node.number not in gone))
        _take_in(search, part)
        search.frontier.push(*(node for node in nodes if node.number in part.untouched))
        self.batch = min(max(2 * part.visited, FEWEST), BATCH)
