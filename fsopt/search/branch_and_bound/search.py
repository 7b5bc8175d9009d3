"""The search of an integer program: relaxation, incumbent, branching, and its tree."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from fsopt.answers.certificate import FEASIBLE
from fsopt.answers.trees import LEAF, NOTHING, Tree, halves
from fsopt.certificates.points import infeasibility, judged_point, minimised
from fsopt.certificates.relaxations import Relaxation
from fsopt.certificates.trees import leaf_bounds
from fsopt.search.branch_and_bound.branching import branching, no_costs
from fsopt.search.branch_and_bound.nodes import MEND, Multipliers, Node, Nodes
from fsopt.search.frontier import Frontier
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
    first : the first number of its nodes but the root, which is 0.

    Attributes
    ----------
    x, value : incumbent, and its value in the minimisation form, infinite without one.
    frontier, diving : open nodes, and the one beside them that comes next; None for none.
    branchings : number of a node -> its variable, value, and the number of its lower child; the upper one is the next.
    closed : number of a node that is pruned -> its multipliers.
    costs : see :mod:`fsopt.search.branch_and_bound.branching`.
    """

    def __init__(self, relaxation: Relaxation, first: int = 1) -> None:
        self.relaxation, self.program = relaxation, relaxation.program
        self.x: Vector | None = None
        self.value = np.inf
        self.costs = no_costs(len(relaxation.low))
        self.nodes = Nodes(relaxation)
        self.frontier: Frontier[Node] = Frontier()
        self.diving: Node | None = None
        self.branchings: dict[int, tuple[int, float, int]] = {}
        self.closed: dict[int, Multipliers | None] = {}
        self.next = first

    @property
    def cutoff(self) -> float:
        """The bound from which on a node is pruned; the scale of the gap is that of the terms of the objective."""
        if self.x is None:
            return np.inf
        terms = np.abs(self.program.c * self.x).max(initial=0.0)
        return self.value - GAP * max(abs(self.value), float(terms))

    def offer(self, x: Vector | None) -> None:
        """Take a point as the incumbent where it is feasible and better."""
        if x is None:
            return
        x = judged_point(self.program, x)
        if infeasibility(self.program, x) > FEASIBLE and minimised(self.program, x) < self.value:
            x = moved(self.program, x, time.perf_counter() + MEND)
        value = minimised(self.program, x)
        if value < self.value and infeasibility(self.program, x) <= FEASIBLE:
            self.x, self.value = x, value
            self.relaxation.improve(value)

    def begin(self, tree: Tree | None = None) -> None:
        """Open the root; or the leaves of a tree, to go on from it: their bounds are recomputed.

        Raises
        ------
        FileError : the tree is none of the program.
        """
        if tree is None:
            root = Node(self.relaxation.low, self.relaxation.high)
            self.nodes.solve(root)
            self.frontier.push(root)
            self._round(root)
            return
        leaves = iter(list(leaf_bounds(self.relaxation, tree)))
        rows = [(tree.multipliers[[k]], ray) for k, ray in enumerate(tree.ray.tolist())]
        pending = [0]
        for column, value in zip(tree.column.tolist(), tree.value.tolist(), strict=True):
            number = pending.pop()
            if column == LEAF:
                leaf = next(leaves)
                known = None if leaf.place == NOTHING else rows[leaf.place]
                self.frontier.push(Node(leaf.low, leaf.high, number, leaf.bound, known))
            else:
                lower = self._branched(number, column, value)
                pending += [lower + 1, lower]

    def run(self, go_on: Callable[[], bool]) -> None:
        """Search until no node is open, or it may not go on between two nodes; children come before other nodes."""
        while (self.diving or self.frontier) and go_on():
            node = self.diving or self.frontier.pop()
            self.diving = self._step(node) if node.bound < self.cutoff else None
            if self.diving is None:
                self.closed[node.number] = node.multipliers
        if self.diving is not None:
            self._open(self.diving)
            self.diving = None

    def _open(self, node: Node) -> None:
        """Make a node an open one, or prune it."""
        if node.bound < self.cutoff:
            self.frontier.push(node)
        else:
            self.closed[node.number] = node.multipliers

    def _step(self, node: Node) -> Node | None:
        """Branch on a node, and return its child with the smaller bound; None for a leaf that cannot be split."""
        if not node.solved or node.cutoff > self.relaxation.cutoff:
            self.nodes.solve(node)  # the point of an earlier box may be none of the box that a better incumbent leaves
            if node.bound >= self.cutoff:
                return None
        if node.x is None and node.multipliers is None:
            return None
        integer = self.relaxation.integer
        violations = np.zeros(len(node.low))
        if node.x is not None:
            violations = self.relaxation.violations(node.x, node.low, node.high)
            violations[node.low == node.high] = 0.0
            if violations.max(initial=0.0) <= WHOLE or not integer.any():
                self._round(node)
                if node.bound >= self.cutoff:
                    return None
        if node.x is None or violations.max(initial=0.0) <= WHOLE:
            return self._halve(node)
        violations[violations <= WHOLE] = 0.0
        points = self.relaxation.points(node.x, node.low, node.high)

        def split(j: int, value: float) -> list[Node]:
            return self._split(node, j, value)

        return self._branch(node, *branching(node, violations, points, integer, self.costs, split, self.cutoff))

    def _halve(self, node: Node) -> Node | None:
        """Branch on an integer that is not fixed, where the relaxation asks for none but its bound is too small."""
        free = np.flatnonzero(self.relaxation.integer & (node.low < node.high))
        if not len(free):
            return None
        j = int(free[0])
        at = 0.0 if node.x is None else float(np.round(node.x[j]))
        value = float(np.floor(np.clip(at, node.low[j], node.high[j] - 1.0)))
        return self._branch(node, j, value, self._split(node, j, value))

    def _split(self, node: Node, j: int, value: float) -> list[Node]:
        """Return the two children of a node; the multipliers of their parent count where they bound them better."""
        boxes = halves(node.low, node.high, j, value, whole=bool(self.relaxation.integer[j]))
        children = [Node(low, high, 0, node.bound, node.multipliers) for low, high in boxes]
        for child in children:
            self.nodes.solve(child)
        return children

    def _branch(self, node: Node, j: int, value: float, children: list[Node]) -> Node:
        """Put a branching into the tree, open the child of larger bound, and return the other one."""
        lower = self._branched(node.number, j, value)
        for k, child in enumerate(children):
            child.number = lower + k
        first, second = sorted(children, key=lambda child: child.bound)
        self._open(second)
        return first

    def _branched(self, number: int, j: int, value: float) -> int:
        """Put a branching into the tree, and return the number of the lower child."""
        lower, self.next = self.next, self.next + 2
        self.branchings[number] = (j, value, lower)
        return lower

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

    def tree(self) -> Tree:
        """Return the tree, with the multipliers of its leaves."""
        opened = [*self.frontier.nodes, *([] if self.diving is None else [self.diving])]
        leaves = self.closed | {node.number: node.multipliers for node in opened}
        used: dict[int, tuple[int, Multipliers]] = {}
        nodes: list[tuple[int, float]] = []
        pending = [0]
        while pending:
            number = pending.pop()
            if number in self.branchings:
                j, at, lower = self.branchings[number]
                nodes.append((j, at))
                pending += [lower + 1, lower]
            else:
                known = leaves[number]
                place = NOTHING if known is None else used.setdefault(id(known), (len(used), known))[0]
                nodes.append((LEAF, float(place)))
        rows = [known for _, known in used.values()]
        return Tree(
            np.array([j for j, _ in nodes]),
            np.array([at for _, at in nodes]),
            np.array([ray for _, ray in rows], dtype=bool),
            sp.vstack([row for row, _ in rows], format="csr") if rows else sp.csr_matrix((0, 0)),
        )
