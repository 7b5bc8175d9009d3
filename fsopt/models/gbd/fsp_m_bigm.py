"""Model ``fsp-m-bigm``: Aytug, (FSP-M) as a mixed-integer quadratic program with big M."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import pyomo.environ as pyo
from collections.abc import Sequence
from fsopt.data import Dataset
from fsopt.models.blocks import number, squares
from fsopt.models.gbd.limits import Feature, Limits
from fsopt.models.gbd.mixed_integer import largest_weight, new_selection_model
from numpy.typing import ArrayLike
from typing import Any


def build_fsp_m_bigm(
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
    upper: float | None = None,
    relax: bool = False,
) -> pyo.ConcreteModel:
    r"""Return the feature selection problem with big-M rows, convex but for the integers.

    .. math::

        \min\ \tfrac12 w'w + C e'\xi \quad\text{s.t.}\quad
        & y_i(w'x_i + b) + \xi_i \ge 1,\quad \xi \ge 0 \\
        & -\bar w\,\sigma_j \le w_j \le \bar w\,\sigma_j,\quad
        \bar w = \sqrt{\min\{2C\min(n_+, n_-),\ 2U\}} \\
        & e'\sigma \le M \ \text{or}\ \beta'\sigma \le B,\quad \sigma \in \{0,1\}^p

    and the rules between features of ``fsp-master``. The bound cuts off no best weights of any selection; with
    ``upper`` none of the best selection. It is linear in sigma, so there are no cones to leak.

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
    upper : U, the value of a selection that is allowed, for example from ``rfe``; a number below the optimum is
        silently worse.
    relax : sigma between 0 and 1 instead of binary.

    Returns
    -------
    ConcreteModel
        MIQP (QP where relaxed), p binaries. Variables ``w b xi sigma``, constraints ``margin above below``, and of
        ``cardinality budget include exclude implies conflicts`` those that are asked for.

    Raises
    ------
    ParameterError : c <= 0, m > p, m with a budget, negative prices, no such feature, limits that no selection
        keeps, upper <= 0, relax that is no truth value.

    Notes
    -----
    Our reformulation of paper 4, problem (FSP-M).
    """
    name = "fsp-m-bigm"
    limits = Limits.of(
        name, data, m=m, costs=costs, budget=budget,
        include=include, exclude=exclude, implies=implies, conflicts=conflicts,
    ).or_few()  # fmt: skip
    c = number(name, "c", c, low=0.0, strict=True)
    if upper is not None:
        upper = number(name, "upper", upper, low=0.0, strict=True)
    model = new_selection_model(name, data, limits, relax)
    bound = largest_weight(data, c, upper)
    model.objective = pyo.Objective(
        expr=0.5 * squares(list(model.w.values())) + c * pyo.quicksum(model.xi.values()),
        doc="(FSP-M) 1/2 w'w + C e'xi",
    )

    def above(model: pyo.ConcreteModel, j: int) -> Any:
        return model.w[j] - bound * model.sigma[j] <= 0

    def below(model: pyo.ConcreteModel, j: int) -> Any:
        return model.w[j] + bound * model.sigma[j] >= 0

    model.above = pyo.Constraint(model.J, rule=above, doc="(FSP-M) w_j <= w_bar sigma_j")
    model.below = pyo.Constraint(model.J, rule=below, doc="(FSP-M) -w_bar sigma_j <= w_j")
    return model


SPEC = ModelSpec("fsp-m-bigm", build_fsp_m_bigm, "MIQP", paper="gbd", equation="(FSP-M), big M", instance=Instance(params={"costs": [1.0, 2.0, 1.0, 1.0], "budget": 3.0, "implies": [[0, 2]]}))
