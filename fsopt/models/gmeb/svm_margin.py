"""Model ``svm-margin``: Peleg & Meir, (18), the SVM with a variable margin."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import numpy as np
import pyomo.environ as pyo
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import add_classifier, new_model, number, squares
from typing import Any


def build_svm_margin(data: Dataset, *, c: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the bound without feature scaling as a problem in the margin, quasiconvex.

    .. math::

        \min\ & r \\
        \text{s.t.}\ & 1'\xi + \tfrac{1}{2C} \le r\gamma \\
        & y_i(w'x_i + b) \ge \gamma - \xi_i, \quad w'w \le 1, \quad \xi, r \ge 0, \quad
        0 \le \gamma \le 2\max_i\|x_i - \bar x\|

    The paper's objective is the quotient :math:`r = (1'\xi + 1/(2C))/\gamma`. As a row with one product it is smooth,
    quadratic, and keeps :math:`\gamma > 0` by itself. Every stationary point is a global optimum, and the convex
    :func:`build_svm_norm` has the same planes and C times the value.

    There is no minimiser for C below :func:`fsopt.methods.gmeb.svm_forms.norm_threshold`: the infimum
    :math:`2\min(n_+, n_-)` is then approached as the margin grows without end. The bound on the margin, which is
    ours, is twice what a minimiser can have; without it solvers run off, even above the threshold. An answer at that
    bound says that (18) has no minimiser.

    Parameters
    ----------
    c : C > 0, price of the slacks; above the threshold for a minimiser.

    Returns
    -------
    ConcreteModel
        NLP, one nonconvex quadratic row and one cone. Variables ``w b xi gamma ratio``, constraints ``quotient margin
        unit_norm``. It starts at w = 0 and the largest margin.

    Raises
    ------
    ParameterError : C that is not a positive number.

    Notes
    -----
    Paper 1, problem (18), its quotient as an epigraph. The scores of a minimiser span at least :math:`2\gamma`, see
    :func:`fsopt.methods.gmeb.svm_forms.norm_threshold`, and at most the diameter of the data.
    """
    c = number("svm-margin", "c", c, low=0.0, strict=True)
    most = 2 * float(np.linalg.norm(data.X - data.X.mean(axis=0), axis=1).max())
    m = new_model("svm-margin", data)
    add_classifier(m)
    m.xi = pyo.Var(m.I, within=pyo.NonNegativeReals, initialize=most, doc="xi, slacks of the margin gamma")
    m.gamma = pyo.Var(bounds=(0, most), initialize=most, doc="(18) gamma, margin")
    m.ratio = pyo.Var(within=pyo.NonNegativeReals, initialize=data.n + 0.5 / c, doc="(18) r, the quotient")
    weights, yX = tuple(m.w.values()), data.X * data.y[:, None]

    def margin(m: pyo.ConcreteModel, i: int) -> Any:
        return dot(yX[i], weights) + float(data.y[i]) * m.b + m.xi[i] - m.gamma >= 0

    m.objective = pyo.Objective(expr=m.ratio, doc="(18) (1'xi + 1/(2C)) / gamma")
    m.quotient = pyo.Constraint(
        expr=pyo.quicksum(m.xi.values()) + 0.5 / c <= m.ratio * m.gamma, doc="(18) 1'xi + 1/(2C) <= r gamma"
    )
    m.margin = pyo.Constraint(m.I, rule=margin, doc="(18) margin: y_i (w'x_i + b) >= gamma - xi_i")
    m.unit_norm = pyo.Constraint(expr=squares(list(m.w.values())) <= 1, doc="(18) w'w <= 1")
    return m


SPEC = ModelSpec("svm-margin", build_svm_margin, "NLP", paper="gmeb", equation="(18)", trial=Instance(n=24, p=5, gap=0.7, seed=7, params={"c": 0.3}))
