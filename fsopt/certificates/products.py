r"""Convex relaxations of products: a variable for each product, cones for what holds everywhere, rows for the box.

Of quadratic constraints :math:`\ell \le x'Qx + a'x \le u` every product :math:`x_ix_j` in them becomes a variable
:math:`X_{ij}`, and so do the squares of the factors. The matrix of products is positive semidefinite, of rank 1, with
:math:`(1, x)` as another row; of this the minors of order 2 are kept, which are cones without a parameter of the box:

.. math:: x_i^2 \le X_{ii}, \qquad X_{ij}^2 \le X_{ii}X_{jj}.

Where an equation switches a variable, :math:`x_w = k\,x_s x_u` with :math:`x_s \in \{0, 1\}`, its square is
:math:`k^2 x_s^2 x_u^2 = k\,x_w x_u`, so that :math:`X_{ww} = k\,X_{wu}`: the minors bound this product from below,
which the envelopes alone do up to the square of the width of the box.

On the box :math:`\underline x \le x \le \overline x` the products
:math:`(x_i - \underline x_i)(x_j - \underline x_j) \ge 0`, :math:`(\overline x_i - x_i)(\overline x_j - x_j) \ge 0`,
:math:`(x_i - \underline x_i)(\overline x_j - x_j) \ge 0` and :math:`(\overline x_i - x_i)(x_j - \underline x_j) \ge 0`,
multiplied out, are the envelopes of McCormick, and for i = j the secant
:math:`X_{ii} \le (\underline x_i + \overline x_i)x_i - \underline x_i\overline x_i`. They are exact at the corners of
the box, and their distance to the product is at most a quarter of the product of the widths. A bound that is missing
makes a row of zeros.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from fsopt.compiler import Program
from fsopt.compiler.cones import ConeStack
from fsopt.compiler.rows import ConstraintRow, build_rows, read_row
from fsopt.errors import SolverError
from fsopt.typing import Mask, Vector

SIDES = ((0, 0, 1.0), (1, 1, 1.0), (0, 1, -1.0), (1, 0, -1.0))
"""The bounds of i and of j, lower or upper, in each product of two distances, and the sign of X_ij in it."""


class Products:
    """The products of a program as variables behind its own.

    Attributes
    ----------
    first, second : (k,) columns of the factors; the squares come last.
    A, lo, hi : the quadratic constraints (q, n + k) in them, and their bounds.
    cost : (k,) costs of the products, where the quadratic objective is not convex.
    cones : of the minors, over n + k columns.
    """

    def __init__(self, program: Program) -> None:
        self.n = program.n
        rows = _lifted_rows(program)
        pairs = {_pair(i, j) for row in rows for i, j, _ in row.terms.quadratic}
        costs: dict[tuple[int, int], float] = {}
        if not program.convex_objective:
            P = program.P.tocoo()
            for i, j, v in zip(P.row.tolist(), P.col.tolist(), P.data.tolist(), strict=True):
                costs[_pair(i, j)] = costs.get(_pair(i, j), 0.0) + 0.5 * v
        pairs |= set(costs)
        squares = sorted({(i, i) for pair in pairs for i in pair})
        listed = sorted(pair for pair in pairs if pair[0] != pair[1]) + squares
        self.place = {pair: k for k, pair in enumerate(listed)}
        table = np.array(listed, dtype=int).reshape(-1, 2)
        self.first, self.second = table[:, 0], table[:, 1]
        self.cost = np.array([costs.get(pair, 0.0) for pair in listed])
        linear = build_rows(rows, program.column)
        entries = [(r, self.place[_pair(i, j)], v) for r, row in enumerate(rows) for i, j, v in row.terms.quadratic]
        found = np.array(entries, dtype=float).reshape(-1, 3)
        shape = (len(rows), len(listed))
        lifted = sp.coo_matrix((found[:, 2], (found[:, 0].astype(int), found[:, 1].astype(int))), shape=shape)
        own = linear.A
        wide = sp.csr_matrix((own.data, own.indices, own.indptr), shape=(len(rows), self.n))
        self.A = sp.csr_matrix(sp.hstack([wide, lifted])) if rows else sp.csr_matrix((0, self.n + len(listed)))
        self.lo, self.hi = linear.lo, linear.hi
        self._switch(program)
        self.cones = self._minors(program)

    def __len__(self) -> int:
        return len(self.first)

    def _switch(self, program: Program) -> None:
        """Add what holds of the products with a switched variable w = s u, s in {0, 1}: w^2 = s u^2 = w u."""
        found = []
        for r in np.flatnonzero((self.lo == 0.0) & (self.hi == 0.0)).tolist():
            row = self.A[[r]]
            row.eliminate_zeros()
            if row.nnz != 2 or not row.indices.min() < self.n <= row.indices.max():
                continue
            w, k = np.sort(row.indices).tolist()
            ratio = -row[0, k] / row[0, w]
            factors = int(self.first[k - self.n]), int(self.second[k - self.n])
            for s, u in (factors, factors[::-1]):
                binary = program.integer[s] and program.lb[s] >= 0.0 and program.ub[s] <= 1.0
                if binary and w != u and _pair(w, u) in self.place:
                    found.append((self.place[w, w], self.place[_pair(w, u)], ratio))
        table = np.array(found, dtype=float).reshape(-1, 3)
        number, width = np.arange(len(table)), self.A.shape[1]
        places = (np.tile(number, 2), self.n + np.concatenate([table[:, 0], table[:, 1]]).astype(int))
        added = sp.csr_matrix((np.concatenate([np.ones(len(table)), -table[:, 2]]), places), shape=(len(table), width))
        self.A = sp.csr_matrix(sp.vstack([self.A, added]))
        self.lo = np.append(self.lo, np.zeros(len(table)))
        self.hi = np.append(self.hi, np.zeros(len(table)))

    def _minors(self, program: Program) -> ConeStack:
        """Return the program's own cones and the minors of order 2, the two factors of each as head plus and minus."""
        n, k = self.n, len(self)
        squares = np.array([self.place[i, i] for i in self.first.tolist()], dtype=int) + n
        others = np.array([self.place[i, i] for i in self.second.tolist()], dtype=int) + n
        mixed = self.first != self.second
        # (f + g) / 2, (f - g) / 2 and the factor in the middle, with f = X_ii, and g = X_jj or 1.
        head = np.arange(k) * 3
        middle = np.where(mixed, n + np.arange(k), self.first)
        rows = np.concatenate([head, head + 1, head[mixed], head[mixed] + 1, head + 2])
        columns = np.concatenate([squares, squares, others[mixed], others[mixed], middle])
        halves, count = np.full(k, 0.5), int(mixed.sum())
        values = np.concatenate([halves, halves, np.full(count, 0.5), np.full(count, -0.5), np.ones(k)])
        G = sp.csr_matrix((values, (rows, columns)), shape=(3 * k, n + k))
        h = np.zeros(3 * k)
        h[head[~mixed]], h[head[~mixed] + 1] = 0.5, -0.5
        own = program.cones
        wide = sp.csr_matrix((own.G.data, own.G.indices, own.G.indptr), shape=(len(own.h), n + k))
        return ConeStack(
            G=sp.csr_matrix(sp.vstack([wide, G])),
            h=np.append(own.h, h),
            starts=np.append(own.starts, own.starts[-1] + 3 * np.arange(1, k + 1)),
            constraints=[*own.constraints, *[None] * k],
            pairs=np.append(own.pairs, np.ones(k, dtype=int)),
            scale=np.append(own.scale, np.ones(k)),
            sense=np.append(own.sense, np.ones(k)),
            orders=np.append(own.orders, np.zeros(k, dtype=int)),
        )

    def bare(self, program: Program) -> Mask:
        """Return the variables (n,) of products that are in no linear term: sqrt(X_ii) has the place of any x_i."""
        A = sp.vstack([program.A, self.A[:, : self.n]]).tocsc()
        A.eliminate_zeros()
        within = np.isin(np.arange(self.n), self.first)
        found: Mask = within & (program.c == 0.0) & (np.diff(A.indptr) == 0)
        return found

    def envelopes(self, low: Vector, high: Vector) -> tuple[sp.csr_matrix, Vector]:
        """Return a matrix (4 k, n + k) and lower bounds of its rows: the envelopes on a box (n,)."""
        k = len(self)
        i = self.first
        j = self.second
        ends = np.vstack([low, high])
        number = np.arange(k)
        rows = []
        columns = []
        values = []
        least = []
        for t, (a, b, sign) in enumerate(SIDES):
            p, q = ends[a, i], ends[b, j]
            # sign (x_i - p)(x_j - q) >= 0, that is sign (X - q x_i - p x_j) >= -sign p q
            finite = np.isfinite(p) & np.isfinite(q)
            used = np.where(finite, sign, 0.0)
            p, q = np.where(finite, p, 0.0), np.where(finite, q, 0.0)
            rows += [t * k + number] * 3
            columns += [self.n + number, i, j]
            values += [used, -used * q, -used * p]
            least.append(np.where(finite, -sign * p * q, -np.inf))
        places = (np.concatenate(rows), np.concatenate(columns))
        A = sp.csr_matrix((np.concatenate(values), places), shape=(4 * k, self.n + k))
        return A, np.concatenate(least)

    def bounds(self, low: Vector, high: Vector) -> tuple[Vector, Vector]:
        """Return bounds (k,) of the products on a box, by interval arithmetic."""
        a = low[self.first]
        b = high[self.first]
        c = low[self.second]
        d = high[self.second]
        with np.errstate(invalid="ignore"):
            corners = np.nan_to_num(np.array([a * c, a * d, b * c, b * d]), nan=0.0, posinf=np.inf, neginf=-np.inf)
        least = corners.min(axis=0)
        return np.where(self.first == self.second, np.maximum(least, 0.0), least), corners.max(axis=0)

    def gaps(self, x: Vector) -> Vector:
        """Return the distance (k,) of each variable of a product from the product, at x (n + k,)."""
        gap: Vector = np.abs(x[self.n :] - x[self.first] * x[self.second])
        return gap


