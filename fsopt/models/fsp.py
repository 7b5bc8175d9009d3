"""Support vector machines with a limited number of features (Aytug, paper 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.models.blocks import Vector, add_classifier, add_margins, new_model, number, squares, vector
from fsopt.models.limits import Feature, Limits, penalties


def build_svm(data: Dataset, *, c: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the linear support vector machine, a convex quadratic program.

    .. math:: \min\ \tfrac12 w'w + C e'\xi \quad\text{s.t.}\quad y_i(w'x_i + b) + \xi_i \ge 1,\ \xi \ge 0

    Parameters
    ----------
    c : > 0, price of a unit of hinge loss.

    Returns
    -------
    ConcreteModel
        QP with n rows and n + p + 1 columns. Variables ``w b xi``, constraint ``margin``.

    Raises
    ------
    ParameterError : c <= 0.

    Notes
    -----
    Paper 4, problem (1). ``dual[margin[i]]`` is alpha_i in [0, C].
    """
    c = number("svm", "c", c, low=0.0, strict=True)
    m = new_model("svm", data)
    add_classifier(m)
    add_margins(m, data, "(1)")
    m.objective = pyo.Objective(
        expr=0.5 * squares(list(m.w.values())) + c * pyo.quicksum(m.xi.values()), doc="(1) 1/2 w'w + C e'xi"
    )
    return m


