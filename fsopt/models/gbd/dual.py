r"""The feasible set that the duals of Aytug's (1) and (SUB-M) share: the multipliers alpha of the margins.

.. math:: q_j = \sum_i \alpha_i y_i x_{ij}, \qquad y'\alpha = 0, \qquad 0 \le \alpha \le C
"""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import multiplier_bounds, new_model, number, signed_features


def new_dual_model(name: str, data: Dataset, c: float) -> pyo.ConcreteModel:
    """Return a model with the multipliers alpha in [0, C] (I) and q = X'Y alpha (J)."""
    c = number(name, "c", c)
    m = new_model(name, data)
    m.alpha = pyo.Var(m.I, bounds=multiplier_bounds(data, c), doc="alpha, multipliers of the margins")
    m.q = pyo.Var(m.J, doc="q_j = sum_i alpha_i y_i x_ij")
    return m


def add_dual_constraints(m: pyo.ConcreteModel, data: Dataset, equation: str) -> None:
    """Add ``expansion`` (J), whose multipliers are w, and ``balance``, whose multiplier is b."""
    alphas, signed = tuple(m.alpha.values()), signed_features(data)

    def expansion(m: pyo.ConcreteModel, j: int) -> Any:
        return dot(signed[j], alphas) - m.q[j] == 0

    m.expansion = pyo.Constraint(m.J, rule=expansion, doc=f"{equation}, dual: q = X'Y alpha; its multiplier is w")
    m.balance = pyo.Constraint(expr=dot(data.y, alphas) == 0, doc=f"{equation}, dual: y'alpha = 0; its multiplier is b")
