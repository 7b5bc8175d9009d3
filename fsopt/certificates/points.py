r"""The point of an answer, judged without units: each constraint is measured by its own terms at the point.

The infeasibility of a constraint is its relative backward error (Oettli and Prager, Numerische Mathematik 6, 1964):
with the violation :math:`v_i` of row i,

.. math:: \omega_i = \frac{v_i}{\sum_j |a_{ij} x_j| + |b_i|}

is the smallest number such that x is feasible for data that differ by :math:`\omega_i` relative to each entry. Nothing
but the row and the point occurs in it: no scale of rows or columns, no loose bound, no other row. Bounds of variables
and integers are met exactly: :func:`judged_point` is the point that is judged. A row of whole coefficients and whole
variables is met exactly or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from fsopt.answers.certificate import Certificate, Kind, gap_allowed, make
from fsopt.certificates import arithmetic
from fsopt.compiler import Program
from fsopt.compiler.cones import triangle_to_matrix
from fsopt.compiler.derivatives import derivatives_of
from fsopt.typing import Indices, Mask, Matrix, Vector


def relative_gap(value: float, bound: float) -> float:
    """Return ``|value - bound| / max(1, |value|)``; a bound on the wrong side of the value is an error as well."""
    return abs(value - bound) / max(1.0, abs(value))


def of_bounds(
    kind: Kind, residuals: Mapping[str, float], upper: float, lower: float, *, tolerance: float, source: str
) -> Certificate:
    """Return the certificate of a loop that closes the gap between two bounds, beside residuals of what they rest on.

    The tolerance of the loop is that of all residuals, at least 1e-9; the source is that of the lower bound.
    """
    residuals = {**residuals, "gap": relative_gap(upper, lower)}
    allowed = max(gap_allowed(tolerance), 1e-9)
    return make(kind, residuals, tolerance=allowed, objective=upper, bound=lower, bound_source=source)


def minimised(program: Program, x: Vector) -> float:
    """Return the objective value of the minimisation form at x (n,), with all terms."""
    return _objective(program, x)[0]


def rounded(program: Program, x: Vector) -> tuple[float, float]:
    """Return the objective value at x (n,), and its rounding error relative to it in the unit of the objective.

    Terms of 1e15 that cancel leave a value that is no number of the model any more.
    """
    value, terms = _objective(program, x)
    return value, float(2.0 * arithmetic.UNIT * terms / max(program.unit, abs(value)))


def _objective(program: Program, x: Vector) -> tuple[float, float]:
    """Return the value of the minimisation form, and the sum of the absolute values of its terms."""
    square, squares = 0.0, 0.0
    if program.P.nnz:
        quadratic = arithmetic.product(symmetric(program), x)
        square, squares = arithmetic.dot(x, quadratic.value)
        squares = max(squares, float(np.abs(x) @ quadratic.terms))
    linear, terms = arithmetic.dot(program.c, x)
    other = float(derivatives_of(program).values(x)[-1]) if program.objective_terms else 0.0
    value = 0.5 * square + linear + program.c0 + other
    return value, squares / 2 + terms + abs(program.c0) + abs(other)


def symmetric(program: Program) -> sp.csr_matrix:
    """Return the symmetric matrix P (n, n) of the objective in rows, without a copy."""
    P = program.P
    return sp.csr_matrix((P.data, P.indices, P.indptr), shape=P.shape)


# -- the point that is judged -----------------------------------------------------------------------------


def judged_point(program: Program, x: Vector) -> Vector:
    """Return x (n,) within its bounds, with whole integers."""
    low, high = (np.where(program.integer, f(v), v) for f, v in ((np.ceil, program.lb), (np.floor, program.ub)))
    inside: Vector = np.clip(rounded_point(program, x), low, high)
    return inside


def rounded_point(program: Program, x: Vector) -> Vector:
    """Return x (n,) with whole integers."""
    rounded: Vector = np.where(program.integer, np.round(x), x)
    return rounded


def integrality(program: Program, x: Vector) -> float:
    """Return the largest distance of an integer variable from a whole number."""
    return float(np.abs(x - rounded_point(program, x)).max(initial=0.0))


def infeasibility(program: Program, x: Vector) -> float:
    """Return the largest relative backward error of a constraint at the point that is judged for x (n,)."""
    x = judged_point(program, x)
    errors = (row_errors(program, x), cone_errors(program, x), general_errors(program, x))
    worst = max(float(e.max(initial=0.0)) for e in errors)
    return np.inf if np.isnan(worst) else worst


def ratio(part: Vector, whole: Vector) -> Vector:
    """Return part / whole (k,), infinite where only the whole is 0, and 0 where both are."""
    with np.errstate(over="ignore"):
        return np.divide(part, whole, out=np.where(part > 0.0, np.inf, 0.0), where=whole > 0.0)


def row_violations(program: Program, x: Vector, activity: arithmetic.Sums | None = None) -> tuple[Vector, Vector]:
    """Return the violation of each linear constraint (m,), and the sum of its terms and the violated side.

    ``activity`` is Ax (m,), None for that in twice the working precision.
    """
    activity = activities(program, x) if activity is None else activity
    with np.errstate(invalid="ignore"):
        below, above = (arithmetic.of(side).minus(activity).value for side in (program.lo, program.hi))
    violation = np.maximum(np.maximum(below, -above), 0.0)
    side = np.where(below > 0.0, program.lo, program.hi)
    return violation, activity.terms + np.where(np.isfinite(side), np.abs(side), 0.0)


def activities(program: Program, x: Vector) -> arithmetic.Sums:
    """Return Ax (m,); of the last x it is known."""
    known = program.measured
    if known is None or known[0] is not program.A or not np.array_equal(known[1], x):
        known = program.measured = program.A, x.copy(), arithmetic.product(program.A, x)
    found: arithmetic.Sums = known[2]
    return found


def row_errors(program: Program, x: Vector) -> Vector:
    """Return the backward error of each linear constraint (m,); any violation of one in whole numbers is infinite."""
    violation, terms = row_violations(program, x)
    errors = ratio(violation, terms)
    if program.integer.any():
        errors[whole_rows(program) & (violation > 0.0)] = np.inf
    return errors


def whole_rows(program: Program) -> Mask:
    """Return which linear constraints (m,) have whole coefficients and whole variables alone."""
    A = program.A
    part = ~(program.integer[A.indices] & (A.data == np.round(A.data))) & (A.data != 0.0)
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    whole: Mask = (np.bincount(rows, part, A.shape[0]) == 0) & (np.diff(A.indptr) > 0)
    return whole


def general_errors(program: Program, x: Vector) -> Vector:
    """Return the backward error of each general constraint (q,): relative to its terms and the violated side.

    At the apex of a cone that is written as a quadratic constraint, where all terms are small, so is what is allowed.
    """
    if not program.general:
        return np.zeros(0)
    other = derivatives_of(program)
    g, terms = other.values(x)[:-1], general_terms(program, x)
    violation = np.maximum(np.maximum(other.lo - g, g - other.hi), 0.0)
    side = np.where(g < other.lo, other.lo, other.hi)
    errors = ratio(violation, terms + np.where(np.isfinite(side), np.abs(side), 0.0))
    return np.where(np.isnan(violation), np.inf, errors)


def general_terms(program: Program, x: Vector) -> Vector:
    r"""Return the sums of the terms of the general constraints (q,).

    Those of a quadratic constraint; for other functions :math:`\sum_j |x_j\,\partial_j g| + |g|`, where that is more.
    """
    other, size = derivatives_of(program), np.abs(x)
    terms: Vector = abs(other.jacobian(x)[:-1]) @ size + np.abs(other.values(x)[:-1])
    own = np.bincount(other.r, np.abs(other.v) * size[other.i] * size[other.j], other.q + 1).astype(float)
    own += np.bincount(other.linear.row, np.abs(other.linear.data) * size[other.linear.col], other.q + 1)
    largest: Vector = np.maximum(terms, own[:-1])
    return largest


# -- cones ------------------------------------------------------------------------------------------------


def cone_rows(program: Program, x: Vector) -> arithmetic.Sums:
    """Return s = Gx + h (k,)."""
    return arithmetic.product(program.cones.G.tocsr(), x).plus(arithmetic.of(program.cones.h))


def cone_errors(program: Program, x: Vector) -> Vector:
    r"""Return the backward error of each cone.

    A second-order cone: :math:`(\|t\| - s_0)_+` relative to the norm of the terms of its rows. A rotated cone
    :math:`\|w\|^2 \le fg`: :math:`(\|w\| - \sqrt{fg})_+` relative to :math:`\|W\| + \sqrt{FG}` with the terms W, F and
    G, in every unit of f and g. A semidefinite cone: the negative eigenvalue of the matrix whose diagonal entries are
    divided by their terms. No error is smaller than that of the constraint as it was read, see :func:`body_errors`.
    """
    cones = program.cones
    if not len(cones):
        return np.zeros(0)
    s = cone_rows(program, x)
    value, heads = s.value, cones.starts[:-1]
    tails, sizes = block_norms(program, value, heads), block_norms(program, s.terms)
    errors = ratio(np.maximum(tails - value[heads], 0.0), sizes)
    paired = np.flatnonzero(cones.pairs)
    if len(paired):
        f, g = factors(program, x, paired)
        turned = heads[paired] + cones.pairs[paired]
        w, terms = (block_norms(program, v, np.append(heads, turned))[paired] for v in (value, s.terms))
        root = np.sqrt(np.maximum(f.value, 0.0) * np.maximum(g.value, 0.0))
        errors[paired] = ratio(np.maximum(w - root, 0.0), terms + np.sqrt(f.terms * g.terms))
        negative = np.maximum(ratio(np.maximum(-f.value, 0.0), f.terms), ratio(np.maximum(-g.value, 0.0), g.terms))
        errors[paired] = np.maximum(errors[paired], negative)
    for k in np.flatnonzero(cones.orders):
        part = slice(cones.starts[k], cones.starts[k + 1])
        scaled, _ = scaled_matrix(value[part], s.terms[part], int(cones.orders[k]))
        errors[k] = max(-float(np.linalg.eigvalsh(scaled)[0]), 0.0)
    return np.maximum(errors, body_errors(program, x))


def body_errors(program: Program, x: Vector) -> Vector:
    """Return half of the backward error of the quadratic constraint behind each cone, as it was read; 0 for a matrix.

    Half, as a factor of a square has half of its relative change: for w^2 <= f g it is never above that of the cone.
    """
    bodies, point = program.cones.bodies, np.append(x, 1.0)
    first, second = np.divmod(bodies.indices, len(point))
    q = arithmetic.segments(bodies.data * point[first], point[second], bodies.indptr)
    return 0.5 * ratio(np.maximum(q.value, 0.0), q.terms)


def factors(program: Program, x: Vector, paired: Indices) -> tuple[arithmetic.Sums, arithmetic.Sums]:
    """Return the two factors f and g (k,) of rotated cones, without the cancellation of head and tail."""
    G, h = program.cones.G.tocsr(), program.cones.h
    head = program.cones.starts[:-1][paired]
    tail = head + program.cones.pairs[paired]
    rows = ((G[head] + G[tail]).tocsr(), h[head] + h[tail]), ((G[head] - G[tail]).tocsr(), h[head] - h[tail])
    f, g = (arithmetic.product(matrix, x).plus(arithmetic.of(constant)) for matrix, constant in rows)
    return f, g


def scaled_matrix(s: Vector, terms: Vector, order: int) -> tuple[Matrix, Vector]:
    """Return the lower triangle of a matrix with a diagonal of terms scaled to 1, and the factors of its rows."""
    lower, sizes = triangle_to_matrix(s, order), triangle_to_matrix(terms, order)
    unit = np.sqrt(np.maximum(np.diag(sizes), 0.0))
    unit = np.where(unit > 0.0, unit, np.maximum(sizes.max(axis=0), sizes.max(axis=1)))
    factors = 1.0 / np.where(unit > 0.0, unit, 1.0)
    return lower * factors[:, None] * factors, factors


def block_norms(program: Program, s: Vector, without: Indices | None = None) -> Vector:
    """Return the Euclidean norm of each block of s (k,), but for entries at some places."""
    if not len(program.cones):
        return np.zeros(0)
    squares = s**2
    if without is not None:
        squares[without] = 0.0
    norms: Vector = np.sqrt(np.add.reduceat(squares, program.cones.starts[:-1]))
    return norms
