"""A fit step by step: the records of its loop as an iterator, which its user ends where he likes."""

from __future__ import annotations

import contextvars
import signal
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from numpy.typing import ArrayLike

from fsopt.answers.fits import Fit
from fsopt.common.clock import handle
from fsopt.data.given import Given
from fsopt.drivers.run import Steps
from fsopt.errors import ParameterError, SolverError
from fsopt.methods.registry import fit
from fsopt.typing import Samples


class Loop(Iterator[Mapping[str, Any]]):
    """A fit's records as an iterator, see :func:`steps`, which waits at each; no :data:`fsopt.drivers.loop.Loop`."""

    def __init__(self, course: Steps[Fit]) -> None:
        self._course = course
        self._outcome: Fit | BaseException | None = None
        # Time limits and their like are those of the loop, where it waits they are not those of its user.
        self._context = contextvars.copy_context()
        self._handler: Any = None
        weakref.finalize(self, self._context.run, course.close)

    def __next__(self) -> Mapping[str, Any]:
        """Return the record of the next iteration; Ctrl-C ends the loop with its incumbent, as in a fit."""
        if self._outcome is not None:
            raise StopIteration
        return self._go_on(self._course.__next__)

    def _go_on(self, move: Callable[..., Mapping[str, Any]], *args: BaseException) -> Mapping[str, Any]:
        """Let the loop take a step, with its own handler of Ctrl-C; return its record."""
        outer = signal.getsignal(signal.SIGINT)
        if self._handler is not None:
            handle(self._handler)
        try:
            return self._context.run(move, *args)
        except StopIteration as end:
            self._outcome = end.value
            raise
        except BaseException as error:
            self._outcome = error
            raise
        finally:
            own, self._handler = signal.getsignal(signal.SIGINT), None
            if own is not outer:
                self._handler = own
                handle(outer)

    def stop(self) -> Fit:
        """End the loop and return its fit: the incumbent, ``stop="interrupted"``, or the answer of one that has ended.

        Raises
        ------
        SolverError : there is no incumbent yet.
        FsoptError : what ended the loop.
        """
        if self._outcome is None:
            try:
                self._go_on(self._course.throw, KeyboardInterrupt())
                for _ in self:  # an end may have records of its own
                    pass
            except (StopIteration, KeyboardInterrupt):
                pass
        if isinstance(self._outcome, KeyboardInterrupt):
            raise SolverError("the loop was stopped before it had an incumbent", "stop it at a later step")
        if isinstance(self._outcome, BaseException):
            raise self._outcome
        assert self._outcome is not None
        return self._outcome


def steps(name: str, data: Given | Samples, y: ArrayLike | None = None, **keywords: Any) -> Loop:
    """Run a method step by step: an iterator over the records of its iterations.

    Between two steps the loop waits. Every method takes part; one without a loop has no records, and its answer is
    that of ``stop()`` after the first ``next``.

    Parameters
    ----------
    name : str
        One of ``fsopt.METHODS``.
    data : Given | Samples
        As in :func:`fsopt.fit`.
    y : ArrayLike, optional
        Labels of samples.
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
    return Loop(fit.steps(name, data, y, **keywords))
