"""Verbs ``explain`` and ``sensitivity``: questions about models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fsopt.cli import options
from fsopt.cli.layouts import WHOLE, load
from fsopt.cli.output import EXIT_NOT_SOLVED, EXIT_SOLVED, escape, pairs, print_json, show, table
from fsopt.cli.solving import Scale, built
from fsopt.common.customising import complete, customised
from fsopt.data.tables.layout import Layout

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from fsopt.analysis.sensitivity import Range, Sensitivity


def explain(
    model: options.Model,
    data: options.Data,
    layout: Layout = WHOLE,
    param: options.Params = None,
    scale: Scale = "none",
    time_limit: options.TimeLimit = 60.0,
    customise: options.Customise = None,
    json: options.Json = False,
) -> int:
    """Explain why a model is infeasible: constraints and bounds that contradict each other, by equation.

    Exit code 0: it is feasible or explained; 1: not settled in time.
    """
    from dataclasses import asdict

    from fsopt.analysis.infeasibility import explain_infeasibility as run
    from fsopt.answers.records import plain

    found = run(_model(model, data, layout, param, scale, customise), time_limit=time_limit or 60.0)
    if json:
        print_json({"model": model, "data": data, **plain(asdict(found))})
    else:
        show(found.summary())
    return EXIT_NOT_SOLVED if found.status == "unknown" else EXIT_SOLVED


def sensitivity(
    model: options.Model,
    data: options.Data,
    layout: Layout = WHOLE,
    param: options.Params = None,
    scale: Scale = "none",
    solver: options.Solver = None,
    count: Annotated[int, typer.Option("--count", min=1, help="constraints to list, by the size of their price")] = 10,
    customise: options.Customise = None,
    json: options.Json = False,
) -> int:
    """Solve a model and list its largest shadow prices, with their ranges for a linear program."""
    from dataclasses import asdict

    from fsopt.analysis.sensitivity import sensitivity as run
    from fsopt.answers.records import plain

    found = run(_model(model, data, layout, param, scale, customise), solver)
    if json:
        lines = {k: [asdict(line) for line in getattr(found, k)] for k in ("constraints", "variables")}
        head = {"model": model, "data": data, "objective": found.result.objective, "solver": found.result.solver}
        print_json(plain({**head, **lines}))
    else:
        _print(found, count)
    return EXIT_SOLVED


def _print(found: Sensitivity, count: int) -> None:
    show(pairs([("objective", found.result.objective), ("solver", found.result.solver)]))
    heads = [("constraint", "left"), ("value", "right"), ("price", "right"), ("right-hand side", "right")]
    listing = table("largest shadow prices", heads)
    for line in found.largest(count):
        listing.add_row(escape(line.name), f"{line.value:.6g}", f"{line.price:.6g}", _range(line.range))
    show(listing)
    listing = table(
        "variables", [("variable", "left"), ("value", "right"), ("reduced cost", "right"), ("cost", "right")]
    )
    for line in sorted(found.variables, key=lambda v: -abs(v.value))[:count]:
        listing.add_row(escape(line.name), f"{line.value:.6g}", f"{line.price:.6g}", _range(line.range))
    show(listing)


def _range(found: Range) -> str:
    from fsopt.analysis.sensitivity import unlimited

    if found is None:
        return "-"
    low, high = ("" if unlimited(end) else f"{end:.5g}" for end in found)
    return f"{low} .. {high}"


def _model(
    model: str,
    data: str,
    layout: Layout,
    param: list[str] | None,
    scale: str,
    customise: list[str] | None,
) -> pyo.ConcreteModel:
    """Return a model on preprocessed data, with the user's changes."""
    found, _, _ = built(model, load(data, layout), options.parse_params(param), scale)
    with customised(options.read_changes(customise, (model,)) or {}):
        complete(found)
    return found
