"""The relaxation of a node as a smaller program: samples far from the margin frozen, features out of reach left out.

Both keep every bound valid. A frozen alpha restricts the dual; the cut of the resulting alpha is computed for all
features, so that a feature left out costs bound, never validity, and is taken in where it costs too much.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fsopt.common import clock
from fsopt.search.branch_and_benders.cuts import BendersCut, bound_value
from fsopt.search.branch_and_benders.first_order_nodes import beginning, large, relaxed
from fsopt.search.branch_and_benders.interior_point import Goal, NodeHyperplane, Solved, solve
from fsopt.search.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.search.branch_and_benders.relaxation import InteriorPoint, NodeRelaxation, fast, warm_start
from fsopt.typing import Indices, Mask, Vector


class Samples(NamedTuple):
    """The samples in a program, kept, and of the others those frozen at their upper bounds, not at 0."""

    kept: Indices
    frozen: Indices

    def at_caps(self, problem: SelectionProblem) -> Vector:
        """Return multipliers (n,) of the frozen samples, 0 for the kept ones."""
        alpha = np.zeros(problem.n)
        alpha[self.frozen] = problem.each_term[0][self.frozen]
        return alpha


def node_program(problem: SelectionProblem, at: Partial, features: Indices, samples: Samples | None) -> NodeRelaxation:
    """Return the program of a node with some free features and samples, of all samples for None."""
    inside = at.inside.nonzero()[0]
    both = np.append(inside, features)
    columns = problem.places(both)
    q = np.zeros(len(columns))
    constant, balance = float(problem.lam[inside].sum()), 0.0
    (caps, gamma, entropy), kept = problem.each_term, np.arange(problem.n)
    if samples is not None:
        kept, alpha = samples.kept, samples.at_caps(problem)
        q = problem.products(alpha, columns)
        constant += float(alpha.sum())
        balance = float(problem.y @ alpha)
    rows = np.vstack([problem.rows(columns, None if samples is None else samples.kept), problem.y[kept]])
    active, left = _active(problem, inside, features)
    lam, selected = problem.lam[features], len(problem.places(inside))
    node = problem.columns and problem.columns.at(len(inside), both)
    if node and not len(features) and not node.bounds:  # the machine of a selection is one of its columns
        node = None
    term, R = (caps[kept], gamma[kept], entropy), problem.R[:, features][active]
    return NodeRelaxation(rows, *term, selected, R, left[active], lam, q, constant, balance, columns=node)


def unfolded(
    problem: SelectionProblem, solved: Solved, at: Partial, features: Indices, samples: Samples | None
) -> Solved:
    """Return the solution of the program of a node in all samples, features and constraints."""
    inside = at.inside.nonzero()[0]
    alpha = solved.alpha
    if samples is not None:
        alpha = samples.at_caps(problem)
        alpha[samples.kept] = solved.alpha
    w, sigma = np.zeros(problem.width), np.zeros(problem.p)
    w[problem.places(np.concatenate([inside, features]))] = solved.hyperplane.w
    sigma[inside], sigma[features] = 1.0, solved.hyperplane.sigma
    mu = solved.mu
    if len(mu) < len(problem.r):
        mu = np.zeros(len(problem.r))
        mu[_active(problem, inside, features)[0]] = solved.mu
    hyperplane = NodeHyperplane(w, solved.hyperplane.b, sigma, alpha.astype(np.float32))
    return Solved(alpha, mu, hyperplane, solved.bound, solved.late)


def _active(problem: SelectionProblem, inside: Indices, features: Indices) -> tuple[Mask, Vector]:
    """Return the constraints (k,) that a free feature can violate, others have the multiplier 0, and what is left."""
    if not len(features):
        return np.zeros(len(problem.r), dtype=bool), problem.r
    left = problem.r + problem.tolerances - problem.R[:, inside].sum(axis=1)
    reached = np.maximum(problem.R[:, features], 0.0).sum(axis=1)
    return (reached > left) & (reached > 0.0), left


WIDTHS, NEAREST = (0.3, 0.65), 0.1
"""Quantiles of the distance from the margin: the first and the largest within which samples are not frozen; the first
of many samples."""
FEWEST = 80
"""Samples that are never frozen, if there are as many."""
LIKELY = 1e-3
"""Share from which a feature of a parent is in the program."""
WHOLE = 150
"""Free features up to which all are in the program, and others that it takes in at most."""
MANY, EACH = 20_000, 200
"""Samples, and samples for each feature, above which a program without a parent has those nearest to the margin of a
part of them."""
ROUGH = 1e-3
"""Relative gap of that part."""
FAR_OFF = 0.1
"""What the frozen samples may cost where there is no cutoff, as a share of the bound; else none is frozen."""
LEFT_OUT = 0.25
"""Share of the distance to the cutoff at which a node is exact enough that the features outside may cost."""
ROUNDS = 12
"""Largest number of rounds in which features are taken in."""


@dataclass
class NodeSolver:
    """Solves relaxations, and adapts how many samples are frozen to what that costs.

    Attributes
    ----------
    width : distance from the margin from which samples are frozen; nan before the first node.
    widest : its upper bound.
    known : the last hyperplane that was asked for its margins, and these (n,): nodes of one parent follow each other.
    """

    problem: SelectionProblem
    width: float = float("nan")
    widest: float = float("nan")
    known: tuple[NodeHyperplane | None, Vector] = (None, np.zeros(0))

    def solve(self, at: Partial, parent: NodeHyperplane | None, goal: Goal) -> Solved | None:
        """Return the relaxation of a node, at least to the goal of its reduced program; None without any bound.

        It has the samples near the margin of a parent, of many samples without one that of a part of them, else all.
        Without a parent, or a cutoff, it has more of them where the others cost much.
        """
        exact = parent is None
        if parent is None and self.many:
            parent = self.rough(at, None)
        if parent is None or (not self.many and large(self.problem, at)):
            return self._rounds(at, parent, goal)
        best, near = None, parent
        wider = 1.0
        # Each pass widens, until all samples are kept.
        while True:
            margins = self.margins(near)
            samples = self._near_parent(margins, wider)
            found = self._rounds(at, near, goal, samples)
            best = found if best is None or (found and found.bound > best.bound) else best
            if found is None or found.late or samples is None or found.bound >= goal.cutoff:
                return best
            lost = self._lost(found.hyperplane, margins, samples)
            if parent is near:  # the width grows where the frozen samples cost much of the distance to the cutoff
                costly = lost > 0.15 * (goal.cutoff - found.bound)
                self.width = min(1.1 * self.width, self.widest) if costly else 0.985 * self.width
            if lost <= (goal.gap if exact else FAR_OFF) * found.bound or (not exact and np.isfinite(goal.cutoff)):
                return best
            # A bound below that of no multipliers says that too few samples are kept, not which ones.
            near, wider = found.hyperplane if found.bound > 0.0 else near, 2.0 * wider

    def rough(self, at: Partial, parent: NodeHyperplane | None) -> NodeHyperplane | None:
        """Return the hyperplane of a relaxation, not exact, of many samples that of a part; may be out of time."""
        goal = Goal(ROUGH)
        found = NodeSolver(self.problem.part)._rounds(at, None, goal) if self.many else self.solve(at, parent, goal)
        if found is None or found.late:
            clock.check()
        unknown = np.full(self.problem.n, -1.0, dtype=np.float32)
        return None if found is None else found.hyperplane._replace(alpha=unknown)

    def _rounds(
        self, at: Partial, known: NodeHyperplane | None, goal: Goal, samples: Samples | None = None
    ) -> Solved | None:
        """Solve the program of some samples (None: all), and take in features until none of the others costs much."""
        features, found = self._features(at, known), None
        first_order = samples is None and not self.many and large(self.problem, at)
        for _ in range(ROUNDS):
            if first_order:
                solved: Solved | None = relaxed(self.problem, at, features, known, goal)
            else:
                program = node_program(self.problem, at, features, samples)
                warm = known is not None and program.columns is None
                start = self._warm(program, known, features, at, samples) if known is not None and warm else None
                solved = solve(program, goal, start)
            if solved is None:
                if samples is None or clock.expired():
                    return found
                samples = None
                continue
            found = unfolded(self.problem, solved, at, features, samples)
            known = found.hyperplane if first_order else known
            missing = self._missing(found, at, features, goal)
            if not len(missing) or solved.late:
                break
            features = np.sort(np.append(features, missing))
        return found

    def _warm(
        self, program: NodeRelaxation, parent: NodeHyperplane, features: Indices, at: Partial, samples: Samples | None
    ) -> InteriorPoint:
        """Return a point to start from, by a parent."""
        kept = slice(None) if samples is None else samples.kept
        columns = self.problem.places(np.concatenate([at.inside.nonzero()[0], features]))
        hyperplane, alpha = np.append(parent.w[columns], parent.b), parent.alpha[kept].astype(float)
        margins = self.margins(parent)[kept]
        return fast(warm_start)(program, hyperplane, parent.sigma[features], margins, alpha)

    @property
    def many(self) -> bool:
        """Whether the samples are so many that a part of them tells which ones count."""
        return self.problem.n > max(MANY, EACH * self.problem.p)

    def margins(self, hyperplane: NodeHyperplane) -> Vector:
        """Return the margins (n,) of a hyperplane."""
        if self.known[0] is not hyperplane:
            self.known = hyperplane, self.problem.scores(hyperplane.w) + hyperplane.b * self.problem.y
        return self.known[1]

    def _near_parent(self, margins: Vector, wider: float) -> Samples | None:
        """Return the samples within the adapted distance of the parent's margin; None where none is frozen."""
        problem = self.problem
        if problem.n <= FEWEST:
            return None
        distance = problem.distance(margins)
        if np.isnan(self.width):
            widths = (NEAREST, WIDTHS[1]) if self.many else WIDTHS
            self.width, self.widest = (float(v) for v in np.quantile(np.abs(margins - 1.0), widths))
        width = max(wider * self.width, float(np.partition(distance, FEWEST - 1)[FEWEST - 1]))
        return self._frozen(margins, distance, width)

    def _frozen(self, margins: Vector, distance: Vector, width: float) -> Samples | None:
        """Return the samples within a distance of the margin; None where none is frozen."""
        problem = self.problem
        # Each pass widens: the kept samples must be able to balance those frozen at C.
        for _ in range(6):
            kept = distance <= width
            count = int(kept.sum())
            if count > 0.75 * problem.n:
                return None
            high = ~kept & (margins < 1.0)
            balance = float(problem.y[high].sum())
            other = int((problem.y[kept] < 0).sum() if balance > 0 else (problem.y[kept] > 0).sum())
            if other >= 1.2 * abs(balance):
                return Samples(kept.nonzero()[0], high.nonzero()[0])
            width *= 1.5
        return None

    def _features(self, at: Partial, near: NodeHyperplane | None) -> Indices:
        """Return the free features in the program: all of few, else those with a share before, and the largest |q|."""
        free, problem = at.free.nonzero()[0], self.problem
        if len(free) <= WHOLE:
            return free
        alpha = beginning(problem).alpha if near is None or near.alpha[0] < 0.0 else near.alpha
        size = problem.sizes(alpha.astype(np.float32) @ problem.single.T)[free]
        if near is not None:
            size[near.sigma[free] > LIKELY] = np.inf
        return np.sort(free[np.argsort(-size, kind="stable")[: max(WHOLE, int(np.isinf(size).sum()))]])

    def _missing(self, found: Solved, at: Partial, features: Indices, goal: Goal) -> Indices:
        """Return the features left out that lower the bound most, above the multipliers' charge; none if little."""
        problem, free = self.problem, at.free
        if len(features) == np.count_nonzero(free):
            return features[:0]
        outside = free.copy()
        outside[features] = False
        gains = problem.halves(found.alpha.astype(np.float32) @ problem.single.T) - problem.lam
        others = found.mu.copy()
        if problem.main is not None:
            others[problem.main] = 0.0
        cut = BendersCut(0, 0.0, gains - others @ problem.R)
        lost = bound_value(problem, cut, Partial(at.inside, at.outside | outside)) - bound_value(problem, cut, at)
        distance = goal.cutoff - found.bound if goal.branch else 0.0
        if lost <= max(goal.gap * abs(found.bound), LEFT_OUT * goal.branch * distance, found.bound - goal.cutoff):
            return features[:0]
        loss = np.where(outside, gains - found.mu @ problem.R, 0.0)
        worst = np.argsort(-loss, kind="stable")[:WHOLE]
        return np.sort(worst[loss[worst] > 0.0])

    def _lost(self, hyperplane: NodeHyperplane, margins: Vector, samples: Samples) -> float:
        """Return what the frozen samples cost at most: their multipliers times how far they are on the other side."""
        problem = self.problem
        after = self.margins(hyperplane)
        thawed = np.ones(problem.n, dtype=bool)
        thawed[samples.kept] = False
        wrong = np.where(margins < 1.0, after - 1.0, 1.0 - after)[thawed]
        weights = 1.0 if problem.weights is None else problem.weights[thawed]
        return problem.c * float((np.maximum(wrong, 0.0) * weights).sum())
