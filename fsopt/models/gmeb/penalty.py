"""The penalty of (10), Peleg & Meir, as a function of the classifier."""

from __future__ import annotations

from fsopt.typing import Vector

import numpy as np
from dataclasses import dataclass
from fsopt.data import Dataset
from fsopt.models.gmeb.moments import second_moments
from scipy.optimize import minimize_scalar
from typing import Any


@dataclass(frozen=True)
class GmebPenalty:
    r"""The least penalty of (10) over the scales, as a function of the plane :math:`\tilde w_j = w_j\sigma_j`.

    .. math::

        P(\tilde w) = \min_{0 \le \rho \le 1} \sum_j |\tilde w_j| u_j(\rho), \qquad
        u_j(\rho)^2 = \frac{\alpha_j}{\rho} + \frac{\beta_j}{1-\rho}, \qquad
        \alpha_j = \frac{C_+^2 n_+}{n^2} v_j^+, \quad \beta_j = \frac{C_-^2 n_-}{n^2} v_j^-

    by the Cauchy-Schwarz inequality, used twice. Each u_j is convex in rho, but P is not convex in the plane. At the
    minimum rho is the share of the first norm term of (10) in the penalty.

    Attributes
    ----------
    alpha, beta : (p,) coefficients of :math:`\sigma_j^2` in the squares of the two norm terms.
    """

    alpha: Vector
    beta: Vector

    @classmethod
    def of(cls, data: Dataset, c_plus: float, c_minus: float) -> GmebPenalty:
        """Return the penalty of a data set."""
        v_plus, v_minus = second_moments(data)
        positives = int(np.sum(data.y > 0))
        return cls(
            (c_plus / data.n) ** 2 * positives * v_plus, (c_minus / data.n) ** 2 * (data.n - positives) * v_minus
        )

    def weights(self, share: float) -> Vector:
        """Return u (p,) at a share in [0, 1]; infinite at an end that rules a feature out."""
        u: Vector = np.sqrt(over(self.alpha, share) + over(self.beta, 1.0 - share))
        return u

    def slopes(self, share: float) -> Vector:
        """Return the derivative u' (p,) at a share in (0, 1)."""
        return over(self.beta / (1.0 - share) ** 2 - self.alpha / share**2, 2.0 * self.weights(share))

    def at(self, w: Vector) -> tuple[float, float]:
        """Return P(w) and the share at which it is attained."""
        used = np.flatnonzero(w)
        if not len(used):
            return 0.0, 0.5
        size, part = np.abs(w[used]), GmebPenalty(self.alpha[used], self.beta[used])
        own = over(np.sqrt(part.alpha), np.sqrt(part.alpha) + np.sqrt(part.beta))
        ends = float(own.min()), float(own.max())
        inner = minimize_scalar(
            lambda share: float(size @ part.weights(share)), bounds=ends, method="bounded", options={"xatol": 1e-12}
        )
        return min((float(size @ part.weights(share)), share) for share in (*ends, float(inner.x)))

    def scales(self, w: Vector) -> Vector:
        """Return the sigma (p,) of (10) that is best for a plane; (10)'s own w is then ``w / sigma``, of norm 1."""
        value, share = self.at(w)
        sigma: Vector = np.sqrt(over(value * np.abs(w), self.weights(share)))
        return sigma


def over(numerator: Vector, denominator: Any) -> Vector:
    """Return the quotient (p,), 0 wherever the numerator is 0."""
    with np.errstate(divide="ignore"):
        quotient: Vector = np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=numerator != 0)
    return quotient
