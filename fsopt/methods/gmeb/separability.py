"""The radius at which GMEB begins to separate the data."""

from __future__ import annotations

import numpy as np

from fsopt.data import Dataset
from fsopt.drivers.run import NoPoint, Run, drained
from fsopt.methods.gmeb.formulations import smallest_norm
from fsopt.methods.gmeb.gmeb import choose_route
from fsopt.methods.gmeb.unit_rms import unit_rms
from fsopt.models.gmeb.moments import radius
from fsopt.models.gmeb.norm import GmebNorm


def separation_radius(
    data: Dataset, *, r_plus: float = 1.0, r_minus: float = 1.0, scale: str = "center", solver: str | None = None
) -> float:
    r"""Return the smallest t for which GMEB with the radii t R+ and t R- separates the data; infinity if none does.

    .. math:: R_{\text{sep}} = \min_{w,b}\ N(w)^2 \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1

    with the norm N of :math:`(R_+, R_-)`. From there on (15) has optimum 0, and its multipliers carry no information.

    Parameters
    ----------
    r_plus, r_minus : R+ and R- > 0; infinity drops the constraint, not both.
    scale : preprocessing; the radius does not depend on the units of the features.
    solver : registry name; None for the preferred one.

    Raises
    ------
    ParameterError : a radius that is not positive, both infinite.
    SolverError : a solver that gives no multipliers.
    """
    run = Run(solver)
    work = unit_rms(data, scale).work
    route = choose_route("auto", run, work)
    norm = GmebNorm.of(work, radius("gmeb", "r_plus", r_plus), radius("gmeb", "r_minus", r_minus))
    try:
        answer = drained(smallest_norm(work, norm, run, cuts=route == "theta-cuts"))
    except NoPoint:
        return np.inf
    return norm.at(answer.w)[0] ** 2
