"""The decorator of compiled functions: numba's, with a cache where a folder for it can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba

F = TypeVar("F", bound=Callable[..., object])
FLAGS = {"reassoc", "contract", "nsz"}
"""What the compiler may change: the order of sums, and a product and a sum in one. Infinities keep their meaning."""


def kernel(function: F) -> F:
    """Compile a function that Python calls, at its first call, or take it from the cache of an earlier process.

    Where this user has no folder for a cache, a search does not use them: each process would compile again.
    """
    return _compiled(function)


def inner(function: F) -> F:
    """Compile a function that others call, as :func:`kernel` does, in half of the time: Python does not call it."""
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def _compiled(function: F, **options: bool) -> F:
    settings = {"fastmath": FLAGS, "error_model": "numpy", **options}
    try:
        compiled = numba.njit(function, cache=True, **settings)
    except RuntimeError:  # no folder of this user can be written
        compiled = numba.njit(function, **settings)
    return compiled  # type: ignore[no-any-return]
