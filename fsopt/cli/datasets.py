"""Verbs ``data fetch``, ``data make``, ``data write`` and ``data show``: data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.layouts import WHOLE, load, with_layout
from fsopt.cli.output import pairs, print_json, show
from fsopt.data.tables.layout import Layout

app = typer.Typer(
    help="Data sets: fetch one from OpenML, draw one of the papers', or look at one.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


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


@app.command()
def make(
    name: Annotated[str, typer.Argument(help="gmeb-type1, gmeb-type2, mpm, gbd-one or gbd-two")],
    output: Annotated[Path, typer.Option("-o", "--output", help=".csv or .npz", callback=options.writable)],
    param: options.Params = None,
    json: options.Json = False,
) -> None:
    """Draw one of the papers' synthetic data sets and write it to a file; gbd-one and gbd-two write three."""
    from fsopt.data.synthetic.files import draw, write

    drawn = draw(name, options.parse_params(param))
    stem = output.with_suffix("")
    places = {part: output if part == "" else stem.with_name(f"{stem.name}-{part}{output.suffix}") for part in drawn}
    for part, data in drawn.items():
        write(data, places[part])
    record = {"data": name, "files": [str(place) for place in places.values()]}
    if json:
        print_json(record)
    else:
        show(f"wrote {', '.join(record['files'])}")


@app.command("write")
@with_layout
def write_data(
    data: Annotated[str, typer.Argument(help="wdbc, a file, or a name in FSOPT_DATA")],
    output: Annotated[Path, typer.Option("-o", "--output", help=".csv or .npz", callback=options.writable)],
    layout: Layout = WHOLE,
    json: options.Json = False,
) -> None:
    """Write a data set as it is read, numbers and the labels -1 and 1."""
    from fsopt.data.synthetic.files import write

    found = load(data, layout)
    write(found, output)
    if json:
        print_json({"data": found.name, "file": str(output)})
    else:
        show(f"wrote {output}")


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
