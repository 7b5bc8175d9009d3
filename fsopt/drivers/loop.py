"""The one runner of loops: a driver yields its iterates, and what surrounds a run is here and in its recorder.

A loop is a generator. It solves the models of its algorithm by :meth:`fsopt.drivers.recorder.Recorder.solve`, yields an
:class:`Iterate` after each step, and knows nothing of clocks, signals, files, histories and restarts. The certificate
of an answer is a function of the last iterate.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyomo.environ as pyo

from fsopt.answers.results import Point
from fsopt.common import clock
from fsopt.drivers.recorder import EARLY, Recorder, stop_word
from fsopt.drivers.run import ENDS, Steps
from fsopt.errors import SolverError
from fsopt.solvers.auxiliary import nearest
from fsopt.solvers.base import Session
from fsopt.typing import Vector


@dataclass(frozen=True)
class Iterate:
    """What a loop has after a step: its best point, and all that is known of it.

    Attributes
    ----------
    objective : the value of the point; nan where its certificate alone computes it.
    point : by the keys of the result; empty as long as there is none.
    bound : the largest lower bound that was proved, minus infinity where there is none.
    evidence : name -> residual for the certificate, no :attr:`SolveResult.evidence`.
    record : fields of the record of a step; None for no record.
    stop : the stopping criterion that holds here; empty where the loop goes on.
    within : whether this is within a step, which is completed after the time limit, too.
    step : the session, the reader of its points, and the one behind this iterate, which is moved to meet every
        constraint where the loop is ended here, without a stopping criterion; None for one that meets them.
    """

    objective: float
    point: Mapping[str, Any]
    bound: float = -np.inf
    evidence: Mapping[str, Any] = field(default_factory=dict)
    record: Mapping[str, Any] | None = None
    stop: str = ""
    within: bool = False
    step: tuple[Session, Reader, Point] | None = None


T = TypeVar("T")
Loop: TypeAlias = Generator[Iterate, None, None]
"""The iterates of an algorithm, to the one at which its stopping criterion holds, or to its largest number of steps."""
Reader: TypeAlias = Callable[[Vector], dict[str, Any]]
Within: TypeAlias = Generator[Iterate, None, T]
"""A part of a loop that yields its iterates and returns what the loop goes on with."""


def run_loop(
    loop: Loop, recorder: Recorder, save: Callable[[Iterate], None] | None = None
) -> Steps[tuple[Iterate, str]]:
    """Run a loop to its end, its time limit, Ctrl-C or the end of the memory; yield the record of each step.

    Returns the last iterate, and why the loop ended: its stopping criterion, ``iteration-limit`` where it ended without
    one, or one of :data:`fsopt.drivers.recorder.EARLY`, which is raised where there is no point yet. ``save`` writes
    the checkpoint of a loop after each record, before the user who may end the loop sees it. SolverError where a step
    was not solved, or there is none.
    """
    at = None
    try:
        for at in loop:
            if at.record is not None:
                recorder.append(**at.record)
                if save is not None:
                    save(at)
                yield recorder.history[-1]
            if not (at.stop or at.within):
                clock.check()
    except ENDS as reason:
        if at is None or not at.point:
            raise
        return _settled(at), stop_word(reason)
    finally:
        loop.close()
    if at is None:
        raise SolverError("the loop ended before its first step", "allow it at least one")
    return _settled(at), at.stop or "iteration-limit"


def reader(session: Session) -> Reader:
    """Return the function point (n,) of the program -> value, or array of values, of each variable by its name."""
    components = list(session.model.component_objects(pyo.Var))
    places = {v.name: session.columns(v) if v.is_indexed() else int(session.columns(v)[0]) for v in components}
    return lambda x: {name: x[place] for name, place in places.items()}


def _settled(at: Iterate) -> Iterate:
    if at.step is None or at.stop:
        return at
    session, read, point = at.step
    return replace(at, point={**at.point, **read(nearest(session.program, point.x, point))})


def run_inner(loop: Loop) -> None:
    """Run a loop inside a step of another one, without records, to its end or, once it has a point, its time limit."""
    for at in loop:
        if at.point and clock.expired():
            break
    loop.close()


def best_of(starts: Callable[[Sequence[Iterate]], Loop | None], recorder: Recorder) -> Steps[tuple[list[Iterate], str]]:
    """Run a loop from one start after the other; return the last iterate of each, and why the best one stopped.

    ``starts`` takes the last iterates of the runs so far and returns the next loop, None where there is none; a limit
    ends all runs together.
    """
    ends: list[Iterate] = []
    early = ""
    while not early and (loop := starts(ends)) is not None:
        try:
            if ends:
                clock.check()
            at, stop = yield from run_loop(loop, recorder)
        except ENDS as reason:
            if not ends:
                raise
            early = stop_word(reason)
        else:
            ends.append(at)
            early = stop if stop in EARLY else ""
    return ends, early or best(ends).stop or "iteration-limit"


def best(ends: Sequence[Iterate]) -> Iterate:
    """Return the iterate of the smallest objective value, the first of equal ones."""
    return min(ends, key=lambda at: at.objective)
