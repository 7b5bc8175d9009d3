r"""Answers with small errors, mended before they are judged: a point that meets every constraint, exact multipliers.

A solver stops within absolute tolerances in its own units. Its point is then moved by the least change that meets every
constraint, where a change of a variable costs what it changes of the objective: the sum :math:`T_j` of the terms of its
reduced cost. Its multipliers are moved by the least change that leaves no reduced cost without a bound to pay it. Both
are linear programs (:mod:`fsopt.certificates.near`), with the tangents of cones and of other constraints in their
place, and are repeated for what they leave. What is left of a cone goes with a small step towards its interior.
Multipliers that are noise, small in every column, become 0 first. A mended point is another answer, and is judged as
any other: nothing here can make a false answer pass.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from fsopt.answers.certificate import FEASIBLE, TOLERANCE
from fsopt.answers.results import Point
from fsopt.certificates import nonconvex
from fsopt.certificates.arithmetic import UNIT
from fsopt.certificates.bounds import Box, cleaned, farkas, lower_bound, no_objective, reduced_costs
from fsopt.certificates.convex import best_bound, correction, cost, gap, open_gap, price
from fsopt.certificates.near import (
    CANCELLED,
    EXACT,
    ROUNDS,
    changed,
    cone_tangents,
    defined,
    least_change,
    moved,
    prices_of,
)
from fsopt.certificates.nonconvex import linearised
from fsopt.certificates.points import (
    block_norms,
    cone_rows,
    infeasibility,
    judged_point,
    minimised,
    ratio,
    row_violations,
)
from fsopt.compiler import Program
from fsopt.compiler.cones import triangle_to_matrix
from fsopt.compiler.derivatives import derivatives_of
from fsopt.typing import Mask, Matrix, Vector

CLOSE = 1e-8
"""Part of a gap, relative to the objective value, that one reduced cost may open."""
INWARDS = np.geomspace(1e-12, 1e-6, 25)
"""Shares of the way to an interior point, which cost about as much of the objective value."""
LAST = 1e3
"""Price of a variable in nonlinear constraints, in that of the dearest other one."""
NOISE = (0.0, 1e-13, 1e-9, 1e-7, 1e-5)
"""Shares of the terms of a column up to which a multiplier is noise; the first that suffices counts."""
LARGEST_MATRIX = 40
"""Largest order of a matrix whose multipliers are settled by dense linear algebra."""
FREE = 1e3
"""Change of a multiplier of an equation, in its own size, that costs as much as one of a matrix by itself."""


def mended(program: Program, point: Point, deadline: float, known: dict[float, Box] | None = None) -> Point:
    """Return the point of a convex program with a point and multipliers that are as good as the mends make them.

    ``point`` is that of a solver, with or without multipliers; the deadline is of ``time.perf_counter``; ``known`` are
    ranges of the variables for values, as :func:`fsopt.certificates.convex.best_bound` has them, and grows.
    """
    x, known = judged_point(program, point.x), {} if known is None else known
    priced = point.y is not None and point.z is not None
    size = max(program.unit, abs(minimised(program, x)))
    met = infeasibility(program, x) <= FEASIBLE
    if met and (closes(program, x, point, known) if priced else price(program, x) <= CLOSE * size):
        return Point(x, point.y, point.z) if priced else Point(x)
    change, corrected = correction(program, x), x
    terms = _terms(program, point) if priced else None
    if change is not None and cost(program, x, change) <= CLOSE * size:
        corrected = judged_point(program, changed(x, change))
    # A correction may leave rounding beside 0, and the tangent of w^2 <= f g at 0 leaves w free: the second has none.
    for start, held in ((corrected, np.zeros(program.n, dtype=bool)), (x, x == 0.0)):
        x = moved(without_tails(program, held), start, deadline, terms)
        if infeasibility(program, x) <= FEASIBLE:
            break
    if not priced:
        return Point(x)
    best = pair = Point(x, point.y, point.z)
    for tried in tries(program, pair, deadline):
        if infeasibility(program, tried.x) > FEASIBLE:
            tried = Point(x, tried.y, tried.z)
        if closes(program, judged_point(program, tried.x), tried, known):
            return tried
        best = max(best, tried, key=lambda found: lower_bound(program, found).value)
    return best


def without_tails(program: Program, held: Mask) -> Program:
    """Return the program with w = 0 in w^2 <= f g if w is held, or g <= 0: a tangent allows a w that f pays for."""
    cones, G = program.cones, program.cones.G.tocsr()
    paired = np.flatnonzero(cones.pairs)
    heads, turned = cones.starts[paired], cones.starts[paired] + cones.pairs[paired]
    shut = np.zeros(len(cones), dtype=bool)
    for sign in (1.0, -1.0):
        factor = G[heads] + sign * G[turned]
        largest = factor.maximum(0) @ program.ub + factor.minimum(0) @ program.lb
        shut[paired] |= largest + cones.h[heads] + sign * cones.h[turned] <= 0.0
    rows = np.repeat(cones.pairs > 0, cones.sizes) & (np.diff(G.indptr) == 1) & (cones.h == 0.0)
    rows[heads], rows[turned] = False, False
    w = G[rows].indices
    gone = np.isin(np.arange(program.n), w[np.repeat(shut, cones.sizes)[rows] | held[w]])
    gone &= (program.lb <= 0.0) & (program.ub >= 0.0)
    return replace(program, lb=np.where(gone, 0.0, program.lb), ub=np.where(gone, 0.0, program.ub))


def mended_ray(program: Program, ray: Point, deadline: float) -> Point | None:
    """Return multipliers, those of a ray of either sign or mended, that prove that there is no point; None for none."""
    if ray.y is None or ray.z is None:
        return None
    goal, zero = no_objective(program), np.zeros(program.n)
    both = [Point(zero, sign * ray.y, ray.z) for sign in (1.0, -1.0)]
    found = (mend for start in both for mend in tries(goal, start, deadline))
    return next((mend for mend in found if farkas(program, mend).ok), None)


def tries(program: Program, point: Point, deadline: float) -> Iterator[Point]:
    """Yield the point with its multipliers as they are, and mended without more and more of their noise."""
    yield point
    for share in NOISE:
        if time.perf_counter() > deadline:
            return
        if 0 < max(program.cones.orders, default=0) <= LARGEST_MATRIX:
            yield settled(program, point, share)
        yield dual_moved(program, without_noise(program, point, share), deadline)


def closes(program: Program, x: Vector, pair: Point, known: dict[float, Box] | None = None) -> bool:
    """Return whether the bound of multipliers meets the value at x, with ranges ``known`` for values if need be."""
    value = minimised(program, x)
    found = lower_bound(program, Point(x, *pair.multipliers)).value
    if gap(program, value, found) > TOLERANCE:
        found = best_bound(program, pair, value, known).value
    return open_gap(program, x, value, found) <= TOLERANCE


def _terms(program: Program, point: Point) -> Vector:
    """Return the sums of the terms of the reduced costs (n,)."""
    return reduced_costs(program, point.x, *cleaned(program, point))[0].terms


def inwards(program: Program, x: Vector, inner: Vector) -> Vector:
    """Return the first point (n,) from x towards one inside the cones that meets every constraint; x without one."""
    for share in INWARDS:
        found = judged_point(program, defined(program, x + share * (inner - x)))
        if infeasibility(program, found) <= FEASIBLE:
            return found
    return x


def linear_first(program: Program, x: Vector) -> Vector:
    """Return prices (n,) at which variables in nonlinear constraints change last, as their changes turn gradients."""
    prices: Vector = 1.0 + np.abs(program.c) + abs(program.P) @ np.abs(x)
    if program.general:
        other = derivatives_of(program)
        curved = [other.i, other.j, *(batch.columns.ravel() for batch in other.batches)]
        prices[np.concatenate(curved).astype(int)] = LAST * prices.max()
    return prices


def dual_moved(program: Program, point: Point, deadline: float) -> Point:
    """Return multipliers of which no reduced cost asks for a bound that its variable has not, by the least change.

    A bound that is so far away that the reduced cost times the distance opens the gap counts as none. Multipliers of
    cones change within the tangents of the cones, and variables with a curved objective as well.
    """
    x, curved = point.x, np.flatnonzero(np.diff(program.P.indptr))
    y, z = cleaned(program, point)
    bounded = program.c.any() or program.P.nnz  # a Farkas vector has no gap
    dear = CLOSE * max(program.unit, abs(minimised(program, x))) if bounded else np.inf
    free = np.isinf(program.lb), np.isinf(program.ub)
    rows, cones = row_violations(program, x)[1], cone_rows(program, x).terms
    cones = cones + np.repeat(block_norms(program, cones), program.cones.sizes)  # a turn of a multiplier lifts its head
    for _ in range(ROUNDS):
        r = reduced_costs(program, x, y, z)[0]
        with np.errstate(invalid="ignore", over="ignore"):
            paid = np.maximum(r.value, 0.0) * (x - program.lb), np.maximum(-r.value, 0.0) * (program.ub - x)
        free = free[0] | (paid[0] > dear), free[1] | (paid[1] > dear)
        F = np.flatnonzero(free[0] | free[1])
        value, terms = r.value[F], r.terms[F]
        wrong = np.maximum(np.where(free[1][F], -value, 0.0), np.where(free[0][F], value, 0.0))
        if ratio(np.maximum(wrong, 0.0), terms).max(initial=0.0) <= EXACT:
            break
        tangent, slack = cone_tangents(program.cones, z, sizes=np.abs(z))
        reach = np.repeat(np.where(block_norms(program, z) > 0.0, np.inf, 0.0), program.cones.sizes)
        k = len(curved)
        M = sp.hstack([program.A.T, program.cones.G.T, -program.P[:, curved]]).tocsr()[F]
        sides = [sp.csr_matrix((len(slack), len(y))), tangent, sp.csr_matrix((len(slack), k))]
        M = sp.csr_matrix(sp.vstack([M, sp.hstack(sides)]))
        least = np.append(np.where(free[0][F], value, -np.inf), -slack)
        most = np.append(np.where(free[1][F], value, np.inf), np.full(len(slack), np.inf))
        low = np.concatenate([np.where(np.isinf(program.hi), -y, -np.inf), -reach, (program.lb - x)[curved]])
        high = np.concatenate([np.where(np.isinf(program.lo), -y, np.inf), reach, (program.ub - x)[curved]])
        costs = np.concatenate([rows, cones, r.terms[curved]])
        prices = prices_of(costs, M, np.append(terms, np.zeros(len(slack))))
        change = least_change(M, (least, most), (low, high), prices, deadline)
        if change is None:
            break
        x = x.copy()
        x[curved] += change[len(change) - k :]
        new = np.append(y, z) + change[: len(change) - k]
        new[np.abs(new) <= EXACT * np.abs(np.append(y, z))] = 0.0  # the rounding errors of a multiplier that vanishes
        y, z = cleaned(program, Point(x, new[: len(y)], new[len(y) :]))
    return Point(x, y, z)


def newton_step(program: Program, point: Point) -> Point:
    """Return a point with the step of its free variables that leaves no gradient of the Lagrangian, to first order."""
    pattern, free = derivatives_of(program).hessian_pattern, np.isinf(program.lb) & np.isinf(program.ub)
    y, _ = point.multipliers
    weights = np.append(-y[program.A.shape[0] :], 1.0)
    lower = derivatives_of(program).hessian_values(point.x, weights)
    half = sp.csr_matrix((lower, (pattern.rows, pattern.columns)), shape=program.P.shape)
    H = (program.P + half + half.T - sp.diags(half.diagonal()))[free][:, free].toarray()
    if not np.isfinite(H).all():
        return point
    x = point.x.copy()
    x[free] -= np.linalg.lstsq(H, nonconvex.reduced_costs(program, point)[free], rcond=None)[0]
    x[np.abs(x) <= CANCELLED * np.abs(point.x)] = 0.0
    return replace(point, x=x)


def stationary(program: Program, point: Point, deadline: float) -> Point:
    """Return a point with the multipliers of the program linearised there: no reduced cost asks for a missing bound."""
    return Point(point.x, *dual_moved(linearised(program, point.x), point, deadline).multipliers)


def without_noise(program: Program, point: Point, share: float) -> Point:
    """Return the point with 0 for multipliers that are noise.

    A multiplier is noise where it is nowhere more than a share of the terms of a column that the objective reaches
    through other multipliers, which are none; the share 0 leaves them all. Without an objective the rows count whose
    right-hand sides make the contradiction.
    """
    y, z = cleaned(program, point)
    if not share:
        return Point(point.x, y, z)
    r, quadratic = reduced_costs(program, point.x, y, z)
    both = sp.vstack([program.A, program.cones.G]) if len(z) else program.A
    shares = abs(sp.diags(np.append(y, z)) @ both @ sp.diags(1.0 / np.maximum(r.terms, 1e-300))).tocsr()
    shares.data[shares.data <= share] = 0.0
    shares.eliminate_zeros()
    reached: Mask = (program.c != 0.0) | (quadratic.terms > 0.0)
    kept = np.zeros(shares.shape[0], dtype=bool)
    if not reached.any():
        sides = np.where(y > 0.0, program.lo, np.where(y < 0.0, program.hi, 0.0))
        values = np.abs(np.append(y * sides, z * program.cones.h))
        reached = shares.T @ (values > share * values.sum()) > 0.0
    while True:
        more = shares @ reached > 0.0
        if (more == kept).all():
            break
        kept = more
        reached = reached | (shares.T @ kept > 0.0)
    blocks = np.repeat(np.arange(len(program.cones)), program.cones.sizes)
    kept[len(y) :] = np.bincount(blocks, kept[len(y) :], len(program.cones))[blocks] > 0
    return Point(point.x, *(np.where(part, v, 0.0) for v, part in ((y, kept[: len(y)]), (z, kept[len(y) :]))))


def settled(program: Program, point: Point, share: float) -> Point:
    r"""Return multipliers of matrix inequalities with reduced costs that vanish where no bound pays them.

    A matrix :math:`Z = LL'` is inside its cone, or is put there by a share of its diagonal, and becomes
    :math:`L(I + U)L'`: the least :math:`\|U\|` moves it where it has room, and leaves it inside where it is below 1.
    Multipliers y change by shares of themselves, those of second-order cones not at all.
    """
    y, z = cleaned(program, point)
    r = reduced_costs(program, point.x, y, z)[0].value
    F = np.flatnonzero(np.isinf(program.lb) & (np.isinf(program.ub) | (r > 0.0)) | (np.isinf(program.ub) & (r < 0.0)))
    M = sp.hstack([program.A.T, program.cones.G.T]).tocsr()[F]
    used = _not_zero(M, program.c[F] == 0.0)
    v = np.append(y, z)
    equal = program.lo == program.hi
    metric = [sp.diags(np.where(equal, FREE * np.maximum(np.abs(y), 1.0), np.abs(y)))]
    for start, end, order in zip(
        len(y) + program.cones.starts[:-1], len(y) + program.cones.starts[1:], program.cones.orders, strict=True
    ):
        block = np.zeros((end - start, end - start))
        if order:
            v[start:end], block = _metric(v[start:end], int(order), share)
        metric.append(block)
    W = sp.diags(used) @ sp.block_diag(metric, format="csr")
    v, columns = v * used, (M @ W).toarray()
    for _ in range(3):  # the second and third remove the rounding of the first
        r = reduced_costs(program, point.x, v[: len(y)], v[len(y) :])[0].value
        v = v + W @ np.linalg.lstsq(columns, r[F], rcond=UNIT)[0]
    return Point(point.x, v[: len(y)], v[len(y) :])


def _metric(z: Vector, order: int, share: float) -> tuple[Vector, Matrix]:
    """Return a triangle (t,) with a share of its diagonal added, and the matrix (t, t) that takes U to LUL'."""
    j, i = np.tril_indices(order)
    z = np.where(i == j, (1.0 + share) * z, z)
    lower = triangle_to_matrix(z, order)
    Z = lower + np.tril(lower, -1).T
    unit = np.sqrt(np.maximum(np.diag(Z), 1e-300))
    values, vectors = np.linalg.eigh(Z / np.outer(unit, unit))
    L = unit[:, None] * vectors * np.sqrt(np.maximum(values, 8.0 * order * UNIT))
    root = np.where(i == j, np.sqrt(0.5), 1.0)
    change = L[i][:, i] * L[j][:, j] + L[i][:, j] * L[j][:, i]
    return (L @ L.T)[j, i] * np.sqrt(2.0) * root, root[:, None] * change * root


def _not_zero(M: sp.csr_matrix, no_cost: Mask) -> Vector:
    """Return 0 for multipliers that are alone in a column (row of M) without cost, one after another, 1 for others."""
    pattern, used = (M != 0).astype(float), np.ones(M.shape[1])
    while True:
        alone = pattern[(pattern @ used == 1.0) & no_cost] @ sp.diags(used)
        if not alone.count_nonzero():
            return used
        used[alone.nonzero()[1]] = 0.0
