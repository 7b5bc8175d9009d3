"""The decorator of compiled functions: numba's, with a cache where the folder for it is this user's alone.

The files of the cache are pickles: whoever can write them has his code run by each process that reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba

from fsopt.common.files import only_mine

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
        stats = getattr(compiled, "stats", None)  # None where numba is told to compile nothing
        cached = stats is None or only_mine(stats.cache_path, f"*.{function.__name__}-*.nb?")
    except RuntimeError:  # no folder of this user can be written
        cached = False
    return compiled if cached else numba.njit(function, **settings)  # type: ignore[no-any-return]
