"""Verb ``path``: the best selection for every number of features and every C, with its lower bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.layouts import WHOLE, load
from fsopt.cli.output import (
    EXIT_INTERRUPTED,
    EXIT_SOLVED,
    dump_json,
    escape,
    print_json,
    progress_bar,
    show,
    table,
)
from fsopt.data.tables.layout import Layout


def path(
    data: options.Data,
    layout: Layout = WHOLE,
    c: Annotated[str, typer.Option("--c", help="penalty weights of the loss, as 1 or 0.1,1,10")] = "1",
    loss: Annotated[str, typer.Option("--loss", help="hinge, squared-hinge or logistic")] = "hinge",
    m: Annotated[str | None, typer.Option("--m", help="numbers of features, as 1,2,5 or 1-10; all by default")] = None,
    scale: Annotated[str, typer.Option("--scale", help="standard, center or none")] = "standard",
    tolerance: Annotated[float, typer.Option("--tolerance", help="relative optimality gap of each search")] = 1e-4,
    jobs: Annotated[int, typer.Option("--jobs", help="subtrees that are searched at a time")] = 1,
    time_limit: options.TimeLimit = None,
    output: options.Output = None,
    json: options.Json = False,
) -> int:
    """Print the best support vector machine with at most M features for every M and C, and a lower bound on each."""
    from fsopt.analysis.selection_paths import selection_path
    from fsopt.answers.records import plain
    from fsopt.common.files import write_text

    source, weights = load(data, layout), _weights(c)
    values = _numbers(m)
    with progress_bar("path") as update:

        def report(entry: Mapping[str, Any]) -> None:
            shown = f"objective {entry['objective']:.6g}, bound {entry['bound']:.6g}"
            update(entry["iteration"], f"path: C = {entry['c']:g}, m = {entry['m']}, {shown}")

        found = selection_path(
            source,
            c=weights,
            loss=loss,
            m=values,
            scale=scale,
            tolerance=tolerance,
            time_limit=time_limit,
            jobs=jobs,
            progress=report,
        )
    record = plain({"data": data, "n": source.n, "p": source.p, **found.heading})
    record["rows"] = plain(found.to_records())
    if output is not None:
        write_text(output, dump_json(record))
    if json:
        print_json(record)
    else:
        _print(record)
    wanted = source.p + 1 if values is None else len(set(values))
    return EXIT_SOLVED if len(found.m) == wanted * len(set(weights)) else EXIT_INTERRUPTED


def _weights(text: str) -> list[float]:
    """Return the penalty weights in ``0.1,1,10``; raises ParameterError."""
    from fsopt.errors import ParameterError

    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise ParameterError(f"--c is {text!r}", "give penalty weights, as 1 or 0.1,1,10") from error


def _numbers(text: str | None) -> list[int] | None:
    """Return the numbers of features in ``1,2,5`` or ``1-10``, or both; raises ParameterError."""
    from fsopt.errors import ParameterError

    if text is None:
        return None
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise ParameterError(f"--m is {text!r}", "give numbers of features, as 1,2,5 or 1-10")
        found += range(int(first), int(last if dash else first) + 1)
    return found


def _print(record: dict[str, Any]) -> None:
    numbers = [(name, "right") for name in ("C", "M", "objective", "lower bound", "gap", "nodes")]
    shown = table("", [*numbers, ("features", "left")])
    for row in record["rows"]:
        gap = "closed" if row["optimal"] else f"{row['gap']:.2%}"
        cells = (f"{row['c']:g}", f"{row['m']}", f"{row['objective']:.6g}", f"{row['bound']:.6g}")
        shown.add_row(*cells, gap, f"{row['nodes']}", escape(", ".join(row["features"]) or "none"))
    show(shown)
