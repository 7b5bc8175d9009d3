"""The subproblem of Aytug's decomposition, (SUB-M), and its dual."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.common.arguments import with_keywords_of
from fsopt.data import Dataset
from fsopt.models.blocks import (
    add_classifier,
    add_margins,
    add_parameter,
    add_slacks,
    hinge_cost,
    mutable,
    new_model,
    squares,
    total,
    vector,
)
from fsopt.models.gbd.feature_lists import WeightBounds, weight_bounds
from fsopt.models.gbd.svm import add_dual_constraints, bound_terms, new_dual_model
from fsopt.models.spec import Instance, ModelSpec


@with_keywords_of(weight_bounds)
def build_fsp_sub(data: Dataset, *, sigma: ArrayLike | None = None, c: float = 1.0, **bounds: Any) -> pyo.ConcreteModel:
    r"""Return the subproblem of generalized Benders: the SVM on the features that sigma selects.

    .. math::

        F(\sigma) = \min\ & \tfrac12 u'u + C e'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) + \xi_i \ge 1,\quad w_j = \sigma_j u_j,\quad \xi \ge 0 \\
        & \sigma_j l_j \le u_j \le \sigma_j \bar u_j\ \text{for the features with bounds } l_j \le w_j \le \bar u_j

    For binary sigma it has the optimum of (SUB-M), where :math:`u_j` is called :math:`w_j` and has no cost if
    :math:`\sigma_j = 0`. Here sigma stands in p coefficients only, and in the bounds, which can be updated in place. At
    the roots of sigma between 0 and 1, :math:`\sigma_j l_j \le w_j \le \sigma_j \bar u_j`: it is the convex extension
    of F, with bounds too.

    Parameters
    ----------
    data : Features in comparable units; the optimum depends on them.
    sigma : (p,) entries in [0, 1]; ones by default.
    c : > 0, penalty weight of the hinge loss.

    Returns
    -------
    ConcreteModel
        QP with n + p constraints and one for each bound. Variables ``w b u xi``, constraints ``margin selection``, with
        bounds ``above below``, mutable parameters
        ``sigma c``. The classifier is sign(w'x + b), and ``dual[margin[i]]`` is the alpha_i of the Benders cut.

    Raises
    ------
    ParameterError : c <= 0, sigma that is not p numbers in [0, 1], an unknown feature, a bound that excludes 0.

    Notes
    -----
    Aytug, (SUB-M), (5)-(6).
    """
    selected = np.ones(data.p) if sigma is None else vector("fsp-sub", "sigma", sigma, data.p, low=0.0, high=1.0)
    m = new_model("fsp-sub", data)
    add_parameter(m, "c", c, "C, penalty weight of the hinge loss")
    m.sigma = mutable(m.J, selected, "sigma, selection")
    add_classifier(m)
    m.u = pyo.Var(m.J, doc="u, weights before selection")
    add_slacks(m)

    def selection(m: pyo.ConcreteModel, j: int) -> Any:
        return m.w[j] == m.sigma[j] * m.u[j]

    m.objective = pyo.Objective(expr=0.5 * squares(m.u) + hinge_cost(m, data, m.c), doc="(SUB-M) 1/2 u'u + C e'xi")
    add_margins(m, data, "(5)")
    m.selection = pyo.Constraint(m.J, rule=selection, doc="(5) w_j = sigma_j u_j")
    WeightBounds.of("fsp-sub", data, bounds).add_rows(m, m.u, m.sigma, "(5)")
    return m


@with_keywords_of(weight_bounds)
def build_fsp_sub_dual(
    data: Dataset, *, sigma: ArrayLike | None = None, c: float = 1.0, **bounds: Any
) -> pyo.ConcreteModel:
    r"""Return the dual of the subproblem of generalized Benders, whose alpha is the alpha of the cut.

    .. math::

        F(\sigma) = \max\ & e'\alpha - \tfrac12 v'v - \sum_j \sigma_j (u_j r_j - l_j s_j) \\
        \text{s.t.}\ & q_j = \sum_i \alpha_i y_i x_{ij} - r_j + s_j,\quad y'\alpha = 0,\quad 0 \le \alpha \le C,\quad
        r, s \ge 0 \\
        & v_j = \sqrt{\sigma_j}\,q_j

    with the multipliers r and s of the bounds :math:`w_j \le u_j` and :math:`w_j \ge l_j` of a selected feature, where
    there are any. Without bounds the objective is :math:`e'\alpha - \tfrac12 \sum_j \sigma_j q_j^2`, and sigma stands
    in p coefficients only, which can be updated in place. The feasible alpha do not depend on sigma: each gives a lower
    bound on F for every sigma, so F is convex. The cut of alpha has the slopes :math:`-h_j(q_j)` of
    :mod:`fsopt.models.gbd.feature_lists`, without bounds :math:`-q_j^2/2`, for the features that are not selected too.

    Parameters
    ----------
    data : Features in comparable units; the optimum depends on them.
    sigma : (p,) entries in [0, 1]; ones by default.
    c : > 0, penalty weight of the hinge loss.

    Returns
    -------
    ConcreteModel
        QP with 2p + 1 constraints and n + 2p variables, and one more for each bound. Variables ``alpha q v``, with
        bounds ``r s``, constraints ``expansion balance
        selection``, mutable parameters ``sigma c``. In Pyomo's convention of shadow prices ``dual[expansion[j]]`` is
        :math:`w_j = \sigma_j q_j`, the weight after selection, and ``dual[balance]`` is :math:`b`.

    Raises
    ------
    ParameterError : c <= 0, sigma that is not p numbers in [0, 1], an unknown feature, a bound that excludes 0.

    Notes
    -----
    The dual of Aytug, (SUB-M), (5)-(6). For binary sigma it has the optimum of ``fsp-sub``. For sigma between 0 and 1
    it is the dual of (SUB-M) as printed, which equals ``fsp-sub`` at the square roots of sigma.
    """
    selected = np.ones(data.p) if sigma is None else vector("fsp-sub-dual", "sigma", sigma, data.p, low=0.0, high=1.0)
    found = WeightBounds.of("fsp-sub-dual", data, bounds)
    m = new_dual_model("fsp-sub-dual", data, c, found)
    m.sigma = mutable(m.J, selected, "sigma, selection")
    m.v = pyo.Var(m.J, doc="v_j = sqrt(sigma_j) q_j")

    def selection(m: pyo.ConcreteModel, j: int) -> Any:
        return m.v[j] - pyo.sqrt(m.sigma[j]) * m.q[j] == 0

    m.objective = pyo.Objective(
        expr=total(m.alpha) - 0.5 * squares(m.v) - bound_terms(m, found, m.sigma),
        sense=pyo.maximize,
        doc="(SUB-M), dual: e'alpha - 1/2 sum_j sigma_j q_j^2 - sum_j sigma_j (u_j r_j - l_j s_j)",
    )
    add_dual_constraints(m, data, "(5)")
    m.selection = pyo.Constraint(m.J, rule=selection, doc="(5), dual: v_j = sqrt(sigma_j) q_j")
    return m


SPECS = (
    ModelSpec(
        "fsp-sub",
        build_fsp_sub,
        "QP",
        equation="(SUB-M) (5)-(6)",
        instance=Instance(params={"sigma": [1.0, 0.0, 1.0, 0.5]}),
        weights="samples",
    ),
    ModelSpec(
        "fsp-sub-dual",
        build_fsp_sub_dual,
        "QP",
        equation="(SUB-M), dual",
        instance=Instance(params={"sigma": [1.0, 0.0, 1.0, 0.5]}),
        weights="samples",
    ),
)
