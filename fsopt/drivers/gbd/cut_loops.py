"""The loops that numba compiles in the place of numpy's functions in the search over cuts, and the compiled search.

No option lets the compiler change the order of the arithmetic: a compiled search finds what it finds in numpy.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from fsopt.common import jit
from fsopt.drivers.gbd import cut_nodes
from fsopt.typing import Indices, Matrix, Vector


@jit.instead(cut_nodes.largest)
def largest(held: Vector, completion: Vector, cutoff: float) -> float:
    """Return the largest cut of a node, from the newest on; any number from the cutoff on where one cut is that."""
    found = -np.inf
    for s in range(len(held) - 1, -1, -1):
        value = held[s] - completion[s]
        if value >= cutoff:
            return np.inf
        found = max(found, value)
    return found


@jit.instead(cut_nodes.largest_gains)
def largest_gains(table: Matrix, falling: Indices, gains: Matrix, depth: int) -> None:
    """Make the row q of a table (rows, s) the q largest gains of each cut at features from a depth on."""
    s, p = gains.shape
    for k in range(s):
        total, row = 0.0, 0
        table[0, k] = 0.0
        for j in range(p):
            if row + 1 == len(table):
                break
            if falling[k, j] >= depth:
                total, row = total + gains[k, j], row + 1
                table[row, k] = total
        table[row + 1 :, k] = total


@cache
def compiled(function: Any) -> Any:
    """Return a function of the search, compiled."""
    return jit.compiled(function, error_model="numpy")
