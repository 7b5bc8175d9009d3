"""The feature selection problem of the support vector machine as one convex mixed-integer model (Aytug, paper 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.models.blocks import add_classifier, add_margins, new_model, number, squares
from fsopt.models.limits import Feature, Limits


def largest_weight(data: Dataset, c: float, upper: float | None = None) -> float:
    r"""Return a bound of the norm of the best weights of a machine, whatever the selection.

    Let w be the best weights for a selection and alpha the multipliers of its margins. By strong duality
    :math:`\tfrac12 w'w + Ce'\xi = e'\alpha - \tfrac12 w'w`, so :math:`w'w \le e'\alpha`; and
    :math:`0 \le \alpha \le C` with :math:`y'\alpha = 0` gives :math:`e'\alpha \le 2C\min(n_+, n_-)`, which is the
    hinge loss of w = 0. Where ``upper`` is at least the value of the best selection, that one has
    :math:`\tfrac12 w'w \le` ``upper`` too.
    """
    positive = int(np.sum(data.y > 0))
    most = 2.0 * c * min(positive, data.n - positive)
    return float(np.sqrt(most if upper is None else min(most, 2.0 * upper)))


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
    model = _machine(name, data, limits, relax)
    model.t = pyo.Var(model.J, within=pyo.NonNegativeReals, doc="t_j >= w_j^2 / sigma_j")
    model.objective = pyo.Objective(
        expr=0.5 * pyo.quicksum(model.t.values()) + c * pyo.quicksum(model.xi.values()),
        doc="(FSP-M) 1/2 e't + C e'xi",
    )

    def perspective(model: pyo.ConcreteModel, j: int) -> Any:
        return model.w[j] ** 2 <= model.sigma[j] * model.t[j]

    model.perspective = pyo.Constraint(model.J, rule=perspective, doc="(FSP-M) w_j^2 <= sigma_j t_j")
    return model


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
    model = _machine(name, data, limits, relax)
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


def _machine(name: str, data: Dataset, limits: Limits, relax: bool) -> pyo.ConcreteModel:
    """Return the machine's plane and margins, the selection and its limits."""
    if not isinstance(relax, bool):
        raise ParameterError(f"parameter 'relax' of '{name}' must be true or false, not {relax!r}", "relax=true")
    model = new_model(name, data)
    add_classifier(model)
    domain = pyo.UnitInterval if relax else pyo.Binary
    model.sigma = pyo.Var(model.J, within=domain, doc="sigma, selection")
    add_margins(model, data, "(FSP-M)")
    limits.add_to(model)
    return model
