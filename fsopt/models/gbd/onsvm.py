"""Model ``onsvm``: Aytug, (ONSVM), the one-norm support vector machine."""

from __future__ import annotations

from fsopt.models.spec import ModelSpec

import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import add_classifier, add_margins, new_model, number
from typing import Any


def build_onsvm(data: Dataset, *, c: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the one-norm support vector machine, a linear program.

    .. math::

        \min\ e'(p + q) + C e'\xi \quad\text{s.t.}\quad y_i(w'x_i + b) + \xi_i \ge 1,\quad w = p - q,
        \quad p, q, \xi \ge 0

    Parameters
    ----------
    c : > 0, price of a unit of hinge loss.

    Returns
    -------
    ConcreteModel
        LP with n + p rows. Variables ``w w_plus w_minus b xi`` (w_plus, w_minus are the paper's p, q),
        constraints ``margin split``.

    Raises
    ------
    ParameterError : c <= 0.

    Notes
    -----
    Paper 4, problem (ONSVM); paper 1's l1-SVM.
    """
    c = number("onsvm", "c", c, low=0.0, strict=True)
    m = new_model("onsvm", data)
    add_classifier(m)
    m.w_plus = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="p, positive part of w")
    m.w_minus = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="q, negative part of w")
    add_margins(m, data, "(ONSVM)")

    def split(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - m.w_plus[j] + m.w_minus[j] == 0

    m.split = pyo.Constraint(m.J, rule=split, doc="(ONSVM) w = p - q")
    norm = pyo.quicksum([*m.w_plus.values(), *m.w_minus.values()])
    m.objective = pyo.Objective(expr=norm + c * pyo.quicksum(m.xi.values()), doc="(ONSVM) e'(p + q) + C e'xi")
    return m


SPEC = ModelSpec("onsvm", build_onsvm, "LP", paper="gbd", equation="(ONSVM)")
