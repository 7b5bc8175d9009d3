r"""Bi, (15): feature scales of a given hyperplane, the step of its local search, and their common parts.

Both share a given hyperplane, its loss and capacity as functions of the scales s.

.. math::

    y_i\Big(\sum_j g_j x_{ij} + b\Big) \ge 1 - \xi_i, \quad g_j = w_j s_j, \quad e'\xi \le E, \quad
    \sum_j w_j^2 s_j \le W, \quad \sum_j x_{ij}^2 s_j \le R
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, smallest_multiple
from fsopt.data.matrices import column_means, exact_sums
from fsopt.models.blocks import add_margins, add_parameter, add_slacks, mutable, new_model, number, total, vector
from fsopt.models.spec import Instance, ModelSpec
from fsopt.typing import Vector


def build_kernel_scaling(
    data: Dataset,
    *,
    w: ArrayLike | None = None,
    b: float = 0.0,
    e_cap: float | None = None,
    c: float = 0.0,
) -> pyo.ConcreteModel:
    r"""Return the kernel scaling problem: the scales of smallest RW that keep the hinge loss of a hyperplane.

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
    data : Features in the space of the hyperplane.
    w, b : (p,) and scalar, the hyperplane in the unscaled space: the score of a scaled sample is :math:`\sum_j s_j w_j
        x_{ij} + b`. By default w is the difference of the class means.
    e_cap : E >= 0, upper bound on the hinge loss; that of (w, b) at s = e by default.
    c : >= 0, penalty weight of the scales.

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
    m = new_scaling_model("kernel-scaling", data, w, b, e_cap, c)
    m.objective = pyo.Objective(expr=m.R * m.W + penalised_scales(m), doc="(15) RW + c e's")
    add_scaling_constraints(m, data)
    set_bounds_and_start(m, data)
    return m


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

    The objective is the linearisation at :math:`(\bar R, \bar W)` of :math:`RW + c\,e's`, which is not convex, without
    its constant.

    Parameters
    ----------
    data : Features in the space of the hyperplane.
    w, b : (p,) and scalar, the hyperplane in the unscaled space: the score of a scaled sample is :math:`\sum_j s_j w_j
        x_{ij} + b`. By default w is the difference of the class means.
    e_cap : E >= 0, upper bound on the hinge loss; that of (w, b) at s = e by default.
    c : >= 0, penalty weight of the scales.
    radius, capacity : >= 0, the point :math:`(\bar R, \bar W)` of the linearisation.

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
    m = new_scaling_model(name, data, w, b, e_cap, c)
    m.price_W = pyo.Param(initialize=number(name, "radius", radius), mutable=True, doc="R bar, cost of W")
    m.price_R = pyo.Param(initialize=number(name, "capacity", capacity), mutable=True, doc="W bar, cost of R")
    m.objective = pyo.Objective(
        expr=m.price_W * m.W + m.price_R * m.R + penalised_scales(m), doc="(15) linearisation of RW + c e's"
    )
    add_scaling_constraints(m, data)
    return m


WIDENING = 1e-6
"""Relative distance of the bounds on R and W from the values that are derived, above the tolerances of solvers."""


def scores(data: Dataset, w: Vector) -> Vector:
    """Return X w (n,), each score rounded once, so that bounds of a model are the same on every processor."""
    return exact_sums(data.X.T, w)


def new_scaling_model(
    name: str, data: Dataset, w: ArrayLike | None, b: float, e_cap: float | None, c: float
) -> pyo.ConcreteModel:
    """Return a model with the variables s, g (``w``), b (fixed), R, W, xi, and the given numbers as parameters."""
    if w is None:
        w = column_means(data.X[data.y > 0]) - column_means(data.X[data.y < 0])
    weights, b = vector(name, "w", w, data.p), number(name, "b", b)
    e_cap = hinge(scores(data, weights) + b, data.y) if e_cap is None else e_cap
    m = new_model(name, data)
    m.s = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="s, feature scales")
    m.w = pyo.Var(m.J, doc="g_j = w_j s_j, weights of the scaled hyperplane")
    m.b = pyo.Var(doc="b, intercept, fixed")
    m.b.fix(b)
    m.R = pyo.Var(within=pyo.NonNegativeReals, doc="R, squared radius of the ball of the samples")
    m.W = pyo.Var(within=pyo.NonNegativeReals, doc="W, squared norm of the weights")
    m.weight = mutable(m.J, weights, "w_j, weights of the given hyperplane")
    m.w_square = mutable(m.J, weights**2, "w_j^2")
    m.price_s = pyo.Param(m.J, initialize=number(name, "c", c), mutable=True, doc="c, penalty weight of the scales")
    add_parameter(m, "e_cap", e_cap, "E, upper bound on the hinge loss")
    add_slacks(m)
    return m


