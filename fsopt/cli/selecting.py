"""Verb ``select``: how many features, which, how good, and how sure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.layouts import OPTIONS, WHOLE, layout_record, load
from fsopt.cli.output import (
    EXIT_NOT_SOLVED,
    EXIT_SOLVED,
    deliver,
    print_json,
    progress_bar,
    remark,
    show,
    table,
)
from fsopt.cli.paths import print_path, selection_path
from fsopt.cli.proving import Exact
from fsopt.common.texts import one_line
from fsopt.data.tables.layout import Layout

if TYPE_CHECKING:
    from fsopt.analysis.selection_answers import Selection
    from fsopt.data import Dataset


def _page(path: Path | None) -> Path | None:
    """Refuse a page of another kind, or one that cannot be written, before any work is done."""
    from fsopt.studies.selection_report import check_page

    return None if path is None else check_page(path)


def select(
    context: typer.Context,
    data: Annotated[str, typer.Argument(help=options.DATA_HELP)],
    layout: Layout = WHOLE,
    features: Annotated[int | None, typer.Option("--features", help="number of features, instead of a choice")] = None,
    rule: Annotated[str, typer.Option("--rule", help="one-se: the fewest within one standard error; min")] = "one-se",
    score: Annotated[str, typer.Option("--score", help="accuracy, mcc, balanced_accuracy, recall or auc")] = "accuracy",
    c: Annotated[
        list[float] | None, typer.Option("--c", help="penalty weight of the hinge loss; repeat to choose among several")
    ] = None,
    folds: Annotated[int, typer.Option("--folds", help="of the stratified cross-validation")] = 5,
    seed: Annotated[int, typer.Option("--seed", help="of folds, halves and permuted columns")] = 0,
    exact: Exact = False,
    path: Annotated[
        str | None,
        typer.Option("--path", help="numbers of features, 1-10 or all: the best selection of each, and a lower bound"),
    ] = None,
    loss: Annotated[str, typer.Option("--loss", help="of --path: hinge, squared-hinge or logistic")] = "hinge",
    tolerance: Annotated[float, typer.Option("--tolerance", help="of --path: relative gap of each search")] = 1e-4,
    time_limit: Annotated[
        float, typer.Option("--time-limit", help="seconds for the proof of the selection; of all for --path")
    ] = 30.0,
    jobs: options.Jobs = -1,
    checkpoint: options.Checkpoint = None,
    resume: options.Resume = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="write a page: .html, .md, or .tex for the table alone", callback=_page),
    ] = None,
    output: Annotated[
        Path | None,
        options.file("save the fit for check and predict, or the path"),
    ] = None,
    json: options.Json = False,
) -> int:
    """Tell how many features, which, how good, and how sure.

    The number is chosen by cross-validation, the selection is proved best of its size, and features that are no better
    than noise are named.
    """
    from fsopt.answers.fits import fit_record
    from fsopt.answers.records import plain, sealed
    from fsopt.studies.selection_report import write_selection

    if path is not None:
        return _path(context, data, layout, path, output, json)
    options.only(context, "without --path", context.params.keys() - {"loss", "tolerance"})
    source = load(data, layout)
    own: dict[str, Any] = {
        "features": features,
        "rule": rule,
        "score": score,
        "folds": folds,
        "seed": seed,
        "exact": exact,
    }
    own |= {"time_limit": time_limit, "jobs": jobs, "resume": resume} | ({"c": c} if c else {})
    found = _answer(source, checkpoint, own)
    if report is not None:
        write_selection(found, report)
        remark(f"wrote {report}")
    saved = sealed(fit_record(found.fit, data=source, source=data) | layout_record(layout))
    answer = plain({**found.heading, "data": data, "rows": found.to_records()})
    deliver(saved, output, as_json=False, present=lambda: print_json(answer) if json else _print(found))
    return EXIT_SOLVED if found.status.solved else EXIT_NOT_SOLVED


def _path(context: typer.Context, data: str, layout: Layout, path: str, output: Path | None, json: bool) -> int:
    """Compute, save and print the path of a data set."""
    named = ("c", "loss", "tolerance", "time_limit", "jobs")
    of_data = (option.name for option in OPTIONS)
    given = options.only(context, "with --path", ("data", "path", "output", "json", *named, *of_data))
    record, code = selection_path(load(data, layout), path, {k: given[k] for k in named if k in given})
    record["data"] = data
    deliver(record, output, as_json=json, present=lambda: print_path(record))
    return code


def _answer(source: Dataset, checkpoint: Path | None, own: Mapping[str, Any]) -> Selection:
    """Ask the question with its progress on the terminal; Ctrl-C says how to go on."""
    from fsopt.analysis.selecting import select as run

    with progress_bar("select", total=1) as update:

        def told(state: Mapping[str, Any]) -> None:
            if state["stop"] == "interrupted":
                remark("Ctrl-C ended the list of other selections, which is not complete; Ctrl-C again ends it all")
            left = "" if state["seconds_left"] is None else f", about {state['seconds_left']:.0f} s left"
            update(state["share"], f"select: {state['share']:.0%}{left}")

        try:
            return run(source, checkpoint=checkpoint, progress=told, **own)
        except KeyboardInterrupt:
            if checkpoint is not None:
                remark(f"finished steps are in {checkpoint}: the same command with --resume {checkpoint} goes on")
            raise


def _print(found: Selection) -> None:
    """Print the answer in words, the warnings, and the selected features."""
    from fsopt.analysis.selection_answers import in_words

    show(*map(one_line, found.sentences))
    for text in found.warnings:
        remark(f"warning: {text}")
    heads = ("feature", ">weight", ">standardised", ">halves", ">p", "can be replaced by")
    rows = []
    for row in found.to_records():
        sizes = (f"{row['weight']:.3g}", f"{row['standardised']:.3g}", f"{row['share']:.0%}", f"{row['p_value']:.2f}")
        rows.append((row["feature"], *sizes, in_words(row["substitutes"]) or "-"))
    show(table("", heads, rows))
