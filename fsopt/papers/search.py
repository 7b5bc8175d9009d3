"""The search for what a paper did: the choices that it leaves open, by the distance to its print.

Few combinations are all tried, and of more those of a search by coordinates: from the reading of the pages, whose
choices have their first values, one choice after another takes the value of smallest distance, as long as that becomes
smaller. At the end no other value of a single choice is nearer; that of several at once can be. Tables that a paper
makes of one run are searched together.

The distance of a combination is the mean over cells of :math:`|a - b| / (u - l)`, with a our number, b the printed one,
and l and u the ends of the possible ones. The cells are those with a number of the first combination; a cell for which
another one has none, or takes it from the print, has the distance 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np

from fsopt.errors import InfeasibleError, OutOfTimeError, ParameterError, SolverError
from fsopt.papers.registry import EXPERIMENTS
from fsopt.papers.reproduction import LATE, Experiment, RunSettings, spelled
from fsopt.papers.verdicts import EQUAL, LEFT_OUT, NOISE, NOT_COUNTED
from fsopt.typing import Vector

FEW = 50
"""Combinations of which all are tried."""
BY_COORDINATES = (
    ": from the reading of the pages on one choice at a time, until no other value of a single one was nearer."
)
UNTIL_LATE = ": from the reading of the pages on one choice at a time, until the time of the search ended."
RANDOM = 100_000
"""Tables drawn at random."""


@dataclass(frozen=True)
class Combination:
    """A value of each choice.

    Attributes
    ----------
    choices : name -> value.
    distance : mean relative distance of its cells to the print.
    agreed : cells that are equal or within noise.
    """

    choices: Mapping[str, Any]
    distance: float
    agreed: int


@dataclass(frozen=True)
class ReadingSearch:
    """The result of a search.

    Attributes
    ----------
    tables : names.
    cells : number of cells that all combinations are compared on.
    combinations : those that were tried, the nearest first; of equal ones the one that was tried first.
    values : choice -> number of its values.
    ended : whether it came to its end, and not to that of its time.
    loss : choice -> increase of the distance where only it is changed, to its best other value that was tried.
    random_distance, random_agreed : what the best of as many tables has whose cells are drawn uniformly from the
        possible numbers: means of the smallest distance and of the largest number of agreements.
    """

    tables: tuple[str, ...]
    cells: int
    combinations: tuple[Combination, ...]
    values: Mapping[str, int]
    ended: bool
    loss: Mapping[str, float]
    random_distance: float
    random_agreed: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, in sentences."""
        nearest, taken = self.combinations[0], [name for name, more in self.loss.items() if more > 0]
        tried = len(self.combinations)
        told = [
            f"Nearest of {tried} combinations: {spelled(nearest.choices)}; distance {nearest.distance:.4f}, "
            f"{nearest.agreed} of {self.cells} cells agree.",
            f"Of {prod(self.values.values())} combinations of {len(self.values)} choices {tried} were tried"
            + ("." if tried == prod(self.values.values()) else BY_COORDINATES if self.ended else UNTIL_LATE),
            f"It took {len(taken)} ({', '.join(taken) or 'none'}) of {len(self.loss)} choices with another value tried"
            "; the others do not change its distance.",
        ]
        others = [one for one in self.combinations if one.distance > nearest.distance]
        if others:
            away = others[0].distance
            told.append(f"The second has the distance {away:.4f}, {away - nearest.distance:.4f} more.")
        told.append(
            f"The best of {tried} tables of random numbers would have the distance {self.random_distance:.4f} and "
            f"{self.random_agreed:.1f} cells that agree."
        )
        return tuple(told)


def of_one_run(experiment: Experiment) -> list[Experiment]:
    """Return the tables of a paper that have the choices of this one, itself among them."""
    others = [one for one in EXPERIMENTS.values() if one.choices is experiment.choices and one != experiment]
    return [experiment, *others]


