"""The SVM that a generalization error bound without feature scaling leads to (Peleg and Meir, paper 1, section 5)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import add_classifier, add_margins, new_model, number, squares


def build_svm_norm(data: Dataset, *, c: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the SVM with the norm of its weights not squared, a second-order cone program.

    .. math::

        \min\ \tfrac12 t + C\,1'\xi \quad\text{s.t.}\quad \|w\| \le t, \quad
        y_i(w'x_i + b) \ge 1 - \xi_i, \quad \xi \ge 0

    Its plane is that of the ordinary SVM, with :math:`\tfrac12\|w\|^2`, at the price :math:`2\|w\|C`. A norm is not
    flat at 0: w = 0 is optimal for every C up to :func:`fsopt.methods.margin.norm_threshold`, then w jumps.

    Parameters
    ----------
    c : C > 0, price of the slacks.

    Returns
    -------
    ConcreteModel
        SOCP with one cone. Variables ``w b t xi``, constraints ``norm margin``.

    Raises
    ------
    ParameterError : C that is not a positive number.

    Notes
    -----
    Paper 1, problem (19).
    """
    c = number("svm-norm", "c", c, low=0.0, strict=True)
    m = new_model("svm-norm", data)
    add_classifier(m)
    m.t = pyo.Var(within=pyo.NonNegativeReals, doc="(19) t, the norm of w")
    add_margins(m, data, "(19)")
    m.objective = pyo.Objective(expr=0.5 * m.t + c * pyo.quicksum(m.xi.values()), doc="(19) 1/2 ||w|| + C 1'xi")
    m.norm = pyo.Constraint(expr=squares(list(m.w.values())) <= m.t**2, doc="(19) ||w|| <= t")
    return m


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

    There is no minimiser for C below :func:`fsopt.methods.margin.norm_threshold`: the infimum
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
    :func:`fsopt.methods.margin.norm_threshold`, and at most the diameter of the data.
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


def build_least_moment(data: Dataset) -> pyo.ConcreteModel:
    r"""Return the program whose value decides where w = 0 solves (19), a second-order cone program.

    .. math::

        \min\ t \quad\text{s.t.}\quad q = X'Y\mu, \quad \|q\| \le t, \quad y'\mu = 0, \quad 0 \le \mu \le 1, \quad
        \mu_i = 1 \text{ in the smaller class}

    :math:`C\mu` are multipliers of the margins at w = 0 and the best b; they solve the dual of (19) iff
    :math:`C\|q\| \le 1/2`. With classes of equal size all of mu is 1.

    Returns
    -------
    ConcreteModel
        SOCP with one cone. Variables ``mu q t``, constraints ``expansion balance norm``.

    Notes
    -----
    Our derivation, from the dual of paper 1, problem (19).
    """
    m = new_model("least-moment", data)
    smaller = 1.0 if np.sum(data.y > 0) <= np.sum(data.y < 0) else -1.0
    m.mu = pyo.Var(m.I, bounds=(0, 1), doc="mu, multipliers of the margins over C")
    for i in np.flatnonzero(data.y == smaller).tolist():
        m.mu[i].setlb(1)
    m.q = pyo.Var(m.J, doc="q = X'Y mu")
    m.t = pyo.Var(within=pyo.NonNegativeReals, doc="t, the norm of q")
    mus, Xy = tuple(m.mu.values()), np.ascontiguousarray((data.X * data.y[:, None]).T)

    def expansion(m: pyo.ConcreteModel, j: int) -> Any:
        return m.q[j] - dot(Xy[j], mus) == 0

    m.objective = pyo.Objective(expr=m.t, doc="dual of (19): ||X'Y mu||")
    m.expansion = pyo.Constraint(m.J, rule=expansion, doc="dual of (19): q = X'Y mu")
    m.balance = pyo.Constraint(expr=dot(data.y, mus) == 0, doc="dual of (19): y'mu = 0")
    m.norm = pyo.Constraint(expr=squares(list(m.q.values())) <= m.t**2, doc="dual of (19): ||q|| <= t")
    return m
