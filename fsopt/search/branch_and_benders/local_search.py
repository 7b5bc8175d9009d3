r"""Selections that no exchange of one feature improves, and restarts from perturbed ones.

With :math:`\alpha^{-i}` and :math:`F^{-i}` of the support vector machine without feature i of a selection S, every
exchange of i for a feature j has

.. math:: F(S \setminus i \cup j) \ge F^{-i} - \tfrac12 q_j(\alpha^{-i})^2, \qquad q = Z'\alpha,

a bound for all j by one product. It orders the exchanges and, with the cuts of the search, rules out most; what is left
is solved, each program until its dual shows that it is no better. Of many selected features those of smallest weight
are exchanged, in fewer exchanges, so that a pass takes the time of one with a hundred features.
All numbers here are those of a heuristic: the search solves a selection that it takes from here again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fsopt.search.branch_and_benders import compiled
from fsopt.search.branch_and_benders.cuts import BendersCut
from fsopt.search.branch_and_benders.interior_point import Goal, NodeHyperplane, Solved
from fsopt.search.branch_and_benders.nodes import NodeSolver
from fsopt.search.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.typing import Indices, Mask

BETTER = 1e-6
"""Relative decrease of the value from which a selection is better: above that gap."""
GAP = 1e-6
"""Relative gap of the support vector machines."""
CANDIDATES = 300
"""Features of largest gain from which a perturbation draws."""
PROGRAMS = 4
"""Exchanges that are tried for each machine without a feature, where these are limited: most end early."""
DRIFT = 0.01
"""Relative distance above the best value up to which a restart goes on from where the last one ended."""
WORK, FEWEST = 2**30, 8
"""Multiplications of a step of all machines that are solved for the neighbours of a selection; at least so many."""


class Local(NamedTuple):
    """A selection (p,), the value of its hyperplane, and its support vector machine as it was solved."""

    selection: Mask
    value: float
    solved: Solved


@dataclass(frozen=True)
class LocalSearch:
    """A search among the neighbours of selections: exchanges that cuts rule out are not tried, and at most so many."""

    problem: SelectionProblem
    solver: NodeSolver
    cuts: Sequence[BendersCut]
    most: int
    go_on: Callable[[], bool]

    def descend(self, start: Mask) -> Local | None:
        """Exchange, take in or leave out one feature of an allowed selection (p,) while that lowers the value."""
        better = at = self._below(start, self._machine(start, None, np.inf), np.inf)
        # The value falls in each pass, of finitely many selections.
        while better is not None and self.go_on():
            at, better = better, self._neighbour(better)
        return at

    def restarted(self, start: Mask, fails: int, seed: int) -> Local | None:
        """Descend from perturbed selections until that many in a row are no better."""
        rng = np.random.default_rng(seed)
        best = at = self.descend(start)
        failed = 0
        while best is not None and at is not None and failed < fails and self.go_on():
            found = self.descend(self._perturbed(at, rng))
            failed += 1
            if found is not None and found.value < best.value - BETTER * abs(best.value):
                best, failed = found, 0
            if found is not None and found.value <= best.value + DRIFT * abs(best.value):
                at = found
        return best

    def _perturbed(self, at: Local, rng: np.random.Generator) -> Mask:
        """Return a selection with one to three features exchanged at random for some of large gain."""
        problem, selection = self.problem, at.selection.copy()
        for _ in range(int(rng.integers(1, 4))):
            features = np.flatnonzero(selection)
            allowed = exchanges(problem, features)[:-1]
            places = np.flatnonzero(allowed.any(axis=1))
            if not len(places):
                break
            i = int(rng.choice(places))
            left = self._machine(_exchanged(selection, features[i]), at.solved.hyperplane, np.inf)
            if left is None:
                break
            gain = problem.halves(problem.products(left.alpha)) - problem.lam
            likely = np.flatnonzero(allowed[i])
            likely = likely[np.argsort(-gain[likely], kind="stable")[:CANDIDATES]]
            selection = _exchanged(selection, features[i], int(rng.choice(likely)))
        return selection

    def _neighbour(self, at: Local) -> Local | None:
        """Return a better selection one exchange away; None where none was found."""
        compiled.go_on()
        problem, near = self.problem, at.solved.hyperplane
        limit, features = at.value - BETTER * abs(at.value), np.flatnonzero(at.selection)
        most = max(FEWEST, int(WORK / (problem.n * (len(features) + 1) ** 2)))
        weight = np.where(problem.fixed.inside[features], np.inf, problem.sizes(near.w)[features])
        places = np.argsort(weight, kind="stable")[: min(most, int(np.isfinite(weight).sum()))]
        known = [(len(features), at.solved)]
        for place in places.tolist():
            left = _exchanged(at.selection, features[place])
            found = self._machine(left, near, np.inf)
            better = self._below(left, found, limit) if problem.allowed(left) else None
            if better is not None:
                return better
            known += [] if found is None else [(place, found)]
        for (place, machine), j in self._ordered(features, known, limit, min(self.most, PROGRAMS * most)):
            if not self.go_on():
                break
            other = _exchanged(at.selection, *features[place : place + 1], j)
            better = self._below(other, self._machine(other, machine.hyperplane, limit), limit)
            if better is not None:
                return better
        return None

    def _ordered(
        self, features: Indices, known: Sequence[tuple[int, Solved]], limit: float, most: int
    ) -> Iterator[tuple[tuple[int, Solved], int]]:
        """Yield allowed exchanges of smallest bounds below a limit: the machine without a feature, and another one."""
        problem, places = self.problem, [place for place, _ in known]
        alpha, values = np.array([one.alpha for _, one in known]), np.array([one.bound for _, one in known])
        lower = values[:, None] - problem.halves(problem.products(alpha)) + problem.lam
        lower[~exchanges(problem, features)[places]] = np.inf
        for cut in self.cuts:
            lost = np.append(cut.gains[features], 0.0)
            base = (cut.constant - lost.sum() + lost)[places]
            lower[base[:, None] - cut.gains >= limit] = np.inf
        flat = lower.ravel()
        order = np.flatnonzero(flat < limit)
        if len(order) > most:
            order = order[np.argpartition(flat[order], most)[:most]]
        for k, j in zip(*np.divmod(order[np.argsort(flat[order], kind="stable")], problem.p), strict=True):
            yield known[k], int(j)

    def _machine(self, selection: Mask, near: NodeHyperplane | None, cutoff: float) -> Solved | None:
        """Return the support vector machine on a selection up to a cutoff, from a hyperplane near it."""
        return self.solver.solve(Partial(selection, ~selection), near, Goal(GAP, cutoff))

    def _below(self, selection: Mask, found: Solved | None, limit: float) -> Local | None:
        """Return a selection with the value of its hyperplane; None where that is not below a limit."""
        if found is None or found.bound >= limit:
            return None
        value = self.problem.value(selection, found.hyperplane.w)[0]
        return Local(selection, value, found) if value < limit else None


def _exchanged(selection: Mask, *features: int) -> Mask:
    """Return a selection with features left out that it has, and taken in that it has not."""
    found = selection.copy()
    found[list(features)] ^= True
    return found


def exchanges(problem: SelectionProblem, features: Indices) -> Mask:
    """Return which exchanges (s + 1, p) of a selected feature for another are allowed; the last row only takes in."""
    left = problem.r + problem.tolerances - problem.R[:, features].sum(axis=1)
    lost = np.append(problem.R[:, features], np.zeros((len(problem.r), 1)), axis=1)
    allowed = np.tile(~problem.fixed.outside, (len(features) + 1, 1))
    allowed[:, features] = False
    allowed[:-1][problem.fixed.inside[features]] = False
    for row, out, rest in zip(problem.R, lost, left, strict=True):
        allowed &= row <= (rest + out)[:, None]
    return allowed
