"""Model ``mpm``: Yang & Ju, (3)-(5), the minimax probability machine."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import pyomo.environ as pyo
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import new_model
from fsopt.models.mpm.moments import Moments, add_deviations


def build_mpm(data: Dataset, *, unbiased: bool = False, ridge: float = 0.0) -> pyo.ConcreteModel:
    r"""Return the minimax probability machine, a second-order cone program.

    .. math:: \min\ \|F_1w\| + \|F_2w\| \quad\text{s.t.}\quad w'(\mu_1 - \mu_2) = 1

    With optimum v, :math:`\kappa^* = 1/v` and :math:`\alpha^* = \kappa^{*2}/(1 + \kappa^{*2})` is the largest
    worst-case accuracy that any plane has for all distributions with these moments; 0 as optimum means that
    the covariances are singular along a direction that separates the means, and :math:`\alpha^* = 1`.

    Parameters
    ----------
    data : columns as given; :math:`\kappa^*` does not depend on their scale.
    unbiased : divide the covariance of a class of m rows by m - 1 instead of m.
    ridge : >= 0, added to the diagonals of both covariances, in squared units of the columns.

    Returns
    -------
    ConcreteModel
        SOCP, two cones. Variables ``w u1 t1 u2 t2``, constraints ``spread1 deviation1 spread2 deviation2
        normal``. The paper's offset is :math:`b = w'\mu_1 - \kappa^*\|F_1w\|`.

    Raises
    ------
    ParameterError : ridge < 0, or unbiased with a class of one row.

    Notes
    -----
    Paper 2, section 2.1, problem (3)-(5) after the Chebyshev-Cantelli bound.
    """
    moments = Moments.of(data, unbiased=unbiased, ridge=ridge)
    m = new_model("mpm", data)
    m.w = pyo.Var(m.J, doc="w, weights")
    add_deviations(m, moments)
    m.objective = pyo.Objective(expr=m.t1 + m.t2, doc="(3) ||F_1 w|| + ||F_2 w||")
    m.normal = pyo.Constraint(
        expr=dot(moments.mean1 - moments.mean2, tuple(m.w.values())) == 1, doc="(3) w'(mu_1 - mu_2) = 1"
    )
    return m


SPEC = ModelSpec("mpm", build_mpm, "SOCP", paper="mpm", equation="(3)-(5)", instance=Instance(p=8))
