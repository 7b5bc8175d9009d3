"""Model ``s-mpm``: Yang & Ju, the inner problem of S-MPM, a reconstruction."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import number
from fsopt.models.mpm.biased import new_biased_model
from fsopt.models.mpm.moments import Moments
from typing import Any


def build_s_mpm(
    data: Dataset, *, beta: float = 0.5, lam: float = 0.1, unbiased: bool = False, ridge: float = 0.0
) -> pyo.ConcreteModel:
    r"""Return the inner problem of S-MPM: the biased machine with a price on the 1-norm.

    .. math:: \max\ w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\| - \lambda\|w\|_1
        \quad\text{s.t.}\quad \|F_1w\| \le 1, \quad w = w^+ - w^-, \quad w^+, w^- \ge 0

    A reconstruction: paper 2 only says that S-MPM puts the 1-norm into the objective and is a fractional program. By
    homogeneity this is :math:`\max (w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\| - \lambda\|w\|_1)/\|F_1w\|`. The optimum
    is 0, at w = 0, from :math:`\lambda = \max_j |\mu_{1j} - \mu_{2j}|` on, and unbounded as for :func:`build_bmpm`.

    Parameters
    ----------
    data : standardise the columns first where the support matters; the 1-norm is not scale invariant.
    beta : in (0, 1), the worst-case accuracy of class 2 (y = -1); :math:`\kappa(\beta) = \sqrt{\beta/(1-\beta)}`.
    lam : >= 0, price of the 1-norm, in units of the columns; 0 gives :func:`build_bmpm`.
    unbiased : divide the covariance of a class of m rows by m - 1 instead of m.
    ridge : >= 0, added to the diagonals of both covariances, in squared units of the columns.

    Returns
    -------
    ConcreteModel
        SOCP, two cones. Variables ``w w_plus w_minus u1 t1 u2 t2``, constraints ``split length spread1 deviation1
        spread2 deviation2``, mutable parameter ``kappa``: change it and update the objective to go to another beta.

    Raises
    ------
    ParameterError : beta outside (0, 1), lam < 0, ridge < 0, or unbiased with a class of one row.

    Notes
    -----
    Paper 2, section 1, on the method of its reference 2, which is not available.
    """
    lam = number("s-mpm", "lam", lam, low=0.0, high=1e9)
    m = new_biased_model("s-mpm", data, beta, Moments.of(data, unbiased=unbiased, ridge=ridge))
    m.w_plus = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="positive part of w")
    m.w_minus = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="negative part of w")

    def split(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - m.w_plus[j] + m.w_minus[j] == 0

    m.split = pyo.Constraint(m.J, rule=split, doc="w = w_plus - w_minus")
    m.objective = pyo.Objective(
        expr=m.ratio - lam * pyo.quicksum([*m.w_plus.values(), *m.w_minus.values()]),
        sense=pyo.maximize,
        doc="(3) w'(mu_1 - mu_2) - kappa(beta) ||F_2 w|| - lambda ||w||_1",
    )
    return m


SPEC = ModelSpec("s-mpm", build_s_mpm, "SOCP", paper="mpm", equation="S-MPM, section 1", instance=Instance(n=8, p=4, gap=0.5))
