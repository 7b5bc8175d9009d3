"""Verb ``compare``: all methods side by side on one data set or several."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.options import WHOLE, load
from fsopt.cli.output import (
    EXIT_INTERRUPTED,
    EXIT_NOT_SOLVED,
    EXIT_SOLVED,
    deliver,
    progress_bar,
    remark,
    show,
    table,
)
from fsopt.common.texts import counted, one_line
from fsopt.data.layout import Layout
from fsopt.errors import ParameterError

if TYPE_CHECKING:
    from fsopt.data import Dataset
    from fsopt.studies.comparison import Comparison
    from fsopt.studies.running import Progress

HEADS = ("method", "standing", ">features", ">CV accuracy", ">balanced", ">CV MCC", ">AUC", "status", "of folds")
"""Of the table: objective values of different problems are no measure of methods."""
LEADING = 5
"""Methods with which a table begins, those of the front and the answer first."""
ASKED = ("folds", "seed", "time_limit", "solver", "tune", "exact", "jobs")
"""Options that :func:`fsopt.compare` has, too."""
Data = Annotated[list[str], typer.Option("--data", help=f"{options.DATA_HELP}; repeat for several")]


def compare(
    context: typer.Context,
    data: Data,
    layout: Layout = WHOLE,
    methods: Annotated[str | None, typer.Option("--methods", help="names separated by commas; all by default")] = None,
    param: Annotated[
        list[str] | None, typer.Option("--param", help="METHOD.k=v, a parameter of one method; repeat for more")
    ] = None,
    solver: options.Solver = None,
    tune: Annotated[bool, typer.Option("--tune", help="choose parameters inside of each training part")] = False,
    folds: options.Folds = 5,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    time_limit: Annotated[float, typer.Option("--time-limit", help="seconds for each fit")] = 30.0,
    exact: options.Exact = False,
    report: options.Report = None,
    output: options.Output = None,
    json: options.Json = False,
) -> int:
    """Cross-validate all methods, or some, and print one table.

    Parameters are the defaults where none are given. The best cross-validated accuracy comes first; ``not told apart``
    are methods that the corrected resampled t-test does not tell apart from it, which may be worse all the same;
    ``not shown above the larger class`` are those whose 95 % interval has the share of this class; ``front`` those that
    no other beats in accuracy and number of features. A sentence answers. The last line names the methods without an
    answer: an error ended the fit to all samples, or one of a fold. The exit code is 1 only where no method has one.
    """
    from fsopt.answers.records import plain
    from fsopt.solvers.registry import solver_spec

    names = _checked(methods)
    if solver is not None:
        solver_spec(solver)
    own = {"params": _params(param), **{name: context.params[name] for name in ASKED}}
    found = _compared([load(name, layout) for name in data], names, own)
    if found.interrupted and not found.rows:  # a file of before stays
        remark("interrupted: no method finished")
        return EXIT_INTERRUPTED
    record = plain({**found.heading, "data": data[0] if len(data) == 1 else data, "rows": found.to_records()})
    if report is not None:
        _report(report, found)
    deliver(record, output, as_json=json, present=lambda: _print(record))
    _tell_unanswered(record)
    if found.interrupted:
        remark(f"interrupted: {counted(len(found.rows), 'method')} finished")
        return EXIT_INTERRUPTED
    return EXIT_NOT_SOLVED if all(row["lacking"] for row in found.rows) else EXIT_SOLVED


def _compared(sources: list[Dataset], names: list[str] | None, own: Mapping[str, Any]) -> Comparison:
    """Compare the methods with progress on the terminal."""
    from fsopt.studies.comparison import compare as run

    with progress_bar("compare", total=1) as update:

        def told(state: Progress) -> None:
            word = f"compare: {state.finished} of {counted(state.total, 'fit')}, last {state.last['method']}"
            update(state.finished / state.total, word)

        return run(sources, methods=names, progress=told, **own)


def _tell_unanswered(record: dict[str, Any]) -> None:
    """Name the methods without an answer in one last line."""
    words = [f"{_who(one, record)} ({one['lacking']})" for one in record["unanswered"]]
    if words:
        remark(f"without an answer: {', '.join(words)}")


def _who(row: dict[str, Any], record: dict[str, Any]) -> str:
    """Return the method of a row, with its data set where there are several."""
    return f"{row['method']} on {row['data']}" if isinstance(record["data"], list) else str(row["method"])


def _checked(methods: str | None) -> list[str] | None:
    """Return the names in ``--methods``, None for all; raises ParameterError for none and for a repeated one."""
    names = None if methods is None else [name.strip() for name in methods.split(",") if name.strip()]
    if names is not None and (not names or len(set(names)) < len(names)):
        raise ParameterError("--methods is empty or names a method twice", "for example --methods gmeb,fsv")
    return names


def _params(given: list[str] | None) -> dict[str, dict[str, Any]]:
    """Return method -> parameters of the texts METHOD.k=v."""
    found: dict[str, list[str]] = {}
    for text in given or []:
        method, dot, rest = text.partition(".")
        if not dot or "=" in method:
            raise ParameterError(f"'--param {text}' is not of the form METHOD.k=v", "for example --param svm.c=1.0")
        found.setdefault(method, []).append(rest)
    return {method: options.parse_params(texts) for method, texts in found.items()}


def _report(path: Path, found: Comparison) -> None:
    """Write the report of a comparison: the sections of a study on its units."""
    from fsopt.studies.report import study_sections, write_report

    larger = {name: scores["cv_accuracy"] for name, scores in found.majority.items()}
    write_report(path, f"Comparison: {', '.join(larger)}", study_sections(found.units, larger))
    remark(f"wrote {path}")


def _print(record: dict[str, Any]) -> None:
    several = isinstance(record["data"], list)
    names, sizes = list(record["majority"]), (record["n"], record["p"])
    for k, name in enumerate(names):
        n, p = (size[k] if several else size for size in sizes)
        title = f"{name if several else record['data']}: {counted(n, 'sample')}, {counted(p, 'feature')}, "
        title += f"{record['folds']}-fold cross-validation, seed {record['seed']}"
        ranked = _ranked(record, name)
        named = [row for row in ranked if row["front"] or row["answer"]]
        others = [row for row in ranked if row not in named]
        first = [row for row in ranked if row in named or row in others[: max(0, LEADING - len(named))]]
        left = len(ranked) - len(first)
        listing = table("", HEADS, map(_cells, first))
        rest = f"--report, or --json, has {counted(left, 'other method')}" if left else ""
        share = record["majority"][name]["cv_accuracy"]
        larger = f"{name}: the larger class alone has CV accuracy {share:.4f}, balanced 0.5000"
        show(one_line(title), "", listing, "", *map(one_line, filter(None, (rest, larger))))
        if name in record["answer_in_words"]:
            show(one_line(f"{record['answer_in_words'][name]}."))
    _print_rows(record)


def _print_rows(record: dict[str, Any]) -> None:
    """Print what the table has not: exact words and remarks of all methods."""
    for row in record["rows"]:
        who = _who(row, record)
        if row["exact"]:
            show(one_line(f"{who}: {row['exact']}"))
        for text in (*row["warnings"], row["error"], _early(row)):
            if text:
                remark(f"{who}: {text}")


def _ranked(record: dict[str, Any], data: str) -> list[dict[str, Any]]:
    """Return the rows of a data set, the best score first, of equal ones the fewest features; without a score last."""
    rows = [row for row in record["rows"] if row["data"] == data]
    return sorted(rows, key=lambda r: (r["cv_accuracy"] is None, -(r["cv_accuracy"] or 0), r["n_features"] or 0))


def _cells(row: dict[str, Any]) -> tuple[Any, ...]:
    """Return the cells of a row, in the order of :data:`HEADS`."""
    accuracy, spread = _share(row["cv_accuracy"]), row["spreads"].get("cv_accuracy")
    return (
        row["method"],
        row["standing"] or None,
        row["n_features"],
        accuracy if spread is None else f"{accuracy} ±{spread:.3f}",
        _share(row["cv_balanced_accuracy"]),
        _share(row["cv_mcc"]),
        _share(row["cv_auc"]),
        f"{row['status']} ({row['stop']})" if row["ended_early"] and row["stop"] == "time-limit" else row["status"],
        ", ".join(f"{number} {status}" for status, number in row["fold_statuses"].items()),
    )


def _early(row: dict[str, Any]) -> str:
    """Return the remark on fits that the time limit ended, which no mean may contain."""
    if not row["ended_early"]:
        return ""
    return f"the time limit ended {row['ended_early']} of its fits before they were done: give more seconds"


def _share(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"
