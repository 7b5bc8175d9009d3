r"""Points moved by the least change that meets every constraint: one linearisation, one linear program.

The constraints are linearised at the point: cones by their tangents, matrices by those of their eigenvectors. The least
change that meets these rows is the answer of a linear program, repeated for what it leaves: each round leaves about the
square of the error before it, and keeps the tangents of the cones, which are met by all their points. A point is moved
into the interior as one is moved to constraints whose bounds are moved inward.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from fsopt.certificates import arithmetic
from fsopt.certificates.points import (
    activities,
    cone_rows,
    factors,
    general_terms,
    infeasibility,
    judged_point,
    ratio,
    row_violations,
    scaled_matrix,
)
from fsopt.compiler import Program
from fsopt.compiler.cones import ConeStack, triangle_to_matrix
from fsopt.compiler.derivatives import derivatives_of
from fsopt.errors import SolverError, foreign
from fsopt.typing import Vector

ROUNDS = 12
"""Linear programs of a mend: each leaves about the square of the error before it, or meets constraints that are smaller
than the tolerance of the one before."""
CANCELLED = 1e-9
"""A value that a change leaves this share of is 0, but for the rounding of the change."""
EXACT = 1e-13
"""Relative error that is left to rounding."""
SMALL = 1e-12
"""Smallest price of a change."""
FAR = 1e9
"""A side that is farther away than this, in the unit of the needed change, is none."""


def tangents(
    program: Program, x: Vector, earlier: list[sp.csr_matrix] | None = None
) -> tuple[sp.csr_matrix, Vector, Vector, Vector]:
    """Return rows of a matrix, the bounds of their product with a change of x (n,), and the sums of their terms.

    ``earlier`` are tangents of the cones at other points, which count as well; those at x are appended. Without it the
    tangents of matrices are those in the units of their diagonals, and each cone has terms of its own.
    """
    activity = activities(program, x) if earlier is None else arithmetic.of(program.A @ x)  # rounded as x is
    rows, sizes = [program.A], [row_violations(program, x)[1]]
    least, most = ([arithmetic.of(side).minus(activity).value] for side in (program.lo, program.hi))
    if program.general:
        other = derivatives_of(program)
        g = other.values(x)[:-1]
        rows.append(other.jacobian(x)[:-1])
        least.append(other.lo - g)
        most.append(other.hi - g)
        sizes.append(general_terms(program, x))
    if len(program.cones):
        s = cone_rows(program, x)
        left, right = (f.value for f in factors(program, x, np.flatnonzero(program.cones.pairs)))
        cuts, slack = cone_tangents(program.cones, s.value, (left, right), s.terms if earlier is None else None)
        if earlier is not None:
            slack = np.concatenate([*(known @ s.value for known in earlier), slack])
            earlier.append(cuts)
            cuts = sp.csr_matrix(sp.vstack(earlier))
        rows.append(cuts @ program.cones.G)
        least.append(-slack)
        most.append(np.full(len(slack), np.inf))
        sizes.append(abs(cuts) @ s.terms)
        if earlier is None:  # the larger factor of a rotated cone is no term of the smaller one
            paired = np.flatnonzero(program.cones.pairs[program.cones.orders == 0])
            sizes[-1][paired] = (abs(rows[-1]) @ np.abs(x) + np.abs(cuts @ program.cones.h))[paired]
    return sp.csr_matrix(sp.vstack(rows)), np.concatenate(least), np.concatenate(most), np.concatenate(sizes)


def cone_tangents(
    cones: ConeStack, s: Vector, pair: tuple[Vector, Vector] | None = None, sizes: Vector | None = None
) -> tuple[sp.csr_matrix, Vector]:
    r"""Return rows that are nonnegative on the cones, tangents next to s (k,), and their values at s.

    A second-order cone has one, a matrix one for each eigenvector v, :math:`v'Sv`. That of a rotated cone
    :math:`\|w\|^2 \le fg` touches it where the larger factor and w are those of s, with the smaller
    factor raised to what w needs: :math:`f + q^2g - 2q\|w\|` with the root q of their ratio.

    ``pair`` are the factors f and g at s where they are known without the cancellation of their rows. With the
    ``sizes`` of its entries a matrix is taken in the units of its diagonal, which entries in unlike units ask for.
    """
    heads, paired = cones.starts[:-1], np.flatnonzero(cones.pairs)
    turned, owner = heads[paired] + cones.pairs[paired], np.repeat(np.arange(len(cones)), cones.sizes)
    tail = s.copy()
    tail[heads], tail[turned] = 0.0, 0.0
    norm = np.sqrt(np.bincount(owner, tail**2, len(cones)))
    lifts, slack = np.ones(len(cones)), s[heads] - norm
    shares = 1.0 / np.where(norm > 0.0, norm, 1.0)
    f, g = (s[heads[paired]] + s[turned], s[heads[paired]] - s[turned]) if pair is None else pair
    w = norm[paired]
    more, less = np.maximum(f, g), np.maximum(np.minimum(f, g), 0.0)
    q = np.where(more > 0.0, np.minimum(np.maximum(np.sqrt(ratio(less, more)), ratio(w, more)), 1.0), 1.0)
    a, b = np.where(f > g, q**2, 1.0), np.where(f > g, 1.0, q**2)
    lifts[paired], slack[paired] = a + b, a * f + b * g - 2.0 * q * w
    shares[paired] *= 2.0 * q
    weights = -tail * shares[owner]
    weights[heads], weights[turned] = lifts, a - b
    second, shape = np.flatnonzero(cones.orders == 0), (len(cones), len(s))
    rows = [sp.csr_matrix((weights, np.arange(len(s)), cones.starts), shape=shape)[second]]
    values = [slack[second]]
    for k in np.flatnonzero(cones.orders):
        places, order = np.arange(cones.starts[k], cones.starts[k + 1]), int(cones.orders[k])
        matrix, units = triangle_to_matrix(s[places], order), np.ones(order)
        if sizes is not None:
            matrix, units = scaled_matrix(s[places], sizes[places], order)
        eigenvalues, vectors = np.linalg.eigh(matrix)
        vectors *= units[:, None]
        j, i = np.tril_indices(order)
        cuts = np.where(i == j, 1.0, np.sqrt(2.0)) * vectors[i].T * vectors[j].T
        ends = len(places) * np.arange(order + 1)
        rows.append(sp.csr_matrix((cuts.ravel(), np.tile(places, order), ends), shape=(order, len(s))))
        values.append(eigenvalues)
    return sp.csr_matrix(sp.vstack(rows)), np.concatenate(values)


def moved(program: Program, x: Vector, deadline: float, terms: Vector | None = None) -> Vector:
    """Return the point (n,) of the least change that meets every constraint, with the same integers, as far as it goes.

    The deadline is of ``time.perf_counter``; the ``terms`` (n,) are prices of changes, by default of the objective.
    """
    best = judged_point(program, x)
    error = infeasibility(program, best)
    if terms is None:
        terms = np.abs(program.c) + abs(program.P) @ np.abs(best)
    x = judged_point(program, defined(program, best))
    cuts: list[sp.csr_matrix] = []
    for _ in range(ROUNDS + 1):
        left = infeasibility(program, x)
        if left < error:
            best, error = x, left
        if error <= EXACT:
            break
        rows, least, most, sizes = tangents(program, x, cuts)
        low, high = (np.where(program.integer, 0.0, end - x) for end in (program.lb, program.ub))
        change = least_change(rows, (least, most), (low, high), prices_of(terms, rows, sizes), deadline)
        if change is None:
            break
        x = defined(program, changed(x, change))
        x = np.clip(x, program.lb, program.ub)  # a tail that grows from 0 is no rounding
    return judged_point(program, best)


def changed(x: Vector, change: Vector) -> Vector:
    """Return x + change, and 0 for what is left of x by rounding."""
    found: Vector = np.where(np.abs(x + change) <= CANCELLED * np.abs(x), 0.0, x + change)
    return found


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


def inward(program: Program, x: Vector, units: Vector, step: float) -> Vector | None:
    """Return a point near x (n,) inside every constraint by what a step of all variables, in units (n,), changes."""
    cones, room = program.cones, step * (abs(program.A) @ units)
    equal, h = program.lo == program.hi, program.cones.h.copy()
    if len(cones):
        inside = step * np.maximum.reduceat(abs(cones.G) @ units, cones.starts[:-1])
        for start, order, less in zip(cones.starts[:-1], np.maximum(cones.orders, 1), inside, strict=True):
            h[start + np.arange(order) * np.arange(3, order + 3) // 2] -= less
    lo, hi = (np.where(equal, end, end + way * room) for end, way in ((program.lo, 1.0), (program.hi, -1.0)))
    off = np.minimum(step * units, 0.25 * (program.ub - program.lb))
    lb = np.where(x > program.lb, program.lb + off, program.lb)
    ub = np.where(x < program.ub, program.ub - off, program.ub)
    inner = replace(program, lo=lo, hi=hi, lb=lb, ub=ub, cones=replace(cones, h=h))
    found = moved(inner, x, np.inf, 1.0 / units)
    return found if infeasibility(inner, found) <= step else None


def least_change(
    rows: sp.csr_matrix, sides: tuple[Vector, Vector], box: tuple[Vector, Vector], prices: Vector, deadline: float
) -> Vector | None:
    r"""Return the minimum of :math:`p'|v|` with :math:`\ell \le Mv \le u` and v in a box; None where none is found.

    The program is equilibrated, and scaled by the largest of the sides that 0 does not meet, so that the absolute
    tolerances of the simplex method are relative to what is needed.
    """
    from scipy.optimize import linprog

    sizes, d = abs(rows), np.ones(rows.shape[1])
    for _ in range(3):
        r = _inverse(sizes @ sp.diags(d), 1, 0.0)
        d = _inverse(sp.diags(r) @ sizes, 0, 1.0)
    with np.errstate(invalid="ignore"):
        ends = [np.where(r > 0.0, side * r, end) for side, end in zip(sides, (-np.inf, np.inf), strict=True)]
        ends += [end / d for end in box]
    need = max(float(np.maximum(low, -high).max(initial=0.0)) for low, high in (ends[:2], ends[2:]))
    left = min(deadline - time.perf_counter(), 60.0)
    if not 0.0 < need < np.inf or left <= 0.0:
        return None
    least, most, low, high = (np.where(np.abs(v / need) < FAR, v / need, np.copysign(np.inf, v)) for v in ends)
    scaled, costs = sp.csr_matrix(sp.diags(r) @ rows @ sp.diags(d)), prices * d
    both, equal = sp.csr_matrix(sp.hstack([scaled, -scaled])), least == most
    above, below = np.isfinite(most) & ~equal, np.isfinite(least) & ~equal
    # Presolve called programs with costs from 1e-8 to 1 unbounded; and the start, v = 0, is near the optimum.
    options = {"time_limit": left, "presolve": False}
    options |= {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    with foreign(
        "HiGHS", "the least change of a point was not found", "solve the model by another solver", SolverError
    ):
        found = linprog(
            np.tile(costs / max(float(costs.max(initial=0.0)), 1e-300), 2),
            A_ub=sp.vstack([both[above], -both[below]]),
            b_ub=np.append(most[above], -least[below]),
            A_eq=both[equal],
            b_eq=least[equal],
            bounds=np.maximum([np.append(low, -high), np.append(high, -low)], 0.0).T,
            method="highs-ds",
            options=options,
        )
    n = len(low)
    return None if found.x is None else np.asarray(found.x[:n] - found.x[n:]) * need * d


def _inverse(sizes: sp.csr_matrix, axis: int, empty: float) -> Vector:
    """Return the inverses of the largest entries of rows (axis 1) or columns (axis 0), a number for those without."""
    largest = sizes.max(axis=axis).toarray().ravel() if min(sizes.shape) else np.zeros(sizes.shape[1 - axis])
    inverse: Vector = np.where(largest > 0.0, 1.0 / np.where(largest > 0.0, largest, 1.0), empty)
    return inverse


def prices_of(first: Vector, rows: sp.csr_matrix, sizes: Vector) -> Vector:
    """Return what a change of each variable costs: of the objective, else a small share of the rows it is in."""
    share = np.where(sizes > 1e-200, 1.0 / np.maximum(sizes, 1e-200), 0.0)  # nothing has an inverse below
    least = np.maximum(1e-3 / _inverse(abs(sp.diags(share) @ rows), 0, np.inf), SMALL)
    prices: Vector = np.where(first > 0.0, first, least)
    return prices
