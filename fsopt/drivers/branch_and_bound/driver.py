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

import heapq
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import numpy as np
import pyomo.environ as pyo
from pyomo.common.collections import ComponentMap

from fsopt.answers.results import RESULT, Point, SolveResult, Status
from fsopt.answers.trees import NOTHING, Tree
from fsopt.certificates.model import Claim, certify_point
from fsopt.certificates.relaxations import Relaxation, relaxation_of
from fsopt.certificates.repairs import minimised, violation
from fsopt.certificates.residuals import primal_residual
from fsopt.certificates.trees import certify_empty
from fsopt.common import clock
from fsopt.common.arguments import SECONDS, checked, optional
from fsopt.compiler import compile_model
from fsopt.compiler.program import MODEL
from fsopt.drivers.branch_and_bound.branching import PseudoCosts, branching
from fsopt.drivers.branch_and_bound.nodes import Node, Nodes
from fsopt.errors import ParameterError
from fsopt.solvers.base import solve
from fsopt.solvers.outcome import load_values
from fsopt.typing import Vector

GAP = 2e-7
"""Relative gap to the incumbent at which a node is pruned, well within that of an optimum."""
WHOLE = 1e-6
"""Distance from a whole number up to which an integer of a relaxation counts as one."""
FEASIBLE = 1e-7
"""Largest primal residual of an incumbent."""


@checked(model=MODEL, result=optional(RESULT), time_limit=optional(SECONDS))
def prove(
    model: pyo.ConcreteModel, result: SolveResult | None = None, *, time_limit: float | None = 60.0
) -> SolveResult:
    """Prove the answer of an integer program by a tree that needs no solver to be verified.

    Parameters
    ----------
    model : pyo.ConcreteModel
        A mixed-integer linear, convex quadratic or second-order cone program, or one with products of variables, and
        exponentials, logarithms, roots and powers in the objective: see :mod:`fsopt.certificates.envelopes`.
    result : SolveResult, optional
        An answer of :func:`fsopt.solve`; its point is the incumbent. None solves the model first, in at most half of
        the time.
    time_limit : float, optional
        Seconds; None for no limit.

    Returns
    -------
    SolveResult
        The answer with the tree. ``optimal`` where the tree closes the gap, ``infeasible`` where it shows that there is
        no point, else ``feasible`` with the bound that the tree proves by then. The point is a better one than that of
        the result where the search found one; its values are in the model's variables then.

    Raises
    ------
    SolverError : no convex relaxation of the model is known.
    ParameterError : the result is one of another model.
    """
    started = time.perf_counter()
    with clock.limited(time_limit):
        program = compile_model(model)
        relaxation = relaxation_of(program)
        if result is None:
            result = solve(model, time_limit=None if time_limit is None else 0.5 * float(time_limit))
        if result.point is not None and result.point.x.shape != (program.n,):
            raise ParameterError(f"the result is not one of '{model.name}'", "solve the model again")
        search = Search(relaxation, None if result.point is None else result.point.x)
        stop = search.run()
    found = _result(relaxation, result, search)
    return replace(found, stop=stop, seconds={**result.seconds, "prove": time.perf_counter() - started})


