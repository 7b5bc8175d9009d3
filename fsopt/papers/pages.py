"""Pages of reproductions in Markdown, their records, and the overview of a folder of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from fsopt.common.figures import new_figure
from fsopt.common.files import brief
from fsopt.errors import FileError
from fsopt.papers.registry import EXPERIMENTS
from fsopt.papers.reproduction import Reproduction
from fsopt.papers.verdicts import (
    BETTER,
    COUNTED,
    EQUAL,
    LEFT_OUT,
    NO_DATA,
    NOISE,
    NOT_COUNTED,
    RANDOM_TABLES,
    VERDICTS,
    TableCell,
    random_agreements,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OVERVIEW, COUNTS = "overview", "verdicts.json"
"""Names of the page and picture of all cells in a folder of results, and of the file that it is made from."""
MEAN, BEST = "random mean", "random best"
"""Beside the verdicts of a table in that file: the agreements of random tables, on average and in the best one."""
SHARE, PARTS = "random share", "parts"
"""And the share of random tables with as many agreements as ours, and the number of parts that were computed."""
RANDOM_WORDS = f"of {RANDOM_TABLES} tables with our numbers in another order within each column"
AGREEMENT = "agreement"
"""Name of the picture of our numbers over the printed ones."""
SHADES = ("#1b7837", "#7fbf7b", "#d9d9d9", "#fdb863", "#b2182b", "#8073ac", "#c2a5cf", "#f0f0f0", "#bdbdbd")
COLOURS = {**dict(zip(COUNTED, SHADES, strict=True)), NOT_COUNTED: "#f7f7f7"}
"""Of the verdicts in pictures."""


def agreed(numbers: Mapping[str, float]) -> int:
    """Return how many cells of a table agree, by verdict -> number of cells."""
    return int(numbers.get(EQUAL, 0) + numbers.get(NOISE, 0))


def better(numbers: Mapping[str, float]) -> bool:
    """Return whether a table agrees more often than random ones: what chance gives is not reproduced."""
    return numbers.get(SHARE, 1.0) <= BETTER


def sentence(numbers: Mapping[str, float]) -> str:
    """Return one sentence on what was reproduced, from the verdicts of a table and those of its random tables."""
    total, agree = sum(int(numbers.get(verdict, 0)) for verdict in COUNTED), agreed(numbers)
    if not total:
        return "The paper prints no number for this: the page shows ours."
    if better(numbers) or not agree:
        told = f"Reproduced: {agree} of {total} printed numbers, {numbers.get(EQUAL, 0)} of them to the last digit"
    else:
        chance = f"no more than chance gives (P = {numbers[SHARE]:.2g})" if SHARE in numbers else "in no table of rows"
        told = f"Reproduced: 0 of {total} printed numbers; {agree} agree, {chance}, and do not count"
    return "; ".join([told, *_rest(numbers)]) + "."


def _rest(numbers: Mapping[str, float]) -> list[str]:
    """Return what is said of the verdicts that are no agreement."""
    return [f"{numbers[verdict]} {verdict}" for verdict in COUNTED[2:] if numbers.get(verdict)]


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
    for verdict, colour in COLOURS.items():
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


def _table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the lines of a table in Markdown, without columns that are empty in every row."""
    heads = [head for head in (rows[0] if rows else ()) if any(row[head] not in (None, "") for row in rows)]
    lines = [heads, ["---"] * len(heads), *([row[head] for head in heads] for row in rows)] if rows else []
    return ["", *(f"| {' | '.join(map(str, line))} |" for line in lines)]


def _row(c: Mapping[str, Any]) -> dict[str, str]:
    """Return the row of a cell on its page."""
    likely = "" if c["chance"] is None else f"{100 * c['chance']:.{2 if c['chance'] < 0.995 else 3}g} %"
    return {
        **{name: c[name] for name in ("row", "column")},
        "ours": _ours(c) and _ours(c) + ("" if c["spread"] is None else f" ± {c['spread']:.3g}"),
        "printed": c["printed"] or "",
        "difference": "" if c["difference"] is None else f"{c['difference']:.4g}",
        "accepted": _accepted(c),
        "chance": likely,
        "verdict": c["verdict"] + (f": {c['why']}" if c["why"] else ""),
    }


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
    if any(c["chance"] is not None for c in record["cells"]):
        lines += ["", "Chance: that an answer drawn at random from the possible ones would have agreed as well."]
    if any(c["accepted"] is not None for c in record["cells"]):
        lines[-1] += " Accepted: the largest difference that is an agreement."
    if random:
        agree = agreed(record["verdicts"])
        told = f"{RANDOM_WORDS} {random[MEAN]:.1f} do on average, {random[BEST]} in the best, {random[SHARE]:.3f} of"
        lines += ["", f"{agree} {'cells agree' if agree != 1 else 'cell agrees'}; {told} them have as many."]
    lines += _table([_row(c) for c in record["cells"]])
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
    """Return name -> verdict -> number of cells of the reproductions in a folder, with parts and random agreements."""
    path = folder / COUNTS
    if not path.exists():
        return {}
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, dict[str, int | float]])
    except (OSError, RecursionError, msgspec.MsgspecError) as error:
        told = f"'{brief(path)}' holds no verdicts of reproductions"
        raise FileError(told, "remove it, or give another folder") from error


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
    tables = {name: verdicts for name, verdicts in found.items() if verdicts.keys() & {*COUNTED} - {NO_DATA}}
    total = {v: sum(int(verdicts.get(v, 0)) for verdicts in found.values()) for v in VERDICTS}
    used = [verdict for verdict in COUNTED if total[verdict]]
    lines = ["# All cells by verdict", "", _headline(total, found), "", f"![cells by verdict]({OVERVIEW}.svg)", ""]
    lines += [f"* {total[verdict]} {verdict}: {VERDICTS[verdict]}" for verdict in VERDICTS if total[verdict]]
    lines += ["", f"Agree: cells that are equal or within noise. Random: those {RANDOM_WORDS}."]
    lines += _table([_counts(name, numbers, used) for name, numbers in tables.items()])
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


def _counts(name: str, numbers: Mapping[str, float], used: Sequence[str]) -> dict[str, Any]:
    """Return the row of a table in the overview."""
    random = {key: numbers[key] for key in (MEAN, BEST, SHARE) if MEAN in numbers}
    told = {MEAN: f"{numbers.get(MEAN, 0):.1f}", SHARE: f"{numbers.get(SHARE, 0):.3f}"} if random else {}
    agree = {"agree": agreed(numbers), **dict.fromkeys((MEAN, BEST, SHARE), ""), **random, **told}
    return {"table": f"[{name}]({name}.md)", **{verdict: numbers.get(verdict, "") for verdict in used}, **agree}


def _headline(total: Mapping[str, int], found: Mapping[str, Mapping[str, float]]) -> str:
    """Return the sentences on all tables: what is reproduced, what chance gives, and the rest."""
    agree = agreed(total)
    counts = [agreed(numbers) for numbers in found.values() if better(numbers)]
    chance = sum(numbers.get(MEAN, 0.0) for numbers in found.values())
    return (
        f"Reproduced: {sum(counts)} of {sum(total[verdict] for verdict in COUNTED)} printed numbers, in {len(counts)} "
        f"tables that agree more often than their own numbers in another order; {agree - sum(counts)} others agree in "
        f"tables that do not, and do not count. Chance alone gives about {chance:.0f} of the {agree}. The rest: "
        f"{', '.join(_rest(total))}."
    )
