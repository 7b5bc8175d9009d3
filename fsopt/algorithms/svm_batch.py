r"""Interior point for many support vector machines of one size at a time, in stacked arrays.

.. math:: \max_{0 \le \alpha \le C,\ y'\alpha = 0} e'\alpha - \tfrac12 \|Z_S'\alpha\|^2 - \tfrac12 \alpha'\Gamma\alpha,
          \qquad Z = YX,

for many selections S. The neighbours of a selection are hundreds of small programs: a step of all of them is a few
operations on arrays with one more dimension, so that the interpreter's share of the time vanishes without a compiler. A
program leaves the stack where its gap is closed, or where the value of its dual shows that it is above a cutoff.

With the multipliers z and :math:`\xi` of the bounds of alpha, a step solves, by :math:`\Theta^{-1} = \Gamma + z /
\alpha + \xi / (C - \alpha)`, the equations of the hyperplane h = (w, b) with the signed samples and labels
:math:`A = [Z_S\ y]`,

.. math:: (E + A'\Theta A)\,dh = A'\alpha - E h + A'\Theta s, \qquad d\alpha = \Theta (s - A\,dh), \qquad
          E = \mathrm{diag}(1, \dots, 1, 0),

where s collects the residual of the margins and the targets of the products, those of the predictor-corrector method
(Mehrotra, 1992).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsopt.data.losses import DualTerm
from fsopt.typing import Mask, Matrix, Vector

ITERATIONS = 40
"""Largest number of steps."""
BOUNDARY = 0.99
"""Share of the largest step that keeps the variables positive."""
EPSILON = 1e-12
"""The diagonal of b, as a share of the sum of theta."""


@dataclass(frozen=True)
class SvmBatch:
    """Support vector machines that were solved together.

    Attributes
    ----------
    alpha : (k, n) balanced multipliers, of each the best ones found.
    hyperplane : (k, s + 1) weights and intercepts of the last iterates.
    bound : (k,) values of the dual at alpha: lower bounds up to rounding.
    closed : (k,) whether the gap is closed; the others are at the cutoff, or failed.
    """

    alpha: Matrix
    hyperplane: Matrix
    bound: Vector
    closed: Mask


def solve_batch(
    A: Matrix,
    term: DualTerm,
    gap: float,
    cutoff: float = np.inf,
    frozen: Matrix | None = None,
) -> SvmBatch:
    r"""Solve support vector machines up to a relative gap, or to a cutoff.

    Parameters
    ----------
    A : (k, s + 1, n) signed samples of the selected features, and the labels in the last row.
    term : of the multipliers in the objective, with their upper bounds.
    cutoff : value of the dual from which a program is of no interest, less the sum of frozen multipliers.
    frozen : (k, s + 1) sums of the columns of A over further samples, times their multipliers, which stay as they are:
        :math:`q^0`, and :math:`\beta` of the equation :math:`y'\alpha = -\beta`. None for no such samples.
    """
    k, rows, n = A.shape
    found = SvmBatch(np.zeros((k, n)), np.zeros((k, rows)), np.full(k, -np.inf), np.zeros(k, dtype=bool))
    y = A[0, -1] if k else np.ones(n)
    fixed = np.zeros((k, rows)) if frozen is None else frozen
    alpha = _start(A, y, term, fixed)
    ones = np.ones((k, n))
    at = _Steps(A, term, fixed, alpha, term.caps - alpha, ones, ones, np.zeros((k, rows)))
    left = np.arange(k)
    for _ in range(ITERATIONS):
        if not len(left):
            break
        moved = at.step()
        alpha = _balanced(at.alpha, y, at.fixed[:, -1])
        q = at.fixed[:, :-1] + np.matmul(at.A[:, :-1], alpha[:, :, None])[:, :, 0]
        value = term.values(alpha).sum(axis=1) - 0.5 * (q * q).sum(axis=1)
        better = value > found.bound[left]
        found.bound[left[better]], found.alpha[left[better]] = value[better], alpha[better]
        found.hyperplane[left] = at.hyperplane
        distance = (at.alpha * at.z + at.rest * at.xi).sum(axis=1) + at.open_gap()
        closed = distance <= gap * np.maximum(np.abs(found.bound[left]), 1e-300)
        found.closed[left] = closed & moved
        going = moved & ~closed & (found.bound[left] < cutoff)
        if not going.all():
            left = left[going]
            at = at.of(going)
    return found


def _start(A: Matrix, y: Vector, term: DualTerm, fixed: Matrix) -> Matrix:
    """Return multipliers (k, n) to start from: half of C, balanced, and smaller where the best multiple of them is."""
    c = term.caps
    alpha = np.broadcast_to(0.5 * c, (len(A), len(y)))
    alpha = np.clip(_balanced(alpha, y, fixed[:, -1]), 1e-3 * c, 0.9 * c)
    if fixed.any():
        return alpha
    q = np.matmul(A[:, :-1], alpha[:, :, None])[:, :, 0]
    size = np.maximum((q * q).sum(axis=1) + (term.curvature(alpha) * alpha * alpha).sum(axis=1), 1e-300)
    return np.asarray(alpha * np.clip(alpha.sum(axis=1) / size, 1e-3, 1.0)[:, None])


def _balanced(alpha: Matrix, y: Vector, balance: Vector) -> Matrix:
    """Return multipliers (k, n) with y'alpha = -balance (k,), those of one class scaled down, not below 0."""
    plus = y > 0
    up, down = alpha[:, plus].sum(axis=1), alpha[:, ~plus].sum(axis=1)
    least = np.maximum(np.minimum(up + balance, down), 0.0)
    on_plus = np.clip((least - balance) / np.maximum(up, 1e-300), 0.0, 1.0)
    return np.asarray(alpha * np.where(plus, on_plus[:, None], (least / np.maximum(down, 1e-300))[:, None]))


