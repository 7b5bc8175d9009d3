"""Verbs ``data fetch`` and ``data show``: data sets."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.layouts import WHOLE, load, with_layout
from fsopt.cli.output import pairs, print_json, show
from fsopt.data.layout import Layout

app = typer.Typer(help="Data sets: fetch one from OpenML, or look at one.", no_args_is_help=True, rich_markup_mode=None)


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="name on openml.org")],
    json: options.Json = False,
) -> None:
    """Download a data set from OpenML into the folder FSOPT_DATA."""
    from fsopt.data import fetch_dataset

    path = str(fetch_dataset(name))
    if json:
        print_json({"data": name, "file": path})
    else:
        show(f"wrote {path}")


@app.command("show")
@with_layout
def show_data(
    data: Annotated[str, typer.Argument(help="wdbc, a file, or a name in FSOPT_DATA")],
    layout: Layout = WHOLE,
    json: options.Json = False,
) -> None:
    """Print the size of a data set, its classes and its constant features."""
    found = load(data, layout)
    record = {
        "data": found.name,
        "n": found.n,
        "p": found.p,
        "classes": {found.labels[1]: len(found.positive), found.labels[0]: len(found.negative)},
        "positive": found.labels[1],
        "constant": list(found.constant),
        "features": list(found.features),
    }
    if json:
        print_json(record)
        return
    lines: list[tuple[str, Any]] = [("data", found.name), ("samples", found.n), ("features", found.p)]
    for sign, name, members in (("+1", found.labels[1], found.positive), ("-1", found.labels[0], found.negative)):
        lines.append((f"{sign} ('{name}')", f"{len(members)} samples"))
    lines.append(("constant features", ", ".join(found.constant) or "none"))
    show(pairs(lines))
