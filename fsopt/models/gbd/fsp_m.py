"""Aytug's problems (FSP-M) and (FSP-lambda) as printed, and the parts that their mixed-integer forms share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.common.arguments import with_keywords_of
from fsopt.data import Dataset
from fsopt.data.hyperplanes import HINGE, LOGISTIC, SQUARED_HINGE, Loss, loss_of
from fsopt.errors import ParameterError, shown
from fsopt.models.blocks import add_classifier, add_slacks, hinge_cost, margin_constraint, mutable, new_model, number
from fsopt.models.gbd.selection_constraints import SelectionConstraints, feature_weights
from fsopt.models.spec import Instance, ModelSpec
from fsopt.typing import Vector


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
    data : Features in comparable units; the optimum depends on them.
    c : > 0, penalty weight of the loss.
    loss : ``hinge`` (default), ``squared-hinge``: :math:`C \xi'\xi` in place of :math:`C e'\xi`, or ``logistic``:
        :math:`C e'\ell` with :math:`\ell_i \ge \ln(1 + e^{\xi_i - 1})`, and :math:`\xi` of any sign.

    Returns
    -------
    ConcreteModel
        MINLP with a binary for each feature or group, and bilinear terms, for comparison and tiny data: ``fsp-m-bigm``
        and the method ``gbd`` solve the same problem. Variables ``w b sigma v xi``, constraints ``margin product``, and
        of ``cardinality budget include exclude implies conflicts`` those that are asked for. The classifier is sign(v'x
        + b), not sign(w'x + b). Another C is another model, as its bounds on the weights follow from C.

    Raises
    ------
    ParameterError : c <= 0, m > p, m with a budget, negative costs, an unknown feature, constraints that no selection
        satisfies.

    Notes
    -----
    Aytug, (FSP-M).
    """
    constraints = SelectionConstraints.of("fsp-m", data, **selection).with_default_cardinality()
    return _as_printed("fsp-m", data, constraints, c, loss)


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
    data : Features in comparable units; the optimum depends on them.
    c : > 0, penalty weight of the loss.
    loss : ``hinge`` (default), ``squared-hinge``: :math:`C \xi'\xi` in place of :math:`C e'\xi`, or ``logistic``:
        :math:`C e'\ell` with :math:`\ell_i \ge \ln(1 + e^{\xi_i - 1})`, and :math:`\xi` of any sign.
    lam : Penalty weight lambda >= 0 of every feature, or p penalty weights.

    Returns
    -------
    ConcreteModel
        MINLP with a binary for each feature or group, and bilinear terms, for comparison and tiny data. Variables ``w b
        sigma v xi``, constraints ``margin product``, and of ``include exclude implies conflicts`` those that are asked
        for, mutable parameter ``lam``. The classifier is sign(v'x + b), not sign(w'x + b). Another C is another model,
        as its bounds on the weights follow from C.

    Raises
    ------
    ParameterError : c <= 0, a negative penalty weight, an unknown feature, constraints that no selection satisfies.

    Notes
    -----
    Aytug, (FSP-lambda).
    """
    constraints = SelectionConstraints.of("fsp-lambda", data, **selection)
    return _as_printed("fsp-lambda", data, constraints, c, loss, feature_weights("fsp-lambda", constraints.groups, lam))


def _as_printed(
    name: str, data: Dataset, constraints: SelectionConstraints, c: float, loss: str, weights: Vector | None = None
) -> pyo.ConcreteModel:
    """Return a model with bounded weights w, and v for the products sigma_j w_j (J), the weights in use."""
    equation = "(FSP-M)" if weights is None else "(FSP-lambda)"
    c, found = number(name, "c", c), loss_of(loss)
    model = new_model(name, data)
    add_classifier(model)
    add_selection(model, constraints)
    model.v = pyo.Var(model.J, doc="v_j = sigma_j w_j, weights after selection")
    for variables in (model.w, model.v):
        constraints.bounds.within(largest_weight(data, c, loss=found)).add_to(variables)
    add_slacks(model, found)
    objective = 0.5 * sum(model.v[j] * model.w[j] for j in model.J) + hinge_cost(model, data, c, found)
    if weights is not None:
        objective += selection_cost(model, weights)
    doc = f"{equation} 1/2 sum_j sigma_j w_j^2 + C e'xi" + " + lambda'sigma" * (weights is not None)
    model.objective = pyo.Objective(expr=objective, doc=doc)
    sigma = selection_of_features(model, constraints)

    def product(model: pyo.ConcreteModel, j: int) -> Any:
        return model.v[j] - sigma[j] * model.w[j] == 0

    model.margin = margin_constraint(model, data, model.v, f"{equation} y_i (v'x_i + b) + xi_i >= 1")
    model.product = pyo.Constraint(model.J, rule=product, doc=f"{equation} v_j = sigma_j w_j")
    constraints.add_to(model)
    return model


def selection_cost(model: pyo.ConcreteModel, weights: Vector) -> Any:
    """Return lambda'sigma for penalty weights (p,), the mutable parameter ``lam`` over the features or groups."""
    model.lam = mutable(model.sigma.index_set(), weights, "lambda, penalty weights of the features")
    return pyo.quicksum(model.lam[j] * sigma for j, sigma in model.sigma.items())


