"""The report of a study: answers and fronts first, then means, ranks, stability, failures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fsopt.common.figures import name_points, new_figure, plain, style
from fsopt.studies.ranking import Ranking, Standing, answer, leading, profile, ranking, stability, standings
from fsopt.studies.report import ReportSection, ReportTable
from fsopt.studies.row_checking import WAITING
from fsopt.studies.summary import MethodSummary, summarised, told_apart
from fsopt.studies.units import DONE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CURVES = 8
"""Traces that a picture of convergence shows at most."""
NAMED = 40
"""Methods that a picture tells apart at most."""
DECADE = 10.0
"""Factor beyond which a performance profile has a logarithmic axis: its marks below are numbers that touch."""


def trade_off(lines: Sequence[MethodSummary], counts: Mapping[str, float], front: Sequence[str]) -> Figure:
    """Return accuracy against number of selected features, and the front of both as a line.

    Parameters
    ----------
    lines : those without a mean accuracy are left out; of more than :data:`NAMED` only those of the front have names.
    counts : title -> number of features.
    front : titles of those that no other beats in both.
    """
    placed = [
        (line.title, features.deviation, accuracy)
        for line in lines
        if (accuracy := line.measures["accuracy"]) and (features := line.measures["n_features"])
    ]
    points = {title: (counts[title], 100 * accuracy.mean) for title, _, accuracy in placed}
    named = [one for one in placed if len(placed) <= NAMED or one[0] in front][:NAMED]
    figure = new_figure(1, height=3.6 + 0.12 * len(named))
    axes = figure.axes[0]
    if len(named) < len(placed):
        axes.plot(*zip(*points.values(), strict=True), ".", color="0.8", zorder=0, label="other methods")
    for k, (title, width, accuracy) in enumerate(named):
        look = {**style(k), "linestyle": "none", "elinewidth": 0.5}
        axes.errorbar(*points[title], xerr=width, yerr=100 * accuracy.deviation, markersize=5, **look)
    corners = sorted(points[name] for name in front)
    axes.step(
        *zip(*corners, strict=True),
        where="post",
        color="0.6",
        linewidth=2.5,
        zorder=0,
        label="no method beats these in both",
    )
    axes.set(xlabel="selected features", ylabel="accuracy of cross-validation, %")
    axes.margins(x=0.25, y=0.1)
    axes.set_xlim(left=max(0.0, axes.get_xlim()[0]))
    axes.locator_params(axis="x", integer=True)
    figure.legend(fontsize="small", loc="outside lower center")
    name_points(figure, [points[title] for title, *_ in named], [title for title, *_ in named])
    return figure


def convergence(lines: Sequence[MethodSummary]) -> Figure | None:
    """Return incumbents and bounds over time, None where no fit has a loop of two records whose incumbent never rises.

    The objective of an elimination of features rises with each: it is none of one problem.
    """
    traced = [(line.title, row["trace"]) for line in lines for row in line.rows[:1] if _falls(row["trace"] or ())]
    if not traced:
        return None
    panels = traced[:CURVES]
    columns = min(2, len(panels))
    figure = new_figure(len(panels), height=2.4, columns=columns)
    figure.set_figwidth(2.6 + 1.8 * columns)  # a page scales it to its width, and the words with it
    for axes, (title, trace) in zip(figure.axes, panels, strict=True):
        for column, word, line in ((1, "incumbent", "-"), (2, "bound", "--")):
            points = [(record[0], record[column]) for record in trace if record[column] is not None]
            if points:
                axes.step(*zip(*points, strict=True), line, where="post", label=word)
        axes.set_title(plain(title), fontsize="small")
        axes.set_xlabel("seconds")
        axes.legend(fontsize="small")
    return figure


def _falls(trace: Sequence[Sequence[float | None]]) -> bool:
    values = [record[1] for record in trace if record[1] is not None]
    slack = 1e-6 * max(map(abs, values), default=0.0)
    return len(trace) > 1 and all(after <= before + slack for before, after in pairwise(values))


def ranks_figure(found: Ranking) -> Figure:
    """Return the critical-difference diagram of a ranking: a row for each method, bars over those not told apart.

    Of more than :data:`NAMED` methods it shows the best.
    """
    order = np.argsort(found.ranks, kind="stable").tolist()[:NAMED]
    k, last = len(order), found.ranks[order[-1]]
    groups = [(low, min(high, last)) for low, high in found.groups if low < last]
    top = len(groups)
    figure = new_figure(1, height=1.2 + 0.25 * (k + top))
    axes = figure.axes[0]
    for level, i in enumerate(order):
        axes.plot([found.ranks[i]] * 2, [top + 0.5, -level], color="0.7", linewidth=0.8)
        axes.plot(found.ranks[i], -level, markersize=6, **style(level))
    for level, (low, high) in enumerate(groups, start=1):
        axes.plot([low, high], [level] * 2, color="black", linewidth=4, solid_capstyle="butt")
    names = [f"{plain(found.methods[i])}  {found.ranks[i]:#.3g}" for i in order]
    figure.set_figwidth(4.0 + 0.08 * max(map(len, names)))
    axes.set_yticks([-level for level in range(k)], names)
    axes.set(xlim=(0.8, max(k, last) + 0.2), ylim=(0.5 - k, top + 0.5), xlabel="average rank, 1 is the best")
    axes.xaxis.set_ticks_position("top")
    axes.xaxis.set_label_position("top")
    return figure


def profile_figure(costs: Mapping[str, Sequence[float]]) -> Figure:
    """Return the performance profiles of costs, method -> positive cost for each block.

    Of more than :data:`NAMED` methods it shows those that are most often the best.
    """
    grid, curves = profile(costs)
    if len(curves) > NAMED:
        curves = dict(sorted(curves.items(), key=lambda one: -one[1][0])[:NAMED])
    figure = new_figure(1, height=3.6 + 0.12 * len(curves))
    axes = figure.axes[0]
    for k, (name, share) in enumerate(curves.items()):
        axes.step(grid, share, where="post", label=plain(name), markevery=0.1, markersize=4, **style(k))
    axes.set(xlabel="factor of the best", ylabel="share of blocks within it", ylim=(0, 1.05))
    if grid[-1] > DECADE:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")
    figure.legend(fontsize="small", loc="outside lower center", ncols=2)
    return figure


HEADS = (
    "method",
    "standing",
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
FRONT = "accuracy against number of selected features"
DRAWN = 4
"""Data sets whose pictures a report has; each takes about a second, and the tables of all say more."""
CAPTION = "means over folds and seeds; ± is their standard deviation"
NOTES = (
    "not told apart: from the best accuracy by the corrected resampled t-test at 0.05, which does not show that it is "
    "as good; not shown above the larger class: the 95 % interval of its accuracy has the share of this class, or is "
    "below it; front: no other method beats it in accuracy and number of features; stability: mean Jaccard index of "
    "the selections of two folds.",
)


def study_sections(rows: Sequence[Mapping[str, Any]], larger: Mapping[str, float] | None = None) -> list[ReportSection]:
    """Return the sections of a report on rows of a store.

    Parameters
    ----------
    rows : of one study.
    larger : data set -> accuracy of the larger class alone, where it is known.
    """
    lines = told_apart(summarised(rows))
    of_data: dict[str, list[MethodSummary]] = {}
    for line in lines:
        of_data.setdefault(line.data, []).append(line)
    drawn = set(list(of_data)[:DRAWN])
    shares = {name: (larger or {}).get(name) for name in of_data}
    found = {name: _standings(of_one, shares[name]) for name, of_one in of_data.items()}
    compared = {name: of_one for name, of_one in of_data.items() if found[name]}
    answers = [_answer(name, of_one, found[name], shares[name]) for name, of_one in compared.items()]
    if len(drawn) < len(of_data):
        answers.append(f"pictures: of the first {DRAWN} of {len(of_data)} data sets")
    fronts = dict(_front(name, of_one, found[name]) for name, of_one in compared.items() if name in drawn)
    return [
        *([ReportSection("Answer", tuple(answers), figures=fronts)] if answers else []),
        *(
            section
            for name, of_one in of_data.items()
            for section in _of_data(name, of_one, found[name], name in drawn)
        ),
        *_ranks(lines),
        *_failures(rows),
    ]


def _standings(lines: Sequence[MethodSummary], larger: float | None) -> dict[str, Standing]:
    """Return the standings by accuracy of methods that have it on all folds, compared fold by fold."""
    scores = {}
    for line in lines:
        if line.measures["accuracy"] is not None:
            parts = [row for row in line.rows if row["fold"] is not None]
            scores[line.title] = [row["accuracy"] for row in sorted(parts, key=lambda row: (row["seed"], row["fold"]))]
    folds = {row["fold"] for line in lines for row in line.rows if row["fold"] is not None}
    return standings(scores, _counts(lines), len(folds), larger) if len(folds) > 1 else {}


def _means(lines: Sequence[MethodSummary], measure: str) -> dict[str, float]:
    return {line.title: mean.mean for line in lines if (mean := line.measures[measure]) is not None}


def _counts(lines: Sequence[MethodSummary]) -> dict[str, float]:
    """Return title -> number of features selected on all samples, where they are fitted, and else the mean of folds."""
    whole = {
        line.title: row["n_features"]
        for line in lines
        for row in line.rows
        if row["fold"] is None and row["n_features"] is not None
    }
    return _means(lines, "n_features") | whole


def _answer(name: str, lines: Sequence[MethodSummary], found: Mapping[str, Standing], larger: float | None) -> str:
    """Return the sentence on a data set."""
    whole = {line.title: row["features"] or () for line in lines for row in line.rows if row["fold"] is None}
    text = answer(found, _means(lines, "accuracy"), _counts(lines), whole)
    alone = "" if larger is None else f" The larger class alone has accuracy {larger:.3f}."
    return f"{name}: {text}.{alone}"


def _front(name: str, lines: Sequence[MethodSummary], found: Mapping[str, Standing]) -> tuple[str, Figure]:
    """Return the front of accuracy and number of features on a data set, with its caption."""
    front = [title for title, one in found.items() if one.front]
    return f"{name}: {FRONT}", trade_off(lines, _counts(lines), front)


def _of_data(
    name: str, lines: Sequence[MethodSummary], found: Mapping[str, Standing], drawn: bool
) -> Iterator[ReportSection]:
    """Yield the section of the leading methods on a data set, the best first, and the folded one of the others."""
    places = {title: k for k, title in enumerate(found)}
    first = leading(found)
    ordered = sorted(lines, key=lambda line: (line.title not in first, places.get(line.title, len(places))))
    shown = len(first) or len(ordered)
    curves = convergence(ordered) if drawn else None
    figures = {} if curves is None else {"incumbent and bound over time, first unit of each method": curves}
    yield ReportSection(f"Methods on {name}", NOTES, _tables(ordered[:shown], found), figures)
    if ordered[shown:]:
        yield ReportSection(f"Other methods on {name}", (), _tables(ordered[shown:], found), folded=True)


def _tables(lines: Sequence[MethodSummary], found: Mapping[str, Standing]) -> tuple[ReportTable, ...]:
    """Return the table of the scores of methods, and that of their selections."""
    chosen = [
        (line.title, ", ".join(f"{k}={v}" for k, v in row["params"].items()), ", ".join(row["features"]))
        for line in lines
        for row in line.rows
        if row["fold"] is None and row["features"] is not None and len(row["features"]) <= 50
    ]
    scores = ReportTable(HEADS, [_cells(line, found) for line in lines], CAPTION)
    heads, caption = ("method", "parameters", "selected features"), "fits to all samples with at most 50 features"
    return (scores, ReportTable(heads, chosen, caption)) if chosen else (scores,)


def _cells(line: MethodSummary, found: Mapping[str, Standing]) -> tuple[Any, ...]:
    """Return the cells of a method, in the order of :data:`HEADS`."""
    means = {k: None if v is None else v.mean for k, v in line.measures.items()}
    accuracy, standing = line.measures["accuracy"], found.get(line.title)
    selections = [row["features"] for row in line.rows if row["fold"] is not None and row["features"] is not None]
    return (
        line.title,
        "" if standing is None else standing.in_words,
        means["accuracy"],
        None if accuracy is None else accuracy.deviation,
        *(means[k] for k in ("balanced_accuracy", "mcc", "auc", "n_features")),
        stability(selections),
        means["seconds"],
        means["cpu_seconds"],
        line.finished,
        line.units,
    )


def _blocks(lines: Sequence[MethodSummary], column: str) -> dict[str, list[float | None]]:
    """Return method -> value of a column for each block, a data set and seed: means over its folds."""
    table: dict[str, dict[tuple[str, Any], list[float | None]]] = {}
    for line in lines:
        for row in line.rows:
            if row["fold"] is not None:
                value = row[column] if row["state"] == DONE else None
                table.setdefault(line.title, {}).setdefault((line.data, row["seed"]), []).append(value)
    blocks = sorted({block for scores in table.values() for block in scores}, key=str)
    return {title: [_mean(scores.get(block, [None])) for block in blocks] for title, scores in table.items()}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


def _ranks(lines: Sequence[MethodSummary]) -> list[ReportSection]:
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
        "critical-difference diagram: methods under one bar are not told apart": ranks_figure(found),
        "performance profiles of seconds: share of blocks within a factor of the best": profile_figure(seconds),
        "performance profiles of balanced error + 0.01": profile_figure(errors),
    }
    told = f"{found.blocks} blocks (data set, seed) by balanced accuracy; without methods that have no result on one"
    test = f"Friedman's test: p = {found.p_value:.3g}; Nemenyi's critical difference at 0.05: {found.distance:.3g}"
    notes = (told, test, "seeds of one data set are no independent blocks: the tests are then too sure")
    return [ReportSection("Ranks", notes, (ReportTable(("method", "average rank"), listed),), figures)]


def _failures(rows: Sequence[Mapping[str, Any]]) -> list[ReportSection]:
    """Return the section on units without a result; empty where there is none."""
    heads = ("data", "method", "fold", "seed", "state", "error")
    listed = [[row[k] for k in heads] for row in rows if row["state"] != DONE]
    if not listed:
        return []
    waiting = sum(row[4] == WAITING for row in listed)
    return [
        ReportSection(
            "Units without a result", (f"{waiting} of these are not computed yet",), (ReportTable(heads, listed),)
        )
    ]
