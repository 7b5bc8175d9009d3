"""Model ``gmeb-penalised``: Peleg & Meir, (10), the bound (7) with its scales in the objective."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import number
from fsopt.models.gmeb.gmeb_nonconvex import add_products, new_product_model, scaled_moment
from fsopt.models.gmeb.moments import second_moments
from fsopt.models.spec import Instance, ModelSpec


def build_gmeb_penalised(data: Dataset, *, c_plus: float = 4.0, c_minus: float = 4.0) -> pyo.ConcreteModel:
    r"""Return the generalization error bound itself, with the scales penalised instead of bounded.

    .. math::

        \min\ & \tfrac1n 1'\xi + \tfrac{C_+\sqrt{n_+}}{n} t_+ + \tfrac{C_-\sqrt{n_-}}{n} t_- \\
        \text{s.t.}\ & w'w \le 1, \qquad u_j = w_j \sigma_j \\
        & y_i(u'x_i + b) \ge 1 - \xi_i, \quad \xi, \sigma \ge 0 \\
        & \textstyle\sum_j v_j^+ \sigma_j^2 \le t_+^2, \quad \sum_j v_j^- \sigma_j^2 \le t_-^2, \quad t_+, t_- \ge 0

    with the second moments :math:`v_j^\pm` of feature j over each class of size :math:`n_\pm`. The paper has
    :math:`\sqrt{\sum_j v_j^{\pm} \sigma_j^2}` in the objective. At sigma = 0, which is optimal for large penalty
    weights, this root has no derivative, and solvers of nonconvex quadratics do not accept it: here t is an upper
    bound on the root by a second-order cone, equal to it at an optimum. A variable for each product keeps the margins
    linear.

    Unlike (11), this problem does not become convex by (14), and it has local optima. A solution is also a solution
    of (11) for :math:`R_\pm = t_\pm^2`; not every solution of (11) is one of this problem.

    Parameters
    ----------
    data : Dataset
        Features centred by their training mean; the builder does not preprocess.
    c_plus, c_minus : float, default 4.0
        :math:`C_+, C_- > 0`, penalty weights of the scales over each class; the bound itself has 4.

    Returns
    -------
    ConcreteModel
        NLP, a nonconvex quadratic program with two cones and n + 3p + 3 variables. Variables ``w sigma u b xi t_plus
        t_minus``, constraints ``unit_norm product margin moment_plus moment_minus``. The classifier is sign(u'x + b).
        The start has equal weights and scales of 1, where all constraints have a slope.

    Raises
    ------
    ParameterError : a penalty weight that is not a positive number.

    Notes
    -----
    Peleg & Meir, (10), the minimisation of (7).
    """
    c_plus = number("gmeb-penalised", "c_plus", c_plus)
    c_minus = number("gmeb-penalised", "c_minus", c_minus)
    v_plus, v_minus = second_moments(data)
    m = new_product_model("gmeb-penalised", data, 1.0)
    m.t_plus = pyo.Var(within=pyo.NonNegativeReals, initialize=np.sqrt(v_plus.sum()), doc="t+, root of v+'sigma^2")
    m.t_minus = pyo.Var(within=pyo.NonNegativeReals, initialize=np.sqrt(v_minus.sum()), doc="t-, root of v-'sigma^2")
    n_plus = int(np.sum(data.y > 0))
    weight_plus, weight_minus = c_plus * np.sqrt(n_plus) / data.n, c_minus * np.sqrt(data.n - n_plus) / data.n
    risk = dot(np.full(data.n, 1 / data.n), tuple(m.xi.values()))
    m.objective = pyo.Objective(
        expr=risk + weight_plus * m.t_plus + weight_minus * m.t_minus,
        doc="(10) 1'xi/n + C+ sqrt(n+)/n t+ + C- sqrt(n-)/n t-",
    )
    add_products(m, data, "(10)")
    m.moment_plus = pyo.Constraint(
        expr=scaled_moment(m, v_plus) <= m.t_plus**2, doc="(10) sum_j v+_j sigma_j^2 <= t+^2"
    )
    m.moment_minus = pyo.Constraint(
        expr=scaled_moment(m, v_minus) <= m.t_minus**2, doc="(10) sum_j v-_j sigma_j^2 <= t-^2"
    )
    return m


SPEC = ModelSpec(
    "gmeb-penalised",
    build_gmeb_penalised,
    "NLP",
    paper="gmeb",
    equation="(7)/(10)",
    instance=Instance(n=12, p=2, params={"c_plus": 0.25, "c_minus": 0.25}),
    trial=Instance(n=12, p=2, gap=0.7, seed=7, params={"c_plus": 0.25, "c_minus": 0.25}),
)
