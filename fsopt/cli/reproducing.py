"""Verb ``reproduce``: tables and figures of the papers, ours beside the printed numbers."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.output import (
    EXIT_INTERRUPTED,
    EXIT_NOT_SOLVED,
    EXIT_SOLVED,
    dump_json,
    print_json,
    progress_bar,
    remark,
    show,
    table,
)
from fsopt.cli.streams import reader_left
from fsopt.errors import FileError, FsoptError, OutOfTimeError, ParameterError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fsopt.papers.reproduction import Experiment, Reproduction, RunSettings

HEADS = ("row", "column", ">ours", ">printed", ">diff", ">chance", "verdict")


def reproduce(
    names: Annotated[list[str] | None, typer.Argument(help="names of --list", metavar="[NAME]...")] = None,
    listed: Annotated[bool, typer.Option("--list", help="print the names, and what each shows")] = False,
    every: Annotated[bool, typer.Option("--all", help="all of them")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="a small part of each, which its notes state")] = False,
    jobs: options.Jobs = -1,
    scheduler: options.Scheduler = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="folder for pages, cells, figures (SVG, PNG) and an overview"),
    ] = None,
    store: Annotated[
        Path | None, typer.Option("--store", help="SQLite file of the parts that take long: a killed run goes on")
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", min=0.0, help="seconds after which no part is begun that --store does not have"),
    ] = None,
    report: options.Report = None,
    json: options.Json = False,
) -> int:
    """Reproduce tables and figures of the papers, with a verdict.

    Ours stand beside the printed numbers, each cell with its verdict.
    """
    from fsopt.common.teams import check_jobs, on_scheduler
    from fsopt.papers.registry import EXPERIMENTS
    from fsopt.papers.reproduction import RunSettings
    from fsopt.studies.running import opened

    if listed:
        return _list(list(EXPERIMENTS.values()), json)
    asked = _named(names, every)
    workers = check_jobs(jobs)
    options.check_workers(jobs, scheduler)
    if output is not None:
        _make(output)
    with opened(store, write=store is not None) as held, on_scheduler(scheduler):
        ends = None if time_limit is None else time.monotonic() + time_limit
        settings = RunSettings(quick=quick, jobs=workers, store=held, ends=ends)
        words = _options(quick, time_limit, store)
        code, done, records = _run(asked, settings, output, words, shown=not json, kept=report is not None)
    if report is not None:
        from fsopt.papers.pages import reproduction_report

        reproduction_report(report, done, quick)
    if json:
        print_json({"quick": quick, "experiments": records})
    return code


def _named(names: list[str] | None, every: bool) -> list[Experiment]:
    """Return the experiments of names, or all; raises ParameterError, UnknownNameError."""
    from fsopt.papers.registry import EXPERIMENTS

    if bool(names) == every:
        raise ParameterError(
            "no table or figure is named" if not every else "both names and --all are given",
            "'fsopt reproduce --list' has the names",
        )
    return [EXPERIMENTS[name] for name in names or EXPERIMENTS]


def _options(quick: bool, time_limit: float | None, store: Path | None) -> str:
    """Return the options that a result depends on: with a limit of time also the file of the parts that are there."""
    kept = "" if store is None else f" --store {store.name}"
    return " --quick" * quick + ("" if time_limit is None else f" --time-limit {time_limit:g}{kept}")


def _run(
    asked: list[Experiment], settings: RunSettings, output: Path | None, words: str, *, shown: bool, kept: bool
) -> tuple[int, list[tuple[Experiment, Reproduction, float]], list[dict[str, Any]]]:
    """Run experiments one after another; return the exit code, the outcomes with their seconds, and the records."""
    from fsopt.papers.pages import with_agreement
    from fsopt.papers.reproduction import failed

    records: list[dict[str, Any]] = []
    done: list[tuple[Experiment, Reproduction, float]] = []
    code = EXIT_SOLVED
    with progress_bar("reproduce", total=len(asked)) as update:
        for k, one in enumerate(asked):
            update(k, f"reproduce {one.name} ({k} of {len(asked)})")
            started, settings = time.perf_counter(), replace(settings, parts=[])
            try:
                outcome = one.run(settings)
            except FsoptError as error:
                outcome = failed(error)
                if settings.ends is None or not isinstance(error, OutOfTimeError):  # --time-limit is no failure
                    remark(f"{one.name} failed: {error}")
                    code = EXIT_NOT_SOLVED
            except KeyboardInterrupt:
                remark(f"interrupted in {one.name}: {k} were finished")
                return EXIT_INTERRUPTED, done, records
            seconds = time.perf_counter() - started
            if output is not None or kept:
                outcome = with_agreement(outcome)
            done.append((one, outcome, seconds))
            records.append(_record(one, outcome, seconds, settings, words))
            if output is not None:
                _write(output, one, outcome, records[-1])
            if shown:
                _print(records[-1])
            if reader_left() and output is None and not kept:  # nobody would see the rest
                break
    return code, done, records


def _list(experiments: list[Experiment], json: bool) -> int:
    rows: list[dict[str, Any]] = [
        {"name": e.name, "paper": e.paper, "shows": e.shows, "minutes": e.minutes, "data": list(e.data)}
        for e in experiments
    ]
    if json:
        print_json({"experiments": rows})
        return EXIT_SOLVED
    cells = [(row["name"], row["shows"], f"{row['minutes']:g}", row["data"] or "drawn") for row in rows]
    show(table("", ("name", "shows", ">minutes", "data"), cells))
    return EXIT_SOLVED


def _make(folder: Path) -> None:
    """Create the folder of the results."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder '{folder}': {error.strerror}", "give another one") from error


