"""Model ``gmeb-hard-margin``: Peleg & Meir, (15) without slack, for separable data."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import pyomo.environ as pyo
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.gmeb.moments import add_moments, add_perspective, add_scaled_classifier
from typing import Any


def build_gmeb_hard_margin(data: Dataset, *, r_plus: float = 3.0, r_minus: float = 3.0) -> pyo.ConcreteModel:
    r"""Return the least-norm separating plane in the norm of GMEB, for data that (15) separates.

    .. math::

        \min\ & 1't \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1, \quad w_j^2 \le \sigma_j t_j, \\
        & v^{+\prime}\sigma \le R_+, \quad v^{-\prime}\sigma \le R_-, \quad \sigma, t \ge 0

    Its value is :math:`N(w)^2`, the square of the norm whose unit ball (15) searches: (15) has optimum 0 iff
    the value is at most 1, and then the multipliers of (16) say nothing about w, while this w is well defined.

    Parameters and component names as in :func:`build_gmeb_primal` (no ``xi`` and ``unit_norm``); an SOCP,
    infeasible iff the data are not separable. Our addition to paper 1, problem (15).
    """
    m = add_scaled_classifier("gmeb-hard-margin", data)
    m.t = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="t_j >= w_j^2 / sigma_j")
    m.objective = pyo.Objective(expr=pyo.quicksum(m.t.values()), doc="1't = N(w)^2")
    weights, yX = tuple(m.w.values()), data.X * data.y[:, None]

    def margin(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(yX[i], weights) + data.y[i] * m.b >= 1

    m.margin = pyo.Constraint(m.I, rule=margin, doc="(15), xi = 0: y_i (w'x_i + b) >= 1")
    add_perspective(m)
    add_moments(m, data, r_plus, r_minus)
    return m


SPEC = ModelSpec("gmeb-hard-margin", build_gmeb_hard_margin, "SOCP", paper="gmeb", equation="(15), xi = 0", instance=Instance(gap=2.0))
