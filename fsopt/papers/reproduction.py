"""Reproductions: cells with ours beside the printed number and a verdict, notes, and figures."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

from fsopt.data import Dataset
from fsopt.errors import DataError, FsoptError
from fsopt.studies.store import Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EQUAL = "equal"
NOISE = "within noise"
ERRATUM = "erratum"
READING = "our reading"
DIFFERS = "differs"
NO_DATA = "no data"
NO_NUMBER = "no number"
LEFT_OUT = "left out"
VERDICTS: Mapping[str, str] = {
    EQUAL: "the same number, rounded as printed",
    NOISE: "the difference is within the tolerance that the notes state",
    ERRATUM: "differs because of an erratum of the paper, named in the cell",
    READING: "differs, and depends on a choice that the paper does not print, named in the cell",
    DIFFERS: "differs, and neither an erratum nor an unprinted choice is known to explain it",
    NO_DATA: "the data are not available",
    NO_NUMBER: "the paper prints no number, or the text copy of it has none",
    LEFT_OUT: "not computed in this run: a limit, or --quick",
}
"""Verdict -> meaning, in the order of reports."""


@dataclass(frozen=True)
class Settings:
    """How much of an experiment is run.

    Attributes
    ----------
    quick : a small part of it, in seconds to a minute; the notes say which.
    jobs : processes.
    seed : of splits and draws.
    store : keeps the parts that take long, so that a killed run goes on; None computes everything.
    """

    quick: bool = False
    jobs: int = 1
    seed: int = 0
    store: Store | None = field(default=None, compare=False)

    def part(self, experiment: str, compute: Callable[[], Any], **arguments: Any) -> Any:
        """Return the value of a part of an experiment, lists and numbers, from the store where it has it."""
        if self.store is None:
            return compute()
        return self.store.part(experiment, {**arguments, "seed": self.seed}, compute)


@dataclass(frozen=True)
class Cell:
    """One number of a table.

    Attributes
    ----------
    row, column : its place.
    ours, spread : our number and its standard deviation, None where there is none.
    printed : the paper's, None where there is none.
    verdict : a key of :data:`VERDICTS`.
    why : the erratum, the choice, or the reason of a missing number.
    """

    row: str
    column: str
    ours: float | None
    printed: float | None
    verdict: str
    why: str = ""
    spread: float | None = None

    @property
    def difference(self) -> float | None:
        """Ours minus the printed number."""
        return None if self.ours is None or self.printed is None else self.ours - self.printed


@dataclass(frozen=True)
class Outcome:
    """The result of an experiment.

    Attributes
    ----------
    cells : of its tables.
    notes : protocol, tolerances, choices, and the parts that were left out.
    figures : name -> figure.
    """

    cells: tuple[Cell, ...] = ()
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
    function : runs it.
    minutes : of the full run on one processor, about.
    data : names of the data files that it reads; without them its cells have the verdict ``no data``.
    """

    name: str
    paper: str
    shows: str
    function: Callable[[Settings], Outcome]
    minutes: float
    data: tuple[str, ...] = ()


def printed(name: str) -> Mapping[str, Any]:
    """Return the printed numbers of an experiment: ``place``, ``columns`` and ``rows``."""
    text = resources.files("fsopt.papers").joinpath("printed", f"{name}.toml").read_text(encoding="utf-8")
    content: dict[str, Any] = tomllib.loads(text)
    return content


def numbers_of(content: Mapping[str, Any], *row: str) -> dict[str, float]:
    """Return column -> printed number of a row, which is a name, or a group and a name; empty for no such row."""
    found: Any = content["rows"]
    for name in row:
        found = found.get(name, {})
    return dict(zip(content["columns"], found, strict=False))


def cell(
    place: tuple[str, str],
    ours: float | None,
    print_: float | None,
    *,
    noise: float | None = None,
    otherwise: tuple[str, str] = (DIFFERS, ""),
    spread: float | None = None,
) -> Cell:
    """Return a cell with its verdict.

    Parameters
    ----------
    place : row and column.
    ours, print_ : the two numbers; nan is none.
    noise : largest difference that counts as noise; None for none.
    otherwise : verdict and reason beyond it.
    spread : standard deviation of ours.
    """
    own = None if ours is None or math.isnan(ours) else float(ours)
    if print_ is None:
        return Cell(*place, own, None, NO_NUMBER, spread=spread)
    if own is None:
        verdict, why = otherwise if otherwise[0] != DIFFERS else (LEFT_OUT, "not computed")
        return Cell(*place, None, print_, verdict, why)
    if round(own, _digits(print_)) == print_:
        return Cell(*place, own, print_, EQUAL, spread=spread)
    if noise is not None and abs(own - print_) <= noise:
        return Cell(*place, own, print_, NOISE, spread=spread)
    return Cell(*place, own, print_, *otherwise, spread=spread)


def _digits(number: float) -> int:
    """Return the number of digits after the point of a printed number."""
    return len(str(number).partition(".")[2]) if isinstance(number, float) else 0


def missing(row: str, numbers: Mapping[str, float], verdict: str, why: str) -> list[Cell]:
    """Return the cells of a row without our numbers."""
    return [Cell(row, column, None, value, verdict, why) for column, value in numbers.items()]


def available(names: Sequence[str], load: Callable[[str], Dataset]) -> Iterator[tuple[str, Dataset | str]]:
    """Yield name and data set, or the reason why there is none, for each name."""
    for name in names:
        try:
            yield name, load(name)
        except DataError as error:
            yield name, error.message


def failed(error: FsoptError) -> Outcome:
    """Return the outcome of an experiment that ended in an error."""
    return Outcome((Cell("all", "all", None, None, LEFT_OUT, str(error)),))


def counts(cells: Sequence[Cell]) -> dict[str, int]:
    """Return verdict -> number of cells, in the order of :data:`VERDICTS`."""
    found = [one.verdict for one in cells]
    return {verdict: found.count(verdict) for verdict in VERDICTS if verdict in found}
