"""A fit step by step: the records of its loop as an iterator, which its user ends where he likes."""

from __future__ import annotations

import contextvars
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from fsopt.answers.fits import Fit
from fsopt.data import Dataset
from fsopt.errors import ParameterError, SolverError
from fsopt.methods.registry import fit
from fsopt.typing import Samples


@dataclass
class _Course:
    """A fit in a thread of its own, which waits after each record until it is told to go on."""

    call: Callable[..., Fit]
    turn: threading.Semaphore = field(default_factory=partial(threading.Semaphore, 0))
    told: threading.Semaphore = field(default_factory=partial(threading.Semaphore, 0))
    record: Mapping[str, Any] | None = None
    stopped: bool = False
    ending: bool = False
    outcome: Fit | BaseException | None = None

    def run(self) -> None:
        """Run the fit to its end."""
        try:
            self.outcome = self.call(progress=self.tell)
        except BaseException as error:  # raised again in the thread of the user
            self.outcome = error
        self.record = None
        self.told.release()

    def tell(self, record: Mapping[str, Any]) -> None:
        """Give a record and wait; end the loop once where it shall be ended, and let it record its end."""
        if not self.stopped:
            self.record = record
            self.told.release()
            self.turn.acquire()
        if self.stopped and not self.ending:
            self.ending = True
            raise KeyboardInterrupt

    def stop(self) -> None:
        """Let the loop end at the record at which it waits, or at the next one."""
        self.stopped = True
        self.turn.release()


class Loop(Iterator[Mapping[str, Any]]):
    """The records of a fit as an iterator, see :func:`steps`: the loop waits at each of them."""

    def __init__(self, call: Callable[..., Fit]) -> None:
        self._course = _Course(call)
        self._thread: threading.Thread | None = None
        # A loop that nobody holds any more ends.
        self._release = weakref.finalize(self, self._course.stop)

    def __next__(self) -> Mapping[str, Any]:
        """Return the record of the next iteration; Ctrl-C ends the loop with its incumbent, as in a fit."""
        course = self._course
        if course.outcome is None and self._thread is None:
            # The limits around the caller hold in the thread, too.
            run = partial(contextvars.copy_context().run, course.run)
            self._thread = threading.Thread(target=run, name="fsopt.steps", daemon=True)
            self._thread.start()
        elif course.outcome is None:
            course.turn.release()
        if course.outcome is None:
            try:
                course.told.acquire()
            except KeyboardInterrupt:
                self.stop()
        if isinstance(course.outcome, BaseException):
            raise course.outcome
        if course.outcome is not None or course.record is None:
            raise StopIteration
        return course.record

    def stop(self) -> Fit:
        """End the loop and return its fit: the incumbent, ``stop="interrupted"``, or the answer of one that has ended.

        Raises
        ------
        SolverError : there is no incumbent yet.
        FsoptError : what ended the loop.
        """
        course = self._course
        if self._thread is None:
            raise SolverError("the loop was stopped before its first step", "take a step of it first: next(loop)")
        self._release()
        self._thread.join()
        if isinstance(course.outcome, KeyboardInterrupt):
            raise SolverError("the loop was stopped before it had an incumbent", "stop it at a later step")
        if isinstance(course.outcome, BaseException):
            raise course.outcome
        assert course.outcome is not None
        return course.outcome


def steps(name: str, data: Dataset | Samples, y: ArrayLike | None = None, **keywords: Any) -> Loop:
    """Run a method step by step: an iterator over the records of its iterations.

    Between two steps the loop waits. Every method takes part; one without a loop has no records, and its answer is
    that of ``stop()`` after the first ``next``.

    Parameters
    ----------
    name : str
        One of ``fsopt.METHODS``.
    data : Dataset | Samples
        As in :func:`fsopt.fit`.
    y : ArrayLike, optional
        With samples, their labels (n,) in {-1, +1}.
    **keywords
        Those of :func:`fsopt.fit`, but for ``progress``: parameters of the method, ``solver``, ``time_limit``,
        ``checkpoint``, ``resume`` and so on. The seconds between two steps count for the time limit.

    Returns
    -------
    Loop
        Iterator of dicts, as in ``Fit.history``. Its ``stop()`` ends the loop and returns the :class:`fsopt.Fit`: the
        incumbent, or the answer where the loop has ended by itself.

    Raises
    ------
    ParameterError : progress is given.
    FsoptError : at the first step, as :func:`fsopt.fit`.

    Examples
    --------
    ::

        loop = fsopt.steps("fsv", data, lam=0.05)
        for step in loop:
            if step["iteration"] == 3:
                break
        fit = loop.stop()
    """
    if "progress" in keywords:
        raise ParameterError("steps() gives the records itself and takes no progress", "leave it out, or call fit()")
    return Loop(partial(fit, name, data, y, **keywords))
