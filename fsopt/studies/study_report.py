"""The report of a study: means, pictures, ranks, stability, failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.common.figures import new_figure
from fsopt.studies.ranking import Ranking, profile, ranking, stability
from fsopt.studies.report import ReportTable, Section
from fsopt.studies.row_checking import WAITING
from fsopt.studies.summary import Line, summarised
from fsopt.studies.units import DONE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADS = (
    "method",
    "accuracy",
    "±",
    "balanced accuracy",
    "MCC",
    "AUC",
    "features",
    "stability",
    "seconds",
    "CPU seconds",
    "done",
    "units",
)
CURVES = 8
"""Traces that a picture of convergence shows at most."""


def study_sections(rows: Sequence[Mapping[str, Any]]) -> list[Section]:
    """Return the sections of a report on rows of a store."""
    lines = summarised(rows)
    names = list(dict.fromkeys(line.data for line in lines))
    sections = [_of_data(name, [line for line in lines if line.data == name]) for name in names]
    return [*sections, *_ranks(lines), *_failures(rows)]


def _of_data(name: str, lines: Sequence[Line]) -> Section:
    """Return the section of a data set."""
    listed = []
    for line in lines:
        held = {k: None if v is None else v.mean for k, v in line.measures.items()}
        accuracy = line.measures["accuracy"]
        selections = [row["features"] for row in line.rows if row["fold"] is not None and row["features"] is not None]
        listed.append(
            (
                line.title,
                held["accuracy"],
                None if accuracy is None else accuracy.deviation,
                *(held[k] for k in ("balanced_accuracy", "mcc", "auc", "n_features")),
                stability(selections),
                held["seconds"],
                held["cpu_seconds"],
                line.finished,
                line.units,
            )
        )
    chosen = [
        (line.title, ", ".join(row["features"]))
        for line in lines
        for row in line.rows
        if row["fold"] is None and row["features"] is not None and len(row["features"]) <= 50
    ]
    tables = [ReportTable(HEADS, listed, "means over folds and seeds; ± is their standard deviation")]
    if chosen:
        tables.append(
            ReportTable(("method", "selected features"), chosen, "fits to all samples with at most 50 features")
        )
    figures = {}
    if any(line.measures["accuracy"] for line in lines):
        figures["accuracy against number of selected features"] = _trade_off(lines)
    if (curves := _convergence(lines)) is not None:
        figures["incumbent and bound over time, first unit of each method"] = curves
    note = "stability is the mean Jaccard index of the selections of two folds"
    return Section(name, (note,), tuple(tables), figures)


def front_figure(front: Sequence[Mapping[str, Any]], larger: Mapping[str, float]) -> Figure:
    """Return a picture of the methods that no other beats in both accuracy and number of selected features.

    Parameters
    ----------
    front : ``method``, ``n_features`` and ``cv_accuracy`` of each.
    larger : scores of the larger class alone.
    """
    figure = new_figure(1)
    axes = figure.axes[0]
    points = sorted((row["n_features"], 100 * row["cv_accuracy"], row["method"]) for row in front)
    axes.step([x for x, _, _ in points], [y for _, y, _ in points], where="post", marker="o")
    for x, y, name in points:
        axes.annotate(_plain(name), (x, y), xytext=(4, -12), textcoords="offset points", fontsize="small")
    axes.axhline(100 * larger["cv_accuracy"], color="tab:gray", linestyle="--", label="the larger class")
    axes.set(xlabel="selected features", ylabel="accuracy of cross-validation, %")
    axes.margins(x=0.2)
    axes.legend(fontsize="small")
    return figure


def _trade_off(lines: Sequence[Line]) -> Figure:
    figure = new_figure(1, height=3.6 + 0.1 * len(lines))
    axes = figure.axes[0]
    for k, line in enumerate(lines):
        accuracy, features = line.measures["accuracy"], line.measures["n_features"]
        if accuracy is not None and features is not None:
            marker = "osv^D*PX<>"[k // 10 % 10]
            axes.errorbar(
                features.mean,
                100 * accuracy.mean,
                xerr=features.deviation,
                yerr=100 * accuracy.deviation,
                marker=marker,
                capsize=2,
                label=_plain(line.title),
            )
    axes.set(xlabel="selected features", ylabel="accuracy, %")
    axes.legend(fontsize="x-small", loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)
    return figure


def _convergence(lines: Sequence[Line]) -> Figure | None:
    """Return incumbents and bounds over time, None where no fit has a loop of two records."""
    traced = [(line.title, row["trace"]) for line in lines for row in line.rows[:1] if len(row["trace"] or ()) > 1]
    if not traced:
        return None
    panels = traced[:CURVES]
    figure = new_figure(len(panels), height=3.0)
    for axes, (title, trace) in zip(figure.axes, panels, strict=True):
        for column, word in ((1, "incumbent"), (2, "bound")):
            points = [(record[0], record[column]) for record in trace if record[column] is not None]
            if points:
                axes.step(*zip(*points, strict=True), where="post", label=word)
        axes.set_title(_plain(title), fontsize="small")
        axes.set_xlabel("seconds")
        axes.legend(fontsize="x-small")
    return figure


def _plain(text: str) -> str:
    """Return a text in which matplotlib reads no formula."""
    return text.replace("$", r"\$")


def _blocks(lines: Sequence[Line], column: str) -> dict[str, list[float | None]]:
    """Return method -> value of a column for each block, a data set and seed: means over its folds."""
    table: dict[str, dict[tuple[str, Any], list[float | None]]] = {}
    for line in lines:
        for row in line.rows:
            if row["fold"] is not None:
                value = row[column] if row["state"] == DONE else None
                table.setdefault(line.title, {}).setdefault((line.data, row["seed"]), []).append(value)
    blocks = sorted({block for held in table.values() for block in held}, key=str)
    return {title: [_mean(held.get(block, [None])) for block in blocks] for title, held in table.items()}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


def _ranks(lines: Sequence[Line]) -> list[Section]:
    """Return the section on ranks, of the methods with results on every block; empty for fewer than two of these."""
    scores = _blocks(lines, "balanced_accuracy")
    complete: dict[str, list[float]] = {k: [x for x in v if x is not None] for k, v in scores.items() if None not in v}
    if len(complete) < 2 or len(next(iter(complete.values()))) < 2:
        return []
    found = ranking(complete)
    listed = sorted(zip(found.methods, found.ranks.tolist(), strict=True), key=lambda pair: pair[1])
    times = _blocks(lines, "seconds")
    seconds = {k: [float("inf") if x is None else max(x, 1e-9) for x in v] for k, v in times.items()}
    errors = {k: [float("inf") if x is None else 1.0 - x + 0.01 for x in v] for k, v in scores.items()}
    figures = {
        "critical-difference diagram: methods under one bar are not told apart": draw_ranking(found),
        "performance profiles: share of blocks within a factor of the best": _profiles(seconds, errors),
    }
    told = f"{found.blocks} blocks (data set, seed) by balanced accuracy; without methods that have no result on one"
    test = f"Friedman's test: p = {found.p_value:.3g}; Nemenyi's critical difference at 0.05: {found.distance:.3g}"
    notes = (told, test, "seeds of one data set are no independent blocks: the tests are then too sure")
    return [Section("Ranks", notes, (ReportTable(("method", "average rank"), listed),), figures)]


def draw_ranking(found: Ranking) -> Figure:
    """Return the critical-difference diagram of a ranking."""
    k = len(found.methods)
    figure = new_figure(2, height=0.8 + 0.25 * k)
    figure.delaxes(figure.axes[1])
    axes = figure.axes[0]
    order = np.argsort(found.ranks, kind="stable")
    for level, i in enumerate(order):
        axes.plot([found.ranks[i]] * 2, [0, -1 - level], color="0.6", linewidth=0.8)
        axes.text(
            found.ranks[i],
            -1 - level,
            f" {_plain(found.methods[i])} ({found.ranks[i]:.2f})",
            va="center",
            fontsize="small",
        )
    for level, (low, high) in enumerate(found.groups, start=1):
        axes.plot([low, high], [0.35 * level] * 2, color="black", linewidth=3)
    axes.set(xlim=(0.8, k + 1.5), ylim=(-k - 1, 0.35 * len(found.groups) + 0.5), yticks=[], xlabel="average rank")
    return figure


def _profiles(seconds: Mapping[str, Sequence[float]], errors: Mapping[str, Sequence[float]]) -> Figure:
    figure = new_figure(2)
    for axes, costs, title in zip(figure.axes, (seconds, errors), ("seconds", "balanced error + 0.01"), strict=True):
        grid, curves = profile(costs)
        for name, share in curves.items():
            axes.step(grid, share, where="post", label=_plain(name))
        axes.set(title=title, xlabel="factor of the best", ylabel="share", ylim=(0, 1.05))
        if grid[-1] > 1:
            axes.set_xscale("log")
    figure.axes[1].legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _failures(rows: Sequence[Mapping[str, Any]]) -> list[Section]:
    """Return the section on units without a result; empty where there is none."""
    heads = ("data", "method", "fold", "seed", "state", "error")
    listed = [[row[k] for k in heads] for row in rows if row["state"] != DONE]
    if not listed:
        return []
    waiting = sum(row[4] == WAITING for row in listed)
    return [
        Section("Units without a result", (f"{waiting} of these are not computed yet",), (ReportTable(heads, listed),))
    ]
