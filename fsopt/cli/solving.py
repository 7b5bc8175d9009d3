"""Verbs ``solve`` and ``export``: one model at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
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
    status_of,
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


Scale = Annotated[str, typer.Option("--scale", help="none, center or standard: the features before the model is built")]


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
    explain: Annotated[
        bool,
        typer.Option("--explain", help="of an infeasible model the constraints and bounds that contradict each other"),
    ] = False,
    tee: options.Tee = False,
    customise: options.Customise = None,
    output: options.Output = None,
    json: options.Json = False,
) -> int:
    """Solve a model or a model file, and certify the answer."""
    from fsopt.answers.records import sealed
    from fsopt.solvers.base import Session
    from fsopt.solvers.registry import solver_spec

    if verify is not None:
        solver_spec(verify)
    solver_options = options.read_options(options_file)
    task = _task(model, data, layout, param, scale, customise)
    with customised(task.changes):
        session = Session(task.program, solver, options=solver_options, tee=tee)
    result = run_session(session, model, time_limit)
    record = task.record(result)
    record["seconds"]["build"] = task.seconds
    if verify is not None:
        record["verify"] = second_solve(task.program, verify, result)
    if explain and not (result.stop == "interrupted" or result.status.solved):
        record["explanation"] = explanation(task.program, time_limit)
    record = sealed(record)
    deliver(record, output, as_json=json, present=lambda: print_solve(record))
    if result.stop == "interrupted":
        remark(f"interrupted: the incumbent is shown, its status is {result.status}")
        return EXIT_INTERRUPTED
    return EXIT_SOLVED if result.status.solved else EXIT_NOT_SOLVED


def _task(
    model: str,
    data: str | None,
    layout: Layout,
    param: options.Params,
    scale: str,
    customise: options.Customise,
) -> _Task:
    """Return the task of a model file, or of a model on a data set; raises ParameterError where it has none."""
    if is_file(model, data):
        return _file_task(model, {"data": data, "param": param, "customise": customise})
    return _slug_task(model, str(data), layout, options.parse_params(param), scale, customise)


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


def changed(
    model: str, data: str, layout: Layout, params: dict[str, Any], scale: str, customise: options.Customise
) -> pyo.ConcreteModel:
    """Return a model on a data set, changed as --customise says."""
    program, _, _ = built(model, load(data, layout), params, scale)
    with customised(options.read_changes(customise, (model,)) or {}):
        complete(program)
    return program


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
    from fsopt.formats.solution import solution_record

    started = time.perf_counter()
    program = read_file(path, others)
    return _Task(program, {}, time.perf_counter() - started, lambda result: solution_record(program, result, path))


def run_session(session: Session, name: str, time_limit: float | None) -> SolveResult:
    """Solve a model under a progress bar of its name."""
    spec, nonconvex = session.spec, session.problem_class in ("NLP", "MINLP")
    if nonconvex and not session.requested and spec.proves == "global":
        remark(f"nonconvex: solved globally by {spec.name}, which may take long; Ctrl-C keeps the incumbent")
    with progress_bar(name):
        return session.solve(time_limit=time_limit)


def _solvable(model: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a model that solvers take: complementarities become disjunctions, which is told."""
    from fsopt.models.registry import MODELS
    from fsopt.models.sla.hyperplane import BIG_M

    entry = MODELS[model]
    if entry.problem_class != "MPEC" or "big_m" not in entry.parameters:
        return params
    found = {"big_m": BIG_M, **params}
    remark(
        f"{model}: no solver takes complementarities; solved as a mixed-integer program in which one of two sides is "
        f"0 and the other at most M = {found['big_m']} (--param big_m=M)"
    )
    return found


def print_solve(record: Mapping[str, Any]) -> None:
    """Print the answer to a model."""
    from fsopt.formats.read import told

    names = ["model", "data", "scale", "solver", "status", "stop", "objective", "bound", "iterations"]
    shown = {**record, "status": status_of(record)}
    lines: list[tuple[str, Any]] = [(k, shown[k]) for k in names if k in record]
    if "file" in record:
        lines.insert(1, ("file", told(record["file"])))
    lines.append(("seconds", ", ".join(f"{k} {v:.3f}" for k, v in record["seconds"].items())))
    show(pairs(lines))
    if record.get("verify"):
        show(pairs([(f"verify {k}", v) for k, v in record["verify"].items()]))
    if "explanation" in record:
        show(record["explanation"]["summary"])
    elif record["status"] == "infeasible":
        remark("'fsopt solve --explain' names constraints and bounds that contradict each other")
    print_certificate(record["certificate"])


def export(
    model: options.Model,
    output: Annotated[Path, options.file("file ending in .lp, .mps, .nl or .cbf")],
    data: options.OptionalData = None,
    layout: Layout = WHOLE,
    param: options.Params = None,
    scale: Scale = "none",
    customise: options.Customise = None,
    json: options.Json = False,
) -> int:
    """Write a model in the format of a file."""
    from fsopt.formats.writers import export as write

    if is_file(model, data):
        raise ParameterError(
            f"'{model}' is a model file already",
            "HiGHS writes it in another format",
        )
    params = options.parse_params(param)
    record = {"model": model, "data": data, "params": params, "scale": scale}
    program = changed(model, str(data), layout, params, scale, customise)
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


def explanation(model: pyo.ConcreteModel, time_limit: float | None) -> dict[str, Any]:
    """Return the constraints and bounds of a model that contradict each other; the answer stays where that fails."""
    from fsopt.analysis.infeasibility import explain_infeasibility
    from fsopt.answers.records import plain

    try:
        found = explain_infeasibility(model, time_limit=time_limit or 60.0)
    except (SolverError, KeyboardInterrupt) as error:
        return {"status": "unknown", "summary": f"not explained: {str(error) or 'interrupted'}"}
    return {**plain(asdict(found)), "summary": found.summary()}
