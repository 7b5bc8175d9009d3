"""Verb ``show``: a model with its program and its size, or a saved answer."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.fitting import print_fit
from fsopt.cli.layouts import load
from fsopt.cli.output import pairs, print_json, remark, table
from fsopt.cli.output import show as put
from fsopt.cli.solving import print_solve

if TYPE_CHECKING:
    pass


def show(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            help="a slug of 'fsopt models', or an answer saved with -o, .json",
            metavar="MODEL|FILE.json",
            autocompletion=options.models,
        ),
    ],
    data: options.OptionalData = None,
    param: options.Params = None,
    latex: Annotated[bool, typer.Option("--latex", help="print the program alone, as LaTeX")] = False,
    json: options.Json = False,
) -> None:
    """Show a model and its size on a data set, or a saved answer."""
    if name.endswith(".json"):
        options.only(context, "of a saved answer", ("name", "json"))
        _show_answer(Path(name), json)
    else:
        _show_model(name, data, options.parse_params(param), latex, json)


def _show_answer(path: Path, json: bool) -> None:
    """Print a saved answer as it was printed."""
    from fsopt.answers.saved import fit_from, read_record

    record = read_record(path)
    if json:
        print_json(record)
    elif "method" in record:
        print_fit(fit_from(record, path), record)
    else:
        print_solve(record)


def _show_model(model: str, data: str | None, params: dict[str, Any], latex: bool, json: bool) -> None:
    """Show a model, without data on those of its trial."""
    from fsopt.compiler import compile_model
    from fsopt.compiler.classes import program_class
    from fsopt.models.display import components, displayed_program
    from fsopt.models.draws import trial_data
    from fsopt.models.registry import MODELS, build

    entry = MODELS[model]
    program = displayed_program(inspect.getdoc(entry.builder) or "")
    if latex and not json:
        put("\\begin{aligned}\n" + program + "\n\\end{aligned}")
        return
    if data:
        source = load(data)
    else:
        source, params = trial_data(model), {**entry.trial.params, **params}
        remark(f"sizes are those of {source.n} samples and {source.p} features; give --data for yours")
    built = build(model, source, **params)
    compiled = compile_model(built)
    heads = ("component", "kind", "size", "equation")
    record = {
        "model": model,
        "class": program_class(compiled),
        "paper": entry.paper,
        "equation": entry.equation,
        "latex": program,
        "size": {
            "variables": compiled.n,
            "integer": int(compiled.integer.sum()),
            "rows": compiled.A.shape[0],
            "nonzeros": compiled.A.nnz,
            "cones": len(compiled.cones),
        },
        "components": [dict(zip(heads, c, strict=True)) for c in components(built)],
    }
    print_json(record) if json else _print_model(record, entry.summary)


def _print_model(record: dict[str, Any], summary: str) -> None:
    from fsopt.models.papers import PAPERS

    authors = PAPERS[record["paper"]].authors if record["paper"] else ""
    source = ", ".join(text for text in (authors, record["equation"]) if text)
    head = [("model", record["model"]), ("summary", summary), ("class", record["class"]), ("source", source or None)]
    names = {"rows": "linear constraints"}
    sizes = [(names.get(name, name), size) for name, size in record["size"].items()]
    rows = [[component[k] for k in ("component", "kind", "size", "equation")] for component in record["components"]]
    listing = table("components", ("component", "kind", ">size", "meaning"), rows)
    put(pairs([*head, *sizes]), "\n" + record["latex"] + "\n", listing)
