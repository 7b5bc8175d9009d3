"""Model ``svm``: Aytug, (1), the support vector machine."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from fsopt.common.docstrings import with_keywords_of
from fsopt.data import Dataset
from fsopt.models.blocks import add_classifier, add_margins, add_slacks, hinge_cost, new_model, number, squares
from fsopt.models.gbd.feature_lists import weight_bounds
from fsopt.models.gbd.weight_bounds import WeightBounds
from fsopt.models.spec import ModelSpec


@with_keywords_of(weight_bounds)
def build_svm(data: Dataset, *, c: float = 1.0, **bounds: Any) -> pyo.ConcreteModel:
    r"""Return the linear support vector machine, a convex quadratic program.

    .. math::

        \min\ & \tfrac12 w'w + C e'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) + \xi_i \ge 1,\quad \xi \ge 0,\quad l \le w \le u

    Parameters
    ----------
    data : Dataset
        Features in comparable units; the optimum depends on them.
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.

    Returns
    -------
    ConcreteModel
        QP with n constraints and n + p + 1 variables. Variables ``w b xi``, constraint ``margin``. The classifier is
        sign(w'x + b), and ``dual[margin[i]]`` is the multiplier alpha_i in [0, C].

    Raises
    ------
    ParameterError : c <= 0, an unknown feature, a bound that excludes the weight 0.

    Notes
    -----
    Aytug, (1).
    """
    c = number("svm", "c", c)
    m = new_model("svm", data)
    add_classifier(m)
    WeightBounds.of("svm", data, bounds).add_to(m.w)
    add_slacks(m)
    m.objective = pyo.Objective(expr=0.5 * squares(m.w) + hinge_cost(m, data, c), doc="(1) 1/2 w'w + C e'xi")
    add_margins(m, data, "(1)")
    return m


SPEC = ModelSpec("svm", build_svm, "QP", paper="gbd", equation="(1)", weights="samples")
