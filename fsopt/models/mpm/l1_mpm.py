r"""L1-MPM of Yang & Ju, and the constraints that it shares with L0-MPM: worst-case accuracy delta on both classes.

.. math::

    m_1 = w'\mu_1 - b \ge \kappa(\delta)\|F_1w\|, \quad m_1 \ge 1, \qquad
    m_2 = b - w'\mu_2 \ge \kappa(\delta)\|F_2w\|, \quad m_2 \ge 1, \qquad \kappa(\delta) = \sqrt{\delta/(1-\delta)}
"""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo

from fsopt.common.arguments import with_keywords_of
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.models.blocks import add_parameter, add_weight_parts, new_model, one_norm, split_constraint, weight_parts
from fsopt.models.mpm.moments import Moments, add_deviations, deviations_at
from fsopt.models.spec import Instance, ModelSpec
from fsopt.typing import Vector


@with_keywords_of(Moments.of)
def build_l1_mpm(data: Dataset, *, delta: float = 0.5, **options: Any) -> pyo.ConcreteModel:
    r"""Return L1-MPM: the hyperplane of smallest one-norm with worst-case accuracy delta on both classes.

    .. math::

        \min\ & e'(w^+ + w^-) \\
        \text{s.t.}\ & m_1 = w'\mu_1 - b \ge \kappa(\delta)\|F_1w\|, \quad m_1 \ge 1 \\
        & m_2 = b - w'\mu_2 \ge \kappa(\delta)\|F_2w\|, \quad m_2 \ge 1 \\
        & w = w^+ - w^-, \quad w^+, w^- \ge 0

    with the mean :math:`\mu_k` and the covariance :math:`S_k = F_k'F_k` of class k; class 1 is y = +1, and
    :math:`\kappa(\delta) = \sqrt{\delta/(1-\delta)}`.

    Parameters
    ----------
    data : Standardised features if the selection matters; the one-norm depends on their units.
    delta : In (0, 1), the worst-case accuracy; feasible iff it is at most the alpha* of ``mpm``.

    Returns
    -------
    ConcreteModel
        SOCP, two cones. Variables ``w w_plus w_minus b m1 m2 u1 t1 u2 t2``, constraints ``spread1 deviation1 spread2
        deviation2 split mean1 mean2 accuracy1 accuracy2``, mutable parameter ``delta``. The hyperplane is w'x = b: the
        classifier is sign(w'x - b).

    Raises
    ------
    ParameterError : delta outside (0, 1), ridge < 0, or unbiased with a class of one sample. The builder does not
        check that delta is feasible; the method does.

    Notes
    -----
    Yang & Ju, (12)-(15), with the accuracies in the form (22)-(23).
    """
    moments = Moments.of(data, **options)
    m = new_worst_case_model("l1-mpm", data)
    m.objective = pyo.Objective(expr=one_norm(m), doc="(12) ||w||_1")
    add_worst_case(m, moments, delta, ("(13)", "(14)", "(23)", "(12)"))
    return m


def new_worst_case_model(name: str, data: Dataset) -> pyo.ConcreteModel:
    """Return a model with w, its parts w+ and w-, b, and the distances m_1 and m_2 of the means."""
    m = new_model(name, data)
    m.w = pyo.Var(m.J, doc="w = w+ - w-, weights")
    add_weight_parts(m)
    m.b = pyo.Var(doc="b, the hyperplane is w'x = b")
    m.m1 = pyo.Var(bounds=(1, None), doc="m_1 = w'mu_1 - b, at least 1")
    m.m2 = pyo.Var(bounds=(1, None), doc="m_2 = b - w'mu_2, at least 1")
    return m


def add_worst_case(m: pyo.ConcreteModel, moments: Moments, delta: Any, equations: tuple[str, str, str, str]) -> None:
    """Add ``spread deviation split mean accuracy`` by the equations of the accuracies, the means and the split."""
    add_parameter(m, "delta", delta, "delta, worst-case accuracy")
    deviations = pyo.sqrt(m.delta / (1 - m.delta))
    first, second, means, split = equations
    add_deviations(m, moments, (first, second))
    weights = tuple(m.w.values())
    m.split = split_constraint(m, split)
    m.mean1 = pyo.Constraint(expr=dot(moments.mean1, weights) - m.b - m.m1 == 0, doc=f"{means} m_1 = w'mu_1 - b")
    m.mean2 = pyo.Constraint(expr=m.b - dot(moments.mean2, weights) - m.m2 == 0, doc=f"{means} m_2 = b - w'mu_2")
    m.accuracy1 = pyo.Constraint(expr=m.m1 - deviations * m.t1 >= 0, doc=f"{first} m_1 >= kappa ||F_1 w||")
    m.accuracy2 = pyo.Constraint(expr=m.m2 - deviations * m.t2 >= 0, doc=f"{second} m_2 >= kappa ||F_2 w||")


def complete_worst_case(
    data: Dataset, w: Vector, b: float, *, unbiased: bool = False, ridge: float = 0.0, **_: Any
) -> dict[str, Any]:
    """Return the variables of L1-MPM and L0-MPM, whose hyperplane is w'x = b, at w'x + b = 0."""
    moments = Moments.of(data, unbiased=unbiased, ridge=ridge)
    means = {"m1": moments.mean1 @ w + b, "m2": -b - moments.mean2 @ w}
    return {**deviations_at(data, w, unbiased=unbiased, ridge=ridge), **weight_parts(w), **means, "b": -b}


SPEC = ModelSpec(
    "l1-mpm",
    build_l1_mpm,
    "SOCP",
    equation="(12)-(15)",
    instance=Instance(p=8, params={"delta": 0.6}),
    complete=complete_worst_case,
)
