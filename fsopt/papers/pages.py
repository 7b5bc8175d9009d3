"""Pages of reproductions in Markdown, their records, and the overview of a folder of them."""

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
from fsopt.papers.reproduction import Reproduction
from fsopt.papers.verdicts import (
    BETTER,
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
    random_agreements,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ACCEPTED, CHANCE = "accepted", "chance"
SAID = {
    READING: ("agrees with another choice that was tried", "agree with another choice that was tried"),
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
"""Beside them also the agreements of random tables: on average, and in the best one."""
SHARE = "random share"
"""And the share of random tables with as many agreements as ours."""
RANDOM_WORDS = f"of {RANDOM_TABLES} tables with our numbers in another order within each column"
AGREEMENT = "agreement"
"""Name of the picture of our numbers over the printed ones."""
COLOURS = {
    EQUAL: "#1b7837",
    NOISE: "#7fbf7b",
    NOT_TESTABLE: "#d9d9d9",
    READING: "#fdb863",
    DIFFERS: "#b2182b",
    ERRATUM: "#8073ac",
    ODD: "#c2a5cf",
    NO_DATA: "#f0f0f0",
    LEFT_OUT: "#bdbdbd",
}
"""Of the verdicts on printed numbers, in their order."""


def agreed(numbers: Mapping[str, float]) -> int:
    """Return how many cells of a table agree, by verdict -> number of cells."""
    return int(numbers.get(EQUAL, 0) + numbers.get(NOISE, 0))


def better(numbers: Mapping[str, float]) -> bool:
    """Return whether a table agrees more often than random ones: what chance gives is not reproduced."""
    return numbers.get(SHARE, 1.0) <= BETTER


def sentence(numbers: Mapping[str, float]) -> str:
    """Return one sentence on what was reproduced, from the verdicts of a table and those of its random tables."""
    total, agree = (
        sum(int(number) for verdict, number in numbers.items() if verdict in (EQUAL, NOISE, *SAID)),
        agreed(numbers),
    )
    if not total:
        return "The paper prints no number for this: the page shows ours."
    several = agree > 1
    told = f"Of {total} printed numbers {agree or 'none'} {'are' if several else 'is'} reproduced"
    if agree and not better(numbers):
        told = f"Of {total} printed numbers {agree} agree{'s' * (not several)}"
        yardstick = f", no more than chance gives (P = {numbers[SHARE]:.2g})" if SHARE in numbers else ""
        told += f"{yardstick or ', without a table to compare with'}, and none counts as reproduced"
    elif numbers.get(EQUAL):
        told += f", {f'{numbers[EQUAL]} of them ' if numbers.get(NOISE) else ''}to the last digit"
    return "; ".join([told, *_rest(numbers)]) + "."


def _rest(numbers: Mapping[str, float]) -> list[str]:
    """Return what is said of the verdicts that are no agreement."""
    return [
        f"{numbers[verdict]} {told[numbers[verdict] > 1]}" for verdict, told in SAID.items() if numbers.get(verdict)
    ]


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
    for verdict, colour in {**COLOURS, NOT_COUNTED: "#f7f7f7"}.items():
        if verdict in points:
            x, y, deviation = np.array(points[verdict]).T
            style: dict[str, Any] = {"color": colour, "markeredgecolor": "0.4", "ecolor": "0.6", "elinewidth": 0.8}
            axes.errorbar(x, y, deviation, fmt="o", markersize=4, label=verdict, **style)
    ends = {"xlim": (-0.05, 1.05), "ylim": (-0.05, 1.05)}
    axes.set(xlabel="printed, share of the possible range", ylabel="ours", aspect="equal", **ends)
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    return replace(outcome, figures={AGREEMENT: figure, **outcome.figures})


def beside_random(cells: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return what random tables of the numbers of a page have, by the words of the file of verdicts."""
    rows = [
        (c["column"], float(_ours(c)), float(c["printed"]), float(_accepted(c)) if _accepted(c) else None)
        for c in cells
        if c["difference"] is not None and c["verdict"] != NOT_COUNTED
    ]
    return dict(zip((MEAN, BEST, SHARE), random_agreements(rows) or (), strict=False))


def _ours(c: Mapping[str, Any]) -> str:
    return "" if c["ours"] is None else f"{c['ours']:.4g}"


def _accepted(c: Mapping[str, Any]) -> str:
    return "" if c["accepted"] is None else f"{c['accepted']:.3g}"


def filled(heads: Sequence[Any], rows: Sequence[Sequence[Any]]) -> tuple[tuple[Any, ...], list[tuple[Any, ...]]]:
    """Return heads and rows of a table without the columns that are empty in every row."""
    kept = [k for k in range(len(heads)) if any(row[k] not in (None, "") for row in rows)]
    return tuple(heads[k] for k in kept), [tuple(row[k] for k in kept) for row in rows]


def _table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Return the lines of a table in Markdown."""
    return ["", *(f"| {' | '.join(map(str, row))} |" for row in (heads, ["---"] * len(heads), *rows))]


def _row(c: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the row of a cell on its page."""
    ours = _ours(c) and _ours(c) + ("" if c["spread"] is None else f" ± {c['spread']:.3g}")
    difference = "" if c["difference"] is None else f"{c['difference']:.4g}"
    likely = "" if c["chance"] is None else f"{100 * c['chance']:.{2 if c['chance'] < 0.995 else 3}g} %"
    why = f": {c['why']}" if c["why"] else ""
    return c["row"], c["column"], ours, c["printed"] or "", difference, _accepted(c), likely, c["verdict"] + why


def markdown(record: Mapping[str, Any]) -> str:
    """Return the page of a reproduction: what was reproduced, verdicts, notes, figures and cells."""
    quick, random = " (--quick)" if record["quick"] else "", record["random"]
    lines = [f"# {record['name']}: {record['shows']}{quick}", "", sentence({**record["verdicts"], **random}), ""]
    drawn = {name: f"![{name}]({record['name']}-{name}.svg)" for name in record["figures"]}
    if AGREEMENT in drawn:
        lines += [drawn.pop(AGREEMENT), ""]
    lines += [f"Made by `{record['command']}`.{_took(record['parts'], record['seconds'])}", ""]
    lines += [f"* {number} {verdict}: {VERDICTS[verdict]}" for verdict, number in record["verdicts"].items()]
    lines += ["", *record["notes"]] if len(record["notes"]) == 1 else ["", *(f"* {note}" for note in record["notes"])]
    lines += ["", *drawn.values()]
    names = ("row", "column", "ours", "printed", "difference", ACCEPTED, CHANCE, "verdict")
    heads, rows = filled(names, [_row(c) for c in record["cells"]])
    if CHANCE in heads:
        lines += ["", "Chance: that an answer drawn at random from the possible ones would have agreed as well."]
    if ACCEPTED in heads:
        lines[-1] += " Accepted: the largest difference that is an agreement."
    if random:
        agree = agreed(record["verdicts"])
        told = f"{RANDOM_WORDS} {random[MEAN]:.1f} do on average, {random[BEST]} in the best, {random[SHARE]:.3f} of"
        lines += ["", f"{agree} {'cells agree' if agree != 1 else 'cell agrees'}; {told} them have as many."]
    lines += _table(heads, rows) if rows else []
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
    spent = parts["seconds"] if parts["number"] else seconds
    span = f"{spent:.2g} seconds" if spent < 60.0 else f"{spent / 60:.3g} minutes"
    who = f"Its {parts['number']} part{'s' * (parts['number'] > 1)}" if parts["number"] else "It"
    return f" {who} took {span if spent >= 1.0 else 'less than a second'}."


def counted(folder: Path) -> dict[str, dict[str, float]]:
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


def fuller(old: Mapping[str, float], new: Mapping[str, float]) -> bool:
    """Return whether a page with these numbers has more computed cells than a new one, or as many of more parts."""
    sizes = [
        (sum(numbers.get(v, 0) for v in VERDICTS if v != LEFT_OUT), numbers.get(PARTS, 0)) for numbers in (old, new)
    ]
    return sizes[0] > sizes[1]


def overview(given: Mapping[str, Mapping[str, float]]) -> tuple[str, Figure]:
    """Return the overview of reproductions, name -> verdict -> cells: a page in Markdown, and its picture.

    The picture has a bar for each table with printed numbers, divided by verdicts.
    """
    found = {name: given[name] for name in EXPERIMENTS if name in given}
    tables = {name: verdicts for name, verdicts in found.items() if verdicts.keys() & {EQUAL, NOISE, *SAID} - {NO_DATA}}
    total = {v: sum(int(verdicts.get(v, 0)) for verdicts in found.values()) for v in VERDICTS}
    used = [verdict for verdict in VERDICTS if total[verdict] and verdict not in (NO_NUMBER, NOT_COUNTED)]
    lines = ["# All cells by verdict", "", _headline(total, found), "", f"![cells by verdict]({OVERVIEW}.svg)", ""]
    lines += [f"* {total[verdict]} {verdict}: {VERDICTS[verdict]}" for verdict in VERDICTS if total[verdict]]
    lines += ["", f"Agree: cells that are equal or within noise. Random: those {RANDOM_WORDS}."]
    rows = []
    for name, numbers in tables.items():
        random = [f"{numbers[MEAN]:.1f}", numbers[BEST], f"{numbers[SHARE]:.3f}"] if MEAN in numbers else [""] * 3
        rows.append([f"[{name}]({name}.md)", *(numbers.get(v, "") for v in used), agreed(numbers), *random])
    lines += _table(("table", *used, "agree", MEAN, BEST, SHARE), rows)
    figure = new_figure(1, height=0.3 * len(tables) + 1.4)
    axes, done = figure.axes[0], np.zeros(len(tables))
    for verdict in used:
        sizes = np.array([verdicts.get(verdict, 0) for verdicts in tables.values()])
        style: dict[str, Any] = {"color": COLOURS[verdict], "edgecolor": "0.4", "linewidth": 0.4}
        axes.barh(list(tables), sizes, left=done, label=verdict, **style)
        done += sizes
    if tables:
        axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    axes.invert_yaxis()
    axes.set(xlabel="printed numbers")
    return "\n".join(lines) + "\n", figure


def _headline(total: Mapping[str, int], found: Mapping[str, Mapping[str, float]]) -> str:
    """Return the sentences on all tables: what is reproduced, what chance gives, and the rest."""
    agree = agreed(total)
    counts = [agreed(numbers) for numbers in found.values() if better(numbers)]
    chance = sum(numbers.get(MEAN, 0.0) for numbers in found.values())
    number = sum(total[v] for v in (EQUAL, NOISE, *SAID))
    rest = "; ".join(_rest(total))
    return (
        f"Of {number} printed numbers {sum(counts)} are reproduced, in {len(counts)} tables that agree more often than "
        f"their own numbers in another order; {agree - sum(counts)} others agree in tables that do not, and do not "
        f"count. Chance alone gives about {chance:.0f} of the {agree}. Of the rest {rest}."
    )
