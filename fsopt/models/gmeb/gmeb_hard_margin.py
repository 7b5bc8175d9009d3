"""Model ``gmeb-hard-margin``: Peleg & Meir, (15) without slacks, for separable data."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import perspective_constraint, signed_samples, total
from fsopt.models.gmeb.moments import add_moment_bounds, new_scaled_model
from fsopt.models.spec import Instance, ModelSpec


def build_gmeb_hard_margin(data: Dataset, *, r_plus: float = 3.0, r_minus: float = 3.0) -> pyo.ConcreteModel:
    r"""Return the separating hyperplane of smallest norm, in the norm of GMEB, for data that (15) separates.

    .. math::

        \min\ & 1't \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 \\
        & w_j^2 \le \sigma_j t_j, \quad \sigma, t \ge 0 \\
        & v^{+\prime}\sigma \le R_+, \quad v^{-\prime}\sigma \le R_-

    Its optimum is :math:`N(w)^2`, the square of the norm whose unit ball is the feasible set of (15). (15) has
    optimum 0 iff this optimum is at most 1. The multipliers of (16) are 0 then and do not determine w; the w of this
    problem is well defined.

    Parameters
    ----------
    data : Dataset
        Features centred by their training mean; the builder does not preprocess.
    r_plus, r_minus : float, default 3.0
        :math:`R_+, R_- > 0`, without unit, as sigma has the inverse squared units of the features; infinity omits the
        constraint.

    Returns
    -------
    ConcreteModel
        SOCP with n + 2p + 1 variables and p rotated cones, infeasible iff the data are not separable. Variables
        ``w b sigma t``, constraints ``margin perspective moment_plus moment_minus``.

    Raises
    ------
    ParameterError : a radius that is not a positive number.

    Notes
    -----
    Our addition to Peleg & Meir, (15).
    """
    m = new_scaled_model("gmeb-hard-margin", data)
    m.t = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="t_j >= w_j^2 / sigma_j")
    weights, signed = tuple(m.w.values()), signed_samples(data)

    def margin(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(signed[i], weights) + data.y[i] * m.b >= 1

    m.objective = pyo.Objective(expr=total(m.t), doc="(15), xi = 0: 1't = N(w)^2")
    m.margin = pyo.Constraint(m.I, rule=margin, doc="(15), xi = 0: y_i (w'x_i + b) >= 1")
    m.perspective = perspective_constraint(m, m.sigma, "(15) w_j^2 <= sigma_j t_j")
    add_moment_bounds(m, data, r_plus, r_minus)
    return m


SPEC = ModelSpec(
    "gmeb-hard-margin",
    build_gmeb_hard_margin,
    "SOCP",
    paper="gmeb",
    equation="(15), xi = 0",
    instance=Instance(gap=2.0),
    weights="samples",
)
