"""Ctrl-C at a point where a loop has a state: the signal is noted, and the loop looks for it between two steps."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Protocol, TypeVar


class Stopped(Protocol):
    """An answer that says why its loop stopped."""

    @property
    def stop(self) -> str:
        """The stopping criterion."""


T = TypeVar("T", bound=Stopped)


def uninterrupted(answer: T) -> T:
    """Return the answer of a loop that is a part of a longer question.

    Raises
    ------
    KeyboardInterrupt : the loop has turned it into its incumbent: the question ends, too.
    """
    if answer.stop == "interrupted":
        raise KeyboardInterrupt
    return answer


@contextmanager
def deferred_interruption() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether the user asked for an end by Ctrl-C; a second Ctrl-C interrupts at once.

    Outside the main thread, where Python sets no signal handlers, and where the caller handles the signal itself, the
    signal is left alone.
    """
    before = signal.getsignal(signal.SIGINT)
    asked = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    if before is not signal.default_int_handler:
        yield lambda: False
        return
    handle(note)
    try:
        yield lambda: asked
    finally:
        handle(before)


def handle(handler: Any) -> None:
    """Give Ctrl-C to a handler, in the main thread: in others Python sets none."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)
