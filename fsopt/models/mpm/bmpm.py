"""Model ``bmpm``: Yang & Ju, the biased minimax probability machine."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.mpm.biased import new_biased_model
from fsopt.models.mpm.moments import Moments


def build_bmpm(data: Dataset, *, beta: float = 0.5, unbiased: bool = False, ridge: float = 0.0) -> pyo.ConcreteModel:
    r"""Return the biased minimax probability machine, a second-order cone program.

    .. math:: \max\ w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\| \quad\text{s.t.}\quad \|F_1w\| \le 1

    The largest worst-case accuracy alpha of class 1 (y = +1) among the planes that have at least beta on class 2:
    the ratio :math:`(w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\|)/\|F_1w\|` does not depend on the length of w, and its
    maximum is :math:`\kappa(\alpha)`. The optimum v, in deviations of class 1, gives :math:`\alpha = v^2/(1 + v^2)` and
    the plane :math:`w'x = b` with :math:`b = w'\mu_2 + \kappa(\beta)\|F_2w\|`. It is 0, at w = 0, where no plane
    has beta on class 2 and the mean of class 1 on the right side. It is unbounded, alpha = 1, where a direction with
    :math:`F_1w = 0` has a positive objective: always possible with fewer rows than features, never with a ridge.

    Parameters
    ----------
    data : columns as given; the optimum does not depend on their scale.
    beta : in (0, 1), the worst-case accuracy of class 2 (y = -1); :math:`\kappa(\beta) = \sqrt{\beta/(1-\beta)}`.
    unbiased : divide the covariance of a class of m rows by m - 1 instead of m.
    ridge : >= 0, added to the diagonals of both covariances, in squared units of the columns.

    Returns
    -------
    ConcreteModel
        SOCP, two cones. Variables ``w u1 t1 u2 t2``, constraints ``length spread1 deviation1 spread2 deviation2``,
        mutable parameter ``kappa``: change it and update the objective to go to another beta.

    Raises
    ------
    ParameterError : beta outside (0, 1), ridge < 0, or unbiased with a class of one row.

    Notes
    -----
    The minimax machine of paper 2, (3)-(5), with the accuracy of (5) given (Huang et al., 2004).
    """
    m = new_biased_model("bmpm", data, beta, Moments.of(data, unbiased=unbiased, ridge=ridge))
    m.objective = pyo.Objective(expr=m.ratio, sense=pyo.maximize, doc="(3) w'(mu_1 - mu_2) - kappa(beta) ||F_2 w||")
    return m


SPEC = ModelSpec("bmpm", build_bmpm, "SOCP", paper="mpm", equation="(3)-(5), biased", instance=Instance(n=8, p=4, gap=0.5))
