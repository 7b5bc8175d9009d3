"""What closes a node: a cut, pegs by one, or the support vector machines on the selections that are left."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from fsopt.algorithms.branch_and_benders.cuts import BendersCut, CutBound, Grid, Pool
from fsopt.algorithms.branch_and_benders.incumbents import Incumbents
from fsopt.algorithms.branch_and_benders.machines import LastFeature
from fsopt.algorithms.branch_and_benders.node_programs import NodeHyperplane
from fsopt.algorithms.branch_and_benders.nodes import NodeSolver
from fsopt.algorithms.branch_and_benders.problem import BranchSettings, Partial, SelectionProblem
from fsopt.algorithms.branch_and_benders.tree import SelectionTree
from fsopt.common import clock
from fsopt.typing import Mask, Vector

CLOSED = 0.98
"""Distance of the cutoff below the incumbent, as a share of the tolerance."""


@dataclass
class Closing:
    """What a search closes nodes with, and what it has closed.

    Attributes
    ----------
    settings : of which the tolerance, the arrays of the root and two words count here.
    tree, pool, incumbents, solver : evidence, cuts, selections, relaxations.
    closed : the smallest bound of all that was closed.
    nodes : nodes so far.
    """

    problem: SelectionProblem
    settings: BranchSettings
    tree: SelectionTree = field(default_factory=SelectionTree)
    pool: Pool = field(init=False)
    incumbents: Incumbents = field(init=False)
    solver: NodeSolver = field(init=False)
    closed: float = np.inf
    nodes: int = 0

    def __post_init__(self) -> None:
        self.pool = Pool(self.problem)
        self.solver = NodeSolver(self.problem)
        tolerance = self.settings.tolerance
        self.incumbents = Incumbents(self.problem, self.pool, self.tree, self.solver, min(1e-5, 0.05 * tolerance))

    @property
    def cutoff(self) -> float:
        """The bound at which a node is pruned."""
        value = self.incumbents.value
        return value - CLOSED * self.settings.tolerance * max(1.0, abs(value)) if math.isfinite(value) else np.inf

    def _zero_cut(self) -> BendersCut:
        return self._register(np.zeros(self.problem.n, dtype=np.int32), np.zeros(len(self.problem.r)))

    def _cut_of(self, alpha: Vector, mu: Vector) -> BendersCut | None:
        grid = self.solver.numbers.on_grid(alpha, self.problem.y, self.problem.caps)
        return None if grid is None else self._register(grid, mu)

    def _register(self, grid: Grid, mu: Vector) -> BendersCut:
        name = self.tree.number()
        self.tree.cuts[name] = (grid, mu)
        cut: BendersCut = self.solver.numbers.make_cut(self.problem, name, grid, mu)
        return cut

    def _pegged(self, number: int, at: Partial, cut: BendersCut) -> Partial | None:
        """Decide the features whose other value a cut closes; None where it closes the node, which is recorded."""
        cutoff = self.cutoff
        # Each pass decides features, of which there are p.
        while True:
            here: CutBound = self.solver.numbers.bound(self.problem, cut, at)
            if here.value >= cutoff:
                self.closed = min(self.closed, here.value)
                self.tree.leaf(number, cut.name)
                return None
            without, within = here.if_not >= cutoff, here.if_selected >= cutoff  # of free features, or below the cutoff
            selected, others = without.nonzero()[0], (within & ~without).nonzero()[0]
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

    def _finish(self, number: int, at: Partial, selection: Mask, near: NodeHyperplane | None) -> None:
        """Close a node with one best selection: first with samples frozen near the parent's hyperplane, then whole."""
        cut = None if near is None else self.incumbents.solve(selection, self.cutoff, near)[1]
        value = self.solver.numbers.value
        if cut is None or value(self.problem, cut, at) < self.cutoff:
            cut = self.incumbents.solve(selection, self.cutoff)[1]
        cut = self._zero_cut() if cut is None else cut
        self.closed = min(self.closed, value(self.problem, cut, at))
        self.tree.leaf(number, cut.name)

    def _last_feature(self, number: int, at: Partial, near: NodeHyperplane, gains: Vector) -> None:
        """Close a node where one feature more can be selected, given a hyperplane and the gains of its cut."""
        machines = LastFeature.of(self.solver, at, near)
        rest: Partial | None = at
        while rest is not None:
            clock.check()
            left = (~rest.outside & ~at.inside).nonzero()[0]
            if not len(left):
                self._finish(number, rest, rest.inside, near)
                return
            tried = left[np.argsort(-gains[left], kind="stable")[: machines.most]]
            for j, alpha in zip(tried.tolist(), machines.multipliers(tried), strict=True):
                if rest is None or rest.outside[j]:
                    continue
                self.nodes += 1
                cut = self._cut_of(alpha, np.zeros(len(self.problem.r)))
                if cut is not None:
                    gains, rest = cut.gains, self._pegged(number, rest, cut)
                if rest is not None and not rest.outside[j]:
                    number, rest = self._decided(number, rest, j)

    def _decided(self, number: int, at: Partial, j: int) -> tuple[int, Partial | None]:
        """Close the selection with a feature alone; return the node without it, None where every selection has it."""
        if at.inside[j]:
            self._finish(number, at, at.inside, None)
            return number, None
        without, within = self.tree.branch(number, j)
        chosen = at.decided(j, selected=True).inside
        self._finish(within, Partial(chosen, ~chosen), chosen, None)
        return without, at.decided(j, selected=False)
