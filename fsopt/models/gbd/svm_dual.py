"""Model ``svm-dual``: Aytug, the dual of (1)."""

from __future__ import annotations

from fsopt.models.spec import ModelSpec

import pyomo.environ as pyo
from fsopt.data import Dataset
from fsopt.models.blocks import squares
from fsopt.models.gbd.multipliers import add_multipliers


def build_svm_dual(data: Dataset, *, c: float = 1.0) -> pyo.ConcreteModel:
    r"""Return the dual of the linear support vector machine, whose multipliers are the classifier.

    .. math::

        \max\ e'\alpha - \tfrac12 q'q \quad\text{s.t.}\quad q_j = \sum_i \alpha_i y_i x_{ij},\quad
        y'\alpha = 0,\quad 0 \le \alpha \le C

    With q as variables the Hessian is the identity of order p, not a dense matrix of order n.

    Parameters
    ----------
    c : > 0, price of a unit of hinge loss.

    Returns
    -------
    ConcreteModel
        QP with p + 1 rows and n + p columns. Variables ``alpha q``, constraints ``expansion balance``. With shadow
        prices as Pyomo defines them, ``dual[expansion[j]]`` is :math:`w_j` and ``dual[balance]`` is :math:`b`.

    Raises
    ------
    ParameterError : c <= 0.

    Notes
    -----
    Paper 4, the dual of problem (1), with the same value. The paper's (3) is its form for separable data.
    """
    m = add_multipliers("svm-dual", data, c, "(1)")
    m.objective = pyo.Objective(
        expr=pyo.quicksum(m.alpha.values()) - 0.5 * squares(list(m.q.values())),
        sense=pyo.maximize,
        doc="(1) e'alpha - 1/2 q'q",
    )
    return m


SPEC = ModelSpec("svm-dual", build_svm_dual, "QP", paper="gbd", equation="(1), dual")
