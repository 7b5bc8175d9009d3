"""Multipliers of the rigorous support vector machine of Bi, exact up to rounding, by its active samples."""

from __future__ import annotations

import numpy as np

from fsopt.data import Dataset
from fsopt.data.hyperplanes import best_intercepts, hinge, project_multipliers
from fsopt.data.weights import loss_weights
from fsopt.typing import Vector

ACTIVE = 1e-5
"""Share of a bound within which a solver's multiplier is at that bound."""
MOST = 500
"""Largest number of samples on the margin: the system is dense."""
ROUNDED = 1e-9
"""Relative fall of the lower bound that is rounding."""
RANK = 1e-13
"""Singular values of the system below this share of the largest one are rounding errors of 0."""


def polished(data: Dataset, alpha: Vector, w_cap: float) -> Vector:
    r"""Return multipliers of (13) that satisfy the conditions of their active samples exactly, where these do.

    A cone solver ends at a gap of 1e-10, which is 1e-5 in w. Samples with multipliers strictly inside their bounds lie
    on the margin, the others keep theirs at a bound. With :math:`u = \gamma w = \sum_i \alpha_i y_i x_i`

    .. math:: y_i(u'x_i + \gamma b) = \gamma \ \text{on the margin}, \qquad y'\alpha = 0, \qquad u'u = \gamma^2 W.

    The first two are linear: :math:`u = u_0 + \gamma u_1`, and the last is then quadratic in gamma.

    Parameters
    ----------
    data : preprocessed samples.
    alpha : (n,) feasible multipliers.
    w_cap : W > 0.

    Returns
    -------
    (n,) multipliers, or ``alpha`` where the result is outside the bounds, its gap is not smaller or its bound is lower.
    """
    caps = np.broadcast_to(loss_weights(1.0, data.weights), (data.n,))
    upper = alpha >= caps * (1.0 - ACTIVE)
    free = np.flatnonzero((alpha > caps * ACTIVE) & ~upper)
    if not 0 < len(free) <= MOST:
        return alpha
    Z, y = data.X[free] * data.y[free, None], data.y[free]
    fixed = data.X[upper].T @ (caps[upper] * data.y[upper])
    system = np.block([[Z @ Z.T, y[:, None]], [y[None, :], np.zeros((1, 1))]])
    right = np.column_stack([np.append(-Z @ fixed, -caps[upper] @ data.y[upper]), np.append(np.ones(len(free)), 0.0)])
    try:  # equal samples make the system singular: they share their multiplier
        base, slope = np.linalg.lstsq(system, right, rcond=RANK)[0].T
    except np.linalg.LinAlgError:
        return alpha
    u0, u1 = Z.T @ base[:-1] + fixed, Z.T @ slope[:-1]
    roots = np.roots([float(u1 @ u1) - w_cap, 2.0 * float(u0 @ u1), float(u0 @ u0)])
    near = float(np.linalg.norm(data.X.T @ (alpha * data.y))) / np.sqrt(w_cap)
    real = [float(root.real) for root in roots if abs(root.imag) <= 1e-9 * abs(root) and root.real > 0]
    if not real:
        return alpha
    gamma = min(real, key=lambda root: abs(root - near))
    found = np.where(upper, caps, 0.0)
    found[free] = base[:-1] + gamma * slope[:-1]
    if np.any(found < 0.0) or np.any(found > caps):
        return alpha
    found = project_multipliers(found, data.y, caps)
    lower = _bound(data, alpha, w_cap)
    as_good = _bound(data, found, w_cap) >= lower - ROUNDED * max(1.0, abs(lower))
    return found if as_good and _gap(data, found, w_cap) <= _gap(data, alpha, w_cap) else alpha


def balanced(data: Dataset, alpha: Vector, w_cap: float) -> Vector:
    r"""Return multipliers of (13) with :math:`X'Y\alpha = 0` up to rounding, for a capacity that is not active.

    The lower bound is :math:`e'\alpha - \sqrt W\|X'Y\alpha\|`: at a large W the rest of :math:`X'Y\alpha` that a solver
    leaves takes all of it. The shortest change of the multipliers inside their bounds removes that rest.

    Returns
    -------
    (n,) multipliers, or ``alpha`` where the result is outside the bounds or its bound is not larger.
    """
    caps = np.broadcast_to(loss_weights(1.0, data.weights), (data.n,))
    free = np.flatnonzero((alpha > caps * ACTIVE) & (alpha < caps * (1.0 - ACTIVE)))
    if not 0 < len(free) <= MOST:
        return alpha
    centred = data.X - data.X.mean(axis=0)
    found = np.where(alpha < caps * ACTIVE, 0.0, np.where(alpha > caps * (1.0 - ACTIVE), caps, alpha))
    units = np.maximum(np.abs(centred).max(axis=0), 1e-300)
    system = np.vstack([(centred[free] / units * data.y[free, None]).T, data.y[free]])
    for _ in range(2):  # the second time for the rounding errors of the first
        rest = np.append((centred / units).T @ (found * data.y), found @ data.y)
        found[free] -= np.linalg.lstsq(system, rest, rcond=RANK)[0]
    if np.any(found < 0.0) or np.any(found > caps):
        return alpha
    found = project_multipliers(found, data.y, caps)
    return found if _bound(data, found, w_cap) > _bound(data, alpha, w_cap) else alpha


def _bound(data: Dataset, alpha: Vector, w_cap: float) -> float:
    """Return the lower bound of feasible multipliers."""
    return float(alpha.sum()) - float(np.sqrt(w_cap) * np.linalg.norm(data.X.T @ (alpha * data.y)))


def _gap(data: Dataset, alpha: Vector, w_cap: float) -> float:
    """Return the duality gap of the hyperplane of multipliers, infinite where they give none."""
    direction = data.X.T @ (alpha * data.y)
    length = float(np.linalg.norm(direction))
    if length == 0.0:
        return np.inf
    scores = data.X @ (direction * (np.sqrt(w_cap) / length))
    loss = hinge(scores + sum(best_intercepts(scores, data.y, data.weights)) / 2.0, data.y, data.weights)
    return max(loss - float(alpha.sum()) + float(np.sqrt(w_cap)) * length, 0.0)
