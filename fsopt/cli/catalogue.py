"""Verbs ``models``, ``solvers`` and ``methods``: the registries."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.output import pairs, print_json, remark, show, table

if TYPE_CHECKING:
    from fsopt.solvers.spec import SolverSpec


def models(json: options.Json = False) -> None:
    """List the models: class, paper and equation, parameters."""
    from fsopt.models.registry import MODELS

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
    _list("models", ("model", "class", "paper", "equation"), rows)
    show("'fsopt show MODEL' has the program, '--json' the parameters")


def solvers(json: options.Json = False) -> None:
    """List the solvers: classes, what they prove, what is missing."""
    from fsopt.compiler.classes import CLASSES
    from fsopt.solvers.registry import SOLVERS

    rows: list[dict[str, Any]] = [
        {
            "solver": s.name,
            "classes": [c for c in CLASSES if c in s.classes],
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
    texts = [
        {
            **row,
            "classes": " ".join(row["classes"]),
            "duals": "yes" if row["duals"] else None,
            "available": row["why_not"] or "yes",
        }
        for row in rows
    ]
    _list("solvers", ("solver", "classes", "proves", "duals", "tolerance", "available"), texts)


def _list(title: str, heads: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Print these entries of records as a table."""
    cells = [[None if row[head] in ("", []) else row[head] for head in heads] for row in rows]
    show(table(title, heads, cells))


def _why_not(solver: SolverSpec) -> str:
    """Return what a solver lacks here, and its installation command."""
    if solver.present is not None:
        return f"it is not installed, or cannot run here: {solver.pip}"
    if solver.package:
        return f"package '{solver.package}' is not installed: {solver.pip}"
    return f"there is no executable '{solver.executable}' on the path: {solver.pip}"


def methods(
    name: Annotated[
        str | None,
        typer.Argument(help="one method, with the meaning of its parameters", autocompletion=options.methods),
    ] = None,
    json: options.Json = False,
) -> None:
    """List the methods, or one with the meaning of its parameters."""
    if name is not None:
        _method(name, json)
        return
    from fsopt.methods.registry import METHODS
    from fsopt.studies.methods import PEERS

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
    _list("methods", ("method", "paper", "equation", "models", "driver"), rows)
    show("'fsopt methods NAME' has the parameters")
    remark(f"of other packages, for compare and studies (pip install 'fsopt[peers]'): {', '.join(PEERS)}")


def _method(name: str, json: bool) -> None:
    """Print one method."""
    from fsopt.methods.registry import METHODS
    from fsopt.models.display import displayed_program, meanings, plain_text

    entry = METHODS[name]
    doc = inspect.getdoc(entry.fit) or ""
    known, defaults = meanings(doc), _defaults(entry.parameters)
    parameters = [{"parameter": k, "default": v, "meaning": plain_text(known.get(k, ""))} for k, v in defaults.items()]
    head = {
        "method": name,
        "summary": entry.summary,
        "paper": entry.paper,
        "equation": entry.equation,
        "models": list(entry.models),
        "driver": entry.driver,
    }
    if json:
        print_json({**head, "latex": displayed_program(doc), "parameters": parameters})
        return
    show(pairs([(k, v or None) for k, v in head.items()]), "\n" + displayed_program(doc))
    show(table("parameters", ("--param", "default", "meaning"), [tuple(row.values()) for row in parameters]))


def _defaults(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return name -> default of parameters, the word ``required`` where there is none."""
    return {
        k: "required" if v is inspect.Parameter.empty else list(v) if isinstance(v, tuple) else v
        for k, v in parameters.items()
    }
