r"""Answers with small errors, mended before they are judged: a point that meets every constraint, exact multipliers.

A solver stops within absolute tolerances in its own units. Its point is then moved by the least change that meets every
constraint, where a change of a variable costs what it changes of the objective: the sum :math:`T_j` of the terms of its
reduced cost. Its multipliers are moved by the least change that leaves no reduced cost without a bound to pay it. Both
are linear programs, with the tangents of cones and of other constraints in their place, and are repeated for what they
leave. Multipliers that are noise, small in every column, become 0 first. A mended point is another answer, and is
judged as any other: nothing here can make a false answer pass.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from fsopt.answers.certificate import FEASIBLE, TOLERANCE
from fsopt.answers.results import Point
from fsopt.certificates.bounds import cleaned, lower_bound, reduced_costs
from fsopt.certificates.convex import best_bound, gap
from fsopt.certificates.points import (
    block_norms,
    cone_rows,
    factors,
    general_terms,
    infeasibility,
    judged_point,
    minimised,
    ratio,
    row_violations,
    scaled_matrix,
)
from fsopt.compiler import Program
from fsopt.compiler.derivatives import derivatives_of
from fsopt.solvers.highs import silent
from fsopt.typing import Mask, Matrix, Vector

ROUNDS = 8
"""Linear programs of a mend: each leaves about the square of the error before it, or meets constraints that are smaller
than the tolerance of the one before."""
CLOSE = 1e-8
"""Part of a gap, relative to the objective value, that one reduced cost may open."""
CANCELLED = 1e-9
"""A value that a change leaves this share of is 0, but for the rounding of the change."""
EXACT = 1e-13
"""Relative error that is left to rounding."""
NOISE = (0.0, 1e-13, 1e-9, 1e-7)
"""Shares of the terms of a column up to which a multiplier is noise; the first that suffices counts."""
FAR_OUTSIDE = 0.1
"""Negative eigenvalue, of a matrix with a diagonal of size 1, from which tangents say too little."""
SMALL = 1e-12
"""Smallest price of a change."""


def mended(program: Program, point: Point, deadline: float) -> Point:
    """Return the point of a convex program with a point and multipliers that are as good as the mends make them.

    Parameters
    ----------
    point : of a solver, with or without multipliers.
    deadline : of :func:`time.perf_counter`.
    """
    x = judged_point(program, point.x)
    priced = point.y is not None and point.z is not None
    if infeasibility(program, x) > FEASIBLE or (priced and not _closes(program, x, point)):
        x = moved(program, x, deadline, _terms(program, point) if priced else None)
    if not priced:
        return Point(x)
    pair = Point(x, point.y, point.z)
    best = pair
    for tried in tries(program, pair, deadline):
        if _closes(program, x, tried):
            return tried
        best = max(best, tried, key=lambda found: lower_bound(program, found).value)
    return best


def tries(program: Program, point: Point, deadline: float) -> Iterator[Point]:
    """Yield the point with its multipliers as they are, and mended without more and more of their noise."""
    yield point
    for share in NOISE:
        if time.perf_counter() > deadline:
            return
        yield dual_moved(program, without_noise(program, point, share), deadline)


def _closes(program: Program, x: Vector, pair: Point) -> bool:
    """Return whether the bound of multipliers meets the value at x."""
    value = minimised(program, x)
    return gap(program, value, best_bound(program, pair, value).value) <= TOLERANCE


def _terms(program: Program, point: Point) -> Vector:
    """Return the sums of the terms of the reduced costs (n,)."""
    return reduced_costs(program, point.x, *cleaned(program, point))[0].terms


def moved(program: Program, x: Vector, deadline: float, terms: Vector | None = None) -> Vector:
    """Return the point (n,) of the least change that meets every constraint, with the same integers, as far as it goes.

    Parameters
    ----------
    deadline : of :func:`time.perf_counter`.
    terms : (n,) sums of the terms of the reduced costs, the prices of changes; None for those of the objective.
    """
    x = judged_point(program, x)
    if terms is None:
        terms = np.abs(program.c) + abs(program.P) @ np.abs(x)
    best, error = x, infeasibility(program, x)
    for _ in range(ROUNDS):
        if error <= EXACT:
            break
        rows, least, most, sizes = tangents(program, x)
        low, high = (np.where(program.integer, 0.0, end - x) for end in (program.lb, program.ub))
        change = least_change(rows, (least, most), (low, high), _prices(terms, rows, sizes), deadline)
        if change is None:
            break
        moved_to = x + change
        x = judged_point(program, np.where(np.abs(moved_to) <= CANCELLED * np.abs(x), 0.0, moved_to))
        left = infeasibility(program, x)
        if left < error:
            best, error = x, left
    return best


def tangents(program: Program, x: Vector) -> tuple[sp.csr_matrix, Vector, Vector, Vector]:
    """Return rows of a matrix, the bounds of their product with a change of x, and the sums of their terms at x."""
    _, sizes = row_violations(program, x)
    activity = program.A @ x
    parts = [program.A]
    least, most, terms = [program.lo - activity], [program.hi - activity], [sizes]
    if program.general:
        other = derivatives_of(program)
        g, J = other.values(x)[:-1], other.jacobian(x)[:-1]
        parts.append(J)
        least.append(other.lo - g)
        most.append(other.hi - g)
        terms.append(general_terms(program, x))
    if len(program.cones):
        rows, needed, size = _cone_tangents(program, x)
        parts.append(rows)
        least.append(needed)
        most.append(np.full(len(needed), np.inf))
        terms.append(size)
    return sp.csr_matrix(sp.vstack(parts)), np.concatenate(least), np.concatenate(most), np.concatenate(terms)


def _cone_tangents(program: Program, x: Vector) -> tuple[sp.csr_matrix, Vector, Vector]:
    """Return rows whose product with a change has to be at least the second return value, for cones near or beyond.

    The tangent of ``head >= norm of the tail`` at x; for a matrix those, and larger diagonal entries.
    """
    cones, G = program.cones, program.cones.G.tocsr()
    s = cone_rows(program, x)
    value, heads = s.value, cones.starts[:-1]
    tails, sizes = block_norms(program, value, tail=True), block_norms(program, s.terms)
    weights = -value / np.repeat(np.where(tails > 0.0, tails, 1.0), cones.sizes)
    weights[heads] = 1.0
    room = value[heads] - tails
    near = (cones.orders == 0) & (tails > 0.0) & (value[heads] < 2.0 * tails)
    for k in np.flatnonzero(cones.pairs):
        room[k], near[k] = _rotated(program, x, int(k), value, weights)
    sums = sp.csr_matrix((weights, np.arange(len(value)), cones.starts), shape=(len(cones), len(value)))
    outside = np.flatnonzero((cones.orders == 0) & (cones.pairs == 0) & (2.0 * value[heads] < tails))
    near[outside] = False
    rows, needed, terms = [sums[np.flatnonzero(near)] @ G], [-room[near]], [sizes[near]]
    for k in outside:
        inner = _inner(cones.starts[k], cones.starts[k + 1], len(value))
        rows.append(inner @ G)
        needed.append(-(inner @ value))
        terms.append(np.full(inner.shape[0], sizes[k]))
    constant = _constant(program) if cones.orders.any() else np.zeros(0, dtype=bool)
    for k in np.flatnonzero(cones.orders):
        start = int(cones.starts[k])
        part = slice(start, cones.starts[k + 1])
        order = int(cones.orders[k])
        scaled, factor = scaled_matrix(value[part], s.terms[part], order)
        diagonal = start + np.arange(order) * np.arange(3, order + 3) // 2
        lift = _lifts(scaled, constant[G[diagonal].indices]) / factor**2
        lifted = np.flatnonzero(lift)
        cuts, least = _cuts(scaled, factor)
        rows += [G[diagonal[lifted]], sp.csr_matrix(cuts) @ G[part]]
        needed += [lift[lifted], least]
        terms += [1.0 / factor[lifted] ** 2, np.ones(len(least))]
    return sp.csr_matrix(sp.vstack(rows)), np.concatenate(needed), np.concatenate(terms)


def _lifts(lower: Matrix, constant: Mask) -> Vector:
    r"""Return by how much the diagonal of a matrix, given by its lower triangle, grows where it is far from semidefinite.

    The Schur complement N of the constant entries gets :math:`N - \sum \lambda_k v_kv_k'` over its eigenvalues below
    -:data:`FAR_OUTSIDE`, and :math:`v_kv_k' \preceq \|v_k\|_1 \mathrm{diag}|v_k|`.
    """
    matrix = lower + np.tril(lower, -1).T
    free = np.flatnonzero(~constant)
    fixed = np.flatnonzero(constant & (np.diag(matrix) > 0.0))
    across = matrix[np.ix_(free, fixed)]
    inner = matrix[np.ix_(free, free)] - across @ np.linalg.pinv(matrix[np.ix_(fixed, fixed)]) @ across.T
    eigenvalues, vectors = np.linalg.eigh(inner)
    sizes = np.where(np.abs(vectors) < 1e-3, 0.0, np.abs(vectors))
    lifts = np.zeros(len(lower))
    lifts[free] = (sizes * sizes.sum(axis=0)) @ np.where(eigenvalues < -FAR_OUTSIDE, -eigenvalues, 0.0)
    return lifts


def _cuts(lower: Matrix, factor: Vector) -> tuple[Matrix, Vector]:
    """Return tangents of a matrix that is next to a semidefinite one, as triangles, and what they need of a change."""
    eigenvalues, vectors = np.linalg.eigh(lower)
    near = (eigenvalues < 0.0) & (eigenvalues >= -FAR_OUTSIDE)
    j, i = np.tril_indices(len(lower))
    turned = factor[:, None] * vectors[:, near]
    cuts = np.where(i == j, 1.0, np.sqrt(2.0))[:, None] * turned[i] * turned[j]
    return cuts.T, -eigenvalues[near]


def _constant(program: Program) -> Mask:
    """Return the variables (n,) with one value, by their bounds or by an equation of their own."""
    constant = program.lb == program.ub
    alone = (np.diff(program.A.indptr) == 1) & (program.lo == program.hi)
    constant[program.A.indices[program.A.indptr[:-1][alone]]] = True
    return constant


def _inner(start: int, end: int, count: int) -> sp.csr_matrix:
    r"""Return the rows :math:`s_0 / \sqrt k \pm t_i \ge 0`, a cone inside a second-order cone with k entries in its tail.

    Far outside, next to the apex, tangents let the tail turn instead of shrink.
    """
    k = end - start - 1
    tail = np.arange(start + 1, end)
    rows = np.repeat(np.arange(2 * k), 2)
    columns = np.column_stack([np.full(2 * k, start), np.tile(tail, 2)]).ravel()
    signs = np.repeat([1.0, -1.0], k)
    entries = np.column_stack([np.full(2 * k, 1.0 / np.sqrt(k)), signs]).ravel()
    return sp.csr_matrix((entries, (rows, columns)), shape=(2 * k, count))


def _rotated(program: Program, x: Vector, k: int, value: Vector, weights: Vector) -> tuple[float, bool]:
    r"""Set the weights of a row for a rotated cone :math:`\|w\| \le \sqrt{fg}`; return its value, and if it counts.

    The row is the tangent at the point of the boundary with the same w whose factors have the same ratio. Far outside,
    where f is next to nothing beside :math:`\|w\|^2 / g`, it is the chord :math:`\|w\| \le (g / \|w\|)f` inside the
    cone, which takes w to 0, or f to what w needs, in one step instead of by halves.
    """
    start, end = program.cones.starts[k], program.cones.starts[k + 1]
    turned = start + program.cones.pairs[k]
    w = value[start:end].copy()
    w[[0, turned - start]] = 0.0
    norm = float(np.linalg.norm(w))
    f, g = (float(part.value[0]) for part in factors(program, x, np.array([k])))
    if norm == 0.0 and min(f, g) >= 0.0:
        return 0.0, False
    if min(f, g) > 0.0 and 4.0 * f * g >= norm**2:
        a, b = 0.5 * np.sqrt(g / f), 0.5 * np.sqrt(f / g)
    elif norm > 0.0 and max(f, g) > 0.0:
        a, b = (g / norm, 0.0) if g >= f else (0.0, f / norm)
    else:
        a, b = 0.5, 0.5
    weights[start:end] = -w / max(norm, 1e-300)
    weights[start], weights[turned] = a + b, a - b
    return a * f + b * g - norm, a * f + b * g < 2.0 * norm or min(f, g) <= 0.0


def _prices(first: Vector, rows: sp.csr_matrix, sizes: Vector) -> Vector:
    """Return what a change of each variable costs: of the objective, else a small share of the rows it is in."""
    share = ratio(np.ones(len(sizes)), sizes)
    share[~np.isfinite(share)] = 0.0
    scaled = abs(sp.diags(share) @ rows)
    largest = scaled.max(axis=0).toarray().ravel() if rows.shape[0] else np.zeros(rows.shape[1])
    prices: Vector = np.where(first > 0.0, first, np.maximum(1e-3 * largest, SMALL))
    return prices


def least_change(
    rows: sp.csr_matrix, sides: tuple[Vector, Vector], box: tuple[Vector, Vector], prices: Vector, deadline: float
) -> Vector | None:
    r"""Return the minimum of :math:`p'|v|` with :math:`\ell \le Mv \le u` and v in a box; None where none is found.

    The program is equilibrated, and scaled by the largest of the sides that 0 does not meet, so that the absolute
    tolerances of the simplex method are relative to what is needed.
    """
    r, d = _equilibrated(rows)
    with np.errstate(invalid="ignore"):
        least, most = (np.where(r > 0.0, side * r, end) for side, end in zip(sides, (-np.inf, np.inf), strict=True))
        low, high = (end / d for end in box)
    need = max(float(np.maximum(least, -most).max(initial=0.0)), float(np.maximum(low, -high).max(initial=0.0)))
    if not 0.0 < need < np.inf:
        return None
    scaled = sp.csr_matrix(sp.diags(r) @ rows @ sp.diags(d))
    found = _simplex(scaled, (least / need, most / need), (low / need, high / need), prices * d, deadline)
    return None if found is None else found * need * d


def _equilibrated(rows: sp.csr_matrix) -> tuple[Vector, Vector]:
    """Return factors of rows (0 for an empty one) and of columns that bring the largest entries to about 1."""
    sizes = abs(rows).tocoo()
    m, n = rows.shape
    d, r = np.ones(n), np.ones(m)
    for _ in range(3):
        for here, there, place, other, count in ((r, d, sizes.row, sizes.col, m), (d, r, sizes.col, sizes.row, n)):
            largest = np.zeros(count)
            np.maximum.at(largest, place, sizes.data * there[other])
            here[:] = ratio(np.ones(count), largest)
            here[~np.isfinite(here)] = 0.0 if count == m and here is r else 1.0
    return r, d


FAR = 1e9
"""A side that is farther away than this, in the unit of the needed change, is none."""


def _simplex(
    rows: sp.csr_matrix, sides: tuple[Vector, Vector], box: tuple[Vector, Vector], prices: Vector, deadline: float
) -> Vector | None:
    """Return the v (n,) of the least cost, by HiGHS."""
    import highspy

    least, most, low, high = (np.where(np.abs(v) < FAR, v, np.copysign(np.inf, v)) for v in (*sides, *box))
    kept = np.flatnonzero(np.isfinite(least) | np.isfinite(most))
    n, inner = len(low), rows[kept]
    matrix = sp.csr_matrix(sp.hstack([inner, -inner]))
    solver = silent()
    left = min(deadline - time.perf_counter(), 60.0)
    if left <= 0.0:
        return None
    # Presolve called programs with costs from 1e-8 to 1 unbounded; and the start, v = 0, is near the optimum.
    options = {"threads": 1, "time_limit": left, "presolve": "off"}
    options |= {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    for name, option in options.items():
        solver.setOptionValue(name, option)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = 2 * n, len(kept)
    lp.col_cost_ = np.tile(prices / max(float(prices.max(initial=0.0)), 1e-300), 2)
    lp.col_lower_ = np.append(np.maximum(low, 0.0), np.maximum(-high, 0.0))
    lp.col_upper_ = np.append(np.maximum(high, 0.0), np.maximum(-low, 0.0))
    lp.row_lower_, lp.row_upper_ = least[kept], most[kept]
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
    solver.passModel(lp)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    v = np.array(solver.getSolution().col_value)
    return np.asarray(v[:n] - v[n:])


# -- multipliers ------------------------------------------------------------------------------------------


def dual_moved(program: Program, point: Point, deadline: float) -> Point:
    """Return multipliers of which no reduced cost asks for a bound that its variable has not, by the least change.

    A bound that is so far away that the reduced cost times the distance opens the gap counts as none. Multipliers of
    cones change within the tangents of the cones.
    """
    x = point.x
    y, z = cleaned(program, point)
    dear = CLOSE * max(program.unit, abs(minimised(program, x)))
    free = np.isinf(program.lb), np.isinf(program.ub)
    rows, cones = row_violations(program, x)[1], cone_rows(program, x).terms
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
        tangent, room, low_z, high_z = _dual_tangents(program, z)
        M = sp.hstack([program.A.T, program.cones.G.T]).tocsr()[F]
        M = sp.csr_matrix(sp.vstack([M, sp.hstack([sp.csr_matrix((len(room), len(y))), tangent])]))
        least = np.append(np.where(free[0][F], value, -np.inf), -room)
        most = np.append(np.where(free[1][F], value, np.inf), np.full(len(room), np.inf))
        low = np.append(np.where(np.isinf(program.hi), -y, -np.inf), low_z)
        high = np.append(np.where(np.isinf(program.lo), -y, np.inf), high_z)
        prices = _prices(np.append(rows, cones), M, np.append(terms, np.zeros(len(room))))
        change = least_change(M, (least, most), (low, high), prices, deadline)
        if change is None:
            break
        y, z = cleaned(program, Point(x, y + change[: len(y)], z + change[len(y) :]))
    return Point(x, y, z)


def _dual_tangents(program: Program, z: Vector) -> tuple[sp.csr_matrix, Vector, Vector, Vector]:
    """Return rows that keep a change of z in the tangents of its cones, how far z is inside, and a box of the change.

    Blocks at the apex, which have no tangent, stay as they are; of matrices the diagonals may grow.
    """
    cones, heads = program.cones, program.cones.starts[:-1]
    if not len(cones):
        return sp.csr_matrix((0, 0)), np.zeros(0), np.zeros(0), np.zeros(0)
    tails = block_norms(program, z, tail=True)
    weights = -z / np.repeat(np.where(tails > 0.0, tails, 1.0), cones.sizes)
    weights[heads] = 1.0
    rows = sp.csr_matrix((weights, np.arange(len(z)), cones.starts), shape=(len(cones), len(z)))
    still = (tails == 0.0) | (cones.orders > 0)
    high = np.where(np.repeat(still, cones.sizes), 0.0, np.inf)
    low = -high
    for k in np.flatnonzero(cones.orders):
        places = np.arange(cones.orders[k])
        high[cones.starts[k] + places * (places + 3) // 2] = np.inf
    return rows[np.flatnonzero(~still)], (z[heads] - tails)[~still], low, high


def without_small(program: Program, point: Point) -> Point:
    """Return a point with 0 for multipliers of rows that change the Lagrangian by next to nothing."""
    y, z = point.multipliers
    sizes = tangents(program, point.x)[3][: len(y)]
    small = np.abs(y) * sizes <= NOISE[2] * max(program.unit, abs(minimised(program, point.x)))
    return Point(point.x, np.where(small, 0.0, y), z)


def without_noise(program: Program, point: Point, share: float) -> Point:
    """Return the point with 0 for multipliers that are noise.

    A multiplier is noise where it is nowhere more than a share of the terms of a column that the objective reaches
    through other multipliers, which are none; the share 0 leaves them all.
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
    while True:
        more = shares @ reached > 0.0
        if (more == kept).all():
            break
        kept = more
        reached = reached | (shares.T @ kept > 0.0)
    blocks = np.repeat(np.arange(len(program.cones)), program.cones.sizes)
    kept[len(y) :] = np.bincount(blocks, kept[len(y) :], len(program.cones))[blocks] > 0
    return Point(point.x, *(np.where(part, v, 0.0) for v, part in ((y, kept[: len(y)]), (z, kept[len(y) :]))))
