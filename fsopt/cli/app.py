"""The application: all verbs. Packages that load slowly are imported inside the verbs."""

from __future__ import annotations

import typer

from fsopt.cli import catalogue, comparing, datasets, fitting, limits, paths, solving

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
    fitting.fit,
    fitting.predict,
    comparing.compare,
    paths.path,
    solving.check,
    limits.mpm_limits,
)
for verb in VERBS:
    app.command()(verb)
app.add_typer(datasets.app, name="data")


@app.callback()
def _top() -> None:
    """Feature selection by optimization: models, solvers, methods, and certified answers."""
