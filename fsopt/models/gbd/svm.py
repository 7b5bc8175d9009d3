"""Model ``svm``: Aytug, (1), the support vector machine."""

from __future__ import annotations

from fsopt.models.spec import ModelSpec

import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import add_classifier, add_margins, new_model, number, squares


def build_svm(data: Dataset, *, c: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the linear support vector machine, a convex quadratic program.

    .. math:: \min\ \tfrac12 w'w + C e'\xi \quad\text{s.t.}\quad y_i(w'x_i + b) + \xi_i \ge 1,\ \xi \ge 0

    Parameters
    ----------
    c : > 0, price of a unit of hinge loss.

    Returns
    -------
    ConcreteModel
        QP with n rows and n + p + 1 columns. Variables ``w b xi``, constraint ``margin``.

    Raises
    ------
    ParameterError : c <= 0.

    Notes
    -----
    Paper 4, problem (1). ``dual[margin[i]]`` is alpha_i in [0, C].
    """
    c = number("svm", "c", c, low=0.0, strict=True)
    m = new_model("svm", data)
    add_classifier(m)
    add_margins(m, data, "(1)")
    m.objective = pyo.Objective(
        expr=0.5 * squares(list(m.w.values())) + c * pyo.quicksum(m.xi.values()), doc="(1) 1/2 w'w + C e'xi"
    )
    return m


SPEC = ModelSpec("svm", build_svm, "QP", paper="gbd", equation="(1)")
