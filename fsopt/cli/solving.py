"""Verbs ``solve`` and ``export``: one model at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.layouts import WHOLE, layout_record, load
from fsopt.cli.output import (
    EXIT_INTERRUPTED,
    EXIT_NOT_SOLVED,
    EXIT_SOLVED,
    deliver,
    pairs,
    print_certificate,
    progress_bar,
    remark,
    show,
    table,
    written,
)
from fsopt.common.customising import Change, complete, customised, names_of
from fsopt.data.layout import Layout
from fsopt.errors import FsoptError, ParameterError, SolverError

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from fsopt.answers.results import SolveResult
    from fsopt.data import Dataset
    from fsopt.solvers.base import Session
    from fsopt.solvers.watching import Watch


PROVE = "seconds of branch and bound whose tree is saved: the bound of an integer program is no solver's word then"
Scale = Annotated[str, typer.Option("--scale", help="none, center or standard: the features before the model is built")]
LISTED = 10
"""Constraints and variables that are printed; the record has all."""


def built(
    model: str, data: Dataset, params: dict[str, Any], scale: str
) -> tuple[pyo.ConcreteModel, Dataset, dict[str, Any]]:
    """Return a model on preprocessed data, these data, and the parameters."""
    from fsopt.methods.preprocessing import preprocess
    from fsopt.models.registry import build

    work, _ = preprocess(data, scale)
    return build(model, work, **params), work, params


@dataclass(frozen=True)
class _Task:
    """A model to be solved: the functions that change it, the seconds to make it, and the record of its result."""

    program: pyo.ConcreteModel
    changes: Mapping[str, Change]
    seconds: float
    record: Callable[[SolveResult], dict[str, Any]]


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
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="also shadow prices and reduced costs, of linear programs with ranges")
    ] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="of an infeasible model the constraints and bounds that contradict each other"),
    ] = False,
    prove: Annotated[float | None, typer.Option("--prove", help=PROVE)] = None,
    checkpoint: options.Checkpoint = None,
    resume: options.Resume = None,
    jobs: Annotated[int | None, typer.Option("--jobs", help="subtrees of --prove at a time, in processes")] = None,
    tee: options.Tee = False,
    customise: options.Customise = None,
    output: options.Output = None,
    json: options.Json = False,
) -> int:
    """Solve a model or a model file, and certify the answer."""
    from fsopt.answers.records import plain, sealed
    from fsopt.search.branch_and_bound.driver import prove as proved
    from fsopt.solvers.base import Session
    from fsopt.solvers.registry import solver_spec
    from fsopt.solvers.watching import Watch

    search = _search(prove, {"checkpoint": checkpoint, "resume": resume, "jobs": jobs})
    if verify is not None:
        solver_spec(verify)
    solver_options = options.read_options(options_file)
    task = _task(model, data, layout, param, scale, customise)
    with customised(task.changes):
        session = Session(task.program, solver, options=solver_options, tee=tee)
    result, watch = (None, Watch()) if resume else run_session(session, model, time_limit)
    if prove is not None:
        try:
            with customised(task.changes):
                result = proved(task.program, result, time_limit=prove, **search)
        except SolverError as error:  # the first answer stays
            if result is None:
                raise
            remark(words := f"--prove failed, the answer of {result.solver} stays: {error}")
            result = replace(result, message=words)
    assert result is not None
    record = task.record(result)
    record["seconds"]["build"] = task.seconds
    if verify is not None:
        record["verify"] = second_solve(task.program, verify, result)
    if sensitivity:
        record["sensitivity"] = prices(session, result)
    if explain and not (watch.interrupted or result.status.solved):
        record["explanation"] = explanation(task.program, time_limit)
    record["history"] = plain(watch.records)
    record = sealed(record)
    deliver(record, output, as_json=json, present=lambda: print_solve(record))
    if watch.interrupted or result.stop == "interrupted":
        remark(f"interrupted: the incumbent is shown, its status is {result.status}")
        return EXIT_INTERRUPTED
    return EXIT_SOLVED if result.status.solved else EXIT_NOT_SOLVED


def _search(prove: float | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given options of the search of --prove; raises ParameterError where there is none."""
    search = {name: value for name, value in given.items() if value is not None}
    if search and prove is None:
        raise ParameterError(f"--{next(iter(search))} is for the tree of --prove", "add --prove SECONDS")
    return search


