"""The master problem of paper 5 for the linear kernel with scales: as it is printed, and its convex form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import add_classifier, add_margins, new_model, number, squares


def build_mmop(data: Dataset, *, h_cap: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the master problem by the constraint method: plane and feature scales of least loss at a capacity.

    .. math::

        \min\ & e'\xi \\
        \text{s.t.}\ & y_i(u'x_i + b) \ge 1 - \xi_i,\quad u_j = w_j \sigma_j,\quad \xi, \sigma \ge 0 \\
        & w'w \le W,\quad \sigma_j^2 \le s_j,\quad \textstyle\sum_j x_{ij}^2 s_j \le R,\quad R\,W \le H

    The kernel is x'Sx with :math:`s_j = \sigma_j^2` at an optimum, so that w is the plane in the feature space
    :math:`\sqrt S x` and u the same for the data. R W does not change when :math:`(\sigma, w)` becomes
    :math:`(c\sigma, w/c)`: R is fixed to 1 without loss of generality, and the only products left are those of u. Then
    :math:`\sigma_j \le 1/\max_i|x_{ij}|` and :math:`|w_j| \le \sqrt H`, bounds that a global solver needs.

    Parameters
    ----------
    h_cap : H > 0, the largest RW; H + 1 estimates the VC dimension.

    Returns
    -------
    ConcreteModel
        NLP, a nonconvex quadratic program with p products, for small data: :func:`build_mmop_convex` has the same
        optimum. Variables ``w sigma s u b xi R W`` (R is fixed), constraints ``margin image capacity square
        ball product``. It starts at equal scales and weights.

    Raises
    ------
    ParameterError : h_cap <= 0.

    Notes
    -----
    Paper 5, (7)-(11) with (8) as a constraint, for the kernel of section 6.
    """
    h_cap = number("mmop", "h_cap", h_cap, low=0.0, strict=True)
    m = new_model("mmop", data)
    largest = np.abs(data.X).max(axis=0)
    reach = 1.0 / np.where(largest > 0, largest, 1.0)
    scale = 1.0 / float(np.sqrt(max(float((data.X**2).sum(axis=1).max()), 1e-300)))
    start = float(np.sqrt(h_cap / data.p))
    ends = {j: (0.0, float(reach[j])) for j in m.J}
    m.w = pyo.Var(m.J, bounds=(-np.sqrt(h_cap), np.sqrt(h_cap)), initialize=start, doc="(9) w, plane in feature space")
    m.sigma = pyo.Var(m.J, bounds=ends, initialize=scale, doc="(9) sigma_j = sqrt(s_j)")
    m.s = pyo.Var(m.J, within=pyo.NonNegativeReals, initialize=scale**2, doc="(11) s, feature scales of the kernel")
    m.u = pyo.Var(m.J, initialize=start * scale, doc="(9) u_j = w_j sigma_j, weights of the plane")
    m.b = pyo.Var(initialize=0.0, doc="b, intercept")
    m.xi = pyo.Var(m.I, within=pyo.NonNegativeReals, initialize=1.0, doc="xi, hinge slacks")
    m.R = pyo.Var(within=pyo.NonNegativeReals, doc="R, squared radius of the ball, fixed")
    m.R.fix(1.0)
    m.W = pyo.Var(within=pyo.NonNegativeReals, initialize=h_cap, doc="W, squared norm of the plane")
    m.objective = pyo.Objective(expr=pyo.quicksum(m.xi.values()), doc="(7) e'xi")
    squared, scales, weights, yX = data.X**2, tuple(m.s.values()), tuple(m.u.values()), data.X * data.y[:, None]

    def margin(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(yX[i], weights) + float(data.y[i]) * m.b + m.xi[i] >= 1

    def image(m: pyo.ConcreteModel, j: int) -> Any:
        return m.u[j] - m.w[j] * m.sigma[j] == 0

    def square(m: pyo.ConcreteModel, j: int) -> Any:
        return m.sigma[j] ** 2 - m.s[j] <= 0

    def ball(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(squared[i], scales) - m.R <= 0

    m.margin = pyo.Constraint(m.I, rule=margin, doc="(9) margin: y_i (u'x_i + b) >= 1 - xi_i")
    m.image = pyo.Constraint(m.J, rule=image, doc="(9) u_j = w_j sigma_j")
    m.capacity = pyo.Constraint(expr=squares(list(m.w.values())) - m.W <= 0, doc="(10) w'w <= W")
    m.square = pyo.Constraint(m.J, rule=square, doc="(11) sigma_j^2 <= s_j")
    m.ball = pyo.Constraint(m.I, rule=ball, doc="(11) sum_j x_ij^2 s_j <= R")
    m.product = pyo.Constraint(expr=m.R * m.W - h_cap <= 0, doc="(8) RW <= H")
    return m


def build_mmop_convex(data: Dataset, *, h_cap: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the convex form of the master problem, which has the same optimum and no products.

    .. math::

        \min\ & e'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 - \xi_i,\quad \xi \ge 0 \\
        & w_j^2 \le s_j t_j,\quad \textstyle\sum_j t_j \le H,\quad \sum_j x_{ij}^2 s_j \le 1,\quad s, t \ge 0

    With R = 1 the master problem asks for :math:`\sum_j w_j^2/s_j \le H` of the plane w for the data, and
    :math:`w_j^2/s_j` is convex in both. Over s the constraint is :math:`N(w)^2 \le H` with the norm

    .. math::

        N(w) = \max\Big\{\sum_j |w_j| \sqrt{\textstyle\sum_i \lambda_i x_{ij}^2} :
        \lambda \ge 0,\ e'\lambda = 1\Big\}

    a largest weighted one-norm, whose planes are sparse.

    Parameters
    ----------
    h_cap : H > 0, the largest RW; H + 1 estimates the VC dimension.

    Returns
    -------
    ConcreteModel
        SOCP, p cones. Variables ``w b xi s t``, constraints ``margin perspective capacity ball``, mutable parameter
        ``h_cap``. The plane is (w, b), and the scales of the features are s.

    Raises
    ------
    ParameterError : h_cap <= 0.

    Notes
    -----
    Our reformulation of paper 5, (7)-(11) for the kernel of section 6, which the paper takes for a problem that may not
    be practically applicable.
    """
    h_cap = number("mmop-convex", "h_cap", h_cap, low=0.0, strict=True)
    m = new_model("mmop-convex", data)
    add_classifier(m)
    add_margins(m, data, "(9)")
    m.s = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="s, feature scales")
    m.t = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="t_j >= w_j^2 / s_j")
    m.h_cap = pyo.Param(initialize=h_cap, mutable=True, doc="H")
    m.objective = pyo.Objective(expr=pyo.quicksum(m.xi.values()), doc="(7) e'xi")
    squared, scales = data.X**2, tuple(m.s.values())

    def perspective(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] ** 2 <= m.s[j] * m.t[j]

    def ball(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(squared[i], scales) <= 1

    m.perspective = pyo.Constraint(m.J, rule=perspective, doc="(10) w_j^2 <= s_j t_j")
    m.capacity = pyo.Constraint(expr=pyo.quicksum(m.t.values()) - m.h_cap <= 0, doc="(8), (10) sum_j t_j <= H")
    m.ball = pyo.Constraint(m.I, rule=ball, doc="(11) sum_j x_ij^2 s_j <= R = 1")
    return m
