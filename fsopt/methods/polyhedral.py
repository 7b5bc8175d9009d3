"""Methods ``misclass`` and ``fsv`` (paper 3): successive linearisation on a polyhedron."""

from __future__ import annotations

import time

import numpy as np

from fsopt.data import Dataset
from fsopt.drivers.sla import ConcaveTerms, sla
from fsopt.methods.common import Plane, Run, make_fit, preprocess, proof, select
from fsopt.models.blocks import number
from fsopt.models.polyhedral import build_fsv_step, build_misclass_step
from fsopt.results import Fit

THRESHOLD = 1e-6
"""Vertices have exact zeros; this only separates them from rounding."""


def fit_misclass(data: Dataset, run: Run, *, alpha: float = 5.0, scale: str = "standard") -> Fit:
    """Fit the plane with few misclassified rows by successive linearisation.

    Parameters
    ----------
    alpha : > 0, steepness of the approximation of the step function; the paper's 5.
    scale : ``standard`` (default), ``center`` or ``none``; the problem is invariant to it, its arithmetic is not.

    Returns
    -------
    Fit
        ``objective`` is (20); ``stationary`` where the minimum principle was certified, never a global claim.
        ``details`` has ``plane_errors``, the rows on the wrong side of or on the plane. Paper 3, section 4.
    """
    started = time.perf_counter()
    alpha = number("misclass", "alpha", alpha, low=0.0, strict=True)
    work, map_ = preprocess(data, scale)
    model = build_misclass_step(work, alpha=alpha)
    terms = ConcaveTerms((("y", "cost_y"), ("z", "cost_z")), alpha)
    result = sla(model, terms, solver=run.solver, options=run.options, time_limit=run.time_limit, progress=run.progress)
    at = result.point
    w, b = at["w"], -at["gamma"]
    params = {"alpha": alpha, "y": np.maximum(at["y"], 0.0), "z": np.maximum(at["z"], 0.0)}
    assert result.objective is not None
    return make_fit(
        data, map_, Plane(w, b, select(w, THRESHOLD)), objective=result.objective, outcome=result,
        started=started, warnings=_flat(w),
        details=proof("misclass-step", params, at["proof"], plane_errors=plane_errors(work, w, b)),
    )  # fmt: skip


def fit_fsv(data: Dataset, run: Run, *, lam: float = 0.05, alpha: float = 5.0, scale: str = "standard") -> Fit:
    """Fit a plane in few features by concave minimisation (FSV).

    Parameters
    ----------
    lam : in [0, 1], weight of feature suppression.
    alpha : > 0, steepness of the approximation of the step function; the paper's 5.
    scale : ``standard`` (default), ``center`` or ``none``; the selection depends on it.

    Returns
    -------
    Fit
        ``objective`` is (21), in preprocessed units; ``stationary`` where the minimum principle was
        certified, never a global claim. Paper 3, section 4.
    """
    started = time.perf_counter()
    lam = number("fsv", "lam", lam, low=0.0, high=1.0)
    alpha = number("fsv", "alpha", alpha, low=0.0, strict=True)
    work, map_ = preprocess(data, scale)
    model = build_fsv_step(work, lam=lam, alpha=alpha)
    terms = ConcaveTerms((("v", "cost_v"),), alpha, weight=lam)
    result = sla(model, terms, solver=run.solver, options=run.options, time_limit=run.time_limit, progress=run.progress)
    at = result.point
    w, b = at["w"], -at["gamma"]
    params = {"lam": lam, "alpha": alpha, "v": np.maximum(at["v"], 0.0)}
    assert result.objective is not None
    return make_fit(
        data, map_, Plane(w, b, select(w, THRESHOLD)), objective=result.objective, outcome=result,
        started=started, warnings=_flat(w),
        details=proof("fsv-step", params, at["proof"], plane_errors=plane_errors(work, w, b)),
    )  # fmt: skip


def plane_errors(data: Dataset, w: np.ndarray, b: float) -> int:
    """Return how many rows are on the wrong side of the plane w'x + b = 0 or on it."""
    return int(np.sum(data.y * (data.X @ w + b) <= 0))


def _flat(w: np.ndarray) -> tuple[str, ...]:
    return () if np.any(w) else ("w = 0: no feature was selected, lower lam or start elsewhere",)
