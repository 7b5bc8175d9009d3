"""Model ``bmpm``: Yang & Ju, (3)-(5) with the accuracy of (5) given, the biased minimax probability machine."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from fsopt.common.docstrings import with_keywords_of
from fsopt.data import Dataset
from fsopt.models.mpm.biased import new_biased_model, unit_deviation
from fsopt.models.mpm.moments import Moments
from fsopt.models.spec import Instance, ModelSpec


@with_keywords_of(Moments.of)
def build_bmpm(data: Dataset, *, beta: float = 0.5, **options: Any) -> pyo.ConcreteModel:
    r"""Return the biased minimax probability machine, a second-order cone program.

    .. math::

        \max\ & w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\| \\
        \text{s.t.}\ & \|F_1w\| \le 1

    with the mean :math:`\mu_k` and the covariance :math:`S_k = F_k'F_k` of class k; class 1 is y = +1. It finds the
    largest worst-case accuracy alpha on class 1 among the hyperplanes with worst-case accuracy at least beta on class
    2: the ratio :math:`(w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\|)/\|F_1w\|` does not depend on the length of w, and
    its maximum is :math:`\kappa(\alpha)`.

    The optimum is 0, at w = 0, if no hyperplane has accuracy beta on class 2 and the mean of class 1 on its positive
    side. It is unbounded, and alpha = 1, if a direction with :math:`F_1w = 0` has a positive objective: always
    possible with fewer samples than features, never with a ridge.

    Parameters
    ----------
    data : Dataset
        Features in any units; the optimum does not depend on them.
    beta : float, default 0.5
        In (0, 1), the worst-case accuracy of class 2 (y = -1); :math:`\kappa(\beta) = \sqrt{\beta/(1-\beta)}`.

    Returns
    -------
    ConcreteModel
        SOCP, two cones. Variables ``w u1 t1 u2 t2``, constraints ``spread1 deviation1 spread2 deviation2 length``,
        mutable parameter ``kappa``: change it and update the objective for another beta. The optimum v gives
        :math:`\alpha = v^2/(1 + v^2)`, and the hyperplane is w'x = b with :math:`b = w'\mu_2 + \kappa(\beta)\|F_2w\|`.

    Raises
    ------
    ParameterError : beta outside (0, 1), ridge < 0, or unbiased with a class of one sample.

    Notes
    -----
    Yang & Ju, (3)-(5), with the accuracy of (5) given (Huang et al., 2004).
    """
    moments = Moments.of(data, **options)
    m = new_biased_model("bmpm", data, beta, moments)
    m.objective = pyo.Objective(expr=m.ratio, sense=pyo.maximize, doc="(3) w'(mu_1 - mu_2) - kappa(beta) ||F_2 w||")
    m.length = unit_deviation(m)
    return m


SPEC = ModelSpec(
    "bmpm", build_bmpm, "SOCP", paper="mpm", equation="(3)-(5), biased", instance=Instance(n=8, p=4, gap=0.5)
)
