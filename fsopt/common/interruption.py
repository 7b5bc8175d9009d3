"""Ctrl-C: one loop ends with its incumbent, between two steps; a question of many solves ends without an answer."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from types import FrameType
from typing import Any, Protocol, TypeVar


class Stopped(Protocol):
    """An answer that says why its loop stopped."""

    @property
    def stop(self) -> str:
        """The stopping criterion."""


T = TypeVar("T", bound=Stopped)
_ASKED: ContextVar[threading.Event | None] = ContextVar("_ASKED", default=None)
"""Whether Ctrl-C reached the question of many solves that is under way; None without one."""


@contextmanager
def whole_or_interrupted() -> Iterator[None]:
    """Take a block of many solves for one question: after Ctrl-C it has no answer, but ends in KeyboardInterrupt.

    A loop turns Ctrl-C into its incumbent, which in a longer question would pass for the answer of a finished loop: the
    block ends here, whatever its loops made of the signal. A block within another one does so, too, and so does
    :func:`end_if_interrupted` between two solves. Outside the main thread, and where the caller handles the signal
    itself, it is left alone.
    """
    outer = _ASKED.get()
    event = threading.Event() if outer is None else outer

    def note(number: int, frame: FrameType | None) -> None:
        event.set()
        handle(signal.default_int_handler)  # here, since the end of the block may be what is interrupted
        raise KeyboardInterrupt

    token = _ASKED.set(event)
    try:
        with _handled(note) if outer is None else nullcontext():
            yield
    finally:
        _ASKED.reset(token)
        if event.is_set():
            raise KeyboardInterrupt


def end_if_interrupted(stop: str = "") -> None:
    """Raise KeyboardInterrupt in a block of :func:`whole_or_interrupted` that Ctrl-C has reached.

    There are solvers that hear it in the place of Python: ``stop`` says why a solve ended.
    """
    asked = _ASKED.get()
    if asked is not None and (asked.is_set() or stop == "interrupted"):
        asked.set()
        raise KeyboardInterrupt


def uninterrupted(answer: T) -> T:
    """Return the answer of a loop that is part of a longer question, which ends where the loop was interrupted."""
    if answer.stop == "interrupted":
        raise KeyboardInterrupt
    return answer


@contextmanager
def deferred_interruption() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether the user asked for an end by Ctrl-C; a second Ctrl-C interrupts at once.

    Outside the main thread, where Python sets no signal handlers, and where the caller handles the signal itself, the
    signal is left alone.
    """
    asked = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    with _handled(note):
        yield asked.is_set


@contextmanager
def _handled(handler: Any) -> Iterator[None]:
    """Give Ctrl-C to a handler in a block, but where the caller has one of his own."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:
        yield
        return
    handle(handler)
    try:
        yield
    finally:
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
