"""Verb ``select``: how many features, which, how good, and how sure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.layouts import WHOLE, layout_record, load
from fsopt.cli.output import (
    EXIT_NOT_SOLVED,
    EXIT_SOLVED,
    deliver,
    escape,
    print_json,
    progress_bar,
    remark,
    show,
    table,
)
from fsopt.cli.proving import Exact
from fsopt.common.texts import one_line
from fsopt.data.tables.layout import Layout

if TYPE_CHECKING:
    from fsopt.analysis.selection_answers import Selection


def _page(path: Path | None) -> Path | None:
    """Refuse a page of another kind, or one that cannot be written, before any work is done."""
    from fsopt.studies.selection_report import check_page

    return None if path is None else check_page(path)


def select(
    data: Annotated[str, typer.Argument(help=options.DATA_HELP)],
    layout: Layout = WHOLE,
    features: Annotated[int | None, typer.Option("--features", help="number of features, instead of a choice")] = None,
    rule: Annotated[
        str, typer.Option("--rule", help="log-loss: the fewest that lose a tenth of its gain; shortest: fewer, by AUC")
    ] = "log-loss",
    folds: Annotated[int, typer.Option("--folds", help="of the stratified cross-validation")] = 5,
    seed: Annotated[int, typer.Option("--seed", help="of folds, halves and permuted labels")] = 0,
    exact: Exact = False,
    time_limit: Annotated[float, typer.Option("--time-limit", help="seconds for the proof of the selection")] = 30.0,
    jobs: Annotated[int, typer.Option("--jobs", help="processes; -1 takes all processors")] = 1,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="write a page: .html, .md, or .tex for the table alone", callback=_page),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="save the fit, for check and predict --proba", callback=options.writable),
    ] = None,
    json: options.Json = False,
) -> int:
    """Tell how many features, which, how good their classifier is, and how sure that is.

    The number is chosen by cross-validation, the selection is proved best of its size, and an answer that is no better
    than noise is no feature.
    """
    from fsopt.analysis.selecting import select as run
    from fsopt.answers.fits import fit_record
    from fsopt.answers.records import plain, sealed
    from fsopt.studies.selection_report import write_selection

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


def _print(found: Selection) -> None:
    """Print the answer in words, the warnings, and the selected features."""
    show(*map(one_line, found.sentences))
    for text in found.warnings:
        remark(f"warning: {text}")
    if not found.fit.features:
        return
    heads = ("weight", "per deviation", "odds ratio", "halves", "p")
    listing = table("", [("feature", "left"), *((head, "right") for head in heads)])
    for row in found.to_records():
        sizes = [f"{row[name]:.3g}" for name in ("weight", "standardised", "odds_ratio")]
        listing.add_row(escape(row["feature"]), *sizes, f"{row['share']:.0%}", f"{row['p_value']:.2f}")
    show(listing)
