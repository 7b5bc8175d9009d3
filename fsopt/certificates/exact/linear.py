"""Equations solved exactly: a variable that an equation has for itself takes its residual, a small core the rest."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import scipy

from fsopt.certificates.exact.forms import Form, Vector
from fsopt.errors import NotShownError
from fsopt.typing import Vector as Floats

LARGEST = 400
"""Equations of a core that are solved together in integers: a minute of arithmetic."""


def solution_of(equations: Sequence[Form], start: Sequence[Fraction], freedom: Floats) -> list[Fraction]:
    """Return a point near a start with all equations ``form = 0`` satisfied exactly.

    Parameters
    ----------
    freedom : (N,) by how much each variable may change, 0 for those that must not.

    Raises
    ------
    NotShownError : there is no such point, or the core of the equations is too large.
    """
    point = list(start)
    private = _private(equations, freedom)
    core = [k for k in range(len(equations)) if k not in private]
    own = set(private.values())
    if core:
        residuals = _residuals([equations[k] for k in core], point)
        if any(residuals):
            changes = _core([equations[k] for k in core], residuals, freedom, own)
            for j, change in changes.items():
                point[j] += change
    held = Vector.of(point)
    for k, j in private.items():
        form = equations[k]
        value = form.at(held)
        if value:
            point[j] -= value / form.coefficient(form.columns.index(j))
    return point


def _residuals(equations: Sequence[Form], point: Sequence[Fraction]) -> list[Fraction]:
    held = Vector.of(point)
    return [form.at(held) for form in equations]


def _private(equations: Sequence[Form], freedom: Floats) -> dict[int, int]:
    """Return equation -> the freest variable of it that is in no other equation; equations without one are left out."""
    used: dict[int, int] = defaultdict(int)
    for form in equations:
        for j in form.columns:
            used[j] += 1
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


def _core(
    equations: Sequence[Form], residuals: Sequence[Fraction], freedom: Floats, own: set[int]
) -> dict[int, Fraction]:
    """Return changes of a few variables that take the residuals of the equations to 0."""
    columns = sorted({j for form in equations for j in form.columns if freedom[j] > 0 and j not in own})
    if len(equations) > LARGEST:
        raise NotShownError(f"a system of {len(equations)} equations is too large for exact arithmetic")
    place = {j: k for k, j in enumerate(columns)}
    weighted = np.zeros((len(equations), len(columns)))
    for i, form in enumerate(equations):
        for j, v in zip(form.columns, form.values, strict=True):
            if j in place:
                weighted[i, place[j]] = float(Fraction(v, form.denominator)) * min(freedom[j], 1e100)
    size = np.abs(weighted).max(axis=1, initial=0.0)
    if any(r for r, s in zip(residuals, size, strict=True) if not s > 0):
        raise NotShownError("an equation has no variable that may change")
    weighted /= np.where(size > 0, size, 1.0)[:, None]
    _, triangle, order = scipy.linalg.qr(weighted, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    rank = int(np.sum(diagonal > 1e-11 * diagonal.max(initial=0.0)))
    pivots = [columns[k] for k in order[:rank].tolist()]
    kept = list(range(len(equations))) if rank == len(equations) else _independent(weighted[:, order[:rank]], rank)
    system = [[_entry(equations[i], j) for j in pivots] for i in kept]
    solution = solved(system, [-residuals[i] for i in kept])
    changes = dict(zip(pivots, solution, strict=True))
    for i in set(range(len(equations))) - set(kept):
        left = residuals[i] + sum(_entry(equations[i], j) * v for j, v in changes.items())
        if left:
            raise NotShownError("equations that depend on each other are not satisfied exactly")
    return changes


def _independent(part: np.ndarray, rank: int) -> list[int]:
    """Return independent rows of a matrix with so many independent columns."""
    _, _, order = scipy.linalg.qr(part.T, mode="economic", pivoting=True)
    return sorted(order[:rank].tolist())


def _entry(form: Form, column: int) -> Fraction:
    return form.coefficient(form.columns.index(column)) if column in form.columns else Fraction(0)


def solved(system: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction]:
    """Return the solution of a square system, by python-flint where it is installed, else by Bareiss' elimination.

    Raises
    ------
    NotShownError : the matrix is singular.
    """
    flint = _flint()
    return bareiss(system, right) if flint is None else _by_flint(flint, system, right)


@cache
def _flint() -> Any:
    """Return the module of python-flint, None where it is not installed."""
    try:
        return import_module("flint")
    except ImportError:
        return None


def _by_flint(flint: Any, system: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction]:
    """Return the solution by python-flint: 60 equations in doubles take 6 ms, Bareiss' elimination here 0.4 s."""
    n = len(system)
    A = flint.fmpq_mat(n, n, [flint.fmpq(v.numerator, v.denominator) for row in system for v in row])
    b = flint.fmpq_mat(n, 1, [flint.fmpq(v.numerator, v.denominator) for v in right])
    try:
        x = A.solve(b)
    except ZeroDivisionError as error:
        raise NotShownError("a system of equations is singular") from error
    return [Fraction(int(x[i, 0].p), int(x[i, 0].q)) for i in range(n)]


def bareiss(system: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction]:
    """Return the solution of a square system by elimination without fractions; NotShownError for a singular one."""
    n = len(system)
    table: list[list[int]] = []
    for row, value in zip(system, right, strict=True):
        scale = math.lcm(*(v.denominator for v in (*row, value)))
        table.append([int(v * scale) for v in (*row, value)])
    previous = 1
    for k in range(n):
        pivot = min((i for i in range(k, n) if table[i][k]), key=lambda i: abs(table[i][k]), default=None)
        if pivot is None:
            raise NotShownError("a system of equations is singular")
        table[k], table[pivot] = table[pivot], table[k]
        head = table[k]
        for i in range(k + 1, n):
            old = table[i]
            rest = [(head[k] * old[j] - old[k] * head[j]) // previous for j in range(k + 1, n + 1)]
            table[i] = [0] * (k + 1) + rest
        previous = head[k]
    solution = [Fraction(0)] * n
    for k in reversed(range(n)):
        known = sum(table[k][j] * solution[j] for j in range(k + 1, n) if table[k][j])
        solution[k] = (table[k][n] - known) / Fraction(table[k][k])
    return solution
