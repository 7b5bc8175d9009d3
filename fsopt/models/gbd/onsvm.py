"""Model ``onsvm``: Aytug, (ONSVM), the one-norm support vector machine."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from fsopt.common.docstrings import with_keywords_of
from fsopt.data import Dataset
from fsopt.models.blocks import (
    add_classifier,
    add_margins,
    add_slacks,
    add_weight_parts,
    hinge_cost,
    new_model,
    number,
    one_norm,
    split_constraint,
)
from fsopt.models.gbd.feature_lists import weight_bounds
from fsopt.models.gbd.weight_bounds import WeightBounds
from fsopt.models.spec import ModelSpec


@with_keywords_of(weight_bounds)
def build_onsvm(data: Dataset, *, c: float = 1.0, **bounds: Any) -> pyo.ConcreteModel:
    r"""Return the one-norm support vector machine, a linear program.

    .. math::

        \min\ & e'(w^+ + w^-) + C e'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) + \xi_i \ge 1,\quad w = w^+ - w^-, \quad w^+, w^-, \xi \ge 0, \quad l \le w \le u

    The paper calls the parts of the weights p and q.

    Parameters
    ----------
    data : Dataset
        Features in comparable units; the optimum depends on them.
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.

    Returns
    -------
    ConcreteModel
        LP with n + p constraints. Variables ``w b w_plus w_minus xi``, constraints ``margin split``. The classifier is
        sign(w'x + b).

    Raises
    ------
    ParameterError : c <= 0, an unknown feature, a bound that excludes the weight 0.

    Notes
    -----
    Aytug, (ONSVM), which is also the l1-SVM of Peleg & Meir.
    """
    c = number("onsvm", "c", c)
    m = new_model("onsvm", data)
    add_classifier(m)
    WeightBounds.of("onsvm", data, bounds).add_to(m.w)
    add_weight_parts(m)
    add_slacks(m)
    m.objective = pyo.Objective(expr=one_norm(m) + hinge_cost(m, data, c), doc="(ONSVM) e'(w+ + w-) + C e'xi")
    add_margins(m, data, "(ONSVM)")
    m.split = split_constraint(m, "(ONSVM)")
    return m


SPEC = ModelSpec("onsvm", build_onsvm, "LP", paper="gbd", equation="(ONSVM)", weights="samples")
