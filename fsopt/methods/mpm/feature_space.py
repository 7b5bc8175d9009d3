"""What the minimax probability machines share: the space they work in, its moments, and how accurate a plane can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from fsopt.data import Dataset
from fsopt.data.kernels import Kernel
from fsopt.errors import InfeasibleError, reading
from fsopt.methods.kernel_values import kernel_ridge, kernel_space
from fsopt.methods.preprocessing import preprocess
from fsopt.methods.spec import SavedFit
from fsopt.models.blocks import number
from fsopt.models.mpm.moments import Moments, kappa
from fsopt.results import Preprocessing
from fsopt.typing import Vector

AUTO = 0.9
"""Share of alpha* that is asked for where the user names no delta, and the most that is asked for at all."""


@dataclass(frozen=True)
class Limit:
    """The largest worst-case accuracy alpha* = kappa*^2 / (1 + kappa*^2) of any plane for given moments."""

    kappa: float

    @property
    def alpha(self) -> float:
        """The limit alpha*; 1 where kappa* is infinite."""
        return 1.0 if np.isinf(self.kappa) else self.kappa**2 / (1 + self.kappa**2)


def accuracy_limit(moments: Moments) -> Limit:
    r"""Return kappa* of the minimax probability machine, computed without a solver.

    Since :math:`(\|F_1w\| + \|F_2w\|)^2 = \min_{0<\lambda<1} w'(S_1/\lambda + S_2/(1-\lambda))w`,

    .. math:: \kappa^{*2} = \max_{0<\lambda<1} d'\left(\frac{S_1}{\lambda} + \frac{S_2}{1-\lambda}\right)^{-1}d
        = \max_\lambda \sum_i \frac{\lambda(1-\lambda)\,\delta_i^2}{(1-\lambda)\tau_i + \lambda(1-\tau_i)},
        \qquad d = \mu_1 - \mu_2

    with :math:`\tau` the eigenvalues of :math:`S_1` relative to :math:`S_1 + S_2` and :math:`\delta` the
    coordinates of d: concave in one variable. If d leaves the range of :math:`S_1 + S_2`, kappa* is infinite.
    """
    d = moments.mean1 - moments.mean2
    stacked = np.vstack([moments.factor1, moments.factor2])
    _, s, Vt = np.linalg.svd(stacked, full_matrices=False)
    keep = s > 1e-9 * max(s[0], 1e-300)
    V, s = Vt[keep].T, s[keep]
    inside = V.T @ d
    if np.linalg.norm(d - V @ inside) > 1e-7 * np.linalg.norm(d):
        return Limit(np.inf)
    half = moments.factor1 @ (V / s)
    tau, Q = np.linalg.eigh(half.T @ half)
    tau = np.clip(tau, 0.0, 1.0)
    squares = (Q.T @ (inside / s)) ** 2

    def kappa_squared(lam: float) -> float:
        return float(np.sum(squares * lam * (1 - lam) / np.maximum((1 - lam) * tau + lam * (1 - tau), 1e-300)))

    best = minimize_scalar(
        lambda t: -kappa_squared(t), bounds=(1e-12, 1 - 1e-12), method="bounded", options={"xatol": 1e-12}
    )
    return Limit(float(np.sqrt(-best.fun)))


def worst_case(w: Vector, b: float, moments: Moments) -> tuple[float, float]:
    r"""Return the worst-case accuracy of the plane ``w'x + b`` on class 1 (y = +1) and on class 2.

    .. math:: \inf_{X \sim (\mu, S)} P(w'X + b \ge 0) = \frac{d^2}{d^2 + w'Sw}, \qquad d = w'\mu + b > 0

    and 0 where d <= 0, over all distributions with this mean and covariance; with the sign turned for class 2.

    Parameters
    ----------
    w : (p,) weights.
    b : intercept.
    moments : in the same units as the plane.

    Notes
    -----
    Paper 2, section 2.1: the Chebyshev-Cantelli inequality, which two-point distributions attain.
    """
    found = []
    for mean, factor, sign in ((moments.mean1, moments.factor1, 1.0), (moments.mean2, moments.factor2, -1.0)):
        distance = sign * float(mean @ w + b)
        spread = float(np.linalg.norm(factor @ w))
        found.append(distance**2 / (distance**2 + spread**2) if distance > 0 else 0.0)
    return found[0], found[1]


@dataclass(frozen=True)
class Space:
    """The preprocessed data, the map that was applied, their moments, and the limit of these.

    Attributes
    ----------
    moment_options : the keywords ``unbiased`` and ``ridge`` of the moments, which the builders take, too.
    kernel : the kernel whose matrix ``work`` is; None where ``work`` has the columns themselves.
    warnings : remarks about the kernel.
    """

    work: Dataset
    map_: Preprocessing
    moments: Moments
    limit: Limit
    moment_options: Mapping[str, Any]
    kernel: Kernel | None = None
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        data: Dataset,
        scale: str,
        *,
        unbiased: bool = False,
        ridge: float | None = None,
        kernel: str | None = None,
        width: float | None = None,
        degree: int = 2,
    ) -> Space:
        """Return the space of a data set, or of its kernel matrix, where the patterns take the features' place.

        Parameters
        ----------
        scale : of the columns, as in :func:`fsopt.methods.preprocessing.preprocess`; a kernel matrix is not scaled again.
        unbiased, ridge : as in :meth:`fsopt.models.mpm.moments.Moments.of`. None is 0; with a kernel, whose covariances are
            always singular, it is 1e-2 of the mean variance of the kernel's columns within a class.
        kernel, width, degree : as in :func:`fsopt.methods.kernel_values.kernel_space`; None for the columns themselves.

        Raises
        ------
        ParameterError : a parameter outside its range, a kernel without a ridge, or a kernel matrix that is constant.
        """
        work, map_ = preprocess(data, scale)
        function, warnings = None, tuple[str, ...]()
        if kernel is not None:
            function, work, warnings = kernel_space(work, kernel, width, degree)
            ridge = kernel_ridge(work, ridge, unbiased)
        rho = 0.0 if ridge is None else ridge
        moments = Moments.of(work, unbiased=unbiased, ridge=rho)
        options = {"unbiased": unbiased, "ridge": rho}
        return cls(work, map_, moments, accuracy_limit(moments), options, function, warnings)

    @property
    def limits(self) -> dict[str, float]:
        """What a Fit keeps about the limit of the accuracy, and the ridge that it rests on."""
        return {"kappa_limit": self.limit.kappa, "alpha_limit": self.limit.alpha, "ridge": self.moment_options["ridge"]}

    def details(self, delta: float) -> dict[str, Any]:
        """Return what a Fit keeps about the accuracy asked for and its limit."""
        return {"delta": delta, **self.limits}


def warn_if_infinite(limit: Limit, warnings: list[str]) -> None:
    """Add the warning that goes with singular covariances which separate the means."""
    if np.isinf(limit.kappa):
        warnings.append(
            "kappa* is infinite (singular covariances separate the means): every delta is feasible and "
            "promises nothing about new data; a ridge > 0 makes it finite"
        )


def asked_delta(method: str, delta: float | None, limit: Limit, warnings: list[str]) -> float:
    """Return the delta to ask for; raise InfeasibleError where no plane has it."""
    warn_if_infinite(limit, warnings)
    if delta is None:
        return min(AUTO * limit.alpha, AUTO)
    delta = number(method, "delta", delta, low=0.0, high=1.0, strict=True)
    if delta > limit.alpha:
        raise InfeasibleError(
            f"'{method}' is infeasible at delta = {delta:g}: it asks for kappa = {kappa(delta):.4f}, the data "
            f"allow at most kappa* = {limit.kappa:.4f}, alpha* = {limit.alpha:.4f}",
            f"choose delta <= {np.floor(limit.alpha * 1e4) / 1e4:.4f}",
        )
    return delta


def moments_of(data: Dataset, at: Mapping[str, Any]) -> Moments:
    """Return the moments that a minimax probability machine with these parameters rests on."""
    ridge = at.get("ridge")
    return Moments.of(data, unbiased=at.get("unbiased", False), ridge=0.0 if ridge is None else ridge)


def accuracy_violation(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> float:
    """Return the relative violation of the two probability constraints of L1-MPM and L0-MPM."""
    moments, delta, worst = moments_of(data, at), at["delta"], 0.0
    for mean, factor, sign in ((moments.mean1, moments.factor1, 1), (moments.mean2, moments.factor2, -1)):
        distance = sign * float(mean @ w + b)
        needed = max(1.0, kappa(delta) * float(np.linalg.norm(factor @ w)))
        worst = max(worst, (needed - distance) / needed)
    return worst


def with_worst_case(saved: SavedFit) -> SavedFit:
    """Return a saved fit with a residual for the worst-case accuracies that it states."""
    with reading("worst-case accuracies"):
        found = worst_case(saved.w, saved.b, moments_of(saved.data, saved.params))
        difference = float(np.abs(np.subtract(found, saved.fit.details["worst_case"])).max())
    return replace(saved, residuals={**saved.residuals, "worst case": difference})
