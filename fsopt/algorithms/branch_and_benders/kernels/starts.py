"""The warm start of a node as loops over numbers: the twin of ``warm`` in the module of relaxations."""

from __future__ import annotations

import numpy as np

from fsopt.algorithms.branch_and_benders.kernels.arrays import (
    NodeIterate,
    NodeProgram,
    falling,
    inner,
    kernel,
    products,
    scores,
)
from fsopt.typing import Vector

START = 0.1
FAR = 3.0
INSIDE = 0.1
"""As in the module in numpy."""


@inner
def pair(value: float, away: float, most: float, mu: float) -> tuple[float, float]:
    """Return a value strictly within [0, most], and the partner of its upper bound, ``away`` less than the other."""
    distance = min(mu / max(abs(away), 1e-300), INSIDE * most)
    smallest = min(2.0 * mu / most, INSIDE * most)
    if away >= 0.0:
        value = min(max(value, distance), most - smallest)
        return value, mu / (most - value)
    value = min(max(value, smallest), most - distance)
    return value, mu / value - away


@inner
def multiplier(p: NodeProgram, gain: Vector, mu: float) -> float:
    """Return the gain for weight of the last feature that fits into the constraint, at least mu."""
    ratio, order = np.empty(len(gain)), np.empty(len(gain), dtype=np.intp)
    for j in range(len(gain)):
        ratio[j] = gain[j] / max(p.weight[j], 1e-300)
    falling(ratio, order)
    filled, last = 0.0, mu
    for place in order:
        filled += p.weight[place]
        last = max(float(ratio[place]), mu)
        if filled >= p.left:
            break
    return last


@kernel
def warm(p: NodeProgram, at: NodeIterate, sigma: Vector, margins: Vector, alpha: Vector) -> None:
    """Write a point to start from, with the hyperplane that it has, to an iterate.

    Parameters
    ----------
    sigma, margins, alpha : (f,) shares, (n,) margins and (n,) multipliers of the parent; negative ones are not known.
    """
    n = len(margins)
    f = len(p.lam)
    s = p.s
    F = len(p.q)
    scores(p.A, at.hyperplane, at.z[:n])
    far, most = 0.0, 0.0
    for i in range(n):
        known = alpha[i] if alpha[i] >= 0.0 else 0.3 * p.caps[i]
        far += known * (START + FAR * abs(at.z[i] - margins[i]))
        most = max(most, p.caps[i])
    mu = max(far, 1e-3 * most) / (2 * n + 2 * f + p.k)
    for i in range(n):
        c = p.caps[i]
        away = margins[i] - 1.0
        value = alpha[i]
        if value < 0.0:
            value = 0.5 * c * (1.0 - away / np.sqrt(away**2 + (2.0 * mu / c) ** 2))
        away += p.gamma[i] * value
        at.x[i], at.z[n + i] = pair(value, away, c, mu)
        at.x[n + i], at.z[i] = c - at.x[i], at.z[n + i] + away
    q, gain = np.empty(F + 1), np.empty(f)
    products(p.A, at.x, q)
    for j in range(F):
        at.q[j] = q[j] + p.q[j]
    for j in range(f):
        gain[j] = 0.5 * at.q[s + j] ** 2 - p.lam[j]
    price = 0.0
    if p.k:
        price = multiplier(p, gain, mu) if f else mu
        at.x[2 * n + 2 * f], at.z[2 * n + 2 * f] = price, mu / price
    for j in range(f):
        away = price * p.weight[j] - gain[j]
        share, rho = pair(sigma[j], away, 1.0, mu)
        at.x[2 * n + j], at.x[2 * n + f + j] = rho, share
        at.z[2 * n + j], at.z[2 * n + f + j] = 1.0 - share, rho + away
