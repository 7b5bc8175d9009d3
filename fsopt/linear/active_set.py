r"""Support vector machines on a sequence of selections of the features, each warm-started from the one before.

Of up to :data:`GRAM` samples, and fewer than :data:`LONG` for each feature, the products ``K = Z Z'`` of the signed
samples are kept from one selection to the next, and the multipliers are found from the active sets of the last ones
(see below). Where these do not end, and of more samples, it is the interior point of
:mod:`fsopt.search.branch_and_benders.interior_point`. Samples far from the margin of the last hyperplane keep their
multiplier; where the duality gap over all samples contradicts this, the program of all samples is solved.

Active sets of multipliers are begun with those of a machine that is nearly the same:

.. math:: \min_{0 \le \alpha \le \bar\alpha,\ y'\alpha = 0}\ \tfrac12 \alpha' K \alpha - e'\alpha,
          \qquad K = ZZ',\ Z = YX

Of the samples F whose multipliers are free, the step to the minimum is a system of linear equations,

.. math:: K_{FF} d + y_F b = e_F - K_F \alpha, \qquad y_F'd = 0 .

A multiplier that the step would take out of its bounds stops there and leaves F; at the minimum the samples enter F
whose margins :math:`K\alpha + yb` are farthest on the wrong side of 1. Of several that enter together some may leave at
once, as only the step of one that enters alone is sure to lead into its bounds; so after steps of length 0 fewer enter.
Each other step lowers the objective (Nocedal & Wright, Numerical Optimization, 2006, 16.5).

The inverse of the matrix of the equations is kept from one step to the next: a sample that enters borders it, one that
leaves changes it by a matrix of rank one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import scipy

from fsopt.data import Dataset
from fsopt.search.branch_and_benders.interior_point import Goal
from fsopt.search.branch_and_benders.nodes import NodeHyperplane, NodeSolver
from fsopt.search.branch_and_benders.problem import Partial, SelectionProblem
from fsopt.typing import Mask, Matrix, Vector

STEPS = 20
"""Largest number of steps for each sample; degenerate ones may lead in a circle."""
SIDE = 1e-9
"""Distance of a margin from 1 that is on neither side, where the rounding of large products is not more."""
ROUNDING = 1e-14
"""Of a margin, relative to the largest product of samples times the sum of the multipliers."""
RIDGE = 1e-14
"""Added to the diagonal of K, relative to its largest entry: where K is singular on F, the step is one to a bound."""
SHARE = 0.5
"""Of the largest distance of a margin from 1: the samples enter together whose distances are more."""
PIVOT = 1e-6
"""A pivot below this fraction of the entry that it comes from leaves too few digits of the inverse: it is given up."""


@dataclass
class FreeSystem:
    r"""The inverse of the equations of the step, kept from one step to the next.

    .. math:: M = \begin{bmatrix} 0 & y_F' \\ y_F & K_{FF} \end{bmatrix}

    Attributes
    ----------
    places : F, in the order of the rows of M from the second on.
    inverse : of M; None where it is not known.
    """

    places: list[int] = field(default_factory=list)
    inverse: Matrix | None = None

    def forget(self) -> None:
        """Give the inverse up: the next step solves the equations anew."""
        self.inverse = None

    def step(self, gram: Matrix, y: Vector, rest: Vector, ridge: float) -> tuple[Vector, float]:
        """Return the step of the multipliers of F and the intercept after it; nan where there is none."""
        places = np.array(self.places)
        right = np.append(0.0, rest[places])
        if self.inverse is None:
            size = len(places)
            system = np.zeros((size + 1, size + 1))
            system[1:, 1:] = gram[np.ix_(places, places)]
            system[np.arange(1, size + 1), np.arange(1, size + 1)] += ridge
            system[1:, 0] = system[0, 1:] = y[places]
            factors, pivots, failed = scipy.linalg.lapack.dgetrf(system.T, overwrite_a=True)
            if failed:
                return np.full(size, np.nan), 0.0
            diagonal = np.abs(factors.diagonal())
            if diagonal.min() <= PIVOT * diagonal.max():
                solved, _ = scipy.linalg.lapack.dgetrs(factors, pivots, right, trans=1)
                return solved[1:], float(solved[0])
            self.inverse = scipy.linalg.lapack.dgetri(factors, pivots, overwrite_lu=True)[0].T
        solved = self.inverse @ right
        return solved[1:], float(solved[0])

    def enter(self, samples: list[int], gram: Matrix, y: Vector) -> list[int]:
        """Add samples to F, the first of them and others as long as none depends on F; return those that were added."""
        known = self.inverse is not None
        for k, sample in enumerate(samples):
            self._border(sample, gram, y)
            if known and self.inverse is None:
                return samples[: k + 1]
        return samples

    def _border(self, sample: int, gram: Matrix, y: Vector) -> None:
        if self.inverse is not None:
            border = np.append(y[sample], gram[sample, self.places])
            turned = self.inverse @ border
            pivot = float(gram[sample, sample] - border @ turned)
            if abs(pivot) <= PIVOT * float(gram[sample, sample]):
                self.inverse = None
            else:
                size = len(border)
                grown = np.empty((size + 1, size + 1))
                np.multiply.outer(turned / pivot, turned, out=grown[:size, :size])
                grown[:size, :size] += self.inverse
                grown[:size, size] = grown[size, :size] = -turned / pivot
                grown[size, size] = 1.0 / pivot
                self.inverse = grown
        self.places.append(sample)

    def leave(self, place: int) -> None:
        """Remove the sample at a place of F."""
        if self.inverse is not None:
            k, B = place + 1, self.inverse
            row = np.delete(B[k], k)
            if abs(float(B[k, k])) <= PIVOT * np.abs(row).max(initial=0.0):
                self.inverse = None
            else:
                kept = np.delete(np.delete(B, k, axis=0), k, axis=1)
                kept -= np.multiply.outer(row / B[k, k], row)
                self.inverse = kept
        del self.places[place]


def active_set_svm(gram: Matrix, y: Vector, caps: Vector, alpha: Vector | None = None) -> Vector | None:
    """Return the multipliers (n,) of a support vector machine.

    Parameters
    ----------
    gram : (n, n) products K of the samples times their labels.
    y, caps : (n,) labels and upper bounds of the multipliers.
    alpha : (n,) multipliers to begin with, of which those at their bounds are so exactly; None begins at 0.

    Returns
    -------
    Vector or None
        None where the steps do not end: another algorithm is to solve the program.
    """
    alpha = np.zeros(len(y)) if alpha is None else alpha.copy()
    free = (alpha > 0.0) & (alpha < caps)
    largest = float(gram.diagonal().max())
    if not largest > 0.0:
        return None
    system = FreeSystem(np.flatnonzero(free).tolist())
    rest = 1.0 - gram @ alpha
    again, idle = 0, 0
    most = len(y)
    with np.errstate(all="ignore"):  # a singular system has steps without end, which are refused
        for _ in range(STEPS * len(y)):
            if not system.places:
                rest = 1.0 - gram @ alpha
                entering = _pair(y * rest, y, alpha, caps)
                system.forget()
            else:
                places = np.array(system.places)
                step, b = system.step(gram, y, rest, RIDGE * largest)
                if not np.isfinite(step).all():
                    return None
                first, share = _first_bound(alpha[places], caps[places], step)
                if share < 1.0:
                    alpha[places] += share * step
                    # The equations give K_F d, so that the other margins, which are not needed yet, are not computed.
                    rest[places] = (1.0 - share) * rest[places] + share * b * y[places]
                    alpha[places[first]] = caps[places[first]] if step[first] > 0.0 else 0.0
                    free[places[first]] = False
                    system.leave(first)
                    idle += int(share == 0.0)
                    continue
                alpha[places] += step
                rest = 1.0 - gram @ alpha
                short = rest - b * y
                side = max(SIDE, ROUNDING * largest * float(alpha.sum()))
                if np.abs(short[places]).max() > side:
                    again += 1
                    if again % 2 == 0:  # another step with the same inverse was not enough: it has lost its digits
                        system.forget()
                    continue
                again = 0
                most = max(1, most // 2 if idle else 2 * most)
                entering = _farthest(short, free, alpha > 0.0, side)[: 1 if system.inverse is None else most]
                most, idle = len(entering), 0
            if not entering:
                return alpha
            free[system.enter(entering, gram, y)] = True
    return None


def _first_bound(alpha: Vector, caps: Vector, step: Vector) -> tuple[int, float]:
    """Return which multiplier the step leads to a bound first, and after which share of the step."""
    shares = np.where(step < 0.0, alpha, caps - alpha) / np.abs(step)
    shares = np.where(step == 0.0, np.inf, np.maximum(shares, 0.0))
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
"""Relative duality gap that the interior point aims at."""
ACCEPTED = 1e-8
"""Relative duality gap over all samples with which an answer of the interior point counts; active sets end at the
optimality conditions."""
GRAM = 1000
"""Number of samples up to which their products are kept: 8 MB."""
LONG = 5
"""Samples for each feature from which the interior point is faster: one to four times as fast."""


@dataclass
class WarmSvm:
    """Support vector machines on selections of one data set.

    Attributes
    ----------
    data, c : samples and penalty weight of the hinge loss.
    hyperplane : the last hyperplane of the interior point.
    alpha : (n,) the last multipliers by active sets; None before the first machine.
    """

    data: Dataset
    c: float
    hyperplane: NodeHyperplane | None = None
    alpha: Vector | None = None
    problem: SelectionProblem = field(init=False)
    solver: NodeSolver = field(init=False)
    products: SelectedGram | None = field(init=False)

    def __post_init__(self) -> None:
        p = self.data.p
        self.problem = SelectionProblem.of(self.data, self.c, np.zeros((0, p)), np.zeros(0), np.zeros(p))
        self.solver = NodeSolver(self.problem)
        few = self.data.n <= min(GRAM, LONG * p) and not self.data.sparse
        self.products = SelectedGram(self.problem.signed) if few else None

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
        alpha = active_set_svm(gram, self.data.y, caps, self.alpha)
        if alpha is None:
            return None
        self.alpha = alpha
        w = np.where(selection, self.problem.signed @ alpha, 0.0)
        return w, self.problem.value(selection, w)[0]

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
