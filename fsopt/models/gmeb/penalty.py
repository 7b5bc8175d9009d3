"""The penalty of Peleg & Meir, (10), as a function of the classifier alone, once its scales are minimised out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from fsopt.data import Dataset
from fsopt.models.gmeb.moments import second_moments
from fsopt.typing import Vector

ROUNDING = 1e-14
"""Relative difference of two terms that is their rounding."""


@dataclass(frozen=True)
class GmebPenalty:
    r"""The smallest penalty of (10) over the scales, as a function of the weights :math:`\tilde w_j = w_j\sigma_j`.

    .. math::

        P(\tilde w) = \min_{0 \le \rho \le 1} \sum_j |\tilde w_j| u_j(\rho), \qquad
        u_j(\rho)^2 = \frac{\alpha_j}{\rho} + \frac{\beta_j}{1-\rho}, \qquad
        \alpha_j = \frac{C_+^2 n_+}{n^2} v_j^+, \quad \beta_j = \frac{C_-^2 n_-}{n^2} v_j^-

    by the Cauchy-Schwarz inequality, used twice. Each u_j is convex in rho, but P is not convex in the weights. At the
    minimum rho is the share of the first norm term of (10) in the penalty.

    Attributes
    ----------
    alpha, beta : (p,) coefficients of :math:`\sigma_j^2` in the squares of the two norm terms.
    """

    alpha: Vector
    beta: Vector

    @classmethod
    def of(cls, data: Dataset, c_plus: float, c_minus: float) -> GmebPenalty:
        """Return the penalty of a data set with the penalty weights C+ and C-."""
        v_plus, v_minus = second_moments(data)
        positives = int(np.sum(data.y > 0))
        return cls(
            (c_plus / data.n) ** 2 * positives * v_plus, (c_minus / data.n) ** 2 * (data.n - positives) * v_minus
        )

    def weights(self, share: float) -> Vector:
        """Return u (p,) at a share rho in [0, 1]; an entry is infinite at an end that excludes its feature."""
        u: Vector = np.sqrt(_quotient(self.alpha, share) + _quotient(self.beta, 1.0 - share))
        return u

    def slopes(self, share: float) -> Vector:
        """Return the derivative u' (p,) at a share rho in (0, 1), 0 where it is the rounding of its two terms."""
        rise, fall = self.beta / (1.0 - share) ** 2, self.alpha / share**2
        flat = np.isclose(rise, fall, rtol=ROUNDING, atol=0.0)
        return _quotient(np.where(flat, 0.0, rise - fall), 2.0 * self.weights(share))

    def at(self, w: Vector) -> tuple[float, float]:
        """Return P(w) and the share rho that attains it."""
        used = np.flatnonzero(w)
        if not len(used):
            return 0.0, 0.5
        size, part = np.abs(w[used]), GmebPenalty(self.alpha[used], self.beta[used])

        def penalty(share: float) -> float:
            return float(size @ part.weights(share))

        # u_j is smallest at sqrt(alpha_j) / (sqrt(alpha_j) + sqrt(beta_j)): the minimiser of the convex sum lies
        # between the smallest and the largest of these shares.
        minimisers = _quotient(np.sqrt(part.alpha), np.sqrt(part.alpha) + np.sqrt(part.beta))
        ends = float(minimisers.min()), float(minimisers.max())
        inner = scipy.optimize.minimize_scalar(penalty, bounds=ends, method="bounded", options={"xatol": 1e-12})
        return min((penalty(share), share) for share in (*ends, float(inner.x)))

    def scales(self, w: Vector) -> Vector:
        """Return the sigma (p,) of (10) that is best for the weights w; the w of (10) is then ``w / sigma``."""
        value, share = self.at(w)
        sigma: Vector = np.sqrt(_quotient(value * np.abs(w), self.weights(share)))
        return sigma


def _quotient(numerator: Vector, denominator: Vector | float) -> Vector:
    """Return the quotient (p,), 0 wherever the numerator is 0."""
    with np.errstate(divide="ignore"):
        quotient: Vector = np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=numerator != 0)
    return quotient
