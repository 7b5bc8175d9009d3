r"""Indicators, constraints that hold where a binary variable has a value, as constraints of a program that was read.

.. math::

    b = 0 \;\Rightarrow\; a'x \le u \quad\text{becomes}\quad a'x - M b \le u, \qquad
    M \ge \max_{\underline{x} \le x \le \overline{x}} a'x - u,

and for b = 1 the same with the variable ``(row 1 - b)``, which the constraint of that name makes equal to 1 - b: so no
number of the file is rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from fsopt.errors import FileError
from fsopt.formats.read_arrays import INFINITE, ReadProgram
from fsopt.typing import Vector


class Indicator(NamedTuple):
    """The place of a constraint, and the place and value of the binary with which it holds."""

    row: int
    column: int
    value: int


def switched(p: ReadProgram, indicators: Sequence[Indicator]) -> ReadProgram:
    """Return a program whose constraints hold only where their binaries have their values.

    Raises
    ------
    FileError : a constraint with quadratic terms, one with two indicators, a variable that is not binary, or a
        constraint whose left-hand side has no bound, for which there is no M.
    """
    if not indicators:
        return p
    off: dict[tuple[int, int], int] = {}  # (binary, value) -> the variable that is 1 where the constraint need not hold
    columns, rows = list(p.columns), list(p.rows)
    lo, hi = p.lo.tolist(), p.hi.tolist()
    forms: list[tuple[int, int, float]] = []
    copies: dict[int, int] = {}
    seen: set[int] = set()
    for one in indicators:
        name = p.rows[one.row]
        _check(p, one, name, seen)
        seen.add(one.row)
        if (one.column, one.value) not in off:
            off[one.column, one.value] = one.column
            if one.value == 1:
                off[one.column, one.value] = len(columns)
                forms += [(len(rows), one.column, 1.0), (len(rows), len(columns), 1.0)]
                columns.append(f"(row 1 - {p.columns[one.column]})")
                rows.append(columns[-1])
                lo.append(1.0)
                hi.append(1.0)
        switch = off[one.column, one.value]
        low, high = (end if abs(end) < INFINITE else np.inf for end in (p.lo[one.row], p.hi[one.row]))
        ends = [(sign, end) for sign, end in ((1.0, high), (-1.0, low)) if np.isfinite(end)]
        for sign, end in ends:
            place = one.row
            if sign < 0 and len(ends) == 2:  # the other bound has a constraint of its own, with an M of its own
                place = copies[one.row] = len(rows)
                rows.append(f"{name} >=")
                lo.append(low)
                hi.append(np.inf)
                lo[one.row] = -np.inf
            if size := _size(p, one.row, sign, end):
                forms.append((place, switch, -sign * size))
    return _extended(p, columns, rows, (lo, hi), forms, copies)


def _check(p: ReadProgram, one: Indicator, name: str, seen: set[int]) -> None:
    j = one.column
    if one.row in seen:
        raise FileError(f"the constraint '{name}' has two indicators", "write a constraint for each")
    if one.row in p.terms:
        raise FileError(
            f"the constraint '{name}' has an indicator and quadratic terms", "state it by a bound of its own"
        )
    if not (p.integer[j] and p.lb[j] >= 0 and p.ub[j] <= 1):
        raise FileError(f"the indicator '{p.columns[j]}' of '{name}' is not binary", "declare it as binary")


def _size(p: ReadProgram, i: int, sign: float, end: float) -> float:
    """Return what ``sign * (a'x - end)`` exceeds 0 by at most, rounded up."""
    part = slice(p.A.indptr[i], p.A.indptr[i + 1])
    coefs, j = sign * p.A.data[part], p.A.indices[part]
    semi = p.semi[j] if p.semi is not None else np.zeros(len(j), dtype=bool)
    low, high = np.where(semi, np.minimum(p.lb[j], 0), p.lb[j]), np.where(semi, np.maximum(p.ub[j], 0), p.ub[j])
    most = np.where(coefs > 0, high, low)
    if bad := next((p.columns[k] for k, v, c in zip(j, most, coefs, strict=True) if c and abs(v) >= INFINITE), ""):
        raise FileError(
            f"the constraint '{p.rows[i]}' has an indicator, and its variable '{bad}' no bound",
            f"give '{bad}' the bound that the constraint needs where it does not hold",
        )
    terms: Vector = np.abs(coefs * most)
    size = float(coefs @ most - sign * end)
    return float(np.ceil(size + 1e-12 * (terms.sum() + abs(end)))) if size > 0 else 0.0


def _extended(
    p: ReadProgram,
    columns: list[str],
    rows: list[str],
    ends: tuple[list[float], list[float]],
    forms: list[tuple[int, int, float]],
    copies: dict[int, int],
) -> ReadProgram:
    """Return a program with further variables, which are binary, constraints, copies of constraints, and entries."""
    shape, more = (len(rows), len(columns)), len(columns) - len(p.columns)
    A = p.A.copy()
    A.resize(shape)
    i, j, v = (np.array(part) for part in zip(*forms, strict=True)) if forms else (np.zeros(0),) * 3
    A = A + sp.csr_matrix((v, (i.astype(int), j.astype(int))), shape=shape)
    if copies:
        chosen = sp.csr_matrix((np.ones(len(copies)), ([*copies.values()], [*copies])), shape=(len(rows), len(p.rows)))
        copied = chosen @ p.A
        copied.resize(shape)
        A = A + copied
    return replace(
        p,
        columns=columns,
        rows=rows,
        c=np.append(p.c, np.zeros(more)),
        A=sp.csr_matrix(A),
        lo=np.array(ends[0]),
        hi=np.array(ends[1]),
        lb=np.append(p.lb, np.zeros(more)),
        ub=np.append(p.ub, np.ones(more)),
        integer=np.append(p.integer, np.ones(more, dtype=bool)),
        semi=None if p.semi is None else np.append(p.semi, np.zeros(more, dtype=bool)),
    )
