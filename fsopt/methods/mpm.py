"""Methods ``l1-mpm`` and ``l0-mpm`` (paper 2), and the limit of what worst-case accuracy can be asked for."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from fsopt.data import Dataset
from fsopt.drivers.dca import Exponential, dca
from fsopt.drivers.recorder import usable
from fsopt.errors import InfeasibleError
from fsopt.methods.common import Plane, Run, make_fit, preprocess, proof, select
from fsopt.models.blocks import number
from fsopt.models.mpm import Moments, build_l0_mpm_step, build_l1_mpm, kappa
from fsopt.results import Fit
from fsopt.solvers.base import solve

Vector = NDArray[np.float64]
THRESHOLD = 1e-4
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


def _delta(method: str, delta: float | None, limit: Limit, warnings: list[str]) -> float:
    """Return the delta to ask for; raise InfeasibleError where no plane has it."""
    if np.isinf(limit.kappa):
        warnings.append(
            "kappa* is infinite (singular covariances separate the means): every delta is feasible and "
            "promises nothing about new data"
        )
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


def fit_l1_mpm(data: Dataset, run: Run, *, delta: float | None = None, scale: str = "standard") -> Fit:
    """Fit the plane of least 1-norm with worst-case accuracy delta on both classes (L1-MPM).

    Parameters
    ----------
    delta : in (0, alpha*]; None asks for 0.9 alpha* of the data.
    scale : ``standard`` (default), ``center`` or ``none``; the selection depends on it, alpha* does not.

    Returns
    -------
    Fit
        ``objective`` is the 1-norm of w in preprocessed units; ``details`` has ``delta``, ``kappa_limit`` and
        ``alpha_limit``. Paper 2, (12)-(15).

    Raises
    ------
    InfeasibleError : delta > alpha*, told before any solver is called.
    """
    started = time.perf_counter()
    work, map_ = preprocess(data, scale)
    warnings: list[str] = []
    limit = accuracy_limit(Moments.of(work))
    asked = _delta("l1-mpm", delta, limit, warnings)
    model = build_l1_mpm(work, delta=asked)
    result = usable(solve(model, run.solver, time_limit=run.time_limit, options=run.options), "L1-MPM")
    w = np.array([x.value for x in model.w.values()])
    return make_fit(
        data, map_, Plane(w, -model.b.value, select(w, THRESHOLD)), objective=float(np.abs(w).sum()),
        outcome=result, started=started, warnings=tuple(warnings),
        details=proof("l1-mpm", {"delta": asked}, result.point, **_limits(asked, limit)),
    )  # fmt: skip


def fit_l0_mpm(
    data: Dataset, run: Run, *, delta: float | None = None, alpha: float = 5.0, scale: str = "standard"
) -> Fit:
    """Fit the sparse plane with worst-case accuracy delta by DCA (L0-MPM).

    Parameters
    ----------
    delta, scale : as in :func:`fit_l1_mpm`.
    alpha : > 0, steepness of the approximation 1 - exp(-alpha |w|) of the step function.

    Returns
    -------
    Fit
        ``objective`` is (32), in preprocessed units; ``stationary`` where DCA's certificate holds. Paper 2,
        Algorithm 1, from v = 0: the first iterate is the L1-MPM plane.

    Raises
    ------
    InfeasibleError : delta > alpha*, told before any solver is called.
    """
    started = time.perf_counter()
    alpha = number("l0-mpm", "alpha", alpha, low=0.0, strict=True)
    work, map_ = preprocess(data, scale)
    warnings: list[str] = []
    limit = accuracy_limit(Moments.of(work))
    asked = _delta("l0-mpm", delta, limit, warnings)
    model = build_l0_mpm_step(work, delta=asked, alpha=alpha)
    result = dca(
        model, Exponential(alpha), solver=run.solver, options=run.options, time_limit=run.time_limit,
        progress=run.progress,
    )  # fmt: skip
    w = result.point["w"]
    assert result.objective is not None
    params = {"delta": asked, "alpha": alpha, "v": result.point["gradient"]}
    return make_fit(
        data, map_, Plane(w, -result.point["b"], select(w, THRESHOLD)), objective=result.objective,
        outcome=result, started=started, warnings=tuple(warnings),
        details=proof("l0-mpm-step", params, result.point["proof"], **_limits(asked, limit)),
    )  # fmt: skip


def _limits(delta: float, limit: Limit) -> dict[str, Any]:
    return {"delta": delta, "kappa_limit": limit.kappa, "alpha_limit": limit.alpha}