class Search:
    """Branch and bound over the relaxations of a program.

    Parameters
    ----------
    relaxation : of the program.
    x : (n,) the first incumbent; None for none.

    Attributes
    ----------
    x, value : incumbent, and its value in the minimisation form, infinite without one.
    root : node of the tree.
    """

    def __init__(self, relaxation: Relaxation, x: Vector | None) -> None:
        self.relaxation, self.program = relaxation, relaxation.program
        self.x: Vector | None = None
        self.value = np.inf
        self.costs = PseudoCosts(len(relaxation.low))
        self.nodes = Nodes(relaxation, x)
        self.root = Node(relaxation.low, relaxation.high, -np.inf, -1)
        self.pending: list[tuple[float, int, Node]] = []
        self.number: Iterator[int] = count()
        if x is not None:
            self._offer(np.where(self.program.integer, np.round(x), x))

    @property
    def cutoff(self) -> float:
        """The bound from which on a node is pruned; the scale of the gap is that of the terms of the objective."""
        if self.x is None:
            return np.inf
        terms = np.abs(self.program.c * self.x).max(initial=0.0)
        return self.value - GAP * max(abs(self.value), float(terms))

    def _offer(self, x: Vector) -> None:
        """Take a point as the incumbent where it is feasible and better."""
        value = minimised(self.program, x)
        if value < self.value and max(primal_residual(self.program, x), violation(self.program, x)) <= FEASIBLE:
            self.x, self.value = x, value
            self.relaxation.improve(value)

    def run(self) -> str:
        """Search until the tree is closed or the time is over; return why it ended."""
        try:
            self.root = self.nodes.solve(self.relaxation.low, self.relaxation.high, None)
            self._push(self.root)
            self._round(self.root)
            while self.pending:
                if clock.expired():
                    return "time-limit"
                node: Node | None = heapq.heappop(self.pending)[2]
                while node is not None and node.bound < self.cutoff and not clock.expired():
                    node = self._step(node)
                if node is not None and node.bound < self.cutoff:
                    self._push(node)
        except KeyboardInterrupt:
            return "interrupted"
        return "optimal"

    def _push(self, node: Node) -> None:
        heapq.heappush(self.pending, (node.bound, next(self.number), node))

    def _step(self, node: Node) -> Node | None:
        """Branch on a node, and return its child with the smaller bound; None for a leaf that cannot be split."""
        if node.x is None and node.held == NOTHING:
            return None
        if node.x is None:
            violations = np.zeros(len(node.low))
        else:
            violations = self.relaxation.violations(node.x, node.low, node.high)
            violations[node.low == node.high] = 0.0
            if violations.max(initial=0.0) <= WHOLE or not self.relaxation.integer.any():
                self._round(node)
                if node.bound >= self.cutoff:
                    return None
        if node.x is None or violations.max(initial=0.0) <= WHOLE:
            return self._halve(node)
        violations[violations <= WHOLE] = 0.0
        points = self.relaxation.points(node.x, node.low, node.high)
        branching(node, violations, points, self.relaxation.integer, self.costs, self._split, self.cutoff)
        return self._next(node)

    def _next(self, node: Node) -> Node:
        first, second = sorted(node.children, key=lambda child: child.bound)
        if second.bound < self.cutoff:
            self._push(second)
        return first

    def _halve(self, node: Node) -> Node | None:
        """Branch on an integer that is not fixed, where the relaxation asks for none but its bound is too small."""
        free = np.flatnonzero(self.relaxation.integer & (node.low < node.high))
        if not len(free):
            return None
        j = int(free[0])
        at = 0.0 if node.x is None else float(np.round(node.x[j]))
        value = float(np.floor(np.clip(at, node.low[j], node.high[j] - 1.0)))
        node.branch(j, value, self._split(node, j, value))
        return self._next(node)

    def _split(self, node: Node, j: int, value: float) -> list[Node]:
        """Return the two children of a node."""
        high, low = node.high.copy(), node.low.copy()
        high[j], low[j] = value, value + self.relaxation.integer[j]
        return [self.nodes.solve(node.low, high, node), self.nodes.solve(low, node.high, node)]

    def _round(self, node: Node) -> None:
        """Look for an incumbent: the best point with the integers of a relaxation rounded."""
        if node.x is None:
            return
        integer, n = self.relaxation.integer, self.program.n
        if not integer.any():
            self._offer(node.x[:n])
            return
        whole = np.clip(np.round(node.x[: len(integer)]), node.low, node.high)
        low, high = np.where(integer, whole, node.low), np.where(integer, whole, node.high)
        if (low <= high).all():
            fixed = self.nodes.solve(low, high, None)
            if fixed.x is not None:
                self._offer(np.where(integer, whole, fixed.x[: len(integer)])[:n])


def _result(relaxation: Relaxation, result: SolveResult, search: Search) -> SolveResult:
    """Return the result with the tree, and the status that its certificate supports."""
    program, tree = relaxation.program, search.nodes.tree(search.root)
    if search.x is None:
        return _without_point(relaxation, result, tree)
    old = result.point
    same = old is not None and bool(np.array_equal(old.x, search.x))
    point = old if same and old is not None else Point(search.x)
    if not same:
        load_values(program, point, ComponentMap())
    evidence = result.evidence if same else None
    certificate = certify_point(program, point, Claim(evidence=evidence, tree=tree))
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
