"""Positive semidefiniteness of rational matrices, shown by an elimination without rounding."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def semidefinite(order: int, triangle: Sequence[Fraction]) -> bool:
    """Return whether a symmetric matrix, its upper triangle column by column, has no negative eigenvalue.

    The elimination ``S = L D L'`` in rational numbers: a negative pivot shows a negative eigenvalue, and a pivot 0 with
    another entry in its row shows one too.
    """
    rows = [[Fraction(0)] * order for _ in range(order)]
    entries = iter(triangle)
    for j in range(order):
        for i in range(j + 1):
            rows[i][j] = rows[j][i] = next(entries)
    for k in range(order):
        pivot = rows[k][k]
        if pivot < 0 or (pivot == 0 and any(rows[k][k + 1 :])):
            return False
        if pivot == 0:
            continue
        for i in range(k + 1, order):
            if rows[i][k]:
                factor = rows[i][k] / pivot
                for j in range(i, order):
                    if rows[k][j]:
                        rows[i][j] = rows[j][i] = rows[i][j] - factor * rows[k][j]
    return True
