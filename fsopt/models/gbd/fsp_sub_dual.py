"""Model ``fsp-sub-dual``: Aytug, the dual of (SUB-M)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.common.docstrings import with_keywords_of
from fsopt.data import Dataset
from fsopt.models.blocks import mutable, squares, total, vector
from fsopt.models.gbd.feature_lists import weight_bounds
from fsopt.models.gbd.svm_dual import add_dual_constraints, bound_terms, new_dual_model
from fsopt.models.gbd.weight_bounds import WeightBounds
from fsopt.models.spec import Instance, ModelSpec


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
    :mod:`fsopt.models.gbd.weight_bounds`, without bounds :math:`-q_j^2/2`, for the features that are not selected too.

    Parameters
    ----------
    data : Dataset
        Features in comparable units; the optimum depends on them.
    sigma : array, optional
        (p,) entries in [0, 1]; ones by default.
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.

    Returns
    -------
    ConcreteModel
        QP with 2p + 1 constraints and n + 2p variables, and one more for each bound. Variables ``alpha q v``, with
        bounds ``r s``, constraints ``expansion balance
        selection``, mutable parameter ``sigma``. In Pyomo's convention of shadow prices ``dual[expansion[j]]`` is
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


SPEC = ModelSpec(
    "fsp-sub-dual",
    build_fsp_sub_dual,
    "QP",
    paper="gbd",
    equation="(SUB-M), dual",
    instance=Instance(params={"sigma": [1.0, 0.0, 1.0, 0.5]}),
    weights="samples",
)
