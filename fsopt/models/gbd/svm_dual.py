"""Model ``svm-dual``: Aytug, the dual of (1)."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import multiplier_bounds, new_model, number, signed_features, squares, total
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


def new_dual_model(name: str, data: Dataset, c: float) -> pyo.ConcreteModel:
    """Return a model with the multipliers alpha in [0, C] (I) and q = X'Y alpha (J)."""
    c = number(name, "c", c)
    m = new_model(name, data)
    m.alpha = pyo.Var(m.I, bounds=multiplier_bounds(data, c), doc="alpha, multipliers of the margins")
    m.q = pyo.Var(m.J, doc="q_j = sum_i alpha_i y_i x_ij")
    return m


def add_dual_constraints(m: pyo.ConcreteModel, data: Dataset, equation: str) -> None:
    """Add ``expansion`` (J), whose multipliers are w, and ``balance``, whose multiplier is b."""
    alphas, signed = tuple(m.alpha.values()), signed_features(data)

    def expansion(m: pyo.ConcreteModel, j: int) -> Any:
        return dot(signed[j], alphas) - m.q[j] == 0

    m.expansion = pyo.Constraint(m.J, rule=expansion, doc=f"{equation}, dual: q = X'Y alpha; its multiplier is w")
    m.balance = pyo.Constraint(expr=dot(data.y, alphas) == 0, doc=f"{equation}, dual: y'alpha = 0; its multiplier is b")


SPEC = ModelSpec("svm-dual", build_svm_dual, "QP", paper="gbd", equation="(1), dual", weights="samples")
