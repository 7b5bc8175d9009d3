r"""Support vector machines on selections of the features, one after the other.

.. math:: \max_{0 \le \alpha \le \bar\alpha,\ y'\alpha = 0} \psi(\alpha) - \tfrac12 \|Z_S'\alpha\|^2, \qquad Z = YX

On features S, each begins with the one before: of few samples by active sets, of more samples, and where these do not
end, by the interior point of :mod:`fsopt.search.branch_and_benders.interior_point`.

Of the samples F whose multipliers are free, the step to the maximum is a system of linear equations in K = ZZ',

.. math:: K_{FF} d + y_F b = e_F - K_F \alpha, \qquad y_F'd = 0 .

A multiplier that the step would take out of its bounds stops there and leaves F; at the maximum the samples enter F
whose margins :math:`K\alpha + yb` are farthest on the wrong side of 1. Of several that enter together some may leave at
once, as only the step of one that enters alone is sure to lead into its bounds; so after steps of length 0 fewer enter.
Each other step raises the objective (Nocedal & Wright, Numerical Optimization, 2006, 16.5).

As :math:`y_F'd = 0`, a multiple of :math:`y_F y_F'` may be added to :math:`K_{FF}`, which is then positive definite
where the equations have one solution. With u and v the solutions for the right-hand sides :math:`e_F - K_F \alpha` and
:math:`y_F` the step is :math:`d = u - bv`, :math:`b = y_F'u / y_F'v`.
"""

from __future__ import annotations

import numpy as np
import scipy

from fsopt.data import Dataset
from fsopt.linear.interior_point import minimise
from fsopt.search.branch_and_benders.interior_point import Goal, NodeHyperplane
from fsopt.search.branch_and_benders.nodes import NodeSolver
from fsopt.search.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.typing import Mask, Matrix, Vector

STEPS = 20
"""Largest number of steps for each sample; degenerate ones may lead in a circle."""
SIDE = 1e-9
"""Distance of a margin from 1 that is on neither side, where the rounding of large products is not more."""
ROUNDING = 1e-14
"""Of a margin, relative to the largest product of samples times the sum of the multipliers."""
RIDGE = 1e-12
"""Added to the diagonal of K, relative to its largest entry: where K is singular on F, the step is one to a bound."""
SHARE = 0.5
"""Of the largest distance of a margin from 1: the samples enter together whose distances are more."""


