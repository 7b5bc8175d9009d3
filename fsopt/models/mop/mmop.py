"""The master problem of Bi, (7)-(11), as printed and in a convex form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import (
    add_classifier,
    add_margins,
    add_slacks,
    margin_constraint,
    new_model,
    number,
    perspective_constraint,
    squares,
    total,
)
from fsopt.models.spec import Instance, ModelSpec


def build_mmop(data: Dataset, *, h_cap: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the master problem: hyperplane and feature scales of smallest hinge loss at a given bound on RW.

    .. math::

        \min\ & e'\xi \\
        \text{s.t.}\ & y_i(u'x_i + b) \ge 1 - \xi_i,\quad u_j = w_j \sigma_j,\quad \xi, \sigma \ge 0 \\
        & w'w \le W,\quad \sigma_j^2 \le s_j,\quad \textstyle\sum_j x_{ij}^2 s_j \le R,\quad R\,W \le H

    The kernel is x'Sx with :math:`s_j = \sigma_j^2` at an optimum: w is the hyperplane in the feature space
    :math:`\sqrt S x`, and u the same hyperplane for the data. R W does not change if :math:`(\sigma, w)` becomes
    :math:`(c\sigma, w/c)`. Therefore R is fixed to 1 without loss of generality, and the only remaining products are
    those of u. It implies :math:`\sigma_j \le 1/\max_i|x_{ij}|` and :math:`|w_j| \le \sqrt H`, bounds that a global
    solver needs.

    Parameters
    ----------
    data : In any units; the optimum does not depend on them.
    h_cap : H > 0, upper bound on RW; H + 1 estimates the VC dimension.

    Returns
    -------
    ConcreteModel
        NLP, a nonconvex quadratic program with p products, for small data: ``mmop-convex`` has the same
        optimum. Variables ``w sigma s u b xi R W`` (R is fixed), constraints ``margin image capacity square
        ball product``. The classifier is sign(u'x + b). The start has equal scales and weights. Another H is another
        model, as its bounds on w follow from H.

    Raises
    ------
    ParameterError : h_cap <= 0.

    Notes
    -----
    Bi, (7)-(11), with (8) as a constraint, for the kernel of section 6.
    """
    h_cap = number("mmop", "h_cap", h_cap)
    m = _new_master_model(data, h_cap)
    squared, scales = data.X**2, tuple(m.s.values())

    def image(m: pyo.ConcreteModel, j: int) -> Any:
        return m.u[j] - m.w[j] * m.sigma[j] == 0

    def square(m: pyo.ConcreteModel, j: int) -> Any:
        return m.sigma[j] ** 2 - m.s[j] <= 0

    def ball(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(squared[i], scales) - m.R <= 0

    m.objective = pyo.Objective(expr=total(m.xi), doc="(7) e'xi")
    m.margin = margin_constraint(m, data, m.u, "(9) y_i (u'x_i + b) >= 1 - xi_i")
    m.image = pyo.Constraint(m.J, rule=image, doc="(9) u_j = w_j sigma_j")
    m.capacity = pyo.Constraint(expr=squares(m.w) - m.W <= 0, doc="(10) w'w <= W")
    m.square = pyo.Constraint(m.J, rule=square, doc="(11) sigma_j^2 <= s_j")
    m.ball = pyo.Constraint(m.I, rule=ball, doc="(11) sum_j x_ij^2 s_j <= R")
    m.product = pyo.Constraint(expr=m.R * m.W - h_cap <= 0, doc="(8) RW <= H")
    return m


def _new_master_model(data: Dataset, h_cap: float) -> pyo.ConcreteModel:
    """Return the variables with their bounds at R = 1, and a start with equal scales and weights."""
    m = new_model("mmop", data)
    largest = np.abs(data.X).max(axis=0)
    reach = 1.0 / np.where(largest > 0, largest, 1.0)
    sigma_bounds = {j: (0.0, float(reach[j])) for j in m.J}
    # With equal scales R = 1 requires sigma^2 max_i x_i'x_i = 1; with equal weights w'w = H requires w_j^2 = H / p.
    scale = 1.0 / float(np.sqrt(max(float((data.X**2).sum(axis=1).max()), 1e-300)))
    start = float(np.sqrt(h_cap / data.p))
    root = np.sqrt(h_cap)
    m.w = pyo.Var(m.J, bounds=(-root, root), initialize=start, doc="w, hyperplane in the feature space")
    m.sigma = pyo.Var(m.J, bounds=sigma_bounds, initialize=scale, doc="sigma_j = sqrt(s_j)")
    m.s = pyo.Var(m.J, within=pyo.NonNegativeReals, initialize=scale**2, doc="s, feature scales of the kernel")
    m.u = pyo.Var(m.J, initialize=start * scale, doc="u_j = w_j sigma_j, weights of the hyperplane")
    m.b = pyo.Var(initialize=0.0, doc="b, intercept")
    m.xi = pyo.Var(m.I, within=pyo.NonNegativeReals, initialize=1.0, doc="xi, hinge slacks")
    m.R = pyo.Var(within=pyo.NonNegativeReals, doc="R, squared radius of the ball of the samples, fixed")
    m.R.fix(1.0)
    m.W = pyo.Var(within=pyo.NonNegativeReals, initialize=h_cap, doc="W, squared norm of the weights")
    return m


def build_mmop_convex(data: Dataset, *, h_cap: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the convex form of the master problem, which has the same optimum and no products.

    .. math::

        \min\ & e'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 - \xi_i,\quad \xi \ge 0 \\
        & w_j^2 \le s_j t_j,\quad \textstyle\sum_j t_j \le H,\quad \sum_j x_{ij}^2 s_j \le 1,\quad s, t \ge 0

    With R = 1 the master problem requires :math:`\sum_j w_j^2/s_j \le H` of the hyperplane w for the data, and
    :math:`w_j^2/s_j` is convex in both. With s minimised out this constraint is :math:`N(w)^2 \le H` for the norm

    .. math::

        N(w) = \max\Big\{\sum_j |w_j| \sqrt{\textstyle\sum_i \lambda_i x_{ij}^2} :
        \lambda \ge 0,\ e'\lambda = 1\Big\}

    a largest weighted one-norm, whose hyperplanes are sparse.

    Parameters
    ----------
    data : In any units; the optimum does not depend on them.
    h_cap : H > 0, upper bound on RW; H + 1 estimates the VC dimension.

    Returns
    -------
    ConcreteModel
        SOCP, p rotated cones. Variables ``w b xi s t``, constraints ``margin perspective capacity ball``,
        mutable parameter ``h_cap``. The classifier is sign(w'x + b), and the feature scales are s. An optimum is a
        global optimum of ``mmop``.

    Raises
    ------
    ParameterError : h_cap <= 0.

    Notes
    -----
    Our reformulation of Bi, (7)-(11), for the kernel of section 6; the paper expects that the problem may not be
    practically applicable.
    """
    h_cap = number("mmop-convex", "h_cap", h_cap)
    m = new_model("mmop-convex", data)
    add_classifier(m)
    add_slacks(m)
    m.s = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="s, feature scales")
    m.t = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="t_j >= w_j^2 / s_j")
    m.h_cap = pyo.Param(initialize=h_cap, mutable=True, doc="H, upper bound on RW")
    squared, scales = data.X**2, tuple(m.s.values())

    def ball(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(squared[i], scales) <= 1

    m.objective = pyo.Objective(expr=total(m.xi), doc="(7) e'xi")
    add_margins(m, data, "(9)")
    m.perspective = perspective_constraint(m, m.s, "(10) w_j^2 <= s_j t_j")
    m.capacity = pyo.Constraint(expr=total(m.t) - m.h_cap <= 0, doc="(8), (10) sum_j t_j <= H")
    m.ball = pyo.Constraint(m.I, rule=ball, doc="(11) sum_j x_ij^2 s_j <= R = 1")
    return m


SPECS = (
    ModelSpec(
        "mmop",
        build_mmop,
        "NLP",
        equation="(7)-(11)",
        instance=Instance(n=12, p=2),
        trial=Instance(n=12, p=2, gap=0.7, seed=7),
    ),
    ModelSpec("mmop-convex", build_mmop_convex, "SOCP", equation="(7)-(11), convex"),
)
