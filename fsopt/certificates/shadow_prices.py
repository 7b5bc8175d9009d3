r"""Shadow prices of other software as multipliers of the arrays.

The shadow price d objective / d right-hand side of a linear constraint is its multiplier. The shadow price
:math:`\lambda` of a quadratic constraint :math:`q(x) = f(\|t\|^2 - s_0^2) \le 0` with :math:`(s_0, t) = Gx + h` is the
multiplier :math:`z = 2\lambda f(-s_0, t)` of its cone, which needs :math:`s_0 > 0`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.results import Point
from fsopt.certificates.bounds import cleaned, lower_bound
from fsopt.compiler import Program
from fsopt.errors import ParameterError
from fsopt.typing import Vector

APEX = 1e-9
"""A cone whose head is below this has no multiplier by a shadow price of its quadratic constraint."""


def priced(program: Program) -> list[Any]:
    """Return the constraints with shadow prices: linear ones, general ones and those of cones."""
    return [*program.constraints, *(row.constraint for row in program.general), *program.cones.constraints]


def point_of_prices(program: Program, x: Vector, prices: Vector) -> Point | None:
    """Return the primal-dual point at x (n,) of the shadow prices of :func:`priced`; None where they say too little.

    Programs differ in the sign of shadow prices: that is taken which leaves more of them where their sides are, and of
    two that leave as much the one with the better dual bound.
    """
    candidates = [found for sign in (1.0, -1.0) if (found := _point(program, x, sign * prices)) is not None]
    if not candidates or not program.convex:
        return candidates[0] if candidates else None
    return max(candidates, key=lambda point: (_kept(program, point), lower_bound(program, point).value))


def _kept(program: Program, point: Point) -> float:
    """Return the share of the multipliers that have the signs of their sides, to six digits."""
    own, left = (np.abs(np.concatenate(pair)).sum() for pair in (point.multipliers, cleaned(program, point)))
    return round(float(left / own), 6) if own else 1.0


def _point(program: Program, x: Vector, prices: Vector) -> Point | None:
    cones, count = program.cones, len(prices) - len(program.cones)
    if cones.orders.any() or not np.all(np.isfinite(prices)):
        return None
    s = cones.G @ x + cones.h
    z = np.zeros(len(cones.h))
    for k, price in enumerate(program.sign * cones.sense * prices[count:]):
        part = slice(cones.starts[k], cones.starts[k + 1])
        if s[part][0] < APEX and price != 0.0:
            return None
        z[part] = 2.0 * price * cones.scale[k] * s[part]
        z[part.start] *= -1.0
    return Point(x, program.sign * prices[:count], z)


def loaded_point(program: Program) -> Point:
    """Return the values in a model, with the multipliers of its suffix ``dual`` where that has one of each constraint.

    ParameterError where a variable has no value.
    """
    used = (program.c != 0) | (np.diff(program.A.tocsc().indptr) > 0) | (np.diff(program.cones.G.tocsc().indptr) > 0)
    used |= bool(program.general) | (np.diff(program.P.indptr) > 0)
    missing = next((v for v, occurs in zip(program.variables, used, strict=True) if occurs and v.value is None), None)
    if missing is not None:
        raise ParameterError(f"the variable '{missing.name}' has no value", "solve the model, or give a result")
    x = program.values()
    dual = program.model.component("dual")
    constraints = priced(program)
    if not isinstance(dual, pyo.Suffix) or program.integer.any() or not all(c in dual for c in constraints):
        return Point(x)
    found = point_of_prices(program, x, np.array([dual[c] for c in constraints], dtype=float))
    return Point(x) if found is None else found
