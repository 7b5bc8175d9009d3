"""Exact optima of small linear, convex quadratic and integer programs: rational arithmetic, without the package.

min x'Px/2 + c'x over lo <= Ax <= hi, lb <= x <= ub, all numbers as the doubles that they are. An optimum solves the
KKT equations of some set of at most n active constraints. All sets are tried: floating point orders them, rational
arithmetic decides.
"""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np

Truth = float | str
FIRST = 24
"""Sets of active constraints that are tried before the program is tested for feasibility."""


def exact_optimum(c, P, A, rows, bounds, integer) -> Truth:
    """Return the minimum, correctly rounded, or ``infeasible`` or ``unbounded``.

    Parameters
    ----------
    rows, bounds : (lo, hi) of the rows of A, and (lb, ub) of the variables.
    integer : mask of the integer variables, which have finite bounds.
    """
    c, P, A, lo, hi, lb, ub = map(_exact, (c, P, A, *rows, *bounds))
    rest, values = ~integer, []
    ranges = [range(int(np.ceil(a)), int(np.floor(b)) + 1) for a, b in zip(lb[integer], ub[integer], strict=True)]
    for point in product(*ranges):
        v = np.array([Fraction(k) for k in point], dtype=object)
        fixed = A[:, integer] @ v
        part = inequalities(A[:, rest], lo - fixed, hi - fixed, lb[rest], ub[rest])
        found = minimum(c[rest] + P[np.ix_(rest, integer)] @ v, P[np.ix_(rest, rest)], *part)
        if found == "unbounded":
            return found
        if found != "infeasible":
            values.append(found + (P[np.ix_(integer, integer)] @ v / 2 + c[integer]) @ v)
    return float(min(values)) if values else "infeasible"


def _exact(values):
    """Return an array of rationals, infinite entries as they are."""
    values = np.asarray(values, dtype=float)
    found = np.empty(values.shape, dtype=object)
    found.flat = [Fraction(v) if np.isfinite(v) else v for v in values.flat]
    return found


def inequalities(A, lo, hi, lb, ub):
    """Return G, h and a mask of the equations in Gx >= h."""
    rows = [(*row, low, high) for row, low, high in zip(A.tolist(), lo, hi, strict=True)]
    unit = np.eye(len(lb), dtype=int)
    rows += [(*map(Fraction, row), low, high) for row, low, high in zip(unit.tolist(), lb, ub, strict=True)]
    listed = []
    for *row, low, high in rows:
        if low == high:
            listed.append((row, low, True))
            continue
        if low != -np.inf:
            listed.append((row, low, False))
        if high != np.inf:
            listed.append(([-a for a in row], -high, False))
    G = np.array([row for row, _, _ in listed], dtype=object).reshape(len(listed), len(lb))
    return G, np.array([b for _, b, _ in listed], dtype=object), np.array([e for _, _, e in listed], dtype=bool)


def minimum(c, P, G, h, equal, feasible=False):
    """Return the exact minimum of x'Px/2 + c'x over Gx >= h, with equations where ``equal``, or why there is none."""
    if not len(c):
        held = all(b == 0 if e else b <= 0 for b, e in zip(h, equal, strict=True))
        return Fraction(0) if held else "infeasible"
    sets = _ordered(c, P, G, h, equal)
    for tried in (sets[:FIRST], sets[FIRST:]):
        for active in tried:
            value = _value(c, P, G, h, equal, list(active))
            if value is not None:
                return value
        if not feasible and _distance(G, h, equal) > 0:
            return "infeasible"
        feasible = True
    return "unbounded"


def _distance(G, h, equal):
    """Return min t >= 0 so that Gx + t >= h, and Gx - t <= h for the equations: 0 where there is a point."""
    n, one, zero = G.shape[1], Fraction(1), Fraction(0)
    sides = np.vstack([G, -G[equal]])
    widened = np.column_stack([np.vstack([sides, np.full((1, n), zero)]), np.full(len(sides) + 1, one)])
    right = np.concatenate([h, -h[equal], [zero]])
    cost = np.array([zero] * n + [one], dtype=object)
    return minimum(cost, np.full((n + 1, n + 1), zero), widened, right, np.zeros(len(right), dtype=bool), True)


def _ordered(c, P, G, h, equal):
    """Return the sets of active constraints, those first that violate the KKT conditions least in floating point."""
    n, listed, worst = len(c), [], []
    numbers = [v.astype(float) for v in (c, P, G, h)]
    for k in range(0 if P.any() else np.linalg.matrix_rank(numbers[2]), n + 1):
        sets = np.array(list(combinations(range(len(h)), k)), dtype=int).reshape(comb(len(h), k), k)
        if len(sets):
            listed += sets.tolist()
            worst += _violations(*numbers, equal, sets).tolist()
    return [listed[i] for i in np.argsort(worst, kind="stable")]


def _violations(c, P, G, h, equal, sets):
    """Return the largest violation of the KKT conditions at the solution of each set's equations."""
    n, k = len(c), sets.shape[1]
    K = np.zeros((len(sets), n + k, n + k))
    K[:, :n, :n], K[:, n:, :n], K[:, :n, n:] = P, G[sets], -G[sets].transpose(0, 2, 1)
    right = np.concatenate([np.broadcast_to(-c, (len(sets), n)), h[sets]], axis=1)
    found = (np.linalg.pinv(K) @ right[:, :, None])[:, :, 0]
    x, y = found[:, :n], np.where(equal[sets], 0.0, found[:, n:])
    gap = h - x @ G.T
    left = np.abs((K @ found[:, :, None])[:, :, 0] - right).max(axis=1)
    outside = np.where(equal, np.abs(gap), gap).max(axis=1, initial=0.0)
    return np.maximum(np.maximum(left, outside), (-y).max(axis=1, initial=0.0))


def _value(c, P, G, h, equal, active):
    """Return the exact value at the solution of the KKT equations, None where it violates the KKT conditions."""
    n, k = len(c), len(active)
    K = np.full((n + k, n + k), Fraction(0))
    K[:n, :n], K[n:, :n], K[:n, n:] = P, G[active], -G[active].T
    found = _solution(np.column_stack([K, np.concatenate([-c, h[active]])]).tolist())
    if found is None:
        return None
    x, y = np.array(found[:n], dtype=object), found[n:]
    gap = G @ x - h
    held = all(v == 0 if e else v >= 0 for v, e in zip(gap, equal, strict=True))
    held = held and all(equal[i] or v >= 0 for i, v in zip(active, y, strict=True))
    return (P @ x / 2 + c) @ x if held else None


def _solution(rows):
    """Return a solution of linear equations, whose last column is their right-hand side; None without one."""
    n, pivots = len(rows[0]) - 1, []
    for j in range(n):
        r = len(pivots)
        found = next((i for i in range(r, len(rows)) if rows[i][j]), None)
        if found is None:
            continue
        rows[r], rows[found] = rows[found], rows[r]
        rows[r] = [v / rows[r][j] for v in rows[r]]
        for i, row in enumerate(rows):
            if i != r and row[j]:
                rows[i] = [a - row[j] * b for a, b in zip(row, rows[r], strict=True)]
        pivots.append(j)
    if any(row[n] for row in rows[len(pivots) :]):
        return None
    x = [Fraction(0)] * n
    for row, j in zip(rows, pivots, strict=False):
        x[j] = row[n]
    return x
