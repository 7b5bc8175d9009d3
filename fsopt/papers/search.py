"""The search for what a paper did: all combinations of the choices that it leaves open, by their distance to the print.

Tables that a paper makes of one run have their choices in common, and are searched together.

The distance of a combination is the mean over cells of :math:`|a - b| / (u - l)`, with a our number, b the printed one,
and l and u the ends of the possible ones. Cells that some combination takes from the print are left out of all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from fsopt.errors import OutOfTimeError, ParameterError
from fsopt.papers.registry import EXPERIMENTS
from fsopt.papers.reproduction import LATE, Experiment, RunSettings, spelled
from fsopt.papers.verdicts import EQUAL, LEFT_OUT, NO_DATA, NOISE
from fsopt.typing import Vector

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
    combinations : the nearest first; of equal ones that with the earlier values.
    loss : choice -> increase of the distance where only it is changed, to its best other value.
    random_distance, random_agreed : what the best of as many tables has whose cells are drawn uniformly from the
        possible numbers: means of the smallest distance and of the largest number of agreements.
    """

    tables: tuple[str, ...]
    cells: int
    combinations: tuple[Combination, ...]
    loss: Mapping[str, float]
    random_distance: float
    random_agreed: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, in sentences."""
        nearest, taken = self.combinations[0], [name for name, more in self.loss.items() if more > 0]
        told = [
            f"Nearest of {len(self.combinations)} combinations: {spelled(nearest.choices)}; distance "
            f"{nearest.distance:.4f}, {nearest.agreed} of {self.cells} cells agree.",
            f"It took {len(taken)} of {len(self.loss)} free choices ({', '.join(taken) or 'none'}); the others do not "
            "change its distance.",
        ]
        others = [one for one in self.combinations if one.distance > nearest.distance]
        if others:
            away = others[0].distance
            told.append(f"The second has the distance {away:.4f}, {away - nearest.distance:.4f} more.")
        told.append(
            f"The best of {len(self.combinations)} tables of random numbers would have the distance "
            f"{self.random_distance:.4f} and {self.random_agreed:.1f} cells that agree."
        )
        return tuple(told)


def of_one_run(experiment: Experiment) -> list[Experiment]:
    """Return the tables of a paper that have the choices of this one, itself among them."""
    others = [one for one in EXPERIMENTS.values() if one.choices is experiment.choices and one != experiment]
    return [experiment, *others]


def search(
    experiment: Experiment, settings: RunSettings, progress: Callable[[int, int], None] | None = None
) -> ReadingSearch:
    """Run a table, and those of the same run, with every combination of the choices that their paper leaves open.

    Parameters
    ----------
    experiment : a table that has choices.
    settings : its store keeps the cells of each finished combination, so that a killed search goes on; its executor, or
        its processes, run the fits of one combination side by side.
    progress : called with the number of finished combinations, and of all.

    Raises
    ------
    ParameterError : one without choices, or without a cell that all combinations compute.
    OutOfTimeError : the time of the settings ended; the store has what was finished.
    """
    name = experiment.name
    if not experiment.choices:
        there = ", ".join(other for other, one in EXPERIMENTS.items() if one.choices)
        raise ParameterError(f"'{name}' has no choices to search", f"there are some of {there}")
    grid = [dict(zip(experiment.choices, values, strict=True)) for values in product(*experiment.choices.values())]
    together, tables = of_one_run(experiment), []
    for k, choices in enumerate(grid):
        if progress is not None:
            progress(k, len(grid))
        cells = []
        for one in together:
            compute = partial(_cells, one, replace(settings, choices=choices))
            cells += settings.part(f"{one.name} search", compute, quick=settings.quick, **choices)
        tables.append(cells)
    compared = _compared(tables)
    if not compared:
        raise ParameterError(
            f"no cell of '{name}' is computed by all combinations", "without quick=True there may be one"
        )
    return _ranked([one.name for one in together], grid, [[table[k] for k in compared] for table in tables])


def _cells(experiment: Experiment, settings: RunSettings) -> list[dict[str, Any]]:
    """Return the cells of a table as plain data."""
    cells = experiment.run(settings).cells
    if any(one.verdict == LEFT_OUT and one.why == LATE for one in cells):
        raise OutOfTimeError(LATE, "with store= and more seconds the same goes on")
    return [{**vars(one), "difference": one.difference} for one in cells]


def _compared(tables: Sequence[Sequence[Mapping[str, Any]]]) -> list[int]:
    """Return the places of the cells that every table computes, and none takes from the print."""
    usable = [
        [
            c["difference"] is not None and c["possible"] is not None and c["verdict"] not in (NO_DATA, LEFT_OUT)
            for c in t
        ]
        for t in tables
    ]
    return np.flatnonzero(np.all(usable, axis=0)).tolist()


def _ranked(
    names: Sequence[str], grid: Sequence[dict[str, Any]], tables: Sequence[Sequence[Mapping[str, Any]]]
) -> ReadingSearch:
    """Return the search of combinations with the compared cells of each."""
    widths = np.array([_width(c) for c in tables[0]])
    distances = [float(np.mean([abs(c["difference"]) for c in table] / widths)) for table in tables]
    agreed = [sum(c["verdict"] in (EQUAL, NOISE) for c in table) for table in tables]
    found = [Combination(*one) for one in zip(grid, distances, agreed, strict=True)]
    ordered = tuple(sorted(found, key=lambda one: one.distance))
    nearest = ordered[0]
    loss = {
        choice: min(
            (
                one.distance - nearest.distance
                for one in found
                if [k for k in nearest.choices if one.choices[k] != nearest.choices[k]] == [choice]
            ),
            default=0.0,
        )
        for choice in nearest.choices
    }
    likely = np.max([[c["chance"] for c in table] for table in tables], axis=0)  # by noise, where one misses the digits
    away, same = _random(tables[0], widths, likely, len(grid))
    return ReadingSearch(tuple(names), len(widths), ordered, loss, away, same)


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


def page(found: ReadingSearch, shows: str, quick: bool) -> str:
    """Return the page of a search in Markdown."""
    words = f"fsopt reproduce {found.tables[0]} --search{' --quick' if quick else ''}"
    lines = [f"# {', '.join(found.tables)}: what did the paper do?", "", found.sentences[0], ""]
    lines += [f"Made by `{words}`: {shows}.", ""]
    lines += [f"* {sentence}" for sentence in found.sentences[1:]]
    lines += ["", "| choice | nearest | more distance with another value |", "| --- | --- | --- |"]
    nearest = found.combinations[0].choices
    lines += [f"| {name} | {nearest[name]} | {more:.4f} |" for name, more in found.loss.items()]
    lines += ["", f"| {' | '.join(nearest)} | distance | cells that agree |", f"| {'--- | ' * len(nearest)}--- | --- |"]
    for one in found.combinations:
        values = " | ".join(map(str, one.choices.values()))
        lines.append(f"| {values} | {one.distance:.4f} | {one.agreed} of {found.cells} |")
    return "\n".join(lines) + "\n"
