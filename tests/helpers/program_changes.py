"""Changes of small programs that leave the optimum, or whose optimum is known exactly."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from small_programs import Small, changed

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
