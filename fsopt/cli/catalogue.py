"""Verbs ``models``, ``solvers``, ``methods`` and ``show``: the registries, and one model in detail."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.output import escape, pairs, print_json, remark, table
from fsopt.cli.output import show as put

if TYPE_CHECKING:
    from fsopt.data import Dataset
    from fsopt.solvers.spec import SolverSpec


def models(json: options.Json = False) -> None:
    """List the models: class, paper and equation, parameters."""
    from fsopt.models.registry import MODELS
    from fsopt.plugins import load

    load()
    rows: list[dict[str, Any]] = [
        {
            "model": m.slug,
            "class": m.problem_class,
            "paper": m.paper,
            "equation": m.equation,
            "parameters": _defaults(m.parameters),
            "summary": m.summary,
        }
        for m in MODELS.values()
    ]
    if json:
        print_json({"models": rows})
        return
    listing = table("models", [(k, "left") for k in ("model", "class", "paper", "equation", "parameters")])
    for row in rows:
        defaults = " ".join(f"{k}={escape(v)}" for k, v in row["parameters"].items())
        listing.add_row(*(escape(row[k]) for k in ("model", "class", "paper", "equation")), defaults)
    put(listing)


def solvers(json: options.Json = False) -> None:
    """List the solvers: classes, what they prove and return, and whether they are installed."""
    from fsopt.compiler.classes import CLASSES
    from fsopt.plugins import load
    from fsopt.solvers.registry import SOLVERS

    load()
    claimed = {c for s in SOLVERS.values() for c in s.classes}
    classes = [c for c in CLASSES if c in claimed]
    rows: list[dict[str, Any]] = [
        {
            "solver": s.name,
            "classes": sorted(s.classes),
            "proves": s.proves,
            "duals": s.duals,
            "vertex": s.vertex,
            "in_place": s.in_place,
            "tolerance": s.tolerance,
            "available": s.available,
            "why_not": "" if s.available else _why_not(s),
            "licence": s.licence,
        }
        for s in SOLVERS.values()
    ]
    if json:
        print_json({"solvers": rows})
        return
    heads = ["solver", *classes, "proves", "duals", "vertex", "in place", "tolerance", "available"]
    listing = table("solvers", [(h, "left") for h in heads])
    for row in rows:
        marks = ["yes" if c in row["classes"] else "-" for c in classes]
        flags = ["yes" if row[k] else "-" for k in ("duals", "vertex", "in_place")]
        state = "yes" if row["available"] else row["why_not"]
        listing.add_row(row["solver"], *marks, row["proves"], *flags, f"{row['tolerance']:g}", escape(state))
    put(listing)


def _why_not(solver: SolverSpec) -> str:
    """Return the missing package and executable of a solver, and its installation command."""
    if not solver.package:
        return f"there is no executable '{solver.executable}' on the path: {solver.pip}"
    program = f", and there is no executable '{solver.executable}' on the path" if solver.executable else ""
    return f"package '{solver.package}' is not installed{program}: {solver.pip}"


def methods(json: options.Json = False) -> None:
    """List the methods: paper, models, driver, parameters."""
    from fsopt.methods.registry import METHODS
    from fsopt.plugins import load

    load()
    rows: list[dict[str, Any]] = [
        {
            "method": m.name,
            "paper": m.paper,
            "equation": m.equation,
            "models": list(m.models),
            "driver": m.driver,
            "parameters": _defaults(m.parameters),
            "summary": m.summary,
        }
        for m in METHODS.values()
    ]
    if json:
        print_json({"methods": rows})
        return
    listing = table("methods", [(k, "left") for k in ("method", "paper", "equation", "models", "driver", "parameters")])
    for row in rows:
        defaults = " ".join(f"{k}={escape(v)}" for k, v in row["parameters"].items())
        listing.add_row(
            *(escape(row[k] or None) for k in ("method", "paper", "equation", "models", "driver")), defaults
        )
    put(listing)


def _defaults(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return name -> default of parameters, the word ``required`` where there is none."""
    return {
        k: "required" if v is inspect.Parameter.empty else list(v) if isinstance(v, tuple) else v
        for k, v in parameters.items()
    }


def show(
    model: Annotated[str, typer.Argument(help="a slug of 'fsopt models'")],
    data: options.OptionalData = None,
    label: options.Label = "label",
    missing: options.Missing = None,
    param: options.Params = None,
    latex: Annotated[bool, typer.Option("--latex", help="print the program alone, as LaTeX")] = False,
    json: options.Json = False,
) -> None:
    """Show a model: its program, its size on a data set, and the equation of each component."""
    from fsopt.compiler import compile_model
    from fsopt.compiler.classes import program_class
    from fsopt.models.display import components, displayed_program
    from fsopt.models.registry import build, model_spec

    entry = model_spec(model)
    program = displayed_program(inspect.getdoc(entry.builder) or "")
    if latex and not json:
        print("\\begin{aligned}\n" + program + "\n\\end{aligned}")
        return
    source = options.load(data, label, missing) if data else _sample()
    if not data:
        remark("sizes are those of 6 samples and 3 features; give --data for yours")
    built = build(model, source, **options.parse_params(param))
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
    if json:
        print_json(record)
    else:
        _print_model(record, entry.summary)


def _print_model(record: dict[str, Any], summary: str) -> None:
    from fsopt.models.display import readable
    from fsopt.models.papers import PAPERS

    authors = PAPERS[record["paper"]].authors if record["paper"] else ""
    source = ", ".join(text for text in (authors, record["equation"]) if text)
    head = [("model", record["model"]), ("summary", summary), ("class", record["class"]), ("source", source or None)]
    names = {"rows": "linear constraints"}
    sizes = [(names.get(name, name), size) for name, size in record["size"].items()]
    listing = table("components", [("component", "left"), ("kind", "left"), ("size", "right"), ("meaning", "left")])
    for component in record["components"]:
        listing.add_row(*(escape(component[k]) for k in ("component", "kind", "size", "equation")))
    put(pairs([*head, *sizes]), "\n" + readable(record["latex"]) + "\n", listing)


def _sample() -> Dataset:
    """Return a small data set, for the sizes of a model without --data."""
    import numpy as np

    from fsopt.data import Dataset

    X = np.array(
        [
            [2.0, 0.1, 0.3],
            [1.5, -0.4, 1.0],
            [0.2, 0.5, -1.0],
            [-1.0, 0.3, 0.2],
            [-1.2, 1.0, 0.5],
            [0.4, -1.0, -0.7],
        ]
    )
    return Dataset(X, np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0]), name="sample")
