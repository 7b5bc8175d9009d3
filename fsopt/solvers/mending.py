r"""Answers with small errors, mended before they are judged: a point that meets every constraint, exact multipliers.

A solver stops within absolute tolerances in its own units. Its point is then moved by the least change that meets every
constraint, where a change of a variable costs what it changes of the objective: the sum :math:`T_j` of the terms of its
reduced cost. Its multipliers are moved by the least change that leaves no reduced cost without a bound to pay it. Both
are linear programs, with the tangents of cones and of other constraints in their place, and are repeated for what they
leave; changes that are small beside their cones, where tangents say enough, come first. What is left of a cone goes
with a small step towards its interior. Multipliers that are noise, small in every column, become 0 first. A mended
point is another answer, and is judged as any other: nothing here can make a false answer pass.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from fsopt.answers.certificate import FEASIBLE, TOLERANCE
from fsopt.answers.results import Point
from fsopt.certificates.bounds import Box, cleaned, farkas, lower_bound, no_objective, reduced_costs
from fsopt.certificates.convex import best_bound, gap
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
from fsopt.compiler.derivatives import derivatives_of
from fsopt.errors import SolverError, foreign
from fsopt.solvers.highs import run_highs, silent
from fsopt.solvers.tangents import dual_tangents, tangents, trusted
from fsopt.typing import Mask, Vector

ROUNDS = 8
"""Linear programs of a mend: each leaves about the square of the error before it, or meets constraints that are smaller
than the tolerance of the one before."""
CLOSE = 1e-8
"""Part of a gap, relative to the objective value, that one reduced cost may open."""
INWARDS = np.geomspace(1e-12, 1e-6, 25)
"""Shares of the way to an interior point, which cost about as much of the objective value."""
LAST = 1e3
"""Price of a variable in nonlinear constraints, in that of the dearest other one."""
CANCELLED = 1e-9
"""A value that a change leaves this share of is 0, but for the rounding of the change."""
EXACT = 1e-13
"""Relative error that is left to rounding."""
NOISE = (0.0, 1e-13, 1e-9, 1e-7, 1e-5)
"""Shares of the terms of a column up to which a multiplier is noise; the first that suffices counts."""
SMALL = 1e-12
"""Smallest price of a change."""
FAR = 1e9
"""A side that is farther away than this, in the unit of the needed change, is none."""
NEARLY = 1e-3
"""Violation, in the same unit, with which a change is still one: the next round mends what is left."""


def mended(program: Program, point: Point, deadline: float, known: dict[float, Box] | None = None) -> Point:
    """Return the point of a convex program with a point and multipliers that are as good as the mends make them.

    Parameters
    ----------
    point : of a solver, with or without multipliers.
    deadline : of ``time.perf_counter``.
    known : ranges of the variables for values, as :func:`fsopt.certificates.convex.best_bound` has them; grows.
    """
    x, known = judged_point(program, point.x), {} if known is None else known
    priced = point.y is not None and point.z is not None
    if infeasibility(program, x) <= FEASIBLE and (not priced or closes(program, x, point, known)):
        return Point(x, point.y, point.z) if priced else Point(x)
    x = moved(program, x, deadline, _terms(program, point) if priced else None)
    if not priced:
        return Point(x)
    pair = Point(x, point.y, point.z)
    best = pair
    for tried in tries(program, pair, deadline):
        if infeasibility(program, tried.x) > FEASIBLE:
            tried = Point(x, tried.y, tried.z)
        if closes(program, judged_point(program, tried.x), tried, known):
            return tried
        best = max(best, tried, key=lambda found: lower_bound(program, found).value)
    return best


def mended_ray(program: Program, ray: Point, deadline: float) -> Point | None:
    """Return multipliers that prove that a convex program has no point, mended where it takes that; None for none.

    Parameters
    ----------
    ray : multipliers y and z of either sign; x is not used.
    deadline : of ``time.perf_counter``.
    """
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
        yield dual_moved(program, without_noise(program, point, share), deadline)


def closes(program: Program, x: Vector, pair: Point, known: dict[float, Box] | None = None) -> bool:
    """Return whether the bound of multipliers meets the value at x, with ranges ``known`` for values if need be."""
    value = minimised(program, x)
    if gap(program, value, lower_bound(program, Point(x, *pair.multipliers)).value) <= TOLERANCE:
        return True
    return gap(program, value, best_bound(program, pair, value, known).value) <= TOLERANCE


def _terms(program: Program, point: Point) -> Vector:
    """Return the sums of the terms of the reduced costs (n,)."""
    return reduced_costs(program, point.x, *cleaned(program, point))[0].terms


def moved(program: Program, x: Vector, deadline: float, terms: Vector | None = None) -> Vector:
    """Return the point (n,) of the least change that meets every constraint, with the same integers, as far as it goes.

    Parameters
    ----------
    deadline : of ``time.perf_counter``.
    terms : (n,) sums of the terms of the reduced costs, the prices of changes; None for those of the objective.
    """
    best = judged_point(program, x)
    error = infeasibility(program, best)
    if terms is None:
        terms = np.abs(program.c) + abs(program.P) @ np.abs(best)
    x = judged_point(program, defined(program, best))
    for _ in range(ROUNDS + 1):
        left = infeasibility(program, x)
        if left < error:
            best, error = x, left
        if error <= EXACT:
            break
        rows, least, most, sizes = tangents(program, x)
        low, high = (np.where(program.integer, 0.0, end - x) for end in (program.lb, program.ub))
        prices = prices_of(terms, rows, sizes)
        for fall, growth in (trusted(program, x), (np.inf, np.inf)) if len(program.cones) else ((np.inf, np.inf),):
            box = np.maximum(low, -fall), np.minimum(high, growth)
            change = least_change(rows, (least, most), box, prices, deadline)
            if change is not None:
                break
        if change is None:
            break
        moved_to = x + change
        x = judged_point(program, defined(program, np.where(np.abs(moved_to) <= CANCELLED * np.abs(x), 0.0, moved_to)))
    return best


def defined(program: Program, x: Vector) -> Vector:
    """Return x (n,) where free variables that are in one equation alone have the values that it gives them."""
    free = np.isinf(program.lb) & np.isinf(program.ub) & ~program.integer & (program.A.getnnz(axis=0) == 1)
    entries = program.A.tocoo()
    own = np.flatnonzero(free[entries.col] & (program.lo == program.hi)[entries.row] & (entries.data != 0.0))
    rows, first = np.unique(entries.row[own], return_index=True)
    x, columns = x.copy(), entries.col[own[first]]
    x[columns] = 0.0
    x[columns] = (program.lo - program.A @ x)[rows] / entries.data[own[first]]
    return x


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
        tangent, slack, low_z, high_z = dual_tangents(program, z)
        k = len(curved)
        M = sp.hstack([program.A.T, program.cones.G.T, -program.P[:, curved]]).tocsr()[F]
        sides = [sp.csr_matrix((len(slack), len(y))), tangent, sp.csr_matrix((len(slack), k))]
        M = sp.csr_matrix(sp.vstack([M, sp.hstack(sides)]))
        least = np.append(np.where(free[0][F], value, -np.inf), -slack)
        most = np.append(np.where(free[1][F], value, np.inf), np.full(len(slack), np.inf))
        low = np.concatenate([np.where(np.isinf(program.hi), -y, -np.inf), low_z, (program.lb - x)[curved]])
        high = np.concatenate([np.where(np.isinf(program.lo), -y, np.inf), high_z, (program.ub - x)[curved]])
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


def without_small(program: Program, point: Point) -> Point:
    """Return a point with 0 for multipliers of rows that change the Lagrangian by next to nothing."""
    y, z = point.multipliers
    sizes = tangents(program, point.x)[3][: len(y)]
    small = np.abs(y) * sizes <= NOISE[2] * max(program.unit, abs(minimised(program, point.x)))
    return Point(point.x, np.where(small, 0.0, y), z)


def stationary(program: Program, point: Point, deadline: float) -> Point:
    """Return a point with the multipliers of the program linearised there: no reduced cost asks for a missing bound."""
    x, other = point.x, derivatives_of(program)
    J, g = other.jacobian(x), other.values(x)[:-1]
    shift = J[:-1] @ x - g
    linear = replace(
        program,
        P=sp.csc_matrix((program.n, program.n)),
        c=program.P @ x + program.c + J[-1].toarray().ravel(),
        A=sp.csr_matrix(sp.vstack([program.A, J[:-1]])),
        lo=np.append(program.lo, other.lo + shift),
        hi=np.append(program.hi, other.hi + shift),
        general=[],
        objective_terms=[],
        nonconic=[],
    )
    return Point(x, *dual_moved(linear, point, deadline).multipliers)


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
    with foreign(
        "HiGHS", "the least change of a point was not found", "solve the model by another solver", SolverError
    ):
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
    lp.a_matrix_.start_, lp.a_matrix_.index_ = matrix.indptr, matrix.indices
    lp.a_matrix_.value_ = matrix.data
    solver.passModel(lp)
    run_highs(solver)
    if not solver.getInfo().max_primal_infeasibility <= NEARLY:
        return None
    v = np.array(solver.getSolution().col_value)
    return np.asarray(v[:n] - v[n:])


def prices_of(first: Vector, rows: sp.csr_matrix, sizes: Vector) -> Vector:
    """Return what a change of each variable costs: of the objective, else a small share of the rows it is in."""
    share = ratio(np.ones(len(sizes)), sizes)
    share[~np.isfinite(share)] = 0.0
    scaled = abs(sp.diags(share) @ rows)
    largest = scaled.max(axis=0).toarray().ravel() if rows.shape[0] else np.zeros(rows.shape[1])
    prices: Vector = np.where(first > 0.0, first, np.maximum(1e-3 * largest, SMALL))
    return prices
