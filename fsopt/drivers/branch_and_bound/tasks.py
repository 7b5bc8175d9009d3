"""Subtrees as tasks, see :mod:`fsopt.common.teams`: boxes with their multipliers in, trees below them out."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

from threadpoolctl import threadpool_limits

from fsopt.answers.trees import LEAF, Tree
from fsopt.certificates.relaxations import Relaxation
from fsopt.common import clock
from fsopt.common.teams import Team
from fsopt.compiler.derivatives import derivatives_of
from fsopt.drivers.branch_and_bound.branching import PseudoCosts
from fsopt.drivers.branch_and_bound.nodes import Node, preorder
from fsopt.drivers.branch_and_bound.search import Search
from fsopt.drivers.interruption import deferred_interruption
from fsopt.typing import Vector


@dataclass
class Part:
    """A tree below an open node: its box, and the optimum of the relaxation of each open leaf, None where unknown."""

    low: Vector
    high: Vector
    tree: Tree
    opened: Mapping[int, Vector | None]


@dataclass
class Task:
    """A slice of a search: its pickled relaxation, open nodes, incumbent, the sizes of variables without bounds,
    pseudo-costs, its seconds, and those of the whole search that are left, None without a limit.
    """

    relaxation: bytes
    nodes: list[Part]
    x: Vector | None
    costs: PseudoCosts
    seconds: float
    left: float | None


@dataclass
class Outcome:
    """The rest of a slice: a tree below each node, the incumbent, what was learned, relaxations solved."""

    trees: list[Part]
    x: Vector | None
    costs: PseudoCosts
    solves: int


def run_task(task: Task) -> Outcome:
    """Run a slice of a search, on one thread."""
    search = Search(pickle.loads(task.relaxation), task.x)
    search.costs = task.costs.copy()
    roots = [Node(part.low, part.high) for part in task.nodes]
    for root, part in zip(roots, task.nodes, strict=True):
        _graft(search, root, part)
    # Ctrl-C reaches all processes of a terminal: the driver ends the search, a task goes on to the end of its slice.
    with threadpool_limits(1), deferred_interruption(), clock.limited(task.left):
        end = time.perf_counter() + task.seconds
        search.run(lambda: not search.nodes.solves or time.perf_counter() < end)  # one node at least, however slow
    opened = {id(entry[2]) for entry in search.heap}
    trees = [_part(search, root, (part.low, part.high), opened) for root, part in zip(roots, task.nodes, strict=True)]
    return Outcome(trees, search.x, search.costs.since(task.costs), search.nodes.solves)


def team_of(search: Search, executor: Executor, jobs: int) -> Team[Node, Outcome]:
    """Return a team that searches the open nodes of a search."""
    relaxation = carried(search.relaxation)
    return Team(search, executor, jobs, partial(_task, search, relaxation), partial(_take, search))


def carried(relaxation: Relaxation) -> bytes:
    """Return a pickled relaxation."""
    # Pickle alone takes no functions of a script: the rules of a model's components are some.
    from joblib.externals.loky.backend.reduction import dumps

    program = relaxation.program
    if program.general or program.objective_terms:
        derivatives_of(program)  # kept with it: they are read from the ids of variables, which are others elsewhere
    return bytes(dumps(relaxation))


def _part(search: Search, node: Node, box: tuple[Vector, Vector], opened: set[int]) -> Part:
    leaves = [other for other in preorder(node) if other.column == LEAF]
    points = {k: leaf.x for k, leaf in enumerate(leaves) if id(leaf) in opened}
    return Part(*box, search.nodes.tree(node), points)


def _graft(search: Search, node: Node, part: Part) -> None:
    """Put a part of the tree below a node, and open its leaves that are open there."""
    leaves = search.nodes.grow(node, part.tree)
    for k, x in part.opened.items():
        leaves[k].x, leaves[k].solved = x, x is not None
        search.push(leaves[k])


def _task(
    search: Search, relaxation: bytes, nodes: list[Node], seconds: float, left: float | None
) -> Callable[[], Outcome]:
    opened = {id(node) for node in nodes}
    parts = [_part(search, node, (node.low, node.high), opened) for node in nodes]
    return partial(run_task, Task(relaxation, parts, search.x, search.costs.copy(), seconds, left))


def _take(search: Search, nodes: list[Node], outcome: Outcome) -> int:
    if outcome.x is not None:
        search.offer(outcome.x)
    for node, part in zip(nodes, outcome.trees, strict=True):
        _graft(search, node, part)
    search.costs.add(outcome.costs)
    search.nodes.solves += outcome.solves
    return outcome.solves
