"""The smallest ball around points, by an active set of its dual program."""

from __future__ import annotations

import numpy as np

from fsopt.common import clock
from fsopt.typing import Matrix, Vector

TOLERANCE = 1e-10
"""Share of the squared radius by which a point may lie outside."""
RIDGE = 1e-13
"""On the diagonal, as a share of the largest squared distance: points in one affine subspace have one solution too."""


def enclosing_ball(Z: Matrix) -> tuple[float, Vector]:
    r"""Return the squared radius of the smallest ball around points, and the multipliers of the points.

    .. math:: R^2 = \min_{a}\ \max_i\ \|z_i - a\|^2
                  = \max_{\beta \ge 0,\ e'\beta = 1}\ \sum_i \beta_i z_i'z_i - \|Z'\beta\|^2, \qquad a = Z'\beta

    The set of points with a multiplier grows by the farthest point; on it the dual program without
    :math:`\beta \ge 0` is a linear system, and a step towards its solution ends where a multiplier reaches 0: that
    point leaves. The dual value rises with each solution, and no set comes twice.

    Parameters
    ----------
    Z : (n, p) points.

    Returns
    -------
    The dual value, a lower bound on the squared radius, and beta (n,).
    """
    Z = Z - Z.mean(axis=0)
    lengths = np.einsum("ij,ij->i", Z, Z)
    beta = np.zeros(len(Z))
    beta[int(np.argmax(lengths))] = 1.0
    value = 0.0
    while True:
        clock.check()
        center = Z.T @ beta
        distances = lengths - 2.0 * (Z @ center) + center @ center
        farthest, before = int(np.argmax(distances)), value
        value = float(lengths @ beta - center @ center)
        # Rounding ends the loop where the value does not rise any more.
        if distances[farthest] <= value + TOLERANCE * lengths.max() or (before > 0.0 and value <= before):
            return value, beta
        active = np.append(np.flatnonzero(beta), farthest)
        beta = _on_active(Z, lengths, beta, active)


def _on_active(Z: Matrix, lengths: Vector, beta: Vector, active: Vector) -> Vector:
    """Return the multipliers of largest dual value on a set of points; those that leave the set are 0."""
    while True:
        count = len(active)
        system = np.ones((count + 1, count + 1))
        system[:count, :count] = 2.0 * (Z[active] @ Z[active].T) + RIDGE * lengths.max() * np.eye(count)
        system[count, count] = 0.0
        target = np.linalg.solve(system, np.append(lengths[active], 1.0))[:count]
        present = beta[active]
        if (target >= 0.0).all():
            found = np.zeros(len(beta))
            found[active] = target
            return found
        falling = np.flatnonzero(target < 0.0)
        steps = present[falling] / (present[falling] - target[falling])
        first = int(np.argmin(steps))
        beta = np.zeros(len(beta))
        beta[active] = np.maximum(present + steps[first] * (target - present), 0.0)
        beta[active[falling[first]]] = 0.0
        active = np.delete(active, falling[first])
