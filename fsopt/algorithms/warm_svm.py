"""Support vector machines on a sequence of selections of the features, each warm-started from the one before.

The interior point of :mod:`fsopt.algorithms.branch_and_benders.interior_point` works in the number of features. Samples
far from the margin of the last hyperplane keep their multiplier; where the duality gap over all samples contradicts
this, the program of all samples is solved. With more features than samples the kernel matrix is factorised instead:
``K = Z Z' = L L'`` has the same multipliers with the n features L.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fsopt.algorithms.branch_and_benders.interior_point import Goal, solve
from fsopt.algorithms.branch_and_benders.nodes import NodeHyperplane, NodeSolver
from fsopt.algorithms.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.algorithms.branch_and_benders.relaxation import Relaxation
from fsopt.data import Dataset
from fsopt.typing import Mask, Vector

EXACT = 1e-11
"""Relative duality gap that the interior point aims at."""
ACCEPTED = 1e-6
"""Relative duality gap over all samples with which an answer counts."""
RANK = 1e-12
"""Eigenvalues of the kernel matrix below this share of the largest one are rounding errors of 0."""


@dataclass
class WarmSvm:
    """Support vector machines on selections of one data set.

    Attributes
    ----------
    data, c : samples and penalty weight of the hinge loss.
    hyperplane : the last hyperplane.
    """

    data: Dataset
    c: float
    hyperplane: NodeHyperplane | None = None
    problem: SelectionProblem = field(init=False)
    solver: NodeSolver = field(init=False)

    def __post_init__(self) -> None:
        p = self.data.p
        self.problem = SelectionProblem.of(self.data, self.c, np.zeros((0, p)), np.zeros(0), np.zeros(p))
        self.solver = NodeSolver(self.problem)

    def solve(self, selection: Mask) -> tuple[Vector, float] | None:
        """Return weights (p,) and objective value of the SVM on a selection; None where no answer is exact enough."""
        if int(selection.sum()) > self.data.n:
            return self._by_kernel(selection)
        for near in (self.hyperplane, None):
            found = self.solver.solve(Partial(selection, ~selection), near, Goal(EXACT))
            if found is not None and (value := self._value(selection, found.hyperplane.w, found.alpha)) is not None:
                self.hyperplane = found.hyperplane
                return found.hyperplane.w, value
        return None

    def _by_kernel(self, selection: Mask) -> tuple[Vector, float] | None:
        """Return the same where there are more features than samples."""
        problem = self.problem
        Z = problem.signed[selection].T
        values, vectors = np.linalg.eigh(Z @ Z.T)
        used = values > RANK * max(float(values[-1]), 0.0)
        L = vectors[:, used] * np.sqrt(values[used])
        Zy = np.asfortranarray(np.column_stack([L, problem.y]))
        none, count = np.zeros(0), int(used.sum())
        program = Relaxation(Zy, problem.term, count, np.zeros((0, 0)), none, none, np.zeros(count))
        solved = solve(program, Goal(EXACT))
        if solved is None:
            return None
        w = np.zeros(problem.p)
        w[selection] = solved.alpha @ Z
        value = self._value(selection, w, solved.alpha)
        self.hyperplane = None
        return None if value is None else (w, value)

    def _value(self, selection: Mask, w: Vector, alpha: Vector) -> float | None:
        """Return the value of the weights, None where the gap to the dual value of alpha is too large."""
        q = self.problem.signed[selection] @ alpha
        value, _ = self.problem.value(selection, w)
        gap = value - float(alpha.sum()) + 0.5 * float(q @ q)
        return value if gap <= ACCEPTED * max(value, 1e-300) else None
