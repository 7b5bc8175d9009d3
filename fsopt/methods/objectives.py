"""The objective of each method's own problem at a plane, and by how much the plane violates its constraints.

Plain numpy, independent of models and solvers: what a saved answer is checked against.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsopt.data import Dataset
from fsopt.models.gmeb_cuts import GmebNorm
from fsopt.models.gmeb_weighted import GmebPenalty
from fsopt.models.mpm import Moments, kappa
from fsopt.planes import hinge

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


def _worst_case(data: Dataset, w: Vector, b: float, delta: float) -> float:
    """Return the violation of the two probability constraints of L1-MPM and L0-MPM."""
    moments, worst = Moments.of(data), 0.0
    for mean, factor, sign in ((moments.mean1, moments.factor1, 1), (moments.mean2, moments.factor2, -1)):
        distance = sign * float(mean @ w + b)
        needed = max(1.0, kappa(delta) * float(np.linalg.norm(factor @ w)))
        worst = max(worst, (needed - distance) / needed)
    return worst


def _l1_mpm(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    return float(np.abs(w).sum()), _worst_case(data, w, b, at["delta"])


def _l0_mpm(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    return float(-np.expm1(-at["alpha"] * np.abs(w)).sum()), _worst_case(data, w, b, at["delta"])


def _errors(data: Dataset, w: Vector, b: float) -> tuple[Vector, Vector]:
    errors = np.maximum(1.0 - data.y * (data.X @ w + b), 0.0)
    return errors[data.y > 0], errors[data.y < 0]


def _misclass(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    return float(-np.expm1(-at["alpha"] * np.concatenate(_errors(data, w, b))).sum()), 0.0


def _fsv(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    y, z = _errors(data, w, b)
    sparsity = float(-np.expm1(-at["alpha"] * np.abs(w)).sum())
    return (1 - at["lam"]) * float(y.mean() + z.mean()) + at["lam"] * sparsity, 0.0


def _onsvm(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    return float(np.abs(w).sum()) + at["c"] * hinge(data.X @ w + b, data.y), 0.0


def _svm(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    return 0.5 * float(w @ w) + at["c"] * hinge(data.X @ w + b, data.y), 0.0


def _gbd(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    used = np.abs(w) > 0
    if at.get("costs") is not None:
        excess = float(np.asarray(at["costs"]) @ used) - float(at["budget"])
    else:
        excess = float(np.sum(used)) - (min(5, data.p) if at.get("m") is None else at["m"])
    return _svm(data, w, b, at)[0], max(excess, 0.0)


def _mopfs(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    return hinge(data.X @ w + b, data.y), 0.0


OBJECTIVES: Mapping[str, Callable[[Dataset, Vector, float, Mapping[str, Any]], Value]] = {
    "gmeb": _gmeb,
    "gmeb-penalised": _gmeb_penalised,
    "l1-mpm": _l1_mpm,
    "l0-mpm": _l0_mpm,
    "misclass": _misclass,
    "fsv": _fsv,
    "onsvm": _onsvm,
    "svm": _svm,
    "l1-svm": _onsvm,
    "rfe": _gbd,
    "gbd": _gbd,
    "mopfs": _mopfs,
}
"""Method -> function of (preprocessed data, w, b, parameters and details)."""
