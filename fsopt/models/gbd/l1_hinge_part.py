"""Model ``l1-hinge-part``: Aytug, a restricted master problem of (ONSVM) for column and constraint generation."""

from __future__ import annotations

from fsopt.models.spec import Instance, ModelSpec

import numpy as np
import pyomo.environ as pyo
from fsopt.compiler import dot
from fsopt.data import Dataset
from fsopt.errors import ParameterError
from fsopt.models.blocks import new_model, number, vector
from numpy.typing import ArrayLike
from typing import Any


def build_l1_hinge_part(
    data: Dataset,
    *,
    row_costs: ArrayLike | None = None,
    column_costs: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    center: ArrayLike | None = None,
    radius: float | None = None,
) -> pyo.ConcreteModel:
    r"""Return the dual of an l1-hinge program on some rows and columns, in a box around a plane.

    .. math::

        \max\ e'\alpha - \sum_j \left((\bar w_j + \Delta) r_j - (\bar w_j - \Delta) s_j\right) \quad\text{s.t.}\quad
        & -c_j \le h_j + \sum_i \alpha_i y_i x_{ij} - r_j + s_j \le c_j, \\
        & h_0 + \sum_i \alpha_i y_i - r_0 + s_0 = 0, \qquad 0 \le \alpha \le d,\ r, s \ge 0

    the sum over the columns and 0, with :math:`\bar w_0 = \bar b`. It is the dual of
    :math:`\min c'|w| + \sum_i d_i \max(0, 1 - y_i(w'x_i + b)) - h'w - h_0 b` over :math:`|w - \bar w| \le \Delta,
    |b - \bar b| \le \Delta`. The multipliers of other rows are fixed at 0 or at their cost, which makes the hinge of
    such a row linear; h is what they add to the sums.

    Parameters
    ----------
    data : the rows and columns.
    row_costs : (n,) d >= 0; ones by default.
    column_costs : (p,) c >= 0; ones by default.
    offset : (p + 1,) h of the columns, then h_0; zeros by default.
    center, radius : (p + 1,) middle (w, b) of the box, and its Delta > 0; without them there is no box and no r, s,
        and the program may then be infeasible unless h = 0.

    Returns
    -------
    ConcreteModel
        LP with p + 1 rows. Variables ``alpha`` (and ``r s``), constraints ``columns balance``.
        ``dual[columns[j]]`` is w_j and ``dual[balance]`` is b.

    Raises
    ------
    ParameterError : a vector of the wrong length, negative costs, radius <= 0, a center without radius or a radius
        without center.

    Notes
    -----
    Paper 4, problem (ONSVM): with unit costs c, d = C and neither offset nor box it is its dual. The problems of
    paper 3 are of this form too.
    """
    name = "l1-hinge-part"
    d = vector(name, "row_costs", np.ones(data.n) if row_costs is None else row_costs, data.n, low=0.0)
    c = vector(name, "column_costs", np.ones(data.p) if column_costs is None else column_costs, data.p, low=0.0)
    h = vector(name, "offset", np.zeros(data.p + 1) if offset is None else offset, data.p + 1)
    if (center is None) != (radius is None):
        raise ParameterError(f"'{name}' takes a center and a radius together", "give both or neither")
    m = new_model(name, data)
    m.alpha = pyo.Var(m.I, bounds=lambda _, i: (0.0, float(d[i])), doc="alpha, multipliers of the margins")
    multipliers, forms = tuple(m.alpha.values()), np.vstack([(data.X * data.y[:, None]).T, data.y])
    value: Any = dot(np.ones(data.n), multipliers)
    outside = [0.0] * (data.p + 1)
    if radius is not None:
        delta = number(name, "radius", radius, low=0.0, strict=True)
        middle = vector(name, "center", [] if center is None else center, data.p + 1)
        m.r = pyo.Var(range(data.p + 1), within=pyo.NonNegativeReals, doc="r, prices of the upper sides of the box")
        m.s = pyo.Var(range(data.p + 1), within=pyo.NonNegativeReals, doc="s, prices of the lower sides of the box")
        value = value - dot(middle + delta, tuple(m.r.values())) + dot(middle - delta, tuple(m.s.values()))
        outside = [m.r[j] - m.s[j] for j in m.r]

    def columns(m: pyo.ConcreteModel, j: int) -> Any:
        return -c[j] - h[j], dot(forms[j], multipliers) - outside[j], c[j] - h[j]

    m.columns = pyo.Constraint(m.J, rule=columns, doc="(ONSVM) dual: |sum_i alpha_i y_i x_ij + h_j - r_j + s_j| <= c_j")
    m.balance = pyo.Constraint(
        expr=dot(data.y, multipliers) - outside[-1] == -h[-1], doc="(ONSVM) dual: y'alpha + h_0 - r_0 + s_0 = 0"
    )
    m.objective = pyo.Objective(
        expr=value, sense=pyo.maximize, doc="(ONSVM) dual: e'alpha, less what the sides of the box are worth"
    )
    return m


SPEC = ModelSpec("l1-hinge-part", build_l1_hinge_part, "LP", paper="gbd", equation="(ONSVM), part", instance=Instance(
            params={
                "column_costs": [1.0, 0.0, 0.5, 2.0],
                "offset": [0.5, -1.0, 0.0, 0.25, -0.5],
                "center": [0.5, 0.5, 0.0, 0.0, 0.125],
                "radius": 0.25,
            }
        ))
