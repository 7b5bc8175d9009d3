"""Verb ``data``: a data set is shown, written, fetched or drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.layouts import OPTIONS, WHOLE, load
from fsopt.cli.output import pairs, print_json, show, written
from fsopt.common.texts import counted
from fsopt.data.tables.layout import Layout
from fsopt.errors import ParameterError


def data(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help=options.DATA_HELP)],
    layout: Layout = WHOLE,
    output: Annotated[
        Path | None,
        options.file("write it, .csv or .npz: numbers, labels -1 and 1"),
    ] = None,
    fetch: Annotated[
        bool, typer.Option("--fetch", help="download it from openml.org into the folder FSOPT_DATA")
    ] = False,
    draw: Annotated[
        bool,
        typer.Option("--draw", help="draw gmeb-type1, gmeb-type2, mpm, gbd-one or gbd-two (three files) into -o"),
    ] = False,
    param: options.Params = None,
    json: options.Json = False,
) -> None:
    """Show a data set, or write it; fetch one, or draw one."""
    if fetch:
        options.only(context, "with --fetch", ("name", "fetch", "json"))
        from fsopt.data import fetch_dataset

        written([fetch_dataset(name)], {"data": name}, as_json=json)
    elif draw:
        options.only(context, "with --draw", ("name", "draw", "param", "output", "json"))
        written(_drawn(name, options.parse_params(param), output), {"data": name}, as_json=json)
    else:
        options.only(context, "without --draw", ("name", "output", "json", *(option.name for option in OPTIONS)))
        _show(name, layout, output, json)


def _drawn(name: str, params: dict[str, Any], output: Path | None) -> list[Path]:
    """Draw and write a synthetic data set; return its files."""
    from fsopt.data.synthetic.files import draw, write

    if output is None:
        raise ParameterError("--draw needs a file", "give -o FILE, .csv or .npz")
    drawn = draw(name, params)
    stem = output.with_suffix("")
    places = {part: output if part == "" else stem.with_name(f"{stem.name}-{part}{output.suffix}") for part in drawn}
    for part, found in drawn.items():
        write(found, places[part])
    return list(places.values())


def _show(name: str, layout: Layout, output: Path | None, json: bool) -> None:
    """Print the size of a data set, its classes and its constant features, or write it."""
    from fsopt.data.synthetic.files import write

    found = load(name, layout)
    if output is not None:
        write(found, output)
        written([output], {"data": found.name}, as_json=json)
        return
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
    for sign, label, members in (("+1", found.labels[1], found.positive), ("-1", found.labels[0], found.negative)):
        lines.append((f"{sign} ('{label}')", f"{counted(len(members), 'sample')}"))
    lines.append(("constant features", ", ".join(found.constant) or "none"))
    show(pairs(lines))
