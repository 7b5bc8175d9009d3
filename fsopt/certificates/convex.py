r"""The certificate of a convex program: an interval [L, f] that contains its optimum.

f is the value of a point that meets every constraint (:mod:`fsopt.certificates.points`), L the bound of multipliers
(:mod:`fsopt.certificates.bounds`). Neither depends on units, scales, loose bounds or noise in the data. The answer is
optimal where :math:`|f - L| \le 10^{-6} \max(u, |f|)`, with the unit u of the objective, which is 1 unless the model
declares another one: the one absolute number of a certificate.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.linalg import norm

from fsopt.answers.certificate import FEASIBLE, REMAINDER, TOLERANCE, Certificate, Kind, make, merged
from fsopt.answers.results import Point
from fsopt.certificates.arithmetic import UNIT
from fsopt.certificates.bounds import Bound, Box, lower_bound, ranges
from fsopt.certificates.near import tangents
from fsopt.certificates.points import infeasibility, judged_point, minimised, ratio, rounded, row_violations
from fsopt.compiler import Program
from fsopt.compiler.derivatives import derivatives_of
from fsopt.typing import Mask, Vector

ROUNDING = 8.0 * UNIT
"""Violation of a constraint, relative to its terms, up to which the numbers of a point are rounded."""
SOLVED = 8.0 * ROUNDING
"""What equations miss that are solved in floating point, relative to their terms."""
PASSES = 8
"""Systems of equations that are solved for a change of a point that meets every row."""
FEW = 10_000
"""Entries up to which it is solved by numpy alone, and no package is loaded for it."""
LARGE = 4_000_000
"""Entries of a system of equations from which it is solved by iterations."""
SPARSE = 16
"""Entries of a system of equations for each that is not zero, from which it has sparse factors."""
FACTORED = 1e-8
"""What a solution by sparse factors misses, relative to the right-hand side, where they hold; a pass corrects it."""


def at_point(program: Program, x: Vector) -> dict[str, float]:
    """Return the residuals of a point x (n,) alone.

    Its infeasibility, the rounding error of its value, and what bounds and integers, which the point that is judged
    meets exactly, change of its value and of the rows, relative to their terms.
    """
    judged = judged_point(program, x)
    value, error = rounded(program, judged)
    drowned = _missed(program, judged)[-1].any() and correction(program, judged) is None
    change = abs(program.A) @ np.abs(judged - x)
    rows = ratio(change, row_violations(program, judged)[1] + change)
    return {
        "infeasibility": np.inf if drowned else infeasibility(program, judged),
        "rounding": error,
        "bounds": max(gap(program, value, minimised(program, x)), float(rows.max(initial=0.0))),
    }


def gap(program: Program, value: float, bound: float) -> float:
    """Return the distance of a value from a bound, relative to the value or the unit of the objective."""
    return abs(value - bound) / max(program.unit, abs(value), 1e-300)


def best_bound(program: Program, pair: Point, value: float, known: dict[float, Box] | None = None) -> Bound:
    """Return the lower bound that the multipliers of a pair prove of the points with at most a value.

    Ranges of the variables are propagated only where the bound without them does not meet the value, and are ``known``
    to further pairs of the same program.
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
    """Return the certificate of a point x (n,) of a convex program by a pair; without multipliers it is feasible."""
    residuals, x = at_point(program, x), judged_point(program, x)
    value = minimised(program, x)
    objective = program.sign * value
    if pair is None or pair.y is None or pair.z is None:
        return make(Kind.FEASIBLE, residuals, objective=objective)
    found = best_bound(program, pair, value)
    residuals = merged(residuals, {"remainder": found.remainder, "gap": open_gap(program, x, value, found.value)})
    notes: tuple[str, ...] = ()
    if found.rigorous < found.value - TOLERANCE * max(program.unit, abs(value)):
        notes = (f"numerically: without remainders the bound is {program.sign * found.rigorous:.9g}",)
    bound = program.sign * found.value
    return make(Kind.CONVEX, residuals, objective=objective, bound=bound, bound_source=source, notes=notes)


def proves(found: Certificate) -> bool:
    """Return whether the bound of a certificate is one, whatever its gap."""
    return found.bound is not None and np.isfinite(found.bound) and found.residuals.get("remainder", 0.0) <= REMAINDER


def open_gap(program: Program, x: Vector, value: float, bound: float) -> float:
    """Return the gap of a bound and what the value at x (n,) is an upper end for: with the price of what x misses."""
    found = gap(program, value, bound)
    return found if found > TOLERANCE else found + price(program, x) / max(program.unit, abs(value), 1e-300)


def price(program: Program, x: Vector) -> float:
    """Return by how much the optimum may exceed the value at a point x (n,) that misses constraints.

    That is what the change costs which meets them; infinite where none is found.
    """
    change = correction(program, x)
    return np.inf if change is None else cost(program, x, change)


