"""Verb ``compare``: all methods side by side on one data set."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.output import (
    EXIT_INTERRUPTED,
    EXIT_NOT_SOLVED,
    EXIT_SOLVED,
    deliver,
    escape,
    narrow,
    open_gap,
    progress_bar,
    remark,
    show,
    table,
)
from fsopt.cli.proving import Exact
from fsopt.errors import ParameterError

if TYPE_CHECKING:
    from fsopt.studies.comparison import Done, Row

MOST_JOBS = 1024
COLUMNS = (
    ("method", "left"),
    ("paper", "left"),
    ("features", "right"),
    ("CV accuracy", "right"),
    ("CV MCC", "right"),
    ("objective", "right"),
    ("status", "left"),
    ("certificate", "left"),
    ("solver", "left"),
    ("seconds", "right"),
)
"""Heading and justification of each column of the table."""
NARROW_WITHOUT = ("paper", "CV MCC", "solver", "seconds")
"""Columns that narrow output leaves out."""
HARD, STARTING = 2.0, 30.0
"""A fit is killed after this multiple of the time limit and these seconds, in which its process starts."""


def compare(
    data: options.Data,
    label: options.Label = "label",
    missing: options.Missing = None,
    methods: Annotated[str | None, typer.Option("--methods", help="names separated by commas; all by default")] = None,
    folds: Annotated[int, typer.Option("--folds", help="of the stratified cross-validation")] = 5,
    seed: Annotated[int, typer.Option("--seed", help="of the split into folds")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", help="processes; -1 takes all processors")] = -1,
    time_limit: Annotated[float, typer.Option("--time-limit", help="seconds for each fit")] = 30.0,
    exact: Exact = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="also the names of the features")] = False,
    customise: options.Customise = None,
    output: options.Output = None,
    json: options.Json = False,
) -> int:
    """Run all methods at their default parameters with cross-validation and print one table."""
    from fsopt.saved import plain
    from fsopt.studies.comparison import compare as run

    names = _checked(methods, jobs, time_limit)
    changes = options.read_changes(customise, ())
    source = options.load(data, label, missing)
    rows: list[Row] = []
    interrupted = False
    with progress_bar("compare", total=1) as update:

        def report(finished: int, count: int, last: Done) -> None:
            update(finished / count, f"compare: {finished} of {count} fits, last {last.task.method}")

        try:
            compared = run(
                source,
                names,
                folds=folds,
                seed=seed,
                jobs=jobs,
                time_limit=time_limit,
                hard_limit=HARD * time_limit + STARTING,
                customise=changes,
                exact=exact,
                progress=report,
            )
            rows.extend(compared)
        except KeyboardInterrupt:
            interrupted = True
    listed = [asdict(row) for row in rows]
    record = plain({"data": data, "n": source.n, "p": source.p, "folds": folds, "seed": seed, "rows": listed})
    deliver(record, output, as_json=json, present=lambda: _print(record, verbose))
    if interrupted:
        remark(f"interrupted: {len(rows)} methods were finished")
        return EXIT_INTERRUPTED
    return EXIT_SOLVED if all(row.status != "none" for row in rows) else EXIT_NOT_SOLVED


def _checked(methods: str | None, jobs: int, time_limit: float) -> list[str] | None:
    """Return the names in ``--methods``, None for all; refuse wrong values of the options."""
    if not time_limit > 0:
        raise ParameterError(f"the time limit must be positive, not {time_limit}", "give seconds > 0")
    if jobs == 0 or jobs < -1 or jobs > MOST_JOBS:
        raise ParameterError(f"--jobs is {jobs}", f"give 1 to {MOST_JOBS} processes, or -1 for all processors")
    names = None if methods is None else [name.strip() for name in methods.split(",") if name.strip()]
    if names is not None and (not names or len(set(names)) < len(names)):
        raise ParameterError("--methods is empty or names a method twice", "for example --methods gmeb,fsv")
    return names


def _print(record: dict[str, Any], verbose: bool) -> None:
    title = (
        f"{record['data']}: {record['n']} samples, {record['p']} features, "
        f"{record['folds']}-fold cross-validation, seed {record['seed']}"
    )
    left_out = NARROW_WITHOUT if narrow() else ()
    listing = table(title, [column for column in COLUMNS if column[0] not in left_out])
    for row in record["rows"]:
        cells = zip(COLUMNS, _cells(row), strict=True)
        listing.add_row(*(escape(cell) for (name, _), cell in cells if name not in left_out))
    if left_out:
        listing.caption = f"wider output, or --json, also has: {', '.join(left_out)}"
        listing.caption_justify = "left"
    show(listing)
    for row in record["rows"]:
        if row["exact"]:
            show(f"{row['method']}: {row['exact']}")
    for row in record["rows"]:
        if verbose and row["features"]:
            show(f"{row['method']}: {', '.join(row['features'])}")
        for text in (*row["warnings"], row["error"], _early(row)):
            if text:
                remark(f"{row['method']}: {text}")


def _cells(row: dict[str, Any]) -> tuple[Any, ...]:
    """Return the cells of a row, in the order of :data:`COLUMNS`."""
    return (
        row["method"],
        row["paper"],
        row["n_features"],
        _share(row["cv_accuracy"]),
        _share(row["cv_mcc"]),
        row["objective"],
        f"{row['status']} ({row['stop']})" if row["ended_early"] and row["stop"] == "time-limit" else row["status"],
        _certificate(row),
        row["solver"] or None,
        f"{row['seconds']:.2f}",
    )


def _early(row: dict[str, Any]) -> str:
    """Return the remark on fits that the time limit ended, which no mean may contain."""
    if not row["ended_early"]:
        return ""
    return f"the time limit ended {row['ended_early']} of its fits before they were done: give more seconds"


def _share(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"


def _certificate(row: dict[str, Any]) -> str | None:
    """Return the largest residual, or the optimality gap where both bounds hold and do not meet."""
    certificate = row["certificate"]
    if certificate is None:
        return None
    worst = certificate["worst"]
    size = f"{worst:.1e}" if isinstance(worst, float) else str(worst)
    if certificate["ok"]:
        return f"{size} {certificate['kind']}"
    return f"gap {size}" if open_gap(certificate) else f"{size} fails"