def _task(
    model: str,
    data: str | None,
    layout: Layout,
    param: options.Params,
    scale: str,
    customise: options.Customise,
) -> _Task:
    """Return the task of a model file, or of a model on a data set; raises ParameterError where it has none."""
    if _is_file(model, data):
        return _file_task(model, {"data": data, "param": param, "customise": customise})
    return _slug_task(model, str(data), layout, options.parse_params(param), scale, customise)


def _is_file(model: str, data: str | None) -> bool:
    """Return whether a model is a file of one; raises ParameterError for a slug without data."""
    from fsopt.formats.reading import model_suffix

    found = model_suffix(model) is not None
    if data is None and not found:
        raise ParameterError(f"'{model}' is no model file, and --data is missing", "give --data, for example wdbc")
    return found


def _read_file(path: str, others: Mapping[str, Any]) -> pyo.ConcreteModel:
    """Return the model of a file; raises ParameterError for an option of models that are built."""
    from fsopt.formats.reading import read_model

    for name, value in others.items():
        if value:
            raise ParameterError(f"--{name} is for models on data sets, '{path}' is a model file", "leave it out")
    return read_model(path)


def _slug_task(
    model: str, data: str, layout: Layout, given: dict[str, Any], scale: str, customise: options.Customise
) -> _Task:
    """Return the task of a model on a data set."""
    from fsopt.answers.saved import solve_record

    source = load(data, layout)
    started = time.perf_counter()
    program, work, params = built(model, source, _solvable(model, given), scale)
    seconds = time.perf_counter() - started
    changes = options.read_changes(customise, (model,)) or {}

    def record(result: SolveResult) -> dict[str, Any]:
        made = solve_record(program, result, slug=model, data=work, source=data, params=params)
        made |= {"scale": scale} | layout_record(layout)
        return made | ({"customised": names_of(changes)} if changes else {})

    return _Task(program, changes, seconds, record)


def _file_task(path: str, others: Mapping[str, Any]) -> _Task:
    """Return the task of a model file."""
    from fsopt.formats.solutions import solution_record

    started = time.perf_counter()
    program = _read_file(path, others)
    return _Task(program, {}, time.perf_counter() - started, lambda result: solution_record(program, result, path))


def run_session(session: Session, name: str, time_limit: float | None) -> tuple[SolveResult, Watch]:
    """Solve a model under a progress bar of its name; return the result and its course."""
    from fsopt.solvers.watching import Watch

    spec, nonconvex = session.spec, session.problem_class in ("NLP", "MINLP")
    if nonconvex and not session.requested and spec.proves == "global" and not spec.structured:
        remark(f"nonconvex: solved globally by {spec.name}, which may take long; Ctrl-C keeps the incumbent")
    watch = Watch(session.program.sign)
    with progress_bar(name) as update:
        watch.progress = lambda record: update(len(watch.records), f"{name}: {_told(record)}")
        return session.solve(time_limit=time_limit, watch=watch), watch


