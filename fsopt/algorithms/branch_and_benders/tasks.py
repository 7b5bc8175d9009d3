"""Subtrees as tasks, see :mod:`fsopt.common.teams`.

Numbers of nodes and cuts are unique by blocks, so that the parts of the tree fit together without renaming.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from threadpoolctl import threadpool_limits

from fsopt.algorithms.branch_and_benders.branching import Gains
from fsopt.algorithms.branch_and_benders.cuts import Cut, Pool
from fsopt.algorithms.branch_and_benders.incumbents import Incumbent
from fsopt.algorithms.branch_and_benders.problem import SelectionProblem
from fsopt.algorithms.branch_and_benders.search import Node, Search
from fsopt.algorithms.branch_and_benders.tree import Tree
from fsopt.common import clock
from fsopt.common.teams import Team
from fsopt.drivers.interruption import deferred_interruption
from fsopt.errors import OutOfTimeError

BLOCK = 2**20
"""Numbers of a task, of nodes and cuts, after which it visits no other node."""
SHARED = 16
"""New cuts of a task that go into the pool of all."""


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
        search.run(2**62, lambda: time.perf_counter() < end and search.tree.next < task.first + BLOCK)
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


def team_of(search: Search, executor: Executor, jobs: int) -> Team[Node, Outcome]:
    """Return a team that searches the open nodes of a search."""
    return Team(search, executor, jobs, partial(_task, search), partial(_take, search))


def _task(search: Search, nodes: list[Node], seconds: float, left: float | None) -> Callable[[], Outcome]:
    width, gains = (search.solver.width, search.solver.widest), search.gains.copy()
    first = search.tree.next
    search.tree.next += BLOCK + 64 * (search.problem.p + 64)  # a visit uses a few numbers for each feature at most
    best, tolerance = search.incumbents.best, search.tolerance
    task = Task(search.problem, tolerance, nodes, search.pool, best, width, gains, first, seconds, left)
    return partial(run_task, task)


def _take(search: Search, nodes: list[Node], outcome: Outcome) -> None:
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
