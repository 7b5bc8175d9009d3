r"""Certificates of convex programs: the bound of a dual point, and Farkas vectors.

Multipliers y of the rows, z of the cones and the reduced costs r = Px + c - A'y - G'z give, by Lagrangian duality, the
lower bound

.. math:: -\tfrac12 x'Px + \sum_{y_i > 0} y_i \ell_i + \sum_{y_i < 0} y_i u_i
          + \sum_{r_j > 0} r_j \underline x_j + \sum_{r_j < 0} r_j \overline x_j - h'z + c_0,

provided that z is in the (self-dual) cones and no multiplier belongs to an infinite bound.
"""

from __future__ import annotations

import numpy as np

from fsopt.answers.certificate import Certificate, Kind, make
from fsopt.answers.results import Point
from fsopt.certificates.residuals import block_norms, bound_excess, largest_term, relative, row_excess, split_by_bound
from fsopt.compiler import Program
from fsopt.typing import Vector


def dual_point(program: Program, point: Point) -> tuple[float, dict[str, float]]:
    """Return the lower bound of the minimisation form from the multipliers of a point, and the residuals behind it.

    ``dual`` is the largest relative violation of dual feasibility. ``cost`` is the sum of all violations, primal and
    dual, each multiplied by its multiplier, relative to the objective value: the change of the objective that they may
    cause. It does not depend on units: a tiny violation with a huge multiplier counts as a large one. The bound has
    paid for the dual ones.

    Raises
    ------
    ParameterError : the point has no multipliers.
    """
    x = point.x
    y, z = point.multipliers
    units = program.scaling
    quadratic = program.P @ x
    r = quadratic + program.c - program.A.T @ y - program.cones.G.T @ z
    rows, loose_rows = split_by_bound(y, program.lo, program.hi)
    columns, loose = split_by_bound(r, program.lb, program.ub)

    def terms() -> Vector:
        linear = np.maximum(largest_term(program.A.T.tocsr(), y), largest_term(program.cones.G.T.tocsr(), z))
        largest: Vector = np.maximum(linear, np.maximum(np.abs(program.c), np.abs(quadratic))) * units.columns
        return largest

    turned = units.uncone.T @ z
    norms = block_norms(program, turned)
    outside = program.cones.distances(turned) / (1.0 + norms)
    dual = max(
        relative(loose * units.columns, terms),
        (loose_rows / (units.rows + np.abs(y))).max(initial=0.0),
        outside.max(initial=0.0),
    )
    bound = -0.5 * float(x @ quadratic) + rows + columns - float(program.cones.h @ z) + program.c0
    value = program.sign * program.objective_at(x)
    s = units.cone @ (program.cones.G @ x + program.cones.h)
    # A multiplier of a missing bound, such as the remainder of stationarity, changes the Lagrangian by its product
    # with x; one outside its cone by at most the product of its distance with the norm of s.
    owed = float(loose @ np.abs(x) + loose_rows @ np.abs(program.A @ x))
    owed += float(program.cones.distances(turned) @ block_norms(program, s))
    cost = primal_cost(program, x, Point(x, y, z)) + owed
    return float(bound) - owed, {"dual": float(dual), "cost": cost / max(1.0, abs(value))}


def primal_cost(program: Program, x: Vector, dual: Point) -> float:
    """Return the sum of all violations at x (n,), each times its multiplier in a dual point.

    It bounds, to first order, the decrease of the objective below the optimum that the violations allow.
    """
    y, z = dual.multipliers
    r = program.P @ dual.x + program.c - program.A.T @ y - program.cones.G.T @ z
    distances = program.cones.distances(program.scaling.cone @ (program.cones.G @ x + program.cones.h))
    cost = np.abs(y) @ row_excess(program, x) + np.abs(r) @ bound_excess(program, x)
    return float(cost + block_norms(program, program.scaling.uncone.T @ z) @ distances)


def farkas(program: Program, ray: Point) -> Certificate:
    """Return the certificate of infeasibility of multipliers y, z, with z in the (self-dual) cones.

    With r = -A'y - G'z every feasible x satisfies 0 = y'Ax + z'Gx + r'x. The right-hand side is at least the value of
    the multipliers at the bounds of rows and columns minus h'z. A positive value is a contradiction. The residual is
    the largest violation by the multipliers, divided by this value.

    Raises
    ------
    ParameterError : the ray has no multipliers.
    """
    y, z = ray.multipliers
    units = program.scaling
    best = Certificate(Kind.INFEASIBLE, False, {"farkas": np.inf})
    size = max(np.abs(y).max(initial=0.0), np.abs(z).max(initial=0.0))
    if size == 0:
        return best
    for sign in (1.0, -1.0):  # Solvers differ in the sign of the multipliers of rows in a ray.
        v, t = sign * y / size, z / size
        r = -(program.A.T @ v) - program.cones.G.T @ t
        rows, loose_rows = split_by_bound(v, program.lo, program.hi)
        columns, loose = split_by_bound(r, program.lb, program.ub)
        value = rows + columns - float(program.cones.h @ t)
        leftover = max(
            (loose_rows / units.rows).max(initial=0.0),
            (loose * units.columns).max(initial=0.0),
            program.cones.distances(units.uncone.T @ t).max(initial=0.0),
        )
        residual = leftover / value if value > 0 else np.inf
        if residual < best.worst:
            best = make(Kind.INFEASIBLE, {"farkas": float(residual)}, notes=(f"margin {value:.3g}",))
    return best


def recession(program: Program, direction: Vector) -> Certificate:
    """Return the certificate of a direction d (n,) along which the objective falls and no constraint is ever violated.

    The residual is the largest violation of Pd = 0 and of the recession cones of rows, bounds and cones, in the units
    of :class:`fsopt.compiler.scaling.Scaling`, divided by the descent -c'd. With a feasible point it proves that the
    program is unbounded.
    """
    units = program.scaling
    size = float(np.abs(direction / units.columns).max(initial=0.0))
    fall = -float(program.c @ direction)
    if not size > 0.0 or not fall > 0.0:
        return Certificate(Kind.UNBOUNDED, False, {"ray": np.inf})
    d = direction / size
    rows = (program.A @ d) * units.rows
    leftover = max(
        float(np.abs((program.P @ d) * units.columns).max(initial=0.0)),
        _outside(rows, program.lo, program.hi),
        _outside(d / units.columns, program.lb, program.ub),
        float(program.cones.distances(units.cone @ (program.cones.G @ d)).max(initial=0.0)),
    )
    scale = float(np.abs(program.c * units.columns).max(initial=0.0))
    return make(Kind.UNBOUNDED, {"ray": leftover * scale * size / fall})


def _outside(change: Vector, low: Vector, high: Vector) -> float:
    """Return the largest change towards a finite bound."""
    below = np.where(np.isfinite(low), np.maximum(-change, 0.0), 0.0)
    above = np.where(np.isfinite(high), np.maximum(change, 0.0), 0.0)
    return float(max(below.max(initial=0.0), above.max(initial=0.0)))
