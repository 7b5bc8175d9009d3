"""Model ``gmeb-nonconvex``: Peleg & Meir, (11), before its convexification."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.models.blocks import hinge_cost
from fsopt.models.gmeb.moments import radius, second_moments
from fsopt.models.gmeb.products import add_products, largest_equal_scale, new_product_model, scaled_moment
from fsopt.models.spec import Instance, ModelSpec


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
