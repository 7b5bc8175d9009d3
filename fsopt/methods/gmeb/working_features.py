r"""GMEB of many pairs of radii on data with many features, each solved on few features and proved on all.

Of the optimum on some features the multipliers mu bound that on all of them by the same quotients
:math:`|s_j| / u_j(\theta)`, :math:`s = X'Y\mu`: another feature without a larger one has the weight 0. Those with a
larger one are added, and the next radii begin with all that were needed before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fsopt.data import Dataset
from fsopt.drivers.run import DEFAULT_RUN, drained
from fsopt.errors import SolverError
from fsopt.methods.gmeb.formulations import by_dual
from fsopt.methods.gmeb.optimality import certify_gmeb, polish, quotients
from fsopt.methods.gmeb.settling import settle
from fsopt.methods.gmeb.unit_rms import UnitRms, unit_rms
from fsopt.methods.preprocessing import Hyperplane, raw_hyperplane
from fsopt.models.gmeb.norm import GmebNorm
from fsopt.typing import Indices, Vector

FEW = 40
"""Features to begin with, and those that are added at once."""
EXCESS = 1e-6
"""Relative excess of a quotient that is none within the tolerance of the solvers."""


def gmeb_hyperplanes(data: Dataset, candidates: Sequence[Mapping[str, Any]]) -> list[tuple[Vector, float]] | None:
    """Return weights (p,) and intercept of ``gmeb`` at candidates of finite radii, certified; None for any others."""
    if data.sparse or data.p <= 2 * FEW or any(at.keys() != {"r_plus", "r_minus"} for at in candidates):
        return None
    prepared = unit_rms(data, "center")
    sums = np.abs(prepared.work.X.T @ prepared.work.y)
    working, found = np.sort(np.argsort(-sums, kind="stable")[:FEW]), []
    for at in candidates:
        norm = GmebNorm.of(prepared.work, float(at["r_plus"]), float(at["r_minus"]))
        answer = _solved(prepared, norm, working)
        if answer is None:
            return None
        w, b, working = answer
        found.append(raw_hyperplane(Hyperplane(prepared.full(w), b, ()), prepared.map_))
    return found


def _solved(prepared: UnitRms, norm: GmebNorm, working: Indices) -> tuple[Vector, float, Indices] | None:
    """Return weights, intercept and the features that were needed, at a pair of radii; None where it is not proved."""
    work = prepared.work
    # Each pass adds features, or ends.
    while True:
        part = work.columns(working)
        own = GmebNorm(norm.v_plus[working], norm.v_minus[working], norm.r_plus, norm.r_minus)
        try:
            settled, _ = drained(settle(part, own, by_dual(part, own, DEFAULT_RUN), DEFAULT_RUN))
        except SolverError:
            return None
        dual, separable = settled.answer.dual, settled.answer.separable
        sizes = quotients(work, norm, dual.mu, norm.theta_of(dual.plus, dual.minus))
        larger = np.flatnonzero(sizes > (1.0 + EXCESS) * sizes[working].max())
        larger = np.setdiff1d(larger[np.argsort(-sizes[larger], kind="stable")][:FEW], working)
        if len(larger):
            working = np.union1d(working, larger)
            continue
        w = np.zeros(work.p)
        w[working] = settled.w
        if not separable:
            dual = polish(work, norm, dual)
        proof = certify_gmeb(work, norm, w, settled.b, dual, separable=separable)
        return (w, settled.b, working) if proof.ok else None
