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
from typing import NamedTuple

import numpy as np

from fsopt.linear.selections import Start, SvmBatch, solve_batch
from fsopt.search.branch_and_benders import compiled
from fsopt.search.branch_and_benders.cuts import BendersCut
from fsopt.search.branch_and_benders.interior_point import NodeHyperplane
from fsopt.search.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.typing import Indices, Mask, Matrix, Vector

BETTER = 1e-6
"""Relative decrease of the value from which a selection is better: above that gap."""
FIRST, ENTRIES = 8, 1 << 17
"""Programs of the first stack, and numbers in the later ones: what a processor's cache holds is fastest."""
CANDIDATES = 300
"""Features of largest gain from which a perturbation draws."""
PROGRAMS = 4
"""Exchanges that are tried for each machine without a feature, where these are limited: most end early."""
DRIFT = 0.01
"""Relative distance above the best value up to which a restart goes on from where the last one ended."""

GAP = 1e-6
"""Relative gap of the support vector machines."""
NEAREST = 1000
"""Samples nearest to the margin that an exchange is tried on, where there are more than twice as many."""
AT_ONCE = 4
"""Machines of a last feature that are solved at a time: a cut of one may make the next unnecessary."""
STEP, MULTIPLIERS = 2e5, 2**22
"""Multiplications of a step of a machine, and multipliers of all machines of a node, up to which these are solved."""
WORK, FEWEST = 2**30, 8
"""Multiplications of a step of all machines that are solved for the neighbours of a selection; at least so many."""


