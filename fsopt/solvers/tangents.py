"""Constraints next to a point as rows of a matrix: the tangents that a mend of the point has to keep.

Far outside of a cone, next to its apex, a tangent says little of the cone. There rows from inside take its place.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fsopt.certificates.points import (
    block_norms,
    cone_rows,
    factors,
    general_terms,
    ratio,
    row_violations,
    scaled_matrix,
)
from fsopt.compiler import Program
from fsopt.compiler.derivatives import derivatives_of
from fsopt.typing import Indices, Mask, Matrix, Vector

LARGE_ENTRY = 2.0
"""Entry of a matrix with a diagonal of size 1 from which the diagonal entries beside it are next to nothing."""
TRUSTED = 0.1
"""Largest change in a cone for which a tangent says enough, as a share of its vector, or of its multiplier's tail."""
THIN = 1e-6
"""Share of the larger factor of a rotated cone up to which the root of the product, and w, are next to nothing."""
FAR_OUTSIDE = 0.1
"""Negative eigenvalue, of a matrix with a diagonal of size 1, from which tangents say too little."""


def tangents(program: Program, x: Vector) -> tuple[sp.csr_matrix, Vector, Vector, Vector]:
    """Return rows of a matrix, the bounds of their product with a change of x, and the sums of their terms at x."""
    _, sizes = row_violations(program, x)
    activity = program.A @ x
    parts = [program.A]
    least, most = [program.lo - activity], [program.hi - activity]
    terms = [sizes]
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


def trusted(program: Program, x: Vector) -> tuple[Vector, Vector]:
    """Return how far each variable may fall and grow (n,) for the tangents of its second-order cones to say enough.

    That is a share of the norm of the cone's vector; of rotated cones of f and g, as one may be next to nothing, and of
    |w| or of what it may be, sqrt(fg). Heads, f and g may grow without end.
    """
    cones, G = program.cones, program.cones.G.tocsr()
    value = cone_rows(program, x).value
    head, turned, w, f, g = _factored(program, x, value)
    sizes = np.where(cones.pairs > 0, block_norms(program, w), block_norms(program, value))
    roots = np.sqrt(np.maximum(f, 0.0)) * np.sqrt(np.maximum(g, 0.0))
    sizes[cones.pairs > 0] = np.maximum(sizes[cones.pairs > 0], roots)
    sizes[cones.orders > 0] = np.inf
    others = np.ones(len(value), dtype=bool)
    others[head], others[turned] = False, False
    sizes = np.concatenate([np.repeat(sizes, cones.sizes)[others], np.abs(f), np.abs(g)])
    rows, columns, entries = sp.find(sp.vstack([G[others], G[head] + G[turned], G[head] - G[turned]]))
    heads = np.append(np.isin(np.flatnonzero(others), cones.starts[:-1]), np.ones(2 * len(head), dtype=bool))[rows]
    changes = TRUSTED * sizes[rows] / np.abs(entries)
    fall, growth = np.full(program.n, np.inf), np.full(program.n, np.inf)
    for room, counts in (fall, ~heads | (entries > 0.0)), (growth, ~heads | (entries < 0.0)):
        np.minimum.at(room, columns[counts], changes[counts])
    return fall, growth


def _factored(program: Program, x: Vector, value: Vector) -> tuple[Indices, Indices, Vector, Vector, Vector]:
    """Return the rows s_0 and s_q of rotated cones, the vector (k,) without these entries, and the factors f and g."""
    paired = np.flatnonzero(program.cones.pairs)
    head, w = program.cones.starts[paired], value.copy()
    turned = head + program.cones.pairs[paired]
    w[head], w[turned] = 0.0, 0.0
    f, g = (part.value for part in factors(program, x, paired))
    return head, turned, w, f, g


