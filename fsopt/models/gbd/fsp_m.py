"""Model ``fsp-m``: Aytug, (FSP-M) as printed, nonconvex."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from fsopt.common.docstrings import with_keywords_of
from fsopt.data import Dataset
from fsopt.data.losses import loss_of
from fsopt.models.gbd.mixed_integer import add_product_constraints, new_product_model, product_objective
from fsopt.models.gbd.selection_constraints import SelectionConstraints
from fsopt.models.spec import Instance, ModelSpec


@with_keywords_of(SelectionConstraints.of)
def build_fsp_m(
    data: Dataset,
    *,
    c: float = 1.0,
    loss: str = "hinge",
    **selection: Any,
) -> pyo.ConcreteModel:
    r"""Return the feature selection problem with a cardinality or a budget, as printed: not convex.

    .. math::

        \min\ & \tfrac12 \sum_j \sigma_j w_j^2 + C e'\xi \\
        \text{s.t.}\ & y_i\Big(\sum_j \sigma_j w_j x_{ij} + b\Big) + \xi_i \ge 1,\quad \xi \ge 0 \\
        & e'\sigma \le M \ \text{or}\ \beta'\sigma \le B,\quad \sigma \in \{0,1\}^p,\quad l \le w \le u

    and the rules between features of ``fsp-master``. The p products :math:`v_j = \sigma_j w_j` are variables, so that
    the objective, :math:`\tfrac12 v'w + Ce'\xi`, is quadratic and not cubic. Branch and bound needs the bounds
    :math:`|w_j| \le \sqrt{2C\min(n_+, n_-)}`. An optimum satisfies them: the best weights of a selection do, and a
    weight that is not selected has no cost. Features of a group have the same :math:`\sigma_j`, one binary.

    Parameters
    ----------
    data : Dataset
        Features in comparable units; the optimum depends on them.
    c : float, default 1.0
        > 0, penalty weight of the loss.
    loss : str, default 'hinge'
        ``hinge`` (default), ``squared-hinge``: :math:`C \xi'\xi` in place of :math:`C e'\xi`, or ``logistic``:
        :math:`C e'\ell` with :math:`\ell_i \ge \ln(1 + e^{\xi_i - 1})`, and :math:`\xi` of any sign.

    Returns
    -------
    ConcreteModel
        MINLP with a binary for each feature or group, and bilinear terms, for comparison and tiny data: ``fsp-m-bigm``
        and the method ``gbd`` solve the same problem. Variables ``w b sigma v xi``, constraints ``margin product``, and
        of ``cardinality budget include exclude implies conflicts`` those that are asked for. The classifier is sign(v'x
        + b), not sign(w'x + b).

    Raises
    ------
    ParameterError : c <= 0, m > p, m with a budget, negative costs, an unknown feature, constraints that no selection
        satisfies.

    Notes
    -----
    Aytug, (FSP-M).
    """
    name = "fsp-m"
    constraints = SelectionConstraints.of(name, data, **selection).with_default_cardinality()
    model = new_product_model(name, data, constraints, c, loss_of(loss))
    model.objective = pyo.Objective(
        expr=product_objective(model, data, c, loss_of(loss)), doc="(FSP-M) 1/2 sum_j sigma_j w_j^2 + C e'xi"
    )
    add_product_constraints(model, data, constraints, "(FSP-M)")
    return model


SPEC = ModelSpec(
    "fsp-m",
    build_fsp_m,
    "MINLP",
    paper="gbd",
    equation="(FSP-M)",
    instance=Instance(n=12, p=3, params={"m": 2}),
    weights="samples",
)
