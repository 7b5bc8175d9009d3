"""Model ``kernel-scaling``: Bi, (15), feature scales that minimise the capacity of a given hyperplane."""

from __future__ import annotations

import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.data import Dataset
from fsopt.models.mop.scaling import (
    ScalingData,
    add_scaling_constraints,
    new_scaling_model,
    penalised_scales,
    set_bounds_and_start,
)
from fsopt.models.spec import Instance, ModelSpec


def build_kernel_scaling(
    data: Dataset,
    *,
    w: ArrayLike | None = None,
    b: float = 0.0,
    e_cap: float | None = None,
    c: float = 0.0,
) -> pyo.ConcreteModel:
    r"""Return the kernel scaling problem: the scales of smallest capacity that keep the hinge loss of a hyperplane.

    .. math::

        \min_{s, R, W, \xi}\ & R\,W + c\,e's \\
        \text{s.t.}\ & y_i\Big(\sum_j g_j x_{ij} + b\Big) \ge 1 - \xi_i,\quad g_j = w_j s_j,\quad
        e'\xi \le E \\
        & \sum_j w_j^2 s_j \le W,\quad \sum_j x_{ij}^2 s_j \le R,\quad s, \xi \ge 0

    Its constraints are linear, but its objective is not convex: the product RW has the eigenvalues 1/2 and -1/2.

    Global solvers need finite bounds on R and W. The following ones hold at every optimum. Let
    :math:`D = \sum_i (1 - y_ib)_+ - E` be the decrease of the hinge loss, from s = 0, that the scales must achieve. If
    D > 0,

    .. math::

        D \le \sum_j s_j|w_j| \sum_i |x_{ij}| \quad\Rightarrow\quad
        W \ge \underline W = D \min_j \frac{|w_j|}{\sum_i |x_{ij}|},\quad
        R \ge \underline R = D \min_j \frac{\sum_i x_{ij}^2}{n\,|w_j| \sum_i |x_{ij}|}

    over the features with :math:`w_j \ne 0`. With the smallest t for which s = te is feasible, and the objective value
    :math:`H = RW + cpt` there, :math:`R \le H/\underline W` and :math:`W \le H/\underline R`. If no multiple of e is
    feasible, there are no upper bounds. If :math:`D \le 0`, s = 0 is optimal, and the upper bounds are the values at
    s = e.

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

    Returns
    -------
    ConcreteModel
        NLP, a nonconvex quadratic program with one product. Variables ``s w b R W xi`` (``w`` is g; b is fixed),
        constraints ``margin image risk capacity ball``, mutable parameters ``weight w_square price_s e_cap``; the
        bounds above belong to the parameters at the time of building. The start is the smallest feasible multiple of
        e, or e if there is none.

    Raises
    ------
    ParameterError : a vector of the wrong length, or a number outside its range.

    Notes
    -----
    Bi, (15), for the kernel x'Sx and with the penalty of section 6. R is the squared radius. The paper calls (15)
    "merely a quadratic program", which it is, but not a convex one.
    """
    given = ScalingData.of("kernel-scaling", data, w, b, e_cap, c)
    m = new_scaling_model("kernel-scaling", data, given)
    m.objective = pyo.Objective(expr=m.R * m.W + penalised_scales(m), doc="(15) RW + c e's")
    add_scaling_constraints(m, data)
    set_bounds_and_start(m, data, given)
    return m


SPEC = ModelSpec(
    "kernel-scaling",
    build_kernel_scaling,
    "NLP",
    paper="mop",
    equation="(15)",
    instance=Instance(params={"c": 0.5}),
)