def cost(program: Program, x: Vector, change: Vector) -> float:
    """Return by how much a change (n,) of a point x raises the linear and quadratic terms at x, at least 0."""
    slope = program.P @ x + program.c
    if program.objective_terms:
        slope = slope + derivatives_of(program).jacobian(x)[-1].toarray().ravel()
    return max(float(slope @ change + 0.5 * change @ (program.P @ change)), 0.0)


def correction(program: Program, x: Vector) -> Vector | None:
    """Return a change (n,) of a point x with which it meets every row beyond rounding; None where none is found.

    Cones, matrices and other constraints have their tangents as rows, at the point that is reached. Rows that are
    missed, and those that the change would miss, are met as equations by the least change relative to the sizes of the
    variables and their distances from their bounds, integers as they are.
    """
    A, below, above, allowed, _ = _missed(program, x)
    m, sizes = len(program.lo), abs(A)
    room = np.minimum(x - program.lb, program.ub - x)
    unit = np.where(program.integer, 0.0, np.minimum(np.where(x != 0.0, np.abs(x), 1.0), room))
    change, taken = np.zeros(program.n), np.zeros(len(allowed), dtype=bool)
    for done in range(PASSES):
        if len(allowed) > m and change.any():
            A, *ends, _ = tangents(program, x + change)
            below[m:], above[m:] = (end[m:] + A[m:] @ change for end in ends)
        reached = A @ change
        left = np.where(below > reached, below - reached, np.minimum(above - reached, 0.0))
        if len(allowed) > m and done == PASSES - 1:  # at the apex of a cone rounding is met up to rounding
            allowed *= SOLVED / ROUNDING
        step = float(ratio(np.abs(change), unit).max(initial=0.0))
        outside, wrong = np.abs(change) > room, np.abs(left) > allowed + SOLVED * step * (sizes @ unit)
        if not (wrong.any() or outside.any()):
            return change
        unit[outside], change[outside] = 0.0, 0.0
        taken |= wrong
        rows = A[taken]
        columns = np.unique(rows.indices[unit[rows.indices] > 0.0])
        scale = np.nan_to_num(ratio(np.ones(len(left[taken])), sizes[taken] @ unit), posinf=0.0)
        scaled = sp.diags(scale) @ rows[:, columns] @ sp.diags(unit[columns])
        change[columns] += unit[columns] * _least_norm(scaled, scale * left[taken])
    return None


def _missed(program: Program, x: Vector) -> tuple[sp.csr_matrix, Vector, Vector, Vector, Mask]:
    """Return the rows at x (n,), between what a change has to bring them, and what may be left of it.

    A right-hand side may drown in terms that cancel, as 1 in x - y = 1 at 1e12, the mask. Such a row has to be met
    relative to its right-hand side: by a change that need not be a double at x.
    """
    rows, below, above, terms = tangents(program, x)
    m = len(program.lo)
    allowed, deep = ROUNDING * terms, np.zeros(len(terms), dtype=bool)
    side = np.where(below[:m] > 0.0, program.lo, np.where(above[:m] < 0.0, program.hi, 0.0))
    size, missed = np.abs(side), np.maximum(np.maximum(below, -above), 0.0)[:m]
    deep[:m] = (size > 0.0) & (missed > FEASIBLE * size) & (ROUNDING * terms[:m] > FEASIBLE * size)
    allowed[:m] = np.where(deep[:m], FEASIBLE * size, np.minimum(missed, allowed[:m]))
    return rows, below, above, allowed, deep


def _least_norm(matrix: sp.csr_matrix, right: Vector) -> Vector:
    """Return the solution of least norm of linear equations, which need not have one."""
    n, entries = matrix.shape[1], matrix.shape[0] * matrix.shape[1]
    if entries <= FEW:
        return np.asarray(np.linalg.lstsq(matrix.toarray(), right, rcond=None)[0]) if n else np.zeros(0)
    from scipy.linalg import lstsq
    from scipy.sparse.linalg import lsmr, splu

    if SPARSE * matrix.nnz < entries:
        # x = M'y and Mx = r, without a zero diagonal, so that equations that depend on one another have factors, too.
        damping = SOLVED * (matrix.power(2).sum(axis=1).max() or 1.0) * sp.identity(matrix.shape[0])
        factors = splu(sp.bmat([[sp.identity(n), -matrix.T], [matrix, damping]], format="csc"))
        found: Vector = factors.solve(np.append(np.zeros(n), right))[:n]
        found += factors.solve(np.append(np.zeros(n), right - matrix @ found))[:n]
        if norm(matrix @ found - right) <= FACTORED * norm(right):
            return found
    if entries > LARGE:
        return np.asarray(lsmr(matrix, right, atol=0.0, btol=UNIT)[0])
    return np.asarray(lstsq(matrix.toarray(), right, lapack_driver="gelsy")[0])
