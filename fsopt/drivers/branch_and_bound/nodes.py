"""The nodes of branch and bound: relaxations solved warm, and bounds recomputed from their multipliers."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from fsopt.answers.certificate import REMAINDER
from fsopt.answers.results import Point
from fsopt.answers.trees import LEAF, NOTHING, Tree, halves
from fsopt.certificates.bounds import no_objective
from fsopt.certificates.points import minimised
from fsopt.certificates.relaxations import Relaxation
from fsopt.certificates.trees import curved, leaf_bound, leaf_bounds
from fsopt.common import clock
from fsopt.compiler import Program
from fsopt.compiler.classes import program_class
from fsopt.errors import SolverError
from fsopt.solvers.connection import Connection
from fsopt.solvers.interface import Change, Settings
from fsopt.solvers.mending import tries
from fsopt.solvers.proof_programs import elastic_program
from fsopt.solvers.registry import choose
from fsopt.typing import Vector

MEND = 5.0
"""Seconds that a mend of multipliers may take."""
MISSED = 1e-7
"""Distance of a bound from the optimum of its relaxation, relative to it, from which the multipliers are mended."""
NOWHERE = np.zeros(0)

Multipliers: TypeAlias = tuple[sp.csr_matrix, bool]
"""Multipliers (1, k), and whether they are a Farkas vector."""


@dataclass
class Node:
    """A box with its bound.

    Attributes
    ----------
    low, high : (n,) bounds of the variables.
    bound : that the multipliers prove; before its relaxation is solved those of its parent.
    held : its multipliers; None for none.
    x : (n,) optimum of the relaxation; None without one.
    solved : whether the relaxation was solved, as far as it can be.
    cutoff : value of the incumbent for whose relaxation it was, infinite where the relaxation knows none.
    column, value, children : branching variable, its value, and the two boxes; :data:`fsopt.answers.trees.LEAF` and
        none before a branching.

    An inner node has only bound and branching: all else is that of the leaves below it.
    """

    low: Vector
    high: Vector
    bound: float = -np.inf
    held: Multipliers | None = None
    x: Vector | None = None
    solved: bool = False
    cutoff: float = np.inf
    column: int = LEAF
    value: float = 0.0
    children: list[Node] = field(default_factory=list)

    def branch(self, column: int, value: float, children: list[Node]) -> None:
        """Set the branching of the node."""
        self.column, self.value = column, value
        self.children = children

    def clear(self) -> None:
        """Free what an inner node has no use for."""
        self.low = self.high = NOWHERE
        self.x = self.held = None


class Nodes:
    """The relaxations of one search.

    Parameters
    ----------
    relaxation : of the program.

    Attributes
    ----------
    solves : number of relaxations solved.
    """

    def __init__(self, relaxation: Relaxation) -> None:
        self.relaxation = relaxation
        self.solves = 0
        self.loaded: Program | None = None
        self.connection: Connection | None = None

    def solve(self, node: Node) -> None:
        """Solve the relaxation of a node; its multipliers change where the new ones bound it better."""
        program = self.relaxation.at(node.low, node.high)
        outcome = self._connected(program).solve(clock.left())
        self.solves += 1
        node.x, node.cutoff = None, self.relaxation.cutoff
        node.solved = outcome.stop not in ("time-limit", "interrupted")
        if outcome.point is not None:
            node.x = outcome.point.x
            self._take(node, program, outcome.point, ray=False)
        elif outcome.ray is not None:
            self._take(node, program, outcome.ray, ray=True)
        if node.x is None and node.bound < np.inf and node.solved:
            self._elastic(node, program)

    def grow(self, node: Node, tree: Tree) -> list[Node]:
        """Put a tree below an open node, and return its leaves: their bounds are recomputed, what they held is kept.

        Raises
        ------
        FileError : the tree is none of the program.
        """
        found = iter(list(leaf_bounds(self.relaxation, tree, (node.low, node.high))))
        leaves, pending = [], [node]
        kept = [(tree.multipliers[[k]], ray) for k, ray in enumerate(tree.ray.tolist())]
        for column, value in zip(tree.column.tolist(), tree.value.tolist(), strict=True):
            at = pending.pop()
            if column != LEAF:
                whole = bool(self.relaxation.integer[column])
                boxes = halves(at.low, at.high, column, value, whole=whole)
                at.branch(column, value, [Node(low, high) for low, high in boxes])
                at.clear()
                pending += reversed(at.children)
                continue
            leaf = next(found)
            if leaf.place != NOTHING:
                at.bound, at.held = leaf.bound, kept[leaf.place]
            leaves.append(at)
        return leaves

    def _connected(self, program: Program) -> Connection:
        """Return the solver with a program loaded: the same one, warm, where only bounds changed."""
        if program is self.loaded and self.connection is not None:
            if self.connection.update(Change(objective=True, bounds=True)) is None:
                return self.connection
        elif self.loaded is not program:
            self.spec = choose(None, program_class(program), program.model.name, program)
        own = {"presolve": "off"} if self.spec.name == "highs" else {}
        self.loaded, self.connection = program, Connection(self.spec, program, Settings(own=own))
        return self.connection

    def _take(self, node: Node, program: Program, found: Point, *, ray: bool) -> None:
        """Keep multipliers that bound a node better than those it has; those that say too little are mended as well."""
        if found.y is None or found.z is None:
            return
        size = max(np.abs(found.y).max(initial=0.0), np.abs(found.z).max(initial=0.0), 1e-300) if ray else 1.0
        pair = Point(np.zeros(program.n) if ray else found.x, found.y / size, found.z / size)
        # The rounding errors of an interior point in cones that a contradiction of the rows does not need would keep
        # it from being made exact.
        first = [Point(pair.x, pair.y, np.zeros_like(pair.z))] if ray and found.z.any() else []
        kept = [self._kept(node, program, held, ray) for held in [*first, pair]]
        if ray and any(kept):
            return
        least = np.inf if ray else minimised(program, pair.x)
        if node.bound >= least - MISSED * max(1.0, abs(least)):
            return
        goal = no_objective(program) if ray else program
        for mend in tries(goal, pair, time.perf_counter() + MEND):
            if self._kept(node, program, mend, ray) and (ray or node.bound >= least - MISSED * max(1.0, abs(least))):
                return

    def _kept(self, node: Node, program: Program, pair: Point, ray: bool) -> bool:
        """Keep multipliers where they bound a node better than those it has, and return whether they do."""
        u = np.zeros(len(curved(program))) if ray else pair.x[curved(program)]
        held = np.concatenate([*pair.multipliers, u])
        if not np.isfinite(held).all():
            return False
        bound, remainder = leaf_bound(program, held, ray, self.relaxation.ranges())
        if remainder > REMAINDER or not bound > node.bound:
            return False
        node.bound, node.held = bound, (sp.csr_matrix(held), ray)
        return True

    def _elastic(self, node: Node, program: Program) -> None:
        """Bound a node whose relaxation seems to have no point, by the multipliers of the least violation."""
        try:
            elastic = elastic_program(program)
            spec = choose(None, program_class(elastic), program.model.name, elastic)
            found = Connection(spec, elastic, Settings()).solve(clock.left()).point
        except SolverError:
            return
        if found is not None:
            self._take(node, program, found, ray=True)

    def tree(self, root: Node) -> Tree:
        """Return the tree below a root, with the multipliers of its leaves only."""
        order = preorder(root)
        used = list({id(node.held): node.held for node in order if node.column == LEAF and node.held}.values())
        place = {id(held): k for k, held in enumerate(used)} | {id(None): NOTHING}
        return Tree(
            np.array([node.column for node in order]),
            np.array([node.value if node.children else place[id(node.held)] for node in order], dtype=float),
            np.array([ray for _, ray in used], dtype=bool),
            sp.vstack([row for row, _ in used], format="csr") if used else sp.csr_matrix((0, 0)),
        )


def preorder(root: Node) -> list[Node]:
    """Return the nodes of the tree below a root, the lower child first."""
    order: list[Node] = []
    pending = [root]
    while pending:
        order.append(pending.pop())
        pending += reversed(order[-1].children)
    return order
