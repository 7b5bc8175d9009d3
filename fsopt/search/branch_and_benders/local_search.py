r"""Selections that no exchange of one feature improves, and restarts from perturbed ones.

With :math:`\alpha^{-i}` and :math:`F^{-i}` of the support vector machine without feature i of a selection S, every
exchange of i for a feature j has

.. math:: F(S \setminus i \cup j) \ge F^{-i} - \tfrac12 q_j(\alpha^{-i})^2, \qquad q = Z'\alpha,

a bound for all j by one product. It orders the exchanges and, with the cuts of the search, rules out most; what is left
is solved, each program until its dual shows that it is no better. Of many selected features those of smallest weight
are exchanged, in fewer exchanges, so that a pass takes the time of one with a hundred features. Of many samples those
far from the margin keep their multipliers, and a value counts that is the primal one.
All numbers here are those of a heuristic: the search solves a selection that it takes from here again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from fsopt.search.branch_and_benders.cuts import BendersCut
from fsopt.search.branch_and_benders.machines import Local, Machines, Neighbours
from fsopt.search.branch_and_benders.problem import SelectionProblem
from fsopt.typing import Indices, Mask, Matrix, Vector

BETTER = 1e-6
"""Relative decrease of the value from which a selection is better: above that gap."""
FIRST, ENTRIES = 8, 1 << 17
"""Programs of the first stack, and numbers in the later ones: what a processor's cache holds is fastest."""
CANDIDATES = 300
"""Features of largest gain from which a perturbation draws."""
COVERED = 0.995
"""Share of the starts whose ends are known at which restarts are enough: 21 restarts with one end, or 36 with two."""
PROGRAMS = 4
"""Exchanges that are tried for each machine without a feature, where these are limited: most end early."""
DRIFT = 0.01
"""Relative distance above the best value up to which a restart goes on from where the last one ended."""


@dataclass(frozen=True)
class LocalSearch:
    """A search among the neighbours of selections.

    Attributes
    ----------
    cuts : of the branch and bound, to rule out exchanges.
    most : exchanges that are tried from one selection, those of the smallest bounds.
    go_on : looks at the clock.
    ends : features on the way of a descent -> the selection where it ended, which every other one from there reaches.
    """

    problem: SelectionProblem
    cuts: Sequence[BendersCut]
    most: int
    go_on: Callable[[], bool]
    ends: dict[bytes, Local] = field(default_factory=dict)

    def descend(self, start: Mask) -> Local | None:
        """Exchange, take in or leave out one feature while that lowers the value; None where an SVM fails.

        Parameters
        ----------
        start : an allowed selection (p,).
        """
        at = Machines(self.problem).best(np.flatnonzero(start)[None, :], np.inf)
        way: list[bytes] = []
        # The value falls in each pass, of finitely many selections.
        while at is not None and self.go_on():
            way.append(at.features.tobytes())
            better = self.ends.get(way[-1]) or self._neighbour(at)
            if better is None or better is at:
                break
            at = better
        if at is not None:
            self.ends.update(dict.fromkeys(way, at))
        return at

    def restarted(self, start: Mask, fails: int, seed: int) -> Local | None:
        """Descend from perturbed selections until that many in a row are no better, or all likely ends are known.

        A descent that returns to where it began makes the next perturbation larger. None where an SVM fails.
        """
        rng = np.random.default_rng(seed)
        best = at = self.descend(start)
        ended: list[bytes] = []
        failed = returned = 0
        while best is not None and at is not None and failed < fails and not _enough(ended) and self.go_on():
            found = self.descend(self._perturbed(at, rng, min(returned, len(at.features) - 1) // 2))
            ended.append(b"" if found is None else found.features.tobytes())
            failed += 1
            returned = returned + 1 if ended[-1] == at.features.tobytes() else 0
            if found is not None and found.value < best.value - BETTER * abs(best.value):
                best, failed = found, 0
            if found is not None and found.value <= best.value + DRIFT * abs(best.value):
                at = found
        return best

    def _perturbed(self, at: Local, rng: np.random.Generator, more: int) -> Mask:
        """Return a selection with one or two features, and more, exchanged at random for some of large gain."""
        problem, selection = self.problem, at.mask(self.problem.p)
        for _ in range(int(rng.integers(1, 3)) + more):
            features = np.flatnonzero(selection)
            allowed = exchanges(problem, features)[:-1]
            places = np.flatnonzero(allowed.any(axis=1))
            if not len(places):
                break
            i = int(rng.choice(places))
            rest = np.delete(features, i)
            left = Machines(problem).solve(rest[None, :], np.inf)
            gain = 0.5 * problem.products(left.alpha[0]) ** 2 - problem.lam
            likely = np.flatnonzero(allowed[i])
            likely = likely[np.argsort(-gain[likely], kind="stable")[:CANDIDATES]]
            selection[features[i]] = False
            selection[int(rng.choice(likely))] = True
        return selection

    def _neighbour(self, at: Local) -> Local | None:
        """Return a better selection one exchange away; None where none was found."""
        problem, size = self.problem, len(at.features)
        limit = at.value - BETTER * abs(at.value)
        neighbours = Neighbours.of(problem, at)
        penalty = problem.lam[at.features]
        dropped = neighbours.bound + penalty.sum() - penalty
        for k in np.argsort(dropped, kind="stable"):
            if dropped[k] >= limit:
                break
            if problem.allowed(np.isin(np.arange(problem.p), np.delete(at.features, k))):
                found = neighbours.without(int(k), limit)
                if found is not None:
                    return found
        most = min(self.most, PROGRAMS * neighbours.machines.most(size))
        pairs = self._ordered(at, neighbours.alpha, np.append(dropped, at.value), limit, most)
        place, step = 0, FIRST
        while place < len(pairs) and self.go_on():
            found = neighbours.best(*np.divmod(pairs[place : place + step], problem.p), limit)
            if found is not None:
                return found
            place += step
            step = max(1, min(2 * step, ENTRIES // (neighbours.machines.count * (size + 1))))
        return None

    def _ordered(self, at: Local, alpha: Matrix, values: Vector, limit: float, most: int) -> Indices:
        """Return the allowed exchanges, place times p plus feature, of smallest bounds below a limit."""
        problem = self.problem
        lower = values[:, None] - 0.5 * problem.products(alpha) ** 2 + problem.lam
        lower[~exchanges(problem, at.features)] = np.inf
        for cut in self.cuts:
            lost = np.append(cut.gains[at.features], 0.0)
            base = cut.constant - lost.sum() + lost
            lower[base[:, None] - cut.gains >= limit] = np.inf
        flat = lower.ravel()
        order = np.flatnonzero(flat < limit)
        if len(order) > most:
            order = order[np.argpartition(flat[order], most)[:most]]
        return np.asarray(order[np.argsort(flat[order], kind="stable")])


def _enough(ended: list[bytes]) -> bool:
    """Return whether another descent hardly ends elsewhere than N descents did, in W distinct selections."""
    # The share of the starts from which a descent ends in one of these is (N - W - 1)(N + W) / (N(N - 1)) in
    # expectation: Boender and Rinnooy Kan, "Bayesian stopping rules for multistart global optimization methods",
    # Mathematical Programming 37, 1987.
    count, distinct = len(ended), len(set(ended))
    return (count - distinct - 1) * (count + distinct) >= COVERED * count * (count - 1) > 0


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
