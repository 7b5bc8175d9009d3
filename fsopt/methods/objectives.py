"""The objective of each method's own problem at a plane, and by how much the plane violates its constraints.

Plain numpy, independent of models and solvers: what a saved answer is checked against.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsopt.data import Dataset
from fsopt.drivers.penalties import approximation
from fsopt.methods.gbd_space import limits_of, prices_of, selection, training
from fsopt.methods.mpm_space import accuracy_limit, worst_case
from fsopt.methods.s_mpm import Weighted
from fsopt.models.gmeb_cuts import GmebNorm
from fsopt.models.gmeb_weighted import GmebPenalty
from fsopt.models.mpm import Moments, kappa
from fsopt.planes import hinge, plane_errors

Vector = NDArray[np.float64]
Value = tuple[float, float]
"""Objective, and the largest relative violation of the constraints (0 where there are none)."""


def _gmeb(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    radii = [np.inf if at[k] is None else float(at[k]) for k in ("r_plus", "r_minus")]
    norm, _ = GmebNorm.of(data, *radii).at(w)
    return hinge(data.X @ w + b, data.y), max(norm - 1.0, 0.0)


def _gmeb_penalised(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    penalty, _ = GmebPenalty.of(data, at["c_plus"], at["c_minus"]).at(w)
    return hinge(data.X @ w + b, data.y) / data.n + penalty, 0.0


def moments_of(data: Dataset, at: Mapping[str, Any]) -> Moments:
    """Return the moments that a minimax machine with these parameters rests on."""
    ridge = at.get("ridge")
    return Moments.of(data, unbiased=at.get("unbiased", False), ridge=0.0 if ridge is None else ridge)


def _mpm(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    moments = moments_of(data, at)
    value = float(np.linalg.norm(moments.factor1 @ w) + np.linalg.norm(moments.factor2 @ w))
    short = accuracy_limit(moments).alpha - min(worst_case(w, b, moments))
    return value, max(short, abs(float((moments.mean1 - moments.mean2) @ w) - 1.0))


def _s_mpm(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    moments, beta = moments_of(data, at), at["beta"]
    needed = kappa(beta) * float(np.linalg.norm(moments.factor2 @ w))
    share = float(np.mean(data.y > 0)) if at.get("theta") is None else at["theta"]
    return Weighted.at(moments, w, beta, at["lam"], share).value, abs(float(moments.mean2 @ w + b) + needed) / needed


def _accuracy(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> float:
    """Return the violation of the two probability constraints of L1-MPM and L0-MPM."""
    moments, delta, worst = moments_of(data, at), at["delta"], 0.0
    for mean, factor, sign in ((moments.mean1, moments.factor1, 1), (moments.mean2, moments.factor2, -1)):
        distance = sign * float(mean @ w + b)
        needed = max(1.0, kappa(delta) * float(np.linalg.norm(factor @ w)))
        worst = max(worst, (needed - distance) / needed)
    return worst


def _l1_mpm(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    return float(np.abs(w).sum()), _accuracy(data, w, b, at)


def _l0_mpm(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    return approximation(at["approx"], at["alpha"]).value(w), _accuracy(data, w, b, at)


def _errors(data: Dataset, w: Vector, b: float) -> tuple[Vector, Vector]:
    errors = np.maximum(1.0 - data.y * (data.X @ w + b), 0.0)
    return errors[data.y > 0], errors[data.y < 0]


def _misclass(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    return float(-np.expm1(-at["alpha"] * np.concatenate(_errors(data, w, b))).sum()), 0.0


def _pmm(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    return float(plane_errors(data, w, b)), 0.0


def _fsv(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    y, z = _errors(data, w, b)
    sparsity = float(-np.expm1(-at["alpha"] * np.abs(w)).sum())
    return (1 - at["lam"]) * float(y.mean() + z.mean()) + at["lam"] * sparsity, 0.0


def _onsvm(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    return float(np.abs(w).sum()) + at["c"] * hinge(data.X @ w + b, data.y), 0.0


def _svm(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    return 0.5 * float(w @ w) + at["c"] * hinge(data.X @ w + b, data.y), 0.0


def _rfe(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    most = min(5, data.p) if at.get("m") is None else at["m"]
    return _svm(data, w, b, at)[0], max(float(np.sum(np.abs(w) > 0)) - most, 0.0)


def _gbd(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    sigma = selection(data, at)
    excess = max(limits_of(data, at).excess(sigma), float(np.abs(w[sigma < 0.5]).max(initial=0.0)))
    return _svm(training(data, at), w, b, at)[0] + float(prices_of(data, at) @ sigma), max(excess, 0.0)


def _mopfs(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    return hinge(data.X @ w + b, data.y), 0.0


def _rsvm(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    scores = data.X @ w
    square = float(w @ w) if at.get("kernel") is None else float(w @ scores)
    return hinge(scores + b, data.y), max(square / float(at["w_cap"]) - 1.0, 0.0)


def _chosen(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    return _svm(data, w, b, at) if at["machine"] == "svm" else (hinge(data.X @ w + b, data.y), 0.0)


OBJECTIVES: Mapping[str, Callable[[Dataset, Vector, float, Mapping[str, Any]], Value]] = {
    "gmeb": _gmeb,
    "gmeb-penalised": _gmeb_penalised,
    "mpm": _mpm,
    "s-mpm": _s_mpm,
    "l1-mpm": _l1_mpm,
    "l0-mpm": _l0_mpm,
    "misclass": _misclass,
    "pmm": _pmm,
    "fsv": _fsv,
    "onsvm": _onsvm,
    "svm": _svm,
    "l1-svm": _onsvm,
    "rfe": _rfe,
    "pearson": _chosen,
    "fisher": _chosen,
    "ks": _chosen,
    "infogain": _chosen,
    "vs-ssvm": _chosen,
    "gbd": _gbd,
    "gbd-lambda": _gbd,
    "rsvm": _rsvm,
    "mopfs": _mopfs,
}
"""Method -> function of (preprocessed data, w, b, parameters and details)."""
