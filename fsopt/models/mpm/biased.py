"""Shared by BMPM and S-MPM: the ratio of mean difference and deviation, its denominator normalised to one."""

from __future__ import annotations

from fsopt.typing import Vector

import numpy as np
import pyomo.environ as pyo
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import new_model, number
from fsopt.models.mpm.moments import Moments, add_deviations, kappa


def new_biased_model(name: str, data: Dataset, beta: float, moments: Moments) -> pyo.ConcreteModel:
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