def _cone_tangents(program: Program, x: Vector) -> tuple[sp.csr_matrix, Vector, Vector]:
    """Return tangents at x of cones near or beyond, and how large their products with a change have to be."""
    cones, G = program.cones, program.cones.G.tocsr()
    s = cone_rows(program, x)
    value, heads = s.value, cones.starts[:-1]
    tails, sizes = block_norms(program, value, tail=True), block_norms(program, s.terms)
    weights = -value / np.repeat(np.where(tails > 0.0, tails, 1.0), cones.sizes)
    weights[heads] = 1.0
    slack = value[heads] - tails
    near = (cones.orders == 0) & (tails > 0.0) & (value[heads] < 2.0 * tails)
    far = (cones.orders == 0) & (cones.pairs == 0) & ((2.0 * value[heads] <= tails) | (tails == 0.0))
    rotated, sides, shares = _rotated(program, x, value, weights, slack, near)
    blocks, ones = np.append(np.flatnonzero(far), rotated), np.ones(np.count_nonzero(far))
    sides, shares = np.append(0.0 * ones, sides), np.append(ones, shares)
    near[blocks] = False
    sums = sp.csr_matrix((weights, np.arange(len(value)), cones.starts), shape=(len(cones), len(value)))
    inner, owners = _inner(program, blocks, sides, shares)
    rows = [sums[np.flatnonzero(near)] @ G, inner @ G]
    needed, terms = [-slack[near], -(inner @ value)], [sizes[near], sizes[owners]]
    constant = _constant(program) if cones.orders.any() else np.zeros(0, dtype=bool)
    for k in np.flatnonzero(cones.orders).tolist():
        start = int(cones.starts[k])
        part = slice(start, cones.starts[k + 1])
        order = int(cones.orders[k])
        scaled, factor = scaled_matrix(value[part], s.terms[part], order)
        diagonal = start + np.arange(order) * np.arange(3, order + 3) // 2
        fixed = constant[G[diagonal].indices]
        dropped, rest = _dropped(scaled, fixed, constant[G[part].indices])
        places = start + np.flatnonzero(dropped & (value[part] != 0.0))
        lift = (_lifts(rest, fixed) + np.maximum(-np.diag(scaled), 0.0) * (np.diag(rest) > np.diag(scaled))) / factor**2
        lifted = np.flatnonzero(lift)
        cuts, least = _cuts(rest, factor)
        rows += [G[diagonal[lifted]], sp.csr_matrix(cuts) @ G[part], G[places], -G[places]]
        needed += [lift[lifted], least, -value[places], value[places]]
        terms += [1.0 / factor[lifted] ** 2, np.ones(len(least)), *2 * [s.terms[places]]]
    return sp.csr_matrix(sp.vstack(rows)), np.concatenate(needed), np.concatenate(terms)


def _dropped(lower: Matrix, fixed: Mask, constant: Mask) -> tuple[Mask, Matrix]:
    """Return the entries beside a diagonal entry next to nothing, to become 0, and the triangle without them."""
    # As w is in w^2 <= s t where s is next to nothing. Constants stay.
    size = np.abs(lower + np.tril(lower, -1).T) - np.diag(np.abs(np.diag(lower)))
    gone = ~fixed & ((np.diag(lower) <= 0.0) | (size.max(axis=0, initial=0.0) > LARGE_ENTRY))
    j, i = np.tril_indices(len(lower))
    steady = constant & (i != j) & (lower[j, i] != 0.0)
    gone[np.concatenate([i[steady], j[steady]])] = False
    rest = np.where(gone | gone[:, None], 0.0, lower) + np.diag(np.where(gone, 1.0, 0.0))
    return (i != j) & (gone[i] | gone[j]), rest


def _lifts(lower: Matrix, constant: Mask) -> Vector:
    """Return by how much the diagonal of a matrix (its lower triangle) grows where that is far from semidefinite."""
    # The Schur complement N of the constant entries gets N - sum_k lambda_k v_k v_k' over its eigenvalues below
    # -FAR_OUTSIDE, and v_k v_k' is at most |v_k|_1 diag|v_k|.
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
    constant: Mask = program.lb == program.ub
    alone = (np.diff(program.A.indptr) == 1) & (program.lo == program.hi)
    constant[program.A.indices[program.A.indptr[:-1][alone]]] = True
    return constant


