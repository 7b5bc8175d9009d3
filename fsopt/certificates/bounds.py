r"""Lower bounds of convex programs from multipliers, valid whatever the multipliers are.

Multipliers y of the rows, z of the cones and the reduced costs :math:`r = Px + c - A'y - G'z` give, by Lagrangian
duality, the lower bound

.. math:: L = -\tfrac12 x'Px + \sum_{y_i > 0} y_i \ell_i + \sum_{y_i < 0} y_i u_i - h'z + c_0
          + \sum_j \min_{\underline x_j \le x_j \le \overline x_j} r_j x_j,

provided that no multiplier belongs to an infinite side, which the signs that are set here see to, and that z is in the
(self-dual) cones, into which it is moved. Every reduced cost is paid at a bound of its variable (Neumaier and
Shcherbina, Mathematical Programming A 99, 2004; Jansson, Chaykin and Keil, SIAM Journal on Numerical Analysis 46,
2007): r needs not vanish. A variable without the bound that its reduced cost asks for has a range that propagation
proves, or its reduced cost counts as 0 where it is below :data:`REMAINDER` of its own terms: the bound is then one for
costs that differ by this much, and is called numerical. So is one that rests on eigenvalues of P below 0
by rounding, where the ranges of the variables do not pay for what they may fall.

**Ranges** of variables follow from the constraints and an incumbent, by propagation through one row at a time: in a row
:math:`\ell \le a'x \le u` the terms of all variables but one have a range, and so has that one,

.. math:: a_j x_j \le u - \sum_{k \ne j} \min a_k x_k, \qquad a_j x_j \ge \ell - \sum_{k \ne j} \max a_k x_k .

A second-order cone has the rows :math:`|t_i| \le s_0`. Points that are no better than an incumbent of value V do not
matter for a bound of the optimum, so that :math:`c'x + c_0 \le V` is a row as well: :math:`x'Px \ge 0` where the
program is convex. Ends are rounded outwards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from fsopt.answers.certificate import REMAINDER, Certificate, Kind, make
from fsopt.answers.results import Point
from fsopt.certificates import arithmetic
from fsopt.certificates.arithmetic import UNIT, Sums
from fsopt.certificates.points import block_norms, infeasibility, judged_point, ratio, symmetric
from fsopt.compiler import Program
from fsopt.compiler.cones import triangle_to_matrix
from fsopt.typing import Indices, Vector

Box: TypeAlias = tuple[Vector, Vector]
"""Lower and upper ends (n,) of ranges of the variables."""
OUTWARD = 1e-12
"""Rounding of an end of a range, relative to the terms that it is computed from."""
PASSES = 4
"""Times that each row is looked at for ranges."""
INSIDE = 4e-16
"""Relative distance from the boundary of its cone at which a multiplier is put that is outside or on it."""


@dataclass(frozen=True)
class Bound:
    """A lower bound of the minimisation form.

    Attributes
    ----------
    value : the bound; minus infinity where the multipliers prove none.
    rigorous : the bound without any reduced cost that counts as 0 though it is none.
    remainder : the largest of the reduced costs that count as 0, relative to their terms.
    terms : sum of the absolute values of what the bound is the sum of.
    """

    value: float
    rigorous: float
    remainder: float
    terms: float


def lower_bound(program: Program, point: Point, box: Box | None = None, *, objective: bool = True) -> Bound:
    """Return the lower bound that the multipliers of a point prove; its x may be any vector.

    ``box`` are ranges that contain the points that matter, the bounds of the variables by default; without the
    ``objective`` the bound is that of 0. ParameterError for a point without multipliers.
    """
    x = point.x
    y, z = cleaned(program, point)
    r, quadratic = reduced_costs(program, x, y, z, objective=objective)
    sides = np.where(y != 0.0, y * np.where(y > 0.0, program.lo, np.where(y < 0.0, program.hi, 0.0)), 0.0)
    parts = np.concatenate([sides, -program.cones.h * z, -0.5 * x * quadratic.value, [objective * program.c0]])
    base, terms = float(parts.sum()), float(np.abs(parts).sum() + 0.5 * (np.abs(x) * quadratic.terms).sum())
    value = r.value
    error = UNIT * np.abs(value) + r.error
    low, high = (program.lb, program.ub) if box is None else box
    paid = np.minimum(_least(value - error, low, high), _least(value + error, low, high))
    small = (np.abs(value) <= REMAINDER * r.terms) & (paid < value * x)
    counted = np.where(small, value * x, paid)
    slack = 64.0 * UNIT * (terms + float(np.abs(np.where(np.isfinite(counted), counted, 0.0)).sum()))
    used = ratio(np.abs(value), r.terms)[small].max(initial=0.0)
    terms += float(np.abs(counted).sum())
    curve = 0.0
    if objective and (lack := program.lacking) is not None:
        lacks = lack > 0.0
        curve = 0.5 * float(lack[lacks] @ np.maximum(x - low, high - x)[lacks] ** 2)
    return Bound(float(base + counted.sum() - slack), float(base + paid.sum() - slack - curve), float(used), terms)


def _least(r: Vector, low: Vector, high: Vector) -> Vector:
    """Return the smallest value of r x between low and high."""
    with np.errstate(invalid="ignore"):
        least: Vector = np.where(r == 0.0, 0.0, r * np.where(r > 0.0, low, high))
    return least


def reduced_costs(program: Program, x: Vector, y: Vector, z: Vector, *, objective: bool = True) -> tuple[Sums, Sums]:
    """Return r = Px + c - A'y - G'z (n,) in twice the working precision, and Px; without an objective -A'y - G'z."""
    nothing = arithmetic.of(np.zeros(program.n))
    quadratic = arithmetic.product(symmetric(program), x) if objective and program.P.nnz else nothing
    r = quadratic.plus(arithmetic.of(program.c)) if objective else nothing
    for matrix, multipliers in ((program.A, y), (program.cones.G, z)):
        if multipliers.any():
            columns = matrix.tocsc()
            r = r.minus(arithmetic.segments(columns.data, multipliers[columns.indices], columns.indptr))
    return r, quadratic


def cleaned(program: Program, point: Point) -> tuple[Vector, Vector]:
    """Return the multipliers y and z with 0 for those of infinite sides, and z in its cones."""
    y, z = point.multipliers
    infinite = ((y > 0.0) & ~np.isfinite(program.lo)) | ((y < 0.0) & ~np.isfinite(program.hi))
    return np.where(infinite, 0.0, y), into_cones(program, z)


def into_cones(program: Program, z: Vector) -> Vector:
    """Return z (k,) with each block in its cone: by a larger head, or by a larger diagonal of a matrix."""
    cones = program.cones
    if not len(cones):
        return z
    z, heads = z.copy(), cones.starts[:-1]
    needed = block_norms(program, z, heads) * (1.0 + INSIDE)
    second = cones.orders == 0
    z[heads[second]] = np.maximum(z[heads], needed)[second]
    for k in np.flatnonzero(cones.orders):
        part = slice(cones.starts[k], cones.starts[k + 1])
        z[part] = _into_semidefinite(z[part], int(cones.orders[k]))
    return z


def _into_semidefinite(z: Vector, order: int) -> Vector:
    """Return a matrix, as a triangle, that is positive semidefinite: its diagonal grows by shares of itself."""
    # Shares, as the entries may be in any units. Rows whose diagonal entry is not positive become 0.
    matrix = triangle_to_matrix(z, order)
    diagonal = np.diag(matrix)
    unit = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    kept = np.where(diagonal > 0.0, 1.0 / unit, 0.0)
    least = float(np.linalg.eigvalsh(matrix * kept[:, None] * kept)[0])
    j, i = np.tril_indices(order)
    moved: Vector = z * (kept[i] > 0.0) * (kept[j] > 0.0)
    grown = max(0.0, 8.0 * order * UNIT - least) * diagonal
    moved[i == j] += np.where(diagonal > 0.0, grown, 0.0)
    return moved


# -- ranges by propagation -------------------------------------------------------------------------------


def ranges(program: Program, cutoff: float = np.inf) -> tuple[Vector, Vector]:
    """Return ranges (n,) that contain every feasible point of a convex program with a value of at most ``cutoff``."""
    A, side = _rows(program, cutoff)
    m, row = A.shape[0], np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    column, a = A.indices, A.data
    positive, side = a > 0.0, side[row]
    upper, lower = np.flatnonzero(positive), np.flatnonzero(~positive)
    low, high = program.lb.copy(), program.ub.copy()
    squares = _squares(program)
    for _ in range(PASSES):
        before = low.copy(), high.copy()
        with np.errstate(all="ignore"):
            rest, size = _others(a * np.where(positive, low[column], high[column]), row, m)
            end = (side - rest + OUTWARD * (np.abs(side) + size)) / a
            spare = _spare(program, cutoff, low, high)
            reach = np.where(squares > 0.0, np.sqrt(2.0 * spare / squares) * (1.0 + OUTWARD), np.inf)
        end = np.where(np.isnan(end), np.where(positive, np.inf, -np.inf), end)
        np.minimum.at(high, column[upper], end[upper])
        np.maximum.at(low, column[lower], end[lower])
        reach = np.where(np.isnan(reach), np.inf, reach)
        low, high = np.maximum(low, -reach), np.minimum(high, reach)
        if all(np.array_equal(v, w) for v, w in zip((low, high), before, strict=True)):
            break
    return low, high


def _rows(program: Program, cutoff: float) -> tuple[sp.csr_matrix, Vector]:
    r"""Return A, b of linear rows :math:`Ax \le b` that hold at the points that matter, with finite b and no zeros."""
    p, cones = program, program.cones
    above, below = np.flatnonzero(np.isfinite(p.hi)), np.flatnonzero(np.isfinite(p.lo))
    parts, sides = [p.A[above], -p.A[below]], [p.hi[above], -p.lo[below]]
    second = np.setdiff1d(np.flatnonzero(np.repeat(cones.orders == 0, cones.sizes)), cones.starts)
    if len(second):
        head, G = np.repeat(cones.starts[:-1], cones.sizes)[second], cones.G.tocsr()
        for sign in (1.0, -1.0):
            parts.append(sign * G[second] - G[head])
            sides.append(cones.h[head] - sign * cones.h[second])
    if np.isfinite(cutoff) and p.convex_objective and not p.objective_terms:
        parts.append(sp.csr_matrix(p.c.reshape(1, p.n)))
        sides.append(np.array([cutoff - p.c0 + OUTWARD * (abs(cutoff) + abs(p.c0))]))
    A = sp.csr_matrix(sp.vstack(parts, format="csr"))
    A.eliminate_zeros()
    return A, np.concatenate(sides)


def _others(terms: Vector, row: Indices, m: int) -> tuple[Vector, Vector]:
    """Return for each term the least sum of the others in its row, and the size of them all."""
    finite = np.isfinite(terms)
    known = np.where(finite, terms, 0.0)
    sums, sizes, missing = (np.bincount(row, v, m).astype(float)[row] for v in (known, np.abs(known), ~finite))
    return np.where(missing > ~finite, -np.inf, sums - known), sizes


def _squares(program: Program) -> Vector:
    """Return the coefficients (n,) of the squares in a convex objective without products, 0 for another one."""
    P = program.P.tocoo()
    alone = program.convex_objective and not program.objective_terms and (P.row == P.col).all()
    return np.where(alone, P.diagonal(), 0.0)


def _spare(program: Program, cutoff: float, low: Vector, high: Vector) -> float:
    """Return how much of the cutoff is left for the squares; infinite where the linear costs have no smallest value."""
    least = _least(program.c, low, high)
    total, size = float(least.sum()), float(np.abs(least).sum()) + abs(program.c0) + abs(cutoff)
    return max(cutoff - program.c0 - total + OUTWARD * size, 0.0) if np.isfinite(total) else np.inf


# -- proofs that there is no point, or no optimum ---------------------------------------------------------


def farkas(program: Program, ray: Point) -> Certificate:
    """Return the certificate of infeasibility of multipliers y, z: the bound of the program with the objective 0.

    A positive bound is a contradiction, as 0 is the value of every point. Where it is positive after its own rounding
    and with every reduced cost paid, the program has no point, however small the bound. Else it has to exceed the
    change by numbers that differ by :data:`fsopt.answers.certificate.REMAINDER` of themselves: the residual ``farkas``
    is that change relative to the bound, and the certificate says ``numerically``.
    """
    words = crossed(program)
    if words:
        return make(Kind.INFEASIBLE, {}, notes=(words,))
    y, z = ray.multipliers
    zero = np.zeros(program.n)
    for sign in (1.0, -1.0):  # Solvers differ in the sign of the multipliers of rows in a ray.
        pair = Point(zero, sign * y, z)
        found = lower_bound(program, pair, objective=False)
        if found.rigorous > 0.0 or lower_bound(program, pair, ranges(program), objective=False).rigorous > 0.0:
            return make(Kind.INFEASIBLE, {"farkas": 0.0, "remainder": 0.0})
        if found.value > 0.0:
            residuals = {"farkas": float(REMAINDER * found.terms / found.value), "remainder": found.remainder}
            return make(Kind.INFEASIBLE, residuals, notes=("numerically: the multipliers have a remainder",))
    return Certificate(Kind.INFEASIBLE, False, {"farkas": np.inf})


def no_objective(program: Program) -> Program:
    """Return a program with the objective 0."""
    n = program.n
    return replace(program, P=sp.csc_matrix((n, n)), c=np.zeros(n), c0=0.0)


def recession(program: Program, direction: Vector) -> Certificate:
    """Return the certificate of a direction d (n,) along which the objective falls and no constraint is ever violated.

    Signs of d at finite bounds are exact. The residual ``ray`` is the largest violation of Pd = 0 and of the recession
    cones of rows and cones, relative to the terms of each; ``descent`` is the change of c'd by numbers that differ by
    :data:`fsopt.answers.certificate.REMAINDER` of themselves, relative to c'd. With a feasible point it proves that the
    program is unbounded.
    """
    receding = recession_cone(program)
    d = judged_point(receding, direction)
    fall, terms = arithmetic.dot(-program.c, d)
    if not (np.isfinite(d).all() and fall > 0.0):
        return Certificate(Kind.UNBOUNDED, False, {"descent": np.inf})
    quadratic = arithmetic.product(symmetric(program), d)
    flat = float(ratio(np.abs(quadratic.value), quadratic.terms).max(initial=0.0))
    worst = max(flat, infeasibility(receding, d))
    notes = ("numerically: the ray has a remainder",) if worst > 0.0 else ()
    return make(Kind.UNBOUNDED, {"ray": worst, "descent": REMAINDER * terms / fall}, notes=notes)


def recession_cone(program: Program) -> Program:
    """Return the program of the directions along which every constraint stays met, with the objective 0."""
    low, high = (np.where(np.isfinite(v), 0.0, v) for v in (program.lb, program.ub))
    rows = [np.where(np.isfinite(v), 0.0, v) for v in (program.lo, program.hi)]
    cones = program.cones.receding()
    whole = np.zeros_like(program.integer)
    return replace(no_objective(program), lb=low, ub=high, lo=rows[0], hi=rows[1], cones=cones, integer=whole)


def crossed(program: Program) -> str:
    """Return a sentence on the first bounds that exclude one another, empty where there are none."""
    p = program
    for what, names, low, high in (("variable", p.variables, p.lb, p.ub), ("constraint", p.constraints, p.lo, p.hi)):
        if len(places := np.flatnonzero(low > high)):
            k = int(places[0])
            return f"the {what} '{names[k].name}' has the lower bound {low[k]} above its upper bound {high[k]}"
    if len(places := np.flatnonzero((np.diff(p.A.indptr) == 0) & ((p.lo > 0) | (p.hi < 0)))):
        i = int(places[0])
        return f"the constraint '{p.constraints[i].name}' has no variable, and 0 is not in [{p.lo[i]}, {p.hi[i]}]"
    if len(places := np.flatnonzero(p.integer & (np.ceil(p.lb) > np.floor(p.ub)))):
        j = int(places[0])
        name = p.variables[j].name
        return f"the integer '{name}' has no whole number between its bounds {p.lb[j]} and {p.ub[j]}"
    return ""
