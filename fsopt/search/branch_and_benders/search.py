"""The loop over nodes: pool, pegs, relaxation, rounding, branching, closing. All of its state can be saved and sent.

The branching rule takes the feature whose exclusion is expected to raise the bound most. Of each feature the search
keeps what its exclusions raised the bound by, for each unit of its weight :math:`|w_j|`, the norm of those of a group
(pseudo-costs): their sum and their number, (2, p). The first branchings take the largest :math:`|w_j|`. Gains that
reach the cutoff count up to there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from fsopt.common import clock
from fsopt.search.branch_and_benders import compiled, cuts
from fsopt.search.branch_and_benders.coverage import Coverage
from fsopt.search.branch_and_benders.cuts import BendersCut, CutBound, Grid, Pool
from fsopt.search.branch_and_benders.incumbents import Incumbent, Incumbents
from fsopt.search.branch_and_benders.interior_point import Goal, NodeHyperplane
from fsopt.search.branch_and_benders.local_search import GAP
from fsopt.search.branch_and_benders.nodes import NodeSolver
from fsopt.search.branch_and_benders.problem import BranchSettings, Partial, SelectionProblem
from fsopt.search.branch_and_benders.tree import EMPTY, LEAF, PEG, Frontier, SelectionTree
from fsopt.typing import Matrix, Vector

SMALLEST = 0.1
"""A weight counts as at least this share of the largest one: what a tiny weight seems to gain says nothing."""
SHARES = 1e-4, 0.999
"""A share sigma between these is fractional."""


def learn(pseudo_costs: Matrix, feature: int, sizes: Vector, gain: float) -> None:
    """Count the gain of a branching, but one without an incumbent to compare with."""
    if np.isfinite(gain):
        smallest = max(SMALLEST * float(sizes.max()), 1e-9)
        pseudo_costs[:, feature] += max(gain, 0.0) / max(float(sizes[feature]), smallest), 1.0


def branching_feature(pseudo_costs: Matrix, at: Partial, sigma: Vector, sizes: Vector) -> int:
    """Return the free feature of largest expected gain, a fractional one where there are any."""
    free = at.free.nonzero()[0]
    share = sigma[free]
    fractional = free[(share > SHARES[0]) & (share < SHARES[1])]
    chosen = fractional if len(fractional) else free
    total, count = pseudo_costs
    seen = float(count.sum())
    mean = float(total.sum()) / seen if seen else 1.0
    unit = (total[chosen] + mean) / (count[chosen] + 1.0)  # the mean of all counts as one observation of each
    return int(chosen[np.argmax(unit * sizes[chosen])])


BRANCH_GAP = 0.5
"""Share of the distance to the cutoff at which the relaxation of a node to be branched is exact enough."""
ROUNDED, ROUNDED_EVERY = 64, 4
"""Nodes up to which each relaxation is rounded before its node is branched; later that of one in so many."""
CLOSED = 0.98
"""Distance of the cutoff below the incumbent, as a share of the tolerance."""
STEP = 2e5
"""Multiplications of a step of a machine, and a twentieth of its products with the free features, up to which machines
with one feature more are solved in place of relaxations."""
CLOSE = 16
"""Exchanges that are tried from a new incumbent."""


class SelectionNode(NamedTuple):
    """An open node: its number, partial selection, bound, and the cut and hyperplane of its relaxation.

    The hyperplane is None where only the cut is known: of a search that was resumed.
    """

    number: int
    at: Partial
    bound: float
    cut: BendersCut
    hyperplane: NodeHyperplane | None


class SelectionSearch:
    """A branch and bound over partial selections.

    Attributes
    ----------
    settings : of which the tolerance and ``thorough`` count here.
    tree, pool, incumbents, solver : evidence, cuts, selections, relaxations.
    pseudo_costs : (2, p), of the branching rule.
    closed_bound : the smallest bound of all that was closed.
    nodes : nodes so far.
    frontier : open nodes, with those that tasks have.
    solved : relaxations solved.
    begun : whether the root is complete, see :mod:`fsopt.search.branch_and_benders.root`.
    """

    def __init__(self, problem: SelectionProblem, settings: BranchSettings, tree: SelectionTree | None = None) -> None:
        """Begin without a root, with the tree of another search where there is one."""
        self.problem, self.settings = problem, settings
        self.tree = SelectionTree() if tree is None else tree
        self.pool, self.solver = Pool(problem), NodeSolver(problem)
        gap = min(1e-5, 0.05 * settings.tolerance)
        self.incumbents = Incumbents(problem, self.pool, self.tree, self.solver, gap)
        self.pseudo_costs, self.closed_bound = np.zeros((2, problem.p)), np.inf
        self.frontier = Frontier()
        self.nodes = self.solved = 0
        self.begun = False

    @property
    def bound(self) -> float:
        """The lower bound on the problem."""
        return min(self.closed_bound, self.frontier.bound, self.incumbents.value)

    @property
    def cutoff(self) -> float:
        """The bound at which a node is pruned."""
        value = self.incumbents.value
        return value - CLOSED * self.settings.tolerance * max(1.0, abs(value)) if math.isfinite(value) else np.inf

    def run(self, nodes: int, go_on: Callable[[], bool]) -> None:
        """Branch until no node is open, that many more were visited, or the clock stops; a late node is open again."""
        last = self.nodes + nodes
        while self.frontier and self.nodes < last and go_on():
            with self._visit() as node:
                self._branch(node)

    def open_root(self, at: Partial) -> None:
        """Make the root an open node, by coverage, or the cut of alpha = 0, until its relaxation is solved."""
        known = self.zero_cut(), Coverage.of(self.problem).cut
        cut = max(known, key=lambda one: cuts.bound_value(self.problem, one, at))
        self.frontier.push(SelectionNode(0, at, cuts.bound_value(self.problem, cut, at), cut, self._unknown))

    def solve_root(self) -> None:
        """Solve the relaxation of the open root; raises OutOfTimeError, and leaves it open, where there is no time."""
        with self._visit() as root:
            self.solve(0, root.at, None, [root.cut])

    @contextmanager
    def _visit(self) -> Iterator[SelectionNode]:
        """Visit the open node of the smallest bound; an interrupted visit leaves the tree as it was."""
        compiled.go_on()
        first, closed_bound = self.tree.next, self.closed_bound
        node = self.frontier.pop(0)
        kept = len(self.tree.marks.get(node.number, ()))
        try:
            yield node
        except BaseException:
            self.tree.cut_back(node.number, kept, first)
            self.frontier.replace(node, *(other for other in self.frontier if other.number < first))
            self.closed_bound = closed_bound
            raise

    def forget(self, most: int) -> None:
        """Drop the multipliers that nothing needs, and of leaves the oldest where they take over ``most`` bytes."""
        nodes = {node.cut.name for node in self.frontier}
        self.tree.forget(nodes | set(self.pool.names), most)

    def seed(self, grids: Sequence[Grid]) -> None:
        """Put the cuts of multipliers that are known into the pool."""
        for grid in grids:
            self.incumbents.add(grid)

    def _branch(self, node: SelectionNode) -> None:
        """Visit an open node: decide the features that its cut does, round it, and branch on a feature."""
        at = self._pegged(node.number, node.at, node.cut)
        if at is None:
            return
        if node.hyperplane is None:
            self.solve(node.number, at, None, [node.cut])
            return
        inside, free = int(np.count_nonzero(at.inside)), int(np.count_nonzero(at.free))
        small = self.problem.n * max((inside + 2) ** 2, free // 20) <= STEP
        if small and self.problem.cardinality == inside + 1:
            self._last_feature(node, at)
            return
        if self.nodes < ROUNDED or self.nodes % ROUNDED_EVERY == 0:
            self._round(at, node.hyperplane)
        if not at.free.any():
            self._child(node.number, at, node)
            return
        sizes = self.problem.sizes(node.hyperplane.w)
        j = branching_feature(self.pseudo_costs, at, node.hyperplane.sigma, sizes)
        without, within = self.tree.branch(node.number, j)
        child = self._child(without, at.decided(j, selected=False), node)
        learn(self.pseudo_costs, j, sizes, (self.cutoff if child is None else child) - node.bound)
        self._child(within, at.decided(j, selected=True), node)

    def _child(self, number: int, at: Partial, parent: SelectionNode) -> float | None:
        """Bound a child by the pool, then by its relaxation; return its bound where it stays open."""
        self.nodes += 1
        here = self.problem.propagated(at)
        if here is None:
            self.tree.mark(number, EMPTY)
            return None
        known = [parent.cut, self.pool.best(here)]
        for cut in known:
            here = self._pegged(number, here, cut)
            if here is None:
                return None
        return self.solve(number, here, parent.hyperplane, known)

    def solve(
        self, number: int, at: Partial, hyperplane: NodeHyperplane | None, known: list[BendersCut]
    ) -> float | None:
        """Solve the relaxation of a node; return its bound where it stays open.

        ``known`` are cuts that do not close the node. The best cut becomes that of the node: its bound is never below
        that of its parent, and follows from one cut.
        """
        if not at.free.any():
            self._finish(number, at, hyperplane)
            return None
        self.solved += 1
        goal = Goal(0.1 * self.settings.tolerance, self.cutoff, BRANCH_GAP if number else 0.0)
        found = self.solver.solve(at, hyperplane, goal)
        if found is None or found.late:
            clock.check()
        cut = None if found is None else self.incumbents.add_cut(found.alpha, found.mu)
        if found is None or cut is None:  # the node stays open, and is branched by what is known
            hyperplane = self._unknown if hyperplane is None else hyperplane
        else:
            hyperplane = found.hyperplane
            known = [*known, cut]
            if (here := self._pegged(number, at, cut)) is None:
                return None
            at = here
        values = [cuts.bound_value(self.problem, c, at) for c in known]
        best = known[int(np.argmax(values))]
        self.frontier.push(SelectionNode(number, at, max(values), best, hyperplane))
        return max(values)

    @property
    def _unknown(self) -> NodeHyperplane:
        """The hyperplane of a node whose relaxation failed, without a parent's."""
        n, d = self.problem.n, self.problem.width
        return NodeHyperplane(np.zeros(d), 0.0, np.full(self.problem.p, 0.5), np.zeros(n, dtype=np.float32))

    def _round(self, at: Partial, hyperplane: NodeHyperplane) -> None:
        """Try the rounded relaxation, and exchanges from it where it becomes the incumbent."""
        selection = self.incumbents.rounded(hyperplane.sigma + 1e-9 * self.problem.sizes(hyperplane.w), at)
        if selection is None:
            return
        before = self.incumbents.best
        self.incumbents.try_selection(selection, hyperplane)
        if self.incumbents.best is not before:
            self.incumbents.exchange(CLOSE, lambda: not clock.expired())

    def zero_cut(self) -> BendersCut:
        """Return the cut of alpha = 0, which holds for all problems."""
        return self.incumbents.add(np.zeros(self.problem.n, dtype=np.int32))

    def _pegged(self, number: int, at: Partial, cut: BendersCut) -> Partial | None:
        """Decide the features whose other value a cut closes; None where it closes the node, which is recorded."""
        cutoff = self.cutoff
        # Each pass decides features, of which there are p.
        while True:
            here: CutBound = cuts.bound(self.problem, cut, at)
            if here.value >= cutoff:
                self.closed_bound = min(self.closed_bound, here.value)
                self.tree.mark(number, LEAF, cut.name)
                return None
            without, within = here.if_not >= cutoff, here.if_selected >= cutoff  # of free features, or below the cutoff
            selected, others = without.nonzero()[0], (within & ~without).nonzero()[0]
            if not len(selected) and not len(others):
                return at
            values = [here.if_not[selected].min(initial=np.inf), here.if_selected[others].min(initial=np.inf)]
            self.closed_bound = min(self.closed_bound, *values)
            self.tree.mark(number, PEG, cut.name, [*(selected + 1).tolist(), *(-others - 1).tolist()])
            left = self.problem.propagated(at.decided(selected, selected=True).decided(others, selected=False))
            if left is None:
                self.tree.mark(number, EMPTY)
                return None
            at = left

    def _finish(self, number: int, at: Partial, near: NodeHyperplane | None) -> None:
        """Close a node of one selection: first with samples frozen near the parent's hyperplane, then whole."""
        cut = None if near is None else self.incumbents.solve(at.inside, self.cutoff, near)[1]
        bound_value = cuts.bound_value
        if cut is None or bound_value(self.problem, cut, at) < self.cutoff:
            cut = self.incumbents.solve(at.inside, self.cutoff)[1]
        cut = self.zero_cut() if cut is None else cut
        self.closed_bound = min(self.closed_bound, bound_value(self.problem, cut, at))
        self.tree.mark(number, LEAF, cut.name)

    def _last_feature(self, node: SelectionNode, at: Partial) -> None:
        """Close a node where one feature more can be selected, by cuts of the machines of those of largest gain."""
        number, gains = node.number, node.cut.gains
        rest: Partial | None = at
        while rest is not None and rest.free.any():
            free = rest.free.nonzero()[0]
            j = int(free[np.argmax(gains[free])])
            chosen = rest.decided(j, selected=True).inside
            self.nodes += 1
            enough = self.cutoff + self.settings.tolerance * max(1.0, abs(self.cutoff))  # the value of the incumbent
            found = self.solver.solve(Partial(chosen, ~chosen), node.hyperplane, Goal(GAP, enough))
            clock.check()
            cut = None if found is None else self.incumbents.add_cut(found.alpha, pooled=False)
            if cut is not None:
                gains, rest = cut.gains, self._pegged(number, rest, cut)
            if rest is not None and rest.free[j]:  # it is better than the incumbent, or as good
                number, within = self.tree.branch(number, j)
                self._finish(within, Partial(chosen, ~chosen), None)
                rest = rest.decided(j, selected=False)
        if rest is not None:
            self._finish(number, rest, node.hyperplane)


