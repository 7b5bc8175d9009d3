"""Verbs of models, methods and solvers: their registries, and one model that is shown, solved or exported."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import fsopt
from fsopt.cli import options
from fsopt.cli import output as out
from fsopt.cli.options import load
from fsopt.data.layout import WHOLE, Layout
from fsopt.errors import FsoptError, ParameterError

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from fsopt.answers.results import SolveResult
    from fsopt.data import Dataset
    from fsopt.solvers.spec import SolverSpec

LICENCES: Mapping[str, tuple[str, str]] = {
    "mosek": ("MOSEKLM_LICENSE_FILE", "~/mosek/mosek.lic"),
    "gurobi": ("GRB_LICENSE_FILE", "~/gurobi.lic"),
    "xpress": ("XPAUTH_PATH", "~/xpauth.xpr"),
}
"""Solver that needs a licence -> environment variable with its place, and the usual place."""
Scale = Annotated[str, typer.Option("--scale", help="none, center or standard: the features before the model is built")]


def models(json: options.Json = False) -> None:
    """List the models: class, paper and equation, parameters."""
    names = {"model": "slug", "class": "problem_class", "paper": "paper", "equation": "equation", "summary": "summary"}
    rows = [_entry(spec, names) | {"parameters": _defaults(spec.parameters)} for spec in fsopt.MODELS.values()]
    more = "'fsopt show MODEL' has the program, '--json' the parameters"
    out.listing("models", ("model", "class", "paper", "equation"), rows, more, as_json=json)


def solvers(json: options.Json = False) -> None:
    """List the solvers: classes, what they prove, what is missing."""
    from fsopt.compiler.classes import CLASSES

    same = ("proves", "duals", "vertex", "in_place", "tolerance", "available", "licence")
    rows = [
        {"solver": spec.name, "classes": [one for one in CLASSES if one in spec.classes]}
        | _entry(spec, {name: name for name in same})
        | {"why_not": _missing(spec)}
        for spec in fsopt.SOLVERS.values()
    ]
    if not json:
        rows = [row | {"available": row["why_not"] or "yes"} for row in rows]
    out.listing("solvers", ("solver", "classes", "proves", "duals", "tolerance", "available"), rows, as_json=json)


def _entry(spec: Any, names: Mapping[str, str]) -> dict[str, Any]:
    """Return attributes of an entry of a registry by these names."""
    return {k: list(v) if isinstance(v := getattr(spec, own), tuple) else v for k, own in names.items()}


def _missing(solver: SolverSpec) -> str:
    """Return what a solver lacks here, and the remedy; empty where nothing is missing."""
    if not solver.available:
        package = "" if solver.present is not None else f"package '{solver.package}', "
        return f"{package}not installed, or cannot run here: {solver.pip}"
    variable, place = LICENCES.get(solver.name, ("HOME", "~"))
    found = Path(place).expanduser().exists() or os.environ.get(variable)
    return "" if found else f"no licence is found: {solver.licence}"


def methods(
    name: Annotated[str | None, typer.Argument(help="one method, with the meaning of its parameters")] = None,
    json: options.Json = False,
) -> None:
    """List the methods, or one with the meaning of its parameters."""
    from fsopt.models.display import displayed_program, meanings, plain_text

    names = {"method": "name"} | {k: k for k in ("summary", "paper", "equation", "models", "driver")}
    if name is None:
        rows = [_entry(one, names) | {"parameters": _defaults(one.parameters)} for one in fsopt.METHODS.values()]
        more = "'fsopt methods NAME' has the parameters"
        out.listing("methods", ("method", "paper", "equation", "models", "driver"), rows, more, as_json=json)
        return
    spec = fsopt.METHODS[name]
    doc, head = inspect.getdoc(spec.fit) or "", _entry(spec, names)
    known, defaults = meanings(doc), _defaults(spec.parameters)
    parameters = [{"parameter": k, "default": v, "meaning": plain_text(known.get(k, ""))} for k, v in defaults.items()]
    if json:
        out.print_json({**head, "latex": displayed_program(doc), "parameters": parameters})
        return
    meant = out.table("parameters", ("--param", "default", "meaning"), [tuple(row.values()) for row in parameters])
    out.show(out.pairs([(k, v or None) for k, v in head.items()]), "\n" + displayed_program(doc) + "\n", meant)


def _defaults(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return name -> default of parameters, the word ``required`` where there is none."""
    return {
        k: "required" if v is inspect.Parameter.empty else list(v) if isinstance(v, tuple) else v
        for k, v in parameters.items()
    }


