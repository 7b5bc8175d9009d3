"""Verb ``study``: a study is run, and its store shown, exported, reported and copied."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.output import (
    EXIT_INTERRUPTED,
    EXIT_NOT_SOLVED,
    EXIT_SOLVED,
    pairs,
    print_json,
    progress_bar,
    remark,
    show,
    table,
    written,
)
from fsopt.common.texts import counted, one_line
from fsopt.errors import FileError

if TYPE_CHECKING:
    from fsopt.studies.running import Progress
    from fsopt.studies.summary import MethodSummary, Spread

COPIES, TABLES = (".sqlite", ".db"), (".csv", ".parquet")
FORMATS = (*TABLES, ".html", *COPIES)
OF_RUNS = ("path", "store", "jobs", "scheduler", "retry", "allow_code", "json")
OF_STORES = ("store", "output", "json")


def study(
    context: typer.Context,
    store: Annotated[Path, typer.Option("--store", help="SQLite file of the rows")],
    path: Annotated[
        Path | None,
        typer.Argument(help="TOML file of a study: run it; without one show the store", metavar="STUDY.toml"),
    ] = None,
    jobs: options.Jobs = -1,
    scheduler: options.Scheduler = None,
    retry: Annotated[bool, typer.Option("--retry", help="also units that failed or were ended by a limit")] = False,
    allow_code: Annotated[
        bool, typer.Option("--allow-code", help="run the Python files that the study names in customise")
    ] = False,
    output: Annotated[
        Path | None,
        options.file("write rows, .csv or .parquet, a report, .html, or a copy, .sqlite", kinds=FORMATS),
    ] = None,
    json: options.Json = False,
) -> int:
    """Run data sets x methods x folds x seeds, or show their store.

    Units that have a row are not run again: after an interruption or a kill, the same command goes on. A store is shown
    by the number of its units and by means over folds and seeds, also while a run writes it; a copy is whole.
    """
    if path is not None:
        options.only(context, "of a run", OF_RUNS)
        return _run(path, store, jobs, scheduler, retry, allow_code, json)
    options.only(context, "without STUDY.toml", OF_STORES)
    if output is not None:
        return _write(store, output, json)
    return _show(store, json)


def _run(path: Path, store: Path, jobs: int, scheduler: str | None, retry: bool, allow_code: bool, json: bool) -> int:
    """Run the units of a study that have no row yet."""
    from fsopt.common.teams import check_jobs
    from fsopt.studies.executors import dask_executor
    from fsopt.studies.running import run_study
    from fsopt.studies.study import read_study

    check_jobs(jobs)
    options.check_workers(jobs, scheduler)
    asked = read_study(path, allow_code=allow_code)
    with progress_bar(asked.name, total=1) as update:
        try:
            with dask_executor(scheduler) as executor:
                found = run_study(
                    asked,
                    store=store,
                    executor=executor,
                    jobs=jobs,
                    retry=retry,
                    progress=lambda p: update(p.finished / p.total, f"{asked.name}: {_told(p)}"),
                )
        except KeyboardInterrupt:
            remark("interrupted: finished units are in the store, and the same command goes on")
            return EXIT_INTERRUPTED
    counts = found.counts
    record = {"study": asked.name, "store": str(store), "units": len(found.rows), "states": counts}
    words = f"{one_line(asked.name)}: {counted(len(found.rows), 'unit')}, {_states(counts)}"
    print_json(record) if json else show(words)
    _tell_failures(found.rows)
    return EXIT_SOLVED if found.complete else EXIT_NOT_SOLVED


def _told(p: Progress) -> str:
    """Return the text of the progress bar."""
    if not p.last:
        return f"{p.finished} of {counted(p.total, 'unit')} planned"
    left = "" if p.seconds_left is None else f", about {duration(p.seconds_left)} left"
    return f"{p.finished} of {counted(p.total, 'unit')}, {p.failed} failed{left}"


def duration(seconds: float) -> str:
    """Return seconds in the unit that suits them."""
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def _states(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {state}" for state, number in counts.items())


def _tell_failures(rows: Any) -> None:
    """Print the different errors of rows on stderr, each with the number of its units."""
    errors: dict[str, int] = {}
    for row in rows:
        if row["error"]:
            text = f"{row['method']} on {row['data']}: {row['error']}"
            errors[text] = errors.get(text, 0) + 1
    for text, number in errors.items():
        remark(f"{counted(number, 'unit')}: {text}")
    if errors:
        remark("--retry computes them again")


def _read(store: Path) -> tuple[dict[str, list[dict[str, Any]]], dict[str, str]]:
    """Return the rows of each study, and the damaged ones, which are named on stderr."""
    from fsopt.studies.store import opened

    with opened(store) as held:
        rows: dict[str, list[dict[str, Any]]] = {name: [] for name in held.studies()}
        for row in held.rows():
            if row["study"] in rows:
                rows[row["study"]].append(row)
        damaged = dict(held.damaged)
    for key, reason in damaged.items():
        remark(f"the row {key} is damaged and left out: {reason}")
    if damaged:
        remark("the run of the study computes them again")
    return rows, damaged


def _show(store: Path, json: bool) -> int:
    """Print how many units of each study are done, failed and waiting, and means over folds and seeds."""
    from fsopt.studies.summary import summarised

    rows, damaged = _read(store)
    counts = {name: dict(Counter(row["state"] for row in of_study)) for name, of_study in rows.items()}
    lines = {name: list(summarised(of_study)) for name, of_study in rows.items()}
    if json:
        listed = [{"study": name, **line_record(line)} for name, of_study in lines.items() for line in of_study]
        print_json({"store": str(store), "studies": counts, "damaged": damaged, "rows": listed})
        return EXIT_SOLVED
    ended = [(name, f"{counted(sum(c.values()), 'unit')}: {_states(c)}") for name, c in counts.items()]
    show(pairs(ended or [("none", "")]))
    for name, of_study in lines.items():
        _print_lines(name, of_study)
    return EXIT_SOLVED


HEADS = ("accuracy", "balanced", "MCC", "recall", "AUC", "features", "seconds", "CPU s", "units")


def _print_lines(name: str, lines: list[MethodSummary]) -> None:
    rows = []
    for line in lines:
        numbers = [shown(line.measures[m], k) for m, k in zip(line.measures, (3, 3, 3, 3, 3, 1, 2, 2), strict=True)]
        rows.append((line.data, line.title, *numbers, f"{line.finished}/{line.units}"))
    show(table(name, ("data", "method", *(f">{head}" for head in HEADS)), rows, names=2))


def shown(value: Spread | None, digits: int) -> str | None:
    """Return a mean and, of more than one value, its deviation."""
    if value is None:
        return None
    deviation = f" ±{value.deviation:.{digits}f}" if value.count > 1 else ""
    return f"{value.mean:.{digits}f}{deviation}"


def line_record(line: MethodSummary) -> dict[str, Any]:
    """Return a line as plain data."""
    from fsopt.answers.records import plain

    record = {name: getattr(line, name) for name in ("data", "method", "params", "units", "finished", "failed")}
    result: dict[str, Any] = plain({**record, **line.measures})
    return result


def _write(store: Path, output: Path, json: bool) -> int:
    """Write the rows as a table, the report, or a copy of the store."""
    from fsopt.studies.report import write_report
    from fsopt.studies.store import copy_store
    from fsopt.studies.study_report import study_sections

    suffix = output.suffix.lower()
    if suffix in COPIES:
        copy_store(store, output)
    else:
        rows, _ = _read(store)
        if suffix in TABLES:
            _write_rows([row for of_study in rows.values() for row in of_study], output)
        else:
            sections = [section for of_study in rows.values() for section in study_sections(of_study)]
            write_report(output, ", ".join(rows) or "no study", sections)
    written([output], {"store": str(store)}, as_json=json)
    return EXIT_SOLVED


def _write_rows(rows: list[dict[str, Any]], output: Path) -> None:
    """Write rows as a table; lists are JSON texts in it."""
    import pandas as pd

    from fsopt.common.files import whole_file
    from fsopt.studies.store import PLAIN, exported

    frame = pd.DataFrame(exported(rows), columns=[*PLAIN, "study", "key"])
    with whole_file(output) as temporary:
        if output.suffix.lower() == ".csv":
            frame.to_csv(temporary, index=False)
            return
        try:
            frame.to_parquet(temporary, index=False)
        except ImportError as error:
            raise FileError(".parquet needs pyarrow, which is not installed", "pip install fsopt[parquet]") from error
