"""The loop over nodes: relaxation, incumbent, branching. Its state is its tree, and what it learned."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator
from itertools import count

import numpy as np

from fsopt.answers.certificate import FEASIBLE
from fsopt.answers.trees import Tree, halves
from fsopt.certificates.points import infeasibility, judged_point, minimised
from fsopt.certificates.relaxations import Relaxation
from fsopt.drivers.branch_and_bound.branching import PseudoCosts, branching
from fsopt.drivers.branch_and_bound.nodes import MEND, Node, Nodes
from fsopt.solvers.mending import moved
from fsopt.typing import Vector

GAP = 2e-7
"""Relative gap to the incumbent at which a node is pruned, well within that of an optimum."""
WHOLE = 1e-6
"""Distance from a whole number up to which an integer of a relaxation counts as one."""


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
    heap : open nodes, by bound and number.
    """

    def __init__(self, relaxation: Relaxation, x: Vector | None) -> None:
        self.relaxation, self.program = relaxation, relaxation.program
        self.x: Vector | None = None
        self.value = np.inf
        self.costs = PseudoCosts.none(len(relaxation.low))
        self.nodes = Nodes(relaxation)
        self.root = Node(relaxation.low, relaxation.high)
        self.heap: list[tuple[float, int, Node]] = []
        self.number: Iterator[int] = count()
        if x is not None:
            self.offer(x)

    @property
    def cutoff(self) -> float:
        """The bound from which on a node is pruned; the scale of the gap is that of the terms of the objective."""
        if self.x is None:
            return np.inf
        terms = np.abs(self.program.c * self.x).max(initial=0.0)
        return self.value - GAP * max(abs(self.value), float(terms))

    def offer(self, x: Vector) -> None:
        """Take a point as the incumbent where it is feasible and better."""
        x = judged_point(self.program, x)
        if infeasibility(self.program, x) > FEASIBLE and minimised(self.program, x) < self.value:
            x = moved(self.program, x, time.perf_counter() + MEND)
        value = minimised(self.program, x)
        if value < self.value and infeasibility(self.program, x) <= FEASIBLE:
            self.x, self.value = x, value
            self.relaxation.improve(value)

    def push(self, node: Node) -> None:
        """Add an open node."""
        heapq.heappush(self.heap, (node.bound, next(self.number), node))

    def begin(self, tree: Tree | None = None) -> None:
        """Open the root; or the leaves of a tree, to go on from it.

        Raises
        ------
        FileError : the tree is none of the program.
        """
        if tree is None:
            self.nodes.solve(self.root)
            self.push(self.root)
            self._round(self.root)
            return
        for leaf in self.nodes.grow(self.root, tree):
            self.push(leaf)

    def run(self, go_on: Callable[[], bool]) -> None:
        """Search until no node is open, or the clock says stop between two nodes."""
        while self.heap and go_on():
            node: Node | None = heapq.heappop(self.heap)[2]
            while node is not None and node.bound < self.cutoff and go_on():
                node = self._step(node)
            if node is not None and node.bound < self.cutoff:
                self.push(node)

    def _step(self, node: Node) -> Node | None:
        """Branch on a node, and return its child with the smaller bound; None for a leaf that cannot be split."""
        if not node.solved or node.cutoff > self.relaxation.cutoff:
            self.nodes.solve(node)  # the point of an earlier box may be none of the box that a better incumbent leaves
            if node.bound >= self.cutoff:
                return None
        if node.x is None and node.held is None:
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
        node.clear()
        first, second = sorted(node.children, key=lambda child: child.bound)
        if second.bound < self.cutoff:
            self.push(second)
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
        """Return the two children of a node; the multipliers of their parent count where they bound them better."""
        boxes = halves(node.low, node.high, j, value, whole=bool(self.relaxation.integer[j]))
        children = [Node(low, high, node.bound, node.held) for low, high in boxes]
        for child in children:
            self.nodes.solve(child)
        return children

    def _round(self, node: Node) -> None:
        """Look for an incumbent: the best point with the integers of a relaxation rounded."""
        if node.x is None:
            return
        integer, n = self.relaxation.integer, self.program.n
        if not integer.any():
            self.offer(node.x[:n])
            return
        whole = np.clip(np.round(node.x[: len(integer)]), node.low, node.high)
        low, high = np.where(integer, whole, node.low), np.where(integer, whole, node.high)
        if (low <= high).all():
            fixed = Node(low, high)
            self.nodes.solve(fixed)
            if fixed.x is not None:
                self.offer(np.where(integer, whole, fixed.x[: len(integer)])[:n])
