"""The clock: one deadline for everything that a computation does within its time limit.

Four parts of a computation look at it. Solvers get the seconds that are left (:func:`left`). Loops ask between two
solves (:func:`expired`) and end with the best point so far. Linear algebra of this package asks between two pieces
(:func:`check`), which ends it by an error. Builders and the compiler call :func:`look` for every
constraint, which ends them by an error shortly after the limit; once a solve has returned a point (:func:`found`) they
go on, because what is then built is the rest of a step, or the certificate of that point.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from fsopt.errors import OutOfTimeError

LEAST = 0.1
"""Seconds that a solve is given at least: a solver with none would not even say so."""


FOREVER = 1e9
"""Seconds, 32 years: such a limit is none. Solvers that count in limited types refuse larger ones."""
SHARE, GRACE = 0.1, 1.0
"""Share of the limit, and seconds, that building a model may take beyond it: a limit of milliseconds still builds."""


@dataclass
class _Limit:
    """A deadline, when building ends for want of a point (``time.perf_counter``), and whether there is a point."""

    deadline: float
    patience: float
    found: bool = False


_LIMIT: ContextVar[_Limit | None] = ContextVar("limit", default=None)


def seconds_of(limit: float | None) -> float | None:
    """Return a time limit, a real number of whatever type, as a float; None for none, and from :data:`FOREVER` on."""
    seconds = math.inf if limit is None else float(limit)
    return seconds if seconds < FOREVER else None


@contextmanager
def limited(seconds: float | None, *, extend: bool = False) -> Iterator[None]:
    """Run a block within a time limit; None sets none. A limit around it holds, too, unless this one may extend it."""
    outer, seconds = _LIMIT.get(), seconds_of(seconds)
    if seconds is None:
        yield
        return
    now = time.perf_counter()
    limit = _Limit(now + seconds, now + (1.0 + SHARE) * seconds + GRACE)
    if outer is not None and not extend:
        limit = _Limit(min(limit.deadline, outer.deadline), min(limit.patience, outer.patience), outer.found)
    token = _LIMIT.set(limit)
    try:
        yield
    finally:
        _LIMIT.reset(token)


@contextmanager
def anew() -> Iterator[None]:
    """Run a block that looks for a point as if there were none yet: its building of models ends at the limit, too."""
    outer = _LIMIT.get()
    if outer is None:
        yield
        return
    limit = _Limit(outer.deadline, outer.patience)
    token = _LIMIT.set(limit)
    try:
        yield
    finally:
        _LIMIT.reset(token)
        outer.found = outer.found or limit.found


def left(seconds: float | None = None) -> float | None:
    """Return the seconds for the next solve, at most ``seconds`` and at least :data:`LEAST`; None without a limit."""
    limit = _LIMIT.get()
    if limit is None:
        return seconds
    rest = max(limit.deadline - time.perf_counter(), LEAST)
    return rest if seconds is None else min(rest, seconds)


def expired() -> bool:
    """Return whether the time limit has passed."""
    limit = _LIMIT.get()
    return limit is not None and time.perf_counter() >= limit.deadline


def check() -> None:
    """Raise OutOfTimeError where the time limit has passed: between the pieces of a long computation in arrays."""
    if expired():
        raise OutOfTimeError("the time limit passed within a step", "give more seconds")


def found() -> None:
    """Say that there is a point from now on."""
    limit = _LIMIT.get()
    if limit is not None:
        limit.found = True


def look() -> None:
    """Raise OutOfTimeError where the time limit passed some time ago and there is no point yet."""
    limit = _LIMIT.get()
    if limit is not None and not limit.found and time.perf_counter() >= limit.patience:
        raise OutOfTimeError("the time limit passed while a model was built", "give more seconds, or fewer samples")
