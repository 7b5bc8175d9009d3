"""Certificates of convex programs: the bound of a dual point, and Farkas vectors."""

from __future__ import annotations

import numpy as np

from fsopt.certificates.certificate import Certificate, Kind, make
from fsopt.certificates.residuals import block_norms, bound_excess, largest_term, relative, row_excess, split_by_bound
from fsopt.compiler import Program
from fsopt.results import Point
from fsopt.typing import Vector


def dual_point(program: Program, point: Point) -> tuple[float, dict[str, float]]:
    """Return the lower bound that the multipliers give (minimisation form) and the residuals behind it.

    ``dual`` is the largest relative violation of dual feasibility; ``cost`` is what all violations together,
    primal and dual, are worth in the objective at the multipliers' prices. The second does not depend on
    units at all: a tiny violation at a huge price is a large one.
    """
    x, y, z = point.x, point.y, point.z
    assert y is not None
    assert z is not None
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
    outside = program.cones.distances(turned) / (1.0 + block_norms(program, turned))
    dual = max(
        relative(loose * units.columns, terms),
        (loose_rows / (units.rows + np.abs(y))).max(initial=0.0),
        outside.max(initial=0.0),
    )
    bound = -0.5 * float(x @ quadratic) + rows + columns - float(program.cones.h @ z) + program.c0
    value = program.sign * program.objective_at(x)
    distances = program.cones.distances(units.cone @ (program.cones.G @ x + program.cones.h))
    price = (
        np.abs(y) @ row_excess(program, x)
        + np.abs(r) @ bound_excess(program, x)
        + block_norms(program, units.uncone.T @ z) @ distances
        + loose @ np.abs(x)
    )
    return float(bound), {"dual": float(dual), "cost": float(price) / max(1.0, abs(value))}


def farkas(program: Program, ray: Point) -> Certificate:
    """Certify infeasibility: ``A'y + G'z + r = 0`` over the bounds with a positive value of the bounds."""
    assert ray.y is not None
    assert ray.z is not None
    y, z, units = ray.y, ray.z, program.scaling
    best = Certificate(Kind.INFEASIBLE, False, {"farkas": np.inf})
    for sign in (1.0, -1.0):
        size = max(np.abs(y).max(initial=0.0), np.abs(z).max(initial=0.0))
        if size == 0:
            break
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
