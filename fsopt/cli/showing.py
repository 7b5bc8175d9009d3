"""Verb ``show``: a model with its program and its size, or a saved answer and its picture."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.fitting import print_fit
from fsopt.cli.layouts import load
from fsopt.cli.output import pairs, print_json, remark, table, written
from fsopt.cli.output import show as put
from fsopt.cli.solving import print_solve
from fsopt.common.texts import counted
from fsopt.data.layout import Layout
from fsopt.errors import ParameterError

if TYPE_CHECKING:
    from fsopt.data import Dataset


PICTURES = (".png", ".pdf", ".svg")
OF_DATA = ("name", "data", "json")
"""Options that are for models and for saved answers."""
PRINTED = 0.9
"""The delta of the experiments of Yang & Ju."""


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
    export: Annotated[
        Path | None,
        options.file("write a saved fit as a class in numpy alone, .py", "--export", kinds=(".py",)),
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", help="of --plot: weights, convergence or scores; else what the fit has")
    ] = None,
    json: options.Json = False,
) -> None:
    """Show a model and its size on a data set, or a saved answer."""
    if name.endswith(".json"):
        if export is not None:
            options.only(context, "with --export", ("name", "export", "json"))
            _export(Path(name), export, json)
            return
        options.only(context, "of a saved answer", (*OF_DATA, "plot", "kind"))
        _show_answer(Path(name), data, plot, kind, json)
    elif limits is not None:
        options.only(context, "with --limits", (*OF_DATA, "limits", "seed"))
        print_limits(name, data, limits, seed, json)
    else:
        options.only(context, "of a model", (*OF_DATA, "param", "latex"))
        _show_model(name, data, options.parse_params(param), latex, json)


def _export(path: Path, place: Path, json: bool) -> None:
    """Write the predictor of a saved fit."""
    from fsopt.answers.exporting import export_predictor
    from fsopt.answers.saved import load_fit

    export_predictor(load_fit(path), place)
    written([place], {"fit": str(path)}, as_json=json)


def _show_answer(path: Path, data: str | None, plot: Path | None, kind: str | None, json: bool) -> None:
    """Print a saved answer as it was printed, or draw a fit: its weights, its loop, or the scores of a data set."""
    from fsopt.answers.saved import fit_from, read_fit, read_record
    from fsopt.common.files import whole_file

    if plot is None:
        if data is not None or kind is not None:
            raise ParameterError("--data and --kind of a saved answer are for --plot", "add --plot FILE")
        record = read_record(path)
        if json:
            print_json(record)
        elif "method" in record:
            print_fit(fit_from(record, path), record)
        else:
            print_solve(record)
        return
    record = read_fit(path)
    fitted = fit_from(record, path)
    source = None if data is None else load(data, Layout.saved(record))
    figure = fitted.plot("scores" if kind is None and source is not None else kind, source)
    with whole_file(plot) as temporary:
        figure.savefig(temporary, format=plot.suffix.lower()[1:], dpi=150)
    written([plot], {"fit": str(path)}, as_json=json)


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


def print_limits(model: str, data: str | None, folds: int, seed: int, json: bool) -> None:
    """Print the largest delta that is feasible for a model: on all samples and on each training fold."""
    from fsopt.answers.records import plain
    from fsopt.data.splits import stratified_folds, train_and_test
    from fsopt.data.weights import refuse_weights
    from fsopt.models.registry import MODELS

    entry = MODELS[model]
    if entry.paper != "mpm" or "delta" not in entry.parameters:
        raise ParameterError(f"'{model}' has no worst-case accuracy delta", "--limits is for l1-mpm and l0-mpm")
    if data is None:
        raise ParameterError("--limits needs a data set", "give --data, for example wdbc")
    source = load(data)
    refuse_weights("the minimax probability machine", source.weights, "give data without weights")
    rows = [_limit_row("all", source)]
    for k, fold in enumerate(stratified_folds(source, folds, seed) if folds else [], start=1):
        rows.append(_limit_row(f"fold {k}", train_and_test(source, fold)[0]))
    record = {
        "data": data,
        "n": source.n,
        "p": source.p,
        "folds": folds,
        "seed": seed,
        "paper_delta": PRINTED,
        "largest_delta": min(row["alpha"] for row in rows),
        "rows": rows,
    }
    print_json(plain(record)) if json else _print_limits(record)
    if any(row["separating"] for row in rows):
        remark(
            "warning: singular covariances separate the means: every delta is feasible and promises nothing about "
            "new data; a ridge > 0 makes kappa* finite"
        )
    elif any(min(row["ranks"]) < source.p for row in rows):
        remark("warning: a covariance is singular: a ridge > 0 makes it regular")


def _limit_row(name: str, data: Dataset) -> dict[str, Any]:
    """Return kappa*, alpha* and the ranks of both covariances of training data."""
    import numpy as np

    from fsopt.methods.mpm.feature_space import FeatureSpace

    space = FeatureSpace.of(data, scale="standard")  # no limit depends on the scale
    ranks = [int(np.linalg.matrix_rank(factor)) for factor in (space.moments.factor1, space.moments.factor2)]
    return {
        "rows": name,
        "n": data.n,
        "kappa": space.limit.kappa,
        "alpha": space.limit.alpha,
        "paper_delta_feasible": space.limit.alpha >= PRINTED,
        "ranks": ranks,
        "separating": bool(np.isinf(space.limit.kappa)),
    }


def _print_limits(record: dict[str, Any]) -> None:
    heads = ("training samples", ">n", ">kappa*", ">alpha*", ">rank +1", ">rank -1")
    rows = [(r["rows"], r["n"], f"{r['kappa']:.4f}", f"{r['alpha']:.4f}", *r["ranks"]) for r in record["rows"]]
    put(table(f"{record['data']}: {counted(record['n'], 'sample')}, {counted(record['p'], 'feature')}", heads, rows))
    word = "feasible" if record["largest_delta"] >= PRINTED else "infeasible"
    put(f"largest delta for all of these: {record['largest_delta']:.4f}; the paper's {PRINTED:g} is {word}")
