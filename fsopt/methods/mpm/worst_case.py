"""Worst-case accuracy of a hyperplane over all distributions with given moments, and its largest value alpha*."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy
import scipy.sparse as sp

from fsopt.data import Dataset
from fsopt.models.mpm.moments import Moments, triangular
from fsopt.typing import Matrix, Vector

RANK = 1e-9
"""Singular values of the stacked factors below this, relative to the largest, are 0 up to rounding."""
NARROW = 1e-7
"""Smallest distance of a mean from the hyperplane, relative to that of both means. A class without a deviation, as one
of a single sample, would else have its mean on the hyperplane, on the side that rounding chooses."""
OUTSIDE = 1e-7
"""Part of mu_1 - mu_2 outside the range of S_1 + S_2, relative to its norm, from which kappa* is infinite."""


@dataclass(frozen=True)
class Limit:
    """The largest worst-case accuracy alpha* = kappa*^2 / (1 + kappa*^2) of any hyperplane for given moments."""

    kappa: float

    @property
    def alpha(self) -> float:
        """The limit alpha*; 1 where kappa* is infinite."""
        return 1.0 if np.isinf(self.kappa) else self.kappa**2 / (1 + self.kappa**2)


_LIMITS: WeakKeyDictionary[Moments, Limit] = WeakKeyDictionary()
"""The limit of the moments in use: the objective of a fit and its stated accuracies are compared with the same one."""


def accuracy_limit(moments: Moments) -> Limit:
    r"""Return kappa* of the minimax probability machine, computed without a solver.

    Since :math:`(\|F_1w\| + \|F_2w\|)^2 = \min_{0<\lambda<1} w'(S_1/\lambda + S_2/(1-\lambda))w`,

    .. math:: \kappa^{*2} = \max_{0<\lambda<1} d'\left(\frac{S_1}{\lambda} + \frac{S_2}{1-\lambda}\right)^{-1}d
        = \max_\lambda \sum_i \frac{\lambda(1-\lambda)\,\delta_i^2}{(1-\lambda)\tau_i + \lambda(1-\tau_i)},
        \qquad d = \mu_1 - \mu_2

    with :math:`\tau` the eigenvalues of :math:`S_1` relative to :math:`S_1 + S_2` and :math:`\delta` the
    coordinates of d: concave in one variable. If d leaves the range of :math:`S_1 + S_2`, kappa* is infinite.
    """
    if moments not in _LIMITS:
        _LIMITS[moments] = _accuracy_limit(moments)
    return _LIMITS[moments]


def _accuracy_limit(moments: Moments) -> Limit:
    d, factor1, factor2 = _in_span(moments)
    stacked = np.vstack([factor1, factor2])
    _, s, Vt = np.linalg.svd(stacked, full_matrices=False)
    keep = s > RANK * max(s[0], 1e-300)
    V, s = Vt[keep].T, s[keep]
    inside = V.T @ d
    if np.linalg.norm(d - V @ inside) > OUTSIDE * np.linalg.norm(d):
        return Limit(np.inf)
    # With S_1 + S_2 = V diag(s^2) V', the eigenvalues of S_1 relative to it are those of (F_1 V/s)'(F_1 V/s).
    half = factor1 @ (V / s)
    tau, Q = np.linalg.eigh(half.T @ half)
    tau = np.clip(tau, 0.0, 1.0)
    squares = (Q.T @ (inside / s)) ** 2

    def kappa_squared(lam: float) -> float:
        return float(np.sum(squares * lam * (1 - lam) / np.maximum((1 - lam) * tau + lam * (1 - tau), 1e-300)))

    best = scipy.optimize.minimize_scalar(
        lambda t: -kappa_squared(t), bounds=(1e-12, 1 - 1e-12), method="bounded", options={"xatol": 1e-12}
    )
    return Limit(float(np.sqrt(-best.fun)))


def _in_span(moments: Moments) -> tuple[Vector, Matrix, Matrix]:
    """Return the difference of the means and both factors, of few samples with a ridge in coordinates of their span."""
    # The optimal w lies in the span of the samples' rows of both factors and the difference: both covariances map it to
    # itself, and with a ridge a part of w outside it adds to both deviations alone.
    d, factors = moments.mean1 - moments.mean2, (moments.factor1, moments.factor2)
    p, sparse = len(d), [sp.csr_array(factor) for factor in factors if sp.issparse(factor)]
    if len(sparse) < 2 or sum(factor.shape[0] - p for factor in sparse) >= p:
        return d, triangular(factors[0]), triangular(factors[1])
    rows = [factor[:-p].toarray() for factor in sparse]
    basis = np.linalg.qr(np.vstack([*rows, d]).T)[0]
    ridge = sparse[0][-1, -1] * np.eye(basis.shape[1])
    first, second = (np.vstack([part @ basis, ridge]) for part in rows)
    return basis.T @ d, first, second


def worst_case(w: Vector, b: float, moments: Moments) -> tuple[float, float]:
    r"""Return the worst-case accuracy of the hyperplane ``w'x + b`` on class 1 (y = +1) and on class 2 (y = -1).

    .. math:: \inf_{X \sim (\mu, S)} P(w'X + b \ge 0) = \frac{d^2}{d^2 + w'Sw}, \qquad d = w'\mu + b > 0

    and 0 where d <= 0, over all distributions with this mean and covariance; with the sign turned for class 2.

    Parameters
    ----------
    w : (p,) weights.
    b : intercept.
    moments : in the units of the weights.

    Notes
    -----
    Yang & Ju, section 2.1: the Chebyshev-Cantelli inequality, which two-point distributions attain.
    """
    found = []
    for mean, factor, sign in ((moments.mean1, moments.factor1, 1.0), (moments.mean2, moments.factor2, -1.0)):
        distance = sign * float(mean @ w + b)
        spread = float(np.linalg.norm(factor @ w))
        found.append(distance**2 / (distance**2 + spread**2) if distance > 0 else 0.0)
    return found[0], found[1]


def moments_of(data: Dataset, at: Mapping[str, Any]) -> Moments:
    """Return the moments of preprocessed data that a method with the parameters ``at`` uses."""
    ridge = at.get("ridge")
    return Moments.of(data, ridge=0.0 if ridge is None else ridge)
