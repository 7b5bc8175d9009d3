r"""The certificate of a convex program: an interval [L, f] that contains its optimum.

f is the value of a point that meets every constraint (:mod:`fsopt.certificates.points`), L the bound of multipliers
(:mod:`fsopt.certificates.bounds`). Neither depends on units, scales, loose bounds or noise in the data. The answer is
optimal where :math:`|f - L| \le 10^{-6} \max(u, |f|)`, with the unit u of the objective, which is 1 unless the model
declares another one: the one absolute number of a certificate.
"""

from __future__ import annotations

import numpy as np

from fsopt.answers.certificate import REMAINDER, TOLERANCE, Certificate, Kind, make
from fsopt.answers.residuals import merged
from fsopt.answers.results import Point
from fsopt.certificates.bounds import Bound, Box, lower_bound
from fsopt.certificates.cancellation import drowned
from fsopt.certificates.points import infeasibility, judged_point, minimised, ratio, rounding, row_violations
from fsopt.certificates.propagation import ranges
from fsopt.compiler import Program
from fsopt.typing import Vector


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
