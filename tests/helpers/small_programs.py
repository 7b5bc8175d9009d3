"""Small programs of every class as arrays of doubles, drawn with a seed, their Pyomo models, and changes of them.

A change leaves the optimum, or has one that is known exactly.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyomo.environ as pyo
from exact_optima import Truth, exact_optimum

from fsopt.compiler import lmi

CLASSES = ("LP", "QP", "SOCP", "SDP", "MILP", "MIQP")


@dataclass(frozen=True)
class Small:
    """min x'Px/2 + c'x over lo <= Ax <= hi, lb <= x <= ub, x_j whole where ``integer``, and at most one cone.

    Attributes
    ----------
    kind : the class of the program.
    truth : its exact optimum, or ``infeasible`` or ``unbounded``.
    cone : the columns (head, *tail) of |units * tail| <= units * head; the upper triangle of a 2 x 2 matrix for an SDP.
    units : factor (n,) of each column in the cone.
    sense : -1 for a model that maximises the negative; ``truth`` is the minimum.
    also : another truth that a numerical certificate may confirm: without changes of 1e-9 of its data; empty for none.
    """

    kind: str
    c: np.ndarray
    A: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    lb: np.ndarray
    ub: np.ndarray
    P: np.ndarray
    integer: np.ndarray
    units: np.ndarray
    cone: tuple[int, ...] = ()
    sense: float = 1.0
    truth: Truth = ""
    also: Truth = ""

    @property
    def n(self) -> int:
        return len(self.c)

    def exact(self) -> Truth:
        """Return the exact optimum of the arrays; of a program with a cone, the one it was constructed with."""
        if self.cone:
            return self.truth
        return exact_optimum(self.c, self.P, self.A, (self.lo, self.hi), (self.lb, self.ub), self.integer)


def small(kind, c, rows, bounds, *, P=None, cone=(), whole=0, sense=1.0, truth="") -> Small:
    """Return a program, its first ``whole`` variables integers; without ``truth`` the exact optimum is computed."""
    c, A, lo, hi, lb, ub = (np.asarray(v, dtype=float) for v in (c, *rows, *bounds))
    n = len(c)
    quadratic = np.zeros((n, n)) if P is None else np.asarray(P, dtype=float)
    made = Small(kind, c, A.reshape(-1, n), lo, hi, lb, ub, quadratic, np.arange(n) < whole, np.ones(n), cone, sense)
    return changed(made, truth=truth if truth != "" else made.exact())


def changed(program: Small, **arrays) -> Small:
    """Return a program with other arrays."""
    return Small(**{**program.__dict__, **arrays})


def drawn(kind: str, seed: int) -> Small:
    """Return a program of a class; nine of ten LPs and QPs have an optimum, which changes of 1e-6 hardly move."""
    rng = np.random.default_rng([CLASSES.index(kind), seed])
    if kind == "SOCP":
        return _distance(rng)
    if kind == "SDP":
        return _eigenvalue(rng)
    if kind in ("MILP", "MIQP"):
        return _integers(kind, rng)
    solvable = rng.random() < 0.9
    while True:
        found = _continuous(kind, rng)
        if not (solvable and isinstance(found.truth, str)) and _stable(found):
            return found


def _stable(program: Small) -> bool:
    """Return whether the truth stays where 1e-6 is added to the bounds and to the zeros of the rows."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        A, lo, hi = ((rng.random(v.shape) - 0.5) * 2e-6 * (v == 0) + v for v in (program.A, program.lo, program.hi))
        hi = np.where(program.lo == program.hi, lo, np.maximum(lo, hi))
        moved = changed(program, A=A, lo=lo, hi=hi, lb=program.lb + 1e-6).exact()
        words = isinstance(moved, str) or isinstance(program.truth, str)
        if moved != program.truth if words else abs(moved - program.truth) > 1e-3:
            return False
    return True


def _continuous(kind: str, rng) -> Small:
    """Return a program with free, one-sided and boxed variables, and rows <=, >=, = and ranges; many zeros."""
    n, m = int(rng.integers(2, 4)), int(rng.integers(1, 4))
    A, which = _sparse(rng, (m, n)), rng.choice(4, n, p=[0.5, 0.25, 0.15, 0.1])
    if np.linalg.matrix_rank(np.vstack([A, np.diag((which != 2) * 1.0)])) < n:  # no line in the feasible set
        which[:] = 0
    lo, hi = _row_bounds(rng, m)
    lb = np.choose(which, [0.0, 0.0, -np.inf, -3.0])
    ub = np.choose(which, [np.inf, rng.integers(1, 10, n) / 1.0, np.inf, np.inf])
    c, P = rng.integers(-8, 9, n) / 2, None
    if kind == "QP":
        factor = rng.integers(-2, 3, (int(rng.integers(1, n + 1)), n))
        P = factor.T @ factor
    return small(kind, c, (A, lo, hi), (lb, ub), P=P, sense=rng.choice([1.0, -1.0]))


