r"""The certificate of a convex program: an interval [L, f] that contains its optimum.

f is the value of a point that meets every constraint (:mod:`fsopt.certificates.points`), L the bound of multipliers
(:mod:`fsopt.certificates.bounds`). Neither depends on units, scales, loose bounds or noise in the data. The answer is
optimal where :math:`|f - L| \le 10^{-6} \max(u, |f|)`, with the unit u of the objective, which is 1 unless the model
declares another one: the one absolute number of a certificate.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fsopt.answers.certificate import FEASIBLE, REMAINDER, TOLERANCE, Certificate, Kind, make, merged
from fsopt.answers.results import Point
from fsopt.certificates import arithmetic
from fsopt.certificates.bounds import Bound, Box, lower_bound
from fsopt.certificates.points import infeasibility, judged_point, minimised, ratio, rounding, row_violations, symmetric
from fsopt.certificates.propagation import ranges
from fsopt.compiler import Program
from fsopt.typing import Mask, Vector


def at_point(program: Program, x: Vector) -> dict[str, float]:
    """Return the residuals of a point x (n,) alone.

    Its infeasibility, the rounding error of its value, and what bounds and integers, which the point that is judged
    meets exactly, change of its value and of the rows, relative to their terms.
    """
    judged = judged_point(program, x)
    value = minimised(program, judged)
    return {
        "infeasibility": np.inf if drowned(program, judged) else infeasibility(program, judged),
        "rounding": rounding(program, judged),
        "bounds": max(gap(program, value, minimised(program, x)), _row_change(program, judged, x)),
    }


def _row_change(program: Program, judged: Vector, x: Vector) -> float:
    """Return the largest change of a row from a point x (n,) to the one that is judged, relative to its terms."""
    if np.array_equal(judged, x):
        return 0.0
    change = abs(program.A) @ np.abs(judged - x)
    return float(ratio(change, row_violations(program, judged)[1] + change).max(initial=0.0))


def gap(program: Program, value: float, bound: float) -> float:
    """Return the distance of a value from a bound, relative to the value or the unit of the objective."""
    return abs(value - bound) / max(program.unit, abs(value), 1e-300)


def best_bound(program: Program, pair: Point, value: float, known: dict[float, Box] | None = None) -> Bound:
    """Return the lower bound that the multipliers of a pair prove of the points with at most a value.

    Ranges of the variables are propagated only where the bound without them does not meet the value.

    Parameters
    ----------
    known : ranges for values, which several pairs of the same program share.

    Raises
    ------
    ParameterError : the pair has no multipliers.
    """
    own = Point(judged_point(program, pair.x), *pair.multipliers)
    found = lower_bound(program, own)
    if (gap(program, value, found.value) <= TOLERANCE and found.rigorous > -np.inf) or not np.isfinite(value):
        return found
    known = {} if known is None else known
    if value not in known:
        known[value] = ranges(program, value)
    other = lower_bound(program, own, known[value])
    better = other.value > found.value or (other.value == found.value and other.rigorous > found.rigorous)
    return other if better or not np.isfinite(found.value) else found


def certify_convex(program: Program, x: Vector, pair: Point | None, source: str) -> Certificate:
    """Return the certificate of a point x (n,) of a convex program by the multipliers of a pair.

    Parameters
    ----------
    pair : None, or one without multipliers: the certificate is that of a feasible point.
    source : of the bound.
    """
    residuals, x = at_point(program, x), judged_point(program, x)
    value = minimised(program, x)
    objective = program.sign * value
    if pair is None or pair.y is None or pair.z is None:
        return make(Kind.FEASIBLE, residuals, objective=objective)
    found = best_bound(program, pair, value)
    residuals = merged(residuals, {"remainder": found.remainder, "gap": gap(program, value, found.value)})
    notes: tuple[str, ...] = ()
    if found.rigorous < found.value - TOLERANCE * max(program.unit, abs(value)):
        notes = (f"numerically: without remainders the bound is {program.sign * found.rigorous:.9g}",)
    bound = program.sign * found.value
    return make(Kind.CONVEX, residuals, objective=objective, bound=bound, bound_source=source, notes=notes)


def proves(found: Certificate) -> bool:
    """Return whether the bound of a certificate is one, whatever its gap."""
    return found.bound is not None and np.isfinite(found.bound) and found.residuals.get("remainder", 0.0) <= REMAINDER


def drowned(program: Program, x: Vector) -> bool:
    """Return whether a right-hand side drowns at x (n,), which meets every row relative to its terms."""
    violation, terms = row_violations(program, x)
    side = np.where(program.A @ x < program.lo, program.lo, program.hi)
    size = np.where(np.isfinite(side), np.abs(side), 0.0)
    doubtful = (size > 0.0) & (violation > FEASIBLE * size) & (FEASIBLE * terms > size)
    if not doubtful.any():
        return False
    doubtful &= ~(abs(program.A) @ _held(program, x) > 0)
    if not doubtful.any():
        return False
    return bool((ratio(terms, _least_terms(program, x, terms, side) + size)[doubtful] > 1.0 / FEASIBLE).any())


def _held(program: Program, x: Vector) -> Mask:
    """Return the variables (n,) that rows and cones connect with a term of the objective."""
    rows = sp.csr_matrix(sp.vstack([program.A, program.cones.G]) != 0).astype(float)
    held: Mask = (program.c != 0.0) | (arithmetic.product(symmetric(program), np.ones(len(x))).terms > 0.0)
    if program.objective_terms or program.general:
        return np.ones(program.n, dtype=bool)
    while True:
        more = held | (rows.T @ (rows @ held > 0).astype(float) > 0)
        if np.array_equal(more, held):
            return held
        held = more


def _least_terms(program: Program, x: Vector, terms: Vector, side: Vector) -> Vector:
    """Return the sums of terms (m,) at the least norm, in units of x, that meets the active rows and bounds."""
    from scipy.sparse.linalg import lsmr

    activity = program.A @ x
    away = np.minimum(np.abs(activity - program.lo), np.abs(activity - program.hi))
    active = np.flatnonzero(ratio(away, terms) < FEASIBLE)
    fixed = ((x == program.lb) | (x == program.ub)) & (x != 0.0)
    rows, right = 1.0 / terms[active], side[active] - program.A[active] @ np.where(fixed, x, 0.0)
    unit = np.where(fixed, 0.0, np.abs(x))
    matrix = sp.diags(rows) @ program.A[active] @ sp.diags(unit)
    least = unit * lsmr(matrix, rows * right, atol=1e-15, btol=1e-15)[0]
    return arithmetic.product(program.A, np.where(fixed, x, least)).terms
