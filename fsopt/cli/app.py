"""The application: all verbs. Packages that load slowly are imported inside the verbs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from fsopt import __version__
from fsopt.cli import (
    catalogue,
    checking,
    comparing,
    fitting,
    predicting,
    reproducing,
    selecting,
    showing,
    solving,
    studying,
)
from fsopt.cli.layouts import with_layout
from fsopt.cli.output import EXIT_INTERRUPTED, emit, remark

GROUPS: Mapping[str, Mapping[Callable[..., Any], str]] = {
    "Tables": {
        selecting.select: "fsopt select wdbc --report wdbc.html",
        comparing.compare: "fsopt compare wdbc --methods gmeb,l1-svm",
        fitting.fit: "fsopt fit best-subset wdbc --param m=3 -o fit.json",
        predicting.predict: "fsopt predict fit.json new.csv",
        studying.study: "fsopt study study.toml --store results.sqlite",
    },
    "Models": {
        showing.show: "fsopt show gmeb-dual --data wdbc",
        solving.solve: "fsopt solve gmeb-dual --data wdbc --scale standard --param r_plus=3 --solver clarabel",
        solving.export: "fsopt export fsv-step --data wdbc -o fsv.lp",
    },
    "Evidence": {
        checking.check: "fsopt check fit.json --data wdbc",
        reproducing.reproduce: "fsopt reproduce sla-table1",
    },
    "Catalogue": {
        catalogue.models: "fsopt models",
        catalogue.methods: "fsopt methods gbd",
        catalogue.solvers: "fsopt solvers --json",
    },
}
"""Group of the help -> its verbs, each with an example of its use, at the end of its help."""


class _Grouped(typer.core.TyperGroup):
    """A command whose help lists its verbs by group."""

    def invoke(self, ctx: Any) -> Any:
        """Run a verb and return its exit code; one without an answer of its own after Ctrl-C says so."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            remark("interrupted")
            return EXIT_INTERRUPTED

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the name and the first line of each verb, group by group."""
        for group, verbs in GROUPS.items():
            rows = [
                (verb.__name__, self.commands[verb.__name__].get_short_help_str(formatter.width - 15)) for verb in verbs
            ]
            with formatter.section(group):
                formatter.write_dl(rows)


app = typer.Typer(
    name="fsopt",
    cls=_Grouped,
    help="Feature selection by optimization: models, solvers, methods, and certified answers.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for verbs in GROUPS.values():
    for verb, example in verbs.items():
        app.command(verb.__name__, epilog=f"Example:  {example}")(with_layout(verb))


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


@cache
def command() -> Any:
    """Return the application as a command; typer takes longer to make it than a small verb to do its work."""
    return typer.main.get_command(app)
