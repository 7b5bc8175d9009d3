r"""Certificates of convex programs: the bound of a dual point, and Farkas vectors.

Multipliers y of the rows, z of the cones and the reduced costs r = Px + c - A'y - G'z give, by Lagrangian duality, the
lower bound

.. math:: -\tfrac12 x'Px + \sum_{y_i > 0} y_i \ell_i + \sum_{y_i < 0} y_i u_i
          + \sum_{r_j > 0} r_j \underline x_j + \sum_{r_j < 0} r_j \overline x_j - h'z + c_0,

provided that z is in the (self-dual) cones and no multiplier belongs to an infinite bound.
"""

from __future__ import annotations

import numpy as np

from fsopt.certificates.certificate import Certificate, Kind, make
from fsopt.certificates.residuals import block_norms, bound_excess, largest_term, relative, row_excess, split_by_bound
from fsopt.compiler import Program
from fsopt.results import Point
from fsopt.typing import Vector


def dual_point(program: Program, point: Point) -> tuple[float, dict[str, float]]:
    """Return the lower bound of the minimisation form from the multipliers of a point, and the residuals behind it.

    ``dual`` is the largest relative violation of dual feasibility. ``cost`` is the sum of all violations, primal and
    dual, each multiplied by its multiplier, relative to the objective value: the change of the objective that they may
    cause. It does not depend on units: a tiny violation with a huge multiplier counts as a large one.

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
    distances = program.cones.distances(units.cone @ (program.cones.G @ x + program.cones.h))
    # A reduced cost on a missing bound, the remainder of stationarity, changes the Lagrangian by its product with x.
    cost = np.abs(y) @ row_excess(program, x)
    cost += np.abs(r) @ bound_excess(program, x)
    cost += norms @ distances
    cost += loose @ np.abs(x)
    return float(bound), {"dual": float(dual), "cost": float(cost) / max(1.0, abs(value))}


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
