"""Affine forms in rational numbers, and equations of them solved exactly.

A double is an integer times a power of two. Sums of products of doubles are therefore sums of products of integers,
which is far faster than arithmetic on single fractions. A variable that an equation has for itself takes its residual,
a small core of the equations the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from importlib import import_module
from operator import mul

import numpy as np
import scipy
import scipy.sparse as sp

from fsopt.errors import NotShownError
from fsopt.typing import Vector as Floats
from fsopt.verifier.rationals import ZERO, AffineForm, common

LARGEST = 400
"""Equations of a core that are solved together in integers: a minute of arithmetic."""


class Form(AffineForm):
    """An affine form of the verifier, of rational coefficients that are not 0."""

    @classmethod
    def of(cls, columns: Sequence[int], values: Iterable[Fraction], constant: Fraction = ZERO) -> Form:
        """Return the form of some coefficients; zeros are dropped."""
        kept = [(j, v) for j, v in zip(columns, values, strict=True) if v]
        return cls([j for j, _ in kept], [v for _, v in kept], constant)

    @property
    def coefficients(self) -> list[Fraction]:
        """The coefficients of the columns."""
        return [Fraction(v, self.bottom) for v in self.values]

    @property
    def offset(self) -> Fraction:
        """The value at 0."""
        return Fraction(self.constant, self.bottom)

    def less(self, constant: Fraction | None) -> Form:
        """Return the form less a constant, if there is one."""
        return Form(self.columns, self.coefficients, self.offset - constant) if constant else self


def stacked(forms: Sequence[Form], size: int) -> tuple[sp.csr_matrix, Floats]:
    """Return the coefficients (m, size) and the constants (m,) of forms, rounded."""
    values = [v / form.bottom for form in forms for v in form.values]
    starts = np.cumsum([0, *(len(form.columns) for form in forms)])
    matrix = sp.csr_matrix((values, [j for form in forms for j in form.columns], starts), shape=(len(forms), size))
    matrix.sort_indices()
    return matrix, np.array([form.constant / form.bottom for form in forms])


def solution_of(equations: Sequence[Form], start: Sequence[Fraction], freedom: Floats) -> list[Fraction]:
    """Return a point near a start with all equations ``form = 0`` satisfied exactly, but for those that have none.

    Each variable changes by about its freedom (N,), not at all where that is 0. NotShownError without such a point, or
    where the core of the equations is too large.
    """
    point = list(start)
    private = _private(equations, freedom)
    core = [form for k, form in enumerate(equations) if k not in private]
    shared = freedom.copy()
    shared[list(private.values())] = 0.0
    for j, change in _core(core, point, shared).items():
        point[j] += change
    held = common(point)
    for k, j in private.items():
        form = equations[k]
        point[j] -= form.at(held) / form.coefficients[form.columns.index(j)]
    return point


def _private(equations: Sequence[Form], freedom: Floats) -> dict[int, int]:
    """Return equation -> the freest variable of it that is in no other equation; equations without one are left out."""
    used = Counter(j for form in equations for j in form.columns)
    found = {}
    for k, form in enumerate(equations):
        largest = max(map(abs, form.values), default=1)  # integers beyond the doubles have a quotient
        own = [
            (freedom[j] * abs(v / largest), j) for j, v in zip(form.columns, form.values, strict=True) if used[j] == 1
        ]
        best = max(own, default=(0.0, -1))
        if best[0] > 0:
            found[k] = best[1]
    return found


def _core(equations: Sequence[Form], point: Sequence[Fraction], freedom: Floats) -> dict[int, Fraction]:
    """Return changes of a few variables that solve a largest independent part of the equations."""
    held = common(point)
    residuals = [form.at(held) for form in equations]
    if not any(residuals):
        return {}
    if len(equations) > LARGEST:
        raise NotShownError(f"a system of {len(equations)} equations is too large for exact arithmetic")
    A = stacked(equations, len(freedom))[0]
    columns = np.flatnonzero((freedom > 0) & (A.getnnz(axis=0) > 0))
    weighted = A[:, columns].toarray() * freedom[columns]
    size = np.abs(weighted).max(axis=1, initial=0.0)
    if any(r for r, s in zip(residuals, size, strict=True) if not s > 0):
        raise NotShownError("an equation has no variable that may change")
    weighted /= np.where(size > 0, size, 1.0)[:, None]
    triangle, order = scipy.linalg.qr(weighted, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    rank = int(np.sum(diagonal > 1e-11 * diagonal.max(initial=0.0)))
    _, rows = scipy.linalg.qr(weighted[:, order[:rank]].T, mode="r", pivoting=True)
    pivots, kept = columns[order[:rank]].tolist(), rows[:rank].tolist()
    entries = [dict(zip(equations[i].columns, equations[i].values, strict=True)) for i in kept]
    system = [
        [Fraction(row.get(j, 0), equations[i].bottom) for j in pivots] for i, row in zip(kept, entries, strict=True)
    ]
    return dict(zip(pivots, solved(system, [-residuals[i] for i in kept]), strict=True))


def solved(system: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction]:
    """Return the solution of a square system, by python-flint where it is installed, else by Bareiss' elimination.

    60 equations in doubles take 6 ms by python-flint, 0.4 s by the elimination here. NotShownError for a singular one.
    """
    try:
        flint = import_module("flint")
    except ImportError:
        return bareiss(system, right)
    n = len(system)
    A = flint.fmpq_mat(n, n, [flint.fmpq(v.numerator, v.denominator) for row in system for v in row])
    b = flint.fmpq_mat(n, 1, [flint.fmpq(v.numerator, v.denominator) for v in right])
    try:
        return [Fraction(int(v.p), int(v.q)) for v in A.solve(b).entries()]
    except ZeroDivisionError as error:
        raise NotShownError("a system of equations is singular") from error


def bareiss(system: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction]:
    """Return the solution of a square system by elimination without fractions; NotShownError for a singular one."""
    whole = [common([*row, value])[0] for row, value in zip(system, right, strict=True)]
    n, table = len(whole), np.array(whole, dtype=object)
    previous = 1
    for k in range(n):
        nonzero = k + np.flatnonzero(table[k:, k])
        if not len(nonzero):
            raise NotShownError("a system of equations is singular")
        table[[k, nonzero[0]]] = table[[nonzero[0], k]]
        rest = table[k, k] * table[k + 1 :, k + 1 :] - np.outer(table[k + 1 :, k], table[k, k + 1 :])
        table[k + 1 :, k + 1 :] = rest // previous
        previous = table[k, k]
    solution = [ZERO] * n
    for k in reversed(range(n)):
        known = sum(map(mul, table[k, k + 1 : n], solution[k + 1 :]), ZERO)
        solution[k] = (table[k, n] - known) / table[k, k]
    return solution
