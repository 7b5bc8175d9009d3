"""Pages of reproductions: in Markdown, as one HTML report, and the overview of a folder of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.common.figures import new_figure
from fsopt.common.files import brief
from fsopt.errors import FileError
from fsopt.papers.registry import EXPERIMENTS
from fsopt.papers.reproduction import Experiment, Reproduction
from fsopt.papers.verdicts import (
    DIFFERS,
    EQUAL,
    ERRATUM,
    LEFT_OUT,
    NO_DATA,
    NO_NUMBER,
    NOISE,
    NOT_COUNTED,
    NOT_TESTABLE,
    ODD,
    RANDOM_TABLES,
    READING,
    VERDICTS,
    TableCell,
    counts,
    random_agreements,
)
from fsopt.studies.report import ReportSection, table_of, write_report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ACCEPTED, CHANCE = "accepted", "chance"
SAID = {
    READING: ("depends on a choice that the paper leaves open", "depend on a choice that the paper leaves open"),
    DIFFERS: ("differs without a known reason", "differ without a known reason"),
    ERRATUM: ("is an erratum of the paper", "are errata of the paper"),
    ODD: ("looks false but is not shown to be", "look false but are not shown to be"),
    NOT_TESTABLE: ("cannot be tested", "cannot be tested"),
    NO_DATA: ("has no data", "have no data"),
    LEFT_OUT: ("was not computed", "were not computed"),
}
"""Verdict -> what a page says of one printed number without it, and of several."""
OVERVIEW, COUNTS = "overview", "verdicts.json"
"""Names of the page and picture of all cells in a folder of results, and of the file that it is made from."""
PARTS = "parts"
"""Beside the verdicts of a table in that file: the number of its parts that were computed, or that a store had."""
MEAN, BEST = "random mean", "random best"
"""Beside them also the cells that agree in random tables of the same marginals: on average, and in the best one."""
RANDOM_WORDS = f"of {RANDOM_TABLES} tables with our numbers in another order within each column"
AGREEMENT = "agreement"
"""Name of the picture of our numbers over the printed ones."""
COLOURS = (
    "#1b7837",
    "#7fbf7b",
    "#d9d9d9",
    "#fdb863",
    "#b2182b",
    "#8073ac",
    "#c2a5cf",
    "#f7f7f7",
    "#f0f0f0",
    "#ffffff",
    "#bdbdbd",
)
"""Of the verdicts, in their order."""


def sentence(verdicts: Mapping[str, int]) -> str:
    """Return one sentence on what was reproduced, from verdict -> number of cells."""
    total = sum(number for verdict, number in verdicts.items() if verdict in (EQUAL, NOISE, *SAID))
    if not total:
        return "The paper prints no number for this: the page shows ours."
    equal, near = verdicts.get(EQUAL, 0), verdicts.get(NOISE, 0)
    rest = [
        f"{verdicts[verdict]} {told[verdicts[verdict] > 1]}" for verdict, told in SAID.items() if verdicts.get(verdict)
    ]
    reproduced = f"Of {total} printed numbers {equal + near or 'none'} {'are' if equal + near > 1 else 'is'} reproduced"
    if equal:
        reproduced += f", {f'{equal} of them ' if near else ''}to the last digit"
    return "; ".join([reproduced, *rest]) + "."


def with_agreement(outcome: Reproduction) -> Reproduction:
    """Return an outcome with a picture of our numbers over the printed ones, where there are any, as its first figure.

    Both are shares of the interval of possible answers, so that errors and numbers of features are on one scale.
    """
    points: dict[str, list[tuple[float, float, float]]] = {}
    for c in outcome.cells:
        if c.possible is not None and c.ours is not None and c.printed is not None:
            low, size = c.possible[0], c.possible[1] - c.possible[0]
            place = ((float(c.printed) - low) / size, (c.ours - low) / size, (c.spread or 0.0) / size)
            points.setdefault(c.verdict, []).append(place)
    if not points:
        return outcome
    figure = new_figure(1)
    figure.set_figwidth(5.0)  # Axes of equal sides leave the legend no room in the width of others.
    axes = figure.axes[0]
    axes.axline((0, 0), slope=1, color="0.7", linewidth=0.8)
    for verdict, colour in zip(VERDICTS, COLOURS, strict=True):
        if verdict in points:
            x, y, deviation = np.array(points[verdict]).T
            style: dict[str, Any] = {"color": colour, "markeredgecolor": "0.4", "ecolor": "0.6", "elinewidth": 0.8}
            axes.errorbar(x, y, deviation, fmt="o", markersize=4, label=verdict, **style)
    ends = {"xlim": (-0.05, 1.05), "ylim": (-0.05, 1.05)}
    axes.set(xlabel="printed, share of the possible range", ylabel="ours", aspect="equal", **ends)
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    return replace(outcome, figures={AGREEMENT: figure, **outcome.figures})


def beside_random(cells: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the mean and the largest number of cells that agree in random tables, of the numbers that a page has."""
    rows = [
        (c["column"], float(_ours(c)), float(c["printed"]), float(_accepted(c)) if _accepted(c) else None)
        for c in cells
        if c["difference"] is not None and c["verdict"] != NOT_COUNTED
    ]
    return dict(zip((MEAN, BEST), random_agreements(rows), strict=True)) if rows else {}


