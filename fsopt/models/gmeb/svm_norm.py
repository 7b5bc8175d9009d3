"""The SVMs that Peleg & Meir compare with: (19) with the unsquared norm, (18) with a variable margin."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import (
    add_classifier,
    add_margins,
    add_parameter,
    add_slacks,
    hinge_cost,
    hinge_point,
    new_model,
    number,
    signed_samples,
    squares,
    total,
)
from fsopt.models.spec import TRIAL, ModelSpec
from fsopt.typing import Vector

ROUNDED = 1e-15
"""Relative rounding error of a norm."""


def build_svm_norm(data: Dataset, *, c: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the SVM with the norm of its weights not squared, a second-order cone program.

    .. math::

        \min\ & \tfrac12 t + C\,1'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) \ge 1 - \xi_i, \quad \xi \ge 0, \quad \|w\| \le t

    Its hyperplane is that of the ordinary SVM, with :math:`\tfrac12\|w\|^2`, at the penalty weight :math:`2\|w\|C`. A
    norm has no slope 0 at 0: w = 0 is optimal for every C up to a threshold, and then w jumps. By the dual the
    threshold is :math:`1/(2\min_\mu \|X'Y\mu\|)` over :math:`\mu \in [0, 1]^n` with :math:`y'\mu = 0` and
    :math:`\mu_i = 1` in the smaller class.

    Parameters
    ----------
    data : In any units; the builder does not preprocess.
    c : C > 0, penalty weight of the hinge loss.

    Returns
    -------
    ConcreteModel
        SOCP with one cone. Variables ``w b t xi``, constraints ``margin norm``, mutable parameter ``c``. The
        classifier is sign(w'x + b).

    Raises
    ------
    ParameterError : C that is not a positive number.

    Notes
    -----
    Peleg & Meir, (19). The threshold is our derivation.
    """
    m = new_model("svm-norm", data)
    add_parameter(m, "c", c, "C, penalty weight of the hinge loss")
    add_classifier(m)
    m.t = pyo.Var(within=pyo.NonNegativeReals, doc="t, the norm of w")
    add_slacks(m)
    m.objective = pyo.Objective(expr=hinge_cost(m, data, m.c) + 0.5 * m.t, doc="(19) 1/2 ||w|| + C 1'xi")
    add_margins(m, data, "(19)")
    m.norm = pyo.Constraint(expr=squares(m.w) <= m.t**2, doc="(19) ||w|| <= t")
    return m


def complete_svm_norm(data: Dataset, w: Vector, b: float, **_: Any) -> dict[str, Any]:
    """Return the variables of ``svm-norm`` at a hyperplane; t is rounded up, at least the norm of w."""
    return {**hinge_point(data, w, b), "t": np.nextafter(np.linalg.norm(w) * (1.0 + ROUNDED), np.inf)}


def build_svm_margin(data: Dataset, *, c: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the generalization error bound without feature scaling, a quasiconvex problem in the margin.

    .. math::

        \min\ & r \\
        \text{s.t.}\ & 1'\xi + \tfrac{1}{2C} \le r\gamma \\
        & y_i(w'x_i + b) \ge \gamma - \xi_i, \quad w'w \le 1, \quad \xi, r \ge 0, \quad
        0 \le \gamma \le 2\max_i\|x_i - \bar x\|

    The objective in the paper is the quotient :math:`r = (1'\xi + 1/(2C))/\gamma`. As a constraint with one product it
    is smooth, quadratic, and implies :math:`\gamma > 0`. The convex ``svm-norm`` has the same hyperplanes and C times
    the optimum.

    For C below a threshold there is no minimiser: the infimum :math:`2\min(n_+, n_-)` is approached as the margin
    grows without bound. The upper bound on the margin, which is ours, is twice the largest margin of a minimiser;
    without it solvers diverge, even above the threshold. A solution at this bound shows that (18) has no minimiser.

    Parameters
    ----------
    data : In any units; the builder does not preprocess.
    c : C > 0, penalty weight of the slacks; above the threshold for a minimiser.

    Returns
    -------
    ConcreteModel
        NLP, one nonconvex quadratic constraint and one cone. Variables ``w b xi gamma ratio`` (``ratio`` is r),
        constraints ``quotient margin unit_norm``, mutable parameter ``c``. The classifier is sign(w'x + b). Every
        stationary point is a global optimum. The start is w = 0 at the largest margin.

    Raises
    ------
    ParameterError : C that is not a positive number.

    Notes
    -----
    Peleg & Meir, (18), its quotient as an epigraph. The threshold is that of ``svm-norm``:
    the scores of a minimiser span at least :math:`2\gamma`, and at most the diameter of the data.
    """
    c = number("svm-margin", "c", c)
    largest = 2 * float(np.linalg.norm(data.X - data.X.mean(axis=0), axis=1).max())
    m = new_model("svm-margin", data)
    add_parameter(m, "c", c, "C, penalty weight of the slacks")
    add_classifier(m)
    m.xi = pyo.Var(m.I, within=pyo.NonNegativeReals, initialize=largest, doc="xi, slacks of the margin gamma")
    m.gamma = pyo.Var(bounds=(0, largest), initialize=largest, doc="gamma, margin")
    m.artificial_bound = pyo.Suffix(direction=pyo.Suffix.LOCAL)
    m.artificial_bound[m.gamma] = "the margin gamma is at its artificial bound: the infimum of (18) is not attained"
    m.ratio = pyo.Var(within=pyo.NonNegativeReals, initialize=data.n + 0.5 / c, doc="r, the quotient of (18)")
    weights, signed = tuple(m.w.values()), signed_samples(data)

    def margin(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(signed[i], weights) + float(data.y[i]) * m.b + m.xi[i] - m.gamma >= 0

    m.objective = pyo.Objective(expr=m.ratio, doc="(18) (1'xi + 1/(2C)) / gamma")
    m.quotient = pyo.Constraint(expr=total(m.xi) + 0.5 / m.c <= m.ratio * m.gamma, doc="(18) 1'xi + 1/(2C) <= r gamma")
    m.margin = pyo.Constraint(m.I, rule=margin, doc="(18) y_i (w'x_i + b) >= gamma - xi_i")
    m.unit_norm = pyo.Constraint(expr=squares(m.w) <= 1, doc="(18) w'w <= 1")
    return m


SPECS = (
    ModelSpec(
        "svm-norm",
        build_svm_norm,
        "SOCP",
        equation="(19)",
        trial=replace(TRIAL, params={"c": 0.3}),
        complete=complete_svm_norm,
    ),
    ModelSpec("svm-margin", build_svm_margin, "NLP", equation="(18)", trial=replace(TRIAL, params={"c": 0.3})),
)
