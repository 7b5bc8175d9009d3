"""Selections of small value: rounded relaxations, elimination, exchanges of features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from fsopt.common import clock
from fsopt.search.branch_and_benders.cuts import BendersCut, Grid, Pool, bound_value, make_cut, on_grid
from fsopt.search.branch_and_benders.interior_point import Goal, NodeHyperplane
from fsopt.search.branch_and_benders.local_search import LocalSearch
from fsopt.search.branch_and_benders.nodes import NodeSolver
from fsopt.search.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.search.branch_and_benders.tree import SelectionTree
from fsopt.typing import Mask, Vector

BETTER = 1e-9
"""Relative decrease of the value from which a selection is better."""
CUTS = 16
"""Cuts of the pool that rule out exchanges."""
FREE = 2000
"""Samples up to which none is frozen in exchanges: a better one may be missed by what the frozen samples cost."""


class Incumbent(NamedTuple):
    """A selection (p,), its hyperplane w (d,) and b, and the value of both."""

    selection: Mask
    w: Vector
    b: float
    value: float


@dataclass
class Incumbents:
    """The best selection so far, and the heuristics that look for better ones.

    Attributes
    ----------
    pool, tree : take the cut of each selection that is tried.
    solver : of its support vector machine, the relaxation of a node without free features.
    gap : relative gap to which the support vector machines are solved.
    best : the incumbent; None before the first.
    tried : selections whose value is known, or known to be no better.
    """

    problem: SelectionProblem
    pool: Pool
    tree: SelectionTree
    solver: NodeSolver
    gap: float
    best: Incumbent | None = None
    tried: dict[bytes, float] = field(default_factory=dict)

    @property
    def value(self) -> float:
        """The value of the incumbent, infinite before the first."""
        return np.inf if self.best is None else self.best.value

    def try_selection(self, selection: Mask, near: NodeHyperplane | None = None) -> float:
        """Return the value of a selection, or a lower bound on it that is no better than the incumbent's.

        First by the cuts of the pool, then by samples frozen ``near`` a known hyperplane, and at last by all of them.
        """
        key, at = np.packbits(selection).tobytes(), Partial(selection, ~selection)
        if key in self.tried:
            return self.tried[key]
        lower = bound_value(self.problem, self.pool.best(at), at)
        if lower < self.value and near is not None:
            # The value of an SVM with frozen samples may be far too large; its cut is a bound.
            cut = self.solve(selection, self.value, near)[1]
            lower = lower if cut is None else bound_value(self.problem, cut, at)
        if lower < self.value * (1.0 - BETTER):
            lower = self.solve(selection, self.value)[0]
        self.tried[key] = lower
        return lower

    def solve(
        self, selection: Mask, cutoff: float = np.inf, near: NodeHyperplane | None = None
    ) -> tuple[float, BendersCut | None]:
        """Solve the support vector machine on a selection up to a cutoff, or raise OutOfTimeError within it.

        Return the value of a hyperplane, far from the optimal one where the cutoff was reached, and its cut.
        """
        found = self.solver.solve(Partial(selection, ~selection), near, Goal(self.gap, cutoff))
        if found is None:
            clock.check()
            return np.inf, None
        cut, value = self.add_cut(found.alpha), self.weigh(selection, found.hyperplane.w)
        if found.late:
            clock.check()
        return value, cut

    def weigh(self, selection: Mask, w: Vector) -> float:
        """Offer a selection with weights (d,), brought within their bounds; return its value."""
        w = self.problem.nearest(w)
        value, b = self.problem.value(selection, w)
        self.offer(Incumbent(selection.copy(), w, b, value))
        return value

    def add_cut(self, alpha: Vector, mu: Vector | None = None, *, pooled: bool = True) -> BendersCut | None:
        """Return the cut of multipliers, see :meth:`add`; None where they are not near the grid."""
        grid = on_grid(self.problem, alpha)
        return None if grid is None else self.add(grid, mu, pooled=pooled)

    def add(self, grid: Grid, mu: Vector | None = None, *, pooled: bool = True) -> BendersCut:
        """Put the cut of multipliers into the tree, where ``pooled`` into the pool, too; no mu is 0."""
        name, mu = self.tree.number(), np.zeros(len(self.problem.r)) if mu is None else mu
        self.tree.cuts[name] = (grid, mu)
        cut = make_cut(self.problem, name, grid, mu)
        if pooled:
            self.pool.add(cut)
        return cut

    def offer(self, found: Incumbent | None) -> None:
        """Take a selection as the incumbent if it is better."""
        if found is not None and (self.best is None or found.value < self.value - BETTER * abs(self.value)):
            self.best = found

    def rounded(self, score: Vector, at: Partial) -> Mask | None:
        """Return a selection of free features by falling score while the constraints allow it; None where none does."""
        problem = self.problem
        order = np.flatnonzero(at.free)
        order = order[np.argsort(-score[order], kind="stable")]
        if problem.cardinality is not None:
            selection = at.inside.copy()
            selection[order[: problem.cardinality - int(selection.sum())]] = True
            return selection
        here = problem.propagated(at)
        for j in order:
            if here is None:
                return None
            if here.inside[j] or here.outside[j]:
                continue
            wanted = bool(score[j] > 0.5 or (score[j] > 0.0 and problem.lam[j] == 0.0))
            chosen = problem.propagated(here.decided(int(j), selected=wanted))
            here = chosen if chosen is not None else problem.propagated(here.decided(int(j), selected=not wanted))
        return None if here is None or not problem.allowed(here.inside) else here.inside

    def exchange(self, most: int, go_on: Callable[[], bool], *, fails: int = 0) -> None:
        """Exchange or take or leave out a feature while that lowers the incumbent; then from perturbed selections."""
        if self.best is None or self.problem.columns is not None:  # machines of groups take longer than nodes
            return
        problem, many = (self.problem.part, True) if self.solver.many else (self.problem, False)
        cuts = [] if many else [self.pool.held[k] for k in self.pool.useful(CUTS)]
        width = np.inf if problem.n <= FREE else np.nan
        search = LocalSearch(problem, NodeSolver(problem, width, width), cuts, most, go_on)
        found = search.restarted(self.best.selection, fails, seed=0)
        if found is not None and many:  # of many samples the exchanges are those of a part
            self.try_selection(found.selection)
        elif found is not None:
            self.weigh(found.selection, found.solved.hyperplane.w)
            self.add_cut(found.solved.alpha)

    def eliminated(self, start: Mask, go_on: Callable[[], bool], *, share: float = 0.0) -> None:
        """Leave out a share of smallest weights at once, until the constraints hold, or, with penalties, to the end."""
        problem, selection = self.problem, start.copy()
        needed = problem.root()
        hyperplane: NodeHyperplane | None = None
        penalised = bool(problem.lam.any())
        while needed is not None and go_on() and (penalised or not problem.allowed(selection)):
            hyperplane = self.solver.rough(Partial(selection, ~selection), hyperplane)
            left = np.flatnonzero(selection)
            if hyperplane is None or not len(left):
                return
            if penalised and problem.allowed(selection):
                self.weigh(selection, hyperplane.w)
            weight = np.where(needed.inside[left], np.inf, problem.sizes(hyperplane.w)[left])
            count = max(1, int(share * len(left)))
            if problem.cardinality is not None:
                count = min(count, len(left) - problem.cardinality)
            drop = left[np.argsort(weight, kind="stable")[:count]]
            if np.isinf(np.sort(weight)[: len(drop)]).any():
                return
            selection[drop] = False
        if not penalised and problem.allowed(selection):
            self.try_selection(selection, hyperplane)