def _integers(kind: str, rng) -> Small:
    """Return a program of three integers in 0..3, and one continuous variable in half of the cases."""
    whole, n = 3, int(rng.integers(3, 5))
    A = _sparse(rng, (2, n))
    lo, hi = _row_bounds(rng, 2, equations=False)
    ub = np.append(np.full(whole, 3.0), [np.inf] * (n - whole))
    c = np.append(rng.integers(-8, 9, whole) / 2, np.ones(n - whole))
    P = np.diag(rng.integers(1, 4, n)) if kind == "MIQP" else None
    return small(kind, c, (A, lo, hi), (np.zeros(n), ub), P=P, whole=whole, sense=rng.choice([1.0, -1.0]))


NORMS = (((3.0, 4.0), 5.0), ((5.0, 12.0), 13.0), ((2.0, 3.0, 6.0), 7.0), ((1.0, 2.0, 2.0), 3.0))
"""Vectors of whole numbers and their norms."""


def _distance(rng) -> Small:
    """Return min t + p v, |x| <= t, a'x + v >= b: b min(1 / |a|, p), at the apex of the cone where p is smaller."""
    a, norm = NORMS[rng.integers(len(NORMS))]
    k, b, p = len(a), rng.integers(1, 40) / 2, rng.choice([0.0625, 0.5, 2.0])
    c = [1.0, *[0.0] * k, p]
    A = [[0.0, *a, 1.0], [0.0, *[0.0] * k, 1.0]]
    free = [-np.inf] * k
    bounds = [0.0, *free, 0.0], [np.inf] * (k + 2)
    truth = b * min(1 / norm, p)
    return small("SOCP", c, (A, [b, -1.0], [np.inf, np.inf]), bounds, cone=tuple(range(k + 1)), truth=truth)


def _eigenvalue(rng) -> Small:
    """Return min <C, X>, tr X = 1, X semidefinite: the smallest eigenvalue of C = [[p + q, r], [r, p - q]]."""
    (q, r), h = NORMS[rng.integers(2)]
    p = float(rng.integers(-9, 10))
    c = [p + q, 2 * r, p - q]
    free = np.full(3, np.inf)
    return small("SDP", c, ([[1.0, 0.0, 1.0]], [1.0], [1.0]), (-free, free), cone=(0, 1, 2), truth=p - h)


def _sparse(rng, shape):
    """Return whole numbers, a third of them zero, without an empty row."""
    A = rng.integers(-4, 6, shape) * (rng.random(shape) < 2 / 3) * 1.0
    empty = ~A.any(axis=1)
    A[empty, 0] = 1.0
    return A


def _row_bounds(rng, m, equations=True):
    """Return bounds of rows, many of them zero."""
    b = rng.integers(0, 9, m) * (rng.random(m) < 0.6) * 1.0
    which = rng.choice(4, m, p=[0.4, 0.35, 0.15 * equations, 0.25 - 0.15 * equations])
    return np.choose(which, [np.full(m, -np.inf), b, b, b - 4]), np.choose(which, [b, np.full(m, np.inf), b, b])


def build(program: Small) -> pyo.ConcreteModel:
    """Return the Pyomo model: variables x, constraints ``row``, the cone, and the objective."""
    finite = lambda value: None if np.isinf(value) else float(value)  # noqa: E731
    m = pyo.ConcreteModel()
    m.x = pyo.Var(
        range(program.n),
        bounds=lambda m, j: (finite(program.lb[j]), finite(program.ub[j])),
        domain=lambda m, j: pyo.Integers if program.integer[j] else pyo.Reals,
    )
    x = [m.x[j] for j in range(program.n)]
    m.row = pyo.Constraint(
        range(len(program.lo)),
        rule=lambda m, i: _row(_sum(program.A[i], x), finite(program.lo[i]), finite(program.hi[i])),
    )
    if program.kind == "SDP":
        a, b, d = (float(program.units[j]) * x[j] for j in program.cone)
        m.cone = lmi([[a, b], [b, d]])
    elif program.cone:
        squares = [float(program.units[j]) ** 2 * x[j] ** 2 for j in program.cone]
        m.cone = pyo.Constraint(expr=sum(squares[1:]) <= squares[0])
    square = sum(
        program.P[i, j] / 2 * x[i] * x[j] for i in range(program.n) for j in range(program.n) if program.P[i, j]
    )
    value = _sum(program.c, x) + square
    m.value = pyo.Objective(expr=program.sense * value, sense=pyo.minimize if program.sense > 0 else pyo.maximize)
    return m


def _sum(row, x):
    return sum((float(a) * v for a, v in zip(row, x, strict=True) if a), 0.0 * x[0])


def _row(body, lo, hi):
    """Return a constraint with both, one or no bound; one without bounds is left out."""
    if lo is None and hi is None:
        return pyo.Constraint.Feasible
    return body == lo if lo == hi else pyo.inequality(lo, body, hi)


