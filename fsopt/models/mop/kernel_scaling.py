"""Model ``kernel-scaling``: Bi, (15), scales of the features that lower the capacity."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import numpy as np
import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.mop.scaling import add_scaling_constraints, bound_on_scales, scaled_classifier
from numpy.typing import ArrayLike


def build_kernel_scaling(
    data: Dataset,
    *,
    w: ArrayLike | None = None,
    b: float = 0.0,
    e_cap: float | None = None,
    c: float = 0.0,
) -> pyo.ConcreteModel:
    r"""Return the kernel scaling problem: scales that keep the hinge loss of a plane at the least capacity.

    .. math::

        \min_{s, R, W, \xi}\ & R\,W + c\,e's \\
        \text{s.t.}\ & y_i\Big(\sum_j g_j x_{ij} + b\Big) \ge 1 - \xi_i,\quad g_j = w_j s_j,\quad
        e'\xi \le E \\
        & \sum_j w_j^2 s_j \le W,\quad \sum_j x_{ij}^2 s_j \le R,\quad s, \xi \ge 0

    Its constraints are linear, its objective is not convex: the product has the eigenvalues 1/2 and -1/2.

    Global solvers need finite bounds on R and W, and these hold at every optimum. Let
    :math:`D = \sum_i (1 - y_ib)_+ - E` be what the scaled plane has to gain on s = 0. Where D > 0,

    .. math::

        D \le \sum_j s_j|w_j| \sum_i |x_{ij}| \quad\Rightarrow\quad
        W \ge \underline W = D \min_j \frac{|w_j|}{\sum_i |x_{ij}|},\quad
        R \ge \underline R = D \min_j \frac{\sum_i x_{ij}^2}{n\,|w_j| \sum_i |x_{ij}|}

    over the features with :math:`w_j \ne 0`, and with the least t for which s = te is feasible,
    :math:`H = RW + cpt` there, :math:`R \le H/\underline W` and :math:`W \le H/\underline R`. Where no multiple of e is
    feasible the upper bounds are left out. Where :math:`D \le 0` s = 0 is optimal; R and W end at their values at e.

    Parameters
    ----------
    w, b : (p,) and scalar, the plane in the unscaled space: the score is :math:`\sum_j s_j w_j x_{ij} + b`.
        By default w is the difference of the class means.
    e_cap : E >= 0, the hinge loss that the scaling must keep; that of (w, b) at s = e by default.
    c : >= 0, price of the scales.

    Returns
    -------
    ConcreteModel
        NLP, a nonconvex quadratic program with one product. Variables ``s w b xi R W`` (``w`` holds g; b is fixed),
        constraints ``margin image risk capacity ball``, mutable parameters ``weight w_square price_s e_cap``; the
        bounds above belong to the values they are built with. It starts at the least feasible multiple of e, else at e.

    Raises
    ------
    ParameterError : a vector of the wrong length, or a number outside its range.

    Notes
    -----
    Paper 5, problem (15) for the kernel x'Sx with the penalty of section 6. R is the squared radius. The paper calls it
    "merely a quadratic program", which it is, but not a convex one.
    """
    m = scaled_classifier("kernel-scaling", data, w, b, e_cap, c)
    m.objective = pyo.Objective(
        expr=m.R * m.W + pyo.quicksum(m.price_s[j] * m.s[j] for j in m.J), doc="(15) RW + c e's"
    )
    add_scaling_constraints(m, data)
    weights = np.array([v.value for v in m.weight.values()])
    bound_on_scales(m, data, weights, m.b.value, m.e_cap.value, c)
    return m


SPEC = ModelSpec("kernel-scaling", build_kernel_scaling, "NLP", paper="mop", equation="(15)", instance=Instance(params={"c": 0.5}))
