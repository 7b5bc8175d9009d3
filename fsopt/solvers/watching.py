"""The course of a solve: incumbent, bound, gap and seconds, as its solver tells them through a callback.

An interface asks for the watch of the present solve (:func:`current`) and notes what its solver tells. It gives
them in the program's minimisation form; the records are in the model's own sense.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from fsopt.certificates.points import relative_gap
from fsopt.typing import Vector

Progress: TypeAlias = Callable[[Mapping[str, Any]], None]
HUGE = 1e20
"""Values from this size on are no incumbent and no bound."""
MOST = 10_000
"""Records of a solve; later ones are left out."""


@dataclass
class Watch:
    """The records of one solve.

    Attributes
    ----------
    sign : of the program: -1 for a maximisation, which it stores as a minimisation.
    progress : called with each record.
    raised : the exception of ``progress``, None where there was none.
    interrupted : whether Ctrl-C was pressed; an interface whose solver does not hear it stops the solver then.
    """

    sign: float = 1.0
    progress: Progress | None = None
    interrupted: bool = False
    raised: BaseException | None = None
    began: float = field(default_factory=time.perf_counter)
    records: list[dict[str, Any]] = field(default_factory=list)

    def note(self, incumbent: float | None = None, bound: float | None = None, iteration: int | None = None) -> None:
        """Add a record, unless incumbent, bound and iteration are those of the last one."""
        values = {"incumbent": self._value(incumbent), "bound": self._value(bound), "iteration": iteration}
        last = self.records[-1] if self.records else {}
        if all(last.get(k) == v for k, v in values.items()) or len(self.records) >= MOST:
            return
        gap = None
        if values["incumbent"] is not None and values["bound"] is not None:
            gap = relative_gap(values["incumbent"], values["bound"])
        record = {**values, "gap": gap, "seconds": time.perf_counter() - self.began}
        self.records.append(record)
        if self.progress is not None:
            try:
                self.progress(dict(record))
            except BaseException as error:
                self.raised = error
                raise

    def _value(self, value: float | None) -> float | None:
        if value is None or not np.isfinite(value) or abs(value) >= HUGE:
            return None
        return self.sign * float(value)


_CURRENT: ContextVar[Watch | None] = ContextVar("watch", default=None)
_START: ContextVar[Vector | None] = ContextVar("start", default=None)


def current() -> Watch | None:
    """Return the watch of the present solve; None where nobody watches it."""
    return _CURRENT.get()


def start() -> Vector | None:
    """Return the values (n,) from which a solver that can starts the present solve; None for its own start."""
    return _START.get()


@contextmanager
def watching(watch: Watch | None, values: Vector | None = None) -> Iterator[None]:
    """Make a watch that of the solve inside, and values (n,) its start."""
    tokens = _CURRENT.set(watch), _START.set(values)
    try:
        yield
    finally:
        _CURRENT.reset(tokens[0])
        _START.reset(tokens[1])


@contextmanager
def heard(watch: Watch | None) -> Iterator[None]:
    """Let Ctrl-C mark a watch, at which its interface stops the solver and keeps the incumbent; a second one raises.

    None, and another thread than the main one, leave Ctrl-C as it is.
    """
    if watch is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def mark(number: int, frame: Any) -> None:
        if watch.interrupted:
            raise KeyboardInterrupt
        watch.interrupted = True

    before = signal.signal(signal.SIGINT, mark)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before if before is not None else signal.SIG_DFL)
