r"""The ratio that BMPM and S-MPM maximise, as a model with its denominator normalised to 1.

.. math:: \frac{w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\| - \lambda\|w\|_1}{\|F_1w\|}

with :math:`\lambda = 0` in BMPM.
"""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import new_model, number
from fsopt.models.mpm.moments import Moments, add_deviations, kappa
from fsopt.typing import Vector


def new_biased_model(name: str, data: Dataset, beta: float, moments: Moments) -> pyo.ConcreteModel:
    """Return a model with w, t_1 and t_2, the mutable parameter ``kappa`` and the expression ``ratio``.

    ``ratio`` is w'(mu_1 - mu_2) - kappa(beta) t_2, the numerator of the ratio without the one-norm.
    """
    beta = number(name, "beta", beta)
    m = new_model(name, data)
    m.kappa = pyo.Param(initialize=kappa(beta), mutable=True, doc="kappa(beta) = sqrt(beta / (1 - beta))")
    m.w = pyo.Var(m.J, doc="w, weights")
    add_deviations(m, moments, ("(4)", "(5)"))
    difference = dot(moments.mean1 - moments.mean2, tuple(m.w.values()))
    m.ratio = pyo.Expression(expr=difference - m.kappa * m.t2, doc="w'(mu_1 - mu_2) - kappa(beta) t_2")
    return m


def unit_deviation(m: pyo.ConcreteModel) -> pyo.Constraint:
    """Return the constraint ||F_1 w|| <= 1, without loss of generality: multiples of w have the same ratio."""
    return pyo.Constraint(expr=m.t1 <= 1, doc="(4) ||F_1 w|| <= 1")


def penalised_ratio(moments: Moments, w: Vector, beta: float, lam: float = 0.0) -> float:
    r"""Return :math:`(w'(\mu_1 - \mu_2) - \kappa(\beta)\|F_2w\| - \lambda\|w\|_1)/\|F_1w\|` at w (p,), nonzero."""
    penalty = kappa(beta) * np.linalg.norm(moments.factor2 @ w) + lam * np.abs(w).sum()
    return float(((moments.mean1 - moments.mean2) @ w - penalty) / np.linalg.norm(moments.factor1 @ w))
