"""Model ``mmop``: Bi, (7)-(11), the master problem by the constraint method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.errors import ParameterError, shown
from fsopt.models.blocks import margin_constraint, new_model, number, squares, total
from fsopt.models.spec import Instance, ModelSpec


def build_mmop(data: Dataset, *, h_cap: float = 1.0, merged: bool = False) -> pyo.ConcreteModel:
    r"""Return the master problem: hyperplane and feature scales of smallest hinge loss at a given capacity.

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
    data : Dataset
        In any units; the optimum does not depend on them.
    h_cap : float, default 1.0
        H > 0, upper bound on RW; H + 1 estimates the VC dimension.
    merged : bool, default False
        The second form of the paper: (8) is :math:`R(w'w) \le H`, without W and without (10). The optimum is the same.

    Returns
    -------
    ConcreteModel
        NLP, a nonconvex quadratic program with p products, for small data: ``mmop-convex`` has the same
        optimum. Variables ``w sigma s u b xi R W`` (R is fixed), constraints ``margin image capacity square
        ball product``, without ``W capacity`` where merged. The classifier is sign(u'x + b). The start has equal
        scales and weights.

    Raises
    ------
    ParameterError : h_cap <= 0, or merged that is not true or false.

    Notes
    -----
    Bi, (7)-(11), with (8) as a constraint, for the kernel of section 6.
    """
    h_cap = number("mmop", "h_cap", h_cap)
    if not isinstance(merged, bool):
        raise ParameterError(f"parameter 'merged' of 'mmop' is {shown(merged)}", "true or false")
    m = _new_master_model(data, h_cap, merged=merged)
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
    if not merged:
        m.capacity = pyo.Constraint(expr=squares(m.w) - m.W <= 0, doc="(10) w'w <= W")
    m.square = pyo.Constraint(m.J, rule=square, doc="(11) sigma_j^2 <= s_j")
    m.ball = pyo.Constraint(m.I, rule=ball, doc="(11) sum_j x_ij^2 s_j <= R")
    if merged:
        m.product = pyo.Constraint(expr=m.R * squares(m.w) - h_cap <= 0, doc="(8) R(w'w) <= H")
    else:
        m.product = pyo.Constraint(expr=m.R * m.W - h_cap <= 0, doc="(8) RW <= H")
    return m


def _new_master_model(data: Dataset, h_cap: float, *, merged: bool) -> pyo.ConcreteModel:
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
    if not merged:
        m.W = pyo.Var(within=pyo.NonNegativeReals, initialize=h_cap, doc="W, squared norm of the weights")
    return m


SPEC = ModelSpec(
    "mmop",
    build_mmop,
    "NLP",
    paper="mop",
    equation="(7)-(11)",
    instance=Instance(n=12, p=2),
    trial=Instance(n=12, p=2, gap=0.7, seed=7),
)
