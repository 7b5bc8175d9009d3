"""Verb ``study``: a study is run, and its store shown, exported and reported."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli import output as out
from fsopt.common.texts import counted, one_line

if TYPE_CHECKING:
    from fsopt.studies.ranking import Line
    from fsopt.studies.running import Progress


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
    output: Annotated[
        Path | None,
        options.file("write rows, .csv, means, .tex, or a report, .html", kinds=(".csv", ".tex", ".html")),
    ] = None,
    json: options.Json = False,
) -> int:
    """Run data sets x methods x folds x seeds, or show their store.

    Units that have a row are not run again: after an interruption or a kill, the same command goes on. A store is shown
    by the number of its units and by means over folds and seeds, also while a run writes it.
    """
    if path is not None:
        options.only(context, "of a run", ("path", "store", "jobs", "scheduler", "retry", "json"))
        return _run(path, store, jobs, scheduler, retry, json)
    options.only(context, "without STUDY.toml", ("store", "output", "json"))
    if output is not None:
        return _write(store, output, json)
    return _show(store, json)


def _run(path: Path, store: Path, jobs: int, scheduler: str | None, retry: bool, json: bool) -> int:
    """Run the units of a study that have no row yet."""
    from fsopt.common.teams import on_scheduler
    from fsopt.studies.running import run_study
    from fsopt.studies.study import read_study

    options.check_workers(jobs, scheduler)
    asked = read_study(path)
    with out.progress_bar(asked.name, total=1) as update:

        def told(p: Progress) -> None:
            done = f"{p.finished} of {counted(p.total, 'unit')}, {p.failed} failed"
            left = timedelta(seconds=round(p.seconds_left))
            update(p.finished / p.total, f"{asked.name}: {done}, about {left} left")

        try:
            with on_scheduler(scheduler):
                found = run_study(asked, store=store, jobs=jobs, retry=retry, progress=told)
        except KeyboardInterrupt:
            out.remark("interrupted: finished units are in the store, and the same command goes on")
            return out.EXIT_INTERRUPTED
    counts = found.counts
    record = {"study": asked.name, "store": str(store), "units": len(found.rows), "states": counts}
    words = f"{one_line(asked.name)}: {counted(len(found.rows), 'unit')}, {_states(counts)}"
    out.print_json(record) if json else out.show(words)
    _tell_failures(found.rows)
    return out.EXIT_SOLVED if found.complete else out.EXIT_NOT_SOLVED


def _states(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {state}" for state, number in counts.items())


def _tell_failures(rows: Any) -> None:
    """Print the different errors of rows on stderr, each with the number of its units."""
    errors = Counter(f"{row['method']} on {row['data']}: {row['error']}" for row in rows if row["error"])
    for text, number in errors.items():
        out.remark(f"{counted(number, 'unit')}: {text}")
    if errors:
        out.remark("--retry computes them again")


def _read(store: Path) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    """Return the rows of each study, and the keys of damaged ones, which are named on stderr."""
    from fsopt.studies.running import opened

    with opened(store) as held:
        listed = [row for row in held.rows().values() if "study" in row]
        damaged = held.damaged
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(listed, key=lambda row: int(row["place"])):
        rows.setdefault(row["study"], []).append(row)
    if damaged:
        out.remark(f"{counted(len(damaged), 'row')} not as they were written are left out: {', '.join(damaged)}")
        out.remark("the run of the study computes them again")
    return rows, damaged


def _show(store: Path, json: bool) -> int:
    """Print how many units of each study are done and failed, and means over folds and seeds."""
    from fsopt.studies.ranking import lines_of
    from fsopt.studies.report import means_of

    rows, damaged = _read(store)
    counts = {name: dict(Counter(row["state"] for row in of_study)) for name, of_study in rows.items()}
    lines = {name: lines_of(of_study) for name, of_study in rows.items()}
    if json:
        listed = [{"study": name, **_record(line)} for name, of_study in lines.items() for line in of_study]
        out.print_json({"store": str(store), "studies": counts, "damaged": damaged, "rows": listed})
        return out.EXIT_SOLVED
    ended = [(name, f"{counted(sum(c.values()), 'unit')}: {_states(c)}") for name, c in counts.items()]
    out.show(out.pairs(ended or [("none", "")]))
    for name, of_study in lines.items():
        means = means_of(of_study)
        heads = [head if head in ("data", "method", "status") else f">{head}" for head in means.columns]
        out.show(out.table(name, heads, means.to_numpy().tolist(), names=2))
    return out.EXIT_SOLVED


def _record(line: Line) -> dict[str, Any]:
    """Return a line as plain data."""
    from fsopt.studies.report import COLUMNS

    spreads = {name: line.spread(name) for name in COLUMNS}
    means = {k: None if mean is None else {"mean": mean, "deviation": apart} for k, (mean, apart) in spreads.items()}
    own = {"data": line.data, "method": line.method, "params": line.params, "statuses": line.statuses}
    ended = {"units": len(line.rows), "finished": line.finished, "failed": len(line.rows) - line.finished}
    return {**own, **ended, **means}


def _write(store: Path, output: Path, json: bool) -> int:
    """Write the rows or the means as a table, or the report."""
    from fsopt.common.files import whole_file
    from fsopt.studies.ranking import lines_of
    from fsopt.studies.report import means_of, study_sections, write_report, write_table
    from fsopt.studies.running import frame_of

    rows, _ = _read(store)
    listed = [row for of_study in rows.values() for row in of_study]
    match output.suffix.lower():
        case ".csv":
            with whole_file(output) as temporary:
                frame_of(listed).to_csv(temporary, index=False)
        case ".tex":
            write_table(output, means_of(lines_of(listed)), ", ".join(rows))
        case _:
            sections = [section for of_study in rows.values() for section in study_sections(of_study)]
            write_report(output, ", ".join(rows) or "no study", sections)
    out.written([output], {"store": str(store)}, as_json=json)
    return out.EXIT_SOLVED
