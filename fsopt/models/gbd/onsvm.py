"""The one-norm support vector machine, Aytug, (ONSVM), and its restricted master problem."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from fsopt.common.arguments import with_keywords_of
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.data.matrices import divided
from fsopt.errors import ParameterError
from fsopt.models.blocks import (
    add_classifier,
    add_margins,
    add_parameter,
    add_slacks,
    add_weight_parts,
    hinge_cost,
    hinge_point,
    new_model,
    number,
    one_norm,
    row_form,
    signed_features,
    split_constraint,
    vector,
    weight_parts,
)
from fsopt.models.gbd.feature_lists import WeightBounds, weight_bounds
from fsopt.models.spec import Instance, ModelSpec
from fsopt.typing import Vector


@with_keywords_of(weight_bounds)
def build_onsvm(data: Dataset, *, c: float = 1.0, **bounds: Any) -> pyo.ConcreteModel:
    r"""Return the one-norm support vector machine, a linear program.

    .. math::

        \min\ & e'(w^+ + w^-) + C e'\xi \\
        \text{s.t.}\ & y_i(w'x_i + b) + \xi_i \ge 1,\quad w = w^+ - w^-, \quad w^+, w^-, \xi \ge 0, \quad l \le w \le u

    The paper calls the parts of the weights p and q.

    Parameters
    ----------
    data : Features in comparable units; the optimum depends on them.
    c : > 0, penalty weight of the hinge loss.

    Returns
    -------
    ConcreteModel
        LP with n + p constraints. Variables ``w b w_plus w_minus xi``, constraints ``margin split``, mutable parameter
        ``c``. The classifier is sign(w'x + b).

    Raises
    ------
    ParameterError : c <= 0, an unknown feature, a bound that excludes the weight 0.

    Notes
    -----
    Aytug, (ONSVM), which is also the l1-SVM of Peleg & Meir.
    """
    m = new_model("onsvm", data)
    add_parameter(m, "c", c, "C, penalty weight of the hinge loss")
    add_classifier(m)
    WeightBounds.of("onsvm", data, bounds).add_to(m.w)
    add_weight_parts(m)
    add_slacks(m)
    m.objective = pyo.Objective(expr=one_norm(m) + hinge_cost(m, data, m.c), doc="(ONSVM) e'(w+ + w-) + C e'xi")
    add_margins(m, data, "(ONSVM)")
    m.split = split_constraint(m, "(ONSVM)")
    return m


def build_l1_hinge_part(
    data: Dataset,
    *,
    row_costs: ArrayLike | None = None,
    column_costs: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    center: ArrayLike | None = None,
    radius: float | None = None,
) -> pyo.ConcreteModel:
    r"""Return the dual of an l1-hinge program on some samples and features, in a box around a hyperplane.

    .. math::

        \max\ & e'\alpha - \sum_j \left((\bar w_j + \Delta) r_j - (\bar w_j - \Delta) s_j\right) \\
        \text{s.t.}\ & -c_j \le h_j + \sum_i \alpha_i y_i x_{ij} - r_j + s_j \le c_j, \\
        & h_0 + \sum_i \alpha_i y_i - r_0 + s_0 = 0, \qquad 0 \le \alpha \le d,\ r, s \ge 0

    with the sum over the features and j = 0, where :math:`\bar w_0 = \bar b`. It is the dual of
    :math:`\min c'|w| + \sum_i d_i \max(0, 1 - y_i(w'x_i + b)) - h'w - h_0 b` over :math:`|w - \bar w| \le \Delta,
    |b - \bar b| \le \Delta`. The multipliers of the other samples are fixed at 0 or at their penalty weight, which
    makes the hinge loss of such a sample linear; h is their contribution to the sums.

    Parameters
    ----------
    data : The samples and features of this part.
    row_costs : (n,) d >= 0, penalty weights of the hinge loss of the samples; ones by default.
    column_costs : (p,) c >= 0, penalty weights of the features in the one-norm; ones by default.
    offset : (p + 1,) h of the features, then h_0; zeros by default.
    center, radius : (p + 1,) center (w, b) of the box, and its Delta > 0. Without them there is no box and no r, s, and
        the program may be infeasible unless h = 0.

    Returns
    -------
    ConcreteModel
        LP with p + 1 constraints. Variables ``alpha`` (and ``r s``), constraints ``columns balance``.
        ``dual[columns[j]]`` is w_j and ``dual[balance]`` is b.

    Raises
    ------
    ParameterError : a vector of the wrong length, negative penalty weights, radius <= 0, a center without radius or a
        radius without center.

    Notes
    -----
    With c = e, d = C e and neither offset nor box it is the dual of Aytug, (ONSVM). The linear programs of Mangasarian
    have this form too.
    """
    name = "l1-hinge-part"
    d = vector(name, "row_costs", np.ones(data.n) if row_costs is None else row_costs, data.n, low=0.0)
    c = vector(name, "column_costs", np.ones(data.p) if column_costs is None else column_costs, data.p, low=0.0)
    h = vector(name, "offset", np.zeros(data.p + 1) if offset is None else offset, data.p + 1)
    if (center is None) != (radius is None):
        raise ParameterError(f"'{name}' takes a center and a radius together", "give both or neither")
    m = new_model(name, data, sparse=True)
    m.alpha = pyo.Var(m.I, bounds=lambda _, i: (0.0, float(d[i])), doc="alpha, multipliers of the margins")
    alphas = tuple(m.alpha.values())
    signed = divided(data.X, np.ones(data.p), data.y).T.tocsr() if data.sparse else signed_features(data)
    objective: Any = dot(np.ones(data.n), alphas)
    net = [0.0] * (data.p + 1)
    if center is not None:
        at, delta = vector(name, "center", center, data.p + 1), number(name, "radius", radius, inside="(0, inf)")
        for box, side in (("r", "upper"), ("s", "lower")):
            found = pyo.Var(
                range(data.p + 1),
                within=pyo.NonNegativeReals,
                doc=f"{box}, multipliers of the {side} bounds of the box",
            )
            m.add_component(box, found)
        objective -= dot(at + delta, tuple(m.r.values())) - dot(at - delta, tuple(m.s.values()))
        net = [m.r[j] - m.s[j] for j in m.r]

    def columns(m: pyo.ConcreteModel, j: int) -> Any:
        return -c[j] - h[j], row_form(signed, j, alphas) - net[j], c[j] - h[j]

    m.objective = pyo.Objective(
        expr=objective, sense=pyo.maximize, doc="(ONSVM), dual: e'alpha, minus the terms of the box"
    )
    m.columns = pyo.Constraint(
        m.J, rule=columns, doc="(ONSVM), dual: |sum_i alpha_i y_i x_ij + h_j - r_j + s_j| <= c_j"
    )
    m.balance = pyo.Constraint(
        expr=dot(data.y, alphas) - net[-1] == -h[-1], doc="(ONSVM), dual: y'alpha + h_0 - r_0 + s_0 = 0"
    )
    return m


def complete_onsvm(data: Dataset, w: Vector, b: float, **_: Any) -> dict[str, Any]:
    """Return the variables of ``onsvm`` at a hyperplane."""
    return {**hinge_point(data, w, b), **weight_parts(w)}


SPECS = (
    ModelSpec("onsvm", build_onsvm, "LP", equation="(ONSVM)", weights="samples", complete=complete_onsvm),
    ModelSpec(
        "l1-hinge-part",
        build_l1_hinge_part,
        "LP",
        equation="(ONSVM), part",
        instance=Instance(
            params={
                "column_costs": [1.0, 0.0, 0.5, 2.0],
                "offset": [0.5, -1.0, 0.0, 0.25, -0.5],
                "center": [0.5, 0.5, 0.0, 0.0, 0.125],
                "radius": 0.25,
            }
        ),
    ),
)
