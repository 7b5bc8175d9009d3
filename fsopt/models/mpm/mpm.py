"""Model ``mpm``: Yang & Ju, (3)-(5), the minimax probability machine."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from fsopt.common.docstrings import with_keywords_of
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import new_model
from fsopt.models.mpm.moments import Moments, add_deviations
from fsopt.models.spec import Instance, ModelSpec


@with_keywords_of(Moments.of)
def build_mpm(data: Dataset, **options: Any) -> pyo.ConcreteModel:
    r"""Return the minimax probability machine, a second-order cone program.

    .. math::

        \min\ & \|F_1w\| + \|F_2w\| \\
        \text{s.t.}\ & w'(\mu_1 - \mu_2) = 1

    with the mean :math:`\mu_k` and the covariance :math:`S_k = F_k'F_k` of class k; class 1 is y = +1. The optimum is
    :math:`1/\kappa^*`. Among all hyperplanes :math:`\alpha^* = \kappa^{*2}/(1 + \kappa^{*2})` is the largest accuracy
    on both classes that holds for every distribution with these moments. Optimum 0 means that the covariances are
    singular along a direction that separates the means, and :math:`\alpha^* = 1`.

    Parameters
    ----------
    data : Dataset
        Features in any units; :math:`\kappa^*` does not depend on them.

    Returns
    -------
    ConcreteModel
        SOCP, two cones. Variables ``w u1 t1 u2 t2``, constraints ``spread1 deviation1 spread2 deviation2
        normal``. The hyperplane is w'x = b with :math:`b = w'\mu_1 - \kappa^*\|F_1w\|`.

    Raises
    ------
    ParameterError : ridge < 0, or unbiased with a class of one sample.

    Notes
    -----
    Yang & Ju, (3)-(5), after the Chebyshev-Cantelli inequality (20).
    """
    moments = Moments.of(data, **options)
    m = new_model("mpm", data)
    m.w = pyo.Var(m.J, doc="w, weights")
    add_deviations(m, moments, ("(4)", "(5)"))
    difference = dot(moments.mean1 - moments.mean2, tuple(m.w.values()))
    m.objective = pyo.Objective(expr=m.t1 + m.t2, doc="(3) ||F_1 w|| + ||F_2 w||")
    m.normal = pyo.Constraint(expr=difference == 1, doc="(3) w'(mu_1 - mu_2) = 1")
    return m


SPEC = ModelSpec("mpm", build_mpm, "SOCP", paper="mpm", equation="(3)-(5)", instance=Instance(p=8))
