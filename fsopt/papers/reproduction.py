"""Experiments, their settings and outcomes, and the numbers that the papers print."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

from fsopt.common.interruption import whole_or_interrupted
from fsopt.data import Dataset
from fsopt.errors import DataError, FsoptError, OutOfTimeError
from fsopt.papers.verdicts import LEFT_OUT, TableCell
from fsopt.studies.running import Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LATE = "the time limit passed"


@dataclass(frozen=True)
class RunSettings:
    """How much of an experiment is run.

    Attributes
    ----------
    quick : a small part of it, in seconds to a minute; the notes say which.
    jobs : processes.
    seed : of splits and draws.
    store : keeps the parts that take long, so that a killed run goes on; None computes everything.
    ends : time of the monotonic clock from which on no part is begun that the store does not have; None for no such.
    parts : seconds of each part that was computed or that the store had.
    """

    quick: bool = False
    jobs: int = 1
    seed: int = 0
    store: Store | None = field(default=None, compare=False)
    ends: float | None = field(default=None, compare=False)
    parts: list[float] = field(default_factory=list, compare=False)

    def part(self, experiment: str, compute: Callable[[], Any], **arguments: Any) -> Any:
        """Return the value of a part of an experiment, lists and numbers, from the store where it has it.

        Raises
        ------
        OutOfTimeError : the store does not have it, and the time has ended.
        """

        @whole_or_interrupted()
        def in_time() -> Any:
            if self.ends is not None and time.monotonic() >= self.ends:
                raise OutOfTimeError(LATE, "with store= and more seconds the same goes on")
            return compute()

        if self.store is None:
            started = time.perf_counter()
            value, seconds = in_time(), time.perf_counter() - started
        else:
            value, seconds = self.store.part(experiment, {**arguments, "seed": self.seed}, in_time)
        self.parts.append(seconds)
        return value


def time_of(parts: Sequence[float]) -> dict[str, Any]:
    """Return the number of parts of an experiment, and their seconds."""
    return {"number": len(parts), "seconds": sum(parts)}


@dataclass(frozen=True)
class Reproduction:
    """The result of an experiment.

    Attributes
    ----------
    cells : of its tables.
    notes : protocol, tolerances, choices, and the parts that were left out.
    figures : name -> figure.
    """

    cells: tuple[TableCell, ...] = ()
    notes: tuple[str, ...] = ()
    figures: Mapping[str, Figure] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper.

    Attributes
    ----------
    name : its id, for example ``sla-table1``.
    paper : gmeb, mpm, sla, gbd or mop.
    shows : its content, a few words.
    function : makes it; called by :meth:`run`.
    minutes : of the full run on two processors, about; its page has those of the committed one.
    data : names of the data files that it reads; without them its cells have the verdict ``no data``.
    """

    name: str
    paper: str
    shows: str
    function: Callable[[RunSettings], Reproduction]
    minutes: float
    data: tuple[str, ...] = ()

    def run(self, settings: RunSettings) -> Reproduction:
        """Return the outcome of the experiment, run where the settings say; only this process writes their store."""
        with whole_or_interrupted():
            return self.function(settings)


def printed(name: str) -> Mapping[str, Any]:
    """Return the printed numbers of an experiment: ``place``, ``columns`` and ``rows``; those with a point as text."""
    text = resources.files("fsopt.papers").joinpath("printed", f"{name}.toml").read_text(encoding="utf-8")
    content: dict[str, Any] = tomllib.loads(text, parse_float=str)
    return content


def numbers_of(content: Mapping[str, Any], *row: str) -> dict[str, str]:
    """Return column -> number as printed, of a row: a name, or a group and a name; empty for no such row."""
    found: Any = content["rows"]
    for name in row:
        found = found.get(name, {})
    return {column: str(number) for column, number in zip(content["columns"], found, strict=False)}


def spelled(choices: Mapping[str, Any]) -> str:
    """Return choices as one text."""
    return ", ".join(f"{name} {value}" for name, value in choices.items())


def available(names: Sequence[str], load: Callable[[str], Dataset]) -> Iterator[tuple[str, Dataset | str]]:
    """Yield name and data set, or the reason why there is none, for each name."""
    for name in names:
        try:
            yield name, load(name)
        except DataError as error:
            yield name, error.message


def failed(error: FsoptError) -> Reproduction:
    """Return the outcome of an experiment that ended in an error."""
    return Reproduction((TableCell("all", "all", None, None, LEFT_OUT, str(error)),))
