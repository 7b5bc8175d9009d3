"""Compiles the marked functions by numba, or takes them from the cache of an earlier process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.extending import overload

from fsopt.common.files import only_mine
from fsopt.search.branch_and_benders.marks import INNER

OPTIONS = {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy"}
"""What the compiler may change: the order of sums, and a product and a sum in one. Infinities keep their meaning."""
LOOPS: dict[Callable[..., Any], Callable[..., Any]] = {}
"""Function of arrays -> the same of loops over the formulas that both have."""


@cache
def compiled(function: Callable[..., Any]) -> Any:
    """Return a function that is compiled at its first call, or taken from the cache of an earlier process.

    Where this user has no folder for a cache, a search does not use them: each process would compile again.
    The files of the cache are pickles: whoever can write them has his code run by each process that reads them.
    """
    try:
        found = numba.njit(LOOPS.get(function, function), cache=True, **OPTIONS)
        if only_mine(found.stats.cache_path, f"*.{found.__name__}-*.nb?"):
            # numba knows when the file of the function itself has changed, not those of the functions that it calls.
            written = max(Path(one.__code__.co_filename).stat().st_mtime for one in (*INNER, *LOOPS.values()))
            for file in cached(found):
                if file.stat().st_mtime < written:
                    file.unlink(missing_ok=True)
            return found
    except RuntimeError:  # no folder of this user can be written
        pass
    return numba.njit(LOOPS.get(function, function), **OPTIONS)


def cached(function: Any) -> Iterator[Path]:
    """Yield the files in which earlier processes have kept a compiled function."""
    code = function.py_func.__code__
    module = Path(code.co_filename).stem
    return Path(function.stats.cache_path).glob(f"{module}.{function.__name__}-{code.co_firstlineno}.*.nb?")


def instead(of: Any) -> Any:
    """Let compiled functions call another one in the place of a function."""

    def mark(function: Any) -> Any:
        overload(of, jit_options=OPTIONS, strict=False)(lambda *args: function)
        LOOPS[of] = function
        return function

    return mark
