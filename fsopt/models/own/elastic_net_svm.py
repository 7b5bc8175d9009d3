"""Model ``elastic-net-svm``: the doubly regularised support vector machine of Wang, Zhu & Zou."""

from __future__ import annotations

import pyomo.environ as pyo

from fsopt.data import Dataset
from fsopt.models.blocks import (
    add_classifier,
    add_margins,
    add_slacks,
    add_weight_parts,
    hinge_cost,
    new_model,
    number,
    one_norm,
    split_constraint,
    squares,
)
from fsopt.models.spec import ModelSpec


def build_elastic_net_svm(data: Dataset, *, c: float = 1.0, l1_ratio: float = 0.5) -> pyo.ConcreteModel:
    r"""Return the support vector machine with the elastic net as penalty, a convex quadratic program.

    .. math::

        \min\ & \rho\, e'(w^+ + w^-) + \tfrac{1 - \rho}{2}\, w'w + C e'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) + \xi_i \ge 1,\quad w = w^+ - w^-, \quad w^+, w^-, \xi \ge 0

    The 1-norm makes weights 0; the squares give features that are correlated similar weights, where the 1-norm alone
    takes one of them. With :math:`\rho = 1` it is ``onsvm``, with :math:`\rho = 0` it is ``svm``.

    Parameters
    ----------
    data : Dataset
        Features in comparable units; the optimum depends on them.
    c : float, default 1.0
        > 0, penalty weight of the hinge loss.
    l1_ratio : float, default 0.5
        In [0, 1], the share rho of the 1-norm in the penalty.

    Returns
    -------
    ConcreteModel
        QP with n + p constraints. Variables ``w b w_plus w_minus xi``, constraints ``margin split``. The classifier is
        sign(w'x + b).

    Raises
    ------
    ParameterError : c <= 0, or l1_ratio outside [0, 1].

    Notes
    -----
    Wang, Zhu & Zou, *The doubly regularized support vector machine*, Statistica Sinica 16 (2006), with lambda_1 =
    rho / C and lambda_2 = (1 - rho) / C.
    """
    c = number("elastic-net-svm", "c", c)
    rho = number("elastic-net-svm", "l1_ratio", l1_ratio)
    m = new_model("elastic-net-svm", data)
    add_classifier(m)
    add_weight_parts(m)
    add_slacks(m)
    m.objective = pyo.Objective(
        expr=rho * one_norm(m) + 0.5 * (1 - rho) * squares(m.w) + hinge_cost(m, data, c),
        doc="(DRSVM) rho e'(w+ + w-) + (1 - rho)/2 w'w + C e'xi",
    )
    add_margins(m, data, "(DRSVM)")
    m.split = split_constraint(m, "(DRSVM)")
    return m


SPEC = ModelSpec("elastic-net-svm", build_elastic_net_svm, "QP", equation="Wang, Zhu & Zou", weights="samples")
