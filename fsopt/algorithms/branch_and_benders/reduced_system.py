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
from typing import TypeAlias

import numpy as np
import scipy

from fsopt.algorithms.pieces import cholesky, gram
from fsopt.typing import Matrix, Vector

EPSILON = 1e-14
"""The diagonal of b, as a share of the sum of theta."""
Solve: TypeAlias = Callable[[Vector, Vector, Vector], tuple[Vector, Vector, Vector]]
"""Function (s (n,), g (p + 1,), h (k,)) -> (d alpha, d (w, b), d mu)."""


def reduced_system(Zy: Matrix, theta: Vector, delta: Vector, border: Matrix, corner: Matrix) -> Solve | None:
    """Return the solver of the systems of a step; None where the matrix is singular in floating point.

    Parameters
    ----------
    Zy : (n, p + 1) signed samples and labels.
    theta, delta : (n,) and (p,) diagonals.
    border, corner : G (p + 1, k) and S (k, k).

    Raises
    ------
    OutOfTimeError : the time limit passed within the factorisation.
    """
    return (_by_samples if len(Zy) < Zy.shape[1] else _by_features)(Zy, theta, delta, border, corner)


def _by_features(Zy: Matrix, theta: Vector, delta: Vector, border: Matrix, corner: Matrix) -> Solve | None:
    matrix = gram(Zy * np.sqrt(theta)[:, None])
    diagonal = np.append(delta, EPSILON * matrix[-1, -1])
    matrix.ravel(order="K")[:: len(diagonal) + 1] += diagonal
    factor = cholesky(matrix)
    if factor is None:
        return None
    solved_border = scipy.linalg.lapack.dpotrs(factor, border, lower=1)[0] if border.size else border
    schur = corner + border.T @ solved_border

    def solve(s: Vector, g: Vector, h: Vector) -> tuple[Vector, Vector, Vector]:
        right = (theta * s) @ Zy
        right += g
        hyperplane = scipy.linalg.lapack.dpotrs(factor, right, lower=1, overwrite_b=1)[0]
        mu = _small_solve(schur, border.T @ hyperplane - h)
        if len(mu):
            hyperplane -= solved_border @ mu
        return theta * (s - Zy @ hyperplane), hyperplane, mu

    return solve


def _by_samples(Zy: Matrix, theta: Vector, delta: Vector, border: Matrix, corner: Matrix) -> Solve | None:
    Z, y = Zy[:, :-1], Zy[:, -1]
    root = np.sqrt(theta)
    matrix = gram((Z * root[:, None] / np.sqrt(delta)).T)
    matrix.ravel(order="K")[:: len(root) + 1] += 1.0
    factor = cholesky(matrix)
    if factor is None:
        return None

    def multipliers(right: Matrix) -> Matrix:
        return np.asarray(root[:, None] * scipy.linalg.lapack.dpotrs(factor, root[:, None] * right, lower=1)[0])

    along = multipliers(y[:, None])[:, 0]
    slope = float(y @ along) + EPSILON * float(theta.sum())

    def without_mu(s: Matrix, g: Matrix) -> tuple[Matrix, Matrix]:
        """Return the steps of alpha (n, k) and of the hyperplane (p + 1, k) for k right-hand sides, without mu."""
        weights = g[:-1] / delta[:, None]
        alpha = multipliers(s - Z @ weights)
        b = (g[-1] + y @ alpha) / slope
        alpha = alpha - np.outer(along, b)
        return alpha, np.vstack([weights + (Z.T @ alpha) / delta[:, None], b])

    none = np.zeros((len(root), border.shape[1]))
    border_alpha, solved_border = without_mu(none, border) if border.size else (none, border)
    schur = corner + border.T @ solved_border

    def solve(s: Vector, g: Vector, h: Vector) -> tuple[Vector, Vector, Vector]:
        alpha, hyperplane = (part[:, 0] for part in without_mu(s[:, None], g[:, None]))
        mu = _small_solve(schur, border.T @ hyperplane - h)
        return alpha - border_alpha @ mu, hyperplane - solved_border @ mu, mu

    return solve


def _small_solve(matrix: Matrix, right: Vector) -> Vector:
    """Solve with the matrix of the constraints, mostly of order 1."""
    if len(right) == 1:
        return np.asarray(right / matrix[0, 0])
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0], dtype=float) if len(right) else right