def _ours(c: Mapping[str, Any]) -> str:
    return "" if c["ours"] is None else f"{c['ours']:.4g}"


def _accepted(c: Mapping[str, Any]) -> str:
    return "" if c["accepted"] is None else f"{c['accepted']:.3g}"


def filled(heads: Sequence[Any], rows: Sequence[Sequence[Any]]) -> tuple[tuple[Any, ...], list[tuple[Any, ...]]]:
    """Return heads and rows of a table without the columns that are empty in every row."""
    kept = [k for k in range(len(heads)) if any(row[k] not in (None, "") for row in rows)]
    return tuple(heads[k] for k in kept), [tuple(row[k] for k in kept) for row in rows]


def markdown(record: Mapping[str, Any]) -> str:
    """Return the page of a reproduction: what was reproduced, verdicts, notes, figures and cells."""
    quick = " (--quick)" if record["quick"] else ""
    lines = [f"# {record['name']}: {record['shows']}{quick}", "", sentence(record["verdicts"]), ""]
    drawn = {name: f"![{name}]({record['name']}-{name}.svg)" for name in record["figures"]}
    if AGREEMENT in drawn:
        lines += [drawn.pop(AGREEMENT), ""]
    lines += [f"Made by `{record['command']}`.{_took(record['parts'], record['seconds'])}", ""]
    lines += [f"* {number} {verdict}: {VERDICTS[verdict]}" for verdict, number in record["verdicts"].items()]
    lines += ["", *record["notes"]] if len(record["notes"]) == 1 else ["", *(f"* {note}" for note in record["notes"])]
    lines += ["", *drawn.values()]
    rows = []
    for c in record["cells"]:
        spread = "" if c["spread"] is None else f" ± {c['spread']:.3g}"
        ours = _ours(c) and _ours(c) + spread
        difference = "" if c["difference"] is None else f"{c['difference']:.4g}"
        likely = "" if c["chance"] is None else f"{100 * c['chance']:.{2 if c['chance'] < 0.995 else 3}g} %"
        why = f": {c['why']}" if c["why"] else ""
        place = (c["row"], c["column"], ours, c["printed"] or "")
        rows.append((*place, difference, _accepted(c), likely, c["verdict"] + why))
    heads, rows = filled(("row", "column", "ours", "printed", "difference", ACCEPTED, CHANCE, "verdict"), rows)
    if CHANCE in heads:
        lines += ["", "Chance: that an answer drawn at random from the possible ones would have agreed as well."]
    if ACCEPTED in heads:
        lines[-1] += " Accepted: the largest difference that is an agreement."
    if record["random"]:
        agreed = sum(c["verdict"] in (EQUAL, NOISE) for c in record["cells"])
        mean, best = (record["random"][key] for key in (MEAN, BEST))
        told = f"{RANDOM_WORDS} {mean:.1f} do on average, {best} in the best"
        lines += ["", f"{agreed} {'cells agree' if agreed != 1 else 'cell agrees'}; {told}."]
    if rows:
        lines += ["", f"| {' | '.join(heads)} |", f"| {' | '.join('---' for _ in heads)} |"]
        lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines).rstrip() + "\n"


def saved(record: Mapping[str, Any]) -> str:
    """Return the record of a reproduction as JSON, a line for each cell, without what is not there."""
    cells = [{key: value for key, value in c.items() if value not in (None, "")} for c in record["cells"]]
    text = json.dumps({**record, "cells": cells}, ensure_ascii=False, separators=(",", ":"))
    return text.replace('{"row":', '\n{"row":') + "\n"


def read_saved(text: str) -> dict[str, Any]:
    """Return the record of a reproduction that :func:`saved` wrote."""
    record: dict[str, Any] = json.loads(text)
    absent = {**dict.fromkeys(one.name for one in fields(TableCell)), "why": "", "difference": None}
    return {**record, "cells": [{**absent, **c} for c in record["cells"]]}


def _took(parts: Mapping[str, Any], seconds: float) -> str:
    """Return the sentence on the time of a page: that of its parts, where it has some, else of the run."""
    if not parts["number"]:
        return f" It took {_span(seconds)}."
    return f" Its {parts['number']} part{'s' * (parts['number'] > 1)} took {_span(parts['seconds'])}."


