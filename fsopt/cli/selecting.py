"""Verb ``select``: how many features, which, how good, and how sure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.layouts import OPTIONS, WHOLE, layout_record, load
from fsopt.cli.output import (
    EXIT_INTERRUPTED,
    EXIT_NOT_SOLVED,
    EXIT_SOLVED,
    deliver,
    print_json,
    progress_bar,
    remark,
    show,
    table,
)
from fsopt.common.files import brief
from fsopt.common.texts import counted, one_line
from fsopt.data.layout import Layout
from fsopt.errors import ParameterError

if TYPE_CHECKING:
    from fsopt.analysis.selection_answers import Selection
    from fsopt.data import Dataset


def _page(path: Path | None) -> Path | None:
    """Refuse a page of another kind, or one that cannot be written, before any work is done."""
    from fsopt.studies.report import check_page

    return None if path is None else check_page(path)


def select(
    context: typer.Context,
    data: options.Data,
    layout: Layout = WHOLE,
    features: Annotated[int | None, typer.Option("--features", help="number of features, instead of a choice")] = None,
    rule: Annotated[
        str, typer.Option("--rule", help="log-loss: the fewest that lose 5 % of its gain; shortest: fewer, by AUC")
    ] = "log-loss",
    folds: Annotated[int, typer.Option("--folds", help="of the stratified cross-validation")] = 5,
    seed: Annotated[int, typer.Option("--seed", help="of folds, halves and permuted labels")] = 0,
    exact: options.Exact = False,
    path: Annotated[
        str | None,
        typer.Option("--path", help="numbers of features, 1-10 or all: the best selection of each, and a lower bound"),
    ] = None,
    c: Annotated[
        list[float] | None, typer.Option("--c", help="of --path: penalty weight of the loss; repeat for several")
    ] = None,
    loss: Annotated[str, typer.Option("--loss", help="of --path: hinge, squared-hinge or logistic")] = "hinge",
    time_limit: Annotated[
        float, typer.Option("--time-limit", help="seconds for the proof of the selection; of all for --path")
    ] = 30.0,
    jobs: options.Jobs = 1,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="write a page: .html, or .tex for the table alone", callback=_page),
    ] = None,
    output: Annotated[
        Path | None,
        options.file("save the fit for check and predict, or the path"),
    ] = None,
    json: options.Json = False,
) -> int:
    """Tell how many features, which, how good, and how sure.

    The number is chosen by cross-validation, the selection is proved best of its size, and an answer that is no better
    than noise is no feature.
    """
    from fsopt.analysis.selecting import select as run
    from fsopt.answers.fits import fit_record
    from fsopt.answers.records import plain, sealed
    from fsopt.studies.report import write_selection

    if path is not None:
        return _path(context, data, layout, path, output, json)
    options.only(context, "without --path", context.params.keys() - {"c", "loss"})
    source = load(data, layout)
    with progress_bar("select", total=1) as update:

        def told(state: Mapping[str, Any]) -> None:
            update(state["share"], f"select: {state['share']:.0%}")

        found = run(
            source,
            features=features,
            rule=rule,
            folds=folds,
            seed=seed,
            exact=exact,
            time_limit=time_limit,
            jobs=jobs,
            progress=told,
        )
    if report is not None:
        write_selection(found, report)
        remark(f"wrote {report}")
    saved = sealed(fit_record(found.fit, data=source, source=data) | layout_record(layout))
    answer = plain({**found.heading, "data": data, "rows": found.to_records()})
    deliver(saved, output, as_json=False, present=lambda: print_json(answer) if json else _print(found))
    return EXIT_SOLVED if found.status.solved else EXIT_NOT_SOLVED


def _path(context: typer.Context, data: str, layout: Layout, path: str, output: Path | None, json: bool) -> int:
    """Compute, save and print the path of a data set."""
    named = ("c", "loss", "time_limit", "jobs")
    of_data = (option.name for option in OPTIONS)
    given = options.only(context, "with --path", ("data", "path", "output", "json", *named, *of_data))
    record, code = selection_path(load(data, layout), path, {k: given[k] for k in named if k in given})
    record["data"] = data
    deliver(record, output, as_json=json, present=lambda: print_path(record))
    return code


def _print(found: Selection) -> None:
    """Print the answer in words, the warnings, and the selected features."""
    show(*map(one_line, found.sentences))
    for text in found.warnings:
        remark(f"warning: {text}")
    if not found.fit.features:
        return
    weights, intercept = found.printed_weights
    rows = []
    for row, weight in zip(found.to_records(), weights, strict=True):
        sizes = [f"{row[name]:.3g}" for name in ("standardised", "odds_ratio")]
        rows.append((row["feature"], weight, *sizes, f"{row['share']:.0%}", f"{row['p_value']:.2f}"))
    rows.append(("intercept", intercept, "", "", "", ""))
    show(table("", ("feature", ">weight", ">per deviation", ">odds ratio", ">halves", ">p"), rows))


def selection_path(source: Dataset, numbers: str, own: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """Return the path of a data set as a record, and the exit code.

    Parameters
    ----------
    numbers : of features, as ``1,2,5`` or ``1-10``; ``all`` for all.
    own : the keywords of :func:`fsopt.selection_path` that are given.
    """
    from fsopt.analysis.selection_questions import selection_path as run
    from fsopt.answers.records import plain

    m = _numbers(numbers, source.p)
    with progress_bar("path") as update:

        def report(entry: Mapping[str, Any]) -> None:
            shown = f"objective {entry['objective']:.6g}, bound {entry['bound']:.6g}"
            update(entry["iteration"], f"path: C = {entry['c']:g}, m = {entry['m']}, {shown}")

        found = run(source, m=m, progress=report, **own)
    record = plain({"data": source.name, "n": source.n, "p": source.p, **found.heading, "rows": found.to_records()})
    wanted = (source.p + 1 if m is None else len(set(m))) * len(set(own.get("c", (1.0,))))
    return record, EXIT_SOLVED if len(found.cells) == wanted else EXIT_INTERRUPTED


def _numbers(text: str, p: int) -> list[int] | None:
    """Return the numbers of features in ``1,2,5`` or ``1-10``, or both; None for ``all``; raises ParameterError."""
    if text == "all":
        return None
    found: list[int] = []
    for part in text.split(","):
        ends = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part.strip(), re.ASCII)
        first, last = (0, -1) if ends is None else (int(ends[1]), int(ends[2] or ends[1]))
        if first > last:
            raise ParameterError(f"--path is '{brief(text)}'", "give numbers of features, as 1,2,5 or 1-10, or all")
        if last > p:
            raise ParameterError(
                f"--path is '{brief(text)}', and the data have {counted(p, 'feature')}", "give smaller numbers"
            )
        found += range(first, last + 1)
    return found


def print_path(record: Mapping[str, Any]) -> None:
    """Print a path as a table."""
    heads = (">C", ">M", ">objective", ">lower bound", ">gap", ">nodes", "features")
    rows = []
    for row in record["rows"]:
        gap = "closed" if row["optimal"] else f"{row['gap']:.2%}"
        names = ", ".join(row["features"]) or "none"
        rows.append((f"{row['c']:g}", row["m"], row["objective"], row["bound"], gap, row["nodes"], names))
    show(table("", heads, rows))
