"""The least norm of X'Y mu over multipliers of the hinge loss, which decides whether (18) has a minimiser."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import new_model, squares
from typing import Any


def build_least_moment(data: Dataset) -> pyo.ConcreteModel:
    r"""Return the program whose value decides where w = 0 solves (19), a second-order cone program.

    .. math::

        \min\ t \quad\text{s.t.}\quad q = X'Y\mu, \quad \|q\| \le t, \quad y'\mu = 0, \quad 0 \le \mu \le 1, \quad
        \mu_i = 1 \text{ in the smaller class}

    :math:`C\mu` are multipliers of the margins at w = 0 and the best b; they solve the dual of (19) iff
    :math:`C\|q\| \le 1/2`. With classes of equal size all of mu is 1.

    Returns
    -------
    ConcreteModel
        SOCP with one cone. Variables ``mu q t``, constraints ``expansion balance norm``.

    Notes
    -----
    Our derivation, from the dual of paper 1, problem (19).
    """
    m = new_model("least-moment", data)
    smaller = 1.0 if np.sum(data.y > 0) <= np.sum(data.y < 0) else -1.0
    m.mu = pyo.Var(m.I, bounds=(0, 1), doc="mu, multipliers of the margins over C")
    for i in np.flatnonzero(data.y == smaller).tolist():
        m.mu[i].setlb(1)
    m.q = pyo.Var(m.J, doc="q = X'Y mu")
    m.t = pyo.Var(within=pyo.NonNegativeReals, doc="t, the norm of q")
    mus, Xy = tuple(m.mu.values()), np.ascontiguousarray((data.X * data.y[:, None]).T)

    def expansion(m: pyo.ConcreteModel, j: int) -> Any:
        return m.q[j] - dot(Xy[j], mus) == 0

    m.objective = pyo.Objective(expr=m.t, doc="dual of (19): ||X'Y mu||")
    m.expansion = pyo.Constraint(m.J, rule=expansion, doc="dual of (19): q = X'Y mu")
    m.balance = pyo.Constraint(expr=dot(data.y, mus) == 0, doc="dual of (19): y'mu = 0")
    m.norm = pyo.Constraint(expr=squares(list(m.q.values())) <= m.t**2, doc="dual of (19): ||q|| <= t")
    return m
