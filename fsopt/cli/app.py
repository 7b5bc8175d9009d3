"""The application: all verbs. Packages that load slowly are imported inside the verbs."""

from __future__ import annotations

from typing import Annotated

import typer

from fsopt import __version__
from fsopt.cli import analysing, catalogue, comparing, datasets, fitting, limits, solving
from fsopt.cli.output import emit

app = typer.Typer(
    name="fsopt",
    help="Feature selection by optimization: models, solvers, methods, and certified answers.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
VERBS = (
    catalogue.models,
    catalogue.solvers,
    catalogue.methods,
    catalogue.show,
    solving.solve,
    solving.export,
    analysing.explain,
    analysing.sensitivity,
    analysing.diff,
    fitting.fit,
    fitting.predict,
    comparing.compare,
    solving.check,
    limits.mpm_limits,
)
for verb in VERBS:
    app.command()(verb)
app.add_typer(datasets.app, name="data")


def _version(wanted: bool) -> None:
    """Print the version and exit."""
    if wanted:
        emit(f"fsopt {__version__}\n")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", help="print the version and exit", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """Feature selection by optimization: models, solvers, methods, and certified answers."""
