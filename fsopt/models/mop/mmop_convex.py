"""Model ``mmop-convex``: Bi, (7)-(11) for the linear kernel, in a convex form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.common.arguments import LIST
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import (
    add_classifier,
    add_margins,
    add_slacks,
    new_model,
    number,
    perspective_constraint,
    total,
    vector,
)
from fsopt.models.spec import ModelSpec


def build_mmop_convex(data: Dataset, *, h_cap: float = 1.0, unlabelled: Sequence[ArrayLike] = ()) -> pyo.ConcreteModel:
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

    a largest weighted one-norm, whose hyperplanes are sparse. Samples without labels have no loss, and lie in the ball
    as the others do: i runs over them, too, in the last constraint and in N.

    Parameters
    ----------
    data : Dataset
        In any units; the optimum does not depend on them.
    h_cap : float, default 1.0
        H > 0, upper bound on RW; H + 1 estimates the VC dimension.
    unlabelled : Sequence[array], default ()
        Samples (p,) without labels, in the units of the data, that R takes into account (transductive inference).

    Returns
    -------
    ConcreteModel
        SOCP, p rotated cones. Variables ``w b xi s t``, constraints ``margin perspective capacity ball``, and
        ``unlabelled`` where there are such samples; mutable parameter ``h_cap``. The classifier is sign(w'x + b), and
        the feature scales are s. An optimum is a global optimum of ``mmop``, where all samples have labels.

    Raises
    ------
    ParameterError : h_cap <= 0, or an unlabelled sample that is no list of p finite numbers.

    Notes
    -----
    Our reformulation of Bi, (7)-(11), for the kernel of section 6; the paper expects that the problem may not be
    practically applicable. "The information of unlabelled data can be easily incorporated into the calculation of the
    radius of the sphere containing data", says its outlook, and no more.
    """
    h_cap = number("mmop-convex", "h_cap", h_cap)
    m = new_model("mmop-convex", data)
    add_classifier(m)
    add_slacks(m)
    m.s = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="s, feature scales")
    m.t = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="t_j >= w_j^2 / s_j")
    m.h_cap = pyo.Param(initialize=h_cap, mutable=True, doc="H, upper bound on RW")
    LIST.check("parameter 'unlabelled' of 'mmop-convex'", unlabelled)
    others = [vector("mmop-convex", f"unlabelled[{k}]", one, data.p) ** 2 for k, one in enumerate(unlabelled)]
    squared, scales = data.X**2, tuple(m.s.values())

    def ball(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(squared[i], scales) <= 1

    def other(m: pyo.ConcreteModel, k: int) -> Any:
        # A sample of zeros lies in every ball.
        return dot(others[k], scales) <= 1 if others[k].any() else pyo.Constraint.Skip

    m.objective = pyo.Objective(expr=total(m.xi), doc="(7) e'xi")
    add_margins(m, data, "(9)")
    m.perspective = perspective_constraint(m, m.s, "(10) w_j^2 <= s_j t_j")
    m.capacity = pyo.Constraint(expr=total(m.t) - m.h_cap <= 0, doc="(8), (10) sum_j t_j <= H")
    m.ball = pyo.Constraint(m.I, rule=ball, doc="(11) sum_j x_ij^2 s_j <= R = 1")
    if others:
        m.unlabelled = pyo.Constraint(range(len(others)), rule=other, doc="(11) of the samples without labels")
    return m


SPEC = ModelSpec("mmop-convex", build_mmop_convex, "SOCP", paper="mop", equation="(7)-(11), convex")
