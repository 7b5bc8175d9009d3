"""The relaxation of a node as a smaller program: samples far from the margin frozen, features out of reach left out.

Both keep every bound valid. A frozen alpha restricts the dual; the cut of the resulting alpha is computed for all
features, so that a feature left out costs bound, never validity, and is taken in where it costs too much.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fsopt.algorithms.branch_and_benders.interior_point import Goal, Solved, solve
from fsopt.algorithms.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.algorithms.branch_and_benders.relaxation import Floats, Iterate, Relaxation, warm
from fsopt.common import clock
from fsopt.typing import Indices, Vector

WIDTHS = (0.3, 0.65)
"""Quantiles of the distance from the margin: the first and the largest within which samples are not frozen."""
FEWEST = 80
"""Samples that are never frozen, if there are as many."""
WHOLE = 150
"""Free features up to which all are in the program."""
ROUNDS = 12
"""Largest number of rounds in which features are taken in."""


@dataclass(frozen=True)
class NodeHyperplane:
    """A hyperplane, the shares of the features and the multipliers, of a parent.

    Attributes
    ----------
    w, b : (p,) and scalar; ``sigma`` : (p,).
    alpha : (n,) in single precision; None where only the hyperplane is known.
    """

    w: Vector
    b: float
    sigma: Vector
    alpha: Floats | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the hyperplane for a pickle by the few features with a weight or a share."""
        places = np.flatnonzero((self.w != 0.0) | (self.sigma != 0.0))
        return _of_few, (len(self.w), places, self.w[places], self.b, self.sigma[places], self.alpha)


def _of_few(p: int, places: Indices, w: Vector, b: float, sigma: Vector, alpha: Floats | None) -> NodeHyperplane:
    found = NodeHyperplane(np.zeros(p), b, np.zeros(p), alpha)
    found.w[places], found.sigma[places] = w, sigma
    return found


@dataclass(frozen=True)
class NodeSolution:
    """The relaxation of a node: multipliers alpha (n,) and mu (k,), its hyperplane and dual value; late or not."""

    alpha: Vector
    mu: Vector
    hyperplane: NodeHyperplane
    bound: float
    late: bool = False


