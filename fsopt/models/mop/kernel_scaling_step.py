"""Model ``kernel-scaling-step``: Bi, the linear program of a local step of (15)."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import number
from fsopt.models.mop.scaling import add_scaling_constraints, scaled_classifier
from numpy.typing import ArrayLike


def build_kernel_scaling_step(
    data: Dataset,
    *,
    w: ArrayLike | None = None,
    b: float = 0.0,
    e_cap: float | None = None,
    c: float = 0.0,
    radius: float = 1.0,
    capacity: float = 1.0,
) -> pyo.ConcreteModel:
    r"""Return the linear program of a Frank-Wolfe step on the kernel scaling problem (15).

    .. math::

        \min_{s, R, W, \xi}\ & \bar R\,W + \bar W R + c\,e's \\
        \text{s.t.}\ & y_i\Big(\sum_j g_j x_{ij} + b\Big) \ge 1 - \xi_i,\quad g_j = w_j s_j,\quad
        e'\xi \le E \\
        & \sum_j w_j^2 s_j \le W,\quad \sum_j x_{ij}^2 s_j \le R,\quad s, \xi \ge 0

    the linearisation at :math:`(\bar R, \bar W)` of :math:`\min RW + c\,e's`, which is not convex.

    Parameters
    ----------
    w, b : (p,) and scalar, the plane in the unscaled space: the score is :math:`\sum_j s_j w_j x_{ij} + b`.
        By default w is the difference of the class means.
    e_cap : E >= 0, the hinge loss that the scaling must keep; that of (w, b) at s = e by default.
    c : >= 0, price of the scales.
    radius, capacity : >= 0, the point :math:`(\bar R, \bar W)` of the linearisation.

    Returns
    -------
    ConcreteModel
        LP. Variables ``s w b xi R W`` (``w`` holds g; b is fixed), constraints ``margin image risk capacity
        ball``, mutable parameters ``weight w_square price_R price_W price_s e_cap``.

    Raises
    ------
    ParameterError : a vector of the wrong length, or a number outside its range.

    Notes
    -----
    Paper 5, problem (15) for the kernel x'Sx with the penalty of section 6. R is the squared radius.
    """
    name = "kernel-scaling-step"
    m = scaled_classifier(name, data, w, b, e_cap, c)
    m.price_W = pyo.Param(initialize=number(name, "radius", radius, low=0.0), mutable=True, doc="R bar")
    m.price_R = pyo.Param(initialize=number(name, "capacity", capacity, low=0.0), mutable=True, doc="W bar")
    m.objective = pyo.Objective(
        expr=m.price_W * m.W + m.price_R * m.R + pyo.quicksum(m.price_s[j] * m.s[j] for j in m.J),
        doc="(15) linearisation of RW + c e's",
    )
    add_scaling_constraints(m, data)
    return m


SPEC = ModelSpec("kernel-scaling-step", build_kernel_scaling_step, "LP", paper="mop", equation="(15)", instance=Instance(params={"c": 0.5}))