REACH = 20
"""Largest exponent of 2 in a scaling."""


@dataclass(frozen=True)
class Change:
    """A changed program; ``rows`` and ``columns`` are the factors of an exact rescaling, which an answer can follow."""

    program: Small
    rows: np.ndarray
    columns: np.ndarray


def scaled(program: Small, rows, columns) -> Change:
    """Return the program with row i times rows[i], in the variables x / columns: powers of 2, so nothing is rounded."""
    d = columns
    return Change(
        changed(
            program,
            c=d * program.c,
            P=d[:, None] * program.P * d,
            A=rows[:, None] * program.A * d,
            lo=rows * program.lo,
            hi=rows * program.hi,
            lb=program.lb / d,
            ub=program.ub / d,
            units=program.units * d,
        ),
        rows,
        d,
    )


def _scaled_rows(program: Small, rng) -> Change:
    return scaled(program, _powers(rng, len(program.lo)), np.ones(program.n))


def _scaled_columns(program: Small, rng) -> Change:
    """Return the program in other units of its continuous variables, one unit for all variables of a cone."""
    d = np.where(program.integer, 1.0, _powers(rng, program.n))
    d[list(program.cone)] = d[program.cone[0]] if program.cone else 1.0
    return scaled(program, np.ones(len(program.lo)), d)


def _powers(rng, k):
    return 2.0 ** rng.integers(-REACH, REACH + 1, k)


def _kept(program: Small, **arrays) -> Change:
    """Return a change whose optimum is that of the program."""
    made = changed(program, **arrays)
    return Change(made, np.ones(len(made.lo)), np.ones(made.n))


def _moved(program: Small, **arrays) -> Change:
    """Return a change whose optimum is computed anew."""
    made = changed(program, **arrays)
    return _kept(made, truth=made.exact())


def _noise(program: Small, rng) -> Change:
    """Add 1e-16 to 1e-9, of either sign, to half of the zeros of matrix and right-hand sides."""

    def noisy(values):
        drawn = rng.choice([-1.0, 1.0], values.shape) * 10.0 ** rng.uniform(-16, -9, values.shape)
        return np.where((values == 0) & (rng.random(values.shape) < 0.5), drawn, values)

    lo, hi = noisy(program.lo), noisy(program.hi)
    hi = np.where(program.lo == program.hi, lo, np.maximum(lo, hi))
    return _moved(program, A=noisy(program.A), lo=lo, hi=hi, also=program.truth)


def _epsilon_bounds(program: Small, rng) -> Change:
    """Let lower bounds of zero be 1e-12 to 1e-8."""
    epsilon = 10.0 ** rng.uniform(-12, -8, program.n)
    return _moved(program, lb=np.where((program.lb == 0) & ~program.integer, epsilon, program.lb))


def _loose_bounds(program: Small, rng) -> Change:
    """Bound every variable, by 1e10 to 1e15 where it had no bound."""
    loose = 10.0 ** rng.uniform(10, 15, (2, program.n))
    lb = np.where(np.isinf(program.lb), -loose[0], program.lb)
    ub = np.where(np.isinf(program.ub), loose[1], program.ub)
    return (_moved if program.truth == "unbounded" else _kept)(program, lb=lb, ub=ub)


def _duplicated_rows(program: Small, rng) -> Change:
    """Append every row once more, half of them times -3."""
    factor = rng.choice([1.0, -3.0], len(program.lo))
    ends = np.sort([factor * program.lo, factor * program.hi], axis=0)
    lo, hi = np.append(program.lo, ends[0]), np.append(program.hi, ends[1])
    return _kept(program, A=np.vstack([program.A, factor[:, None] * program.A]), lo=lo, hi=hi)


def _nearly_parallel(program: Small, rng) -> Change:
    """Append to each row an equation that differs by 2^-12 to 2^-20 in one entry, and by about as much in its side."""
    if program.cone:
        return _kept(program)
    m, e = len(program.lo), 2.0 ** -rng.integers(12, 21, len(program.lo))
    near = program.A.copy()
    near[np.arange(m), rng.integers(0, program.n, m)] += e
    side = np.where(np.isfinite(program.lo), program.lo, program.hi) + e * rng.integers(-1, 3, m)
    lo, hi = np.append(program.lo, side), np.append(program.hi, side)
    return _moved(program, A=np.vstack([program.A, near]), lo=lo, hi=hi)


CHANGES: dict[str, Callable[[Small, np.random.Generator], Change]] = {
    "scaled-rows": _scaled_rows,
    "scaled-columns": _scaled_columns,
    "noise": _noise,
    "epsilon-bounds": _epsilon_bounds,
    "loose-bounds": _loose_bounds,
    "duplicated-rows": _duplicated_rows,
    "nearly-parallel-rows": _nearly_parallel,
}
EXACT = ("scaled-rows", "scaled-columns")
"""The changes whose answers are those of the program, but for the units of rows and columns."""
