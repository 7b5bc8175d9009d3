r"""Proofs of integer programs: branch and bound whose every leaf is closed by numbers that fsopt recomputes.

.. math:: \min f(x) \quad\text{s.t.}\quad x \in X,\ x_j \in \mathbb{Z}\ (j \in \mathcal{I}),

with f and X convex: linear and convex quadratic objectives, linear constraints and second-order cones. A node is a box;
its relaxation, without integrality, is solved by HiGHS (linear programs, warm) or Clarabel. What the solver says of the
node does not count: the bound is the value of its multipliers, or its Farkas vector shows that the box has no point.
Multipliers of the leaves are the tree, see :class:`fsopt.answers.trees.Tree`, and the smallest bound of the leaves is
the bound of the program. Nodes are taken in the order of their bounds, children before others; branching is that of
Achterberg, Koch and Martin, Branching rules revisited, Operations Research Letters 33 (2005), with pseudo-costs of the
recomputed bounds.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
from pyomo.common.collections import ComponentMap
from threadpoolctl import threadpool_limits

from fsopt.answers.results import RESULT, Point, SolveResult, Status
from fsopt.answers.trees import LEAF, Tree
from fsopt.certificates.model import StatedBound, certify_point
from fsopt.certificates.relaxations import Relaxation, relaxation_of
from fsopt.certificates.trees import certify_empty
from fsopt.common import clock
from fsopt.common.arguments import EXECUTOR, PATH, SECONDS, WHOLE, checked, optional
from fsopt.common.files import check_writable, expanded
from fsopt.common.locks import alone
from fsopt.common.teams import Team, processes
from fsopt.compiler import Program, compile_model
from fsopt.compiler.derivatives import derivatives_of
from fsopt.compiler.program import MODEL
from fsopt.drivers.branch_and_bound.branching import PseudoCosts
from fsopt.drivers.branch_and_bound.checkpoint import Keeper, Saved, load
from fsopt.drivers.branch_and_bound.nodes import Node, preorder
from fsopt.drivers.branch_and_bound.search import Search
from fsopt.drivers.interruption import deferred_interruption
from fsopt.errors import ParameterError
from fsopt.solvers.base import solve
from fsopt.solvers.outcome import load_values
from fsopt.typing import Vector

RAMP = 8
"""Open nodes for each task before subtrees are given out."""


@checked(
    model=MODEL,
    result=optional(RESULT),
    time_limit=optional(SECONDS),
    checkpoint=optional(PATH),
    resume=optional(PATH),
    jobs=WHOLE,
    executor=optional(EXECUTOR),
)
def prove(
    model: pyo.ConcreteModel,
    result: SolveResult | None = None,
    *,
    time_limit: float | None = 60.0,
    checkpoint: str | Path | None = None,
    resume: str | Path | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
) -> SolveResult:
    """Prove the answer of an integer program by a tree that needs no solver to be verified.

    Parameters
    ----------
    model : pyo.ConcreteModel
        A mixed-integer linear, convex quadratic or second-order cone program, or one with products of variables, and
        exponentials, logarithms, roots and powers in the objective: see :mod:`fsopt.certificates.envelopes`.
    result : SolveResult, optional
        An answer of :func:`fsopt.solve`; its point is the incumbent. None solves the model first, in at most half of
        the time, unless there is a checkpoint to go on from. From an answer of this function the search goes on with
        its tree.
    time_limit : float, optional
        Seconds; None for no limit.
    checkpoint : str | Path, optional
        File that is replaced now and then by the tree so far, whole or not at all. A second process with the same file
        is refused.
    resume : str | Path, optional
        Checkpoint of the same model to go on from; its bounds are recomputed.
    jobs : int, optional
        Subtrees that are searched at a time, in as many processes.
    executor : Executor, optional
        Runs the subtrees in place of processes of its own: any ``concurrent.futures.Executor``.

    Returns
    -------
    SolveResult
        The answer with the tree. ``optimal`` where the tree closes the gap, ``infeasible`` where it shows that there is
        no point, else ``feasible`` with the bound that the tree proves by then. The point is a better one than that of
        the result where the search found one; its values are in the model's variables then.

    Raises
    ------
    SolverError : no convex relaxation of the model is known.
    ParameterError : the result is one of another model, or its point is not finite, or the number of subtrees is not
        positive.
    FileError : a checkpoint that cannot be written, or is damaged or of another model.
    """
    started = time.perf_counter()
    if jobs < 1 or (executor is not None and jobs == 1):
        raise ParameterError(f"jobs is {jobs}", "give the number of subtrees at a time; with an executor more than one")
    place = None if checkpoint is None else check_writable(checkpoint)
    with alone(place), clock.limited(time_limit):
        relaxation = relaxation_of(compile_model(model))
        saved = None if resume is None else load(expanded(resume), relaxation)
        if result is None:
            first = None if time_limit is None else 0.5 * float(time_limit)
            result = solve(model, time_limit=first) if saved is None else _resumed(saved)
        search = Search(relaxation, _incumbent(relaxation.program, result, saved))
        before = 0.0 if saved is None else saved.elapsed
        keeper = None if place is None else Keeper(place, search, result.solver, before, started)
        with deferred_interruption() as interrupted:
            _begin(search, result, saved)
            stop = _searched(search, interrupted, keeper, jobs, executor)
    found = _result(search, result)
    return replace(found, stop=stop, seconds={**result.seconds, "prove": before + time.perf_counter() - started})


def _resumed(saved: Saved) -> SolveResult:
    """Return the answer that a checkpoint has before its search goes on."""
    return SolveResult(Status.NONE, "", None, None, saved.solver, {}, 0)


def _incumbent(program: Program, result: SolveResult, saved: Saved | None) -> Vector | None:
    """Return the point (n,) that a search begins with: that of the result, else that of a checkpoint."""
    if result.point is None:
        return None if saved is None else saved.x
    if result.point.x.shape != (program.n,):
        raise ParameterError(f"the result is not one of '{program.model.name}'", "solve the model again")
    if not np.isfinite(result.point.x).all():
        raise ParameterError("the point of the result is not finite", "give a point, or solve the model again")
    return result.point.x


def _begin(search: Search, result: SolveResult, saved: Saved | None) -> None:
    """Open the root, or the leaves of the tree that there is."""
    if saved is not None:
        saved.restore(search)
    else:
        search.begin(result.tree)


def _searched(
    search: Search, interrupted: Callable[[], bool], keeper: Keeper | None, jobs: int, executor: Executor | None
) -> str:
    """Search until the tree is closed, or the time is over, or the user interrupts; return why it ended."""

    def go_on() -> bool:
        if keeper is not None:
            keeper.keep()
        return not clock.expired() and not interrupted()

    search.run(lambda: go_on() and (jobs == 1 or len(search.heap) < RAMP * jobs))
    if jobs > 1 and search.heap and go_on():
        with processes(jobs, executor) as given:
            team = team_of(search, given, jobs)
            team.run(go_on)
            team.finish()
        search.run(go_on)  # what a team that lost its processes left
    if keeper is not None:
        keeper.write()
    if not search.heap:
        return "optimal"
    return "interrupted" if interrupted() else "time-limit"


def _result(search: Search, result: SolveResult) -> SolveResult:
    """Return the result with the tree, and the status that its certificate supports."""
    program, tree = search.program, search.nodes.tree(search.root)
    if search.x is None:
        return _without_point(search.relaxation, result, tree)
    old = result.point
    same = old is not None and bool(np.array_equal(old.x, search.x))
    point = old if same and old is not None else Point(search.x)
    if not same:
        load_values(program, point, ComponentMap())
    evidence = result.evidence if same else None
    certificate = certify_point(program, point, StatedBound(evidence=evidence, tree=tree))
    bound = certificate.bound
    return replace(
        result,
        status=Status.OPTIMAL if certificate.ok else Status.FEASIBLE,
        objective=certificate.objective,
        bound=bound,
        certificate=certificate,
        point=point,
        evidence=evidence,
        evidence_source=result.evidence_source if same else "",
        tree=tree,
        cuts=(),
        iterations=search.nodes.solves,
    )


def _without_point(relaxation: Relaxation, result: SolveResult, tree: Tree) -> SolveResult:
    """Return the result of a search without an incumbent: infeasible where no leaf has a point."""
    certificate = certify_empty(relaxation, tree)
    if not certificate.ok:
        return replace(result, status=Status.NONE, bound=None, certificate=certificate, tree=tree)
    return replace(
        result,
        status=Status.INFEASIBLE,
        bound=None,
        certificate=certificate,
        ray=None,
        tree=tree,
    )


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
