"""Model ``svm-dual``: Aytug, the dual of (1)."""

from __future__ import annotations

import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.models.blocks import squares, total
from fsopt.models.gbd.dual import add_dual_constraints, new_dual_model
from fsopt.models.spec import ModelSpec


def build_svm_dual(data: Dataset, *, c: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the dual of the linear support vector machine, whose multipliers are the classifier.

    .. math::

        \max\ & e'\alpha - \tfrac12 q'q \\
        \text{s.t.}\ & q_j = \sum_i \alpha_i y_i x_{ij},\quad y'\alpha = 0,\quad 0 \le \alpha \le C

    With q as variables the Hessian is the identity of order p, not a dense matrix of order n.

    Parameters
    ----------
    data : Dataset
        Features in comparable units; the optimum depends on them.
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.

    Returns
    -------
    ConcreteModel
        QP with p + 1 constraints and n + p variables. Variables ``alpha q``, constraints ``expansion balance``. In
        Pyomo's convention of shadow prices ``dual[expansion[j]]`` is :math:`w_j` and ``dual[balance]`` is :math:`b`.

    Raises
    ------
    ParameterError : c <= 0.

    Notes
    -----
    The dual of Aytug, (1), with the same optimum; Aytug, (3) is its form for separable data.
    """
    m = new_dual_model("svm-dual", data, c)
    m.objective = pyo.Objective(
        expr=total(m.alpha) - 0.5 * squares(m.q), sense=pyo.maximize, doc="(1), dual: e'alpha - 1/2 q'q"
    )
    add_dual_constraints(m, data, "(1)")
    return m


SPEC = ModelSpec("svm-dual", build_svm_dual, "QP", paper="gbd", equation="(1), dual", weights="samples")
