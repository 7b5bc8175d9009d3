r"""Ranges of variables that the constraints and an incumbent prove, by propagation through one row at a time.

In a row :math:`\ell \le a'x \le u` the terms of all variables but one have a range, and so has that one:

.. math:: a_j x_j \le u - \sum_{k \ne j} \min a_k x_k, \qquad a_j x_j \ge \ell - \sum_{k \ne j} \max a_k x_k .

A second-order cone has the rows :math:`|t_i| \le s_0`. Points that are no better than an incumbent of value V do not
matter for a bound of the optimum, so that :math:`c'x + c_0 \le V` is a row as well: :math:`x'Px \ge 0` where the
program is convex. Ends are rounded outwards.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fsopt.compiler import Program
from fsopt.typing import Indices, Vector

OUTWARD = 1e-12
"""Rounding of an end, relative to the terms that it is computed from."""
PASSES = 4
"""Times that each row is looked at."""


def ranges(program: Program, cutoff: float = np.inf) -> tuple[Vector, Vector]:
    """Return ranges (n,) that contain every feasible point of a convex program with a value of at most ``cutoff``."""
    A, side = _rows(program, cutoff)
    m, row = A.shape[0], np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    column, a = A.indices, A.data
    positive, side = a > 0.0, side[row]
    upper, lower = np.flatnonzero(positive), np.flatnonzero(~positive)
    low, high = program.lb.copy(), program.ub.copy()
    curved = program.P.diagonal() if _separable(program) else np.zeros(program.n)
    for _ in range(PASSES):
        before = low.copy(), high.copy()
        with np.errstate(all="ignore"):
            rest, size = _others(a * np.where(positive, low[column], high[column]), row, m)
            end = (side - rest + OUTWARD * (np.abs(side) + size)) / a
            spare = _spare(program, cutoff, low, high)
            reach = np.where(curved > 0.0, np.sqrt(2.0 * spare / curved) * (1.0 + OUTWARD), np.inf)
        end = np.where(np.isnan(end), np.where(positive, np.inf, -np.inf), end)
        np.minimum.at(high, column[upper], end[upper])
        np.maximum.at(low, column[lower], end[lower])
        reach = np.where(np.isnan(reach), np.inf, reach)
        low, high = np.maximum(low, -reach), np.minimum(high, reach)
        if all(np.array_equal(v, w) for v, w in zip((low, high), before, strict=True)):
            break
    return low, high


def _rows(program: Program, cutoff: float) -> tuple[sp.csr_matrix, Vector]:
    r"""Return A, b of linear rows :math:`Ax \le b` that hold at the points that matter, with finite b and no zeros."""
    p, cones = program, program.cones
    above, below = np.flatnonzero(np.isfinite(p.hi)), np.flatnonzero(np.isfinite(p.lo))
    parts, sides = [p.A[above], -p.A[below]], [p.hi[above], -p.lo[below]]
    second = np.setdiff1d(np.flatnonzero(np.repeat(cones.orders == 0, cones.sizes)), cones.starts)
    if len(second):
        head, G = np.repeat(cones.starts[:-1], cones.sizes)[second], cones.G.tocsr()
        for sign in (1.0, -1.0):
            parts.append(sign * G[second] - G[head])
            sides.append(cones.h[head] - sign * cones.h[second])
    if np.isfinite(cutoff) and p.convex_objective and not p.objective_terms:
        parts.append(sp.csr_matrix(p.c.reshape(1, p.n)))
        sides.append(np.array([cutoff - p.c0 + OUTWARD * (abs(cutoff) + abs(p.c0))]))
    A = sp.csr_matrix(sp.vstack(parts, format="csr"))
    A.eliminate_zeros()
    return A, np.concatenate(sides)


def _others(terms: Vector, row: Indices, m: int) -> tuple[Vector, Vector]:
    """Return for each term the least sum of the others in its row, and the size of them all."""
    finite = np.isfinite(terms)
    known = np.where(finite, terms, 0.0)
    sums, sizes, missing = (np.bincount(row, v, m).astype(float)[row] for v in (known, np.abs(known), ~finite))
    return np.where(missing > ~finite, -np.inf, sums - known), sizes


def _separable(program: Program) -> bool:
    """Return whether the quadratic part of the objective is a sum of squares of single variables."""
    P = program.P.tocoo()
    diagonal = bool(P.nnz) and bool((P.row == P.col).all())
    return diagonal and program.convex_objective and not program.objective_terms


def _spare(program: Program, cutoff: float, low: Vector, high: Vector) -> float:
    """Return how much of the cutoff is left for the squares; infinite where the linear costs have no smallest value."""
    least = np.where(program.c > 0.0, program.c * low, program.c * high)[program.c != 0.0]
    total, size = float(least.sum()), float(np.abs(least).sum()) + abs(program.c0) + abs(cutoff)
    return max(cutoff - program.c0 - total + OUTWARD * size, 0.0) if np.isfinite(total) else np.inf