@dataclass(frozen=True)
class LocalSearch:
    """A search among the neighbours of selections: exchanges that cuts rule out are not tried, and at most so many.

    ``ends`` has features on the way of a descent -> the selection where it ended, as every other one from there does.
    """

    problem: SelectionProblem
    cuts: Sequence[BendersCut]
    most: int
    go_on: Callable[[], bool]
    ends: dict[bytes, Local] = field(default_factory=dict)

    def descend(self, start: Mask) -> Local | None:
        """Exchange, take in or leave out one feature of an allowed selection (p,) while that lowers the value."""
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
        """Descend from perturbed selections until that many in a row are no better."""
        rng = np.random.default_rng(seed)
        best = at = self.descend(start)
        failed = returned = 0
        while best is not None and at is not None and failed < fails and self.go_on():
            found = self.descend(self._perturbed(at, rng, min(returned, len(at.features) - 1) // 2))
            failed += 1  # one that returns to where it began makes the next perturbation larger
            same = found is not None and np.array_equal(found.features, at.features)
            returned = returned + 1 if same else 0
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
                found = neighbours.machines.best(at.features[_others(size)[[k]]], limit)
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


class Local(NamedTuple):
    """A selection: its features, its value, and the multipliers (n,) and hyperplane (s + 1,) of its SVM."""

    features: Indices
    value: float
    alpha: Vector
    hyperplane: Vector

    def mask(self, p: int) -> Mask:
        """Return the selection (p,)."""
        selection = np.zeros(p, dtype=bool)
        selection[self.features] = True
        return selection


@dataclass(frozen=True)
class Machines:
    """The samples of which the multipliers are free, None for all; the others keep theirs, ``frozen`` (n,)."""

    problem: SelectionProblem
    kept: Indices | None = None
    frozen: Vector | None = None

    @classmethod
    def near(cls, problem: SelectionProblem, at: Local) -> Machines:
        """Return the samples nearest to the margin of a selection, enough to balance the others; all where few."""
        if problem.n <= 2 * NEAREST:
            return cls(problem)
        margins = at.hyperplane[:-1] @ problem.rows(at.features) + at.hyperplane[-1] * problem.y
        distance = problem.distance(margins)
        order = np.argsort(distance, kind="stable")
        count = max(NEAREST, int(np.sum(distance == 0.0)))
        while 2 * count < problem.n:
            kept = np.sort(order[:count])
            frozen = np.where(margins < 1.0, problem.caps, 0.0)
            frozen[kept] = 0.0
            balance = float(problem.y @ frozen)
            caps = np.broadcast_to(problem.caps, problem.n)[kept]
            if float(caps[problem.y[kept] * balance < 0].sum()) >= 1.2 * abs(balance):
                return cls(problem, kept, frozen)
            count *= 2
        return cls(problem)

    @property
    def count(self) -> int:
        """The number of free samples."""
        return self.problem.n if self.kept is None else len(self.kept)

    def most(self, size: int) -> int:
        """Return how many machines on so many features are solved for the neighbours of a selection."""
        return max(FEWEST, int(WORK / (self.count * (size + 1) ** 2)))

    def solve(self, features: Indices, cutoff: float, start: Start | None = None) -> SvmBatch:
        """Return the support vector machines on selections (k, s), with the multipliers of all samples."""
        problem = self.problem
        names, places = np.unique(features, return_inverse=True)
        rows = np.vstack([problem.rows(names), problem.y])
        places = np.column_stack([places.reshape(features.shape), np.full(len(features), len(names))])
        if self.kept is None or self.frozen is None:
            return solve_batch(rows, places, problem.term, GAP, cutoff, None, start)
        total = float(self.frozen.sum())
        term, sums = problem.term.of(self.kept), (rows @ self.frozen)[places]
        found = solve_batch(rows[:, self.kept], places, term, GAP, cutoff - total, sums, start)
        alpha = np.tile(self.frozen, (len(features), 1))
        alpha[:, self.kept] = found.alpha
        return SvmBatch(alpha, found.hyperplane, found.bound + total, found.closed)

    def best(self, features: Indices, limit: float, start: Start | None = None) -> Local | None:
        """Return the best of some selections (k, s) by its primal value; None where none is below a limit."""
        problem = self.problem
        penalty = problem.lam[features].sum(axis=1)
        found = self.solve(features, limit - float(penalty.min()), start)
        lower = np.where(found.closed, found.bound + penalty, np.inf)
        for k in np.argsort(lower, kind="stable"):
            if lower[k] >= limit:
                break
            w = np.zeros(problem.p)
            w[features[k]] = found.hyperplane[k, :-1]
            selection = np.zeros(problem.p, dtype=bool)
            selection[features[k]] = True
            value, b = problem.value(selection, w)
            if value < limit:
                order = np.argsort(features[k])
                hyperplane = np.append(found.hyperplane[k, order], b)
                return Local(features[k][order], value, found.alpha[k], hyperplane)
        return None


class Neighbours(NamedTuple):
    """The selections with one feature exchanged for another, or one more.

    Attributes
    ----------
    at : the selection, of s features.
    machines : the samples of all machines here.
    bound : (s,) values of the machines without one of the features; inf for features that are kept, which are those
        of largest weight where :meth:`Machines.most` is less than s.
    alpha : (s + 1, n) multipliers of these machines, and of that on the selection itself.
    hyperplane : (s + 1, s + 2) their weights on the s features, 0 for one that comes to them, and intercepts.
    margins : (s + 1, n) of the free samples.
    """

    at: Local
    machines: Machines
    bound: Vector
    alpha: Matrix
    hyperplane: Matrix
    margins: Matrix

    @classmethod
    def of(cls, problem: SelectionProblem, at: Local) -> Neighbours:
        """Solve the machines without one of the features."""
        compiled.go_on()
        machines, size = Machines.near(problem, at), len(at.features)
        free = slice(None) if machines.kept is None else machines.kept
        rows = np.vstack([problem.rows(at.features, machines.kept), problem.y[free]])
        alone = np.insert(at.hyperplane, -1, 0.0)[None, :]
        at_alone = cls(at, machines, np.zeros(0), at.alpha[None, :], alone, at.hyperplane[None, :] @ rows)
        weight = np.where(problem.fixed.inside[at.features], np.inf, np.abs(at.hyperplane[:-1]))
        out = np.sort(np.argsort(weight, kind="stable")[: machines.most(size)])
        others = _others(size)[out]
        left = machines.solve(at.features[others], np.inf, at_alone._start(np.zeros_like(out), others))
        bound, alpha = np.full(size, np.inf), np.tile(at.alpha, (size + 1, 1))
        bound[out], alpha[out] = left.bound, left.alpha
        hyperplane = np.zeros((size + 1, size + 2))
        hyperplane[out[:, None], np.column_stack([others, np.full(len(out), size + 1)])] = left.hyperplane
        hyperplane[size] = alone
        margins = np.delete(hyperplane, size, axis=1) @ rows
        return cls(at, machines, bound, alpha, hyperplane, margins)

    def best(self, places: Indices, features: Indices, limit: float) -> Local | None:
        """Return the best exchange of the features at places (k,), s for none, for others (k,); None above a limit."""
        size = len(self.at.features)
        for out, kept in ((places < size, _others(size)), (places == size, np.arange(size)[None, :])):
            if out.any():
                rest = kept[places[out] % size if size else 0 * places[out]]
                start = self._start(places[out], np.column_stack([rest, np.full(len(rest), size)]))
                found = self.machines.best(np.column_stack([self.at.features[rest], features[out]]), limit, start)
                if found is not None:
                    return found
        return None

    def _start(self, known: Indices, places: Indices) -> Start:
        """Return where machines on the features at places (k, t), s for one that comes, begin: at known ones (k,)."""
        columns = np.column_stack([places, np.full(len(places), self.hyperplane.shape[1] - 1)])
        free = slice(None) if self.machines.kept is None else self.machines.kept
        return self.hyperplane[known[:, None], columns], self.margins[known], self.alpha[known][:, free]


def _others(size: int) -> Indices:
    """Return the places (s, s - 1) without the first, without the second, and so on."""
    return np.array([np.delete(np.arange(size), k) for k in range(size)], dtype=np.intp).reshape(size, max(size - 1, 0))


def one_left(problem: SelectionProblem, at: Partial) -> bool:
    """Return whether one feature more can be selected at a node, by the cardinality alone, by small machines."""
    s, free = int(np.count_nonzero(at.inside)), int(np.count_nonzero(at.free))
    small = problem.n * (s + 2.0) ** 2 <= STEP and problem.n * free <= MULTIPLIERS
    return problem.cardinality == s + 1 and small and problem.columns is None


def last_multipliers(
    problem: SelectionProblem, at: Partial, near: NodeHyperplane, margins: Vector, features: Indices
) -> Matrix:
    """Return the multipliers (k, n) of machines on a partial selection and one feature more, from margins (n,)."""
    inside, count = at.inside.nonzero()[0], (len(features), 1)
    start = np.append(near.w[inside], [0.0, near.b]), margins, near.alpha.astype(float)
    selections = np.column_stack([np.tile(inside, count), features])
    hyperplanes, margins, alpha = (np.tile(part, count) for part in start)
    return Machines(problem).solve(selections, np.inf, (hyperplanes, margins, alpha)).alpha
