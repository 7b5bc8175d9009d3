"""Standard error while a solver runs that writes there past all of its options, as the simplex method of SCIP does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import RLock

STDERR = 2
_muted: ContextVar[bool] = ContextVar("muted", default=False)


@dataclass
class _Stream:
    """The file descriptor of the process, which goes nowhere while a thread holds it."""

    lock: RLock = field(default_factory=RLock)
    holders: int = 0
    kept: int = -1

    def hold(self, change: int) -> None:
        """Add a holder, or take one away."""
        with self.lock:
            if not self.holders:
                self.kept = os.dup(STDERR)
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, STDERR)
                os.close(nowhere)
            elif not self.holders + change:
                os.dup2(self.kept, STDERR)
                os.close(self.kept)
            self.holders += change


_STREAM = _Stream()


@contextmanager
def muted() -> Iterator[None]:
    """Run a block whose standard error, that of the process, goes nowhere; without one it changes nothing."""
    try:
        _STREAM.hold(1)
    except OSError:  # standard error is closed
        yield
        return
    token = _muted.set(True)
    try:
        yield
    finally:
        _muted.reset(token)
        _STREAM.hold(-1)


@contextmanager
def heard() -> Iterator[None]:
    """Run a block of a callback within :func:`muted` with the standard error of the process."""
    if not _muted.get():
        yield
        return
    _STREAM.hold(-1)
    try:
        yield
    finally:
        _STREAM.hold(1)