def _inner(program: Program, blocks: Indices, sides: Vector, shares: Vector) -> tuple[sp.csr_matrix, Indices]:
    """Return the rows f / (c sqrt(d)) +- w_i >= 0 inside cones with d entries in their tails, f = s_0 +- s_q or s_0.

    The side of a block is the sign of s_q in f, 0 for the head alone, and its share is c. The second is the block that
    each row is of.
    """
    # Far outside, next to the apex, tangents let the tail turn instead of shrink; where the tail is 0 there is none.
    cones, heads = program.cones, program.cones.starts[blocks]
    turned, sizes = heads + cones.pairs[blocks], cones.sizes[blocks]
    owner = np.repeat(np.arange(len(blocks)), sizes)
    place = np.repeat(heads - np.cumsum(sizes) + sizes, sizes) + np.arange(len(owner))
    tail = (place != heads[owner]) & (place != turned[owner])
    owner, place = np.tile(owner[tail], 2), np.tile(place[tail], 2)
    count = len(owner)
    share = 1.0 / (shares * np.sqrt(np.maximum(np.bincount(owner, minlength=len(blocks)) / 2, 1.0)))[owner]
    entries = np.concatenate([share, share * sides[owner], np.repeat([1.0, -1.0], count // 2)])
    columns = np.concatenate([heads[owner], turned[owner], place])
    rows = sp.csr_matrix((entries, (np.tile(np.arange(count), 3), columns)), shape=(count, len(cones.h)))
    return rows, blocks[owner]


def _rotated(
    program: Program, x: Vector, value: Vector, weights: Vector, slack: Vector, near: Mask
) -> tuple[Indices, Vector, Vector]:
    """Set weights of rows for |w| <= sqrt(fg), their values and if they count; return what ``_inner`` takes."""
    # The row is the tangent at the point of the boundary with the same w whose factors have the same ratio. Far
    # outside, where f is next to nothing beside |w|^2 / g, it is the chord |w| <= (g / |w|) f inside the cone, which
    # takes w to 0, or f to what w needs, in one step instead of by halves. The rows inside bound w by both
    # factors, in the ratio that they have, as each alone lets w grow beyond what the other bears.
    cones, paired = program.cones, np.flatnonzero(program.cones.pairs)
    head, turned, w, f, g = _factored(program, x, value)
    norms = block_norms(program, w)
    norm = norms[paired]
    less, more = np.minimum(f, g), np.maximum(f, g)
    with np.errstate(over="ignore"):
        outside = 4.0 * f * g < norm**2
    apex = np.maximum(more, 0.0) <= THIN * norm
    small = (norm <= THIN * more) & (less <= THIN**2 * more) & ~outside
    inside = apex | ((less >= 0.0) & (small | (norm == 0.0)))
    tangent, chord = (less > 0.0) & ~outside, (norm > 0.0) & (more > 0.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        a, b = (
            np.select([tangent, chord], [0.5 * np.sqrt(other / own), np.where(larger, other / norm, 0.0)], 0.5)
            for own, other, larger in ((f, g, g >= f), (g, f, g < f))
        )
    blocks = np.repeat(cones.pairs > 0, cones.sizes)
    weights[blocks] = (-w / np.repeat(np.maximum(norms, 1e-300), cones.sizes))[blocks]
    weights[head], weights[turned] = a + b, a - b
    slack[paired] = a * f + b * g - norm
    near[paired] = (a * f + b * g < 2.0 * norm) | (less <= 0.0)
    share = np.clip(np.sqrt(ratio(np.maximum(f, 0.0), np.maximum(g, 0.0))), THIN, 1.0 / THIN)
    share = np.where(apex, 1.0, share)[inside]
    sides = np.repeat([1.0, -1.0], len(share))
    return np.tile(paired[inside], 2), sides, np.concatenate([share, 1.0 / share])


def dual_tangents(program: Program, z: Vector) -> tuple[sp.csr_matrix, Vector, Vector, Vector]:
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
    high = np.where(np.repeat(still, cones.sizes), 0.0, np.repeat(TRUSTED * tails, cones.sizes))
    low = -high
    for k in np.flatnonzero(cones.orders):
        places = np.arange(cones.orders[k])
        high[cones.starts[k] + places * (places + 3) // 2] = np.inf
    return rows[np.flatnonzero(~still)], (z[heads] - tails)[~still], low, high
