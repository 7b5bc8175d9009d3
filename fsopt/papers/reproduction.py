"""The one engine of the experiments: parts that a store keeps, rows with or without data and time, and measures.

An experiment computes its rows in blocks of :class:`Cells`, which say of the others why they are left out.
:func:`over` measures a method that is trained on the first part of each pair of data and tested on the second.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeAlias

from fsopt.common.clock import whole_or_interrupted
from fsopt.common.figures import new_figure
from fsopt.common.teams import side_by_side
from fsopt.data import Dataset
from fsopt.data.hyperplanes import error_rate
from fsopt.errors import DataError, FsoptError, OutOfTimeError
from fsopt.methods.preprocessing import SelectionRule
from fsopt.papers.verdicts import LEFT_OUT, NO_DATA, TableCell, missing
from fsopt.studies.running import Store

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Pair: TypeAlias = tuple[Dataset, Dataset]
"""Training data and test data."""
LATE = "the time limit passed"
RULES = {
    f"{rule}, {units}": SelectionRule(rule, units) for rule in ("relative", "absolute") for units in ("raw", "scaled")
}
"""By which selected features are counted."""


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
    parts : key -> value and seconds of each part that was computed or that the store had.
    """

    quick: bool = False
    jobs: int = 1
    seed: int = 0
    store: Store | None = field(default=None, compare=False)
    ends: float | None = field(default=None, compare=False)
    parts: dict[str, tuple[Any, float]] = field(default_factory=dict, compare=False)

    def part(self, experiment: str, compute: Callable[[], Any], **arguments: Any) -> Any:
        """Return the value of a part, of the store where it has it; OutOfTimeError where not and the time has ended."""

        @whole_or_interrupted()
        def in_time() -> Any:
            if self.ends is not None and time.monotonic() >= self.ends:
                raise OutOfTimeError(LATE, "with store= and more seconds the same goes on")
            return compute()

        key = repr((experiment, sorted(arguments.items())))
        if key not in self.parts and self.store is None:
            started = time.perf_counter()
            self.parts[key] = in_time(), time.perf_counter() - started
        elif key not in self.parts and self.store is not None:
            self.parts[key] = self.store.part(experiment, {**arguments, "seed": self.seed}, in_time)
        return self.parts[key][0]

    def leave_out(self, these: bool) -> None:
        """Raise OutOfTimeError for what --quick leaves out."""
        if self.quick and these:
            raise OutOfTimeError("--quick", "run it without --quick")


def time_of(parts: Mapping[str, tuple[Any, float]]) -> dict[str, Any]:
    """Return the number of parts of an experiment, and their seconds."""
    return {"number": len(parts), "seconds": sum(seconds for _, seconds in parts.values())}


class Cells(list[TableCell]):
    """The cells of a table, row by row."""

    @contextmanager
    def row(self, name: str, numbers: Mapping[str, str | None]) -> Iterator[None]:
        """Take the cells of a row; of one without data or time they are the printed numbers, but ``_sd``, and why."""
        before = len(self)
        try:
            yield
        except (DataError, OutOfTimeError) as error:
            del self[before:]
            verdict = NO_DATA if isinstance(error, DataError) else LEFT_OUT
            left = {column: number for column, number in numbers.items() if not column.endswith("_sd")}
            self += missing(name, left or {"all": None}, verdict, error.message)


def over(pairs: Iterable[Pair], train: Callable[[Dataset], Any], jobs: int = 1) -> list[dict[str, Any]]:
    """Return what is measured of a method on each pair of data: :func:`measures` of what ``train`` returns."""
    return side_by_side(lambda one, other: measures(train(one), one, other), pairs, jobs)


def measures(found: Any, train: Dataset, test: Dataset) -> dict[str, Any]:
    """Return the measures of a fit, or of one that :func:`fsopt.studies.tuning.tune` chose.

    They are error, accuracy, MCC and PSF in percent, the number of features and that by each of the rules, iterations,
    status, and the relative gap, None without a bound.
    """
    fit = getattr(found, "fit", found)
    scores, bounded = fit.scores(test), fit.bound is not None and fit.objective is not None
    counts = {} if fit.kernel else {k: len(one.select(fit.coef, train.X.std(axis=0))) for k, one in RULES.items()}
    return {
        "error": 100.0 * error_rate(fit.decision_function(test.X), test.y),
        "TSA": 100.0 * scores["accuracy"],
        "MCC": 100.0 * scores["mcc"],
        "PSF": 100.0 * len(fit.support) / len(fit.coef),
        "n_features": len(fit.support),
        "counts": counts,
        "iterations": fit.iterations if fit.history else None,
        "status": str(fit.status),
        "gap": abs(fit.objective - fit.bound) / max(1.0, abs(fit.objective)) if bounded else None,
    }


@dataclass(frozen=True)
class Reproduction:
    """The result of an experiment.

    Attributes
    ----------
    cells : of its tables.
    notes : protocol, tolerances, choices, and the parts that were left out.
    figures : name -> figure.
    """

    cells: Sequence[TableCell] = ()
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
    return _read(f"printed/{name}.toml")


def noted(name: str, **values: Any) -> tuple[str, ...]:
    """Return the notes of an experiment, of ``notes.toml`` with these values."""
    return tuple(text.format(**values) for text in _read("notes.toml")[name])


def _read(name: str) -> Mapping[str, Any]:
    text = resources.files("fsopt.papers").joinpath(name).read_text(encoding="utf-8")
    content: dict[str, Any] = tomllib.loads(text, parse_float=str)
    return content


def numbers_of(content: Mapping[str, Any], *row: str) -> dict[str, str]:
    """Return column -> number as printed, of a row: a name, or a group and a name; empty for no such row."""
    found: Any = content["rows"]
    for name in row:
        found = found.get(name, {})
    return {column: str(number) for column, number in zip(content["columns"], found, strict=False)}


def curves(*panels: tuple[pd.DataFrame, Mapping[str, Any]], **style: Any) -> Figure:
    """Return a figure of panels, each a table, whose columns are drawn over its index, and settings of the axes."""
    figure, named = new_figure(len(panels)), list[Any]()
    for axes, (table, settings) in zip(figure.axes, panels, strict=True):
        for name, column in table.items():
            axes.plot(table.index, column, **{"marker": "o", "markersize": 4, "label": name, **style})
        axes.set(**settings)
        if list(table) != named:
            axes.legend(fontsize="small")
        named = list(table)
    return figure


def failed(error: FsoptError) -> Reproduction:
    """Return the outcome of an experiment that ended in an error."""
    return Reproduction((TableCell("all", "all", None, None, LEFT_OUT, str(error)),))