def build_onsvm(data: Dataset, *, c: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the one-norm support vector machine, a linear program.

    .. math::

        \min\ e'(p + q) + C e'\xi \quad\text{s.t.}\quad y_i(w'x_i + b) + \xi_i \ge 1,\quad w = p - q,
        \quad p, q, \xi \ge 0

    Parameters
    ----------
    c : > 0, price of a unit of hinge loss.

    Returns
    -------
    ConcreteModel
        LP with n + p rows. Variables ``w w_plus w_minus b xi`` (w_plus, w_minus are the paper's p, q),
        constraints ``margin split``.

    Raises
    ------
    ParameterError : c <= 0.

    Notes
    -----
    Paper 4, problem (ONSVM); paper 1's l1-SVM.
    """
    c = number("onsvm", "c", c, low=0.0, strict=True)
    m = new_model("onsvm", data)
    add_classifier(m)
    m.w_plus = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="p, positive part of w")
    m.w_minus = pyo.Var(m.J, within=pyo.NonNegativeReals, doc="q, negative part of w")
    add_margins(m, data, "(ONSVM)")

    def split(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - m.w_plus[j] + m.w_minus[j] == 0

    m.split = pyo.Constraint(m.J, rule=split, doc="(ONSVM) w = p - q")
    norm = pyo.quicksum([*m.w_plus.values(), *m.w_minus.values()])
    m.objective = pyo.Objective(expr=norm + c * pyo.quicksum(m.xi.values()), doc="(ONSVM) e'(p + q) + C e'xi")
    return m


def build_fsp_sub(data: Dataset, *, sigma: ArrayLike | None = None, c: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the subproblem of generalized Benders: the SVM on the features that sigma selects.

    .. math::

        F(\sigma) = \min\ \tfrac12 u'u + C e'\xi \quad\text{s.t.}\quad
        y_i(w'x_i + b) + \xi_i \ge 1,\quad w_j = \sigma_j u_j,\quad \xi \ge 0

    which has the value of (SUB-M) for binary sigma (there :math:`u_j` is called :math:`w_j` and is free of
    charge where :math:`\sigma_j = 0`), and keeps sigma in p coefficients, where an update can reach it.

    Parameters
    ----------
    sigma : (p,) entries in [0, 1]; ones by default.
    c : > 0, price of a unit of hinge loss.

    Returns
    -------
    ConcreteModel
        QP with n + p rows. Variables ``w b xi u``, constraints ``margin selection``, mutable parameter
        ``sigma``. ``dual[margin[i]]`` is the alpha_i of the Benders cut.

    Raises
    ------
    ParameterError : c <= 0, or sigma that is not p numbers in [0, 1].

    Notes
    -----
    Paper 4, problem (SUB-M), (5)-(6).
    """
    c = number("fsp-sub", "c", c, low=0.0, strict=True)
    chosen = np.ones(data.p) if sigma is None else vector("fsp-sub", "sigma", sigma, data.p, low=0.0, high=1.0)
    m = new_model("fsp-sub", data)
    m.sigma = pyo.Param(m.J, initialize=dict(enumerate(chosen.tolist())), mutable=True, doc="sigma, selection")
    add_classifier(m)
    m.u = pyo.Var(m.J, doc="u, weights before selection")
    add_margins(m, data, "(5)")

    def selection(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] - m.sigma[j] * m.u[j] == 0

    m.selection = pyo.Constraint(m.J, rule=selection, doc="(5) w_j = sigma_j u_j")
    m.objective = pyo.Objective(
        expr=0.5 * squares(list(m.u.values())) + c * pyo.quicksum(m.xi.values()),
        doc="(SUB-M) 1/2 u'u + C e'xi",
    )
    return m


def build_fsp_master(
    data: Dataset,
    *,
    m: int | None = None,
    costs: ArrayLike | None = None,
    budget: float | None = None,
    lam: ArrayLike | None = None,
    include: Sequence[Feature] = (),
    exclude: Sequence[Feature] = (),
    implies: Sequence[Sequence[Feature]] = (),
    conflicts: Sequence[Sequence[Feature]] = (),
    cuts: Sequence[ArrayLike] = (),
) -> pyo.ConcreteModel:
    r"""Return the relaxed master problem of generalized Benders, a mixed-integer linear program.

    .. math::

        \min\ \theta\ (+ \lambda'\sigma) \quad\text{s.t.}\quad
        & \theta \ge e'\alpha^s - \tfrac12 \sum_j q_j(\alpha^s)^2 \sigma_j, \quad q_j(\alpha) = \sum_i
        \alpha_i y_i x_{ij}, \quad s = 1, \dots \\
        & e'\sigma \le M \ \text{or}\ \beta'\sigma \le B, \qquad \sigma \in \{0,1\}^p,\ \theta \ge 0

    and the rules between features: :math:`\sigma_j = 1` (include), :math:`\sigma_j = 0` (exclude),
    :math:`\sigma_j \le \sigma_k` (implies), :math:`\sum_{j \in g} \sigma_j \le 1` (conflicts).

    Minimisation signs: the paper's UB and LB are for the maximisation of the negative. A cut holds for every
    feature, the unselected ones too, and for every alpha that is feasible for the dual of the SVM.

    Parameters
    ----------
    m : largest number of features, 1..p. Give one of ``m``, ``costs`` with ``budget``, ``lam``; without any,
        m is 5, or p where that is less, or as many as ``include`` asks for where that is more.
    costs, budget : (p,) prices beta >= 0 of the features and the budget B >= 0.
    lam : >= 0, price of each feature, or p prices (RMP-lambda).
    include : features that must be selected, by place (from 0) or name.
    exclude : features that must not be selected.
    implies : pairs [j, k]: where j is selected, so is k.
    conflicts : groups of features, at most one of each.
    cuts : vectors alpha (n,) in [0, infinity) with y'alpha = 0, one for each cut; add more with
        :func:`add_cut`.

    Returns
    -------
    ConcreteModel
        MILP with p binaries. Variables ``sigma theta``, constraints ``cuts``, and of ``cardinality budget
        include exclude implies conflicts`` those that are asked for.

    Raises
    ------
    ParameterError : more than one limit, m > p, negative prices, no such feature, limits that no selection keeps,
        a cut of the wrong length.

    Notes
    -----
    Paper 4, problems (RMP-M) (10) and (RMP-lambda) (15).
    """
    name = "fsp-master"
    if lam is not None and (m is not None or costs is not None or budget is not None):
        raise ParameterError("'fsp-master' takes one of m, costs with budget, lam, not several", "leave one")
    limits = Limits.of(
        name, data, m=m, costs=costs, budget=budget,
        include=include, exclude=exclude, implies=implies, conflicts=conflicts,
    )  # fmt: skip
    model = new_model(name, data)
    model.sigma = pyo.Var(model.J, within=pyo.Binary, doc="sigma, selection")
    model.theta = pyo.Var(within=pyo.NonNegativeReals, doc="theta >= F(sigma) as far as the cuts know")
    objective = model.theta + 0.0
    if lam is None:
        limits = limits.or_few()
    else:
        objective = model.theta + dot(penalties(name, data, lam), tuple(model.sigma.values()))
    limits.add_to(model)
    model.cuts = pyo.ConstraintList(doc="(10) theta >= e'alpha - 1/2 sum_j q_j^2 sigma_j")
    for k, alpha in enumerate(cuts):
        add_cut(model, data, vector(name, f"cuts[{k}]", alpha, data.n, low=0.0))
    model.objective = pyo.Objective(expr=objective, doc="(10) theta, (15) theta + lambda'sigma")
    return model


def cut_coefficients(data: Dataset, alpha: Vector) -> tuple[float, Vector]:
    """Return e'alpha and q_j(alpha)^2 / 2 (p,), the constant and the slopes of a Benders cut."""
    q = data.X.T @ (alpha * data.y)
    return float(alpha.sum()), 0.5 * q**2


def add_cut(model: pyo.ConcreteModel, data: Dataset, alpha: Vector) -> Any:
    """Add the cut of a dual-feasible alpha (n,) to a master problem and return its constraint."""
    constant, slopes = cut_coefficients(data, alpha)
    return model.cuts.add(model.theta + dot(slopes, tuple(model.sigma.values())) >= constant)
