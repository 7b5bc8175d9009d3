"""Checking a saved answer of GBD: cuts from their multipliers, bound by search over the cuts, value in numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fsopt.certificates.certificate import Certificate, Kind, make
from fsopt.data import Dataset
from fsopt.data.hyperplanes import svm_value
from fsopt.drivers.gbd.search import Tree
from fsopt.drivers.gbd.state import certify_gbd
from fsopt.methods.gbd.parameters import limits_of, prices_of, selection, training
from fsopt.methods.spec import SavedFit, Value
from fsopt.models.gbd.fsp_master import cut_coefficients
from fsopt.models.gbd.limits import Limits
from fsopt.results import Status
from fsopt.typing import Vector

MOST_NODES = 2_000_000
"""Partial selections after which a search gives up."""


CHUNK = 8_192
"""Partial selections that it looks at together."""


ROUNDING = 5e-7
"""Relative error of a bound that a master's solver may make within its tolerance."""


def check_gbd(claim: SavedFit) -> Certificate:
    """Recompute the certificate of a fit from the multipliers behind its cuts.

    The bound is confirmed where no allowed selection has all cuts below it; a search that is too large confirms what
    it has proved by then.
    """
    fit = claim.fit
    data = training(claim.data, fit.params)
    limits, prices = limits_of(data, fit.params), prices_of(data, fit.params)
    alphas = _alphas(fit.details.get("alphas"), data)
    if not alphas or fit.bound is None or fit.objective is None or not np.isfinite([fit.bound, fit.objective]).all():
        return Certificate(Kind.GBD, False, claim.residuals, notes=("the saved cuts or bounds are damaged",))
    cuts = certify_gbd(data, alphas, fit.params["c"], fit.objective, fit.bound, 0.0)
    checks = {**claim.residuals, **cuts.residuals}
    # What the method asked for is the gap that it may leave open; the upper bound is never below the lower one.
    gap = checks.pop("gap")
    if fit.status is Status.OPTIMAL:
        checks["gap"] = max(gap - float(fit.params["tolerance"]), 0.0)
    checks["order"] = max(fit.bound - fit.objective, 0.0) / max(1.0, abs(fit.objective))
    least, note = _confirmed(data, alphas, prices, limits, fit.bound)
    checks["bound"] = max(fit.bound - least, 0.0) / max(1.0, abs(fit.bound))
    return make(Kind.GBD, checks, objective=fit.objective, bound=fit.bound, notes=(note,))


def _alphas(saved: object, data: Dataset) -> list[Vector]:
    """Return the saved multipliers, none where they are damaged."""
    try:
        alphas = [np.array(a, dtype=float) for a in saved]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        return []
    return alphas if all(a.shape == (data.n,) and np.isfinite(a).all() for a in alphas) else []


def _confirmed(data: Dataset, alphas: list[Vector], prices: Vector, limits: Limits, bound: float) -> tuple[float, str]:
    """Return the bound, or what the cuts prove of it where that is less, and a note."""
    constants, slopes = zip(*(cut_coefficients(data, a) for a in [*alphas, np.zeros(data.n)]), strict=True)
    claim = bound - ROUNDING * max(1.0, abs(bound))
    tree = Tree(*limits.rows(), CHUNK)
    tree.add(np.array(constants), np.array(slopes) - prices)
    sigma = tree.next(claim, lambda nodes: nodes < MOST_NODES)
    if sigma is not None:
        return float(np.max(np.array(constants) - (np.array(slopes) - prices) @ sigma)), "the cuts leave less possible"
    if tree.stack:
        note = f"the master's bound is not confirmed: {tree.nodes} nodes over the cuts were not enough"
        return tree.least(bound), note
    return bound, f"the master's bound was recomputed from the cuts, by a search of {tree.nodes} nodes"


def objective(data: Dataset, w: Vector, b: float, at: Mapping[str, Any]) -> Value:
    """Return F(sigma) + lambda'sigma at the saved selection, and the excess over its limits."""
    sigma = selection(data, at)
    excess = max(limits_of(data, at).excess(sigma), float(np.abs(w[sigma < 0.5]).max(initial=0.0)))
    return svm_value(training(data, at), w, b, at["c"]) + float(prices_of(data, at) @ sigma), max(excess, 0.0)
