"""Support vector machines on a sequence of selections of the features, each warm-started from the one before.

Of up to :data:`GRAM` samples, and fewer than :data:`LONG` for each feature, the products ``K = Z Z'`` of the signed
samples are kept from one selection to the next, and the multipliers are found from the active sets of the last ones
(:mod:`fsopt.svm.active_set`). Where these do not end, and of more samples, it is the interior point of
:mod:`fsopt.search.branch_and_benders.interior_point`. Samples far from the margin of the last hyperplane keep their
multiplier; where the duality gap over all samples contradicts this, the program of all samples is solved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import scipy

from fsopt.data import Dataset
from fsopt.search.branch_and_benders.interior_point import Goal
from fsopt.search.branch_and_benders.node_programs import NodeHyperplane
from fsopt.search.branch_and_benders.nodes import NodeSolver
from fsopt.search.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.svm.active_set import FreeSystem, active_set_svm
from fsopt.typing import Mask, Matrix, Vector

EXACT = 1e-11
"""Relative duality gap that the interior point aims at."""
ACCEPTED = 1e-8
"""Relative duality gap over all samples with which an answer of the interior point counts; active sets end at the
optimality conditions."""
GRAM = 1000
"""Number of samples up to which their products are kept: 8 MB."""
LONG = 5
"""Samples for each feature from which the interior point is faster: one to four times as fast."""
FEW = 10
"""Features by which the inverse of the equations of the free samples is changed; of more it is computed anew."""


@dataclass
class WarmSvm:
    """Support vector machines on selections of one data set.

    Attributes
    ----------
    data, c : samples and penalty weight of the hinge loss.
    hyperplane : the last hyperplane of the interior point.
    alpha : (n,) the last multipliers by active sets; None before the first machine.
    system : the equations of their steps, on the features of ``selection`` (p,).
    """

    data: Dataset
    c: float
    hyperplane: NodeHyperplane | None = None
    alpha: Vector | None = None
    system: FreeSystem = field(default_factory=FreeSystem)
    selection: Mask = field(init=False)
    problem: SelectionProblem = field(init=False)
    solver: NodeSolver = field(init=False)
    products: SelectedGram | None = field(init=False)

    def __post_init__(self) -> None:
        p = self.data.p
        self.selection = np.zeros(p, dtype=bool)
        self.problem = SelectionProblem.of(self.data, self.c, np.zeros((0, p)), np.zeros(0), np.zeros(p))
        self.solver = NodeSolver(self.problem)
        few = self.data.n <= min(GRAM, LONG * p) and not self.data.sparse
        self.products = SelectedGram(self.problem.signed) if few else None

    def at(self, c: float) -> WarmSvm:
        """Return the machines of another penalty weight, which begin with the last multipliers of these."""
        other = WarmSvm(self.data, c)
        other.products, other.hyperplane = self.products, self.hyperplane
        if self.alpha is not None:
            old, new = self.problem.term.caps, other.problem.term.caps
            other.alpha = np.where(self.alpha == old, new, self.alpha * (c / self.c))
        return other

    def solve(self, selection: Mask) -> tuple[Vector, float] | None:
        """Return weights (p,) and objective value of the SVM on a selection; None where no answer is exact enough."""
        for found in self._answers(selection):
            if found is not None:
                return found
        return None

    def _answers(self, selection: Mask) -> Iterator[tuple[Vector, float] | None]:
        """Yield the answers of one algorithm after the other, None where it has no exact one."""
        if self.products is not None:
            yield self._by_active_sets(selection, self.products.of(selection))
        for near in (self.hyperplane, None):
            found = self.solver.by_parent(Partial(selection, ~selection), near, Goal(EXACT))
            if found is not None:
                self.hyperplane = found.hyperplane
                yield self._checked(selection, found.hyperplane.w, found.alpha)

    def _by_active_sets(self, selection: Mask, gram: Matrix) -> tuple[Vector, float] | None:
        caps = np.broadcast_to(self.problem.term.caps, len(gram))
        self._change_system(selection)
        alpha = active_set_svm(gram, self.data.y, caps, self.alpha, self.system)
        if alpha is None:
            self.system.forget()
            return None
        self.alpha = alpha
        w = np.where(selection, self.problem.signed @ alpha, 0.0)
        return w, self.problem.value(selection, w)[0]

    def _change_system(self, selection: Mask) -> None:
        """Bring the equations of the last machine to a selection, where few features differ."""
        differ = np.flatnonzero(selection != self.selection)
        if len(differ) > FEW:
            self.system.forget()
        for j in differ[:FEW]:
            self.system.change(1.0 if selection[j] else -1.0, self.problem.signed[j])
        self.selection = selection.copy()

    def _checked(self, selection: Mask, w: Vector, alpha: Vector) -> tuple[Vector, float] | None:
        """Return weights and their value, None where the gap to the dual value of alpha is too large."""
        q = (self.problem.signed @ alpha)[selection]
        value, _ = self.problem.value(selection, w)
        if value - float(alpha.sum()) + 0.5 * float(q @ q) > ACCEPTED * max(value, 1e-300):
            return None
        return w, value


class SelectedGram:
    """The products K = Z Z' of the signed samples over a selection of the features, from those over the last one."""

    def __init__(self, signed: Matrix) -> None:
        self.signed = signed  # (p, n)
        self.selection = np.zeros(len(signed), dtype=bool)
        self.gram = np.zeros((signed.shape[1],) * 2)
        self.fresh = 0

    def of(self, selection: Mask) -> Matrix:
        """Return K (n, n); after as many differences as half of the features it is computed anew, for its rounding."""
        more, fewer = selection & ~self.selection, self.selection & ~selection
        if 2 * int(selection.sum()) <= self.fresh or 2 * int(more.sum() + fewer.sum()) > int(selection.sum()):
            rows = self.signed[selection]
            self.gram, self.fresh = rows.T @ rows, len(rows)
        else:
            for sign, part in ((1.0, more), (-1.0, fewer)):
                for row in self.signed[part]:  # in place: as long as the matrix is written, not three times as long
                    self.gram = scipy.linalg.blas.dger(sign, row, row, a=self.gram.T, overwrite_a=1).T
        self.selection = selection.copy()
        return self.gram
