"""The loop over nodes: pool, pegs, relaxation, rounding, branching. All of its state can be saved and sent."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from fsopt.drivers.branch_and_benders.cuts import Bound, Cut, Grid, Pool, bound, make_cut, on_grid
from fsopt.drivers.branch_and_benders.incumbents import Incumbents
from fsopt.drivers.branch_and_benders.interior_point import Goal
from fsopt.drivers.branch_and_benders.nodes import NodeSolution, NodeSolver, Plane
from fsopt.drivers.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.drivers.branch_and_benders.tree import Tree
from fsopt.typing import Indices, Mask, Vector

CLOSED = 0.98
"""Distance of the cutoff below the incumbent, as a share of the tolerance."""
RACE = 40
"""Branchings in which the two rules are tried in turn before one of them is taken."""
FEWEST, CLEAR = 8, 1.5
"""The race ends after that many branchings where the mean progress of one rule is that many times the other's: the
first branchings matter most."""
OPEN_CHILDREN = 1
"""Children without the feature that stay open before the child with all features is solved."""
CLOSED_CHILDREN = 8
"""Children without the feature that are closed one after another before that."""
BRANCH_GAP = 0.1
"""Share of the distance to the cutoff at which the relaxation of a node to be branched is exact enough."""


@dataclass(frozen=True)
class Node:
    """An open node: its number, partial selection, bound, and the cut and hyperplane of its relaxation."""

    number: int
    at: Partial
    bound: float
    cut: Cut
    plane: Plane


@dataclass
class Race:
    """The two branching rules, their mean progress in the first branchings, and the winner.

    Attributes
    ----------
    count, progress : of both rules: largest weight, most fractional.
    """

    count: list[int] = field(default_factory=lambda: [0, 0])
    progress: list[float] = field(default_factory=lambda: [0.0, 0.0])

    @property
    def rule(self) -> int:
        """The rule of the next branching: 0 the largest |w|, 1 the most fractional share."""
        if not self.over:
            return int(self.count[1] < self.count[0])
        return int(self.means[1] > self.means[0])

    @property
    def means(self) -> tuple[float, float]:
        """Mean progress of both rules."""
        first, second = (p / max(k, 1) for p, k in zip(self.progress, self.count, strict=True))
        return first, second

    @property
    def over(self) -> bool:
        """Whether the winner is known."""
        tried = sum(self.count)
        return tried >= RACE or (tried >= FEWEST and max(self.means) > CLEAR * min(self.means))

    def report(self, rule: int, progress: float) -> None:
        """Count a branching and its progress in [0, 2], the shares of the distance to the cutoff of both children."""
        if not self.over:
            self.count[rule] += 1
            self.progress[rule] += progress


@dataclass
class Search:
    """A branch and bound over partial selections.

    Attributes
    ----------
    tolerance : relative optimality gap.
    tree, pool, incumbents, solver, race : evidence, cuts, selections, relaxations, branching rules.
    heap : open nodes, by bound and number.
    closed : the smallest bound of all that was closed.
    nodes, solved : nodes so far, and relaxations solved.
    """

    problem: SelectionProblem
    tolerance: float
    tree: Tree = field(default_factory=Tree)
    pool: Pool = field(init=False)
    incumbents: Incumbents = field(init=False)
    solver: NodeSolver = field(init=False)
    race: Race = field(default_factory=Race)
    heap: list[tuple[float, int, Node]] = field(default_factory=list)
    closed: float = np.inf
    nodes: int = 0
    solved: int = 0

    def __post_init__(self) -> None:
        self.pool = Pool(self.problem)
        self.solver = NodeSolver(self.problem)
        self.incumbents = Incumbents(self.problem, self.pool, self.tree, self.solver, min(1e-5, 0.05 * self.tolerance))

    @property
    def cutoff(self) -> float:
        """The bound at which a node is pruned."""
        value = self.incumbents.value
        return value - CLOSED * self.tolerance * max(1.0, abs(value)) if np.isfinite(value) else np.inf

    @property
    def bound(self) -> float:
        """The lower bound on the problem."""
        opened = self.heap[0][0] if self.heap else np.inf
        return min(self.closed, opened, self.incumbents.value)

    def run(self, nodes: int, go_on: Callable[[], bool]) -> None:
        """Branch until no node is open, or that many more nodes were visited, or the clock says stop."""
        last = self.nodes + nodes
        while self.heap and self.nodes < last and go_on():
            _, _, node = heapq.heappop(self.heap)
            self._branch(node)

    def seed(self, grids: Sequence[Grid]) -> None:
        """Put the cuts of multipliers that are known into the pool."""
        for grid in grids:
            self.pool.add(self._register(grid, np.zeros(len(self.problem.r))))

    def push(self, node: Node) -> None:
        """Add an open node."""
        heapq.heappush(self.heap, (node.bound, node.number, node))

    # -- one node -----------------------------------------------------------------------------------------

    def _branch(self, node: Node) -> None:
        """Visit an open node: branch on one feature after another until a child without it stays open."""
        at = self._pegged(node.number, node.at, node.cut)
        if at is None:
            return
        self._round(at, node.plane)
        number = node.number
        opened = closed = 0
        rule = self.race.rule
        distance = max(self.cutoff - node.bound, 1e-12)
        progress = 0.0
        for j in self._candidates(at, node.plane, rule):
            if at.inside[j] or at.outside[j]:
                continue
            without, number = self.tree.branch(number, int(j))
            child = self._child(without, at.decided(int(j), selected=False), node)
            progress += 1.0 if child is None else min((child - node.bound) / distance, 1.0)
            opened, closed = (opened, closed + 1) if child is None else (opened + 1, closed)
            inside = self.problem.propagated(at.decided(int(j), selected=True))
            if inside is None:
                self.tree.empty(number)
                self.race.report(rule, progress / (opened + closed) + 1.0)
                return
            at_or_none = self._pegged(number, inside, node.cut)
            if at_or_none is None:
                self.race.report(rule, progress / (opened + closed) + 1.0)
                return
            at = at_or_none
            if opened >= OPEN_CHILDREN or closed >= CLOSED_CHILDREN or not at.free.any():
                break
        with_all = self._child(number, at, node)
        share = 1.0 if with_all is None else min((with_all - node.bound) / distance, 1.0)
        self.race.report(rule, progress / max(opened + closed, 1) + share)

    def _child(self, number: int, at: Partial, parent: Node) -> float | None:
        """Bound a child by the pool, then by its relaxation; return its bound where it stays open."""
        self.nodes += 1
        here = self.problem.propagated(at)
        if here is None:
            self.tree.empty(number)
            return None
        cut = self.pool.best(here, self.cutoff)
        for known in (parent.cut, cut):
            if known is not None:
                here = self._pegged(number, here, known)
                if here is None:
                    return None
        return self.solve(number, here, parent.plane, [parent.cut] if cut is None else [parent.cut, cut])

    def solve(self, number: int, at: Partial, plane: Plane | None, known: list[Cut]) -> float | None:
        """Solve the relaxation of a node; return its bound where it stays open.

        ``known`` are cuts that do not close the node. The best cut becomes that of the node: its bound is never below
        that of its parent, and follows from one cut.
        """
        complete = self._complete(at)
        if complete is not None:
            self._finish(number, at, complete)
            return None
        self.solved += 1
        goal = Goal(0.1 * self.tolerance, self.cutoff, BRANCH_GAP if plane is not None else 0.0)
        found = self.solver.solve(at, plane, goal)
        cut = None if found is None else self._cut_of(found)
        if found is None or cut is None:  # the node stays open, and is branched by what is known
            plane = self._unknown if plane is None else plane
        else:
            plane = found.plane
            self.pool.add(cut)
            known = [*known, cut]
            here = self._pegged(number, at, cut)
            if here is None:
                return None
            at = here
        values = [bound(self.problem, c, at).value for c in known] or [0.0]
        best = known[int(np.argmax(values))] if known else self._zero_cut()
        self.push(Node(number, at, max(values), best, plane))
        return max(values)

    @property
    def _unknown(self) -> Plane:
        """The plane of a node whose relaxation failed, without a parent's."""
        n, p = self.problem.n, self.problem.p
        return Plane(np.zeros(p), 0.0, np.full(p, 0.5), np.zeros(n, dtype=np.float32))

    def _zero_cut(self) -> Cut:
        grid = np.zeros(self.problem.n, dtype=np.int32)
        return self._register(grid, np.zeros(len(self.problem.r)))

    def _cut_of(self, found: NodeSolution) -> Cut | None:
        grid = on_grid(found.alpha, self.problem.y, self.problem.caps)
        return None if grid is None else self._register(grid, found.mu)

    def _register(self, grid: Grid, mu: Vector) -> Cut:
        name = self.tree.number()
        self.tree.cuts[name] = (grid, mu)
        return make_cut(self.problem, name, grid, mu)

    def _pegged(self, number: int, at: Partial, cut: Cut) -> Partial | None:
        """Decide the features whose other value a cut closes; None where it closes the node, which is recorded."""
        cutoff = self.cutoff
        # Each pass decides features, of which there are p.
        while True:
            here: Bound = bound(self.problem, cut, at)
            if here.value >= cutoff:
                self.closed = min(self.closed, here.value)
                self.tree.leaf(number, cut.name)
                return None
            free = at.free
            selected = np.flatnonzero(free & (here.if_not >= cutoff))
            others = np.flatnonzero(free & (here.if_selected >= cutoff) & ~(here.if_not >= cutoff))
            if not len(selected) and not len(others):
                return at
            values = [here.if_not[selected].min(initial=np.inf), here.if_selected[others].min(initial=np.inf)]
            self.closed = min(self.closed, *values)
            self.tree.peg(number, cut.name, selected, others)
            left = self.problem.propagated(at.decided(selected, selected=True).decided(others, selected=False))
            if left is None:
                self.tree.empty(number)
                return None
            at = left

    def _complete(self, at: Partial) -> Mask | None:
        """Return the selection that is best below a node without a relaxation; None where there may be several."""
        if not at.free.any():
            return at.inside
        most = self.problem.cardinality
        if most is not None and int((~at.outside).sum()) <= most:
            return ~at.outside
        return None

    def _finish(self, number: int, at: Partial, selection: Mask) -> None:
        """Close a node below which one selection is best, by the support vector machine on it."""
        _, cut = self.incumbents.solve(selection, self.cutoff)
        cut = self._zero_cut() if cut is None else cut
        self.closed = min(self.closed, bound(self.problem, cut, at).value)
        self.tree.leaf(number, cut.name)

    def _round(self, at: Partial, plane: Plane) -> None:
        """Try the rounded relaxation, and exchanges from it where it becomes the incumbent."""
        score = plane.sigma + 1e-9 * np.abs(plane.w)
        selection = self.incumbents.rounded(score, at)
        if selection is None:
            return
        before = self.incumbents.best
        self.incumbents.try_selection(selection, plane)
        if self.incumbents.best is not before:
            left = iter(range(200))
            self.incumbents.exchange(lambda: next(left, None) is not None, close=True)

    def _candidates(self, at: Partial, plane: Plane, rule: int) -> Indices:
        """Return the free features in the order of a branching rule, fractional ones first."""
        free = np.flatnonzero(at.free)
        share = plane.sigma[free]
        fractional = free[(share > 1e-4) & (share < 0.999)]
        chosen = fractional if len(fractional) else free
        share = plane.sigma[chosen]
        key = np.abs(plane.w[chosen]) if rule == 0 else -np.abs(share - 0.5)
        return chosen[np.argsort(-key, kind="stable")]
