"""Subtrees as tasks, see :mod:`fsopt.algorithms.frontier`.

A thread that runs tasks keeps the problem and the pool of the last search: a task carries its nodes, the most useful
cuts and the key of the search, and the problem only where it may be unknown. One that meets an unknown key comes back
unsolved, and a later one carries the problem.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from uuid import uuid4

from fsopt.algorithms.branch_and_benders.compiled import counted
from fsopt.algorithms.branch_and_benders.cuts import BendersCut, Grid, Pool
from fsopt.algorithms.branch_and_benders.incumbents import Incumbent
from fsopt.algorithms.branch_and_benders.problem import BranchSettings, SelectionProblem
from fsopt.algorithms.branch_and_benders.search import SelectionNode, SelectionSearch
from fsopt.algorithms.branch_and_benders.tree import SelectionTree
from fsopt.algorithms.frontier import BLOCK, Team, sliced
from fsopt.errors import OutOfTimeError
from fsopt.typing import Matrix, Vector

SHARED = 16
"""Cuts of the pool of all that go into a task, and new ones of a task that go into the pool of all."""


@dataclass
class SearchSlice:
    """A slice of a search: its key, its problem where it is sent, open nodes, cuts with their multipliers, incumbent,
    where its numbers begin, its seconds, and those of the whole search that are left, None without a limit.
    """

    key: str
    problem: SelectionProblem | None
    settings: BranchSettings
    nodes: list[SelectionNode]
    cuts: list[tuple[BendersCut, tuple[Grid, Vector]]]
    best: Incumbent | None
    width: tuple[float, float]
    gains: Matrix
    first: int
    seconds: float
    left: float | None


@dataclass
class SliceRest:
    """The rest of a slice: numbers of the given nodes that are still open, new open nodes, part of the tree, smallest
    closed bound, incumbent, cuts, what was learned.
    """

    untouched: list[int]
    nodes: list[SelectionNode]
    tree: SelectionTree
    closed: float
    best: Incumbent | None
    cuts: list[BendersCut]
    width: tuple[float, float]
    gains: Matrix
    visited: int
    solved: int


@dataclass
class _Local:
    """What a thread keeps of the last search: its key, its problem, a pool, and the multipliers of the cuts there."""

    key: str
    problem: SelectionProblem
    pool: Pool
    grids: dict[int, tuple[Grid, Vector]]


_kept = threading.local()


def _local(task: SearchSlice) -> _Local | None:
    """Return what this thread keeps of the search of a task; None where it has to be sent."""
    local: _Local | None = getattr(_kept, "local", None)
    if local is None or local.key != task.key:
        if task.problem is None:
            return None
        local = _kept.local = _Local(task.key, task.problem, Pool(task.problem), {})
    known = set(local.pool.names.tolist())
    for cut, multipliers in task.cuts:
        if cut.name not in known:
            local.pool.add(cut)
            local.grids[cut.name] = multipliers
    return local


def run_task(task: SearchSlice) -> SliceRest | None:
    """Run a slice of a search, on one thread; None where its problem is unknown here."""
    with sliced(task.seconds, task.left) as go_on:
        local = _local(task)
        return None if local is None else _searched(task, local, go_on)


def _searched(task: SearchSlice, local: _Local, go_on: Callable[[], bool]) -> SliceRest:
    """Return the rest of a slice; what it learned of the pool stays here."""
    search = SelectionSearch(local.problem, task.settings, tree=SelectionTree(cuts=dict(local.grids), next=task.first))
    search.pool = search.incumbents.pool = local.pool
    search.incumbents.best = task.best
    search.solver.width, search.solver.widest = task.width
    search.gains += task.gains
    search.frontier.push(*task.nodes)
    with counted(), suppress(OutOfTimeError):
        search.run(2**62, lambda: go_on() and search.tree.next < task.first + BLOCK)
    pool, cuts = search.pool, search.tree.cuts
    local.grids = {name: cuts[name] for name in pool.names.tolist() if name in cuts}
    left = search.frontier.nodes
    given = {node.number for node in task.nodes}
    opened = [node for node in left if node.number not in given]
    new = [cut for cut in pool.cuts() if cut.name >= task.first]
    places = {name: k for k, name in enumerate(pool.names.tolist())}
    shared = sorted(new, key=lambda cut: -pool.score[places[cut.name]])[:SHARED]
    search.tree.forget({node.cut.name for node in opened} | {cut.name for cut in shared}, 2**62)
    return SliceRest(
        untouched=[node.number for node in left if node.number in given],
        nodes=opened,
        tree=search.tree,
        closed=search.closed,
        best=search.incumbents.best,
        cuts=shared,
        width=(search.solver.width, search.solver.widest),
        gains=search.gains - task.gains,
        visited=search.nodes,
        solved=search.solved,
    )


@dataclass
class _Tasks:
    """The tasks of a search, and how many of them still have to carry the problem: ``owed``."""

    search: SelectionSearch
    owed: int
    key: str = field(default_factory=lambda: uuid4().hex)

    def give(self, nodes: list[SelectionNode], seconds: float, left: float | None) -> Callable[[], SliceRest | None]:
        """Return the task of some nodes."""
        search, cuts = self.search, self.search.tree.cuts
        first = search.tree.next
        search.tree.next += BLOCK + 64 * (search.problem.p + 64)  # a visit uses a few numbers for each feature at most
        task = SearchSlice(
            key=self.key,
            problem=search.problem if self.owed > 0 else None,
            settings=BranchSettings(search.settings.tolerance),
            nodes=nodes,
            cuts=[(cut, cuts[cut.name]) for cut in search.pool.cuts(SHARED) if cut.name in cuts],
            best=search.incumbents.best,
            width=(search.solver.width, search.solver.widest),
            gains=search.gains.copy(),
            first=first,
            seconds=seconds,
            left=left,
        )
        self.owed -= task.problem is not None
        return partial(run_task, task)

    def take(self, nodes: list[SelectionNode], outcome: SliceRest | None) -> int:
        """Take in what is left of a task with its nodes; return how many it visited."""
        search = self.search
        if outcome is None:
            self.owed += 1
            search.frontier.push(*nodes)
            return 0
        search.tree.merge(outcome.tree)
        search.closed = min(search.closed, outcome.closed)
        search.nodes += outcome.visited
        search.solved += outcome.solved
        search.solver.width, search.solver.widest = outcome.width
        search.gains += outcome.gains
        search.incumbents.offer(outcome.best)
        for cut in outcome.cuts:
            search.pool.add(cut)
        untouched = set(outcome.untouched)
        search.frontier.push(*(node for node in nodes if node.number in untouched), *outcome.nodes)
        return outcome.visited


def team_of(search: SelectionSearch, executor: Executor, jobs: int) -> Team[SelectionNode, SliceRest | None]:
    """Return a team that searches the open nodes of a search."""
    tasks = _Tasks(search, jobs)
    return Team(search.frontier, executor, jobs, tasks.give, tasks.take)
