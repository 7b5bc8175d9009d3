r"""Multipliers of cuts on a coarser grid: a proof has no more digits than its gap needs.

A multiplier :math:`\alpha_i` that is rounded to a multiple of C / steps changes by :math:`\delta_i`, at most half of
that, and the bound of its cut by about :math:`\sum_i \delta_i g_i` with derivatives g of the order of 1 whose signs are
independent of those of the errors: by about :math:`\tfrac12 C \sqrt n / steps`. Whatever it is, the bound that is
proved is that of the rounded multipliers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fsopt.algorithms.branch_and_benders.problem import GRID, SelectionProblem
from fsopt.typing import Vector

SHARE = 1.0 / 30.0
"""Share of the gap that rounding may take."""


def digits_to_spare(problem: SelectionProblem, objective: float, gap: float) -> int:
    """Return how many of the last bits of the multipliers a gap, relative to the objective value, does not need."""
    allowed = SHARE * gap * max(1.0, abs(objective))
    if allowed <= 0.0:
        return 0
    steps = 0.5 * problem.c * np.sqrt(problem.n) / allowed
    return max(int(np.floor(np.log2(GRID / max(steps, 2.0**10)))), 0)


def coarser(grids: Sequence[list[int]], y: Vector, shift: int) -> list[list[int]]:
    """Return multipliers in units 2^shift times as large, rounded, with y'alpha = 0 and none above its bound.

    Parameters
    ----------
    grids : (n,) each, integers with y'alpha = 0. ``y`` : (n,) labels.
    """
    if not shift or not grids:
        return list(grids)
    labels = y.astype(np.int64)
    found = []
    for grid in grids:
        exact = np.array(grid, dtype=np.int64)
        rounded = (exact + (1 << (shift - 1))) >> shift
        left = int(labels @ rounded)
        while left:  # the class with the larger sum is rounded down where that changes least
            able = np.flatnonzero((labels * left > 0) & (rounded > 0))
            order = able[np.argsort(exact[able] - (rounded[able] << shift), kind="stable")][: abs(left)]
            rounded[order] -= 1
            left = int(labels @ rounded)
        found.append(rounded.tolist())
    return found
