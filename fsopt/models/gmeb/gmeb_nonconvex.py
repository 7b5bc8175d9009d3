"""Model ``gmeb-nonconvex``: Peleg & Meir, (11), before its convexification."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import numpy as np
import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.gmeb.moments import radius, second_moments
from fsopt.models.gmeb.products import add_products, moment, share


def build_gmeb_nonconvex(data: Dataset, *, r_plus: float = 3.0, r_minus: float = 3.0) -> pyo.ConcreteModel:
    r"""Return the GMEB problem before its convexification, with the classifier's weights as products.

    .. math::

        \min\ & 1'\xi \\
        \text{s.t.}\ & w'w \le 1, \qquad u_j = w_j \sigma_j \\
        & y_i(u'x_i + b) \ge 1 - \xi_i, \quad \xi, \sigma \ge 0 \\
        & \textstyle\sum_j v_j^+ \sigma_j^2 \le R_+, \quad \sum_j v_j^- \sigma_j^2 \le R_-

    One variable for each product keeps the n dense margins linear: a global solver meets p bilinear terms, not np.
    The plane is (u, b). The optimum is that of the convex :func:`build_gmeb_primal`, whose w and sigma are this u
    and sigma squared (Theorem 15). A local solver that stops at a stationary point may still have missed it.

    Parameters
    ----------
    data : centred columns are assumed, nothing is preprocessed here.
    r_plus, r_minus : :math:`R_+, R_- > 0`, units of squared features times squared sigma; infinity drops the row.

    Returns
    -------
    ConcreteModel
        NLP, a nonconvex quadratic program with n + 3p + 1 variables. Variables ``w sigma u b xi``, constraints
        ``unit_norm product margin moment_plus moment_minus``. It starts at equal weights and Lemma 18's scales: the
        point w = sigma = 0 is stationary, since the products have no slope there, and no optimum.

    Raises
    ------
    ParameterError : a radius that is not a positive number.

    Notes
    -----
    Paper 1, problem (11).
    """
    r_plus, r_minus = radius("gmeb-nonconvex", "r_plus", r_plus), radius("gmeb-nonconvex", "r_minus", r_minus)
    v_plus, v_minus = second_moments(data)
    reach = min(share(r_plus, v_plus), share(r_minus, v_minus))
    m = add_products("gmeb-nonconvex", data, np.sqrt(reach / 2) if np.isfinite(reach) else 1.0, "(11)")
    m.objective = pyo.Objective(expr=pyo.quicksum(m.xi.values()), doc="(11) 1'xi")
    if np.isfinite(r_plus):
        m.moment_plus = pyo.Constraint(expr=moment(v_plus, m) <= r_plus, doc="(11) sum_j v+_j sigma_j^2 <= R+")
    if np.isfinite(r_minus):
        m.moment_minus = pyo.Constraint(expr=moment(v_minus, m) <= r_minus, doc="(11) sum_j v-_j sigma_j^2 <= R-")
    return m


SPEC = ModelSpec("gmeb-nonconvex", build_gmeb_nonconvex, "NLP", paper="gmeb", equation="(11)", instance=Instance(n=12, p=2, params={"r_plus": 0.5, "r_minus": 0.5}), trial=Instance(n=12, p=2, gap=0.7, seed=7))
