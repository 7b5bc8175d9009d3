r"""The linear system of a step of the interior point, eliminated in the smaller dimension of its program.

With a positive diagonal :math:`\Theta` of the samples and :math:`\Delta` of the features, Z the signed samples, G the
columns of k further equations and S their matrix, the step of alpha, of the hyperplane (w, b) and of the multipliers
mu solves

.. math::

    \Theta^{-1} d\alpha + Z\,dw + y\,db = s, \qquad
    \Delta\,dw - Z'd\alpha + G_w\,d\mu = g_w, \qquad \epsilon\,db - y'd\alpha + G_b\,d\mu = g_b, \qquad
    G'd(w, b) - S\,d\mu = h.

*By features*, alpha is eliminated: one Cholesky factor of order p + 1, for

.. math:: \big(\mathrm{diag}(\Delta, \epsilon) + [Z\ y]'\Theta\,[Z\ y]\big)\,d(w, b) = g + [Z\ y]'\Theta s - G\,d\mu,
          \qquad d\alpha = \Theta\,(s - Z\,dw - y\,db).

*By samples*, where there are fewer of them, w is: one factor of order n, with :math:`B = \Theta^{1/2} Z \Delta^{-1/2}`,

.. math:: (I + BB')\,u = \Theta^{1/2}\big(s - Z\Delta^{-1}(g_w - G_w d\mu) - y\,db\big), \qquad
          d\alpha = \Theta^{1/2} u, \qquad dw = \Delta^{-1}(g_w - G_w d\mu + Z'd\alpha),

and db follows from the equation of the balance. The eigenvalues of this matrix are at least 1.
In both, mu is eliminated last, by its Schur complement of order k.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy

from fsopt.common import clock
from fsopt.linear.pieces import cholesky, gram
from fsopt.search.branch_and_benders.stacks import EPSILON, across, normal_factor, small_solved, solved, times
from fsopt.typing import Matrix, Vector

Steps = tuple[Vector, Vector, Vector]
"""Steps of alpha (n,), of the hyperplane (p + 1,) and of mu (k,)."""


class Reduced(NamedTuple):
    """The system of a step by features: its factor, and the solutions (k, p + 1) and the matrix (k, k) of mu."""

    regular: bool
    factor: Matrix
    border: Matrix
    schur: Matrix


class BySamples(NamedTuple):
    """The system of a step by samples: whether it is regular, and its solution for (s (n,), g (p + 1,), h (k,))."""

    regular: bool
    solve: Callable[[Vector, Vector, Vector], Steps]


def reduced_system(A: Matrix, theta: Vector, delta: Vector, G: Matrix, S: Matrix) -> Any:
    """Return the reduced system of a step, not regular where its matrix is singular in floating point.

    Parameters
    ----------
    A : (p + 1, n) signed samples and labels, one feature after another.
    theta, delta : (n,) and (p,) diagonals.
    G, S : (k, p + 1) and (k, k).

    Raises
    ------
    OutOfTimeError : the time limit passed within the factorisation.
    """
    return (by_samples if A.shape[1] < A.shape[0] else by_features)(A, theta, delta, G, S)


def steps(reduced: Any, A: Matrix, theta: Vector, G: Matrix, s: Vector, g: Vector, h: Vector) -> Steps:
    """Return the solution of a reduced system."""
    if isinstance(reduced, BySamples):
        return reduced.solve(s, g, h)
    return steps_by_features(reduced, A, theta, G, s, g, h)


def by_features(A: Matrix, theta: Vector, delta: Vector, G: Matrix, S: Matrix) -> Reduced:
    """Return the system with alpha eliminated."""
    factor = normal_factor(A, theta, delta)
    regular = len(factor) > 0
    border = solved(factor, G) if regular and len(G) else G
    return Reduced(regular, factor, border, S + G @ border.T)


def steps_by_features(
    reduced: Reduced, A: Matrix, theta: Vector, G: Matrix, s: Vector, g: Vector, h: Vector
) -> tuple[Vector, Vector, Vector]:
    """Return the solution of a system by features."""
    hyperplane = solved(reduced.factor, times(A, theta * s) + g)
    mu = h
    if len(G):
        mu = small_solved(reduced.schur, G @ hyperplane - h)
        hyperplane = hyperplane - mu @ reduced.border
    return theta * (s - across(hyperplane, A)), hyperplane, mu


def by_samples(A: Matrix, theta: Vector, delta: Vector, G: Matrix, S: Matrix) -> BySamples:
    """Return the system with w eliminated."""
    clock.check()
    Z, y = A[:-1], A[-1]
    root = np.sqrt(theta)
    matrix = gram(Z * root / np.sqrt(delta)[:, None])
    matrix.ravel(order="K")[:: len(root) + 1] += 1.0
    factor = cholesky(matrix)

    def multipliers(right: Matrix) -> Matrix:
        return np.asarray(root * scipy.linalg.lapack.dpotrs(factor, (root * right).T, lower=1)[0].T)

    if factor is None:
        return BySamples(False, lambda *_: (theta, delta, S))
    along = multipliers(y[None])[0]
    slope = float(y @ along) + EPSILON * float(theta.sum())

    def without_mu(s: Matrix, g: Matrix) -> tuple[Matrix, Matrix]:
        """Return the steps of alpha (k, n) and of the hyperplane (k, p + 1) for k right-hand sides, without mu."""
        weights = g[:, :-1] / delta
        alpha = multipliers(s - weights @ Z)
        b = (g[:, -1] + alpha @ y) / slope
        alpha = alpha - np.outer(b, along)
        return alpha, np.column_stack([weights + (alpha @ Z.T) / delta, b])

    on_alpha, border = without_mu(np.zeros((len(G), len(root))), G) if len(G) else (np.zeros((0, len(root))), G)
    schur = S + G @ border.T

    def solve(s: Vector, g: Vector, h: Vector) -> Steps:
        alpha, hyperplane = (found[0] for found in without_mu(s[None], g[None]))
        mu = small_solved(schur, G @ hyperplane - h)
        return alpha - mu @ on_alpha, hyperplane - mu @ border, mu

    return BySamples(True, solve)