def _span(seconds: float) -> str:
    if seconds < 1.0:
        return "less than a second"
    return f"{seconds:.2g} seconds" if seconds < 60.0 else f"{seconds / 60:.3g} minutes"


def reproduction_report(path: str | Path, done: Sequence[tuple[Experiment, Reproduction, float]], quick: bool) -> None:
    """Write the report of experiments, each with its seconds, as one HTML page; raises PackageError, FileError."""
    heads = ("row", "column", "ours", "±", "printed", "difference", ACCEPTED, CHANCE, "verdict", "reason")
    cells = counts([c for _, outcome, _ in done for c in outcome.cells])
    total = [(verdict, number, VERDICTS[verdict]) for verdict, number in cells.items()]
    sections = [ReportSection("Verdicts", tables={"": table_of(("verdict", "cells", "meaning"), total)})]
    for one, outcome, seconds in done:
        rows = [
            (c.row, c.column, c.ours, c.spread, c.printed, c.difference, c.accepted, c.chance, c.verdict, c.why)
            for c in outcome.cells
        ]
        tables = {"": table_of(*filled(heads, rows))} if rows else {}
        notes = (sentence(counts(outcome.cells)), f"{one.shows}; {seconds:.1f} s", *outcome.notes)
        sections.append(ReportSection(one.name, notes, tables, dict(outcome.figures)))
    write_report(path, f"Reproductions{' (--quick)' if quick else ''}", sections)


def counted(folder: Path) -> dict[str, dict[str, int]]:
    """Return name -> verdict -> number of cells of the reproductions in a folder, with parts and random agreements.

    Raises
    ------
    FileError : the file of these numbers holds something else.
    """
    path, found = folder / COUNTS, {}
    if path.exists():
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            {name: sum(one[verdict] for verdict in one) for name, one in found.items()}
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise FileError(
                f"'{brief(path)}' holds no verdicts of reproductions", "remove it, or give another folder"
            ) from error
    return found


def fuller(old: Mapping[str, int], new: Mapping[str, int]) -> bool:
    """Return whether a page with these numbers has more computed cells than a new one, or as many of more parts."""

    def size(numbers: Mapping[str, int]) -> tuple[int, int]:
        return sum(numbers.get(v, 0) for v in VERDICTS if v != LEFT_OUT), numbers.get(PARTS, 0)

    return size(old) > size(new)


def overview(given: Mapping[str, Mapping[str, int]]) -> tuple[str, Figure]:
    """Return the overview of reproductions, name -> verdict -> cells: a page in Markdown, and its picture.

    The picture has a bar for each table with printed numbers, divided by verdicts.
    """
    found = {name: given[name] for name in EXPERIMENTS if name in given}
    tables = {name: verdicts for name, verdicts in found.items() if verdicts.keys() & {EQUAL, NOISE, *SAID} - {NO_DATA}}
    total = {v: sum(verdicts.get(v, 0) for verdicts in found.values()) for v in VERDICTS}
    used = [verdict for verdict in VERDICTS if total[verdict] and verdict not in (NO_NUMBER, NOT_COUNTED)]
    lines = ["# All cells by verdict", "", sentence(total), "", f"![cells by verdict]({OVERVIEW}.svg)", ""]
    lines += [f"* {total[verdict]} {verdict}: {VERDICTS[verdict]}" for verdict in VERDICTS if total[verdict]]
    lines += ["", f"Agree: cells that are equal or within noise. Random: those {RANDOM_WORDS}."]
    heads = ("table", *used, "agree", MEAN, BEST)
    lines += ["", f"| {' | '.join(heads)} |", f"| --- |{' --- |' * (len(heads) - 1)}"]
    for name, verdicts in tables.items():
        numbers = [*(verdicts.get(v, "") for v in used), verdicts.get(EQUAL, 0) + verdicts.get(NOISE, 0)]
        numbers += [f"{verdicts[MEAN]:.1f}", verdicts[BEST]] if MEAN in verdicts else ["", ""]
        lines.append(f"| [{name}]({name}.md) | {' | '.join(map(str, numbers))} |")
    figure = new_figure(1, height=0.3 * len(tables) + 1.4)
    axes, done = figure.axes[0], dict.fromkeys(tables, 0)
    for verdict, colour in zip(VERDICTS, COLOURS, strict=True):
        if verdict in used:
            sizes = [verdicts.get(verdict, 0) for verdicts in tables.values()]
            style: dict[str, Any] = {"color": colour, "edgecolor": "0.4", "linewidth": 0.4}
            axes.barh(list(tables), sizes, left=list(done.values()), label=verdict, **style)
            done = {name: done[name] + size for name, size in zip(tables, sizes, strict=True)}
    if tables:
        axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    axes.invert_yaxis()
    axes.set(xlabel="printed numbers")
    return "\n".join(lines) + "\n", figure