def show(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(help="a slug of 'fsopt models', or an answer saved with -o", metavar="MODEL|FILE.json")
    ],
    data: options.OptionalData = None,
    param: options.Params = None,
    latex: Annotated[bool, typer.Option("--latex", help="print the program alone, as LaTeX")] = False,
    json: options.Json = False,
) -> None:
    """Show a model and its size on a data set, or a saved answer."""
    from fsopt.answers.saved import fit_from, read_record

    if not (name.endswith(".json") or Path(name).is_file()):
        _show_model(name, data, options.parse_params(param), latex, json)
        return
    options.only(context, "of a saved answer", ("name", "json"))
    record = read_record(name)
    if json:
        out.print_json(record)
    elif "method" in record:
        out.print_fit(fit_from(record, name), record)
    else:
        out.print_solve(record)


def _show_model(model: str, data: str | None, params: dict[str, Any], latex: bool, json: bool) -> None:
    """Show a model, without data on those of its trial."""
    from fsopt.compiler import compile_model
    from fsopt.compiler.classes import program_class
    from fsopt.models.display import components, displayed_program
    from fsopt.models.draws import trial_data
    from fsopt.models.papers import PAPERS
    from fsopt.models.registry import MODELS, build

    entry = MODELS[model]
    program = displayed_program(inspect.getdoc(entry.builder) or "")
    if latex and not json:
        out.emit(f"\\begin{{aligned}}\n{program}\n\\end{{aligned}}\n")
        return
    source = load(data) if data else trial_data(model)
    if not data:
        params = {**entry.trial.params, **params}
        out.remark(f"sizes are those of {source.n} samples and {source.p} features; give --data for yours")
    model_ = build(model, source, **params)
    compiled = compile_model(model_)
    heads = ("component", "kind", "size", "equation")
    size = {"variables": compiled.n, "integer": int(compiled.integer.sum()), "rows": compiled.A.shape[0]}
    size |= {"nonzeros": compiled.A.nnz, "cones": len(compiled.cones)}
    record = {"model": model, "class": program_class(compiled), "paper": entry.paper, "equation": entry.equation}
    found = components(model_)
    if json:
        listed = [dict(zip(heads, one, strict=True)) for one in found]
        out.print_json(record | {"latex": program, "size": size, "components": listed})
        return
    authors = PAPERS[entry.paper].authors if entry.paper else ""
    told = {"model": model, "summary": entry.summary, "class": record["class"]}
    told |= {"source": ", ".join(filter(None, (authors, entry.equation))) or None}
    parts = out.table("components", ("component", "kind", ">size", "meaning"), found)
    out.show(out.pairs((told | size).items()), "\n" + program + "\n", parts)