class Enumeration(SelectionSearch):
    """A search for all selections up to a limit, or the best so many: a node below the cutoff stays open until it is
    one selection, which is kept by the number of its node.
    """

    def __init__(self, problem: SelectionProblem, settings: BranchSettings, limit: float, count: int | None) -> None:
        """Begin without selections."""
        super().__init__(problem, settings)
        self.limit, self.count = limit, count
        self.found: dict[int, Incumbent] = {}

    @property
    def cutoff(self) -> float:
        """The value above which selections are not wanted."""
        if self.count is None or len(self.found) < self.count:
            return self.limit
        return min(self.limit, sorted(one.value for one in self.found.values())[self.count - 1])

    @property
    def bound(self) -> float:
        """A lower bound on the values of the selections that were not found."""
        return min(self.closed_bound, self.frontier.bound)

    def _finish(self, number: int, at: Partial, near: NodeHyperplane | None) -> None:
        """Keep the selection of a node, or close it by the cut of its support vector machine."""
        self.incumbents.best = None
        value, cut = self.incumbents.solve(at.inside)
        own, self.incumbents.best = self.incumbents.best, None
        if own is not None and (value <= self.cutoff or cut is None):
            self.found[number] = own
            return
        assert cut is not None
        self.closed_bound = min(self.closed_bound, cuts.bound_value(self.problem, cut, at))
        self.tree.mark(number, LEAF, cut.name)

    def _round(self, at: Partial, hyperplane: NodeHyperplane) -> None:
        """Look for no incumbents: every selection below the cutoff is found in its own node."""
