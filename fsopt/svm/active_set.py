r"""Support vector machines by active sets of their multipliers, from those of a machine that is nearly the same.

.. math:: \min_{0 \le \alpha \le \bar\alpha,\ y'\alpha = 0}\ \tfrac12 \alpha' K \alpha - e'\alpha,
          \qquad K = ZZ',\ Z = YX

Of the samples F whose multipliers are free, the step to the minimum is a system of linear equations,

.. math:: K_{FF} d + y_F b = e_F - K_F \alpha, \qquad y_F'd = 0 .

A multiplier that the step would take out of its bounds stops there and leaves F; at the minimum the samples enter F
whose margins :math:`K\alpha + yb` are farthest on the wrong side of 1. Of several that enter together some may leave at
once, as only the step of one that enters alone is sure to lead into its bounds; so after steps of length 0 fewer enter.
Each other step lowers the objective (Nocedal & Wright, Numerical Optimization, 2006, 16.5).

Between two machines that differ in one feature or a little in C few samples move. So the inverse of the matrix of the
equations is kept: a sample that enters borders it, one that leaves and a feature that is removed change it by a matrix
of rank one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy

from fsopt.typing import Indices, Mask, Matrix, Vector

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
    r"""The inverse of the equations of the step, kept from one step and one machine to the next.

    .. math:: M = \begin{bmatrix} 0 & y_F' \\ y_F & K_{FF} \end{bmatrix}

    Attributes
    ----------
    places : F, in the order of the rows of M from the second on.
    inverse : of M; None where it is not known.
    """

    places: list[int] = field(default_factory=list)
    inverse: Matrix | None = None

    def begin(self, places: Indices) -> None:
        """Take over F, in any order; of other samples than those that are there the inverse is not known."""
        if not np.array_equal(np.sort(self.places), places):
            self.places, self.inverse = places.tolist(), None

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

    def change(self, sign: float, feature: Vector) -> None:
        """Add to K, or subtract, the products of one signed feature (n,)."""
        if self.inverse is None:
            return
        z = np.append(0.0, feature[self.places])
        turned = self.inverse @ z
        pivot = 1.0 + sign * float(z @ turned)
        if abs(pivot) <= PIVOT:
            self.inverse = None
        else:
            self.inverse -= np.multiply.outer(turned * (sign / pivot), turned)


def active_set_svm(
    gram: Matrix, y: Vector, caps: Vector, alpha: Vector | None = None, system: FreeSystem | None = None
) -> Vector | None:
    """Return the multipliers (n,) of a support vector machine.

    Parameters
    ----------
    gram : (n, n) products K of the samples times their labels.
    y, caps : (n,) labels and upper bounds of the multipliers.
    alpha : (n,) multipliers to begin with, of which those at their bounds are so exactly; None begins at 0.
    system : of the machine with these multipliers, changed to the products ``gram``; it is left as that of the result.

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
    system = FreeSystem() if system is None else system
    system.begin(np.flatnonzero(free))
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
