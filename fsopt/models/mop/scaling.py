r"""The parts that the forms of Bi, (15) share: a given hyperplane, its loss and capacity as functions of the scales s.

.. math::

    y_i\Big(\sum_j g_j x_{ij} + b\Big) \ge 1 - \xi_i, \quad g_j = w_j s_j, \quad e'\xi \le E, \quad
    \sum_j w_j^2 s_j \le W, \quad \sum_j x_{ij}^2 s_j \le R
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.data.hyperplanes import hinge, smallest_multiple
from fsopt.data.matrices import column_means, exact_sums
from fsopt.models.blocks import add_margins, add_slacks, mutable, new_model, number, total, vector
from fsopt.typing import Vector

WIDENING = 1e-6
"""Relative distance of the bounds on R and W from the values that are derived, above the tolerances of solvers."""


@dataclass(frozen=True)
class ScalingData:
    """The given numbers of (15).

    Attributes
    ----------
    w, b : (p,) and scalar, the hyperplane in the unscaled space.
    e_cap : E, the largest hinge loss.
    c : penalty weight of each scale.
    """

    w: Vector
    b: float
    e_cap: float
    c: float

    @staticmethod
    def of(name: str, data: Dataset, w: ArrayLike | None, b: float, e_cap: float | None, c: float) -> ScalingData:
        """Return the checked parameters of a builder, with their defaults.

        Raises
        ------
        ParameterError : a vector of the wrong length, or a number outside its range.
        """
        weights = mean_difference(data) if w is None else vector(name, "w", w, data.p)
        intercept = number(name, "b", b)
        if e_cap is None:
            e_cap = hinge(scores(data, weights) + intercept, data.y)
        return ScalingData(weights, intercept, number(name, "e_cap", e_cap), number(name, "c", c))


def mean_difference(data: Dataset) -> Vector:
    """Return the difference of the class means (p,)."""
    difference: Vector = column_means(data.X[data.y > 0]) - column_means(data.X[data.y < 0])
    return difference


def scores(data: Dataset, w: Vector) -> Vector:
    """Return X w (n,), each score rounded once, so that bounds of a model are the same on every processor."""
    return exact_sums(data.X.T, w)


def new_scaling_model(name: str, data: Dataset, given: ScalingData) -> pyo.ConcreteModel:
    """Return a model with the variables s, g (``w``), b (fixed), R, W, xi, and the given numbers as parameters."""
    m = new_model(name, data)
    m.s = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="s, feature scales")
    m.w = pyo.Var(m.J, doc="g_j = w_j s_j, weights of the scaled hyperplane")
    m.b = pyo.Var(doc="b, intercept, fixed")
    m.b.fix(given.b)
    m.R = pyo.Var(within=pyo.NonNegativeReals, doc="R, squared radius of the ball of the samples")
    m.W = pyo.Var(within=pyo.NonNegativeReals, doc="W, squared norm of the weights")
    m.weight = mutable(m.J, given.w, "w_j, weights of the given hyperplane")
    m.w_square = mutable(m.J, given.w**2, "w_j^2")
    m.price_s = pyo.Param(m.J, initialize=given.c, mutable=True, doc="c, penalty weight of the scales")
    m.e_cap = pyo.Param(initialize=given.e_cap, mutable=True, doc="E, upper bound on the hinge loss")
    add_slacks(m)
    return m


def penalised_scales(m: pyo.ConcreteModel) -> Any:
    """Return the expression c e's."""
    return pyo.quicksum(m.price_s[j] * m.s[j] for j in m.J)


def add_scaling_constraints(m: pyo.ConcreteModel, data: Dataset, others: Any = 0.0) -> None:
    """Add the constraints of (15): ``margin image risk capacity ball``; ``others`` is the loss of other samples."""
    squared, scales = data.X**2, tuple(m.s.values())

    def image(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - m.weight[j] * m.s[j] == 0

    def ball(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(squared[i], scales) - m.R <= 0

    capacity = pyo.quicksum(m.w_square[j] * m.s[j] for j in m.J)
    add_margins(m, data, "(15)")
    m.image = pyo.Constraint(m.J, rule=image, doc="(15) g_j = w_j s_j")
    m.risk = pyo.Constraint(expr=total(m.xi) + others - m.e_cap <= 0, doc="(15) e'xi <= E")
    m.capacity = pyo.Constraint(expr=capacity - m.W <= 0, doc="(15) sum_j w_j^2 s_j <= W")
    m.ball = pyo.Constraint(m.I, rule=ball, doc="(15) sum_j x_ij^2 s_j <= R")


def set_bounds_and_start(m: pyo.ConcreteModel, data: Dataset, given: ScalingData) -> None:
    """Set the bounds on R and W that hold at every optimum, see the builder of ``kernel-scaling``, and the start te."""
    radius, capacity = float(exact_sums((data.X**2).T).max()), math.fsum(given.w**2)
    t = smallest_multiple(scores(data, given.w), given.b, data.y, given.e_cap)
    gain = hinge(np.full(data.n, given.b), data.y) - given.e_cap
    if gain > 0:
        low_R, low_W = _lower_bounds(data, given.w, gain)
        if np.isfinite(low_R):
            m.R.setlb((1 - WIDENING) * low_R)
            m.W.setlb((1 - WIDENING) * low_W)
        if t is not None:
            value = t**2 * radius * capacity + given.c * t * data.p
            m.R.setub((1 + WIDENING) * value / low_W)
            m.W.setub((1 + WIDENING) * value / low_R)
    else:
        m.R.setub(radius)
        m.W.setub(capacity)
    _set_start(m, data, given, 1.0 if t is None else t)


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


def _set_start(m: pyo.ConcreteModel, data: Dataset, given: ScalingData, t: float) -> None:
    """Set the values of all variables to those of the scales s = te."""
    for j in m.J:
        m.s[j].set_value(t)
        m.w[j].set_value(t * given.w[j])
    slacks = np.maximum(1.0 - data.y * (t * (data.X @ given.w) + given.b), 0.0)
    for i, slack in enumerate(slacks.tolist()):
        m.xi[i].set_value(slack)
    m.R.set_value(t * float((data.X**2).sum(axis=1).max()))
    m.W.set_value(t * float(given.w @ given.w))
