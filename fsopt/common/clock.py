"""The clock: one deadline for all parts of a computation within its time limit.

Solvers get the seconds that are left (:func:`left`). Loops call :func:`check` between two solves, and linear algebra of
this package between two blocks: the error ends the loop, with the best point so far. Builders of models and the
compiler call :func:`look` for every constraint: before there is a point, their error ends the computation shortly after
the limit; after a solve has returned a point (:func:`found`) they finish the step, or the certificate of that point.
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
"""Smallest limit of a solve in seconds: without any time a solver would not report that it has none."""
FOREVER = 1e9
"""Seconds, 32 years: a limit from here on counts as none. Solvers refuse numbers that their types cannot hold."""
GRACE = 1.0
"""Seconds by which building a model may exceed the limit: one of milliseconds still builds."""


@dataclass
class _Limit:
    """The deadline (``time.perf_counter``), and whether there is a point."""

    deadline: float
    found: bool = False


_LIMIT: ContextVar[_Limit | None] = ContextVar("limit", default=None)


def seconds_of(limit: float | None) -> float | None:
    """Return a time limit, a real number of whatever type, as a float; None for none, and from :data:`FOREVER` on."""
    seconds = math.inf if limit is None else float(limit)
    return seconds if seconds < FOREVER else None


def end_of(limit: float | None) -> float:
    """Return when a limit that begins now ends (``time.perf_counter``); infinity for none."""
    seconds = seconds_of(limit)
    return math.inf if seconds is None else time.perf_counter() + seconds


def part(end: float, share: float = 1.0) -> float | None:
    """Return a share of the seconds up to an end, for one of several searches; at least 0.001, None without an end."""
    return None if end == math.inf else max(share * (end - time.perf_counter()), 1e-3)


@contextmanager
def limited(seconds: float | None, *, extend: bool = False) -> Iterator[None]:
    """Run a block within seconds, None for no limit; a limit around it holds, too, unless this one may extend it."""
    outer, span = _LIMIT.get(), seconds_of(seconds)
    if span is None:
        yield
        return
    limit = _Limit(time.perf_counter() + span)
    if outer is not None and not extend:
        limit = _Limit(min(limit.deadline, outer.deadline), outer.found)
    with _set(limit):
        yield


@contextmanager
def _set(limit: _Limit | None) -> Iterator[None]:
    """Run a block with a limit; a point that it finds is one for the limit around it, too."""
    outer, token = _LIMIT.get(), _LIMIT.set(limit)
    try:
        yield
    finally:
        _LIMIT.reset(token)
        if outer is not None and limit is not None:
            outer.found |= limit.found


@contextmanager
def anew() -> Iterator[None]:
    """Run a block that searches for a point as if there were none yet: it builds models within the limit only."""
    outer = _LIMIT.get()
    with _set(outer and _Limit(outer.deadline)):
        yield


@contextmanager
def lifted() -> Iterator[None]:
    """Run a block without the limit around it: the last step of a loop, without which there is no answer."""
    with _set(None):
        yield


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
    """Raise OutOfTimeError where the time limit has passed: between two solves, or two blocks of linear algebra."""
    if expired():
        raise OutOfTimeError("the time limit passed within a step", "give more seconds")


def found() -> None:
    """Note that there is a point from now on."""
    limit = _LIMIT.get()
    if limit is not None:
        limit.found = True


def look() -> None:
    """Raise OutOfTimeError where the time limit passed some time ago and there is no point yet."""
    limit = _LIMIT.get()
    if limit is not None and not limit.found and time.perf_counter() >= limit.deadline + GRACE:
        raise OutOfTimeError("the time limit passed while a model was built", "give more seconds, or fewer samples")
