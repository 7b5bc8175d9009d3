"""The norm whose unit ball (15) of Peleg & Meir searches."""

from __future__ import annotations

from fsopt.typing import Vector

import numpy as np
from dataclasses import dataclass
from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.models.gmeb.moments import second_moments
from scipy.optimize import minimize_scalar


@dataclass(frozen=True)
class GmebNorm:
    r"""The norm of GMEB: (15) is :math:`\min 1'\xi` over the planes with :math:`N(w) \le 1`.

    .. math::

        N(w) = \max_{\theta \in [0,1]} \sum_j |w_j| u_j(\theta), \qquad
        u_j(\theta)^2 = \theta v_j^+/R_+ + (1-\theta) v_j^-/R_-

    The sum is concave in theta. An infinite radius fixes theta at the other end.

    Attributes
    ----------
    v_plus, v_minus : (p,) second moments of the columns over the two classes.
    r_plus, r_minus : R+ and R-, at most one of them infinite.
    """

    v_plus: Vector
    v_minus: Vector
    r_plus: float
    r_minus: float

    @classmethod
    def of(cls, data: Dataset, r_plus: float, r_minus: float) -> GmebNorm:
        """Return the norm of a data set; raises ParameterError where both radii are infinite."""
        if np.isinf(r_plus) and np.isinf(r_minus):
            raise ParameterError("both r_plus and r_minus are infinite, nothing limits w", "give a finite one")
        return cls(*second_moments(data), r_plus, r_minus)

    @property
    def ends(self) -> tuple[float, ...]:
        """The ends of the range of theta."""
        return tuple(t for t, r in ((0.0, self.r_minus), (1.0, self.r_plus)) if np.isfinite(r))

    def weights(self, theta: float) -> Vector:
        """Return u(theta) (p,)."""
        u: Vector = np.sqrt(theta * self.v_plus / self.r_plus + (1.0 - theta) * self.v_minus / self.r_minus)
        return u

    def at(self, w: Vector) -> tuple[float, float]:
        """Return N(w) and the theta at which it is attained."""
        size = np.abs(w)
        candidates = list(self.ends)
        if len(candidates) == 2:
            used = np.flatnonzero(size)
            plus, minus = self.v_plus[used] / self.r_plus, self.v_minus[used] / self.r_minus
            inner = minimize_scalar(
                lambda t: -float(size[used] @ np.sqrt(t * plus + (1.0 - t) * minus)),
                bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-12},
            )  # fmt: skip
            candidates.append(float(inner.x))
        values = [float(size @ self.weights(t)) for t in candidates]
        best = int(np.argmax(values))
        return values[best], candidates[best]

    def scales(self, w: Vector) -> Vector:
        r"""Return the sigma (p,) of (15) that belongs to w: within the radii, with :math:`\sum_j w_j^2/\sigma_j = N^2`."""
        norm, theta = self.at(w)
        u = norm * self.weights(theta)
        sigma: Vector = np.where(u > 0, np.abs(w) / np.where(u > 0, u, 1.0), 0.0)
        return sigma

    def price_shares(self, price_plus: float, price_minus: float) -> float:
        """Return theta from the prices of the two radii, ``mu_+ R_+ / (mu_+ R_+ + mu_- R_-)``."""
        plus = max(price_plus, 0.0) * self.r_plus if np.isfinite(self.r_plus) else 0.0
        minus = max(price_minus, 0.0) * self.r_minus if np.isfinite(self.r_minus) else 0.0
        return plus / (plus + minus) if plus + minus > 0 else self.ends[0]
