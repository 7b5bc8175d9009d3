"""Verbs ``study run``, ``status``, ``show``, ``export``, ``report`` and ``copy``: studies in a store."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.output import (
    EXIT_INTERRUPTED,
    EXIT_NOT_SOLVED,
    EXIT_SOLVED,
    escape,
    pairs,
    print_json,
    progress_bar,
    remark,
    show,
    table,
)
from fsopt.common.texts import one_line
from fsopt.errors import FileError, ParameterError, unknown

if TYPE_CHECKING:
    from fsopt.studies.running import Progress
    from fsopt.studies.store import Store
    from fsopt.studies.summary import MethodSummary, Spread

app = typer.Typer(
    help="Studies: data sets x methods x folds x seeds, in a store that survives every kill.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
StorePath = Annotated[Path, typer.Option("--store", help="SQLite file of the rows")]
Name = Annotated[str | None, typer.Option("--study", help="name of one study of the store; all by default")]
FORMATS = (".csv", ".parquet")


@app.command()
def run(
    study: Annotated[Path, typer.Argument(help="TOML file of the study", metavar="STUDY.toml")],
    store: StorePath,
    jobs: Annotated[int, typer.Option("--jobs", help="processes; -1 takes all processors")] = -1,
    scheduler: options.Scheduler = None,
    retry: Annotated[bool, typer.Option("--retry", help="also units that failed or were ended by a limit")] = False,
    allow_code: Annotated[
        bool, typer.Option("--allow-code", help="run the Python files that the study names in customise")
    ] = False,
    json: options.Json = False,
) -> int:
    """Run the units of a study that have no row yet; after an interruption or a kill, the same command goes on."""
    from fsopt.common.teams import check_jobs
    from fsopt.studies.executors import dask_executor
    from fsopt.studies.running import run_study
    from fsopt.studies.study import read_study

    check_jobs(jobs)
    options.check_workers(jobs, scheduler)
    asked = read_study(study, allow_code=allow_code or _agreed(study))
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
    if json:
        print_json({"study": asked.name, "store": str(store), "units": len(found.rows), "states": counts})
    else:
        show(f"{one_line(asked.name)}: {len(found.rows)} units, {_states(counts)}")
    _tell_failures(found.rows)
    return EXIT_SOLVED if found.complete else EXIT_NOT_SOLVED


def _agreed(study: Path) -> bool:
    """Ask on a terminal whether the code that a study names may run; without a terminal nobody agrees."""
    from fsopt.studies.contents import code_of, study_content

    code = code_of(study_content(study))
    if not code or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return typer.confirm(f"the study runs the code of {', '.join(code)}: have you read it, and may it run?", err=True)


def _told(p: Progress) -> str:
    """Return the text of the progress bar."""
    if not p.last:
        return f"{p.finished} of {p.total} units planned"
    left = "" if p.seconds_left is None else f", about {duration(p.seconds_left)} left"
    return f"{p.finished} of {p.total} units, {p.failed} failed{left}"


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
        remark(f"{number} units: {text}")
    if errors:
        remark("--retry computes them again")


def _tell_damaged(damaged: dict[str, str]) -> None:
    """Name the damaged rows, which are left out, on stderr."""
    for key, reason in damaged.items():
        remark(f"the row {key} is damaged and left out: {reason}")
    if damaged:
        remark("the run of the study computes them again")


def _read(store: Path, study: str | None) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the names of the chosen studies and their rows; damaged ones are named on stderr."""
    from fsopt.studies.store import opened

    with opened(store) as held:
        names = _chosen(held, study)
        rows = [row for row in held.rows() if row["study"] in names]
        _tell_damaged(held.damaged)
    return names, rows


def _chosen(held: Store, study: str | None) -> list[str]:
    """Return the studies that are asked for; refuse a name that the store has not."""
    names = held.studies()
    if study is None:
        return names
    if study not in names:
        raise unknown("study", study, names, "fsopt study status --store FILE")
    return [study]