def search(
    experiment: Experiment, settings: RunSettings, progress: Callable[[int, int], None] | None = None
) -> ReadingSearch:
    """Search the choices that the paper of a table leaves open, for it and those of the same run.

    Parameters
    ----------
    experiment : a table that has choices.
    settings : its store keeps the cells of each finished combination, so that a killed search goes on; its executor, or
        its processes, run the fits of one combination side by side.
    progress : called with the number of finished combinations, and of those that are known to be needed.

    Raises
    ------
    ParameterError : one without choices, or whose first combination has no number beside a printed one.
    OutOfTimeError : the time of the settings ended before the first combination did; later, the result is that of the
        finished ones. A store keeps them, so that the same search goes on.
    """
    name, choices = experiment.name, experiment.choices
    if not choices:
        there = ", ".join(other for other, one in EXPERIMENTS.items() if one.choices)
        raise ParameterError(f"'{name}' has no choices to search", f"there are some of {there}")
    together, tried = of_one_run(experiment), list[_Tried]()

    def at(values: Mapping[str, Any], ahead: int) -> _Tried:
        for one in tried:
            if one.choices == values:
                return one
        if progress is not None:
            progress(len(tried), len(tried) + ahead)
        tried.append(_Tried(dict(values), _cells(together, replace(settings, choices=values))))
        return tried[-1]

    first = at({choice: values[0] for choice, values in choices.items()}, sum(map(len, choices.values())))
    places = [place for place, c in first.cells.items() if _own(c)]
    if not places:
        raise ParameterError(f"'{name}' has no number beside a printed one", "without quick=True there may be one")
    try:
        if prod(map(len, choices.values())) <= FEW:
            for values in product(*choices.values()):
                at(dict(zip(choices, values, strict=True)), FEW - len(tried))
        nearest, before = min(tried, key=lambda one: one.distance(places)), None
        while nearest is not before:
            before = nearest
            for choice, values in choices.items():
                beside = [at({**nearest.choices, choice: value}, len(values)) for value in values]
                nearest = min([nearest, *beside], key=lambda one: one.distance(places))
        ended = True
    except OutOfTimeError:
        ended = False
    return _ranked([one.name for one in together], choices, tried, places, ended)


Cells: TypeAlias = dict[tuple[str, str, str], Mapping[str, Any]]
"""Table, row and column -> the cell as plain data."""


@dataclass(frozen=True)
class _Tried:
    """A combination, and the cells of its tables."""

    choices: dict[str, Any]
    cells: Cells

    def distances(self, places: Sequence[tuple[str, str, str]]) -> list[float]:
        """Return the relative distance of each cell to the print."""
        own = [self.cells.get(place) for place in places]
        return [abs(c["difference"]) / _width(c) if c is not None and _own(c) else 1.0 for c in own]

    def distance(self, places: Sequence[tuple[str, str, str]]) -> float:
        """Return their mean."""
        return float(np.mean(self.distances(places)))


def _cells(together: Sequence[Experiment], settings: RunSettings) -> Cells:
    """Return the cells of the tables of a combination."""
    found: Cells = {}
    for one in together:
        compute = partial(_run, one, settings)
        for c in settings.part(f"{one.name} search", compute, quick=settings.quick, **settings.choices):
            found[one.name, c["row"], c["column"]] = c
    return found


def _run(experiment: Experiment, settings: RunSettings) -> list[dict[str, Any]]:
    """Return the cells of a table as plain data, none where its choices have no answer."""
    try:
        cells = experiment.run(settings).cells
    except OutOfTimeError:
        raise
    except (InfeasibleError, SolverError):
        return []
    if any(one.verdict == LEFT_OUT and one.why == LATE for one in cells):
        raise OutOfTimeError(LATE, "with store= and more seconds the same goes on")
    return [{**vars(one), "difference": one.difference} for one in cells]


def _own(c: Mapping[str, Any]) -> bool:
    """Return whether a cell has a number beside a printed one that is not taken from it, nor counted elsewhere."""
    return c["difference"] is not None and c["possible"] is not None and c["verdict"] != NOT_COUNTED


