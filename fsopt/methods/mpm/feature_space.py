"""The space of the minimax probability machines: features or kernel values, their moments, and the accuracies there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsopt.data import Dataset
from fsopt.data.kernels import Kernel
from fsopt.data.matrices import Preprocessing
from fsopt.errors import InfeasibleError, ParameterError, reading
from fsopt.methods.mpm.worst_case import Limit, accuracy_limit, worst_case
from fsopt.methods.preprocessing import kernel_values, preprocess
from fsopt.methods.spec import SavedFit
from fsopt.models.blocks import number
from fsopt.models.mpm.moments import Moments, kappa

DEFAULT_SHARE = 0.9
"""Share of alpha* that is asked for where the user gives no delta, and the largest delta that is asked for then."""

RIDGE = 1e-2
"""Default ridge of kernel values, as a share of their mean variance within a class."""


@dataclass(frozen=True)
class FeatureSpace:
    """The preprocessed data, the map that was applied, their moments, and the largest worst-case accuracy.

    Attributes
    ----------
    work : preprocessed features, or kernel values, whose features are the training samples.
    map_ : the preprocessing of the raw features.
    moments : means and covariance factors of the classes of ``work``.
    limit : alpha* of these moments.
    moment_options : the keyword ``ridge`` of the moments, which the builders take, too.
    kernel : the kernel function; None where ``work`` has the features themselves.
    warnings : remarks about the kernel values.
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
            ``gaussian``, ``polynomial`` of degree 2, or ``linear``: a classifier on the kernel values of the
            preprocessed samples, which selects training samples (Yang & Ju, (48)-(58)); None for a hyperplane in the
            space of the features.
        width : float, optional
            > 0, of the Gaussian kernel, in the units of the preprocessed features; None takes sqrt(p v / 2), with v the
            variance of all entries of the preprocessed samples.

        Raises
        ------
        ParameterError : a parameter outside its range, a kernel with ridge 0, or kernel values that are too alike.
        """
        work, map_ = preprocess(data, scale)
        function, warnings = None, tuple[str, ...]()
        if kernel is not None:
            function, work, warnings = kernel_values(work, kernel, width)
            ridge = kernel_ridge(work, ridge)
        rho = 0.0 if ridge is None else ridge
        moments = Moments.of(work, ridge=rho)
        return cls(work, map_, moments, accuracy_limit(moments), {"ridge": rho}, function, warnings)

    @property
    def limits(self) -> dict[str, float]:
        """The details of a Fit on the largest worst-case accuracy, and the ridge behind it."""
        return {"kappa_limit": self.limit.kappa, "alpha_limit": self.limit.alpha, "ridge": self.moment_options["ridge"]}

    def details(self, delta: float) -> dict[str, Any]:
        """Return the details of a Fit on the worst-case accuracy delta, and the largest one."""
        return {"delta": delta, **self.limits}


def kernel_ridge(values: Dataset, ridge: float | None) -> float:
    """Return the ridge of kernel values, the default where it is None.

    Raises
    ------
    ParameterError : a ridge of 0, with which their covariances are singular.
    """
    if ridge is None:
        bare = Moments.of(values)
        total = sum(float((factor**2).sum()) for factor in (bare.factor1, bare.factor2))
        return RIDGE * total / (2 * values.p)
    if ridge == 0:
        raise ParameterError("the ridge is 0 and covariances of kernel values are singular", "give a ridge > 0")
    return ridge


def warn_if_infinite(limit: Limit, warnings: list[str]) -> None:
    """Add the warning about singular covariances that separate the means."""
    if np.isinf(limit.kappa):
        warnings.append(
            "kappa* is infinite (singular covariances separate the means): every delta is feasible and "
            "promises nothing about new data; a ridge > 0 makes it finite"
        )


def asked_delta(method: str, delta: float | None, limit: Limit, warnings: list[str]) -> float:
    """Return the worst-case accuracy to ask for: delta, or a share of alpha* where it is None.

    Raises
    ------
    InfeasibleError : delta > alpha*.
    ParameterError : delta outside (0, 1).
    """
    warn_if_infinite(limit, warnings)
    if delta is None:
        return min(DEFAULT_SHARE * limit.alpha, DEFAULT_SHARE)
    delta = number(method, "delta", delta)
    if delta > limit.alpha:
        raise InfeasibleError(
            f"'{method}' is infeasible at delta = {delta:g}: it asks for kappa = {kappa(delta):.4f}, the data "
            f"allow at most kappa* = {limit.kappa:.4f}, alpha* = {limit.alpha:.4f}",
            f"choose delta <= {np.floor(limit.alpha * 1e4) / 1e4:.4f}",
        )
    return delta


def stated_accuracies(saved: SavedFit) -> dict[str, float]:
    """Return the distances of the accuracies, their limits, the ridge and the delta that a saved fit states.

    Raises
    ------
    FileError : they are damaged.
    """
    own, details = saved.fit.params, saved.fit.details
    with reading("list of worst-case accuracies"):
        ridge = own.get("ridge")
        if ridge is None:
            ridge = 0.0 if saved.fit.kernel is None else kernel_ridge(saved.data, None)
        moments = Moments.of(saved.data, ridge=ridge)
        limit = accuracy_limit(moments)
        here = {"ridge": ridge, "kappa_limit": limit.kappa, "alpha_limit": limit.alpha}
        if "delta" in own:
            here["delta"] = asked_delta(saved.fit.method, own["delta"], limit, [])
        off = {name: _difference(float(details[name]), value) for name, value in here.items()}
        accuracies = np.subtract(worst_case(saved.w, saved.b, moments), np.reshape(details["worst_case"], 2))
    return {**off, "worst case": float(np.abs(accuracies).max())}


def _difference(stated: float, here: float) -> float:
    """Return the relative difference of two numbers, which may be infinite."""
    return 0.0 if stated == here else abs(stated - here) / max(abs(here), 1e-300)
