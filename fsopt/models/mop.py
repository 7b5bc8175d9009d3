"""Support vector machines as multi-objective programs: risk against capacity (Bi, paper 5)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import add_classifier, add_margins, new_model, number, squares, vector


def build_rsvm(data: Dataset, *, w_cap: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the rigorous SVM: least hinge loss at a capacity that is given.

    .. math:: \min\ e'\xi \quad\text{s.t.}\quad w'w \le W,\quad y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0

    Parameters
    ----------
    w_cap : W > 0, largest squared norm of w.

    Returns
    -------
    ConcreteModel
        SOCP, one cone. Variables ``w b xi``, constraints ``margin capacity``.

    Raises
    ------
    ParameterError : w_cap <= 0.

    Notes
    -----
    Paper 5, problem (13): the constraint method for (12).
    """
    w_cap = number("rsvm", "w_cap", w_cap, low=0.0, strict=True)
    m = new_model("rsvm", data)
    add_classifier(m)
    add_margins(m, data, "(13)")
    m.objective = pyo.Objective(expr=pyo.quicksum(m.xi.values()), doc="(13) e'xi")
    m.capacity = pyo.Constraint(expr=squares(list(m.w.values())) <= w_cap, doc="(13) w'w <= W")
    return m


def build_rsvm_dual(data: Dataset, *, w_cap: float = 1.0, scale: ArrayLike | None = None) -> pyo.ConcreteModel:
    r"""Return the dual of the rigorous SVM, a second-order cone program whose value is minus the hinge loss.

    .. math::

        \min\ \sqrt W\,t - e'\alpha \quad\text{s.t.}\quad
        v_j = \sqrt{s_j}\sum_i \alpha_i y_i x_{ij},\quad \|v\| \le t,\quad y'\alpha = 0,\quad 0 \le \alpha \le 1

    The norm is kept as a cone with its own variable t: its square root is not smooth at v = 0.

    Parameters
    ----------
    w_cap : W > 0, largest squared norm of w.
    scale : (p,) the factors s >= 0 of the kernel x'Sx of Algorithm 1; ones by default.

    Returns
    -------
    ConcreteModel
        SOCP, one cone. Variables ``alpha v t``, constraints ``expansion balance norm``, mutable parameters
        ``root_scale`` and ``root_cap``. With :math:`\gamma = \|v\|/\sqrt W > 0` the plane in the scaled space
        has :math:`w = v/\gamma`; gamma = 0 iff the capacity constraint of (13) is inactive.

    Raises
    ------
    ParameterError : w_cap <= 0, or scale that is not p numbers >= 0.

    Notes
    -----
    Paper 5, problem (14), for the linear kernel scaled by S.
    """
    w_cap = number("rsvm-dual", "w_cap", w_cap, low=0.0, strict=True)
    s = np.ones(data.p) if scale is None else vector("rsvm-dual", "scale", scale, data.p, low=0.0)
    m = new_model("rsvm-dual", data)
    m.root_scale = pyo.Param(m.J, initialize=dict(enumerate(np.sqrt(s).tolist())), mutable=True, doc="sqrt(s_j)")
    m.root_cap = pyo.Param(initialize=float(np.sqrt(w_cap)), mutable=True, doc="sqrt(W)")
    m.alpha = pyo.Var(m.I, bounds=(0, 1), doc="alpha, multipliers of the margins")
    m.q = pyo.Var(m.J, doc="q_j = sum_i alpha_i y_i x_ij")
    m.v = pyo.Var(m.J, doc="v_j = sqrt(s_j) q_j")
    m.t = pyo.Var(within=pyo.NonNegativeReals, doc="t >= ||v||")
    alphas, Xy = tuple(m.alpha.values()), np.ascontiguousarray((data.X * data.y[:, None]).T)
    m.objective = pyo.Objective(
        expr=m.root_cap * m.t - pyo.quicksum(m.alpha.values()), doc="(14) sqrt(W) ||v|| - e'alpha"
    )

    def expansion(m: pyo.ConcreteModel, j: int) -> Any:
        return m.q[j] - dot(Xy[j], alphas) == 0

    def scaling(m: pyo.ConcreteModel, j: int) -> Any:
        return m.v[j] - m.root_scale[j] * m.q[j] == 0

    m.expansion = pyo.Constraint(m.J, rule=expansion, doc="(14) q = X'Y alpha")
    m.scaling = pyo.Constraint(m.J, rule=scaling, doc="(14) v_j = sqrt(s_j) q_j")
    m.balance = pyo.Constraint(expr=dot(data.y, alphas) == 0, doc="(14) y'alpha = 0")
    m.norm = pyo.Constraint(expr=squares(list(m.v.values())) <= m.t**2, doc="(14) ||v||^2 <= t^2")
    return m


def build_rsvm_least_norm(
    data: Dataset, *, e_cap: float | None = None, scale: ArrayLike | None = None
) -> pyo.ConcreteModel:
    r"""Return the plane of least norm among those whose hinge loss is at most E, a quadratic program.

    .. math::

        \min\ \tfrac12 u'u \quad\text{s.t.}\quad e'\xi \le E,\quad w_j = \sqrt{s_j}\,u_j,\quad
        y_i(w'x_i + b) + \xi_i \ge 1,\ \xi \ge 0

    It answers (13) where the capacity constraint is inactive: (14) then gives the loss E and no direction.

    Parameters
    ----------
    e_cap : E >= 0, at least the least hinge loss of any plane; n, the loss of w = 0, by default.
    scale : (p,) the factors s >= 0 of the kernel x'Sx; ones by default.

    Returns
    -------
    ConcreteModel
        QP. Variables ``w b xi u``, constraints ``margin scaling risk``.

    Raises
    ------
    ParameterError : e_cap < 0, or scale that is not p numbers >= 0.

    Notes
    -----
    Paper 5, the second objective of (12) at the best value of the first.
    """
    e_cap = number("rsvm-least-norm", "e_cap", data.n if e_cap is None else e_cap, low=0.0)
    s = np.ones(data.p) if scale is None else vector("rsvm-least-norm", "scale", scale, data.p, low=0.0)
    root = np.sqrt(s)
    m = new_model("rsvm-least-norm", data)
    add_classifier(m)
    m.u = pyo.Var(m.J, doc="u, weights in the scaled space")
    add_margins(m, data, "(12)")

    def scaling(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - float(root[j]) * m.u[j] == 0

    m.scaling = pyo.Constraint(m.J, rule=scaling, doc="(12) w_j = sqrt(s_j) u_j")
    m.risk = pyo.Constraint(expr=pyo.quicksum(m.xi.values()) <= e_cap, doc="(12) e'xi <= E")
    m.objective = pyo.Objective(expr=0.5 * squares(list(m.u.values())), doc="(12) 1/2 u'u")
    return m