def _ranked(
    names: Sequence[str],
    choices: Mapping[str, Sequence[Any]],
    tried: Sequence[_Tried],
    places: Sequence[tuple[str, str, str]],
    ended: bool,
) -> ReadingSearch:
    """Return the search of combinations whose cells at these places are compared."""
    found = []
    for one in tried:
        verdicts = [one.cells[place]["verdict"] for place in places if place in one.cells]
        agreed = sum(verdict in (EQUAL, NOISE) for verdict in verdicts)
        found.append(Combination(one.choices, one.distance(places), agreed))
    ordered = tuple(sorted(found, key=lambda one: one.distance))
    nearest, loss = ordered[0], dict[str, float]()
    for choice in choices:
        beside = [one.distance for one in found if changed(one, nearest) == {choice: one.choices[choice]}]
        if beside:
            loss[choice] = min(beside) - nearest.distance
    compared = [tried[0].cells[place] for place in places]
    chances = [[one.cells[p]["chance"] or 0.0 if p in one.cells else 0.0 for p in places] for one in tried]
    likely = np.max(chances, axis=0)  # by noise, where one misses the digits
    away, same = _random(compared, np.array([_width(c) for c in compared]), likely, len(tried))
    values = {choice: len(values) for choice, values in choices.items()}
    return ReadingSearch(tuple(names), len(places), ordered, values, ended, loss, away, same)


def changed(one: Combination, nearest: Combination) -> dict[str, Any]:
    """Return the choices of a combination that are not those of another."""
    return {name: value for name, value in one.choices.items() if value != nearest.choices[name]}


def _width(c: Mapping[str, Any]) -> float:
    """Return the length of the interval of the possible numbers of a cell, with the print in it."""
    low, high = c["possible"]
    return float(max(high, float(c["printed"])) - min(low, float(c["printed"])))


def _random(cells: Sequence[Mapping[str, Any]], widths: Vector, likely: Vector, count: int) -> tuple[float, float]:
    """Return mean smallest distance and mean largest number of agreements, which are so likely, of random tables."""
    rng = np.random.default_rng(0)
    low = np.array([min(c["possible"][0], float(c["printed"])) for c in cells])
    print_ = np.array([float(c["printed"]) for c in cells])
    away = np.abs(low + widths * rng.uniform(size=(RANDOM, len(widths))) - print_) / widths
    agreed = np.sum(rng.uniform(size=away.shape) < likely, axis=1)
    order = np.sort(away.mean(axis=1)), np.sort(agreed)[::-1]
    # The mean of the best of k draws from a sample: the i-th best is the best of k with this chance.
    left = (1.0 - np.arange(RANDOM + 1) / RANDOM) ** count
    return tuple(float(values @ -np.diff(left)) for values in order)  # type: ignore[return-value]


def page(found: ReadingSearch, shows: str, words: str) -> str:
    """Return the page of a search in Markdown, words being the options of its command."""
    lines = [f"# {', '.join(found.tables)}: what did the paper do?", "", found.sentences[0], ""]
    lines += [f"Made by `fsopt reproduce {found.tables[0]} --search{words}`: {shows}.", ""]
    lines += [f"* {sentence}" for sentence in found.sentences[1:]]
    lines += ["", "| choice | nearest | more distance with another value |", "| --- | --- | --- |"]
    nearest = found.combinations[0].choices
    lines += [f"| {name} | {nearest[name]} | {more:.4f} |" for name, more in found.loss.items()]
    lines += ["", "| choices that are not the nearest's | distance | cells that agree |", "| --- | --- | --- |"]
    for one in found.combinations:
        others = spelled(changed(one, found.combinations[0])) or "none"
        lines.append(f"| {others} | {one.distance:.4f} | {one.agreed} of {found.cells} |")
    return "\n".join(lines) + "\n"
