"""The rigorous SVM of Bi: hinge loss and capacity, one within a bound on the other, and the dual."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import (
    add_classifier,
    add_margins,
    add_parameter,
    add_slacks,
    hinge_cost,
    hinge_point,
    multiplier_bounds,
    mutable,
    new_model,
    number,
    signed_features,
    squares,
    total,
    vector,
)
from fsopt.models.spec import TRIAL, Instance, ModelSpec


def build_rsvm(data: Dataset, *, w_cap: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the rigorous SVM: smallest hinge loss at a given capacity, a second-order cone program.

    .. math::

        \min\ & e'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 - \xi_i,\quad \xi \ge 0,\quad w'w \le W

    Parameters
    ----------
    data : Features in comparable units; the optimum depends on them.
    w_cap : W > 0, upper bound on the squared norm of w.

    Returns
    -------
    ConcreteModel
        SOCP, one cone. Variables ``w b xi``, constraints ``margin capacity``, mutable parameter ``w_cap``. The
        classifier is sign(w'x + b).

    Raises
    ------
    ParameterError : w_cap <= 0.

    Notes
    -----
    Bi, (13): the constraint method for (12).
    """
    m = new_model("rsvm", data)
    add_parameter(m, "w_cap", w_cap, "W, upper bound on w'w")
    add_classifier(m)
    add_slacks(m)
    m.objective = pyo.Objective(expr=hinge_cost(m, data), doc="(13) e'xi")
    add_margins(m, data, "(13)")
    m.capacity = pyo.Constraint(expr=squares(m.w) <= m.w_cap, doc="(13) w'w <= W")
    return m


def build_rsvm_dual(data: Dataset, *, w_cap: float = 1.0, scale: ArrayLike | None = None) -> pyo.ConcreteModel:
    r"""Return the dual of the rigorous SVM, a second-order cone program with minus the hinge loss as its optimum.

    .. math::

        \min\ & \sqrt W\,t - e'\alpha \\
        \text{s.t.}\ & q_j = \sum_i \alpha_i y_i x_{ij},\quad v_j = \sqrt{s_j}\,q_j,\quad
        y'\alpha = 0,\quad 0 \le \alpha \le 1,\quad \|v\| \le t

    The norm is a cone with its own variable t, because its square root has no derivative at v = 0.

    Parameters
    ----------
    data : Features in comparable units; the optimum depends on them.
    w_cap : W > 0, upper bound on the squared norm of w.
    scale : (p,) the factors s >= 0 of the kernel x'Sx of Algorithm 1; ones by default.

    Returns
    -------
    ConcreteModel
        SOCP, one cone. Variables ``alpha q v t``, constraints ``expansion scaling balance norm``, mutable parameters
        ``root_scale`` and ``root_cap``. If :math:`\gamma = \|v\|/\sqrt W > 0`, the hyperplane in the scaled space has
        :math:`w = v/\gamma`; gamma = 0 iff the capacity constraint of (13) is inactive.

    Raises
    ------
    ParameterError : w_cap <= 0, or scale that is not p numbers >= 0.

    Notes
    -----
    Bi, (14), for the linear kernel scaled by S.
    """
    w_cap = number("rsvm-dual", "w_cap", w_cap)
    s = np.ones(data.p) if scale is None else vector("rsvm-dual", "scale", scale, data.p, low=0.0)
    m = new_model("rsvm-dual", data)
    m.root_scale = mutable(m.J, np.sqrt(s), "sqrt(s_j)")
    m.root_cap = pyo.Param(initialize=float(np.sqrt(w_cap)), mutable=True, doc="sqrt(W)")
    m.alpha = pyo.Var(m.I, bounds=multiplier_bounds(data, 1), doc="alpha, multipliers of the margins")
    m.q = pyo.Var(m.J, doc="q_j = sum_i alpha_i y_i x_ij")
    m.v = pyo.Var(m.J, doc="v_j = sqrt(s_j) q_j")
    m.t = pyo.Var(within=pyo.NonNegativeReals, doc="t >= ||v||")
    alphas, signed = tuple(m.alpha.values()), signed_features(data)

    def expansion(m: pyo.ConcreteModel, j: int) -> Any:
        return m.q[j] - dot(signed[j], alphas) == 0

    def scaling(m: pyo.ConcreteModel, j: int) -> Any:
        return m.v[j] - m.root_scale[j] * m.q[j] == 0

    m.objective = pyo.Objective(expr=m.root_cap * m.t - total(m.alpha), doc="(14) sqrt(W) ||v|| - e'alpha")
    m.expansion = pyo.Constraint(m.J, rule=expansion, doc="(14) q = X'Y alpha")
    m.scaling = pyo.Constraint(m.J, rule=scaling, doc="(14) v_j = sqrt(s_j) q_j")
    m.balance = pyo.Constraint(expr=dot(data.y, alphas) == 0, doc="(14) y'alpha = 0")
    m.norm = pyo.Constraint(expr=squares(m.v) <= m.t**2, doc="(14) ||v|| <= t")
    return m


