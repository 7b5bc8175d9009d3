"""Verb ``plot``: a picture of a saved fit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fsopt.cli import options
from fsopt.cli.layouts import WHOLE, load
from fsopt.cli.output import EXIT_SOLVED, print_json, show
from fsopt.data.tables.layout import Layout
from fsopt.errors import ParameterError

FORMATS = (".png", ".pdf", ".svg")


def plot(
    saved: Annotated[Path, typer.Argument(help="a fit saved with -o", metavar="FIT.json")],
    kind: Annotated[
        str | None, typer.Option("--kind", help="weights, convergence or scores; else what the fit has")
    ] = None,
    data: options.OptionalData = None,
    layout: Layout = WHOLE,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help=f"a file ending in {', '.join(FORMATS)}", callback=options.writable),
    ] = None,
    json: options.Json = False,
) -> int:
    """Draw a saved fit: its weights, the course of its loop, or the scores of a data set by class."""
    from fsopt.answers.saved import fit_from, read_fit
    from fsopt.common.files import check_writable, whole_file

    target = check_writable(saved.with_suffix(".png")) if output is None else output
    if target.suffix.lower() not in FORMATS:
        raise ParameterError(f"'{target.name}' is no name of a picture", f"let it end in {', '.join(FORMATS)}")
    record = read_fit(saved)
    fitted = fit_from(record, saved)
    source = None if data is None else load(data, Layout.saved(record) if layout == WHOLE else layout)
    figure = fitted.plot("scores" if kind is None and source is not None else kind, source)
    with whole_file(target) as temporary:
        figure.savefig(temporary, format=target.suffix.lower()[1:], dpi=150)
    if json:
        print_json({"fit": str(saved), "file": str(target)})
    else:
        show(f"wrote {target}")
    return EXIT_SOLVED