def _record(
    one: Experiment, outcome: Reproduction, seconds: float, settings: RunSettings, words: str
) -> dict[str, Any]:
    """Return an outcome as plain data, with the command of these words that made it."""
    from fsopt.answers.records import plain
    from fsopt.papers.pages import beside_random
    from fsopt.papers.reproduction import time_of
    from fsopt.papers.verdicts import counts

    cells = [{**vars(c), "difference": c.difference} for c in outcome.cells]
    record: dict[str, Any] = plain(
        {
            "name": one.name,
            "paper": one.paper,
            "shows": one.shows,
            "quick": settings.quick,
            "command": f"fsopt reproduce {one.name}{words}",
            "seconds": round(seconds, 1),
            "parts": time_of(settings.parts),
            "verdicts": counts(outcome.cells),
            "random": beside_random(cells),
            "notes": outcome.notes,
            "figures": list(outcome.figures),
            "cells": cells,
        }
    )
    return record


def _write(folder: Path, one: Experiment, outcome: Reproduction, record: dict[str, Any]) -> None:
    """Write the record, the page and the figures of an experiment, and the overview of all in the folder."""
    from fsopt.common.files import write_text
    from fsopt.papers.pages import COUNTS, OVERVIEW, PARTS, counted, fuller, markdown, overview, saved

    # A page that is there and is fuller, for example of a run without a limit of time, stays.
    found, path = counted(folder), folder / f"{one.name}.json"
    parts = record["parts"]["number"]
    own = {**record["verdicts"], **record["random"], **({PARTS: parts} if parts else {})}
    if path.exists() and fuller(found.get(one.name, {}), own):
        remark(f"'{path}' stays: it has more than this run; remove it to have the page of this run")
        return
    found[one.name] = own
    write_text(path, saved(record))
    write_text(path.with_suffix(".md"), markdown(record))
    write_text(folder / COUNTS, dump_json(dict(sorted(found.items()))))
    page, picture = overview(found)
    write_text(folder / f"{OVERVIEW}.md", page)
    for name, figure in {OVERVIEW: picture, **{f"{one.name}-{k}": f for k, f in outcome.figures.items()}}.items():
        _save(figure, folder, name)


def _save(figure: Figure, folder: Path, name: str) -> None:
    """Write a figure in both formats, the same bytes for the same figure."""
    from matplotlib import rc_context

    from fsopt.common.files import whole_file

    for kind in ("svg", "png"):
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        with rc_context({"svg.hashsalt": name}), whole_file(folder / f"{name}.{kind}") as temporary:
            figure.savefig(os.fspath(temporary), format=kind, metadata=metadata)


def _print(record: dict[str, Any]) -> None:
    from fsopt.papers.pages import filled

    heads, rows = filled(HEADS, [(c["row"], c["column"], *_numbers(c), _verdict(c)) for c in record["cells"]])
    title = f"{record['name']}: {record['shows']} ({record['seconds']:g} s)"
    show(table(title, heads, rows) if rows else title)
    show(*(f"  {note}" for note in record["notes"]))
    show("  " + ", ".join(f"{number} {verdict}" for verdict, number in record["verdicts"].items()))


def _verdict(c: dict[str, Any]) -> str:
    return f"{c['verdict']} ({c['why']})" if c["why"] else str(c["verdict"])


def _numbers(c: dict[str, Any]) -> tuple[str | None, ...]:
    ours, difference = (None if c[k] is None else f"{c[k]:.4g}" for k in ("ours", "difference"))
    return ours, c["printed"], difference, None if c["chance"] is None else f"{100 * c['chance']:.2g} %"
