r"""Support vector machines by active sets of their multipliers, from those of a machine that is nearly the same.

.. math:: \min_{0 \le \alpha \le \bar\alpha,\ y'\alpha = 0}\ \tfrac12 \alpha' K \alpha - e'\alpha,
          \qquad K = ZZ',\ Z = YX

Of the samples F whose multipliers are free, the step to the minimum is a system of linear equations,

.. math:: K_{FF} d + y_F b = e_F - K_F \alpha, \qquad y_F'd = 0 .

A multiplier that the step would take out of its bounds stops there and leaves F; at the minimum the sample enters F
whose margin :math:`K\alpha + yb` is farthest on the wrong side of 1. Each step lowers the objective (Nocedal & Wright,
Numerical Optimization, 2006, 16.5). Between two machines that differ in one feature or a little in C few samples move,
and most often none.
"""

from __future__ import annotations

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
    with np.errstate(all="ignore"):  # a singular system has steps without end, which are refused
        for _ in range(STEPS * len(y)):
            short = 1.0 - gram @ alpha
            if not free.any():
                entering = _pair(y * short, y, alpha, caps)
            else:
                places = np.flatnonzero(free)
                step, b = _step(gram, y, short, places, RIDGE * largest)
                if not np.isfinite(step).all():
                    return None
                room = np.where(step < 0.0, alpha[places], caps[places] - alpha[places]) / np.abs(step)
                room = np.where(step == 0.0, np.inf, np.maximum(room, 0.0))
                first = int(np.argmin(room))
                if room[first] < 1.0:
                    alpha[places] += room[first] * step
                    alpha[places[first]] = caps[places[first]] if step[first] > 0.0 else 0.0
                    free[places[first]] = False
                    continue
                alpha[places] += step
                short = 1.0 - gram @ alpha - b * y
                side = max(SIDE, ROUNDING * largest * float(alpha.sum()))
                if np.abs(short[places]).max() > side:
                    continue
                entering = _farthest(short, free, alpha > 0.0, side)
            if not entering:
                return alpha
            free[entering] = True
    return None


def _step(gram: Matrix, y: Vector, rest: Vector, places: Indices, ridge: float) -> tuple[Vector, float]:
    """Return the step to the minimum over some samples, and the intercept there; nan where there is none."""
    size = len(places)
    system = np.zeros((size + 1, size + 1))
    system[:size, :size] = gram[np.ix_(places, places)]
    system[np.arange(size), np.arange(size)] += ridge
    system[:size, size] = system[size, :size] = y[places]
    _, _, solved, failed = scipy.linalg.lapack.dgesv(system, np.append(rest[places], 0.0), overwrite_a=True)
    return (np.full(size, np.nan), 0.0) if failed else (solved[:size], float(solved[size]))


def _farthest(short: Vector, free: Mask, upper: Mask, side: float) -> list[int]:
    """Return the sample at a bound whose margin is farthest on the wrong side of 1, by 1 minus the margins; or none."""
    wrong = np.where(free, 0.0, np.where(upper, -short, short))
    worst = int(np.argmax(wrong))
    return [worst] if wrong[worst] > side else []


def _pair(slopes: Vector, y: Vector, alpha: Vector, caps: Vector) -> list[int]:
    """Return the two samples at bounds along which the objective falls most; or none."""
    rises = np.where(np.where(y > 0, alpha < caps, alpha > 0.0), slopes, -np.inf)
    falls = np.where(np.where(y > 0, alpha > 0.0, alpha < caps), slopes, np.inf)
    first, second = int(np.argmax(rises)), int(np.argmin(falls))
    return [first, second] if rises[first] - falls[second] > SIDE else []
