"""The application: all verbs. Packages that load slowly are imported inside the verbs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

import typer

from fsopt import __version__
from fsopt.cli import (
    analysing,
    catalogue,
    comparing,
    datasets,
    diagnosis,
    files,
    fitting,
    limits,
    paths,
    plotting,
    predicting,
    proving,
    reproducing,
    selecting,
    solving,
    studying,
)
from fsopt.cli.layouts import with_layout
from fsopt.cli.output import emit

app = typer.Typer(
    name="fsopt",
    help="Feature selection by optimization: models, solvers, methods, and certified answers.",
    no_args_is_help=True,
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
    fitting.fit,
    predicting.predict,
    plotting.plot,
    selecting.select,
    comparing.compare,
    reproducing.reproduce,
    paths.path,
    solving.check,
    files.certify,
    proving.evidence,
    limits.mpm_limits,
    diagnosis.doctor,
)
EXAMPLES: Mapping[str, str] = {
    "models": "fsopt models",
    "solvers": "fsopt solvers --json",
    "methods": "fsopt methods gbd",
    "show": "fsopt show gmeb-dual --data wdbc",
    "solve": "fsopt solve gmeb-dual --data wdbc --scale standard --param r_plus=3 --solver clarabel",
    "export": "fsopt export fsv-step --data wdbc -o fsv.lp",
    "explain": "fsopt explain svm --data wdbc --customise svm=rules.py:rule",
    "sensitivity": "fsopt sensitivity onsvm --data wdbc --scale standard",
    "fit": "fsopt fit best-subset --data wdbc --param m=3 -o fit.json",
    "predict": "fsopt predict fit.json --data new.csv",
    "plot": "fsopt plot fit.json --kind weights -o weights.png",
    "select": "fsopt select wdbc --report wdbc.html",
    "compare": "fsopt compare --data wdbc --methods gmeb,l1-svm",
    "check": "fsopt check fit.json --data wdbc",
    "certify": "fsopt certify plan.mps plan.sol --prove 60",
    "reproduce": "fsopt reproduce sla-table1",
    "evidence": "fsopt evidence fit.json --data wdbc -o proof.json",
    "path": "fsopt path --data wdbc",
    "mpm-limits": "fsopt mpm-limits --data wdbc",
    "doctor": "fsopt doctor",
}
"""Verb -> an example of its use, at the end of its help."""
for verb in VERBS:
    name = verb.__name__.replace("_", "-")
    app.command(name, epilog=f"Example:  {EXAMPLES[name]}")(with_layout(verb))
app.add_typer(datasets.app, name="data")
app.add_typer(studying.app, name="study")


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
