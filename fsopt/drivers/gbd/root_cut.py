"""One cut at the root of generalized Benders: the relaxation of FSP-M over the constraints, by cutting planes."""

from __future__ import annotations

import numpy as np

from fsopt.common import clock
from fsopt.drivers.gbd.master import Master
from fsopt.drivers.gbd.subproblem import Subproblem
from fsopt.drivers.recorder import Recorder
from fsopt.typing import Vector

STEP = 0.5
"""Where a cut is made at the root: this share of the way from the best point so far to the master's."""


def root_cut(
    master: Master, sub: Subproblem, recorder: Recorder, *, most: int, tolerance: float = 1e-4
) -> list[Vector]:
    r"""Return the multipliers (n,) of one cut whose bound is that of the relaxation.

    .. math:: \min_{\sigma \in [0,1]^p,\ \text{constraints}}\ F(\sigma) + \lambda'\sigma
              = \max_{0 \le \alpha \le C,\ y'\alpha = 0}\ e'\alpha - \tfrac12 \max_\sigma \sum_j
              (q_j(\alpha)^2 - 2\lambda_j)\,\sigma_j

    with F extended convexly, which is the perspective relaxation; for m features and no lambda the inner maximum is
    the sum of the m largest :math:`q_j^2`. Each cut is made halfway between the best point so far and the relaxed
    master's, which needs half as many cuts as the master's own point. The dual variables of the cuts in the last
    relaxed master add to at most 1; the cut of the alpha that they combine is nowhere below the combined cuts,
    because :math:`q_j(\alpha)^2` is convex in alpha.

    Parameters
    ----------
    master : the relaxed master; left with all cuts.
    most : >= 1, cuts that are made.
    tolerance : relative gap of the relaxation at which they end.

    Returns
    -------
    list
        Of these multipliers alone; empty where the relaxation needs no cut, as at the bound 0.
    """
    alphas: list[Vector] = []
    sigma = best = np.ones(master.data.p)
    upper = np.inf
    for _ in range(most):
        alpha, w = sub.solve(sigma, recorder)
        value = sub.fractional_value(sigma, w) + float(master.penalties @ sigma)
        # The first point, all features, need not satisfy the constraints: its value is no upper bound.
        if alphas and value < upper:
            best, upper = sigma, value
        alphas.append(alpha)
        master.add([alpha])
        result = recorder.solve(master.session, "the relaxed master problem")
        at = np.clip(result.point.x[master.columns], 0.0, 1.0) if result.point is not None else best
        lower = 0.0 if result.bound is None else result.bound
        closed = np.isfinite(upper) and upper - lower <= tolerance * max(1.0, abs(upper))
        if clock.expired() or closed:
            break
        best = at if len(alphas) == 1 else best
        sigma = (1.0 - STEP) * best + STEP * at
    duals = list(result.duals(master.model.cuts).values())[-len(alphas) :]
    weights = np.maximum(duals, 0.0)
    if weights.sum() <= 0.0:
        return []
    return [np.average(np.array(alphas), axis=0, weights=weights)]
