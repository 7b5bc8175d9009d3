"""Verb ``show``: a model with its program and its size, or a saved answer and its picture."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.fitting import print_fit
from fsopt.cli.layouts import OPTIONS, WHOLE, load
from fsopt.cli.limits import print_limits
from fsopt.cli.output import pairs, print_json, remark, table, written
from fsopt.cli.output import show as put
from fsopt.cli.solving import print_solve
from fsopt.data.tables.layout import Layout
from fsopt.errors import ParameterError

PICTURES = (".png", ".pdf", ".svg")
OF_DATA = ("name", "data", "json", *(option.name for option in OPTIONS))
"""Options that are for models and for saved answers."""


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
    layout: Layout = WHOLE,
    param: options.Params = None,
    latex: Annotated[bool, typer.Option("--latex", help="print the program alone, as LaTeX")] = False,
    limits: Annotated[
        int | None,
        typer.Option(
            "--limits",
            min=0,
            help="of l1-mpm and l0-mpm: the largest feasible delta, of all samples and of each training fold of N",
            metavar="N",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="of the folds of --limits")] = 0,
    plot: Annotated[
        Path | None,
        options.file(f"draw a saved fit: a file {', '.join(PICTURES)}", "--plot", kinds=PICTURES),
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", help="of --plot: weights, convergence or scores; else what the fit has")
    ] = None,
    json: options.Json = False,
) -> None:
    """Show a model and its size on a data set, or a saved answer."""
    if name.endswith(".json"):
        options.only(context, "of a saved answer", (*OF_DATA, "plot", "kind"))
        _show_answer(Path(name), data, layout, plot, kind, json)
    elif limits is not None:
        options.only(context, "with --limits", (*OF_DATA, "limits", "seed"))
        print_limits(name, data, layout, limits, seed, json)
    else:
        options.only(context, "of a model", (*OF_DATA, "param", "latex"))
        _show_model(name, data, layout, options.parse_params(param), latex, json)


def _show_answer(path: Path, data: str | None, layout: Layout, plot: Path | None, kind: str | None, json: bool) -> None:
    """Print a saved answer as it was printed, or draw a fit: its weights, its loop, or the scores of a data set."""
    from fsopt.answers.saved import fit_from, read_fit, read_record
    from fsopt.common.files import whole_file

    if plot is None:
        if data is not None or kind is not None:
            raise ParameterError("--data and --kind of a saved answer are for --plot", "add --plot FILE")
        record = read_record(path)
        print_json(record) if json else print_fit(record) if "method" in record else print_solve(record)
        return
    record = read_fit(path)
    fitted = fit_from(record, path)
    source = None if data is None else load(data, Layout.saved(record) if layout == WHOLE else layout)
    figure = fitted.plot("scores" if kind is None and source is not None else kind, source)
    with whole_file(plot) as temporary:
        figure.savefig(temporary, format=plot.suffix.lower()[1:], dpi=150)
    written([plot], {"fit": str(path)}, as_json=json)


def _show_model(model: str, data: str | None, layout: Layout, params: dict[str, Any], latex: bool, json: bool) -> None:
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
        source = load(data, layout)
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
    from fsopt.models.display import readable
    from fsopt.models.papers import PAPERS

    authors = PAPERS[record["paper"]].authors if record["paper"] else ""
    source = ", ".join(text for text in (authors, record["equation"]) if text)
    head = [("model", record["model"]), ("summary", summary), ("class", record["class"]), ("source", source or None)]
    names = {"rows": "linear constraints"}
    sizes = [(names.get(name, name), size) for name, size in record["size"].items()]
    rows = [[component[k] for k in ("component", "kind", "size", "equation")] for component in record["components"]]
    listing = table("components", ("component", "kind", ">size", "meaning"), rows)
    put(pairs([*head, *sizes]), "\n" + readable(record["latex"]) + "\n", listing)
