"""Model ``s-mpm``: Yang & Ju, section 1, the inner problem of S-MPM, a reconstruction."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from fsopt.common.docstrings import with_keywords_of
from fsopt.data import Dataset
from fsopt.models.blocks import add_weight_parts, number, one_norm, split_constraint
from fsopt.models.mpm.biased import new_biased_model, unit_deviation
from fsopt.models.mpm.moments import Moments
from fsopt.models.spec import Instance, ModelSpec


@with_keywords_of(Moments.of)
def build_s_mpm(
    data: Dataset,
    *,
    beta: float = 0.5,
    lam: float = 0.1,
    **options: Any,
) -> pyo.ConcreteModel:
    r"""Return the inner problem of S-MPM: the biased minimax probability machine with a penalised one-norm.

    .. math::

        \max\ & w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\| - \lambda e'(w^+ + w^-) \\
        \text{s.t.}\ & \|F_1w\| \le 1, \quad w = w^+ - w^-, \quad w^+, w^- \ge 0

    with the mean :math:`\mu_k` and the covariance :math:`S_k = F_k'F_k` of class k; class 1 is y = +1. By homogeneity
    it is :math:`\max (w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\| - \lambda\|w\|_1)/\|F_1w\|`. The optimum is 0, at
    w = 0, for :math:`\lambda \ge \max_j |\mu_{1j} - \mu_{2j}|`, and unbounded under the same conditions as ``bmpm``.

    Parameters
    ----------
    data : Dataset
        Standardised features if the selection matters; the one-norm depends on their units.
    beta : float, default 0.5
        In (0, 1), the worst-case accuracy of class 2 (y = -1); :math:`\kappa(\beta) = \sqrt{\beta/(1-\beta)}`.
    lam : float, default 0.1
        >= 0, penalty weight of the one-norm, in units of the features; 0 gives ``bmpm``.

    Returns
    -------
    ConcreteModel
        SOCP, two cones. Variables ``w u1 t1 u2 t2 w_plus w_minus``, constraints ``spread1 deviation1 spread2
        deviation2 length split``, mutable parameter ``kappa``: change it and update the objective for another beta.

    Raises
    ------
    ParameterError : beta outside (0, 1), lam < 0, ridge < 0, or unbiased with a class of one sample.

    Notes
    -----
    A reconstruction: Yang & Ju, section 1, only state that S-MPM has the one-norm in its objective and is a fractional
    program. Their source (reference 2) is not available.
    """
    lam = number("s-mpm", "lam", lam)
    moments = Moments.of(data, **options)
    m = new_biased_model("s-mpm", data, beta, moments)
    add_weight_parts(m)
    m.objective = pyo.Objective(
        expr=m.ratio - lam * one_norm(m),
        sense=pyo.maximize,
        doc="(3) w'(mu_1 - mu_2) - kappa(beta) ||F_2 w|| - lambda ||w||_1",
    )
    m.length = unit_deviation(m)
    m.split = split_constraint(m, "(3)")
    return m


SPEC = ModelSpec(
    "s-mpm", build_s_mpm, "SOCP", paper="mpm", equation="S-MPM, section 1", instance=Instance(n=8, p=4, gap=0.5)
)
