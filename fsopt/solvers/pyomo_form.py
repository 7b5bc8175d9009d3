"""The form of :mod:`fsopt.solvers.nlp` as a Pyomo model, for solvers that are called through Pyomo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr.numeric_expr import LinearExpression
from pyomo.core.expr.visitor import replace_expressions

from fsopt.compiler import Program
from fsopt.solvers.interface import optional
from fsopt.solvers.nlp import NonlinearForm
from fsopt.typing import Vector

WHOLE = 1e-9
"""Distance from a whole number, and from 0, that counts as rounding."""


def pyomo_model(form: NonlinearForm, start: Vector, *, factor: float = 1.0, smooth: bool = True) -> pyo.ConcreteModel:
    """Return the form as a Pyomo model with variables ``v`` and constraints ``rows``, in the order of the form.

    Parameters
    ----------
    form : of a program; its integer variables stay integer.
    start : (size,) values of the variables.
    factor : of the objective.
    smooth : whether a cone is ``||t||^2 / s_1 - s_1 <= 0``, smooth where an interior method goes; else it is
        ``||t||^2 - s_1^2 <= 0``, the form in which solvers for quadratic constraints recognise a cone.

    Returns
    -------
    ConcreteModel
        With a suffix ``dual`` for a program without integers. An inequality that always holds follows the rows where
        Ipopt needs it.
    """
    m = pyo.ConcreteModel()
    m.v = pyo.Var(range(form.size))
    for j in np.flatnonzero(form.program.integer).tolist():
        m.v[j].domain = pyo.Integers
    lower, upper = (optional(bounds) for bounds in whole_bounds(form))
    for j, variable in m.v.items():
        variable.setlb(lower[j])
        variable.setub(upper[j])
        variable.set_value(float(start[j]), skip_validation=True)
    v = list(m.v.values())
    bodies = _linear(form, v) + _cones(form, v, smooth) + _general(form, v)
    low, high = optional(form.low), optional(form.high)
    # Writers of files refuse constraints without a variable, and Pyomo those without a bound.
    rows = [i for i, body in enumerate(bodies) if body.nargs() and (low[i], high[i]) != (None, None)]
    m.rows = pyo.Constraint(rows, rule=lambda m, i: (low[i], bodies[i], high[i]))
    if smooth:
        _keep_free(m, form)
    m.objective = pyo.Objective(expr=_objective(form, v, factor))
    if not form.program.integer.any():  # some interfaces fail where they are asked for what there is not
        m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def whole_bounds(form: NonlinearForm) -> tuple[Vector, Vector]:
    """Return the bounds of the variables, those of integer ones as whole numbers: GLPK refuses others."""
    integer = np.flatnonzero(form.program.integer)
    lower, upper = form.lower.copy(), form.upper.copy()
    lower[integer] = np.ceil(lower[integer] - WHOLE)
    upper[integer] = np.floor(upper[integer] + WHOLE)
    return lower, upper


def impossible(form: NonlinearForm) -> bool:
    """Return whether a variable has no value between its bounds, or a constraint without variables does not hold."""
    p = form.program
    lower, upper = whole_bounds(form)
    empty = np.asarray(abs(p.A).sum(axis=1)).ravel() == 0.0
    missed = empty & ((p.lo > WHOLE) | (p.hi < -WHOLE))
    return bool(np.any(lower > upper) or np.any(p.lo > p.hi) or missed.any())


def _linear(form: NonlinearForm, v: list[Any]) -> list[Any]:
    """Return the bodies of the linear constraints and of the links between x and s, without their zeros."""
    product, bodies = form.product, []
    for first, last in zip(product.indptr[:-1], product.indptr[1:], strict=True):
        kept = first + np.flatnonzero(product.data[first:last])
        terms = [v[j] for j in product.indices[kept].tolist()]
        bodies.append(LinearExpression(linear_coefs=product.data[kept].tolist(), linear_vars=terms))
    return bodies


def _cones(form: NonlinearForm, v: list[Any], smooth: bool) -> list[Any]:
    """Return ``||tail||^2 / head - head`` of every cone, or ``||tail||^2 - head^2``."""
    starts = form.n + form.program.cones.starts.astype(int)
    blocks = [v[first:last] for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)]
    squares = [(head, pyo.quicksum(a**2 for a in tail)) for head, *tail in blocks]
    return [square / head - head if smooth else square - head**2 for head, square in squares]


def _general(form: NonlinearForm, v: list[Any]) -> list[Any]:
    """Return the bodies of the general constraints without their constants, which are in the bounds."""
    p = form.program
    x = [d * a for d, a in zip(form.D.tolist(), v, strict=False)]
    bodies = []
    for row in p.general:
        body = pyo.quicksum(c * x[j] for j, c in row.terms.affine(p.column).items())
        body += pyo.quicksum(c * x[i] * x[j] for i, j, c in row.terms.quadratic)
        bodies.append(body + _replaced(row.terms.nonlinear, p, x))
    return bodies


def _replaced(terms: list[tuple[float, Any]], program: Program, x: list[Any]) -> Any:
    """Return the sum of scaled nodes of the user's model, with the expressions x in the place of its variables."""
    columns = {identity: x[j] for identity, j in program.column.items()}
    return pyo.quicksum(scale * replace_expressions(node, columns) for scale, node in terms)


def _objective(form: NonlinearForm, v: list[Any], factor: float) -> Any:
    p, lower = form.program, form.lower_P
    x = [d * a for d, a in zip(form.D.tolist(), v, strict=False)]
    linear = pyo.quicksum(c * a for c, a in zip((factor * form.q).tolist(), v, strict=False) if c)
    entries = zip(lower.row.tolist(), lower.col.tolist(), (factor * lower.data).tolist(), strict=True)
    quadratic = pyo.quicksum((0.5 if i == j else 1.0) * c * v[i] * v[j] for i, j, c in entries)
    return linear + quadratic + factor * p.sign * _replaced(p.objective_terms, p, x)


def _keep_free(m: pyo.ConcreteModel, form: NonlinearForm) -> None:
    """Add variables in [0, 1] where there are as many equations as variables: Ipopt refuses such a program."""
    # A variable that occurs nowhere is not written to the file: the new ones stand in an inequality that always holds.
    used = np.unique(form.jacobianstructure()[1])
    moving = np.count_nonzero(form.lower[used] < form.upper[used])
    spare = int(np.count_nonzero(form.low == form.high) - moving) + 1
    if spare > 0:
        m.spare = pyo.Var(range(spare), bounds=(0, 1), initialize=0.5)
        m.keep = pyo.Constraint(expr=pyo.quicksum(m.spare.values()) <= spare + 1)
