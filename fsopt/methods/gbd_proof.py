"""Checking a saved answer of GBD: its cuts are recomputed from their multipliers, the bound by enumeration."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from fsopt.certify import Certificate, make
from fsopt.data import Dataset
from fsopt.drivers.gbd import certify_gbd
from fsopt.methods.claim import Claim
from fsopt.models.fsp import cut_coefficients
from fsopt.results import Fit, Status

Vector = NDArray[np.float64]
ENUMERATE = 200_000
"""Largest number of selections that are enumerated to recompute the master's bound."""


def check_gbd(claim: Claim) -> Certificate:
    """Recompute the certificate of a fit from the multipliers behind its cuts."""
    fit, data, residuals = claim.fit, claim.data, claim.residuals
    alphas = [np.array(a, dtype=float) for a in fit.details.get("alphas", [])]
    if not alphas or any(a.shape != (data.n,) for a in alphas) or fit.bound is None or fit.objective is None:
        return Certificate("gbd", False, residuals, notes=("the saved cuts are damaged",))
    cuts = certify_gbd(data, alphas, fit.params["c"], fit.objective, fit.bound, fit.params["tolerance"])
    lower = _enumerated_bound(fit, data, alphas)
    notes = ("the master's bound is its solver's: too many selections to enumerate",)
    checks = dict(cuts.residuals)
    if lower is not None:
        notes = ("the master's bound was recomputed by enumeration",)
        checks["bound"] = max(fit.bound - lower, 0.0) / max(1.0, abs(lower))
    if fit.status is not Status.OPTIMAL:
        checks.pop("gap")
    return make("gbd", {**residuals, **checks}, objective=fit.objective, bound=fit.bound, notes=notes)


def _enumerated_bound(fit: Fit, data: Dataset, alphas: list[Vector]) -> float | None:
    """Return the minimum over all selections of size m of the largest cut, None where there are too many."""
    m = fit.params.get("m")
    if fit.params.get("costs") is not None:
        return None
    m = min(5, data.p) if m is None else int(m)
    if comb(data.p, m) > ENUMERATE:
        return None
    constants, slopes = zip(*(cut_coefficients(data, a) for a in alphas), strict=True)
    chosen = np.zeros((comb(data.p, m), data.p))
    for row, subset in enumerate(combinations(range(data.p), m)):
        chosen[row, list(subset)] = 1.0
    worst: Vector = (np.array(constants)[:, None] - np.array(slopes) @ chosen.T).max(axis=0)
    return float(max(worst.min(), 0.0))
