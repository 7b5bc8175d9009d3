"""Multipliers on the grid, and bounds of cuts on nodes, as loops over numbers: twins of those in the module of cuts."""

from __future__ import annotations

import numpy as np

from fsopt.algorithms.branch_and_benders.kernels.arrays import falling, inner, kernel
from fsopt.typing import Indices, Mask, Matrix, Vector

EPS = float(np.finfo(float).eps)


@kernel
def on_grid(alpha: Vector, y: Vector, caps: Vector, tops: Indices, unit: float, grid: Indices) -> bool:
    """Write the nearest multipliers on the grid whose signed sum is 0 to grid (n,); False where they are not near."""
    over = 0
    for i in range(len(alpha)):
        grid[i] = min(int(np.rint(min(max(alpha[i], 0.0), caps[i]) / unit)), tops[i])
        over += grid[i] if y[i] > 0.0 else -grid[i]
    heavy = 1.0 if over > 0 else -1.0
    over = abs(over)
    taken = np.zeros(len(alpha), dtype=np.bool_)
    while over:
        # The multiplier with the largest distance from both bounds, once each.
        place, farthest = -1, -1
        for i in range(len(alpha)):
            distance = min(grid[i], tops[i] - grid[i])
            if y[i] * heavy > 0.0 and not taken[i] and distance > farthest:
                place, farthest = i, distance
        if place < 0:
            return False
        taken[place] = True
        less = min(over, grid[place])
        grid[place] -= less
        over -= less
    return True


@inner
def multipliers(gains: Vector, weights: Vector, left: float) -> tuple[float, float]:
    """Return the best multipliers of a knapsack constraint, twice the same where there is one alone."""
    n = len(gains)
    ratio, order = np.zeros(n), np.empty(n, dtype=np.intp)
    for j in range(n):
        if weights[j] > 0.0 and gains[j] > 0.0:
            ratio[j] = gains[j] / weights[j]
    falling(ratio, order)
    before, filled = 0.0, 0.0
    for place in order:
        if not ratio[place] > 0.0:
            break
        if filled + weights[place] > left:
            near = filled > 0.0 and filled >= left - 0.5 * weights[place]
            return (before if near else ratio[place]), ratio[place]
        before = ratio[place]
        filled += weights[place]
    return 0.0, 0.0


@kernel
def bound(
    constant: float, gains: Vector, inside: Mask, outside: Mask, weight: Vector, right: float, out: Matrix
) -> float:
    """Return the bound of a cut on a node, and write those with one more feature selected, or not, to out (2, p).

    Parameters
    ----------
    weight, right : (p,) coefficients and right-hand side of the main constraint; 0 without one.
    """
    p = len(gains)
    base = constant
    left = right
    count = 0
    places = np.empty(p, dtype=np.intp)
    for j in range(p):
        if inside[j]:
            base -= gains[j]
            left -= weight[j]
        elif not outside[j]:
            places[count] = j
            count += 1
    free = places[:count]
    first, second = multipliers(gains[free], weight[free], left)
    best = -np.inf
    for j in range(p):
        out[0, j] = out[1, j] = -np.inf
    for k in range(1 if first == second else 2):
        tau = second if k else first
        value = base - tau * left
        for j in free:
            value -= max(gains[j] - tau * weight[j], 0.0)
        best = max(best, value)
        for j in range(p):
            reduced = 0.0 if inside[j] or outside[j] else gains[j] - tau * weight[j]
            out[0, j] = max(out[0, j], value + max(-reduced, 0.0))
            out[1, j] = max(out[1, j], value + max(reduced, 0.0))
    return best


@kernel
def cut(signed: Matrix, grid: Indices, unit: float, gamma: Vector, norms: Vector, lam: Vector, gains: Vector) -> float:
    """Write the gains (p,) of the cut of multipliers on the grid without further multipliers; return its constant.

    Parameters
    ----------
    signed : (p, n) signed samples; ``norms``, ``lam`` : (p,) norms of the features, and their penalty weights.
    gamma : (n,) curvature of the term of the multipliers.
    """
    n, p = len(grid), len(gains)
    alpha = np.empty(n)
    total = squares = 0.0
    curved = 0.0
    for i in range(n):
        alpha[i] = grid[i] * unit
        total += alpha[i]
        curved += 0.5 * gamma[i] * alpha[i] * alpha[i]
        squares += alpha[i] * alpha[i]
    np.dot(signed, alpha, gains)
    rounding = (n + 2) * EPS
    norm = rounding * np.sqrt(squares)
    margin, size = rounding * (total + curved), abs(total - curved)
    for j in range(p):
        error = norm * norms[j]
        margin += abs(gains[j]) * error + 0.5 * error * error
        size += 0.5 * gains[j] * gains[j] + lam[j]
        gains[j] = 0.5 * gains[j] * gains[j] - lam[j]
    return float(total - curved - margin - 8.0 * p * EPS * size)
