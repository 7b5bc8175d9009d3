"""The application: all verbs. Packages that load slowly are imported inside the verbs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from fsopt import __version__
from fsopt.cli import evidence, models, studying, tables
from fsopt.cli.options import with_layout
from fsopt.cli.output import EXIT_INTERRUPTED, emit, remark

GROUPS: Mapping[str, Mapping[Callable[..., Any], str]] = {
    "Tables": {
        tables.select: "fsopt select wdbc --report wdbc.html",
        tables.compare: "fsopt compare wdbc --methods gmeb,l1-svm",
        tables.fit: "fsopt fit best-subset wdbc --param m=3 -o fit.json",
        tables.predict: "fsopt predict fit.json new.csv",
        studying.study: "fsopt study study.toml --store results.sqlite",
    },
    "Models": {
        models.show: "fsopt show gmeb-dual --data wdbc",
        models.solve: "fsopt solve gmeb-dual --data wdbc --scale standard --param r_plus=3 --solver clarabel",
        models.export: "fsopt export fsv-step --data wdbc -o fsv.lp",
    },
    "Evidence": {
        evidence.check: "fsopt check fit.json --data wdbc",
        evidence.reproduce: "fsopt reproduce sla-table1",
    },
    "Catalogue": {
        models.models: "fsopt models",
        models.methods: "fsopt methods gbd",
        models.solvers: "fsopt solvers --json",
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
            names = [verb.__name__ for verb in verbs]
            with formatter.section(group):
                formatter.write_dl([(k, self.commands[k].get_short_help_str(formatter.width - 15)) for k in names])


def _version(wanted: bool) -> None:
    """Print the version and exit."""
    if wanted:
        emit(f"fsopt {__version__}\n")
        raise typer.Exit


app = typer.Typer(
    name="fsopt", cls=_Grouped, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False
)
for verbs in GROUPS.values():
    for verb, example in verbs.items():
        app.command(verb.__name__, epilog=f"Example:  {example}")(with_layout(verb))


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
