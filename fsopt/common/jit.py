"""Functions compiled by numba, where it is installed (the extra ``compiled``), or kept by an earlier process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
LOOPS: dict[Callable[..., Any], Callable[..., Any]] = {}
"""Function of arrays -> the loops that are compiled in its place."""


@cache
def available() -> bool:
    """Return whether numba is installed, and compiles."""
    return find_spec("numba") is not None and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def compiled(function: Callable[..., Any], inner: Iterable[Callable[..., Any]] = (), **options: Any) -> Any:
    """Return a function that is compiled at its first call, or kept by an earlier process; it calls ``inner`` ones."""
    import numba

    loops = LOOPS.get(function, function)
    try:
        found = numba.njit(loops, cache=True, **options)
    except RuntimeError:  # no folder of this user can be written
        return numba.njit(loops, **options)
    # numba knows when the file of the function itself has changed, not those of the functions that it calls.
    written = max(Path(one.__code__.co_filename).stat().st_mtime for one in (*inner, *LOOPS.values()))
    for file in cached(found):
        if file.stat().st_mtime < written:
            file.unlink(missing_ok=True)
    return found


def cached(function: Any) -> Iterator[Path]:
    """Yield the files in which earlier processes have kept a compiled function."""
    code = function.py_func.__code__
    module = Path(code.co_filename).stem
    return Path(function.stats.cache_path).glob(f"{module}.{function.__name__}-{code.co_firstlineno}.*.nb?")


def instead(of: Any, **options: Any) -> Callable[[F], F]:
    """Let compiled functions call another one, compiled with these options, in the place of a function."""
    from numba.extending import overload

    def mark(function: F) -> F:
        overload(of, jit_options=options, strict=False)(lambda *args: function)
        LOOPS[of] = function
        return function

    return mark
