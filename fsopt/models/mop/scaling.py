"""Shared by the forms of (15), Bi: a given classifier, its loss and capacity as functions of the feature scales."""

from __future__ import annotations

from fsopt.typing import Vector

import numpy as np
import pyomo.environ as pyo
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge
from fsopt.models.blocks import add_margins, new_model, number, vector
from numpy.typing import ArrayLike
from typing import Any


WIDER = 1e-6
"""Relative distance of the bounds on R and W from what is proved, above the tolerances of solvers."""


def scaled_classifier(
    name: str, data: Dataset, w: ArrayLike | None, b: float, e_cap: float | None, c: float
) -> pyo.ConcreteModel:
    """Return a model with the variables s, g, b, R, W and the mutable numbers of (15)."""
    weights = mean_difference(data) if w is None else vector(name, "w", w, data.p)
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


def add_scaling_constraints(m: pyo.ConcreteModel, data: Dataset) -> None:
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


def bound_on_scales(m: pyo.ConcreteModel, data: Dataset, w: Vector, b: float, e_cap: float, c: float) -> None:
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


def mean_difference(data: Dataset) -> Vector:
    difference: Vector = data.X[data.y > 0].mean(axis=0) - data.X[data.y < 0].mean(axis=0)
    return difference
