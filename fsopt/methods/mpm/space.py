"""The space of the minimax probability machines: features or kernel values, their moments, and the accuracies there.

The largest worst-case accuracy alpha* is known without a solver. Programs of many more features than samples are solved
by a working set of features, with multipliers as evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyomo.environ as pyo
import scipy
import scipy.sparse as sp

from fsopt.answers.fits import Fit
from fsopt.answers.results import DriverResult, SolveResult
from fsopt.compiler import Program
from fsopt.data import Dataset
from fsopt.data.hyperplanes import Kernel
from fsopt.data.matrices import Preprocessing
from fsopt.drivers.run import Run
from fsopt.drivers.working_set import Build, Price
from fsopt.errors import InfeasibleError
from fsopt.methods.large_programs import by_features
from fsopt.methods.preprocessing import kernel_values, make_fit, preprocess
from fsopt.methods.spec import SavedFit
from fsopt.methods.verdict import columns_of, rows_of
from fsopt.models.mpm.moments import Moments, kappa, model_factor, triangular
from fsopt.typing import Indices, Matrix, Vector

DEFAULT_SHARE = 0.9
"""Share of alpha* that is asked for where the user gives no delta, and the largest delta that is asked for then."""
RIDGE = 1e-2
"""Default ridge of kernel values, as a share of their mean variance within a class."""
THRESHOLD = 1e-4
"""The 1-norm in a cone program leaves about 1e-7 of the largest weight in place of zeros, more near alpha*."""
RANK = 1e-9
"""Singular values of the stacked factors below this, relative to the largest, are 0 up to rounding."""
NARROW = 1e-7
"""Smallest distance of a mean from the hyperplane, relative to that of both means. A class without a deviation, as one
of a single sample, would else have its mean on the hyperplane, on the side that rounding chooses."""
SLACK = 1e-8
"""Tolerance of a reduced cost, relative to the largest term of it: rounding, and the stopping criterion of solvers."""
OUTSIDE = 1e-7
"""Part of mu_1 - mu_2 outside the range of S_1 + S_2, relative to its norm, from which kappa* is infinite."""
INFINITE = (
    "kappa* is infinite (singular covariances separate the means): every delta is feasible and "
    "promises nothing about new data; a ridge > 0 makes it finite"
)


class Limit(NamedTuple):
    """The largest worst-case accuracy alpha* = kappa*^2 / (1 + kappa*^2) of any hyperplane for given moments."""

    kappa: float

    @property
    def alpha(self) -> float:
        """The limit alpha*; 1 where kappa* is infinite."""
        return 1.0 if np.isinf(self.kappa) else self.kappa**2 / (1 + self.kappa**2)


@lru_cache(maxsize=2)
def accuracy_limit(moments: Moments) -> Limit:
    r"""Return kappa* of the minimax probability machine, computed without a solver.

    Since :math:`(\|F_1w\| + \|F_2w\|)^2 = \min_{0<\lambda<1} w'(S_1/\lambda + S_2/(1-\lambda))w`,

    .. math:: \kappa^{*2} = \max_{0<\lambda<1} d'\left(\frac{S_1}{\lambda} + \frac{S_2}{1-\lambda}\right)^{-1}d
        = \max_\lambda \sum_i \frac{\lambda(1-\lambda)\,\delta_i^2}{(1-\lambda)\tau_i + \lambda(1-\tau_i)},
        \qquad d = \mu_1 - \mu_2

    with :math:`\tau` the eigenvalues of :math:`S_1` relative to :math:`S_1 + S_2` and :math:`\delta` the
    coordinates of d: concave in one variable. If d leaves the range of :math:`S_1 + S_2`, kappa* is infinite.
    """
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
    found = [max(distance, 0.0) ** 2 / (distance**2 + spread**2 or 1.0) for distance, spread in sides(w, b, moments)]
    return found[0], found[1]


def sides(w: Vector, b: float, moments: Moments) -> list[tuple[float, float]]:
    """Return for each class the distance of its mean from the hyperplane, on its own side, and its deviation."""
    means, factors = (moments.mean1, moments.mean2), (moments.factor1, moments.factor2)
    return [
        (sign * float(mean @ w + b), float(np.linalg.norm(factor @ w)))
        for sign, mean, factor in zip((1.0, -1.0), means, factors, strict=True)
    ]


def moments_of(data: Dataset, at: Mapping[str, Any]) -> Moments:
    """Return the moments of preprocessed data that a method with the parameters ``at`` uses."""
    return Moments.of(data, ridge=at["ridge"])


@dataclass(frozen=True)
class FeatureSpace:
    """The preprocessed features, or kernel values by sample, their moments, and the largest worst-case accuracy."""

    work: Dataset
    map_: Preprocessing
    moments: Moments
    limit: Limit
    ridge: float
    kernel: Kernel | None = None
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        data: Dataset,
        *,
        scale: str = "standard",
        ridge: float | None = None,
        kernel: str | None = None,
        width: float | None = None,
    ) -> FeatureSpace:
        """Return the space of a data set.

        Parameters
        ----------
        scale : str, default 'standard'
            Preprocessing of the features: ``standard`` (default), ``center`` or ``none``; a selection depends on it,
            alpha* does not without ridge and kernel. Kernel values are not scaled again.
        ridge : float, optional
            >= 0, added to the diagonals of both covariances of the preprocessed features, or of the kernel values; None
            is 0 for features and 1e-2 of the mean variance within a class for kernel values, which need one.
        kernel : str, optional
            ``gaussian`` or ``linear``: a classifier on the kernel values of the
            preprocessed samples, which selects training samples (Yang & Ju, (48)-(58)); None for a hyperplane in the
            space of the features.
        width : float, optional
            > 0, of the Gaussian kernel, in the units of the preprocessed features; None takes sqrt(p v / 2), with v the
            variance of all entries of the preprocessed samples.
        """
        work, map_ = preprocess(data, scale)
        function, warnings = None, tuple[str, ...]()
        if kernel is not None:
            function, work = kernel_values(work, kernel, width)
            ridge = kernel_ridge(work) if ridge is None else ridge
        rho = 0.0 if ridge is None else ridge
        moments = Moments.of(work, ridge=rho)
        limit = accuracy_limit(moments)
        if np.isinf(limit.kappa):
            warnings += (INFINITE,)
        return cls(work, map_, moments, limit, rho, function, warnings)

    def priced(self, run: Run) -> bool:
        """Return whether programs are solved by a working set of features: not those of kernel values."""
        return self.kernel is None and by_features(self.work, run)

    def models(
        self, builder: Callable[..., pyo.ConcreteModel], params: Mapping[str, Any]
    ) -> tuple[Build, Price, Vector]:
        """Return the models of some features, their prices, and the scores of all: the differences of their means."""
        scores = np.abs(self.moments.mean1 - self.moments.mean2)
        return lambda places: builder(self.work.columns(places), **params), partial(price, self.work, params), scores

    def fit(
        self,
        w: Vector,
        b: float,
        outcome: SolveResult | DriverResult,
        *,
        params: Mapping[str, Any] = MappingProxyType({}),
        details: Mapping[str, Any],
        warnings: tuple[str, ...] = (),
    ) -> Fit:
        """Return the Fit of a hyperplane, with the ridge and width behind it among its parameters."""
        own = {"ridge": self.ridge, **({} if self.kernel is None else {"width": self.kernel.width}), **params}
        told = self.warnings + warnings
        return make_fit(self.map_, w, b, outcome, params=own, warnings=told, details=details, kernel=self.kernel)


def kernel_ridge(values: Dataset) -> float:
    """Return the default ridge of kernel values."""
    bare = Moments.of(values)
    total = sum(float((factor**2).sum()) for factor in (bare.factor1, bare.factor2))
    return RIDGE * total / (2 * values.p)


def asked_delta(method: str, delta: float | None, limit: Limit) -> float:
    """Return the worst-case accuracy to ask for: delta, or a share of alpha* where it is None."""
    if delta is None:
        return min(DEFAULT_SHARE * limit.alpha, DEFAULT_SHARE)
    if delta > limit.alpha:
        raise InfeasibleError(
            f"'{method}' is infeasible at delta = {delta:g}: it asks for kappa = {kappa(delta):.4f}, the data "
            f"allow at most kappa* = {limit.kappa:.4f}, alpha* = {limit.alpha:.4f}",
            f"choose delta <= {np.floor(limit.alpha * 1e4) / 1e4:.4f}",
        )
    return delta


def accuracies(saved: SavedFit) -> Mapping[str, Any]:
    """Return the limits of the worst-case accuracy, and that of the hyperplane on class +1 and -1."""
    moments = moments_of(saved.data, saved.params)
    limit, here = accuracy_limit(moments), worst_case(saved.w, saved.b, moments)
    return {"kappa_limit": limit.kappa, "alpha_limit": limit.alpha, "worst_case": here}


def lifted(moments: Moments, model: pyo.ConcreteModel, program: Program, y: Vector, places: Indices) -> dict[str, Any]:
    """Return component -> multipliers of the model of all features from those y (m,) of the model of some of them."""
    rows: dict[str, Any] = {
        c.local_name: float(y[program.row_of[id(c)]])
        for c in model.component_objects(pyo.Constraint)
        if id(c) in program.row_of
    }
    A, columns = program.A.tocsr(), columns_of(program, model, "w")
    for name, factor in (("spread1", moments.factor1), ("spread2", moments.factor2)):
        # R of the model and the part F of the whole factor have R'R = F'F: with the least-squares x of Rx = u the
        # multipliers Fx have F'Fx = R'u and a norm of at most ||u||.
        spreads = rows_of(program, model, name)
        x = np.linalg.lstsq(A[spreads][:, columns].toarray(), y[spreads], rcond=None)[0]
        rows[name] = model_factor(factor)[:, places] @ x
    return rows


def price(
    data: Dataset,
    params: Mapping[str, Any],
    model: pyo.ConcreteModel,
    program: Program,
    y: Vector,
    places: Indices,
) -> Vector:
    r"""Return the excess (p,) of the reduced costs of all features over the cost of a weight, relative to these.

    .. math:: |q| \le c, \qquad q = \lambda_1\mu_1 - \lambda_2\mu_2 + F_1'u_1 + F_2'u_2

    with the multipliers :math:`\lambda_k` of the means, 1 where they are in the objective, and :math:`u_k` of F_k w.
    """
    moments = moments_of(data, params)
    rows = lifted(moments, model, program, y, places)
    d, mean = moments.mean1 - moments.mean2, 0.5 * (rows.get("mean1", 1.0) + rows.get("mean2", 1.0))
    q, terms = mean * d, np.abs(mean * d)
    for u, factor in ((rows["spread1"], moments.factor1), (rows["spread2"], moments.factor2)):
        own = model_factor(factor)
        q = q + u @ own
        terms = terms + np.linalg.norm(u) * np.sqrt((own * own).sum(axis=0))
    cost = params.get("alpha", params.get("lam", 1.0))
    excess: Vector = (np.abs(q) - cost - SLACK * terms) / np.maximum(np.abs(q), 1e-300)
    return excess
