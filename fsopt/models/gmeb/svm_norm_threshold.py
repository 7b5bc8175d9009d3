"""The program whose optimum is the threshold of C at which the weights of Peleg & Meir, (19) leave 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import new_model, signed_features, squares


def build_svm_norm_threshold(data: Dataset) -> pyo.ConcreteModel:
    r"""Return the program whose optimum t decides for which C w = 0 solves (19), a second-order cone program.

    .. math::

        \min\ & t \\
        \text{s.t.}\ & q = X'Y\mu, \quad \|q\| \le t, \quad y'\mu = 0, \quad 0 \le \mu \le 1, \quad
        \mu_i = 1 \text{ in the smaller class}

    :math:`C\mu` are multipliers of the margins at w = 0 and the best b. They are feasible for the dual of (19), and
    w = 0 is optimal, iff :math:`C\|q\| \le 1/2`: the threshold is :math:`C = 1/(2t)`. With classes of equal size every
    mu_i is 1.

    Parameters
    ----------
    data : in any units; the builder does not preprocess.

    Returns
    -------
    ConcreteModel
        SOCP with one cone. Variables ``mu q t``, constraints ``expansion balance norm``.

    Notes
    -----
    Our derivation, from the dual of Peleg & Meir, (19).
    """
    m = new_model("svm-norm-threshold", data)
    smaller = 1.0 if np.sum(data.y > 0) <= np.sum(data.y < 0) else -1.0
    m.mu = pyo.Var(m.I, bounds=(0, 1), doc="mu, multipliers of the margins divided by C")
    for i in np.flatnonzero(data.y == smaller).tolist():
        m.mu[i].setlb(1)
    m.q = pyo.Var(m.J, doc="q = X'Y mu")
    m.t = pyo.Var(within=pyo.NonNegativeReals, doc="t, the norm of q")
    mus, signed = tuple(m.mu.values()), signed_features(data)

    def expansion(m: pyo.ConcreteModel, j: int) -> Any:
        return m.q[j] - dot(signed[j], mus) == 0

    m.objective = pyo.Objective(expr=m.t, doc="(19), dual: ||X'Y mu||")
    m.expansion = pyo.Constraint(m.J, rule=expansion, doc="(19), dual: q = X'Y mu")
    m.balance = pyo.Constraint(expr=dot(data.y, mus) == 0, doc="(19), dual: y'mu = 0")
    m.norm = pyo.Constraint(expr=squares(m.q) <= m.t**2, doc="(19), dual: ||q|| <= t")
    return m