def _pair(i: int, j: int) -> tuple[int, int]:
    return (i, j) if i <= j else (j, i)


def _lifted_rows(program: Program) -> list[ConstraintRow]:
    """Return the quadratic constraints that are not convex, and the cones that tie their products together."""
    # A cone sum_j v_j x_j^2 <= t^2 limits squares that are variables here: as a linear constraint in them it says more.
    for row in program.general:
        if row.terms.nonlinear:
            reason = f"'{row.constraint.name}' is neither linear nor quadratic"
            raise SolverError(f"nothing is proved of '{program.model.name}': {reason}", "state it by products")
    rows = list(program.general)
    pairs = {_pair(i, j) for row in rows for i, j, _ in row.terms.quadratic}
    if not program.convex_objective:
        P = program.P.tocoo()
        pairs |= {_pair(i, j) for i, j in zip(P.row.tolist(), P.col.tolist(), strict=True)}
    quadratic = [c for c, order in zip(program.cones.constraints, program.cones.orders, strict=True) if not order]
    pending = [read_row(c, program.column) for c in dict.fromkeys(quadratic)] if pairs else []
    while True:
        known = pairs | {(i, i) for pair in pairs for i in pair}
        tied = [row for row in pending if _ties({_pair(i, j) for i, j, _ in row.terms.quadratic}, known)]
        if not tied:
            return rows
        rows += tied
        pairs |= {_pair(i, j) for row in tied for i, j, _ in row.terms.quadratic}
        pending = [row for row in pending if not any(row is other for other in tied)]


def _ties(found: set[tuple[int, int]], known: set[tuple[int, int]]) -> bool:
    """Return whether some of the products of a constraint are known, and every other one is a square."""
    return bool(found & known) and all(i == j for i, j in found - known)
