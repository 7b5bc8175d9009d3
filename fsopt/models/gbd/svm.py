"""The support vector machine, Aytug, (1), and its dual."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.common.arguments import with_keywords_of
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import (
    add_classifier,
    add_margins,
    add_parameter,
    add_slacks,
    hinge_cost,
    hinge_point,
    multiplier_bounds,
    new_model,
    signed_features,
    squares,
    total,
)
from fsopt.models.gbd.feature_lists import WeightBounds, weight_bounds
from fsopt.models.spec import ModelSpec


@with_keywords_of(weight_bounds)
def build_svm(data: Dataset, *, c: float = 1.0, **bounds: Any) -> pyo.ConcreteModel:
    r"""Return the linear support vector machine, a convex quadratic program.

    .. math::

        \min\ & \tfrac12 w'w + C e'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) + \xi_i \ge 1,\quad \xi \ge 0,\quad l \le w \le u

    Parameters
    ----------
    data : Features in comparable units; the optimum depends on them.
    c : > 0, penalty weight of the hinge loss.

    Returns
    -------
    ConcreteModel
        QP with n constraints and n + p + 1 variables. Variables ``w b xi``, constraint ``margin``, mutable parameter
        ``c``. The classifier is sign(w'x + b), and ``dual[margin[i]]`` is the multiplier alpha_i in [0, C].

    Raises
    ------
    ParameterError : c <= 0, an unknown feature, a bound that excludes the weight 0.

    Notes
    -----
    Aytug, (1).
    """
    m = new_model("svm", data)
    add_parameter(m, "c", c, "C, penalty weight of the hinge loss")
    add_classifier(m)
    WeightBounds.of("svm", data, bounds).add_to(m.w)
    add_slacks(m)
    m.objective = pyo.Objective(expr=0.5 * squares(m.w) + hinge_cost(m, data, m.c), doc="(1) 1/2 w'w + C e'xi")
    add_margins(m, data, "(1)")
    return m


@with_keywords_of(weight_bounds)
def build_svm_dual(data: Dataset, *, c: float = 1.0, **bounds: Any) -> pyo.ConcreteModel:
    r"""Return the dual of the linear support vector machine, whose multipliers are the classifier.

    .. math::

        \max\ & e'\alpha - \tfrac12 q'q - u'r + l's \\
        \text{s.t.}\ & q_j = \sum_i \alpha_i y_i x_{ij} - r_j + s_j,\quad y'\alpha = 0,\quad 0 \le \alpha \le C,\quad
        r, s \ge 0

    with the multipliers r and s of the bounds :math:`w \le u` and :math:`w \ge l`, where there are any. With q
    as variables the Hessian is the identity of order p, not a dense matrix of order n.

    Parameters
    ----------
    data : Features in comparable units; the optimum depends on them.
    c : > 0, penalty weight of the hinge loss.

    Returns
    -------
    ConcreteModel
        QP with p + 1 constraints and n + p variables, and one more for each bound. Variables ``alpha q``, with bounds
        ``r s``, constraints ``expansion balance``, mutable parameter ``c``. In Pyomo's convention of shadow prices
        ``dual[expansion[j]]`` is :math:`w_j` and ``dual[balance]`` is :math:`b`.

    Raises
    ------
    ParameterError : c <= 0, an unknown feature, a bound that excludes the weight 0.

    Notes
    -----
    The dual of Aytug, (1), with the same optimum; Aytug, (3) is its form for separable data.
    """
    found = WeightBounds.of("svm-dual", data, bounds)
    m = new_dual_model("svm-dual", data, c, found)
    m.objective = pyo.Objective(
        expr=total(m.alpha) - 0.5 * squares(m.q) - bound_terms(m, found),
        sense=pyo.maximize,
        doc="(1), dual: e'alpha - 1/2 q'q - u'r + l's",
    )
    add_dual_constraints(m, data, "(1)")
    return m


def new_dual_model(name: str, data: Dataset, c: float, bounds: WeightBounds) -> pyo.ConcreteModel:
    """Return a model with the multipliers alpha in [0, C] (I), those of bounds, and q = X'Y alpha - r + s (J)."""
    m = new_model(name, data)
    add_parameter(m, "c", c, "C, penalty weight of the hinge loss")
    m.alpha = pyo.Var(m.I, bounds=multiplier_bounds(data, m.c), doc="alpha, multipliers of the margins")
    for name, ends, what in (("r", bounds.upper, "w <= u"), ("s", bounds.lower, "w >= l")):
        if bounded := np.flatnonzero(np.isfinite(ends)).tolist():
            m.add_component(name, pyo.Var(bounded, within=pyo.NonNegativeReals, doc=f"{name}, multipliers of {what}"))
    m.q = pyo.Var(m.J, doc="q_j = sum_i alpha_i y_i x_ij - r_j + s_j")
    return m


def bound_terms(m: pyo.ConcreteModel, bounds: WeightBounds, sigma: Any = None) -> Any:
    """Return u'r - l's; with sigma (J) each term times that of its feature."""
    pairs = [(j, v, bounds.upper[j]) for j, v in multipliers_of(m, "r").items()]
    pairs += [(j, v, -bounds.lower[j]) for j, v in multipliers_of(m, "s").items()]
    return sum(float(end) * v * (1.0 if sigma is None else sigma[j]) for j, v, end in pairs if end)


def multipliers_of(m: pyo.ConcreteModel, name: str) -> Any:
    """Return the multipliers of the upper (r) or lower (s) bounds, by feature; empty without such bounds."""
    found = m.component(name)
    return {} if found is None else dict(found.items())


def add_dual_constraints(m: pyo.ConcreteModel, data: Dataset, equation: str) -> None:
    """Add ``expansion`` (J), whose multipliers are w, and ``balance``, whose multiplier is b."""
    alphas, signed = tuple(m.alpha.values()), signed_features(data)
    above, below = multipliers_of(m, "r"), multipliers_of(m, "s")

    def expansion(m: pyo.ConcreteModel, j: int) -> Any:
        return dot(signed[j], alphas) - above.get(j, 0) + below.get(j, 0) - m.q[j] == 0

    m.expansion = pyo.Constraint(
        m.J, rule=expansion, doc=f"{equation}, dual: q = X'Y alpha - r + s; its multiplier is w"
    )
    m.balance = pyo.Constraint(expr=dot(data.y, alphas) == 0, doc=f"{equation}, dual: y'alpha = 0; its multiplier is b")


SPECS = (
    ModelSpec("svm", build_svm, "QP", equation="(1)", weights="samples", complete=hinge_point),
    ModelSpec("svm-dual", build_svm_dual, "QP", equation="(1), dual", weights="samples"),
)