@dataclass
class _Steps:
    """The iterates of programs that go on; ``fixed`` are the sums over frozen samples."""

    A: Matrix
    term: DualTerm
    fixed: Matrix
    alpha: Matrix
    rest: Matrix
    z: Matrix
    xi: Matrix
    hyperplane: Matrix

    def of(self, kept: Mask) -> _Steps:
        """Return some of the programs."""
        fixed, *parts = (part[kept] for part in (self.fixed, self.alpha, self.rest, self.z, self.xi, self.hyperplane))
        return _Steps(self.A[kept], self.term, fixed, *parts)

    def _margins(self) -> Matrix:
        return np.asarray(np.matmul(self.hyperplane[:, None, :], self.A)[:, 0])

    def open_gap(self) -> Vector | float:
        """Return the part of the duality gaps (k,) that is not in the products."""
        return self.term.open_gap(self.alpha, self._margins() - self.z + self.xi)

    def step(self) -> Mask:
        """Take a predictor-corrector step of each; return which programs (k,) moved."""
        A = self.A
        alpha, rest = self.alpha, self.rest
        z, xi = self.z, self.xi
        n = A.shape[2]
        inverse_alpha, inverse_rest = 1.0 / alpha, 1.0 / rest
        theta = 1.0 / (z * inverse_alpha + xi * inverse_rest + self.term.curvature(alpha))
        margin = self.term.slopes(alpha) - self._margins() + z - xi
        linear = self.fixed + np.matmul(A, alpha[:, :, None])[:, :, 0]
        linear[:, :-1] -= self.hyperplane[:, :-1]
        scaled = A * theta[:, None, :]
        matrix = np.matmul(scaled, A.transpose(0, 2, 1))
        diagonal = np.arange(A.shape[1] - 1)
        matrix[:, diagonal, diagonal] += 1.0
        matrix[:, -1, -1] *= 1.0 + EPSILON
        inverse = np.linalg.inv(matrix)

        def direction(on_alpha: Matrix, on_rest: Matrix) -> tuple[Matrix, Matrix, Matrix, Matrix]:
            on_alpha, on_rest = on_alpha * inverse_alpha, on_rest * inverse_rest
            s = margin + on_alpha - on_rest
            right = linear + np.matmul(scaled, s[:, :, None])[:, :, 0]
            d_h = np.matmul(inverse, right[:, :, None])[:, :, 0]
            d_alpha = theta * (s - np.matmul(d_h[:, None, :], A)[:, 0])
            return d_h, d_alpha, on_alpha - z * inverse_alpha * d_alpha, on_rest + xi * inverse_rest * d_alpha

        def largest(d_alpha: Matrix, d_z: Matrix, d_xi: Matrix) -> Vector:
            fall = np.maximum(np.maximum(-d_alpha * inverse_alpha, d_alpha * inverse_rest), 0.0)
            fall = np.maximum(np.maximum(-d_z / z, -d_xi / xi), fall).max(axis=1)
            return np.asarray(1.0 / np.maximum(fall, 1e-12))

        on_alpha, on_rest = -alpha * z, -rest * xi
        mu = -(on_alpha + on_rest).sum(axis=1) / (2 * n)
        d_h, d_alpha, d_z, d_xi = direction(on_alpha, on_rest)
        length = np.minimum(largest(d_alpha, d_z, d_xi), 1.0)[:, None]
        after = (alpha + length * d_alpha) * (z + length * d_z) + (rest - length * d_alpha) * (xi + length * d_xi)
        share = np.clip(after.sum(axis=1) / (2 * n) / mu, 0.0, 1.0) ** 3
        target = (np.maximum(share, 1e-4) * mu)[:, None]
        d_h, d_alpha, d_z, d_xi = direction(target + on_alpha - d_alpha * d_z, target + on_rest + d_alpha * d_xi)
        length = np.minimum(BOUNDARY * largest(d_alpha, d_z, d_xi), 1.0)
        moved = np.isfinite(d_h).all(axis=1) & np.isfinite(length) & (length > 1e-8)
        length = np.where(moved, length, 0.0)[:, None]
        self.hyperplane = self.hyperplane + length * np.where(moved[:, None], d_h, 0.0)
        self.alpha = alpha + length * np.where(moved[:, None], d_alpha, 0.0)
        self.rest = np.maximum(self.term.caps - self.alpha, 1e-300)
        self.z = z + length * np.where(moved[:, None], d_z, 0.0)
        self.xi = xi + length * np.where(moved[:, None], d_xi, 0.0)
        return np.asarray(moved)
