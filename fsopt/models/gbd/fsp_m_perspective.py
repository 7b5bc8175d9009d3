"""Model ``fsp-m-perspective``: Aytug, (FSP-M) as a mixed-integer cone program."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from fsopt.common.docstrings import with_keywords_of
from fsopt.data import Dataset
from fsopt.models.blocks import add_margins, hinge_cost, number, perspective_constraint, total
from fsopt.models.gbd.mixed_integer import new_selection_model, selection_of_features
from fsopt.models.gbd.selection_constraints import SelectionConstraints
from fsopt.models.spec import Instance, ModelSpec


@with_keywords_of(SelectionConstraints.of)
def build_fsp_m_perspective(
    data: Dataset,
    *,
    c: float = 1.0,
    relax: bool = False,
    **selection: Any,
) -> pyo.ConcreteModel:
    r"""Return the feature selection problem in its perspective form, convex but for the integers.

    .. math::

        \min\ & \tfrac12 e't + C e'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) + \xi_i \ge 1,\quad \xi \ge 0 \\
        & e'\sigma \le M \ \text{or}\ \beta'\sigma \le B,\quad \sigma \in \{0,1\}^p \\
        & w_j^2 \le \sigma_j t_j,\quad t \ge 0,\quad l_j\,\sigma_j \le w_j \le u_j\,\sigma_j

    with bounds l and u where they are given, and the rules between features of ``fsp-master``. Features of a group have
    the same :math:`\sigma_j`, one binary. Each cone is the convex hull of :math:`\{w_j^2 \le t_j, \sigma_j = 1\}` and
    :math:`\{w_j = 0, \sigma_j = 0\}`, with the bounds that of the bounded weights. With :math:`\sigma \in [0,1]^p` and
    a cardinality the optimum is the largest :math:`e'\alpha - (\text{sum of the M largest slopes of the cut of }
    \alpha)` over :math:`0 \le \alpha \le C,\ y'\alpha = 0`, see ``fsp-master``, to which the bounds of the relaxed
    master problem of GBD converge. The single cut of this alpha, the multipliers of ``margin``, gives the same bound.

    Parameters
    ----------
    data : Dataset
        Features in comparable units; the optimum depends on them.
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    relax : bool, default False
        Whether sigma is in [0, 1] instead of binary.

    Returns
    -------
    ConcreteModel
        MISOCP (SOCP if relaxed), a binary for each feature or group, and p rotated cones. Variables ``w b sigma xi t``,
        constraints ``margin perspective``, with bounds ``above below``, and of ``cardinality budget include exclude
        implies conflicts`` those that are asked for. The classifier is sign(w'x + b). A solver that meets the cones to
        a tolerance leaves weights at :math:`\sigma_j = 0`: solve ``fsp-sub`` at the selection for the objective value
        to report.

    Raises
    ------
    ParameterError : c <= 0, m > p, m with a budget, negative costs, an unknown feature, constraints that no selection
        satisfies,
        relax that is not true or false.

    Notes
    -----
    Our reformulation of Aytug, (FSP-M).
    """
    name = "fsp-m-perspective"
    constraints = SelectionConstraints.of(name, data, **selection).with_default_cardinality()
    c = number(name, "c", c)
    model = new_selection_model(name, data, constraints, relax=relax)
    model.t = pyo.Var(model.J, within=pyo.NonNegativeReals, doc="t_j >= w_j^2 / sigma_j")

    model.objective = pyo.Objective(
        expr=0.5 * total(model.t) + hinge_cost(model, data, c), doc="(FSP-M) 1/2 e't + C e'xi"
    )
    add_margins(model, data, "(FSP-M)")
    constraints.add_to(model)
    sigma = selection_of_features(model, constraints)
    model.perspective = perspective_constraint(model, sigma, "(FSP-M) w_j^2 <= sigma_j t_j")
    constraints.bounds.add_rows(model, model.w, sigma, "(FSP-M)")
    return model


SPEC = ModelSpec(
    "fsp-m-perspective",
    build_fsp_m_perspective,
    "MISOCP",
    paper="gbd",
    equation="(FSP-M), perspective",
    instance=Instance(params={"m": 2, "conflicts": [[0, 1]]}),
    weights="samples",
)
