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
"""Most useful cuts of a task, of which the new ones go into the pool of all."""
BATCH = 64
"""Largest number of open nodes of a task: those that come back unvisited cost their way."""
SLICE, SHARE = 1.0, 0.02
"""Seconds of a round of tasks at least, and as a share of the time so far."""
PATIENCE = 2.0
"""Seconds that tasks have to come back after a limit."""
BLOCK = 2**20
"""Numbers of a task, after which it visits no other node."""


@dataclass
class SearchPart:
    """What a task is given of a search, and what it returns.

    Attributes
    ----------
    nodes : open nodes.
    tree : the multipliers of the cuts that it is given, and where its numbers begin; its part of the tree.
    cuts : most useful ones.
    best : incumbent.
    width : see :class:`fsopt.search.branch_and_benders.nodes.NodeSolver`.
    pseudo_costs : of branchings; it returns what it learned.
    closed, visited, solved : the smallest closed bound, and its nodes and relaxations.
    """

    nodes: list[SelectionNode]
    tree: SelectionTree
    cuts: list[BendersCut]
    best: Incumbent | None
    width: tuple[float, float]
    pseudo_costs: Matrix
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
    search.pseudo_costs += part.pseudo_costs
    search.incumbents.offer(part.best)
    for cut in part.cuts:
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
    shared = [search.pool.held[k] for k in search.pool.useful(SHARED) if search.pool.held[k].name >= first]
    search.tree.forget({node.cut.name for node in search.frontier} | {cut.name for cut in shared}, 2**62)
    return SearchPart(
        list(search.frontier),
        search.tree,
        shared,
        search.incumbents.best,
        (search.solver.width, search.solver.widest),
        search.pseudo_costs - part.pseudo_costs,
        search.closed_bound,
        search.nodes,
        search.solved,
    )


def _task(search: SelectionSearch, nodes: list[SelectionNode], seconds: float) -> tuple[Any, ...]:
    """Return the function and the arguments of a task with open nodes of a search."""
    multipliers, left = search.tree.cuts, clock.left()
    first = search.tree.next
    search.tree.next += BLOCK + 64 * (search.problem.p + 64)  # a visit uses a few numbers for each feature at most
    cuts = [cut for cut in search.pool.held if cut.name in multipliers]
    tree = SelectionTree(cuts={cut.name: multipliers[cut.name] for cut in cuts}, next=first)
    width = (search.solver.width, search.solver.widest)
    part = SearchPart(nodes, tree, cuts, search.incumbents.best, width, search.pseudo_costs.copy())
    return run_task, search.problem, search.settings.tolerance, part, min(seconds, left or seconds), left


def rounds(search: SelectionSearch, jobs: int, executor: Executor, go_on: Callable[[], bool]) -> Iterator[None]:
    """Give shares of the best open nodes to tasks, and yield when all are back; until nothing is open, or may go on.

    A node is open as long as its task is out, also where the workers are lost, or come back too late.
    """
    started = last = time.perf_counter()

    def wait() -> None:
        nonlocal last
        now = time.perf_counter()
        last = now if go_on() else last
        if now > last + PATIENCE:
            raise OutOfTimeError("tasks did not come back in time", "give more seconds")

    with suppress(WorkersLost, OutOfTimeError):
        while search.frontier and go_on():
            seconds = max(SLICE, SHARE * (time.perf_counter() - started))
            shares = [search.frontier[k::jobs][:BATCH] for k in range(min(jobs, len(search.frontier)))]
            calls = ((nodes, _task(search, nodes, seconds)) for nodes in shares)
            for nodes, part in results(executor, calls, jobs, wait):
                gone = {node.number for node in nodes}
                search.frontier.replace(*(node for node in search.frontier if node.number not in gone))
                _take_in(search, part)
            yield
