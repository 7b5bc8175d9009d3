"""Model ``fsp-m-bigm``: Aytug, (FSP-M) as a mixed-integer quadratic program with big M."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from fsopt.common.docstrings import with_keywords_of
from fsopt.data import Dataset
from fsopt.data.losses import loss_of
from fsopt.models.blocks import add_margins, hinge_cost, number, squares
from fsopt.models.gbd.mixed_integer import largest_weight, new_selection_model, selection_of_features
from fsopt.models.gbd.selection_constraints import SelectionConstraints
from fsopt.models.spec import Instance, ModelSpec


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
    data : Dataset
        Features in comparable units; the optimum depends on them.
    c : float, default 1.0
        > 0, penalty weight of the loss.
    loss : str, default 'hinge'
        ``hinge`` (default), ``squared-hinge``: :math:`C \xi'\xi` in place of :math:`C e'\xi`, or ``logistic``:
        :math:`C e'\ell` with :math:`\ell_i \ge \ln(1 + e^{\xi_i - 1})`, and :math:`\xi` of any sign.
    value : float, optional
        U, the objective value of an allowed selection, for example from ``rfe``; a number below the optimum makes the
        answer silently worse.
    relax : bool, default False
        Whether sigma is in [0, 1] instead of binary.

    Returns
    -------
    ConcreteModel
        MIQP (QP if relaxed; with the logistic loss MINLP and NLP), a binary for each feature or group. Variables ``w b
        sigma xi``, constraints ``margin above below``, and of ``cardinality budget include exclude implies conflicts``
        those that are asked for. The classifier is sign(w'x + b). It has the optimum of ``fsp-m``.

    Raises
    ------
    ParameterError : c <= 0, m > p, m with a budget, negative costs, an unknown feature, constraints that no selection
        satisfies,
        value <= 0, relax that is not true or false.

    Notes
    -----
    Our reformulation of Aytug, (FSP-M); the bound is derived in :func:`fsopt.models.gbd.mixed_integer.largest_weight`.
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


SPEC = ModelSpec(
    "fsp-m-bigm",
    build_fsp_m_bigm,
    "MIQP",
    paper="gbd",
    equation="(FSP-M), big M",
    instance=Instance(params={"costs": [1.0, 2.0, 1.0, 1.0], "budget": 3.0, "implies": [[0, 2]]}),
    weights="samples",
)