def solve(
    model: options.Model,
    data: options.OptionalData = None,
    layout: Layout = WHOLE,
    param: options.Params = None,
    scale: Scale = "none",
    solver: options.Solver = None,
    options_file: options.Options = None,
    time_limit: options.TimeLimit = None,
    verify: Annotated[str | None, typer.Option("--verify", help="solve again with this solver and compare")] = None,
    tee: options.Tee = False,
    output: options.Output = None,
    json: options.Json = False,
) -> int:
    """Solve a model or a model file, and certify the answer."""
    from fsopt.answers.records import sealed
    from fsopt.answers.saved import solve_record
    from fsopt.formats.solution import solution_record
    from fsopt.solvers.base import Session
    from fsopt.solvers.registry import solver_spec

    if verify is not None:
        solver_spec(verify)
    solver_options = options.read_options(options_file)
    if is_file(model, data):
        started, program = time.perf_counter(), read_file(model, {"data": data, "param": param})
        recorded: Callable[..., dict[str, Any]] = partial(solution_record, path=model)
    else:
        source, params = load(str(data), layout), options.parse_params(param)
        started = time.perf_counter()
        program, work = built(model, source, params, scale)
        recorded = partial(solve_record, slug=model, data=work, source=str(data), params=params)
    spent = time.perf_counter() - started
    with out.progress_bar(model):
        result = Session(program, solver, options=solver_options, tee=tee).solve(time_limit=time_limit)
    record = recorded(program, result) | ({} if is_file(model, data) else {"scale": scale, "layout": layout.stated})
    record["seconds"]["build"] = spent
    if verify is not None:
        record["verify"] = _second_solve(program, verify, result)
    out.deliver(sealed(record), output, as_json=json, present=lambda: out.print_solve(record))
    return out.exit_code(result)


def is_file(model: str, data: str | None) -> bool:
    """Return whether a model is a file of one; raises ParameterError for a slug without data."""
    from fsopt.formats.read import is_model_file

    found = is_model_file(model)
    if data is None and not found:
        raise ParameterError(f"'{model}' is no model file, and --data is missing", "give --data, for example wdbc")
    return found


def read_file(path: str, others: Mapping[str, Any]) -> pyo.ConcreteModel:
    """Return the model of a file; raises ParameterError for an option of models that are built."""
    from fsopt.formats.read import read_model

    for name, value in others.items():
        if value:
            raise ParameterError(f"--{name} is for models on data sets, '{path}' is a model file", "leave it out")
    return read_model(path)


def built(model: str, data: Dataset, params: dict[str, Any], scale: str) -> tuple[pyo.ConcreteModel, Dataset]:
    """Return a model on preprocessed data, and these data."""
    from fsopt.methods.preprocessing import preprocess
    from fsopt.models.registry import build

    work, _ = preprocess(data, scale)
    return build(model, work, **params), work


def _second_solve(model: pyo.ConcreteModel, solver: str, first: SolveResult) -> dict[str, Any]:
    """Solve again with another solver and return the relative differences of both answers, or why it failed."""
    from fsopt.answers.records import plain
    from fsopt.solvers.base import Session

    try:
        second = Session(model, solver).solve(load=False)
    except FsoptError as error:  # the first answer stays
        return {"solver": solver, "status": "none", "failed": str(error)}
    difference = None
    if first.objective is not None and second.objective is not None:
        difference = abs(first.objective - second.objective) / max(1.0, abs(first.objective))
    residuals = {} if second.certificate is None else second.certificate.residuals
    found = {"solver": solver, "status": second.status, "objective": second.objective, "difference": difference}
    found |= {"infeasibility": residuals.get("infeasibility")}
    return {k: plain(v) for k, v in found.items()}


def export(
    model: options.Model,
    output: Annotated[Path, options.file("file ending in .lp, .mps, .nl or .cbf")],
    data: options.OptionalData = None,
    layout: Layout = WHOLE,
    param: options.Params = None,
    scale: Scale = "none",
    json: options.Json = False,
) -> int:
    """Write a model in the format of a file."""
    from fsopt.formats.writers import export as write

    if is_file(model, data):
        raise ParameterError(f"'{model}' is a model file already", "HiGHS writes it in another format")
    params = options.parse_params(param)
    program, _ = built(model, load(str(data), layout), params, scale)
    out.written(write(program, output), {"model": model, "data": data, "params": params, "scale": scale}, as_json=json)
    return out.EXIT_SOLVED