LAMBERT = 0.2784645428
"""W(1/e), of Lambert's W, rounded up."""


def largest_weight(data: Dataset, c: float, upper: float | None = None, loss: Loss = HINGE) -> float:
    r"""Return a bound on the norm of the best weights of an SVM on any selection of the features.

    Let w be the best weights for a selection and alpha the multipliers of its margins. By strong duality
    :math:`\tfrac12 w'w + Ce'\xi = e'\alpha - \tfrac12 w'w`, so :math:`w'w \le e'\alpha`; and :math:`0 \le \alpha \le C`
    with :math:`y'\alpha = 0` implies :math:`e'\alpha \le 2C\min(n_+, n_-)`; with weights of the samples their sums are
    in the place of :math:`n_+` and :math:`n_-`. For the squared hinge loss :math:`\alpha = 2C\xi` and :math:`w'w = 2C
    \sum_i \xi_i (1 - \xi_i)`, with :math:`y'\xi = 0` at most :math:`2C n_+ n_- / (n_+ + n_-)`. For the logistic loss
    :math:`w'w = \sum_i \alpha_i u_i` with the margins :math:`u_i = \ln((1 - t_i) / t_i)`, :math:`t_i = \alpha_i / C`,
    and the largest :math:`t \ln((1 - t) / t)` is :math:`W(1/e)`, of Lambert's W. With bounds :math:`l \le w \le u` that
    admit 0, :math:`w'w \le w'q` is in the place of :math:`w'w`. If ``upper`` is at least the optimum over the
    selections, :math:`\tfrac12 w'w \le` ``upper`` holds for the best selection too.
    """
    weights = np.ones(data.n) if data.weights is None else data.weights
    plus, minus = math.fsum(weights[data.y > 0]), math.fsum(weights[data.y < 0])
    half = {
        HINGE: min(plus, minus),
        SQUARED_HINGE: plus * minus / (plus + minus),
        LOGISTIC: 0.5 * LAMBERT * (plus + minus),
    }
    squared = 2.0 * c * half[loss]
    return float(np.sqrt(squared if upper is None else min(squared, 2.0 * upper)))


def add_selection(model: pyo.ConcreteModel, constraints: SelectionConstraints, *, relax: bool = False) -> None:
    """Add sigma, one variable in {0, 1}, in [0, 1] if relaxed, for each feature (J), or for each group of them (G)."""
    index = model.J
    if not constraints.groups.single:
        index = model.G = pyo.RangeSet(0, constraints.p - 1)
    model.sigma = pyo.Var(index, within=pyo.UnitInterval if relax else pyo.Binary, doc="sigma, selection")


def selection_of_features(model: pyo.ConcreteModel, constraints: SelectionConstraints) -> list[Any]:
    """Return the variable sigma of each feature (p): features of a group have the same one."""
    return [model.sigma[group] for group in constraints.groups.of.tolist()]


def new_selection_model(
    name: str, data: Dataset, constraints: SelectionConstraints, *, relax: bool, loss: Loss = HINGE
) -> pyo.ConcreteModel:
    """Return a model with the hyperplane (w, b), the selection sigma in {0, 1}, [0, 1] if relaxed, and the slacks."""
    if not isinstance(relax, bool):
        raise ParameterError(f"parameter 'relax' of '{name}' must be true or false, not {shown(relax)}", "relax=true")
    model = new_model(name, data)
    add_classifier(model)
    add_selection(model, constraints, relax=relax)
    add_slacks(model, loss)
    return model


SPECS = (
    ModelSpec(
        "fsp-m",
        build_fsp_m,
        "MINLP",
        equation="(FSP-M)",
        instance=Instance(n=12, p=3, params={"m": 2}),
        weights="samples",
    ),
    ModelSpec(
        "fsp-lambda",
        build_fsp_lambda,
        "MINLP",
        equation="(FSP-lambda)",
        instance=Instance(n=12, p=3, params={"lam": [0.5, 0.25, 0.125]}),
        weights="samples",
    ),
)
