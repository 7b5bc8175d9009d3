"""Model ``gmeb-nonconvex``: Peleg & Meir, (11), before its convexification."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.models.blocks import hinge_cost, margin_constraint, new_model, squares
from fsopt.models.gmeb.moments import radius, second_moments
from fsopt.models.spec import Instance, ModelSpec
from fsopt.typing import Vector


def build_gmeb_nonconvex(data: Dataset, *, r_plus: float = 3.0, r_minus: float = 3.0) -> pyo.ConcreteModel:
    r"""Return the GMEB problem before its convexification, with the weights of the classifier as products.

    .. math::

        \min\ & 1'\xi \\
        \text{s.t.}\ & w'w \le 1, \qquad u_j = w_j \sigma_j \\
        & y_i(u'x_i + b) \ge 1 - \xi_i, \quad \xi, \sigma \ge 0 \\
        & \textstyle\sum_j v_j^+ \sigma_j^2 \le R_+, \quad \sum_j v_j^- \sigma_j^2 \le R_-

    with the second moments :math:`v_j^\pm` of feature j over each class. A variable for each product keeps the n dense
    margins linear: a global solver meets p bilinear terms, not np.

    Parameters
    ----------
    data : Dataset
        Features centred by their training mean; the builder does not preprocess.
    r_plus, r_minus : float, default 3.0
        :math:`R_+, R_- > 0`, without unit, as sigma has the inverse units of the features; infinity omits the
        constraint.

    Returns
    -------
    ConcreteModel
        NLP, a nonconvex quadratic program with n + 3p + 1 variables. Variables ``w sigma u b xi``, constraints
        ``unit_norm product margin moment_plus moment_minus``. The classifier is sign(u'x + b). It has the optimum of
        the convex ``gmeb-primal``, whose w is this u and whose sigma is this sigma squared (Theorem 15); a stationary
        point of a local solver may miss it. The start has equal weights and the scales of Lemma 18: w = sigma = 0 is
        stationary, because all products have slope 0 there, but not optimal.

    Raises
    ------
    ParameterError : a radius that is not a positive number.

    Notes
    -----
    Peleg & Meir, (11).
    """
    r_plus, r_minus = radius("gmeb-nonconvex", "r_plus", r_plus), radius("gmeb-nonconvex", "r_minus", r_minus)
    v_plus, v_minus = second_moments(data)
    # Lemma 18: half the largest common scale is strictly inside both radii.
    largest = min(largest_equal_scale(r_plus, v_plus), largest_equal_scale(r_minus, v_minus))
    m = new_product_model("gmeb-nonconvex", data, np.sqrt(largest / 2) if np.isfinite(largest) else 1.0)
    m.objective = pyo.Objective(expr=hinge_cost(m, data), doc="(11) 1'xi")
    add_products(m, data, "(11)")
    if np.isfinite(r_plus):
        m.moment_plus = pyo.Constraint(expr=scaled_moment(m, v_plus) <= r_plus, doc="(11) sum_j v+_j sigma_j^2 <= R+")
    if np.isfinite(r_minus):
        m.moment_minus = pyo.Constraint(
            expr=scaled_moment(m, v_minus) <= r_minus, doc="(11) sum_j v-_j sigma_j^2 <= R-"
        )
    return m


def new_product_model(name: str, data: Dataset, scale: float) -> pyo.ConcreteModel:
    """Return a model with w, sigma >= 0, u for the products w_j sigma_j (J), b and xi >= 0 (I).

    It starts at equal weights of norm 1, every sigma_j at ``scale``, b = 0 and slacks of 1.
    """
    m = new_model(name, data)
    start = 1 / np.sqrt(data.p)
    m.w = pyo.Var(m.J, initialize=start, doc="w, weights of the scaled features")
    m.sigma = pyo.Var(m.J, within=pyo.NonNegativeReals, initialize=scale, doc="sigma, feature scales")
    m.u = pyo.Var(m.J, initialize=start * scale, doc="u_j = w_j sigma_j, weights of the hyperplane")
    m.b = pyo.Var(initialize=0.0, doc="b, intercept")
    m.xi = pyo.Var(m.I, within=pyo.NonNegativeReals, initialize=1.0, doc="xi, hinge slacks")
    return m


def add_products(m: pyo.ConcreteModel, data: Dataset, equation: str) -> None:
    """Add the constraints ``unit_norm``, ``product`` (J) and ``margin`` (I), the last with the weights u."""

    def product(m: pyo.ConcreteModel, j: int) -> Any:
        return m.u[j] - m.w[j] * m.sigma[j] == 0

    m.unit_norm = pyo.Constraint(expr=squares(m.w) <= 1, doc=f"{equation} w'w <= 1")
    m.product = pyo.Constraint(m.J, rule=product, doc=f"{equation} u_j = w_j sigma_j")
    m.margin = margin_constraint(m, data, m.u, f"{equation} y_i (u'x_i + b) >= 1 - xi_i")


def scaled_moment(m: pyo.ConcreteModel, v: Vector) -> Any:
    """Return the expression sum_j v_j sigma_j^2 for second moments v (p,)."""
    return pyo.quicksum(float(v[j]) * m.sigma[j] ** 2 for j in m.J)


def largest_equal_scale(r: float, v: Vector) -> float:
    """Return R / sum_j v_j, the largest common value of sigma_j^2 within a radius; infinity if all moments are 0."""
    sum_of_moments = float(v.sum())
    return r / sum_of_moments if sum_of_moments > 0 else np.inf


SPEC = ModelSpec(
    "gmeb-nonconvex",
    build_gmeb_nonconvex,
    "NLP",
    paper="gmeb",
    equation="(11)",
    instance=Instance(n=12, p=2, params={"r_plus": 0.5, "r_minus": 0.5}),
    trial=Instance(n=12, p=2, gap=0.7, seed=7),
    weights="samples",
)
