"""Model ``gmeb-dual``: Peleg & Meir, (16)/(17), the dual of (15)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import multiplier_bounds, new_model, signed_features, total
from fsopt.models.gmeb.moments import radius, second_moments
from fsopt.models.spec import ModelSpec


def build_gmeb_dual(data: Dataset, *, r_plus: float = 3.0, r_minus: float = 3.0) -> pyo.ConcreteModel:
    r"""Return the dual of GMEB, a second-order cone program whose multipliers are the classifier.

    .. math::

        \max\ & 1'\mu - \mu_1 - R_+\mu_+ - R_-\mu_- \\
        \text{s.t.}\ & s = X'Y\mu, \qquad y'\mu = 0, \qquad 0 \le \mu \le 1 \\
        & s_j^2 \le 4\mu_1(\mu_+ v_j^+ + \mu_- v_j^-), \qquad \mu_1, \mu_+, \mu_- \ge 0

    with the second moments :math:`v_j^\pm` of feature j over each class.

    Parameters
    ----------
    data : Dataset
        Features centred by their training mean; the builder does not preprocess.
    r_plus, r_minus : float, default 3.0
        :math:`R_+, R_- > 0`, without unit, as sigma of (15) has the inverse squared units of the features; infinity
        fixes the multiplier of the constraint at 0.

    Returns
    -------
    ConcreteModel
        SOCP with n + p + 3 variables and p rotated cones. Variables ``mu mu1 mu_plus mu_minus s``,
        constraints ``moment balance cone``, mutable parameters ``r_plus r_minus`` (finite ones may change). In Pyomo's
        convention of shadow prices ``dual[moment[j]]`` is :math:`w_j` and ``dual[balance]`` is :math:`b` (Theorem 19).

    Raises
    ------
    ParameterError : a radius that is not a positive number.

    Notes
    -----
    Peleg & Meir, (16) with the variables s of (17). If the optimum is 0 (data separable within the norm), all
    multipliers are 0 and Theorem 19 does not determine w: see ``gmeb-hard-margin``.
    """
    r_plus, r_minus = radius("gmeb-dual", "r_plus", r_plus), radius("gmeb-dual", "r_minus", r_minus)
    v_plus, v_minus = second_moments(data)
    m = new_model("gmeb-dual", data)
    m.mu = pyo.Var(m.I, bounds=multiplier_bounds(data, 1), doc="mu, multipliers of the margins")
    m.mu1 = pyo.Var(within=pyo.NonNegativeReals, doc="mu_1, multiplier of the unit norm")
    m.mu_plus = pyo.Var(within=pyo.NonNegativeReals, doc="mu_+, multiplier of v+'sigma <= R+")
    m.mu_minus = pyo.Var(within=pyo.NonNegativeReals, doc="mu_-, multiplier of v-'sigma <= R-")
    m.s = pyo.Var(m.J, doc="s = X'Y mu")
    m.r_plus = pyo.Param(initialize=r_plus, mutable=True, doc="R+")
    m.r_minus = pyo.Param(initialize=r_minus, mutable=True, doc="R-")
    penalty = m.mu1
    for multiplier, r in ((m.mu_plus, m.r_plus), (m.mu_minus, m.r_minus)):
        if np.isfinite(r.value):
            penalty = penalty + r * multiplier
        else:
            multiplier.fix(0.0)
    mus, signed = tuple(m.mu.values()), signed_features(data)
    plus, minus = (4 * v_plus).tolist(), (4 * v_minus).tolist()

    def moment(m: pyo.ConcreteModel, j: int) -> Any:
        return dot(signed[j], mus) == m.s[j]

    def cone(m: pyo.ConcreteModel, j: int) -> Any:
        return m.s[j] ** 2 <= m.mu1 * (plus[j] * m.mu_plus + minus[j] * m.mu_minus)

    m.objective = pyo.Objective(
        expr=total(m.mu) - penalty, sense=pyo.maximize, doc="(16) 1'mu - mu_1 - R+ mu_+ - R- mu_-"
    )
    m.moment = pyo.Constraint(m.J, rule=moment, doc="(17) s = X'Y mu; its multiplier is w")
    m.balance = pyo.Constraint(expr=dot(data.y, mus) == 0, doc="(16) y'mu = 0; its multiplier is b")
    m.cone = pyo.Constraint(m.J, rule=cone, doc="(16) s_j^2 <= 4 mu_1 (mu_+ v+_j + mu_- v-_j)")
    return m


SPEC = ModelSpec("gmeb-dual", build_gmeb_dual, "SOCP", paper="gmeb", equation="(16)/(17)", weights="samples")
