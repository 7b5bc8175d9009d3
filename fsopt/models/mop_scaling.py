"""The kernel scaling problem of paper 5: scales of the features that lower the capacity of a given plane."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import Vector, add_margins, new_model, number, vector
from fsopt.planes import hinge

WIDER = 1e-6
"""Relative distance of the bounds on R and W from what is proved, above the tolerances of solvers."""


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
    m = _scaled_plane("kernel-scaling", data, w, b, e_cap, c)
    m.objective = pyo.Objective(
        expr=m.R * m.W + pyo.quicksum(m.price_s[j] * m.s[j] for j in m.J), doc="(15) RW + c e's"
    )
    _add_rows(m, data)
    weights = np.array([v.value for v in m.weight.values()])
    _bound(m, data, weights, m.b.value, m.e_cap.value, c)
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
    m = _scaled_plane(name, data, w, b, e_cap, c)
    m.price_W = pyo.Param(initialize=number(name, "radius", radius, low=0.0), mutable=True, doc="R bar")
    m.price_R = pyo.Param(initialize=number(name, "capacity", capacity, low=0.0), mutable=True, doc="W bar")
    m.objective = pyo.Objective(
        expr=m.price_W * m.W + m.price_R * m.R + pyo.quicksum(m.price_s[j] * m.s[j] for j in m.J),
        doc="(15) linearisation of RW + c e's",
    )
    _add_rows(m, data)
    return m


def _scaled_plane(
    name: str, data: Dataset, w: ArrayLike | None, b: float, e_cap: float | None, c: float
) -> pyo.ConcreteModel:
    """Return a model with the variables s, g, b, R, W and the mutable numbers of (15)."""
    weights = _mean_difference(data) if w is None else vector(name, "w", w, data.p)
    if e_cap is None:
        e_cap = hinge(data.X @ weights + number(name, "b", b), data.y)
    m = new_model(name, data)
    m.s = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="s, scales")
    m.w = pyo.Var(m.J, doc="g_j = w_j s_j, weights of the scaled plane")
    m.b = pyo.Var(doc="b, fixed")
    m.b.fix(number(name, "b", b))
    m.R = pyo.Var(within=pyo.NonNegativeReals, doc="R, squared radius of the ball")
    m.W = pyo.Var(within=pyo.NonNegativeReals, doc="W, squared norm of the plane")
    m.weight = pyo.Param(m.J, initialize=dict(enumerate(weights.tolist())), mutable=True, doc="w_j")
    m.w_square = pyo.Param(m.J, initialize=dict(enumerate((weights**2).tolist())), mutable=True, doc="w_j^2")
    m.price_s = pyo.Param(m.J, initialize=number(name, "c", c, low=0.0), mutable=True, doc="c")
    m.e_cap = pyo.Param(initialize=number(name, "e_cap", e_cap, low=0.0), mutable=True, doc="E")
    return m


def _add_rows(m: pyo.ConcreteModel, data: Dataset) -> None:
    """Add the constraints of (15)."""
    add_margins(m, data, "(15)")

    def image(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - m.weight[j] * m.s[j] == 0

    m.image = pyo.Constraint(m.J, rule=image, doc="(15) g_j = w_j s_j")
    m.risk = pyo.Constraint(expr=pyo.quicksum(m.xi.values()) - m.e_cap <= 0, doc="(15) e'xi <= E")
    m.capacity = pyo.Constraint(
        expr=pyo.quicksum(m.w_square[j] * m.s[j] for j in m.J) - m.W <= 0, doc="(15) sum_j w_j^2 s_j <= W"
    )
    squared, scales = data.X**2, tuple(m.s.values())

    def ball(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(squared[i], scales) - m.R <= 0

    m.ball = pyo.Constraint(m.I, rule=ball, doc="(15) sum_j x_ij^2 s_j <= R")


def _bound(m: pyo.ConcreteModel, data: Dataset, w: Vector, b: float, e_cap: float, c: float) -> None:
    """Set the bounds on R and W that hold at every optimum, and the start, see :func:`build_kernel_scaling`."""
    radius, capacity = float((data.X**2).sum(axis=1).max()), float(w @ w)
    scores = data.X @ w
    gain = hinge(np.full(data.n, b), data.y) - e_cap
    t = least_multiple(scores, b, data.y, e_cap)
    if gain > 0:
        size = np.abs(data.X).sum(axis=0)
        felt = np.flatnonzero((w != 0) & (size > 0))
        low_W = gain * float((np.abs(w[felt]) / size[felt]).min(initial=np.inf))
        spread = (data.X[:, felt] ** 2).sum(axis=0) / data.n
        low_R = gain * float((spread / (np.abs(w[felt]) * size[felt])).min(initial=np.inf))
        if len(felt):
            m.R.setlb((1 - WIDER) * low_R)
            m.W.setlb((1 - WIDER) * low_W)
        if t is not None:
            value = t**2 * radius * capacity + c * t * data.p
            m.R.setub((1 + WIDER) * value / low_W)
            m.W.setub((1 + WIDER) * value / low_R)
    else:
        m.R.setub(radius)
        m.W.setub(capacity)
    start = 1.0 if t is None else t
    for j in m.J:
        m.s[j].set_value(start)
        m.w[j].set_value(start * w[j])
    for i, slack in enumerate(np.maximum(1.0 - data.y * (start * scores + b), 0.0).tolist()):
        m.xi[i].set_value(slack)
    m.R.set_value(start * radius)
    m.W.set_value(start * capacity)


def least_multiple(scores: Vector, b: float, y: Vector, e_cap: float) -> float | None:
    """Return the least t >= 0 with hinge loss of ``t scores + b`` at most E; None where no t has it.

    The loss is convex and piecewise linear in t, so t lies on the segment that ends at the first breakpoint below E.
    """
    margins, offsets = y * scores, 1.0 - y * b
    with np.errstate(divide="ignore", invalid="ignore"):
        places = offsets / margins
    breaks = np.unique(np.append(places[np.isfinite(places) & (places > 0)], 0.0))
    losses = np.array([np.maximum(offsets - t * margins, 0.0).sum() for t in breaks])
    below = np.flatnonzero(losses <= e_cap)
    if not len(below):
        return None
    k = int(below[0])
    if k == 0:
        return 0.0
    share = (losses[k - 1] - e_cap) / (losses[k - 1] - losses[k])
    return float(breaks[k - 1] + share * (breaks[k] - breaks[k - 1]))


def _mean_difference(data: Dataset) -> Vector:
    difference: Vector = data.X[data.y > 0].mean(axis=0) - data.X[data.y < 0].mean(axis=0)
    return difference
