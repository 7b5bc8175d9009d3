"""Minimax probability machines of many more features than samples: by a working set, with multipliers as evidence."""

from __future__ import annotations

from typing import Any

import numpy as np

from fsopt.drivers.run import Run
from fsopt.drivers.worst_case import Multipliers
from fsopt.errors import reading
from fsopt.methods.large_programs import by_features as priced
from fsopt.methods.mpm.feature_space import FeatureSpace
from fsopt.methods.mpm.worst_case import moments_of
from fsopt.methods.spec import SavedFit
from fsopt.methods.verdict import finite_vector
from fsopt.models.mpm.moments import kappa, model_factor


def by_features(space: FeatureSpace, run: Run) -> bool:
    """Return whether the programs of these features are solved by a working set of them: not those of kernel values."""
    return space.kernel is None and priced(space.work, run)


def multiplier_details(at: Multipliers) -> dict[str, Any]:
    """Return the multipliers as details of a fit."""
    return {"lambda": at.mean, "u1": at.u1, "u2": at.u2}


def has_multipliers(saved: SavedFit) -> bool:
    """Return whether a saved fit carries the multipliers of a working set."""
    return "u1" in saved.fit.details


def saved_multipliers(saved: SavedFit) -> Multipliers:
    """Return the multipliers of a saved fit; raises FileError where they are damaged."""
    details, moments = saved.fit.details, moments_of(saved.data, saved.params)
    with reading("multipliers"):
        mean = float(finite_vector([details["lambda"]], 1)[0])
        u1 = finite_vector(details["u1"], moments.factor1.shape[0])
        return Multipliers(mean, u1, finite_vector(details["u2"], moments.factor2.shape[0]))


def multiplier_rows(saved: SavedFit) -> dict[str, Any]:
    """Return component -> multipliers of the program of all features: lambda, -u_k and ||u_k|| / kappa."""
    moments, at = moments_of(saved.data, saved.params), saved_multipliers(saved)
    rows: dict[str, Any] = {"mean1": at.mean, "mean2": at.mean}
    for k, u, factor in ((1, at.u1, moments.factor1), (2, at.u2, moments.factor2)):
        own = model_factor(factor)
        # With R'R = F'F of the triangular factor R there is v with R'v = F'u and a norm of at most ||u||.
        v = u if own.shape[0] == len(u) else np.linalg.lstsq(own.T, u @ factor, rcond=None)[0]
        rows |= {f"spread{k}": -v, f"accuracy{k}": float(np.linalg.norm(v)) / kappa(saved.params["delta"])}
    return rows