def build_rsvm_least_norm(
    data: Dataset, *, e_cap: float | None = None, scale: ArrayLike | None = None
) -> pyo.ConcreteModel:
    r"""Return the hyperplane of smallest norm among those with hinge loss at most E, a quadratic program.

    .. math::

        \min\ & \tfrac12 u'u \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 - \xi_i,\quad \xi \ge 0,\quad w_j = \sqrt{s_j}\,u_j,\quad e'\xi \le E

    It answers (13) if the capacity constraint is inactive: (14) then gives the loss E and no hyperplane.

    Parameters
    ----------
    data : Features in comparable units; the optimum depends on them.
    e_cap : E >= 0, at least the smallest hinge loss of any hyperplane; n, the loss of w = 0 and b = 0, by default.
    scale : (p,) the factors s >= 0 of the kernel x'Sx; ones by default.

    Returns
    -------
    ConcreteModel
        QP. Variables ``w b u xi``, constraints ``margin scaling risk``, mutable parameter ``e_cap``. The classifier
        is sign(w'x + b).

    Raises
    ------
    ParameterError : e_cap < 0, or scale that is not p numbers >= 0.

    Notes
    -----
    The second objective of Bi, (12), at a given value of the first.
    """
    s = np.ones(data.p) if scale is None else vector("rsvm-least-norm", "scale", scale, data.p, low=0.0)
    root = np.sqrt(s)
    m = new_model("rsvm-least-norm", data)
    add_parameter(m, "e_cap", data.total if e_cap is None else e_cap, "E, upper bound on the hinge loss")
    add_classifier(m)
    m.u = pyo.Var(m.J, doc="u, weights in the scaled space")
    add_slacks(m)

    def scaling(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - float(root[j]) * m.u[j] == 0

    m.objective = pyo.Objective(expr=0.5 * squares(m.u), doc="(12) 1/2 u'u")
    add_margins(m, data, "(12)")
    m.scaling = pyo.Constraint(m.J, rule=scaling, doc="(12) w_j = sqrt(s_j) u_j")
    m.risk = pyo.Constraint(expr=hinge_cost(m, data) <= m.e_cap, doc="(12) e'xi <= E")
    return m


SPECS = (
    ModelSpec("rsvm", build_rsvm, "SOCP", equation="(13)", weights="samples", complete=hinge_point),
    ModelSpec(
        "rsvm-dual",
        build_rsvm_dual,
        "SOCP",
        equation="(14)",
        instance=Instance(params={"scale": [1.0, 4.0, 0.25, 1.0]}),
        weights="samples",
    ),
    ModelSpec(
        "rsvm-least-norm",
        build_rsvm_least_norm,
        "QP",
        equation="(12)",
        instance=Instance(params={"e_cap": 12.0}),
        trial=replace(TRIAL, params={"e_cap": 9.0}),
        weights="samples",
    ),
)
