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
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
from pyomo.common.collections import ComponentMap

from fsopt.answers.results import RESULT, Point, SolveResult, Status
from fsopt.answers.trees import Tree
from fsopt.certificates.model import StatedBound, certify_point
from fsopt.certificates.relaxations import Relaxation, relaxation_of
from fsopt.certificates.trees import certify_empty
from fsopt.common import clock
from fsopt.common.arguments import EXECUTOR, PATH, SECONDS, WHOLE, checked, optional
from fsopt.common.checkpoints import Keeper
from fsopt.common.files import check_writable, expanded
from fsopt.common.interruption import deferred_interruption
from fsopt.common.locks import alone
from fsopt.common.teams import processes
from fsopt.compiler import Program, compile_model
from fsopt.compiler.derivatives import derivatives_of
from fsopt.compiler.program import MODEL
from fsopt.errors import ParameterError
from fsopt.search.branch_and_bound.branching import Costs
from fsopt.search.branch_and_bound.checkpoint import identity, restore, save
from fsopt.search.branch_and_bound.nodes import Multipliers, Node
from fsopt.search.branch_and_bound.search import Search
from fsopt.search.frontier import BLOCK, Team, sliced
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
        search = Search(relaxation_of(compile_model(model)))
        solver, elapsed = ("", 0.0) if resume is None else restore(expanded(resume), search)
        if result is None and resume is None:
            result = solve(model, time_limit=None if time_limit is None else 0.5 * float(time_limit))
        elif result is None:
            result = SolveResult(Status.NONE, "", None, None, solver, {}, 0)
        search.offer(_incumbent(search.program, result))
        began = started - elapsed
        program, solver = {} if place is None else identity(search.program), result.solver
        keeper = Keeper(place, lambda path: save(path, program, search, solver, time.perf_counter() - began))
        with deferred_interruption() as interrupted:
            if resume is None:
                search.begin(result.tree)
            stop = _searched(search, interrupted, keeper, jobs, executor)
    found = _result(search, result)
    return replace(found, stop=stop, seconds={**result.seconds, "prove": time.perf_counter() - began})


def _incumbent(program: Program, result: SolveResult) -> Vector | None:
    """Return the point (n,) of a result; None where it has none."""
    if result.point is None:
        return None
    if result.point.x.shape != (program.n,):
        raise ParameterError(f"the result is not one of '{program.model.name}'", "solve the model again")
    if not np.isfinite(result.point.x).all():
        raise ParameterError("the point of the result is not finite", "give a point, or solve the model again")
    return result.point.x


def _searched(
    search: Search, interrupted: Callable[[], bool], keeper: Keeper, jobs: int, executor: Executor | None
) -> str:
    """Search until the tree is closed, or the time is over, or the user interrupts; return why it ended."""
    started = time.perf_counter()

    def go_on() -> bool:
        return not clock.expired() and not interrupted()

    def between_nodes() -> bool:
        if keeper.due():
            keeper.write()
        return go_on()

    search.run(lambda: between_nodes() and (jobs == 1 or len(search.frontier) < RAMP * jobs))
    if jobs > 1 and search.frontier and go_on():
        with processes(jobs, executor) as given:
            for due in team_of(search, given, jobs).rounds(go_on, started, keeper):
                if due:
                    keeper.write()
        search.run(between_nodes)  # what a team that lost its processes left
    keeper.write()
    if not search.frontier:
        return "optimal"
    return "interrupted" if interrupted() else "time-limit"


def _result(search: Search, result: SolveResult) -> SolveResult:
    """Return the result with the tree, and the status that its certificate supports."""
    program, tree = search.program, search.tree()
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
    found = replace(result, status=Status.NONE, bound=None, certificate=certificate, tree=tree)
    return replace(found, status=Status.INFEASIBLE, ray=None) if certificate.ok else found


@dataclass
class Part:
    """What a task is given of a search, and what it returns: open nodes, incumbent, pseudo-costs, of which it returns
    what it learned, where its numbers begin, its part of the tree, and the number of relaxations solved.
    """

    nodes: list[Node]
    x: Vector | None
    costs: Costs
    first: int
    branchings: dict[int, tuple[int, float, int]] = field(default_factory=dict)
    closed: dict[int, Multipliers | None] = field(default_factory=dict)
    solves: int = 0


def run_task(relaxation: bytes, part: Part, seconds: float, left: float | None) -> Part:
    """Search a part of the tree for some seconds, on one thread; ``left`` are those of the whole search."""
    search = Search(pickle.loads(relaxation), part.first)
    search.offer(part.x)
    search.costs += part.costs
    search.frontier.push(*part.nodes)
    with sliced(seconds, left) as go_on:
        # One node at least, however slow.
        search.run(lambda: not search.nodes.solves or (go_on() and search.next < part.first + BLOCK))
    learned, tree = search.costs - part.costs, (search.branchings, search.closed)
    return Part(search.frontier.nodes, search.x, learned, part.first, *tree, search.nodes.solves)


def team_of(search: Search, executor: Executor, jobs: int) -> Team[Node, Part]:
    """Return a team that searches the open nodes of a search."""
    relaxation = carried(search.relaxation)

    def give(nodes: list[Node], seconds: float, left: float | None) -> Callable[[], Part]:
        first, search.next = search.next, search.next + 2 * BLOCK
        return partial(run_task, relaxation, Part(nodes, search.x, search.costs.copy(), first), seconds, left)

    def take(nodes: list[Node], part: Part) -> int:
        search.offer(part.x)
        search.branchings |= part.branchings
        search.closed |= part.closed
        search.costs += part.costs
        search.nodes.solves += part.solves
        search.frontier.push(*part.nodes)
        return part.solves

    return Team(search.frontier, executor, jobs, give, take)


def carried(relaxation: Relaxation) -> bytes:
    """Return a pickled relaxation."""
    # Pickle alone takes no functions of a script: the rules of a model's components are some.
    from joblib.externals.loky.backend.reduction import dumps

    program = relaxation.program
    if program.general or program.objective_terms:
        derivatives_of(program)  # kept with it: they are read from the ids of variables, which are others elsewhere
    return bytes(dumps(relaxation))