@app.command()
def status(store: StorePath, json: options.Json = False) -> int:
    """Print how many units of each study are done, failed, and waiting."""
    from fsopt.studies.store import opened

    with opened(store) as held:
        counts: dict[str, dict[str, int]] = {name: {} for name in held.studies()}
        for row in held.rows():
            of_study = counts[row["study"]]
            of_study[row["state"]] = of_study.get(row["state"], 0) + 1
        damaged = held.damaged
    _tell_damaged(damaged)
    if json:
        print_json({"store": str(store), "studies": counts, "damaged": damaged})
    else:
        show(pairs([(name, f"{sum(c.values())} units: {_states(c)}") for name, c in counts.items()] or [("none", "")]))
    return EXIT_SOLVED


@app.command("show")
def show_rows(
    store: StorePath,
    key: Annotated[str | None, typer.Argument(help="key of a unit, or its beginning, for all of its row")] = None,
    study: Name = None,
    json: options.Json = False,
) -> int:
    """Print means over folds and seeds, or all of one row."""
    from fsopt.answers.records import plain
    from fsopt.studies.summary import summarised

    names, rows = _read(store, study)
    if key is not None:
        found = {row["key"]: row for row in rows if row["key"].startswith(key)}
        if len(found) != 1:
            raise ParameterError(
                f"{len(found)} units have a key that begins with '{key}'", "'study export' has the keys"
            )
        [row] = found.values()
        print_json(plain(row)) if json else show(pairs(row.items()))
        return EXIT_SOLVED
    listed = [(name, line) for name in names for line in summarised(r for r in rows if r["study"] == name)]
    if json:
        print_json({"store": str(store), "rows": [{"study": name, **line_record(line)} for name, line in listed]})
        return EXIT_SOLVED
    for name in names:
        _print_lines(name, [line for other, line in listed if other == name])
    return EXIT_SOLVED


HEADS = ("accuracy", "balanced", "MCC", "recall", "AUC", "features", "seconds", "CPU s", "units")


def _print_lines(name: str, lines: list[MethodSummary]) -> None:
    listing = table(name, [("data", "left"), ("method", "left"), *((head, "right") for head in HEADS)])
    for line in lines:
        numbers = [shown(line.measures[m], k) for m, k in zip(line.measures, (3, 3, 3, 3, 3, 1, 2, 2), strict=True)]
        listing.add_row(*map(escape, (line.data, line.title, *numbers, f"{line.finished}/{line.units}")))
    show(listing)


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


@app.command()
def export(
    store: StorePath,
    output: Annotated[Path, typer.Option("-o", "--output", help="file, .csv or .parquet", callback=options.writable)],
    study: Name = None,
) -> int:
    """Write all rows of the store to a table; lists are JSON texts in it."""
    import pandas as pd

    from fsopt.common.files import whole_file
    from fsopt.studies.store import PLAIN, exported

    suffix = output.suffix.lower()
    if suffix not in FORMATS:
        raise ParameterError(f"the type of '{output}' is not known", f"one of {', '.join(FORMATS)}")
    rows = exported(_read(store, study)[1])
    frame = pd.DataFrame(rows, columns=[*PLAIN, "study", "key"])
    with whole_file(output) as temporary:
        if suffix == ".csv":
            frame.to_csv(temporary, index=False)
        else:
            try:
                frame.to_parquet(temporary, index=False)
            except ImportError as error:
                raise FileError(
                    ".parquet needs pyarrow, which is not installed", "pip install fsopt[parquet]"
                ) from error
    remark(f"wrote {len(rows)} rows to {output}")
    return EXIT_SOLVED


@app.command()
def report(
    store: StorePath,
    output: Annotated[Path, typer.Option("-o", "--output", help="HTML file", callback=options.writable)],
    study: Name = None,
) -> int:
    """Write the report of a study: one self-contained HTML page."""
    from fsopt.studies.report import write_report
    from fsopt.studies.study_report import study_sections

    names, rows = _read(store, study)
    sections = [s for name in names for s in study_sections([row for row in rows if row["study"] == name])]
    write_report(output, ", ".join(names) or "no study", sections)
    remark(f"wrote {output}")
    return EXIT_SOLVED


@app.command()
def copy(
    store: StorePath,
    output: Annotated[Path, typer.Option("-o", "--output", help="file of the copy", callback=options.writable)],
) -> int:
    """Copy a store, also while a run writes it: the copy is whole, one file, and is never put over another one."""
    from fsopt.studies.store import copy_store

    copy_store(store, output)
    remark(f"wrote {output}")
    return EXIT_SOLVED
