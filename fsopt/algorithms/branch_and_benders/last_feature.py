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

from fsopt.algorithms.branch_and_benders.compiled import exchanges
from fsopt.algorithms.branch_and_benders.machines import Machines
from fsopt.algorithms.branch_and_benders.node_programs import NodeHyperplane
from fsopt.algorithms.branch_and_benders.nodes import NodeSolver
from fsopt.algorithms.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.typing import Indices, Matrix, Vector

STACK, COMPILED = 16, 4
"""Machines that numpy solves at a time, and compiled functions: a cut of one may make the next unnecessary."""
STEP, MULTIPLIERS = 2e5, 2**22
"""Multiplications of a step of a machine, and multipliers of all machines of a node, up to which these are solved."""


def one_left(problem: SelectionProblem, at: Partial) -> bool:
    """Return whether one feature more can be selected at a node, by the cardinality alone, by small machines."""
    s, free = int(np.count_nonzero(at.inside)), int(np.count_nonzero(at.free))
    small = problem.n * (s + 2.0) ** 2 <= STEP and problem.n * free <= MULTIPLIERS
    return problem.cardinality == s + 1 and small


@dataclass(frozen=True)
class LastFeature:
    """The machines on a partial selection and one feature more, which begin at the hyperplane of its relaxation.

    Attributes
    ----------
    inside : the selected features (s,).
    start : hyperplane (s + 2,), 0 for the feature to come, and its margins and multipliers (n,); None in numpy.
    """

    problem: SelectionProblem
    inside: Indices
    start: tuple[Vector, Vector, Vector] | None

    @classmethod
    def of(cls, solver: NodeSolver, at: Partial, near: NodeHyperplane) -> LastFeature:
        """Return the machines of a node whose relaxation has a hyperplane, compiled where that is done or in time."""
        problem, inside = solver.problem, at.inside.nonzero()[0]
        if not (solver.compiled and exchanges()):
            return cls(problem, inside, None)
        alpha = np.full(problem.n, -1.0) if near.alpha is None else near.alpha.astype(float)
        return cls(problem, inside, (np.append(near.w[inside], [0.0, near.b]), solver.margins(near), alpha))

    @property
    def most(self) -> int:
        """The number of machines that are solved at a time."""
        return STACK if self.start is None else COMPILED

    def multipliers(self, features: Indices) -> Matrix:
        """Return the multipliers (k, n) of the machines with one of some features (k,) each.

        To the end, not to a cutoff alone: near the optimum a cut closes more of the other selections.
        """
        count = (len(features), 1)
        start = None
        if self.start is not None:
            hyperplane, margins, alpha = self.start
            start = np.tile(hyperplane, count), np.tile(margins, count), np.tile(alpha, count)
        selections = np.column_stack([np.tile(self.inside, count), features])
        return Machines(self.problem).solve(selections, np.inf, start).alpha