def active_set_svm(gram: Matrix, y: Vector, caps: Vector, alpha: Vector | None = None) -> Vector | None:
    """Return the multipliers (n,) of a machine from those of a near one; None where the steps do not end.

    ``gram`` (n, n) are the products K, ``caps`` (n,) the upper bounds of the multipliers; None begins at 0.
    """
    alpha = np.zeros(len(y)) if alpha is None else alpha.copy()
    free = (alpha > 0.0) & (alpha < caps)
    largest, rest = float(gram.diagonal().max()), 1.0 - gram @ alpha
    most, idle = len(y), False
    for _ in range(STEPS * len(y)):
        places = np.flatnonzero(free)
        if len(places):
            found = _step(gram[np.ix_(places, places)], y[places], rest[places], largest)
            if found is None:
                return None
            step, b = found
            first, share = _first_bound(alpha[places], caps[places], step)
            if share < 1.0:
                alpha[places] += share * step
                # The equations give K_F d, so that the other margins, which are not needed yet, are not computed.
                rest[places] = (1.0 - share) * rest[places] + share * b * y[places]
                alpha[places[first]] = caps[places[first]] if step[first] > 0.0 else 0.0
                free[places[first]] = False
                idle = idle or share == 0.0
                continue
            alpha[places] += step
            rest = 1.0 - gram @ alpha
            short = rest - b * y
            side = max(SIDE, ROUNDING * largest * float(alpha.sum()))
            if np.abs(short[places]).max() > side:
                continue
            most, idle = max(1, most // 2) if idle else most, False
            entering = _farthest(short, free, alpha > 0.0, side)[:most]
        else:
            rest = 1.0 - gram @ alpha
            entering = _pair(y * rest, y, alpha, caps)
        if not entering:
            return alpha
        free[entering] = True
    return None


def _step(gram: Matrix, y: Vector, rest: Vector, weight: float) -> tuple[Vector, float] | None:
    """Return the step of the free multipliers and the intercept after it; None where rounding leaves none."""
    gram += weight * np.outer(y, y)
    gram[np.diag_indices(len(y))] += RIDGE * weight
    _, solved, failed = scipy.linalg.lapack.dposv(gram.T, np.column_stack([rest, y]), lower=1, overwrite_a=1)
    if failed:
        return None
    b = float(y @ solved[:, 0] / (y @ solved[:, 1]))
    return solved[:, 0] - b * solved[:, 1], b


def _first_bound(alpha: Vector, caps: Vector, step: Vector) -> tuple[int, float]:
    """Return which multiplier the step leads to a bound first, and after which share of the step."""
    way = np.maximum(np.where(step < 0.0, alpha, caps - alpha), 0.0)
    shares = np.divide(way, np.abs(step), out=np.full(len(step), np.inf), where=step != 0.0)
    first = int(np.argmin(shares))
    return first, float(shares[first])


def _farthest(short: Vector, free: Mask, upper: Mask, side: float) -> list[int]:
    """Return the samples at bounds with the margins farthest on the wrong side of 1, the farthest first."""
    wrong = np.where(free, 0.0, np.where(upper, -short, short))
    far = np.flatnonzero(wrong > max(side, SHARE * float(wrong.max())))
    found: list[int] = far[np.argsort(-wrong[far], kind="stable")].tolist()
    return found


def _pair(slopes: Vector, y: Vector, alpha: Vector, caps: Vector) -> list[int]:
    """Return the two samples at bounds along which the objective falls most; or none."""
    rises = np.where(np.where(y > 0, alpha < caps, alpha > 0.0), slopes, -np.inf)
    falls = np.where(np.where(y > 0, alpha > 0.0, alpha < caps), slopes, np.inf)
    first, second = int(np.argmax(rises)), int(np.argmin(falls))
    return [first, second] if rises[first] - falls[second] > SIDE else []


EXACT = 1e-11
"""Relative duality gap that the interior point of the search aims at."""
ACCEPTED = 1e-8
"""Relative duality gap over all samples with which an answer of it counts; active sets end at optimality conditions."""
GRAM = 1000
"""Number of samples up to which their products are kept: 8 MB."""
LONG = 5
"""Samples for each feature from which the interior point is faster: one to four times as fast."""


class WarmSvm:
    """Support vector machines on selections of one data set, each begun with the last hyperplane or multipliers."""

    def __init__(self, data: Dataset, c: float) -> None:
        self.data, self.c = data, c
        self.hyperplane: NodeHyperplane | None = None
        self.alpha: Vector | None = None
        self.problem = SelectionProblem.of(data, c, np.zeros((0, data.p)), np.zeros(0), np.zeros(data.p))
        self.solver = NodeSolver(self.problem)
        self.few = data.n <= min(GRAM, LONG * data.p) and not data.sparse
        self._gram, self._selection = np.zeros((0, 0)), np.zeros(data.p, dtype=bool)
        self._fresh = 0

    def solve(self, selection: Mask) -> tuple[Vector, float]:
        """Return weights (p,) and objective value of the SVM on a selection, by the first algorithm that is exact."""
        signed, alpha = self.problem.signed, None
        if self.few:
            caps = np.broadcast_to(self.problem.term.caps, self.data.n)
            alpha = active_set_svm(self._products(selection), self.data.y, caps, self.alpha)
        if alpha is not None:
            self.alpha, w = alpha, np.where(selection, signed @ alpha, 0.0)
            return w, self.problem.value(selection, w)[0]
        found = self.solver.solve(Partial(selection, ~selection), self.hyperplane, Goal(EXACT))
        if found is not None:
            self.hyperplane, w = found.hyperplane, found.hyperplane.w
            q = (signed @ found.alpha)[selection]
            value = self.problem.value(selection, w)[0]
            if value - float(found.alpha.sum()) + 0.5 * float(q @ q) <= ACCEPTED * value:
                return w, value
        w = np.zeros(self.data.p)
        w[selection] = minimise(self.data.columns(selection), c=self.c).point["w"]
        return w, self.problem.value(selection, w)[0]

    def _products(self, selection: Mask) -> Matrix:
        """Return the products K (n, n) of the samples over a selection, from those over the last one."""
        gone, size = self._selection & ~selection, int(selection.sum())
        more = bool((selection & ~self._selection).any())
        if more or 2 * size <= self._fresh or 2 * int(gone.sum()) > size:  # computed anew, for its rounding
            rows = self.problem.signed[selection]
            self._gram, self._fresh = rows.T @ rows, size
        else:
            for row in self.problem.signed[gone]:  # in place: as long as the matrix is written, not three times as long
                self._gram = scipy.linalg.blas.dger(-1.0, row, row, a=self._gram.T, overwrite_a=1).T
        self._selection = selection.copy()
        return self._gram
