"""Model ``gmeb-primal``: Peleg & Meir, (15), features scaled inside a second-order cone program."""

from __future__ import annotations

import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.models.blocks import add_margins, add_slacks, hinge_cost, perspective_constraint, total
from fsopt.models.gmeb.moments import add_moment_bounds, new_scaled_model
from fsopt.models.spec import ModelSpec


def build_gmeb_primal(data: Dataset, *, r_plus: float = 3.0, r_minus: float = 3.0) -> pyo.ConcreteModel:
    r"""Return the convex GMEB problem, a second-order cone program.

    .. math::

        \min\ & 1'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 - \xi_i, \quad \xi \ge 0 \\
        & w_j^2 \le \sigma_j t_j, \quad 1't \le 1, \quad \sigma, t \ge 0 \\
        & v^{+\prime}\sigma \le R_+, \quad v^{-\prime}\sigma \le R_-

    with the second moments :math:`v_j^\pm` of feature j over each class. The paper writes
    :math:`\sum_j w_j^2/\sigma_j \le 1`. The cones are the closure of this constraint: :math:`\sigma_j = 0` forces
    :math:`w_j = 0`.

    Parameters
    ----------
    data : Dataset
        Features centred by their training mean; the builder does not preprocess.
    r_plus, r_minus : float, default 3.0
        :math:`R_+, R_- > 0`, without unit, as sigma has the inverse squared units of the features; infinity omits the
        constraint.

    Returns
    -------
    ConcreteModel
        SOCP with n + 3p + 1 variables and p rotated cones. Variables ``w b sigma t xi``, constraints
        ``margin perspective unit_norm moment_plus moment_minus``. The classifier is sign(w'x + b). An optimum is a
        global optimum of the nonconvex (11), whose scales are the roots of sigma.

    Raises
    ------
    ParameterError : a radius that is not a positive number.

    Notes
    -----
    Peleg & Meir, (15) by the transformation (14), Theorem 15.
    """
    m = new_scaled_model("gmeb-primal", data)
    m.t = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="t_j >= w_j^2 / sigma_j")
    add_slacks(m)
    m.objective = pyo.Objective(expr=hinge_cost(m, data), doc="(15) 1'xi")
    add_margins(m, data, "(15)")
    m.perspective = perspective_constraint(m, m.sigma, "(15) w_j^2 <= sigma_j t_j")
    m.unit_norm = pyo.Constraint(expr=total(m.t) <= 1, doc="(15) sum_j w_j^2 / sigma_j <= 1")
    add_moment_bounds(m, data, r_plus, r_minus)
    return m


SPEC = ModelSpec("gmeb-primal", build_gmeb_primal, "SOCP", paper="gmeb", equation="(15)", weights="samples")
