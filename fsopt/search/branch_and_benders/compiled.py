"""When functions that begin in numpy go on compiled, where numba is installed: the extra ``compiled``.

numpy takes longer for the calls of its functions than for the arithmetic of a node of a hundred samples and fifty
features. Importing numba takes half a second, and compiling twenty, once for an installation; so a search begins in
numpy, and goes on compiled when the searches of this process have taken :data:`IMPORT` seconds of a processor, or
:data:`COMPILE` where no earlier process has compiled the functions: at most about twice what the better way takes.
There is one source: formulas take arrays in numpy, and numbers in the loops of
:mod:`fsopt.search.branch_and_benders.kernels`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from time import thread_time
from typing import Any, TypeVar

import numpy as np

from fsopt.common import clock
from fsopt.common.files import only_mine

F = TypeVar("F", bound=Callable[..., Any])
ENTRIES: list[Callable[..., Any]] = []
"""Functions that :func:`fast` compiles."""
INNER: list[Callable[..., Any]] = []
"""Functions that these call."""
COMPILED: dict[Callable[..., Any], Callable[..., Any]] = {}
"""Function -> the compiled one, where searches have gone on to that."""
LOOPS: dict[Callable[..., Any], Callable[..., Any]] = {}
"""Function of arrays -> the loops that are compiled in its place."""
IMPORT, COMPILE = 2.0, 10.0
"""CPU seconds of the searches of this process from which compiled functions are imported, and others are compiled."""
COMPILING = 30.0
"""Seconds that a time limit leaves where functions are compiled that no earlier process has compiled."""

_past = 0.0
_begun: ContextVar[float | None] = ContextVar("begun", default=None)


def entry(function: F) -> F:
    """Mark a function that :func:`fast` compiles."""
    ENTRIES.append(function)
    return function


def inner(function: F) -> F:
    """Mark a function that compiled functions call."""
    INNER.append(function)
    return function


def fast(function: F) -> F:
    """Return a function compiled where searches have gone on to that, else as it is."""
    return COMPILED.get(function, function)  # type: ignore[return-value]


@contextmanager
def counted() -> Iterator[None]:
    """Count the CPU seconds of a block as those of a search."""
    global _past
    begun = thread_time()
    token = _begun.set(begun)
    try:
        yield
    finally:
        _begun.reset(token)
        _past += thread_time() - begun


def _spent() -> float:
    """Return the CPU seconds of the searches of this process so far."""
    begun = _begun.get()
    return _past if begun is None else _past + thread_time() - begun


def go_on() -> None:
    """Let a long search go on with what is compiled already, or can be within its time limit."""
    spent = _spent()
    if spent < IMPORT or not available():
        return
    from fsopt.search.branch_and_benders.kernels import compiled

    may = spent >= COMPILE and (clock.left() or np.inf) > COMPILING
    for function in ENTRIES:
        found = compiled(function)
        kept = _kept(found)
        if kept or (may and kept is not None):
            COMPILED[function] = found
        else:
            COMPILED.pop(function, None)


def _kept(function: Any) -> bool | None:
    """Return whether a function is compiled, in this process or a cache; None where this user has no folder for one."""
    if function.signatures:
        return True
    if function.stats.cache_path is None:
        return None
    return any(cached(function))


@cache
def available() -> bool:
    """Return whether numba is installed, and compiles."""
    return find_spec("numba") is not None and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def jit(function: Callable[..., Any], inner: Iterable[Callable[..., Any]] = (), **options: Any) -> Any:
    """Return a function that is compiled at its first call, or taken from the cache of an earlier process.

    Where this user has no folder for a cache, a search does not use them: each process would compile again.
    The files of the cache are pickles: whoever can write them has his code run by each process that reads them.

    Parameters
    ----------
    inner : functions that are called, beside the loops.
    options : of the compiler.
    """
    import numba

    try:
        found = numba.njit(LOOPS.get(function, function), cache=True, **options)
        if only_mine(found.stats.cache_path, f"*.{found.__name__}-*.nb?"):
            # numba knows when the file of the function itself has changed, not those of the functions that it calls.
            written = max(Path(one.__code__.co_filename).stat().st_mtime for one in (*inner, *LOOPS.values()))
            for file in cached(found):
                if file.stat().st_mtime < written:
                    file.unlink(missing_ok=True)
            return found
    except RuntimeError:  # no folder of this user can be written
        pass
    return numba.njit(LOOPS.get(function, function), **options)


def cached(function: Any) -> Iterator[Path]:
    """Yield the files in which earlier processes have kept a compiled function."""
    code = function.py_func.__code__
    module = Path(code.co_filename).stem
    return Path(function.stats.cache_path).glob(f"{module}.{function.__name__}-{code.co_firstlineno}.*.nb?")


def overloading(of: Any, **options: Any) -> Callable[[F], F]:
    """Let compiled functions call another one, compiled with these options, in the place of a function."""
    from numba.extending import overload

    def mark(function: F) -> F:
        overload(of, jit_options=options, strict=False)(lambda *args: function)
        LOOPS[of] = function
        return function

    return mark