@dataclass
class NodeSolver:
    """Solves relaxations, and adapts how many samples are frozen to what that costs.

    Attributes
    ----------
    width : distance from the margin from which samples are frozen; nan before the first node.
    widest : its upper bound.
    likely : shares (p,) by which a relaxation without a parent takes its first features; None where none are known.
    """

    problem: SelectionProblem
    width: float = float("nan")
    widest: float = float("nan")
    likely: Vector | None = None

    def solve(self, at: Partial, parent: NodeHyperplane | None, goal: Goal) -> NodeSolution | None:
        """Return the relaxation of a node, at least to the goal of its reduced program; None without any bound."""
        margins = None
        if parent is not None:
            margins = self.problem.scores(parent.w) + parent.b * self.problem.y
        kept, frozen = self._frozen(margins)
        features = self._features(at, self.likely if parent is None else parent.sigma)
        found = None
        for _ in range(ROUNDS):
            start = None
            program = self._program(at, features, kept, frozen)
            if parent is not None and margins is not None:
                start = _warm(program, parent, features, at, margins, kept)
            solved = solve(program, goal, start)
            if solved is None:
                if kept is None or clock.expired():
                    return found
                kept = frozen = None
                continue
            found = self._unfolded(solved, at, features, kept, frozen)
            missing = self._missing(found, at, features, goal)
            if not len(missing) or solved.late:
                break
            features = np.sort(np.append(features, missing))
        if found is not None and margins is not None and frozen is not None:
            self._adapt(found, margins, kept, goal)
        return found

    def _frozen(self, margins: Vector | None) -> tuple[Indices | None, Indices | None]:
        """Return the samples that are kept, and those frozen at C; None where none is frozen."""
        problem = self.problem
        if margins is None or problem.n <= FEWEST:
            return None, None
        distance = problem.distance(margins)
        if np.isnan(self.width):
            self.width, self.widest = (float(v) for v in np.quantile(np.abs(margins - 1.0), WIDTHS))
        width = max(self.width, float(np.partition(distance, FEWEST - 1)[FEWEST - 1]))
        # Each pass widens: the kept samples must be able to balance those frozen at C.
        for _ in range(6):
            kept = distance <= width
            count = int(kept.sum())
            if count > 0.75 * problem.n:
                return None, None
            high = ~kept & (margins < 1.0)
            balance = float(problem.y[high].sum())
            other = int((problem.y[kept] < 0).sum() if balance > 0 else (problem.y[kept] > 0).sum())
            if other >= 1.2 * abs(balance):
                return np.flatnonzero(kept), np.flatnonzero(high)
            width *= 1.5
        return None, None

    def _features(self, at: Partial, shares: Vector | None) -> Indices:
        """Return the free features in the program: all of few, else those with a share, or the largest |q|, before."""
        free = np.flatnonzero(at.free)
        if len(free) <= WHOLE:
            return free
        if shares is None:
            y = self.problem.y
            alpha = np.where(y > 0, 1.0 / max((y > 0).sum(), 1), 1.0 / max((y < 0).sum(), 1))
            size = np.abs(self.problem.products(alpha))[free]
            return np.sort(free[np.argsort(-size, kind="stable")[:WHOLE]])
        likely = free[shares[free] > 1e-3]
        if len(likely) < WHOLE:
            rest = np.setdiff1d(free, likely)
            order = np.argsort(-shares[rest], kind="stable")
            likely = np.append(likely, rest[order[: WHOLE - len(likely)]])
        return np.sort(likely)

    def _program(self, at: Partial, features: Indices, kept: Indices | None, frozen: Indices | None) -> Relaxation:
        problem = self.problem
        inside = np.flatnonzero(at.inside)
        rows = np.vstack([problem.rows(np.append(inside, features)), problem.y])
        q = np.zeros(len(rows) - 1)
        constant, balance = float(problem.lam[inside].sum()), 0.0
        if frozen is not None:
            q = problem.sums(rows[:-1, frozen], frozen)
            constant += float(problem.sums(np.ones((1, len(frozen))), frozen)[0])
            balance = float(problem.sums(problem.y[None, frozen], frozen)[0])
        rows = rows if kept is None else np.take(rows, kept, axis=1)
        left = problem.r + problem.tolerances - problem.R[:, inside].sum(axis=1)
        R = problem.R[:, features]
        # A constraint that no free feature can violate has the multiplier 0.
        active = np.maximum(R, 0.0).sum(axis=1) > left
        lam, selected = problem.lam[features], len(inside)
        term = problem.term.of(kept)
        return Relaxation(rows.T, term, selected, R[active], left[active], lam, q, constant, balance)

    def _unfolded(
        self,
        solved: Solved,
        at: Partial,
        features: Indices,
        kept: Indices | None,
        frozen: Indices | None,
    ) -> NodeSolution:
        """Return a solution in all samples, features and constraints."""
        problem = self.problem
        inside = np.flatnonzero(at.inside)
        alpha = solved.alpha
        if kept is not None:
            alpha = np.zeros(problem.n)
            alpha[frozen] = problem.term.of(frozen).caps
            alpha[kept] = solved.alpha
        w, sigma = np.zeros(problem.p), np.zeros(problem.p)
        w[np.concatenate([inside, features])] = solved.w
        sigma[inside], sigma[features] = 1.0, solved.sigma
        left = problem.r + problem.tolerances - problem.R[:, inside].sum(axis=1)
        mu = np.zeros(len(problem.r))
        mu[np.maximum(problem.R[:, features], 0.0).sum(axis=1) > left] = solved.mu
        hyperplane = NodeHyperplane(w, solved.b, sigma, alpha.astype(np.float32))
        return NodeSolution(alpha, mu, hyperplane, solved.bound, solved.late)

    def _missing(self, found: NodeSolution, at: Partial, features: Indices, goal: Goal) -> Indices:
        """Return the features left out that would lower the bound most: their gain exceeds the multipliers' charge."""
        problem = self.problem
        free = np.flatnonzero(at.free)
        if len(features) == len(free):
            return features[:0]
        outside = np.setdiff1d(free, features)
        q = problem.products(found.alpha)[outside]
        loss = 0.5 * q * q - problem.lam[outside] - found.mu @ problem.R[:, outside]
        worst = outside[np.argsort(-loss, kind="stable")[:WHOLE]]
        size = max(float(found.alpha.sum()), 1e-12)
        limit = max(goal.gap, 1e-4 if np.isfinite(goal.cutoff) else 0.0) * size / len(outside)
        return np.sort(worst[np.sort(loss)[::-1][:WHOLE] > limit])

    def _adapt(self, found: NodeSolution, margins: Vector, kept: Indices | None, goal: Goal) -> None:
        """Widen where the frozen samples cost much of the distance to the cutoff, else narrow a little.

        Only of a node that stays open: the hyperplane of one that is pruned is far from its optimum.
        """
        problem, hyperplane = self.problem, found.hyperplane
        if found.bound >= goal.cutoff:
            return
        after = problem.scores(hyperplane.w) + hyperplane.b * problem.y
        thawed = np.ones(problem.n, dtype=bool)
        thawed[kept] = False
        wrong = np.where(margins < 1.0, after - 1.0, 1.0 - after)[thawed]
        loss = float(problem.sums(np.maximum(wrong, 0.0)[None, :], np.flatnonzero(thawed))[0])
        if loss > 0.15 * (goal.cutoff - found.bound):
            self.width = min(1.1 * self.width, self.widest)
        else:
            self.width *= 0.985


def _warm(
    program: Relaxation, parent: NodeHyperplane, features: Indices, at: Partial, margins: Vector, kept: Indices | None
) -> Iterate:
    """Return a point to start from, by the parent's hyperplane, shares, margins (n,) and multipliers."""
    alpha = parent.alpha
    if kept is not None:
        margins, alpha = margins[kept], None if alpha is None else alpha[kept]
    columns = np.concatenate([np.flatnonzero(at.inside), features])
    return warm(program, np.append(parent.w[columns], parent.b), parent.sigma[features], margins, alpha)
