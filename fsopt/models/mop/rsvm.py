"""Model ``rsvm``: Bi, (13), smallest hinge loss at a given capacity."""

from __future__ import annotations

import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.models.blocks import add_classifier, add_margins, add_slacks, hinge_cost, new_model, number, squares
from fsopt.models.spec import ModelSpec


def build_rsvm(data: Dataset, *, w_cap: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the rigorous SVM: smallest hinge loss at a given capacity, a second-order cone program.

    .. math::

        \min\ & e'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 - \xi_i,\quad \xi \ge 0,\quad w'w \le W

    Parameters
    ----------
    data : Dataset
        Features in comparable units; the optimum depends on them.
    w_cap : float, default 1.0
        W > 0, upper bound on the squared norm of w.

    Returns
    -------
    ConcreteModel
        SOCP, one cone. Variables ``w b xi``, constraints ``margin capacity``. The classifier is sign(w'x + b).

    Raises
    ------
    ParameterError : w_cap <= 0.

    Notes
    -----
    Bi, (13): the constraint method for (12).
    """
    w_cap = number("rsvm", "w_cap", w_cap)
    m = new_model("rsvm", data)
    add_classifier(m)
    add_slacks(m)
    m.objective = pyo.Objective(expr=hinge_cost(m, data), doc="(13) e'xi")
    add_margins(m, data, "(13)")
    m.capacity = pyo.Constraint(expr=squares(m.w) <= w_cap, doc="(13) w'w <= W")
    return m


SPEC = ModelSpec("rsvm", build_rsvm, "SOCP", paper="mop", equation="(13)", weights="samples")
