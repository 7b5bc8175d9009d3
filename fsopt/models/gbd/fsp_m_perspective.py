"""Model ``fsp-m-perspective``: Aytug, (FSP-M) as a mixed-integer cone program."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import pyomo.environ as pyo
from collections.abc import Sequence
from fsopt.data import Dataset
from fsopt.models.blocks import number
from fsopt.models.gbd.limits import Feature, Limits
from fsopt.models.gbd.mixed_integer import new_selection_model
from numpy.typing import ArrayLike
from typing import Any


def build_fsp_m_perspective(
    data: Dataset,
    *,
    c: float = 1.0,
    m: int | None = None,
    costs: ArrayLike | None = None,
    budget: float | None = None,
    include: Sequence[Feature] = (),
    exclude: Sequence[Feature] = (),
    implies: Sequence[Sequence[Feature]] = (),
    conflicts: Sequence[Sequence[Feature]] = (),
    relax: bool = False,
) -> pyo.ConcreteModel:
    r"""Return the feature selection problem in its perspective form, convex but for the integers.

    .. math::

        \min\ \tfrac12 e't + C e'\xi \quad\text{s.t.}\quad
        & y_i(w'x_i + b) + \xi_i \ge 1,\quad \xi \ge 0 \\
        & w_j^2 \le \sigma_j t_j,\quad t \ge 0 \\
        & e'\sigma \le M \ \text{or}\ \beta'\sigma \le B,\quad \sigma \in \{0,1\}^p

    and the rules between features of ``fsp-master``. The cones are the convex hull of
    :math:`\{w_j^2 \le t_j, \sigma_j = 1\}` and :math:`\{w_j = 0, \sigma_j = 0\}`. With :math:`\sigma \in [0,1]^p` and
    a cardinality the optimum is the largest :math:`e'\alpha - \tfrac12 \left(\text{sum of the M largest }
    q_j(\alpha)^2\right)` over :math:`0 \le \alpha \le C,\ y'\alpha = 0`: the value that the relaxed master problem of
    GBD tends to. The cut of this alpha, the multipliers of ``margin``, gives that bound at once.

    Parameters
    ----------
    c : > 0, price of a unit of hinge loss.
    m : largest number of features, 1..p; by default 5, or p where that is less, or as many as ``include`` asks for
        where that is more.
    costs, budget : (p,) prices beta >= 0 of the features and the budget B >= 0, instead of m.
    include : features that must be selected, by place (from 0) or name.
    exclude : features that must not be selected.
    implies : pairs [j, k]: where j is selected, so is k.
    conflicts : groups of features, at most one of each.
    relax : sigma between 0 and 1 instead of binary.

    Returns
    -------
    ConcreteModel
        MISOCP (SOCP where relaxed), p binaries and p rotated cones. Variables ``w b xi sigma t``, constraints ``margin
        perspective``, and of ``cardinality budget include exclude implies conflicts`` those that are asked for. A
        solver that meets the cones to a tolerance leaves weights at :math:`\sigma_j = 0`: solve the machine on the
        selection again for a value to state.

    Raises
    ------
    ParameterError : c <= 0, m > p, m with a budget, negative prices, no such feature, limits that no selection
        keeps, relax that is no truth value.

    Notes
    -----
    Our reformulation of paper 4, problem (FSP-M).
    """
    name = "fsp-m-perspective"
    limits = Limits.of(
        name, data, m=m, costs=costs, budget=budget,
        include=include, exclude=exclude, implies=implies, conflicts=conflicts,
    ).or_few()  # fmt: skip
    c = number(name, "c", c, low=0.0, strict=True)
    model = new_selection_model(name, data, limits, relax)
    model.t = pyo.Var(model.J, within=pyo.NonNegativeReals, doc="t_j >= w_j^2 / sigma_j")
    model.objective = pyo.Objective(
        expr=0.5 * pyo.quicksum(model.t.values()) + c * pyo.quicksum(model.xi.values()),
        doc="(FSP-M) 1/2 e't + C e'xi",
    )

    def perspective(model: pyo.ConcreteModel, j: int) -> Any:
        return model.w[j] ** 2 <= model.sigma[j] * model.t[j]

    model.perspective = pyo.Constraint(model.J, rule=perspective, doc="(FSP-M) w_j^2 <= sigma_j t_j")
    return model


SPEC = ModelSpec("fsp-m-perspective", build_fsp_m_perspective, "MISOCP", paper="gbd", equation="(FSP-M), perspective", instance=Instance(params={"m": 2, "conflicts": [[0, 1]]}))