def penalised_scales(m: pyo.ConcreteModel) -> Any:
    """Return the expression c e's."""
    return pyo.quicksum(m.price_s[j] * m.s[j] for j in m.J)


def add_scaling_constraints(m: pyo.ConcreteModel, data: Dataset) -> None:
    """Add the constraints of (15): ``margin image risk capacity ball``."""
    squared, scales = data.X**2, tuple(m.s.values())

    def image(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - m.weight[j] * m.s[j] == 0

    def ball(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(squared[i], scales) - m.R <= 0

    capacity = pyo.quicksum(m.w_square[j] * m.s[j] for j in m.J)
    add_margins(m, data, "(15)")
    m.image = pyo.Constraint(m.J, rule=image, doc="(15) g_j = w_j s_j")
    m.risk = pyo.Constraint(expr=total(m.xi) - m.e_cap <= 0, doc="(15) e'xi <= E")
    m.capacity = pyo.Constraint(expr=capacity - m.W <= 0, doc="(15) sum_j w_j^2 s_j <= W")
    m.ball = pyo.Constraint(m.I, rule=ball, doc="(15) sum_j x_ij^2 s_j <= R")


def set_bounds_and_start(m: pyo.ConcreteModel, data: Dataset) -> None:
    """Set the bounds on R and W that hold at every optimum, see the builder of ``kernel-scaling``, and the start te."""
    w, b = np.array([v.value for v in m.weight.values()]), m.b.value
    radius, capacity = float(exact_sums((data.X**2).T).max()), math.fsum(w**2)
    t = smallest_multiple(scores(data, w), b, data.y, m.e_cap.value)
    gain = hinge(np.full(data.n, b), data.y) - m.e_cap.value
    if gain > 0:
        low_R, low_W = _lower_bounds(data, w, gain)
        if np.isfinite(low_R):
            m.R.setlb((1 - WIDENING) * low_R)
            m.W.setlb((1 - WIDENING) * low_W)
        if t is not None:
            value = t**2 * radius * capacity + m.price_s[0].value * t * data.p
            m.R.setub((1 + WIDENING) * value / low_W)
            m.W.setub((1 + WIDENING) * value / low_R)
    else:
        m.R.setub(radius)
        m.W.setub(capacity)
    t = 1.0 if t is None else t
    slacks = np.maximum(1.0 - data.y * (t * (data.X @ w) + b), 0.0)
    for variable, values in ((m.s, np.full(data.p, t)), (m.w, t * w), (m.xi, slacks)):
        variable.set_values(dict(zip(variable, values.tolist(), strict=True)))
    m.R.set_value(t * float((data.X**2).sum(axis=1).max()))
    m.W.set_value(t * float(w @ w))


def _lower_bounds(data: Dataset, w: Vector, gain: float) -> tuple[float, float]:
    """Return the lower bounds on R and W; infinite if no feature changes the scores."""
    # A scaling that lowers the hinge loss by D has D <= sum_j s_j |w_j| sum_i |x_ij|. The sums sum_j s_j w_j^2 <= W and
    # sum_j s_j sum_i x_ij^2 / n <= R, the mean of the constraints on R, are at least D times the smallest ratio of
    # their coefficients to those of this sum.
    size = exact_sums(np.abs(data.X))
    used = np.flatnonzero((w != 0) & (size > 0))
    mean_square = exact_sums(data.X[:, used] ** 2) / data.n
    low_R = gain * float((mean_square / (np.abs(w[used]) * size[used])).min(initial=np.inf))
    low_W = gain * float((np.abs(w[used]) / size[used]).min(initial=np.inf))
    return low_R, low_W


SPECS = (
    ModelSpec("kernel-scaling", build_kernel_scaling, "NLP", equation="(15)", instance=Instance(params={"c": 0.5})),
    ModelSpec(
        "kernel-scaling-step", build_kernel_scaling_step, "LP", equation="(15)", instance=Instance(params={"c": 0.5})
    ),
)
