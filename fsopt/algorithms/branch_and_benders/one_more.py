r"""Nodes where one feature more can be selected: the support vector machines on each of the selections that are left.

The relaxation of such a node shares the last feature among all that are free, and its bound is far below that of any
of them. With the features of I selected, and one of J to come,

.. math:: \min_{j \in J} F(I \cup j) = \min_{j \in J}\ \max_{0 \le \alpha \le \bar\alpha,\ y'\alpha = 0}
          \psi(\alpha) - \tfrac12 \sum_{i \in I \cup j} q_i(\alpha)^2

takes one small program for each j, of which the best cut of another leaves some.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.algorithms.branch_and_benders.machines import solve_machines
from fsopt.algorithms.branch_and_benders.node_programs import NodeHyperplane
from fsopt.algorithms.branch_and_benders.nodes import NodeSolver
from fsopt.algorithms.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.typing import Indices, Matrix, Vector

STACK, COMPILED = 16, 4
"""Machines that numpy solves at a time, and compiled functions: a cut of one may make the next unnecessary."""
WHOLE = 1e5
"""Multiplications of a step up to which a machine has all samples: those frozen far from the margin cost bound."""


@dataclass(frozen=True)
class OneMore:
    """The machines on a partial selection and one feature more, near the hyperplane of its relaxation.

    Attributes
    ----------
    inside : the selected features (s,).
    kept, frozen : samples (m,) whose multipliers are free, None for all, and multipliers (n,) of the others.
    rows : (s + 1, m) signed samples of the selected features, and labels.
    sums, balance : (p,) products of the signed samples with the multipliers of the others, and their signed sum.
    start : where they begin: hyperplane (s + 1,), margins (m,) and multipliers (m,); None in numpy.
    """

    problem: SelectionProblem
    inside: Indices
    kept: Indices | None
    frozen: Vector
    rows: Matrix
    sums: Vector
    balance: float
    start: tuple[Vector, Vector, Vector] | None

    @classmethod
    def of(cls, solver: NodeSolver, at: Partial, near: NodeHyperplane) -> OneMore:
        """Return the machines of a node whose relaxation has a hyperplane."""
        problem, inside = solver.problem, at.inside.nonzero()[0]
        margins = solver.margins(near)
        samples = None if problem.n * (len(inside) + 2.0) ** 2 <= WHOLE else solver.near_parent(margins)
        kept = None if samples is None else samples.kept
        frozen = np.zeros(problem.n) if samples is None else samples.at_caps(problem)
        free = slice(None) if kept is None else kept
        rows = np.vstack([problem.rows(inside, kept), problem.y[free]])
        start = None
        if solver.compiled:
            alpha = np.full(problem.n, -1.0) if near.alpha is None else near.alpha.astype(float)
            start = np.append(near.w[inside], near.b), margins[free], alpha[free]
        sums = np.zeros(problem.p) if samples is None else problem.products(frozen)
        return cls(problem, inside, kept, frozen, rows, sums, float(problem.y @ frozen), start)

    @property
    def most(self) -> int:
        """The number of machines that are solved at a time."""
        return STACK if self.start is None else COMPILED

    def multipliers(self, features: Indices) -> Matrix:
        """Return the multipliers (k, n) of the machines with one of some features (k,) each.

        To the end, not to the cutoff alone: near the optimum a cut closes more of the other selections.
        """
        problem = self.problem
        k, s = len(features), len(self.inside)
        rows = np.vstack([self.rows[:-1], problem.rows(features, self.kept), self.rows[-1:]])
        places = np.tile(np.append(np.arange(s), [s, s + k]), (k, 1))
        places[:, s] += np.arange(k)
        sums = np.tile(np.append(self.sums[self.inside], [0.0, self.balance]), (k, 1))
        sums[:, s] = self.sums[features]
        start = None
        if self.start is not None:
            hyperplane, margins, alpha = self.start
            start = np.tile(np.insert(hyperplane, s, 0.0), (k, 1)), np.tile(margins, (k, 1)), np.tile(alpha, (k, 1))
        frozen = None if self.kept is None else sums
        found = solve_machines(rows, places, problem.term.of(self.kept), np.inf, frozen, start)
        if self.kept is None:
            return found.alpha
        multipliers = np.tile(self.frozen, (k, 1))
        multipliers[:, self.kept] = found.alpha
        return multipliers
