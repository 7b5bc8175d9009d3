"""Aytug's (FSP-M) as mixed-integer programs with convex relaxations."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from fsopt.common.arguments import with_keywords_of
from fsopt.data import Dataset
from fsopt.data.hyperplanes import loss_of
from fsopt.models.blocks import add_margins, add_parameter, hinge_cost, number, perspective_constraint, squares, total
from fsopt.models.gbd.fsp_m import largest_weight, new_selection_model, selection_of_features
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
    data : Features in comparable units; the optimum depends on them.
    c : > 0, penalty weight of the hinge loss.
    relax : Whether sigma is in [0, 1] instead of binary.

    Returns
    -------
    ConcreteModel
        MISOCP (SOCP if relaxed), a binary for each feature or group, and p rotated cones. Variables ``w b sigma xi t``,
        constraints ``margin perspective``, with bounds ``above below``, and of ``cardinality budget include exclude
        implies conflicts`` those that are asked for, mutable parameter ``c``. The classifier is sign(w'x + b). A
        solver that meets the cones to a tolerance leaves weights at :math:`\sigma_j = 0`: solve ``fsp-sub`` at the
        selection for the objective value to report.

    Raises
    ------
    ParameterError : c <= 0, m > p, m with a budget, negative costs, an unknown feature, constraints that no selection
        satisfies, relax that is not true or false.

    Notes
    -----
    Our reformulation of Aytug, (FSP-M).
    """
    name = "fsp-m-perspective"
    constraints = SelectionConstraints.of(name, data, **selection).with_default_cardinality()
    model = new_selection_model(name, data, constraints, relax=relax)
    add_parameter(model, "c", c, "C, penalty weight of the hinge loss")
    model.t = pyo.Var(model.J, within=pyo.NonNegativeReals, doc="t_j >= w_j^2 / sigma_j")

    model.objective = pyo.Objective(
        expr=0.5 * total(model.t) + hinge_cost(model, data, model.c), doc="(FSP-M) 1/2 e't + C e'xi"
    )
    add_margins(model, data, "(FSP-M)")
    constraints.add_to(model)
    sigma = selection_of_features(model, constraints)
    model.perspective = perspective_constraint(model, sigma, "(FSP-M) w_j^2 <= sigma_j t_j")
    constraints.bounds.add_rows(model, model.w, sigma, "(FSP-M)")
    return model


@with_keywords_of(SelectionConstraints.of)
def build_fsp_m_bigm(
    data: Dataset,
    *,
    c: float = 1.0,
    loss: str = "hinge",
    value: float | None = None,
    relax: bool = False,
    **selection: Any,
) -> pyo.ConcreteModel:
    r"""Return the feature selection problem with big-M constraints, convex but for the integers.

    .. math::

        \min\ & \tfrac12 w'w + C e'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) + \xi_i \ge 1,\quad \xi \ge 0 \\
        & e'\sigma \le M \ \text{or}\ \beta'\sigma \le B,\quad \sigma \in \{0,1\}^p \\
        & \max(l_j, -\bar w)\,\sigma_j \le w_j \le \min(u_j, \bar w)\,\sigma_j,\quad
        \bar w = \sqrt{\min\{2C\min(n_+, n_-),\ 2U\}}

    with bounds l and u where they are given, and the rules between features of ``fsp-master``. Features of a group have
    the same :math:`\sigma_j`, one binary. The best weights of every selection satisfy the bound without U,
    with :math:`n_+ n_- / (n_+ + n_-)` in place of the minimum for the squared hinge loss and 0.1393 n for the logistic
    one; those of the best selection satisfy it with U. The constraints are linear: unlike the cones of
    ``fsp-m-perspective``, they leave no weights at :math:`\sigma_j = 0` beyond the tolerance.

    Parameters
    ----------
    data : Features in comparable units; the optimum depends on them.
    c : > 0, penalty weight of the loss.
    loss : ``hinge`` (default), ``squared-hinge``: :math:`C \xi'\xi` in place of :math:`C e'\xi`, or ``logistic``:
        :math:`C e'\ell` with :math:`\ell_i \ge \ln(1 + e^{\xi_i - 1})`, and :math:`\xi` of any sign.
    value : U, the objective value of an allowed selection, for example from ``rfe``; a number below the optimum makes
        the answer silently worse.
    relax : Whether sigma is in [0, 1] instead of binary.

    Returns
    -------
    ConcreteModel
        MIQP (QP if relaxed; with the logistic loss MINLP and NLP), a binary for each feature or group. Variables ``w b
        sigma xi``, constraints ``margin above below``, and of ``cardinality budget include exclude implies conflicts``
        those that are asked for. The classifier is sign(w'x + b). It has the optimum of ``fsp-m``. Another C is
        another model, as its bounds on the weights follow from C.

    Raises
    ------
    ParameterError : c <= 0, m > p, m with a budget, negative costs, an unknown feature, constraints that no selection
        satisfies, value <= 0, relax that is not true or false.

    Notes
    -----
    Our reformulation of Aytug, (FSP-M); the bound is derived in :func:`fsopt.models.gbd.fsp_m.largest_weight`.
    """
    name = "fsp-m-bigm"
    constraints = SelectionConstraints.of(name, data, **selection).with_default_cardinality()
    c = number(name, "c", c)
    if value is not None:
        value = number(name, "value", value)
    model = new_selection_model(name, data, constraints, relax=relax, loss=loss_of(loss))
    bounds = constraints.bounds.within(largest_weight(data, c, value, loss_of(loss)))
    model.objective = pyo.Objective(
        expr=0.5 * squares(model.w) + hinge_cost(model, data, c, loss_of(loss)),
        doc="(FSP-M) 1/2 w'w + C e'xi",
    )
    add_margins(model, data, "(FSP-M)")
    constraints.add_to(model)
    bounds.add_rows(model, model.w, selection_of_features(model, constraints), "(FSP-M)")
    return model


SPECS = (
    ModelSpec(
        "fsp-m-perspective",
        build_fsp_m_perspective,
        "MISOCP",
        equation="(FSP-M), perspective",
        instance=Instance(params={"m": 2, "conflicts": [[0, 1]]}),
        weights="samples",
    ),
    ModelSpec(
        "fsp-m-bigm",
        build_fsp_m_bigm,
        "MIQP",
        equation="(FSP-M), big M",
        instance=Instance(params={"costs": [1.0, 2.0, 1.0, 1.0], "budget": 3.0, "implies": [[0, 2]]}),
        weights="samples",
    ),
)
