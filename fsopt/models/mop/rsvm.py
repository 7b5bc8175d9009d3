"""Model ``rsvm``: Bi, (13), least loss at a capacity."""

from __future__ import annotations

from fsopt.models.spec import ModelSpec

import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import add_classifier, add_margins, new_model, number, squares


def build_rsvm(data: Dataset, *, w_cap: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the rigorous SVM: least hinge loss at a capacity that is given.

    .. math:: \min\ e'\xi \quad\text{s.t.}\quad w'w \le W,\quad y_i(w'x_i + b) \ge 1 - \xi_i,\ \xi \ge 0

    Parameters
    ----------
    w_cap : W > 0, largest squared norm of w.

    Returns
    -------
    ConcreteModel
        SOCP, one cone. Variables ``w b xi``, constraints ``margin capacity``.

    Raises
    ------
    ParameterError : w_cap <= 0.

    Notes
    -----
    Paper 5, problem (13): the constraint method for (12).
    """
    w_cap = number("rsvm", "w_cap", w_cap, low=0.0, strict=True)
    m = new_model("rsvm", data)
    add_classifier(m)
    add_margins(m, data, "(13)")
    m.objective = pyo.Objective(expr=pyo.quicksum(m.xi.values()), doc="(13) e'xi")
    m.capacity = pyo.Constraint(expr=squares(list(m.w.values())) <= w_cap, doc="(13) w'w <= W")
    return m


SPEC = ModelSpec("rsvm", build_rsvm, "SOCP", paper="mop", equation="(13)")
