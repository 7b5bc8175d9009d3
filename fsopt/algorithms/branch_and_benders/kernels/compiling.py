"""The decorator of compiled functions: numba's, with a cache where a folder for it can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba

F = TypeVar("F", bound=Callable[..., object])
FLAGS = {"reassoc", "contract", "nsz"}
"""What the compiler may change: the order of sums, and a product and a sum in one. Infinities keep their meaning."""


def kernel(function: F) -> F:
    """Compile a function at its first call, or take it from the cache of an earlier process.

    Where this user has no folder for a cache, a search does not use them: each process would compile again.
    """
    try:
        compiled = numba.njit(function, cache=True, fastmath=FLAGS, error_model="numpy")
    except RuntimeError:  # no folder of this user can be written
        compiled = numba.njit(function, fastmath=FLAGS, error_model="numpy")
    return compiled  # type: ignore[no-any-return]
