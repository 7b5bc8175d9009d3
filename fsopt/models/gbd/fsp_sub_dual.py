"""Model ``fsp-sub-dual``: Aytug, the dual of (SUB-M)."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import numpy as np
import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import squares, vector
from fsopt.models.gbd.multipliers import add_multipliers
from numpy.typing import ArrayLike
from typing import Any


def build_fsp_sub_dual(data: Dataset, *, sigma: ArrayLike | None = None, c: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the dual of the subproblem of generalized Benders: its alpha is the alpha of the cut.

    .. math::

        F(\sigma) = \max\ e'\alpha - \tfrac12 v'v \quad\text{s.t.}\quad
        q_j = \sum_i \alpha_i y_i x_{ij},\quad v_j = \sqrt{\sigma_j}\,q_j,\quad y'\alpha = 0,\quad 0 \le \alpha \le C

    so the objective is :math:`e'\alpha - \tfrac12 \sum_j \sigma_j q_j^2`, and sigma stays in p coefficients, where an
    update can reach it. The alpha that are feasible do not depend on sigma: each bounds F from below everywhere, and
    F is convex. The cut has the slopes :math:`-q_j^2/2`, with :math:`q_j` of the unselected features too.

    Parameters
    ----------
    sigma : (p,) entries in [0, 1]; ones by default.
    c : > 0, price of a unit of hinge loss.

    Returns
    -------
    ConcreteModel
        QP with 2p + 1 rows and n + 2p columns. Variables ``alpha q v``, constraints ``expansion selection balance``,
        mutable parameter ``sigma``. With shadow prices as Pyomo defines them, ``dual[expansion[j]]`` is
        :math:`w_j = \sigma_j q_j`, the weights after selection, and ``dual[balance]`` is :math:`b`.

    Raises
    ------
    ParameterError : c <= 0, or sigma that is not p numbers in [0, 1].

    Notes
    -----
    Paper 4, the dual of (SUB-M), (5)-(6). It has the value of ``fsp-sub`` for binary sigma; between 0 and 1 it is
    (SUB-M) as printed, which ``fsp-sub`` is at the square roots of sigma.
    """
    chosen = np.ones(data.p) if sigma is None else vector("fsp-sub-dual", "sigma", sigma, data.p, low=0.0, high=1.0)
    m = add_multipliers("fsp-sub-dual", data, c, "(5)")
    m.sigma = pyo.Param(m.J, initialize=dict(enumerate(chosen.tolist())), mutable=True, doc="sigma, selection")
    m.v = pyo.Var(m.J, doc="v_j = sqrt(sigma_j) q_j")

    def selection(m: pyo.ConcreteModel, j: int) -> Any:
        return m.v[j] - pyo.sqrt(m.sigma[j]) * m.q[j] == 0

    m.selection = pyo.Constraint(m.J, rule=selection, doc="(5) v_j = sqrt(sigma_j) q_j")
    m.objective = pyo.Objective(
        expr=pyo.quicksum(m.alpha.values()) - 0.5 * squares(list(m.v.values())),
        sense=pyo.maximize,
        doc="(SUB-M), dual: e'alpha - 1/2 sum_j sigma_j q_j^2",
    )
    return m


SPEC = ModelSpec("fsp-sub-dual", build_fsp_sub_dual, "QP", paper="gbd", equation="(SUB-M), dual", instance=Instance(params={"sigma": [1.0, 0.0, 1.0, 0.5]}))
