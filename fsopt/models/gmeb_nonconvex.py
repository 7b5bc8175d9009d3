"""GMEB before its convexification: weights and feature scales as separate variables (Peleg and Meir, paper 1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import Vector, new_model, number, squares
from fsopt.models.gmeb import radius, second_moments


def build_gmeb_nonconvex(data: Dataset, *, r_plus: float = 3.0, r_minus: float = 3.0) -> pyo.ConcreteModel:
    r"""Return the GMEB problem before its convexification, with the classifier's weights as products.

    .. math::

        \min\ & 1'\xi \\
        \text{s.t.}\ & w'w \le 1, \qquad u_j = w_j \sigma_j \\
        & y_i(u'x_i + b) \ge 1 - \xi_i, \quad \xi, \sigma \ge 0 \\
        & \textstyle\sum_j v_j^+ \sigma_j^2 \le R_+, \quad \sum_j v_j^- \sigma_j^2 \le R_-

    One variable for each product keeps the n dense margins linear: a global solver meets p bilinear terms, not np.
    The plane is (u, b). The optimum is that of the convex :func:`build_gmeb_primal`, whose w and sigma are this u
    and sigma squared (Theorem 15). A local solver that stops at a stationary point may still have missed it.

    Parameters
    ----------
    data : centred columns are assumed, nothing is preprocessed here.
    r_plus, r_minus : :math:`R_+, R_- > 0`, units of squared features times squared sigma; infinity drops the row.

    Returns
    -------
    ConcreteModel
        NLP, a nonconvex quadratic program with n + 3p + 1 variables. Variables ``w sigma u b xi``, constraints
        ``unit_norm product margin moment_plus moment_minus``. It starts at equal weights and Lemma 18's scales: the
        point w = sigma = 0 is stationary, since the products have no slope there, and no optimum.

    Raises
    ------
    ParameterError : a radius that is not a positive number.

    Notes
    -----
    Paper 1, problem (11).
    """
    r_plus, r_minus = radius("gmeb-nonconvex", "r_plus", r_plus), radius("gmeb-nonconvex", "r_minus", r_minus)
    v_plus, v_minus = second_moments(data)
    reach = min(_share(r_plus, v_plus), _share(r_minus, v_minus))
    m = _products("gmeb-nonconvex", data, np.sqrt(reach / 2) if np.isfinite(reach) else 1.0, "(11)")
    m.objective = pyo.Objective(expr=pyo.quicksum(m.xi.values()), doc="(11) 1'xi")
    if np.isfinite(r_plus):
        m.moment_plus = pyo.Constraint(expr=_moment(v_plus, m) <= r_plus, doc="(11) sum_j v+_j sigma_j^2 <= R+")
    if np.isfinite(r_minus):
        m.moment_minus = pyo.Constraint(expr=_moment(v_minus, m) <= r_minus, doc="(11) sum_j v-_j sigma_j^2 <= R-")
    return m


def build_gmeb_penalised(data: Dataset, *, c_plus: float = 4.0, c_minus: float = 4.0) -> pyo.ConcreteModel:
    r"""Return the generalization error bound itself, with the scales penalised instead of bounded.

    .. math::

        \min\ & \tfrac1n 1'\xi + \tfrac{C_+\sqrt{n_+}}{n} t_+ + \tfrac{C_-\sqrt{n_-}}{n} t_- \\
        \text{s.t.}\ & w'w \le 1, \qquad u_j = w_j \sigma_j \\
        & y_i(u'x_i + b) \ge 1 - \xi_i, \quad \xi, \sigma \ge 0 \\
        & \textstyle\sum_j v_j^+ \sigma_j^2 \le t_+^2, \quad \sum_j v_j^- \sigma_j^2 \le t_-^2, \quad t_+, t_- \ge 0

    The paper has :math:`\sqrt{\sum_j v_j^{\pm} \sigma_j^2}` in the objective. At sigma = 0, which is optimal for large
    penalties, the root has no derivative, and solvers of nonconvex quadratics do not take it: here t is that norm,
    above it by a second-order cone, equal to it at an optimum. One variable for each product keeps the margins linear.

    Unlike (11) this is not made convex by (14), and it has local optima. With :math:`R_\pm = t_\pm^2` of a solution,
    that solution also solves (11); not every solution of (11) arises so.

    Parameters
    ----------
    data : centred columns are assumed, nothing is preprocessed here.
    c_plus, c_minus : :math:`C_+, C_- > 0`, the prices of the scales over each class; the bound itself has 4.

    Returns
    -------
    ConcreteModel
        NLP, a nonconvex quadratic program with two cones and n + 3p + 3 variables. Variables ``w sigma u b xi t_plus
        t_minus``, constraints ``unit_norm product margin moment_plus moment_minus``. It starts at equal weights and
        scales 1, where every row has a slope.

    Raises
    ------
    ParameterError : a price that is not a positive number.

    Notes
    -----
    Paper 1, problem (10), the minimisation of (7).
    """
    c_plus = number("gmeb-penalised", "c_plus", c_plus, low=0.0, strict=True)
    c_minus = number("gmeb-penalised", "c_minus", c_minus, low=0.0, strict=True)
    v_plus, v_minus = second_moments(data)
    m = _products("gmeb-penalised", data, 1.0, "(10)")
    m.t_plus = pyo.Var(within=pyo.NonNegativeReals, initialize=np.sqrt(v_plus.sum()), doc="(10) root of v+'sigma^2")
    m.t_minus = pyo.Var(within=pyo.NonNegativeReals, initialize=np.sqrt(v_minus.sum()), doc="(10) root of v-'sigma^2")
    n_plus = int(np.sum(data.y > 0))
    price_plus, price_minus = c_plus * np.sqrt(n_plus) / data.n, c_minus * np.sqrt(data.n - n_plus) / data.n
    m.objective = pyo.Objective(
        expr=dot(np.full(data.n, 1 / data.n), tuple(m.xi.values())) + price_plus * m.t_plus + price_minus * m.t_minus,
        doc="(10) 1'xi/n + C+ sqrt(n+)/n t+ + C- sqrt(n-)/n t-",
    )
    m.moment_plus = pyo.Constraint(expr=_moment(v_plus, m) <= m.t_plus**2, doc="(10) sum_j v+_j sigma_j^2 <= t+^2")
    m.moment_minus = pyo.Constraint(expr=_moment(v_minus, m) <= m.t_minus**2, doc="(10) sum_j v-_j sigma_j^2 <= t-^2")
    return m


def _products(name: str, data: Dataset, scale: float, equation: str) -> pyo.ConcreteModel:
    """Return a model with w in the unit ball, sigma, u_j = w_j sigma_j and the margins of (u, b)."""
    m = new_model(name, data)
    start = 1 / np.sqrt(data.p)
    m.w = pyo.Var(m.J, initialize=start, doc=f"{equation} w, weights of the scaled features")
    m.sigma = pyo.Var(m.J, within=pyo.NonNegativeReals, initialize=scale, doc=f"{equation} sigma, feature scales")
    m.u = pyo.Var(m.J, initialize=start * scale, doc=f"{equation} u_j = w_j sigma_j, weights of the plane")
    m.b = pyo.Var(initialize=0.0, doc="b, intercept")
    m.xi = pyo.Var(m.I, within=pyo.NonNegativeReals, initialize=1.0, doc="xi, hinge slacks")
    weights, yX = tuple(m.u.values()), data.X * data.y[:, None]

    def product(m: pyo.ConcreteModel, j: int) -> Any:
        return m.u[j] - m.w[j] * m.sigma[j] == 0

    def margin(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(yX[i], weights) + float(data.y[i]) * m.b + m.xi[i] >= 1

    m.unit_norm = pyo.Constraint(expr=squares(list(m.w.values())) <= 1, doc=f"{equation} w'w <= 1")
    m.product = pyo.Constraint(m.J, rule=product, doc=f"{equation} u_j = w_j sigma_j")
    m.margin = pyo.Constraint(m.I, rule=margin, doc=f"{equation} margin: y_i (u'x_i + b) >= 1 - xi_i")
    return m


def _moment(v: Vector, m: pyo.ConcreteModel) -> Any:
    """Return sum_j v_j sigma_j^2."""
    return pyo.quicksum(float(v[j]) * m.sigma[j] ** 2 for j in m.J)


def _share(r: float, v: Vector) -> float:
    """Return R / sum_j v_j, the equal squared scale that uses up a radius; infinity where nothing does."""
    total = float(v.sum())
    return r / total if total > 0 else np.inf
