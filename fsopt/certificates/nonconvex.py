r"""Certificates of programs that are not known to be convex: feasibility, first-order conditions, claimed bounds.

With general rows :math:`\ell \le g(x) \le u` and their multipliers, the remainder of stationarity is

.. math:: r = \nabla f(x) - A'y_A - \nabla g(x)'y_g - G'z.

What of r, y or z points to a side that does not exist is the residual ``dual``; the sum of every multiplier
times the distance to the side that it prices is the residual ``complementarity``. Both vanish at a
Karush-Kuhn-Tucker point, which is stationary and nothing more.
"""

from __future__ import annotations

import numpy as np

from fsopt.certificates.certificate import Certificate, Kind, make
from fsopt.certificates.residuals import block_norms, largest_term, primal_residual, relative_gap, split_by_bound
from fsopt.compiler import Program
from fsopt.compiler.derivatives import derivatives_of
from fsopt.errors import SolverError
from fsopt.results import Point
from fsopt.typing import Vector

SMALL = 1e-8
"""Slope of a general row, per unit of the columns, below which it counts as this: there a violation is no distance."""


def certify_nonconvex(program: Program, point: Point, *, bound: float | None, source: str) -> Certificate:
    """Certify a point of a program that is not known to be convex.

    Returns
    -------
    Certificate
        Of kind ``global`` (``mixed-integer`` with integers) where a solver claims a bound, ``kkt`` where there are
        multipliers, ``feasible`` otherwise, and ``none`` where a function cannot be evaluated here.
    """
    x = point.x
    linear = primal_residual(program, x)
    try:
        value = minimised(program, x)
    except SolverError as error:
        objective = program.objective_at(x)
        return Certificate(Kind.NONE, False, {"primal": linear}, objective, notes=(f"not checked: {error.message}",))
    residuals = {"primal": max(linear, violation(program, x))}
    objective = program.sign * value
    if program.integer.any():
        residuals["integrality"] = float(np.abs(x - np.round(x))[program.integer].max(initial=0.0))
    if bound is not None:
        residuals["gap"] = relative_gap(value, bound)
        kind = Kind.MIXED_INTEGER if program.integer.any() else Kind.GLOBAL
        return make(kind, residuals, objective=objective, bound=program.sign * bound, bound_source=source)
    rows = program.A.shape[0] + len(program.general)
    if program.integer.any() or point.y is None or point.z is None or len(point.y) != rows:
        return make(Kind.FEASIBLE, residuals, objective=objective)
    return make(Kind.KKT, residuals | _first_order(program, point, value), objective=objective)


def minimised(program: Program, x: Vector) -> float:
    """Return the objective of the minimisation form at x, all its terms included."""
    other = float(derivatives_of(program).values(x)[-1]) if program.objective_terms else 0.0
    return program.sign * program.objective_at(x) + other


def _slopes(program: Program, x: Vector) -> Vector:
    """Return for each general row what a change of one column by its unit, or its size, is worth."""
    J = abs(derivatives_of(program).jacobian(x)[:-1])
    worth = J.multiply(program.scaling.columns + np.abs(x)).tocsr()
    largest: Vector = worth.max(axis=1).toarray().ravel() if worth.shape[0] else np.zeros(0)
    return np.maximum(largest, SMALL)


def violation(program: Program, x: Vector) -> float:
    """Return the largest violation of a general row at x, as a relative distance to first order.

    Where the slope vanishes a small violation is a large distance, as at the apex of a cone written as a quadratic.
    """
    if not program.general:
        return 0.0
    other = derivatives_of(program)
    g = other.values(x)[:-1]
    excess = np.maximum(np.maximum(other.lo - g, g - other.hi), 0.0) / _slopes(program, x)
    return float(np.where(np.isnan(excess), np.inf, excess).max())


def remainder(program: Program, point: Point) -> Vector:
    """Return r (n,): the reduced costs of the columns, for the minimisation form."""
    assert point.y is not None
    assert point.z is not None
    y = point.y
    r: Vector = program.P @ point.x + program.c - program.A.T @ y[: program.A.shape[0]] - program.cones.G.T @ point.z
    if program.general or program.objective_terms:
        J = derivatives_of(program).jacobian(point.x)
        r = r + J.T @ np.append(-y[program.A.shape[0] :], 1.0)
    return r


def _first_order(program: Program, point: Point, value: float) -> dict[str, float]:
    """Return the residuals of the first-order conditions."""
    x, y, z = point.x, point.y, point.z
    assert y is not None
    assert z is not None
    units, other = program.scaling, derivatives_of(program)
    J = other.jacobian(x)
    r = remainder(program, point)
    low, high = np.append(program.lo, other.lo), np.append(program.hi, other.hi)
    activity = np.append(program.A @ x, other.values(x)[:-1])
    _, loose_rows = split_by_bound(y, low, high)
    _, loose = split_by_bound(r, program.lb, program.ub)
    gradient = np.abs(program.P @ x + program.c) + abs(J)[-1].toarray().ravel()
    terms = np.maximum.reduce(
        [
            gradient,
            largest_term(program.A.T.tocsr(), y[: program.A.shape[0]]),
            largest_term(J[:-1].T.tocsr(), y[program.A.shape[0] :]),
            largest_term(program.cones.G.T.tocsr(), z),
        ]
    )
    turned = units.uncone.T @ z
    outside = program.cones.distances(turned) / (1.0 + block_norms(program, turned))
    row_units = np.append(units.rows, 1 / _slopes(program, x))
    dual = max(
        (loose * units.columns / (1.0 + terms * units.columns)).max(initial=0.0),
        (loose_rows / (row_units + np.abs(y))).max(initial=0.0),
        outside.max(initial=0.0),
    )
    products = _priced(y, activity, low, high) + _priced(r, x, program.lb, program.ub)
    products += abs(float(z @ (program.cones.G @ x + program.cones.h)))
    return {"dual": float(dual), "complementarity": products / max(1.0, abs(value))}


def _priced(multiplier: Vector, activity: Vector, low: Vector, high: Vector) -> float:
    """Return the sum of multipliers times the distance to the finite side that each prices."""
    side = np.where(multiplier > 0, low, high)
    finite = np.isfinite(side)
    return float(np.abs(multiplier[finite]) @ np.abs(activity[finite] - side[finite]))
