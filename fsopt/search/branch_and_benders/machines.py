"""Support vector machines on the neighbours of a selection, one after the other.

Each begins at the hyperplane and the multipliers of the machine whose selection it changes by a feature.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.linear.batch import Start, SvmBatch, solve_batch
from fsopt.search.branch_and_benders import compiled
from fsopt.search.branch_and_benders.nodes import NodeHyperplane, NodeSolver
from fsopt.search.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.typing import Indices, Mask, Matrix, Vector

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
class Local:
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
    """The samples of which the multipliers are free: all, or those near a margin; the others keep theirs.

    Attributes
    ----------
    kept : places of the free ones, None for all.
    frozen : (n,) multipliers of the others, 0 for the free ones; None for no others.
    """

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


@dataclass(frozen=True)
class Neighbours:
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

    def without(self, place: int, limit: float) -> Local | None:
        """Return the selection without a feature; None where it is not below a limit."""
        return self.machines.best(self.at.features[_others(len(self.at.features))[[place]]], limit)

    def best(self, places: Indices, features: Indices, limit: float) -> Local | None:
        """Return the best of some exchanges of the features at places (k,), s for none of them, for others (k,).

        None where none is below a limit; exchanges come before selections with one more feature.
        """
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


@dataclass(frozen=True)
class LastFeature:
    r"""The machines on a partial selection and one feature more, which begin at the hyperplane of its relaxation.

    The relaxation of such a node shares the last feature among all that are free, and its bound is far below that of
    any of them. With the features of I selected, and one of J to come,

    .. math:: \min_{j \in J} F(I \cup j) = \min_{j \in J}\ \max_{0 \le \alpha \le \bar\alpha,\ y'\alpha = 0}
              \psi(\alpha) - \tfrac12 \sum_{i \in I \cup j} q_i(\alpha)^2

    takes one small program for each j, of which the best cut of another leaves some.

    Attributes
    ----------
    inside : the selected features (s,).
    start : hyperplane (s + 2,), 0 for the feature to come, and its margins and multipliers (n,).
    """

    problem: SelectionProblem
    inside: Indices
    start: tuple[Vector, Vector, Vector]

    @classmethod
    def of(cls, solver: NodeSolver, at: Partial, near: NodeHyperplane) -> LastFeature:
        """Return the machines of a node whose relaxation has a hyperplane."""
        problem, inside = solver.problem, at.inside.nonzero()[0]
        alpha = np.full(problem.n, -1.0) if near.alpha is None else near.alpha.astype(float)
        return cls(problem, inside, (np.append(near.w[inside], [0.0, near.b]), solver.margins(near), alpha))

    def multipliers(self, features: Indices) -> Matrix:
        """Return the multipliers (k, n) of the machines with one of some features (k,) each.

        To the end, not to a cutoff alone: near the optimum a cut closes more of the other selections.
        """
        count = (len(features), 1)
        hyperplane, margins, alpha = (np.tile(part, count) for part in self.start)
        selections = np.column_stack([np.tile(self.inside, count), features])
        return Machines(self.problem).solve(selections, np.inf, (hyperplane, margins, alpha)).alpha
