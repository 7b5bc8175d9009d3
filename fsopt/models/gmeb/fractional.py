"""Lemma 23 of Peleg & Meir: a convex function over a linear one, as a convex program in perspectives."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
from pyomo.repn import generate_standard_repn

from fsopt.errors import ParameterError


def fractional_to_convex(model: pyo.ConcreteModel, denominator: Any) -> pyo.ConcreteModel:
    r"""Return the convex program (28) that is equivalent to a fractional one (27).

    .. math::

        \text{(27)}\ \min\ \frac{f_0(x)}{c'x + d}\ \text{s.t.}\ f_i(x) \le 0 \qquad\longrightarrow\qquad
        \text{(28)}\ \min\ g_0(y, t)\ \text{s.t.}\ g_i(y, t) \le 0,\ c'y + dt = 1,\ t \ge 0

    with the perspective :math:`g_i(y, t) = t f_i(y/t)`. That of a linear function is linear; that of a quadratic
    one, :math:`x'Qx + a'x + \beta`, is :math:`z + a'y + \beta t` with :math:`y'Qy \le z t`, a rotated cone where Q is
    diagonal.

    Parameters
    ----------
    model : the program of :math:`f_0` with its constraints; all of these linear or quadratic, one objective, continuous
        variables. It is left as it is.
    denominator : :math:`c'x + d`, a linear expression of its variables, positive at the optimum.

    Returns
    -------
    ConcreteModel
        Variables ``y`` (in the order of the model's variables, whose names are in ``names``), ``t`` and ``z``;
        constraints ``rows``, ``cones``, ``bounds`` and ``normalisation``. Its solution gives x = y / t, and t > 0 where
        (27) has a minimiser: t = 0 at an optimum says that it has none.

    Raises
    ------
    ParameterError : a term that is neither linear nor quadratic, an integer variable, or a maximisation.

    Notes
    -----
    Peleg & Meir, Lemma 23, (27) and (28); Theorem 20 is the case of (18) and (19).
    """
    objectives = list(model.component_data_objects(pyo.Objective, active=True))
    if len(objectives) != 1 or objectives[0].sense != pyo.minimize:
        raise ParameterError("Lemma 23 is for one objective that is minimised", "state it so")
    found = _Perspective(model)
    out = found.out
    below = found.of(denominator)
    out.normalisation = pyo.Constraint(expr=below == 1, doc="(28) c'y + d t = 1")
    out.objective = pyo.Objective(expr=found.of(objectives[0].expr), doc="(28) g_0(y, t)")
    for data in model.component_data_objects(pyo.Constraint, active=True):
        for limit, sign in ((data.upper, 1.0), (data.lower, -1.0)):
            if limit is not None:
                out.rows.add(found.of(sign * (data.body - pyo.value(limit))) <= 0)
    for j, variable in enumerate(found.variables):
        lower, upper = variable.bounds
        if lower is not None:
            out.bounds.add(out.y[j] - lower * out.t >= 0)
        if upper is not None:
            out.bounds.add(out.y[j] - upper * out.t <= 0)
    return out


class _Perspective:
    """The model of (28) as it grows, and the places of the variables of (27) in it."""

    def __init__(self, model: pyo.ConcreteModel) -> None:
        self.variables = [v for v in model.component_data_objects(pyo.Var) if not v.fixed]
        if any(not v.is_continuous() for v in self.variables):
            raise ParameterError("Lemma 23 is for continuous variables", "relax the integers first")
        self.place = {id(v): j for j, v in enumerate(self.variables)}
        self.out = out = pyo.ConcreteModel(name=f"{model.name} (28)")
        out.names = [v.name for v in self.variables]
        out.y = pyo.Var(range(len(self.variables)), doc="y = t x")
        out.t = pyo.Var(within=pyo.NonNegativeReals, doc="t = 1 / (c'x + d)")
        out.z = pyo.VarList(within=pyo.NonNegativeReals, doc="z >= y'Qy / t")
        out.cones = pyo.ConstraintList(doc="(28) y'Qy <= z t")
        out.rows = pyo.ConstraintList(doc="(28) g_i(y, t) <= 0")
        out.bounds = pyo.ConstraintList(doc="(28) bounds of x, times t")

    def of(self, expression: Any) -> Any:
        """Return the perspective of a linear or convex quadratic expression."""
        repn = generate_standard_repn(expression, quadratic=True)
        if repn.nonlinear_expr is not None:
            raise ParameterError("Lemma 23 is implemented for linear and quadratic functions", "use cones for norms")
        out, y = self.out, self.out.y
        linear = pyo.quicksum(
            c * y[self.place[id(v)]] for c, v in zip(repn.linear_coefs, repn.linear_vars, strict=True)
        )
        result = linear + repn.constant * out.t
        if repn.quadratic_vars:
            square = pyo.quicksum(
                c * y[self.place[id(u)]] * y[self.place[id(v)]]
                for c, (u, v) in zip(repn.quadratic_coefs, repn.quadratic_vars, strict=True)
            )
            z = out.z.add()
            out.cones.add(square <= z * out.t)
            result += z
        return result
