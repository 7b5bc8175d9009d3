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
from fsopt.typing import Indices, Mask, Vector

OUTWARD = 1e-12
"""Rounding of an end, relative to the terms that it is computed from."""
PASSES = 4
"""Times that each row is looked at."""


def ranges(program: Program, cutoff: float = np.inf) -> tuple[Vector, Vector]:
    """Return ranges (n,) that contain every feasible point of a convex program with a value of at most ``cutoff``."""
    A, lo, hi = _rows(program, cutoff)
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    column, a = A.indices, A.data
    low, high = program.lb.copy(), program.ub.copy()
    curved = program.P.diagonal() if _separable(program) else np.zeros(program.n)
    for _ in range(PASSES):
        before = low.copy(), high.copy()
        with np.errstate(all="ignore"):
            least, most = (np.where(a > 0.0, a * first, a * last) for first, last in _ends(low, high, column))
            rest, size = _others(least, row, A.shape[0], -np.inf)
            up = hi[row] - rest + OUTWARD * (np.abs(hi[row]) + size)
            rest, size = _others(most, row, A.shape[0], np.inf)
            down = lo[row] - rest - OUTWARD * (np.abs(lo[row]) + size)
            above, below = np.where(a > 0.0, up, down) / a, np.where(a > 0.0, down, up) / a
            spare = _spare(program, cutoff, low, high)
            reach = np.where(curved > 0.0, np.sqrt(2.0 * spare / curved) * (1.0 + OUTWARD), np.inf)
        np.minimum.at(high, column, np.where(np.isnan(above), np.inf, above))
        np.maximum.at(low, column, np.where(np.isnan(below), -np.inf, below))
        reach = np.where(np.isnan(reach), np.inf, reach)
        low, high = np.maximum(low, -reach), np.minimum(high, reach)
        if all(np.array_equal(v, w) for v, w in zip((low, high), before, strict=True)):
            break
    return low, high


def _ends(low: Vector, high: Vector, column: Indices) -> tuple[tuple[Vector, Vector], tuple[Vector, Vector]]:
    return (low[column], high[column]), (high[column], low[column])


def _rows(program: Program, cutoff: float) -> tuple[sp.csr_matrix, Vector, Vector]:
    """Return linear rows that hold at the points that matter, without zeros: constraints, cones, the incumbent."""
    parts = [program.A]
    lows, highs = [program.lo], [program.hi]
    cones, n = program.cones, program.n
    second = np.flatnonzero(np.repeat(cones.orders == 0, cones.sizes) & ~_heads(program)) if len(cones) else np.zeros(0)
    if len(second):
        head = np.repeat(cones.starts[:-1], cones.sizes)[second]
        for sign in (1.0, -1.0):
            parts.append(cones.G.tocsr()[head] + sign * cones.G.tocsr()[second])
            lows.append(-cones.h[head] - sign * cones.h[second])
            highs.append(np.full(len(second), np.inf))
    if np.isfinite(cutoff) and program.convex_objective and not program.objective_terms:
        parts.append(sp.csr_matrix(program.c.reshape(1, n)))
        lows.append(np.array([-np.inf]))
        highs.append(np.array([cutoff - program.c0 + OUTWARD * (abs(cutoff) + abs(program.c0))]))
    A = sp.csr_matrix(sp.vstack(parts, format="csr"))
    A.eliminate_zeros()
    return A, np.concatenate(lows), np.concatenate(highs)


def _heads(program: Program) -> Mask:
    heads = np.zeros(len(program.cones.h), dtype=bool)
    heads[program.cones.starts[:-1]] = True
    return heads


def _others(terms: Vector, row: Indices, m: int, infinite: float) -> tuple[Vector, Vector]:
    """Return for each term the sum of the others in its row, ``infinite`` where one of them is, and their size."""
    finite = np.isfinite(terms)
    known = np.where(finite, terms, 0.0)
    sums, sizes, missing = (np.bincount(row, v, m).astype(float)[row] for v in (known, np.abs(known), ~finite))
    missing -= ~finite
    return np.where(missing > 0, infinite, sums - known), sizes


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