def _solvable(model: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a model that solvers take: complementarities become disjunctions, which is told."""
    from fsopt.models.registry import MODELS
    from fsopt.models.sla.step_function import BIG_M

    entry = MODELS[model]
    if entry.problem_class != "MPEC" or "big_m" not in entry.parameters:
        return params
    found = {"big_m": BIG_M, **params}
    remark(
        f"{model}: no solver takes complementarities; solved as a mixed-integer program in which one of two sides is "
        f"0 and the other at most M = {found['big_m']} (--param big_m=M)"
    )
    return found


def _told(record: Mapping[str, Any]) -> str:
    """Return a record of the course of a solve as text."""
    shown = {k: record[k] for k in ("incumbent", "bound", "gap") if record[k] is not None}
    return ", ".join(f"{k} {v:.6g}" for k, v in shown.items()) or "no incumbent yet"


def print_solve(record: Mapping[str, Any]) -> None:
    """Print the answer to a model."""
    from fsopt.formats.solutions import told

    names = ["model", "data", "scale", "solver", "status", "stop", "objective", "bound", "iterations"]
    lines: list[tuple[str, Any]] = [(k, record[k]) for k in names if k in record]
    if "file" in record:
        lines.insert(1, ("file", told(record["file"])))
    lines.append(("seconds", ", ".join(f"{k} {v:.3f}" for k, v in record["seconds"].items())))
    show(pairs(lines))
    if record.get("verify"):
        show(pairs([(f"verify {k}", v) for k, v in record["verify"].items()]))
    if "sensitivity" in record:
        print_prices(record["sensitivity"])
    if "explanation" in record:
        show(record["explanation"]["summary"])
    elif record["status"] == "infeasible":
        remark("'fsopt solve --explain' names constraints and bounds that contradict each other")
    print_certificate(record["certificate"])


def export(
    model: options.Model,
    output: Annotated[Path, options.file("file ending in .lp, .mps, .nl, .gms, .cbf or .dat-s")],
    data: options.OptionalData = None,
    layout: Layout = WHOLE,
    param: options.Params = None,
    scale: Scale = "none",
    customise: options.Customise = None,
    json: options.Json = False,
) -> int:
    """Write a model, or a model file, in the format of a file.

    'fsopt convert A.mps B.lp' is 'fsopt export A.mps -o B.lp'.
    """
    from fsopt.formats.writers import export as write

    record: dict[str, Any] = {"model": model}
    if _is_file(model, data):
        program = _read_file(model, {"data": data, "param": param, "customise": customise, "scale": scale != "none"})
    else:
        program, _, params = built(model, load(str(data), layout), options.parse_params(param), scale)
        record |= {"data": data, "params": params, "scale": scale}
        with customised(options.read_changes(customise, (model,)) or {}):
            complete(program)
    written(write(program, output), record, as_json=json)
    return EXIT_SOLVED


def second_solve(model: pyo.ConcreteModel, solver: str, first: SolveResult) -> dict[str, Any]:
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
    certificate = second.certificate
    found = {
        "solver": solver,
        "status": second.status,
        "objective": second.objective,
        "difference": difference,
        "infeasibility": None if certificate is None else certificate.residuals.get("infeasibility"),
        "dual_difference": _dual_difference(model, first, second),
    }
    return {k: plain(v) for k, v in found.items()}


def _dual_difference(model: pyo.ConcreteModel, first: SolveResult, second: SolveResult) -> float | None:
    """Return the largest relative difference of shadow prices, None if a solver gives none."""
    import numpy as np
    import pyomo.environ as pyo

    from fsopt.errors import ParameterError

    worst = 0.0
    for component in model.component_objects(pyo.Constraint, active=True):
        try:
            a, b = (np.array(list(r.duals(component).values()), dtype=float) for r in (first, second))
        except ParameterError:
            return None
        apart = np.abs(a - b) / (1.0 + np.abs(a))
        worst = max(worst, float(np.nanmax(apart, initial=0.0)))
    return worst


def prices(session: Session, result: SolveResult) -> dict[str, Any]:
    """Return the shadow prices and reduced costs of a result, or why it has none: the answer stays."""
    from fsopt.analysis.sensitivity import of_optimum
    from fsopt.answers.records import plain

    try:
        found = of_optimum(session, result)
    except SolverError as error:
        return {"failed": str(error)}
    return {k: plain([asdict(line) for line in getattr(found, k)]) for k in ("constraints", "variables")}


def explanation(model: pyo.ConcreteModel, time_limit: float | None) -> dict[str, Any]:
    """Return the constraints and bounds of a model that contradict each other; the answer stays where that fails."""
    from fsopt.analysis.infeasibility import explain_infeasibility
    from fsopt.answers.records import plain

    try:
        found = explain_infeasibility(model, time_limit=time_limit or 60.0)
    except (SolverError, KeyboardInterrupt) as error:
        return {"status": "unknown", "summary": f"not explained: {str(error) or 'interrupted'}"}
    return {**plain(asdict(found)), "summary": found.summary()}


def print_prices(found: Mapping[str, Any]) -> None:
    """Print the largest shadow prices and variables, with the ranges of a linear program."""
    if "failed" in found:
        remark(f"no sensitivity: {found['failed']}")
        return
    binding = [line for line in found["constraints"] if line["price"]]
    _print_lines("largest shadow prices", ("constraint", "price", "right-hand side"), binding, "price")
    _print_lines("variables", ("variable", "reduced cost", "cost"), found["variables"], "value")


def _print_lines(title: str, heads: tuple[str, str, str], lines: list[dict[str, Any]], by: str) -> None:
    largest = sorted(lines, key=lambda line: -abs(float(line[by])))[:LISTED]
    rows = [(line["name"], line["value"], line["price"], _range(line["range"])) for line in largest]
    show(table(title, (heads[0], ">value", *(f">{head}" for head in heads[1:])), rows))


def _range(found: list[float] | None) -> str:
    from fsopt.analysis.sensitivity import unlimited

    return "-" if found is None else " .. ".join("" if unlimited(end) else f"{end:.5g}" for end in map(float, found))
