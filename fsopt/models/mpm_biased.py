"""Biased minimax probability machines: the accuracy of one class is given, that of the other one is maximised.

Class 1 is y = +1; its worst-case accuracy is maximised. To give that of class +1 instead, swap the labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import Vector, new_model, number
from fsopt.models.mpm import Moments, add_deviations, kappa


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
    m = _biased_machine("bmpm", data, beta, Moments.of(data, unbiased=unbiased, ridge=ridge))
    m.objective = pyo.Objective(expr=m.ratio, sense=pyo.maximize, doc="(3) w'(mu_1 - mu_2) - kappa(beta) ||F_2 w||")
    return m


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
    m = _biased_machine("s-mpm", data, beta, Moments.of(data, unbiased=unbiased, ridge=ridge))
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


def _biased_machine(name: str, data: Dataset, beta: float, moments: Moments) -> pyo.ConcreteModel:
    """Return the feasible set of both machines, with the expression ``ratio`` that they maximise."""
    beta = number(name, "beta", beta, low=0.0, high=1.0, strict=True)
    m = new_model(name, data)
    m.kappa = pyo.Param(initialize=kappa(beta), mutable=True, doc="kappa(beta) = sqrt(beta / (1 - beta))")
    m.w = pyo.Var(m.J, doc="w, weights")
    add_deviations(m, moments)
    m.length = pyo.Constraint(expr=m.t1 <= 1, doc="(4) ||F_1 w|| <= 1")
    m.ratio = pyo.Expression(expr=dot(moments.mean1 - moments.mean2, tuple(m.w.values())) - m.kappa * m.t2)
    return m


def penalised_ratio(moments: Moments, w: Vector, beta: float, lam: float = 0.0) -> float:
    r"""Return :math:`(w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\| - \lambda\|w\|_1)/\|F_1w\|` at w (p,), nonzero."""
    price = kappa(beta) * np.linalg.norm(moments.factor2 @ w) + lam * np.abs(w).sum()
    return float(((moments.mean1 - moments.mean2) @ w - price) / np.linalg.norm(moments.factor1 @ w))
