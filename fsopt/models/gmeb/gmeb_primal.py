"""Model ``gmeb-primal``: Peleg & Meir, (15): features scaled inside a second-order cone program."""

from __future__ import annotations

from fsopt.models.spec import ModelSpec

import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import add_margins
from fsopt.models.gmeb.moments import add_moments, add_perspective, add_scaled_classifier


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
    m = add_scaled_classifier("gmeb-primal", data)
    m.t = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="t_j >= w_j^2 / sigma_j")
    add_margins(m, data, "(15)")
    m.objective = pyo.Objective(expr=pyo.quicksum(m.xi.values()), doc="(15) 1'xi")
    add_perspective(m)
    m.unit_norm = pyo.Constraint(expr=pyo.quicksum(m.t.values()) <= 1, doc="(15) sum_j w_j^2 / sigma_j <= 1")
    add_moments(m, data, r_plus, r_minus)
    return m


SPEC = ModelSpec("gmeb-primal", build_gmeb_primal, "SOCP", paper="gmeb", equation="(15)")
