r"""Residuals of a point in a compiled program, each relative to the terms of its own constraint, in every unit.

The violation of a linear constraint is divided by its largest term at the point, the violated bound included. Where all
terms are near 0 a relative number says nothing, so the divisor is at least the largest term of the constraint at
continuous variables of the size that :class:`fsopt.compiler.scaling.Scaling` gives them. Integer variables do not
count there: in :math:`w \le Mz` at z = 0 a weight as large as 1e-5 M would else be within the tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import scipy.sparse as sp

from fsopt.answers.certificate import TOLERANCE, Certificate, Kind, gap_allowed, make
from fsopt.compiler import Program
from fsopt.compiler.ordered_sets import outside
from fsopt.compiler.scaling import segment_max
from fsopt.typing import Mask, Vector


def relative_gap(value: float, bound: float) -> float:
    """Return ``|value - bound| / max(1, |value|)``; a bound on the wrong side of the value is an error as well."""
    return abs(value - bound) / max(1.0, abs(value))


def of_bounds(
    kind: Kind, residuals: Mapping[str, float], upper: float, lower: float, *, tolerance: float, source: str
) -> Certificate:
    """Return the certificate of a loop that closes the gap between two bounds, which is one of its residuals.

    Parameters
    ----------
    residuals : of what the bounds rest on.
    tolerance : of the loop, and with it of all residuals, at least 1e-9.
    source : of the lower bound.
    """
    residuals = {**residuals, "gap": relative_gap(upper, lower)}
    allowed = max(gap_allowed(tolerance), 1e-9)
    return make(kind, residuals, tolerance=allowed, objective=upper, bound=lower, bound_source=source)


def primal_residual(program: Program, x: Vector) -> float:
    """Return the largest relative violation of linear constraints, bounds and cones at x (n,)."""
    return max(_linear_residual(program, x), _bound_residual(program, x), _cone_residual(program, x))


def rounding(program: Program, x: Vector) -> float:
    """Return the rounding error of the linear and quadratic objective at x (n,), relative to its value.

    Terms of 1e15 that cancel leave a value that is no number of the model any more.
    """
    terms = np.abs(program.c) @ np.abs(x) + 0.5 * np.abs(x) @ (abs(program.P) @ np.abs(x)) + abs(program.c0)
    return float(np.finfo(float).eps * terms / max(1.0, abs(program.objective_at(x))))


def integrality(program: Program, x: Vector) -> dict[str, float]:
    r"""Return the largest distance of an integer variable from a whole number, and the residual of the rounded point.

    In :math:`w \le Mz` the distance 1e-7 of z allows a weight of 1e-7 M: the point must hold with exact integers. A
    member of a special ordered set that has to be 0 counts in its unit.
    """
    rounded, _ = rounded_point(program, x)
    units = np.where(program.integer, 1.0, program.scaling.columns)
    return {
        "integrality": float((np.abs(x - rounded) / units).max(initial=0.0)),
        "primal at whole numbers": primal_residual(program, rounded),
    }


def rounded_point(program: Program, x: Vector) -> tuple[Vector, Mask]:
    """Return x (n,) with whole integers, and zeros where special ordered sets ask for them; and which these are."""
    zero = outside(program.ordered, np.abs(x) / program.scaling.columns)
    rounded: Vector = np.where(zero, 0.0, np.where(program.integer, np.round(x), x))
    return rounded, zero | program.integer


SMALL_CONE = 1e-2
"""Smallest norm, in the unit of its cone, by which a distance to the cone is divided."""


def _linear_residual(program: Program, x: Vector) -> float:
    """Return the largest violation of a linear constraint, divided by its largest term or by its unit."""
    excess = row_excess(program, x)
    if not excess.any():
        return 0.0
    violated = np.where(program.A @ x < program.lo, program.lo, program.hi)
    terms = np.maximum(largest_term(program.A, x), np.where(np.isfinite(violated), np.abs(violated), 0.0))
    return float((excess / np.maximum(terms, row_units(program))).max(initial=0.0))


def row_units(program: Program) -> Vector:
    """Return the largest term (m,) of each linear constraint at continuous variables of unit size.

    A constraint on integer variables alone has its largest term at all of them, an empty one the unit 1.
    """
    units = program.scaling.columns
    largest = largest_term(program.A, np.where(program.integer, 0.0, units))
    if largest.all():
        return largest
    every = largest_term(program.A, units)
    return np.where(largest > 0.0, largest, np.where(every > 0.0, every, 1.0))


def _bound_residual(program: Program, x: Vector) -> float:
    """Return the largest violation of a bound, divided by the unit of the variable and its size."""
    return float((bound_excess(program, x) / (program.scaling.columns + np.abs(x))).max(initial=0.0))


def _cone_residual(program: Program, x: Vector) -> float:
    r"""Return the largest Euclidean distance to a cone, in its unit and relative to the norm of its rows.

    The violation of :math:`w^2 \le st` would say less: at s = t = 0 a tolerance of 1e-8 on it allows w = 1e-4.
    """
    s = program.scaling.cone @ (program.cones.G @ x + program.cones.h)
    return float((program.cones.distances(s) / np.maximum(SMALL_CONE, block_norms(program, s))).max(initial=0.0))


def row_excess(program: Program, x: Vector) -> Vector:
    """Return the violation (m,) of each linear constraint at x."""
    activity = program.A @ x
    excess: Vector = np.maximum(np.maximum(program.lo - activity, activity - program.hi), 0.0)
    return excess


def bound_excess(program: Program, x: Vector) -> Vector:
    """Return the violation (n,) of the bounds of each variable at x."""
    excess: Vector = np.maximum(np.maximum(program.lb - x, x - program.ub), 0.0)
    return excess


def split_by_bound(multiplier: Vector, low: Vector, high: Vector) -> tuple[float, Vector]:
    """Return the sum of multipliers times their finite bounds, and the size of each multiplier of an infinite bound.

    A positive multiplier belongs to the lower bound, a negative one to the upper bound.
    """
    bound = np.where(multiplier > 0, low, high)
    finite = np.isfinite(bound)
    total = float(multiplier[finite] @ bound[finite])
    return total, np.where(finite, 0.0, np.abs(multiplier))


def relative(absolute: Vector, terms: Callable[[], Vector]) -> float:
    """Return the largest of ``absolute / (1 + terms)``.

    If all entries are far below the tolerance, the result is the largest entry itself: it is an upper bound, and the
    terms, which cost as much as a product with the matrix, are not computed.
    """
    worst = float(absolute.max(initial=0.0))
    if worst <= 0.01 * TOLERANCE:
        return worst
    return float((absolute / (1.0 + terms())).max(initial=0.0))


def largest_term(matrix: sp.csr_matrix, x: Vector) -> Vector:
    """Return the largest absolute term of each row of ``matrix @ x``."""
    return segment_max(np.abs(matrix.data * x[matrix.indices]), matrix.indptr)


def block_norms(program: Program, s: Vector) -> Vector:
    """Return the Euclidean norm of each block of s (k,)."""
    if not len(program.cones):
        return np.zeros(0)
    norms: Vector = np.sqrt(np.add.reduceat(s**2, program.cones.starts[:-1]))
    return norms
