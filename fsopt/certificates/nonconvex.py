r"""Certificates of programs that are not known to be convex: feasibility, first-order conditions, bounds of solvers.

With general constraints :math:`\ell \le g(x) \le u` and multipliers :math:`y_A, y_g, z` of linear constraints, general
constraints and cones, the reduced costs are

.. math:: r = \nabla f(x) - A'y_A - \nabla g(x)'y_g - G'z.

A multiplier in y or r is positive at a lower bound and negative at an upper bound. The residual ``dual`` measures the
multipliers of infinite bounds, and the distance of z to the cones. The residual ``complementarity`` is the sum of each
multiplier times the distance of its constraint to its bound. Both vanish at a Karush-Kuhn-Tucker point. Such a point is
stationary; it need not be a minimum.
"""

from __future__ import annotations

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.results import Point
from fsopt.certificates.repairs import minimised, repair_cost, slopes, violation
from fsopt.certificates.residuals import (
    block_norms,
    integrality,
    largest_term,
    primal_residual,
    relative_gap,
    split_by_bound,
)
from fsopt.compiler import Program
from fsopt.compiler.derivatives import derivatives_of
from fsopt.errors import SolverError
from fsopt.typing import Vector


def certify_nonconvex(program: Program, point: Point, *, bound: float | None, source: str) -> Certificate:
    """Return the certificate of a point of a program that is not known to be convex.

    Parameters
    ----------
    bound : lower bound of the minimisation form that a solver reported; None without one.
    source : name of the solver.

    Returns
    -------
    Certificate
        Of kind ``global`` (``mixed-integer`` with integer variables) with a bound, ``kkt`` with multipliers,
        ``feasible`` otherwise, and ``none`` if fsopt cannot evaluate a function of the program.
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
    if program.discrete:
        residuals |= integrality(program, x)
    if bound is not None:
        residuals["gap"] = relative_gap(value, bound)
        residuals["cost"] = repair_cost(program, x) / max(1.0, abs(value))
        kind = Kind.MIXED_INTEGER if program.discrete else Kind.GLOBAL
        return make(kind, residuals, objective=objective, bound=program.sign * bound, bound_source=source)
    rows = program.A.shape[0] + len(program.general)
    if program.discrete or point.y is None or point.z is None or len(point.y) != rows:
        return make(Kind.FEASIBLE, residuals, objective=objective)
    return make(Kind.KKT, residuals | _first_order(program, point, value), objective=objective)


def reduced_costs(program: Program, point: Point) -> Vector:
    """Return the reduced costs r (n,) of the minimisation form; raises ParameterError without multipliers."""
    y, z = point.multipliers
    m = program.A.shape[0]
    r: Vector = program.P @ point.x + program.c - program.A.T @ y[:m] - program.cones.G.T @ z
    if program.general or program.objective_terms:
        J = derivatives_of(program).jacobian(point.x)
        r = r + J.T @ np.append(-y[m:], 1.0)
    return r


def _first_order(program: Program, point: Point, value: float) -> dict[str, float]:
    """Return the residuals of the first-order conditions at a point with objective value ``value``."""
    x = point.x
    y, z = point.multipliers
    units, other = program.scaling, derivatives_of(program)
    r = reduced_costs(program, point)
    low, high = np.append(program.lo, other.lo), np.append(program.hi, other.hi)
    activity = np.append(program.A @ x, other.values(x)[:-1])
    _, loose_rows = split_by_bound(y, low, high)
    _, loose = split_by_bound(r, program.lb, program.ub)
    # The rounding of r is relative to the largest term of its sum, so r is compared with 1 plus this term.
    terms = _largest_terms(program, point) * units.columns
    turned = units.uncone.T @ z
    outside = program.cones.distances(turned) / (1.0 + block_norms(program, turned))
    row_units = np.append(units.rows, 1 / slopes(program, x))
    dual = max(
        (loose * units.columns / (1.0 + terms)).max(initial=0.0),
        (loose_rows / (row_units + np.abs(y))).max(initial=0.0),
        outside.max(initial=0.0),
    )
    products = _complementarity(y, activity, low, high) + _complementarity(r, x, program.lb, program.ub)
    products += abs(float(z @ (program.cones.G @ x + program.cones.h)))
    return {"dual": float(dual), "complementarity": products / max(1.0, abs(value))}


def _largest_terms(program: Program, point: Point) -> Vector:
    """Return the size (n,) of the largest term in the sum of each reduced cost."""
    y, z = point.multipliers
    m = program.A.shape[0]
    J = derivatives_of(program).jacobian(point.x)
    gradient = np.abs(program.P @ point.x + program.c) + abs(J)[-1].toarray().ravel()
    largest: Vector = np.maximum.reduce(
        [
            gradient,
            largest_term(program.A.T.tocsr(), y[:m]),
            largest_term(J[:-1].T.tocsr(), y[m:]),
            largest_term(program.cones.G.T.tocsr(), z),
        ]
    )
    return largest


def _complementarity(multiplier: Vector, activity: Vector, low: Vector, high: Vector) -> float:
    """Return the sum of the sizes of multipliers times the distances of the activities to their finite bounds."""
    bound = np.where(multiplier > 0, low, high)
    finite = np.isfinite(bound)
    return float(np.abs(multiplier[finite]) @ np.abs(activity[finite] - bound[finite]))
