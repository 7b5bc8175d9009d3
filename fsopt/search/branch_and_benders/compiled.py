"""When functions that begin in numpy go on compiled, where numba is installed: the extra ``compiled``.

numpy takes longer for the calls of its functions than for the arithmetic of a node of a hundred samples and fifty
features. Importing numba takes half a second, and compiling twenty, once for an installation; so a search begins in
numpy, and goes on compiled when the searches of this process have taken :data:`IMPORT` seconds of a processor, or
:data:`COMPILE` where no earlier process has compiled the functions: at most about twice what the better way takes.
Nothing is compiled where less than :data:`LONG` seconds of a time limit are left.
There is one source: formulas take arrays in numpy, and numbers in the loops of
:mod:`fsopt.search.branch_and_benders.kernels`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import thread_time
from typing import Any

from fsopt.common import clock
from fsopt.common.jit import available, cached
from fsopt.search.branch_and_benders.relaxation import COMPILED, ENTRIES

IMPORT, COMPILE = 0.3, 10.0
"""CPU seconds of the searches of this process from which compiled functions are imported, and others are compiled."""
LONG = 30.0
"""Seconds that are left of a time limit for functions to be compiled: that takes most of them, once."""
_past = 0.0
_asked: set[bool] = set()
_begun: ContextVar[float | None] = ContextVar("begun", default=None)


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


def go_on() -> None:
    """Let a long search go on with what is compiled already, or is to be compiled where there is time for it."""
    begun, left = _begun.get(), clock.left()
    spent = _past if begun is None else _past + thread_time() - begun
    may = spent >= COMPILE and (left is None or left >= LONG)
    if spent >= IMPORT and may not in _asked and available():
        _asked.add(may)  # once: to look for the files of compiled functions takes as long as a node
        _go_on(may=may)


def _go_on(*, may: bool) -> None:
    """Take the compiled functions: those that are kept, and others where they ``may`` be compiled, and kept."""
    from fsopt.search.branch_and_benders.kernels import compiled

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
