"""The feature selection problem of the support vector machine as printed, not convex (Aytug, paper 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import add_classifier, new_model, number
from fsopt.models.fsp_exact import largest_weight
from fsopt.models.limits import Feature, Limits, penalties


def build_fsp_m(
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
) -> pyo.ConcreteModel:
    r"""Return the feature selection problem with a limit on the selection, as printed: not convex.

    .. math::

        \min\ \tfrac12 \sum_j \sigma_j w_j^2 + C e'\xi \quad\text{s.t.}\quad
        & y_i\Big(\sum_j \sigma_j w_j x_{ij} + b\Big) + \xi_i \ge 1,\quad \xi \ge 0 \\
        & e'\sigma \le M \ \text{or}\ \beta'\sigma \le B,\quad \sigma \in \{0,1\}^p

    and the rules between features of ``fsp-master``. The p products :math:`v_j = \sigma_j w_j` have a name, so that
    the objective, :math:`\tfrac12 v'w + Ce'\xi`, is quadratic and not cubic. Weights are bounded by
    :math:`|w_j| \le \sqrt{2C\min(n_+, n_-)}`, which branch and bound needs: an optimum keeps it, since the best
    weights of a selection do and a weight that is not selected is free of charge.

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

    Returns
    -------
    ConcreteModel
        MINLP with p binaries and bilinear terms, for the record and for tiny data: ``fsp-m-bigm`` and the method
        ``gbd`` solve the same problem. Variables ``w b xi sigma v``, constraints ``margin product``, and of
        ``cardinality budget include exclude implies conflicts`` those that are asked for.

    Raises
    ------
    ParameterError : c <= 0, m > p, m with a budget, negative prices, no such feature, limits that no selection
        keeps.

    Notes
    -----
    Paper 4, problem (FSP-M). The classifier is (v, b), not (w, b).
    """
    limits = Limits.of(
        "fsp-m", data, m=m, costs=costs, budget=budget,
        include=include, exclude=exclude, implies=implies, conflicts=conflicts,
    ).or_few()  # fmt: skip
    model = _printed("fsp-m", data, c, limits, "(FSP-M)")
    model.objective = pyo.Objective(expr=_loss(model, c), doc="(FSP-M) 1/2 sum_j sigma_j w_j^2 + C e'xi")
    return model


def build_fsp_lambda(
    data: Dataset,
    *,
    c: float = 1.0,
    lam: ArrayLike = 1.0,
    include: Sequence[Feature] = (),
    exclude: Sequence[Feature] = (),
    implies: Sequence[Sequence[Feature]] = (),
    conflicts: Sequence[Sequence[Feature]] = (),
) -> pyo.ConcreteModel:
    r"""Return the feature selection problem with a price on each feature, as printed: not convex.

    .. math::

        \min\ \tfrac12 \sum_j \sigma_j w_j^2 + C e'\xi + \lambda'\sigma \quad\text{s.t.}\quad
        y_i\Big(\sum_j \sigma_j w_j x_{ij} + b\Big) + \xi_i \ge 1,\quad \xi \ge 0,\quad \sigma \in \{0,1\}^p

    and the rules between features of ``fsp-master``. The products :math:`v_j = \sigma_j w_j` have a name, and weights
    are bounded, as in ``fsp-m``. Some numbers of features are reached by no lambda.

    Parameters
    ----------
    c : > 0, price of a unit of hinge loss.
    lam : >= 0, price of each feature, or p prices.
    include : features that must be selected, by place (from 0) or name.
    exclude : features that must not be selected.
    implies : pairs [j, k]: where j is selected, so is k.
    conflicts : groups of features, at most one of each.

    Returns
    -------
    ConcreteModel
        MINLP with p binaries and bilinear terms, for the record and for tiny data. Variables ``w b xi sigma v``,
        constraints ``margin product``, and of ``include exclude implies conflicts`` those that are asked for.

    Raises
    ------
    ParameterError : c <= 0, a negative price, no such feature, limits that no selection keeps.

    Notes
    -----
    Paper 4, problem (FSP-lambda). The classifier is (v, b), not (w, b).
    """
    prices = penalties("fsp-lambda", data, lam)
    limits = Limits.of(
        "fsp-lambda", data, include=include, exclude=exclude, implies=implies, conflicts=conflicts
    )  # fmt: skip
    model = _printed("fsp-lambda", data, c, limits, "(FSP-lambda)")
    model.objective = pyo.Objective(
        expr=_loss(model, c) + dot(prices, tuple(model.sigma.values())),
        doc="(FSP-lambda) 1/2 sum_j sigma_j w_j^2 + C e'xi + lambda'sigma",
    )
    return model


def _printed(name: str, data: Dataset, c: float, limits: Limits, equation: str) -> pyo.ConcreteModel:
    """Return the products v_j = sigma_j w_j, the margins in them, and the limits."""
    c = number(name, "c", c, low=0.0, strict=True)
    model = new_model(name, data)
    add_classifier(model)
    bound = largest_weight(data, c)
    model.w.setlb(-bound)
    model.w.setub(bound)
    model.sigma = pyo.Var(model.J, within=pyo.Binary, doc="sigma, selection")
    model.v = pyo.Var(model.J, bounds=(-bound, bound), doc="v_j = sigma_j w_j, weights after selection")
    model.xi = pyo.Var(model.I, within=pyo.NonNegativeReals, doc="xi, hinge slacks")
    yX, labels, products = data.X * data.y[:, None], data.y.tolist(), tuple(model.v.values())

    def margin(model: pyo.ConcreteModel, i: int) -> Any:
        return dot(yX[i], products) + labels[i] * model.b + model.xi[i] >= 1

    def product(model: pyo.ConcreteModel, j: int) -> Any:
        return model.v[j] - model.sigma[j] * model.w[j] == 0

    model.margin = pyo.Constraint(model.I, rule=margin, doc=f"{equation} y_i (v'x_i + b) + xi_i >= 1")
    model.product = pyo.Constraint(model.J, rule=product, doc=f"{equation} v_j = sigma_j w_j")
    limits.add_to(model)
    return model


def _loss(model: pyo.ConcreteModel, c: float) -> Any:
    """Return 1/2 sum_j sigma_j w_j^2 + C e'xi."""
    return 0.5 * sum(model.v[j] * model.w[j] for j in model.J) + c * pyo.quicksum(model.xi.values())
