"""The least change of a vector that meets linear constraints: a linear program of its own scale, by HiGHS."""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp

from fsopt.certificates.points import ratio
from fsopt.errors import SolverError, foreign
from fsopt.solvers.highs import silent
from fsopt.typing import Vector

SMALL = 1e-12
"""Smallest price of a change."""
FAR = 1e9
"""A side that is farther away than this, in the unit of the needed change, is none."""

NEARLY = 1e-3
"""Violation, in the same unit, with which a change is still one: the next round mends what is left."""


def least_change(
    rows: sp.csr_matrix, sides: tuple[Vector, Vector], box: tuple[Vector, Vector], prices: Vector, deadline: float
) -> Vector | None:
    r"""Return the minimum of :math:`p'|v|` with :math:`\ell \le Mv \le u` and v in a box; None where none is found.

    The program is equilibrated, and scaled by the largest of the sides that 0 does not meet, so that the absolute
    tolerances of the simplex method are relative to what is needed.
    """
    r, d = _equilibrated(rows)
    with np.errstate(invalid="ignore"):
        least, most = (np.where(r > 0.0, side * r, end) for side, end in zip(sides, (-np.inf, np.inf), strict=True))
        low, high = (end / d for end in box)
    need = max(float(np.maximum(least, -most).max(initial=0.0)), float(np.maximum(low, -high).max(initial=0.0)))
    if not 0.0 < need < np.inf:
        return None
    scaled = sp.csr_matrix(sp.diags(r) @ rows @ sp.diags(d))
    with foreign(
        "HiGHS", "the least change of a point was not found", "solve the model by another solver", SolverError
    ):
        found = _simplex(scaled, (least / need, most / need), (low / need, high / need), prices * d, deadline)
    return None if found is None else found * need * d


def _equilibrated(rows: sp.csr_matrix) -> tuple[Vector, Vector]:
    """Return factors of rows (0 for an empty one) and of columns that bring the largest entries to about 1."""
    sizes = abs(rows).tocoo()
    m, n = rows.shape
    d, r = np.ones(n), np.ones(m)
    for _ in range(3):
        for here, there, place, other, count in ((r, d, sizes.row, sizes.col, m), (d, r, sizes.col, sizes.row, n)):
            largest = np.zeros(count)
            np.maximum.at(largest, place, sizes.data * there[other])
            here[:] = ratio(np.ones(count), largest)
            here[~np.isfinite(here)] = 0.0 if count == m and here is r else 1.0
    return r, d


def _simplex(
    rows: sp.csr_matrix, sides: tuple[Vector, Vector], box: tuple[Vector, Vector], prices: Vector, deadline: float
) -> Vector | None:
    """Return the v (n,) of the least cost, by HiGHS."""
    import highspy

    least, most, low, high = (np.where(np.abs(v) < FAR, v, np.copysign(np.inf, v)) for v in (*sides, *box))
    kept = np.flatnonzero(np.isfinite(least) | np.isfinite(most))
    n, inner = len(low), rows[kept]
    matrix = sp.csr_matrix(sp.hstack([inner, -inner]))
    solver = silent()
    left = min(deadline - time.perf_counter(), 60.0)
    if left <= 0.0:
        return None
    # Presolve called programs with costs from 1e-8 to 1 unbounded; and the start, v = 0, is near the optimum.
    options = {"threads": 1, "time_limit": left, "presolve": "off"}
    options |= {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    for name, option in options.items():
        solver.setOptionValue(name, option)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = 2 * n, len(kept)
    lp.col_cost_ = np.tile(prices / max(float(prices.max(initial=0.0)), 1e-300), 2)
    lp.col_lower_ = np.append(np.maximum(low, 0.0), np.maximum(-high, 0.0))
    lp.col_upper_ = np.append(np.maximum(high, 0.0), np.maximum(-low, 0.0))
    lp.row_lower_, lp.row_upper_ = least[kept], most[kept]
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = matrix.indptr, matrix.indices
    lp.a_matrix_.value_ = matrix.data
    solver.passModel(lp)
    solver.run()
    if not solver.getInfo().max_primal_infeasibility <= NEARLY:
        return None
    v = np.array(solver.getSolution().col_value)
    return np.asarray(v[:n] - v[n:])


def prices_of(first: Vector, rows: sp.csr_matrix, sizes: Vector) -> Vector:
    """Return what a change of each variable costs: of the objective, else a small share of the rows it is in."""
    share = ratio(np.ones(len(sizes)), sizes)
    share[~np.isfinite(share)] = 0.0
    scaled = abs(sp.diags(share) @ rows)
    largest = scaled.max(axis=0).toarray().ravel() if rows.shape[0] else np.zeros(rows.shape[1])
    prices: Vector = np.where(first > 0.0, first, np.maximum(1e-3 * largest, SMALL))
    return prices
