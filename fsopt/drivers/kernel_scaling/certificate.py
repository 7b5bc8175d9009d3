"""Certificates of scales for problem (15) of Bi: global by cuts, stationary by one, recomputed in numpy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.certificates.kernel_scaling.bounds import Cut, lower_bound
from fsopt.certificates.kernel_scaling.problem import ScalingProblem
from fsopt.certificates.points import of_bounds
from fsopt.typing import Vector


def certify_scaling(
    problem: ScalingProblem, s: Vector, cuts: Sequence[Cut], lower: float, tolerance: float
) -> Certificate:
    """Certify scales as the global optimum of (15): they are feasible, and the cuts close the optimality gap.

    Every number is recomputed from the multipliers in numpy; no solver is asked.
    """
    upper = problem.value(s)
    proved, _ = lower_bound(problem, cuts, upper)
    residuals = {
        "risk": problem.excess(s),
        "sign": float(np.maximum(-s, 0.0).max() + np.abs(s[~problem.active]).max(initial=0.0)),
        "bound": max(lower - proved, 0.0) / max(1.0, abs(upper)),
    }
    return of_bounds(Kind.GLOBAL, residuals, upper, lower, tolerance=tolerance, source="cuts")


def certify_stationary(problem: ScalingProblem, s: Vector, cut: Cut | None) -> Certificate:
    r"""Certify scales as stationary: no feasible point lowers the linearisation :math:`W_0R + R_0W + q's` at them.

    The cut is that of the linear program at s. Without one, nothing but feasibility is certified.
    """
    (radius, capacity), value = problem.size(s), problem.value(s)
    residuals = {"risk": problem.excess(s)}
    if cut is None:
        return make(Kind.FEASIBLE, residuals, objective=value)
    slope, delta, proved = cut.proved(problem)
    # The cut was made feasible, and may now weigh R and W by more than (W_0, R_0). Its largest multiple with weights
    # below those, and tau <= 1, bounds the linearisation from below.
    share = min(1.0, capacity / max(slope, 1e-300), radius / delta)
    here = value + radius * capacity
    residuals["first order"] = max(here - share * proved, 0.0) / max(1.0, here)
    return make(Kind.KKT, residuals, objective=value)
