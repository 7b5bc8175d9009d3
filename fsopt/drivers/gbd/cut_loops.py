"""The loops that numba compiles in the place of numpy's functions in the search over cuts, and the compiled search.

No option lets the compiler change the order of the arithmetic: a compiled search finds what it finds in numpy.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from fsopt.drivers.gbd import cut_nodes
from fsopt.search.branch_and_benders.compiled import jit, overloading
from fsopt.typing import Indices, Matrix, Vector


@overloading(cut_nodes.largest)
def largest(held: Vector, completion: Vector, cutoff: float) -> float:
    """Return the largest cut of a node, from the newest on; any number from the cutoff on where one cut is that."""
    found = -np.inf
    for s in range(len(held) - 1, -1, -1):
        value = held[s] - completion[s]
        if value >= cutoff:
            return np.inf
        found = max(found, value)
    return found


@overloading(cut_nodes.largest_gains)
def largest_gains(table: Matrix, gains: Matrix) -> None:
    """Make the row q of a table (rows, s) the sum of the first q gains (k, s), of all where there are fewer."""
    table[0] = 0.0
    for q in range(1, len(table)):
        before, now = table[q - 1], table[q]
        if q > len(gains):
            now[:] = before
            continue
        more = gains[q - 1]
        for k in range(len(now)):
            now[k] = before[k] + more[k]


@overloading(cut_nodes.leave_out)
def leave_out(gains: Matrix, rank: Indices, feature: int) -> None:
    """Leave a feature out of the falling gains (k, s) of those from it on; the last row is not valid any more."""
    own = rank[feature]
    place = own.copy()
    for j in range(feature):
        other = rank[j]
        for k in range(len(place)):
            place[k] -= other[k] < own[k]
    for q in range(len(gains) - 1):
        now, after = gains[q], gains[q + 1]
        for k in range(len(place)):
            now[k] = after[k] if q >= place[k] else now[k]


@cache
def compiled(function: Any) -> Any:
    """Return a function of the search, compiled."""
    return jit(function, error_model="numpy")
