"""What a computation may take, and how it ends: one deadline for all its parts, the memory of the machine, Ctrl-C.

Solvers get the seconds that are left. Loops and linear algebra call :func:`check` between two steps, and end with the
best point so far. Builders of models and the compiler call :func:`look`, which ends them only before there is a point.
A loop ends by Ctrl-C with its incumbent, between two steps; a question of many solves ends without an answer.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import FrameType
from typing import Any, TypeVar

from fsopt.errors import MemoryLimitError, OutOfTimeError

LEAST = 0.1
"""Smallest limit of a solve in seconds: without any time a solver would not report that it has none."""
FOREVER = 1e9
"""Seconds, 32 years: a limit from here on counts as none. Solvers refuse numbers that their types cannot hold."""
GRACE = 1.0
"""Seconds by which building a model may exceed the limit: one of milliseconds still builds."""
FEWER = "keep fewer features first (pearson, fisher), or take onsvm, fsv or svm"
"""What helps where data are too large for a method."""
MEMORY = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) if hasattr(os, "sysconf") else math.inf
"""Bytes of memory of the machine; infinity if unknown."""
NUMBER = 8
"""Bytes of a number."""
ENTRY = 200
"""Bytes for each entry of the data in a model and its arrays, that of models of 10 million entries."""


@dataclass
class _Limit:
    """The deadline (``time.perf_counter``), and whether there is a point."""

    deadline: float
    found: bool = False


_LIMIT: ContextVar[_Limit | None] = ContextVar("limit", default=None)


def seconds_of(limit: float | None) -> float | None:
    """Return a time limit, a real number of whatever type, as a float; None for none, and from :data:`FOREVER` on."""
    return float(limit) if limit is not None and limit < FOREVER else None  # no float holds 10**400


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
    """Return whether the time limit has passed; a second Ctrl-C interrupts a loop here."""
    limit, heard = _LIMIT.get(), _HEARD.get()
    if heard is not None and len(heard) > 1:
        raise KeyboardInterrupt
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


def require(size: float, what: str, hint: str = FEWER) -> None:
    """Raise MemoryLimitError for arrays, called ``what``, of more bytes than the machine has, with both in GB."""
    if size > MEMORY:
        fault = f"{what} need about {size / 1e9:.3g} GB of memory, the machine has {MEMORY / 1e9:.3g} GB"
        raise MemoryLimitError(fault, f"{hint}; docs/limits.md has the sizes that each method takes")


T = TypeVar("T", bound=Any)
_ASKED: ContextVar[list[int] | None] = ContextVar("_ASKED", default=None)
_HEARD: ContextVar[list[int] | None] = ContextVar("_HEARD", default=None)
"""Signals of Ctrl-C to a question of many solves, and to a loop; None without one. A handler may interrupt itself."""


def _signals() -> list[int]:
    """Return the list of the question that is under way, a new one without any."""
    asked = _ASKED.get()
    return [] if asked is None else asked


@contextmanager
def whole_or_interrupted() -> Iterator[None]:
    """Let a block of many solves end in KeyboardInterrupt after Ctrl-C, whatever its loops made of the signal."""
    # A loop turns Ctrl-C into its incumbent, which in a longer question would pass for the answer of a finished loop.
    asked = _signals()

    def note(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        if _HEARD.get() is None:
            handle(signal.default_int_handler)  # here, since the end of the block may be what is interrupted
            raise KeyboardInterrupt

    try:
        with _handled(note, _ASKED, asked):
            yield
    finally:
        if asked and not isinstance(sys.exception(), GeneratorExit):  # of a finaliser, whose errors are printed
            raise KeyboardInterrupt


def end_if_interrupted(stop: str = "") -> None:
    """Raise KeyboardInterrupt in a block of :func:`whole_or_interrupted` that Ctrl-C has reached."""
    asked = _ASKED.get()
    if asked is not None and (asked or stop == "interrupted"):  # some solvers hear it in the place of Python
        asked.append(signal.SIGINT)
        raise KeyboardInterrupt


def uninterrupted(answer: T) -> T:
    """Return the answer of a loop that is part of a longer question, which ends where the loop was interrupted."""
    if answer.stop == "interrupted":
        raise KeyboardInterrupt
    return answer


@contextmanager
def deferred_interruption() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C asks for an end: a handler that raises may crash compiled code."""
    heard = _signals()
    with _handled(lambda number, frame: heard.append(number), _HEARD, heard):
        yield lambda: bool(heard)


@contextmanager
def _handled(handler: Any, variable: ContextVar[list[int] | None], signals: list[int]) -> Iterator[None]:
    """Give Ctrl-C to a handler in a block, but in other threads, and where the caller has a handler of his own."""
    before, token = signal.getsignal(signal.SIGINT), variable.set(signals)
    own = before is signal.default_int_handler
    if own:
        handle(handler)
    try:
        yield
    finally:
        variable.reset(token)
        if own:
            handle(before)


@contextmanager
def held_interruption() -> Iterator[None]:
    """Hold Ctrl-C back to the end of a block; processes that it starts never hear it, nor print where it met them."""
    if sys.platform == "win32":
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # its start in the block would end the hold
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def handle(handler: Any) -> None:
    """Give Ctrl-C to a handler, in the main thread: in others Python sets none."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)
