"""GMEB: feature selection by minimising a generalization error bound (Peleg and Meir, paper 1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler import dot, lmi
from fsopt.data import Dataset
from fsopt.models.blocks import Vector, add_classifier, add_margins, new_model, number


def second_moments(data: Dataset) -> tuple[Vector, Vector]:
    """Return v+ and v- (p,), the raw second moments of each column over the two classes.

    Moments about 0, not variances: centre the columns by the training mean before (the method does).
    """
    return (data.X[data.y > 0] ** 2).mean(axis=0), (data.X[data.y < 0] ** 2).mean(axis=0)


def radius(model: str, name: str, value: Any) -> float:
    """Return R > 0; infinity or None stands for a constraint that is left out."""
    if value is None or value == np.inf:
        return np.inf
    return number(model, name, value, low=0.0, high=np.inf, strict=True)


def build_gmeb_primal(data: Dataset, *, r_plus: float = 3.0, r_minus: float = 3.0) -> pyo.ConcreteModel:
    r"""Return the convex GMEB problem, a second-order cone program.

    .. math::

        \min\ & 1'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 - \xi_i, \quad \xi \ge 0 \\
        & w_j^2 \le \sigma_j t_j, \quad 1't \le 1, \quad \sigma, t \ge 0 \\
        & v^{+\prime}\sigma \le R_+, \quad v^{-\prime}\sigma \le R_-

    The paper writes :math:`\sum_j w_j^2/\sigma_j \le 1`; here it is read as its closure, so that
    :math:`\sigma_j = 0` forces :math:`w_j = 0`.

    Parameters
    ----------
    data : centred columns are assumed, nothing is preprocessed here.
    r_plus, r_minus : :math:`R_+, R_- > 0`, units of squared features times sigma; infinity drops the row.

    Returns
    -------
    ConcreteModel
        SOCP with n + 3p + 1 variables and p rotated cones. Variables ``w b xi sigma t``, constraints
        ``margin perspective unit_norm moment_plus moment_minus``.

    Raises
    ------
    ParameterError : a radius that is not a positive number.

    Notes
    -----
    Paper 1, problem (15) with transformation (14). An optimum is a global one of the nonconvex (11).
    """
    m = _scaled_plane("gmeb-primal", data)
    m.t = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="t_j >= w_j^2 / sigma_j")
    add_margins(m, data, "(15)")
    m.objective = pyo.Objective(expr=pyo.quicksum(m.xi.values()), doc="(15) 1'xi")
    _add_perspective(m)
    m.unit_norm = pyo.Constraint(expr=pyo.quicksum(m.t.values()) <= 1, doc="(15) sum_j w_j^2 / sigma_j <= 1")
    _add_moments(m, data, r_plus, r_minus)
    return m


def _scaled_plane(name: str, data: Dataset) -> pyo.ConcreteModel:
    """Return a model with the plane (w, b) and the squared scales sigma."""
    m = new_model(name, data)
    add_classifier(m)
    m.sigma = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="sigma, squared feature scales")
    return m


def _add_moments(m: pyo.ConcreteModel, data: Dataset, r_plus: float, r_minus: float) -> None:
    """Add the rows of the finite radii."""
    r_plus, r_minus = radius(m.name, "r_plus", r_plus), radius(m.name, "r_minus", r_minus)
    v_plus, v_minus = second_moments(data)
    sigmas = tuple(m.sigma.values())
    if np.isfinite(r_plus):
        m.moment_plus = pyo.Constraint(expr=dot(v_plus, sigmas) <= r_plus, doc="(15) v+'sigma <= R+")
    if np.isfinite(r_minus):
        m.moment_minus = pyo.Constraint(expr=dot(v_minus, sigmas) <= r_minus, doc="(15) v-'sigma <= R-")


def _add_perspective(m: pyo.ConcreteModel) -> None:
    def perspective(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] ** 2 <= m.sigma[j] * m.t[j]

    m.perspective = pyo.Constraint(m.J, rule=perspective, doc="(15) w_j^2 <= sigma_j t_j")


def build_gmeb_sdp(data: Dataset, *, r_plus: float = 3.0, r_minus: float = 3.0) -> pyo.ConcreteModel:
    r"""Return the convex GMEB problem with its linear matrix inequality, a semidefinite program.

    .. math::

        \min\ & 1'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 - \xi_i, \quad \xi \ge 0 \\
        & \begin{bmatrix} \mathrm{diag}(\sigma) & w \\ w' & 1 \end{bmatrix} \succeq 0 \\
        & v^{+\prime}\sigma \le R_+, \quad v^{-\prime}\sigma \le R_-

    The inequality is the closure of :math:`\sum_j w_j^2/\sigma_j \le 1` (Schur's complement). Its dense cone of order
    p + 1 takes seconds at p = 200: prefer the rotated cones of :func:`build_gmeb_primal` beyond p = 100.

    Parameters
    ----------
    data : centred columns are assumed, nothing is preprocessed here.
    r_plus, r_minus : :math:`R_+, R_- > 0`, units of squared features times sigma; infinity drops the row.

    Returns
    -------
    ConcreteModel
        SDP, one semidefinite cone of order p + 1. Variables ``w b sigma xi`` and the upper triangle ``lmi.S``,
        constraints ``margin lmi.entry moment_plus moment_minus``.

    Raises
    ------
    ParameterError : a radius that is not a positive number.

    Notes
    -----
    Paper 1, problem (15) in the form that section 4.1 derives from Lemma 6.
    """
    m = _scaled_plane("gmeb-sdp", data)
    add_margins(m, data, "(15)")
    m.objective = pyo.Objective(expr=pyo.quicksum(m.xi.values()), doc="(15) 1'xi")
    w = tuple(m.w.values())
    scales = [[m.sigma[i] if i == j else 0.0 for j in m.J] + [w[i]] for i in m.J]
    m.lmi = lmi([*scales, [*w, 1.0]], doc="(15) [[diag(sigma), w], [w', 1]] >= 0, entry by entry")
    _add_moments(m, data, r_plus, r_minus)
    return m


def build_gmeb_hard_margin(data: Dataset, *, r_plus: float = 3.0, r_minus: float = 3.0) -> pyo.ConcreteModel:
    r"""Return the least-norm separating plane in the norm of GMEB, for data that (15) separates.

    .. math::

        \min\ & 1't \quad\text{s.t.}\quad y_i(w'x_i + b) \ge 1, \quad w_j^2 \le \sigma_j t_j, \\
        & v^{+\prime}\sigma \le R_+, \quad v^{-\prime}\sigma \le R_-, \quad \sigma, t \ge 0

    Its value is :math:`N(w)^2`, the square of the norm whose unit ball (15) searches: (15) has optimum 0 iff
    the value is at most 1, and then the multipliers of (16) say nothing about w, while this w is well defined.

    Parameters and component names as in :func:`build_gmeb_primal` (no ``xi`` and ``unit_norm``); an SOCP,
    infeasible iff the data are not separable. Our addition to paper 1, problem (15).
    """
    m = _scaled_plane("gmeb-hard-margin", data)
    m.t = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="t_j >= w_j^2 / sigma_j")
    m.objective = pyo.Objective(expr=pyo.quicksum(m.t.values()), doc="1't = N(w)^2")
    weights, yX = tuple(m.w.values()), data.X * data.y[:, None]

    def margin(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(yX[i], weights) + data.y[i] * m.b >= 1

    m.margin = pyo.Constraint(m.I, rule=margin, doc="(15), xi = 0: y_i (w'x_i + b) >= 1")
    _add_perspective(m)
    _add_moments(m, data, r_plus, r_minus)
    return m


def build_gmeb_dual(data: Dataset, *, r_plus: float = 3.0, r_minus: float = 3.0) -> pyo.ConcreteModel:
    r"""Return the dual of GMEB, a second-order cone program whose multipliers are the classifier.

    .. math::

        \max\ & 1'\mu - \mu_1 - R_+\mu_+ - R_-\mu_- \\
        \text{s.t.}\ & s = X'Y\mu, \qquad y'\mu = 0, \qquad 0 \le \mu \le 1 \\
        & s_j^2 \le 4\mu_1(\mu_+ v_j^+ + \mu_- v_j^-), \qquad \mu_1, \mu_+, \mu_- \ge 0

    Parameters
    ----------
    data, r_plus, r_minus : as in :func:`build_gmeb_primal`; an infinite radius fixes its multiplier at 0.

    Returns
    -------
    ConcreteModel
        SOCP with n + p + 3 variables and p rotated cones. Variables ``mu mu1 mu_plus mu_minus s``,
        constraints ``moment balance cone``, mutable parameters ``r_plus r_minus`` (finite ones may change). With
        shadow prices as Pyomo defines them, ``dual[moment[j]]`` is :math:`w_j` and ``dual[balance]`` is
        :math:`b` (Theorem 19).

    Raises
    ------
    ParameterError : a radius that is not a positive number.

    Notes
    -----
    Paper 1, problems (16) and (17). Where the optimum is 0 (data separable within the norm) all multipliers
    vanish and Theorem 19 says nothing: see :func:`build_gmeb_hard_margin`.
    """
    r_plus, r_minus = radius("gmeb-dual", "r_plus", r_plus), radius("gmeb-dual", "r_minus", r_minus)
    v_plus, v_minus = second_moments(data)
    m = new_model("gmeb-dual", data)
    m.mu = pyo.Var(m.I, bounds=(0, 1), doc="mu, multipliers of the margins")
    m.mu1 = pyo.Var(within=pyo.NonNegativeReals, doc="mu_1, multiplier of the unit norm")
    m.mu_plus = pyo.Var(within=pyo.NonNegativeReals, doc="mu_+, multiplier of v+'sigma <= R+")
    m.mu_minus = pyo.Var(within=pyo.NonNegativeReals, doc="mu_-, multiplier of v-'sigma <= R-")
    m.s = pyo.Var(m.J, doc="s = X'Y mu")
    m.r_plus = pyo.Param(initialize=r_plus, mutable=True, doc="(16) R+")
    m.r_minus = pyo.Param(initialize=r_minus, mutable=True, doc="(16) R-")
    cost = m.mu1
    for price, r in ((m.mu_plus, m.r_plus), (m.mu_minus, m.r_minus)):
        if np.isfinite(r.value):
            cost = cost + r * price
        else:
            price.fix(0.0)
    m.objective = pyo.Objective(
        expr=pyo.quicksum(m.mu.values()) - cost,
        sense=pyo.maximize,
        doc="(16) 1'mu - mu_1 - R+ mu_+ - R- mu_-",
    )
    mus, Xy = tuple(m.mu.values()), np.ascontiguousarray((data.X * data.y[:, None]).T)
    plus, minus = (4 * v_plus).tolist(), (4 * v_minus).tolist()

    def moment(m: pyo.ConcreteModel, j: int) -> Any:
        return dot(Xy[j], mus) - m.s[j] == 0

    def cone(m: pyo.ConcreteModel, j: int) -> Any:
        return m.s[j] ** 2 <= m.mu1 * (plus[j] * m.mu_plus + minus[j] * m.mu_minus)

    m.moment = pyo.Constraint(m.J, rule=moment, doc="(17) s = X'Y mu; multiplier w")
    m.balance = pyo.Constraint(expr=dot(data.y, mus) == 0, doc="(16) y'mu = 0; multiplier b")
    m.cone = pyo.Constraint(m.J, rule=cone, doc="(16) s_j^2 <= 4 mu_1 (mu_+ v+_j + mu_- v-_j)")
    return m
