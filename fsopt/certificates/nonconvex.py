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
import scipy.sparse as sp

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.results import Point
from fsopt.certificates.residuals import (
    block_norms,
    integrality,
    largest_term,
    primal_residual,
    relative_gap,
    row_excess,
    split_by_bound,
)
from fsopt.compiler import Program
from fsopt.compiler.derivatives import derivatives_of
from fsopt.errors import SolverError
from fsopt.typing import Vector

SMALL = 1e-8
"""Lower bound of the slope of a general constraint, by which its violation is divided, see :func:`violation`."""


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
    if program.integer.any():
        residuals |= integrality(program, x)
    if bound is not None:
        residuals["gap"] = relative_gap(value, bound)
        residuals["cost"] = max(minimised(program, repaired(program, x)) - value, 0.0) / max(1.0, abs(value))
        kind = Kind.MIXED_INTEGER if program.integer.any() else Kind.GLOBAL
        return make(kind, residuals, objective=objective, bound=program.sign * bound, bound_source=source)
    rows = program.A.shape[0] + len(program.general)
    if program.integer.any() or point.y is None or point.z is None or len(point.y) != rows:
        return make(Kind.FEASIBLE, residuals, objective=objective)
    return make(Kind.KKT, residuals | _first_order(program, point, value), objective=objective)


def minimised(program: Program, x: Vector) -> float:
    """Return the objective value of the minimisation form at x, with all terms."""
    other = float(derivatives_of(program).values(x)[-1]) if program.objective_terms else 0.0
    return program.sign * program.objective_at(x) + other


def _slopes(program: Program, x: Vector) -> Vector:
    """Return for each general constraint its largest change, to first order, by a change of one variable.

    The change of a variable is its unit plus its absolute value.
    """
    J = abs(derivatives_of(program).jacobian(x)[:-1])
    change = J.multiply(program.scaling.columns + np.abs(x)).tocsr()
    largest: Vector = change.max(axis=1).toarray().ravel() if change.shape[0] else np.zeros(0)
    return np.maximum(largest, SMALL)


def violation(program: Program, x: Vector) -> float:
    """Return the largest violation of a general constraint at x, as a relative distance to first order.

    A violation e of g(x) <= u is repaired, to first order, by a relative change e / slope of one variable, whatever the
    units of g. Near a point with slope 0, the apex of a cone written as a quadratic constraint for example, a small
    violation is a large distance. The slope is at least :data:`SMALL`, as the quotient means nothing at slope 0.
    """
    if not program.general:
        return 0.0
    other = derivatives_of(program)
    g = other.values(x)[:-1]
    excess = np.maximum(np.maximum(other.lo - g, g - other.hi), 0.0) / _slopes(program, x)
    return float(np.where(np.isnan(excess), np.inf, excess).max())


def repaired(program: Program, x: Vector) -> Vector:
    r"""Return x (n,) after the repair of each violated linear constraint or cone by one variable in it.

    A violation that is small in the units of the program may be all of a constraint whose terms are smaller still, and
    no multipliers tell its cost. The variable is the one whose change, to first order at x plus one unit, costs most:
    in :math:`\min RW` the gradient vanishes at R = W = 0, the place where both constraints may be violated. A cone is
    repaired by its head :math:`s_0`.
    """
    short = np.where(program.A @ x < program.lo, 1.0, -1.0) * row_excess(program, x)
    heads = sp.csr_matrix(program.cones.G[program.cones.starts[:-1]])
    short = np.append(short, program.cones.distances(program.cones.G @ x + program.cones.h))
    violated = np.flatnonzero(short)
    if not len(violated):
        return x
    rows = sp.vstack([program.A, heads]).tocsr()[violated].tocoo()
    kept = (rows.data != 0.0) & ~program.integer[rows.col]
    i, j = rows.row[kept], rows.col[kept]
    change = short[violated][i] / rows.data[kept]
    price = change * _gradient(program, x + program.scaling.columns)[j]
    order = np.argsort(price)
    last = np.full(len(violated), -1)
    last[i[order]] = order  # the dearest change of each constraint is written last
    dearest = last[last >= 0]
    chosen = dearest[price[dearest] > 0.0]
    # One change of a variable repairs all constraints that chose it in the same direction.
    up, down = np.zeros_like(x), np.zeros_like(x)
    np.maximum.at(up, j[chosen], change[chosen])
    np.minimum.at(down, j[chosen], change[chosen])
    repair: Vector = x + up + down
    return repair


def _gradient(program: Program, x: Vector) -> Vector:
    """Return the gradient (n,) of the minimisation form at x."""
    gradient: Vector = program.P @ x + program.c
    if program.objective_terms:
        gradient = gradient + derivatives_of(program).jacobian(x)[-1].toarray().ravel()
    return gradient


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
    row_units = np.append(units.rows, 1 / _slopes(program, x))
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
