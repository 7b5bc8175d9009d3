"""Subtrees as tasks, see :mod:`fsopt.search.frontier`.

A thread that runs tasks keeps the problem and the pool of the last search: a task carries its nodes, the most useful
cuts and the key of the search, and the problem only where it may be unknown. One that meets an unknown key comes back
unsolved, and a later one carries the problem.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from uuid import uuid4

import numpy as np

from fsopt.errors import OutOfTimeError
from fsopt.search.branch_and_benders.compiled import counted
from fsopt.search.branch_and_benders.cuts import BendersCut, Grid, Pool
from fsopt.search.branch_and_benders.incumbents import Incumbent
from fsopt.search.branch_and_benders.problem import BranchSettings, SelectionProblem
from fsopt.search.branch_and_benders.search import SelectionNode, SelectionSearch
from fsopt.search.branch_and_benders.tree import SelectionTree
from fsopt.search.frontier import BLOCK, Team, sliced
from fsopt.typing import Matrix, Vector

SHARED = 16
"""Cuts of the pool of all that go into a task, and new ones of a task that go into the pool of all."""


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


def _local(key: str, problem: SelectionProblem | None, part: SearchPart) -> _Local | None:
    """Return what this thread keeps of the search of a task; None where it has to be sent."""
    local: _Local | None = getattr(_kept, "local", None)
    if local is None or local.key != key:
        if problem is None:
            return None
        local = _kept.local = _Local(key, problem, Pool(problem), {})
    known = set(local.pool.names.tolist())
    for cut in part.cuts:
        if cut.name not in known:
            local.pool.add(cut)
            local.grids[cut.name] = part.tree.cuts[cut.name]
    return local


def run_task(
    key: str, problem: SelectionProblem | None, tolerance: float, part: SearchPart, seconds: float, left: float | None
) -> SearchPart | None:
    """Search a part of the tree for some seconds, on one thread; None where its problem is unknown here.

    Parameters
    ----------
    key, problem : of the search; None where the problem is not sent.
    left : seconds of the whole search that are left, None without a limit.
    """
    with sliced(seconds, left) as go_on:
        local = _local(key, problem, part)
        return None if local is None else _searched(local, tolerance, part, go_on)


def _searched(local: _Local, tolerance: float, part: SearchPart, go_on: Callable[[], bool]) -> SearchPart:
    """Return the rest of a part; what it learned of the pool stays here."""
    first = part.tree.next
    search = SelectionSearch(
        local.problem, BranchSettings(tolerance), SelectionTree(cuts=dict(local.grids), next=first)
    )
    search.pool = search.incumbents.pool = pool = local.pool
    search.incumbents.best = part.best
    search.solver.width, search.solver.widest = part.width
    search.gains += part.gains
    search.frontier.push(*part.nodes)
    with counted(), suppress(OutOfTimeError):
        search.run(2**62, lambda: go_on() and search.tree.next < first + BLOCK)
    cuts, given = search.tree.cuts, {node.number for node in part.nodes}
    local.grids = {name: cuts[name] for name in pool.names.tolist() if name in cuts}
    opened = [node for node in search.frontier.nodes if node.number not in given]
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
        frozenset(given.intersection(node.number for node in search.frontier.nodes)),
        search.closed,
        search.nodes,
        search.solved,
    )


def team_of(search: SelectionSearch, executor: Executor, jobs: int) -> Team[SelectionNode, SearchPart | None]:
    """Return a team that searches the open nodes of a search."""
    key, owed = uuid4().hex, jobs  # so many tasks still have to carry the problem

    def give(nodes: list[SelectionNode], seconds: float, left: float | None) -> Callable[[], SearchPart | None]:
        nonlocal owed
        multipliers, first = search.tree.cuts, search.tree.next
        search.tree.next += BLOCK + 64 * (search.problem.p + 64)  # a visit uses a few numbers for each feature at most
        cuts = [cut for cut in search.pool.cuts(SHARED) if cut.name in multipliers]
        tree = SelectionTree(cuts={cut.name: multipliers[cut.name] for cut in cuts}, next=first)
        width = (search.solver.width, search.solver.widest)
        part = SearchPart(nodes, tree, cuts, search.incumbents.best, width, search.gains.copy())
        problem = search.problem if owed > 0 else None
        owed -= problem is not None
        return partial(run_task, key, problem, search.settings.tolerance, part, seconds, left)

    def take(nodes: list[SelectionNode], part: SearchPart | None) -> int:
        nonlocal owed
        if part is None:
            owed += 1
            search.frontier.push(*nodes)
            return 0
        search.tree.merge(part.tree)
        search.closed = min(search.closed, part.closed)
        search.nodes += part.visited
        search.solved += part.solved
        search.solver.width, search.solver.widest = part.width
        search.gains += part.gains
        search.incumbents.offer(part.best)
        for cut in part.cuts:
            search.pool.add(cut)
        search.frontier.push(*(node for node in nodes if node.number in part.untouched), *part.nodes)
        return part.visited

    return Team(search.frontier, executor, jobs, give, take)
