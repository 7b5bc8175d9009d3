"""Model ``fsp-lambda``: Aytug, (FSP-lambda) as printed, nonconvex."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.common.docstrings import with_keywords_of
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.data.losses import loss_of
from fsopt.models.gbd.mixed_integer import add_product_constraints, new_product_model, product_objective
from fsopt.models.gbd.selection_constraints import SelectionConstraints, feature_weights
from fsopt.models.spec import Instance, ModelSpec


@with_keywords_of(SelectionConstraints.of, without=("m", "costs", "budget"))
def build_fsp_lambda(
    data: Dataset,
    *,
    c: float = 1.0,
    loss: str = "hinge",
    lam: ArrayLike = 1.0,
    **selection: Any,
) -> pyo.ConcreteModel:
    r"""Return the feature selection problem with a penalty weight for each feature, as printed: not convex.

    .. math::

        \min\ & \tfrac12 \sum_j \sigma_j w_j^2 + C e'\xi + \lambda'\sigma \\
        \text{s.t.}\ & y_i\Big(\sum_j \sigma_j w_j x_{ij} + b\Big) + \xi_i \ge 1,\quad \xi \ge 0,\quad
        \sigma \in \{0,1\}^p,\quad l \le w \le u

    and the rules between features of ``fsp-master``. The p products :math:`v_j = \sigma_j w_j` are variables, and the
    weights are bounded, as in ``fsp-m``. Some numbers of features are optimal for no lambda. Features of a group have
    the same :math:`\sigma_j`, one binary with one penalty weight.

    Parameters
    ----------
    data : Dataset
        Features in comparable units; the optimum depends on them.
    c : float, default 1.0
        > 0, penalty weight of the loss.
    loss : str, default 'hinge'
        ``hinge`` (default), ``squared-hinge``: :math:`C \xi'\xi` in place of :math:`C e'\xi`, or ``logistic``:
        :math:`C e'\ell` with :math:`\ell_i \ge \ln(1 + e^{\xi_i - 1})`, and :math:`\xi` of any sign.
    lam : array, default 1.0
        Penalty weight lambda >= 0 of every feature, or p penalty weights.

    Returns
    -------
    ConcreteModel
        MINLP with a binary for each feature or group, and bilinear terms, for comparison and tiny data. Variables ``w b
        sigma v xi``, constraints ``margin product``, and of ``include exclude implies conflicts`` those that are asked
        for. The classifier is sign(v'x + b), not sign(w'x + b).

    Raises
    ------
    ParameterError : c <= 0, a negative penalty weight, an unknown feature, constraints that no selection satisfies.

    Notes
    -----
    Aytug, (FSP-lambda).
    """
    name = "fsp-lambda"
    constraints = SelectionConstraints.of(name, data, **selection)
    weights = feature_weights(name, constraints.groups, lam)
    model = new_product_model(name, data, constraints, c, loss_of(loss))
    model.objective = pyo.Objective(
        expr=product_objective(model, data, c, loss_of(loss)) + dot(weights, tuple(model.sigma.values())),
        doc="(FSP-lambda) 1/2 sum_j sigma_j w_j^2 + C e'xi + lambda'sigma",
    )
    add_product_constraints(model, data, constraints, "(FSP-lambda)")
    return model


SPEC = ModelSpec(
    "fsp-lambda",
    build_fsp_lambda,
    "MINLP",
    paper="gbd",
    equation="(FSP-lambda)",
    instance=Instance(n=12, p=3, params={"lam": [0.5, 0.25, 0.125]}),
    weights="samples",
)
