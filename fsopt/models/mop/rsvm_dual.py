"""Model ``rsvm-dual``: Bi, (14), the dual of (13)."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import numpy as np
import pyomo.environ as pyo
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import new_model, number, squares, vector
from numpy.typing import ArrayLike
from typing import Any


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


SPEC = ModelSpec("rsvm-dual", build_rsvm_dual, "SOCP", paper="mop", equation="(14)", instance=Instance(params={"scale": [1.0, 4.0, 0.25, 1.0]}))
