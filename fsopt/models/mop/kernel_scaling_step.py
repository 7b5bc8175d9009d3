"""Model ``kernel-scaling-step``: Bi, the linear program of a local step on (15)."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import number, vector
from fsopt.models.mop.scaling import ScalingData, add_scaling_constraints, new_scaling_model, penalised_scales
from fsopt.models.spec import Instance, ModelSpec


def build_kernel_scaling_step(
    data: Dataset,
    *,
    w: ArrayLike | None = None,
    b: float = 0.0,
    e_cap: float | None = None,
    c: float = 0.0,
    radius: float = 1.0,
    capacity: float = 1.0,
    offset: ArrayLike | None = None,
) -> pyo.ConcreteModel:
    r"""Return the linear program of a Frank-Wolfe step on the kernel scaling problem (15).

    .. math::

        \min_{s, R, W, \xi}\ & \bar R\,W + \bar W R + c\,e's \\
        \text{s.t.}\ & y_i\Big(\sum_j g_j x_{ij} + b\Big) \ge 1 - \xi_i,\quad g_j = w_j s_j,\quad
        e'\xi \le E \\
        & \sum_j w_j^2 s_j \le W,\quad \sum_j x_{ij}^2 s_j \le R,\quad s, \xi \ge 0

    The objective is the linearisation at :math:`(\bar R, \bar W)` of :math:`RW + c\,e's`, which is not convex, without
    its constant. For a part of the samples, :math:`e'\xi + h_0 - h'g` is in the place of :math:`e'\xi`: the hinge
    losses of the others are taken as linear, with the sums :math:`h_0 = \sum_i (1 - y_i b)` and :math:`h = \sum_i y_i
    x_i` over those with a positive one.

    Parameters
    ----------
    data : Dataset
        Features in the space of the hyperplane.
    w, b : array or float, optional
        (p,) and scalar, the hyperplane in the unscaled space: the score of a scaled sample is :math:`\sum_j s_j w_j
        x_{ij} + b`. By default w is the difference of the class means.
    e_cap : float, optional
        E >= 0, upper bound on the hinge loss; that of (w, b) at s = e by default.
    c : float, default 0.0
        >= 0, penalty weight of the scales.
    radius, capacity : float, default 1.0
        >= 0, the point :math:`(\bar R, \bar W)` of the linearisation.
    offset : array, optional
        (p + 1,) h of the features, then h_0, of the samples that are not in the data; zeros by default.

    Returns
    -------
    ConcreteModel
        LP. Variables ``s w b R W xi`` (``w`` is g; b is fixed), constraints ``margin image risk capacity
        ball``, mutable parameters ``weight w_square price_R price_W price_s e_cap``.

    Raises
    ------
    ParameterError : a vector of the wrong length, or a number outside its range.

    Notes
    -----
    Bi, (15), for the kernel x'Sx and with the penalty of section 6. R is the squared radius.
    """
    name = "kernel-scaling-step"
    m = new_scaling_model(name, data, ScalingData.of(name, data, w, b, e_cap, c))
    m.price_W = pyo.Param(initialize=number(name, "radius", radius), mutable=True, doc="R bar, cost of W")
    m.price_R = pyo.Param(initialize=number(name, "capacity", capacity), mutable=True, doc="W bar, cost of R")
    m.objective = pyo.Objective(
        expr=m.price_W * m.W + m.price_R * m.R + penalised_scales(m), doc="(15) linearisation of RW + c e's"
    )
    others: Any = 0.0
    if offset is not None:
        h = vector(name, "offset", offset, data.p + 1)
        others = float(h[-1]) - dot(h[:-1], tuple(m.w.values()))
    add_scaling_constraints(m, data, others)
    return m


SPEC = ModelSpec(
    "kernel-scaling-step",
    build_kernel_scaling_step,
    "LP",
    paper="mop",
    equation="(15)",
    instance=Instance(params={"c": 0.5}),
)
