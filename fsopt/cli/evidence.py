"""Verbs ``check`` and ``reproduce``: answers, proofs, what other software says, and the tables of the papers."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from json import dumps, loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.models import Scale, changed, is_file, read_file
from fsopt.cli.options import WHOLE, load
from fsopt.cli.output import (
    EXIT_INTERRUPTED,
    EXIT_NOT_SOLVED,
    EXIT_SOLVED,
    deliver,
    dump_json,
    pairs,
    print_certificate,
    print_exact,
    print_json,
    progress_bar,
    remark,
    show,
    table,
)
from fsopt.data.layout import SPELLING, Layout
from fsopt.errors import FileError, FsoptError, OutOfTimeError, ParameterError, shown

if TYPE_CHECKING:
    import pyomo.environ as pyo
    from matplotlib.figure import Figure

    from fsopt.papers.reproduction import Experiment, Reproduction, RunSettings
    from fsopt.verification.verified import ExactCheck

Data = Annotated[str | None, typer.Option("--data", help=f"{options.DATA_HELP}; or the model file of the answer")]
Solution = Annotated[
    Path | None, typer.Option("--solution", help="a file of HiGHS, of lines 'name value', or AMPL's .sol")
]
SAVED = "a file of 'fsopt solve' or 'fsopt fit' with -o, a proof; of --solution the model: a slug, .lp, .mps"
Checked = Annotated[str, typer.Argument(help=SAVED)]
Folder = Annotated[
    Path | None, typer.Option("-o", "--output", help="folder for pages, cells, figures (SVG) and an overview")
]
Store = Annotated[
    Path | None, typer.Option("--store", help="SQLite file of the parts that take long: a killed run goes on")
]
Ends = Annotated[
    float | None,
    typer.Option("--time-limit", min=0.0, help="seconds after which no part is begun that --store does not have"),
]


def check(
    answer: Checked,
    data: Data = None,
    solution: Solution = None,
    layout: Layout = WHOLE,
    param: options.Params = None,
    scale: Scale = "none",
    customise: options.Customise = None,
    exact: options.Exact = False,
    proof: options.Proof = None,
    json: options.Json = False,
) -> int:
    """Verify a saved answer, a proof, or what another program claims.

    No solver is called. What rests on a solver's word alone is named. The program of a proof is built anew from the
    data, or read from the model file, and has to be the one in the proof.
    """
    if solution is not None:
        if is_file(answer, data):
            program = read_file(
                answer, {"data": data, "param": param, "customise": customise, "scale": scale != "none"}
            )
        else:
            program = changed(answer, str(data), layout, options.parse_params(param), scale, customise)
        return _check_solution(program, answer, solution, exact, proof, json)
    of_file = _of_file(answer, data, param, scale)
    path, source = Path(answer), str(data)
    if _is_proof(path) and proof is not None:
        raise ParameterError(f"'{answer}' is a proof already", "leave out --proof")
    if _is_proof(path):
        return _check_proof(path, source, of_file, layout, customise, json)
    if of_file:
        return _check_solution(read_file(source, {}), source, path, exact, proof, json)
    return _check_answer(path, source, layout, customise, exact, proof, json)


def _of_file(answer: str, data: str | None, param: options.Params, scale: str) -> bool:
    """Return whether an answer is one to a model file; raises for no answer, and for one to other models or data."""
    from fsopt.formats.read import is_model_file
    from fsopt.models.registry import MODELS

    if answer in MODELS or is_model_file(answer):
        raise ParameterError(f"'{answer}' is a model, no answer", "give what its solver wrote with --solution FILE")
    for name, given in (("--param", param), ("--scale", scale != "none")):
        if given:
            raise ParameterError(f"{name} is for the model of --solution", "leave it out: an answer has its own")
    if data is None:
        raise ParameterError("no data are given", "give --data, the data set or the model file that the answer is of")
    with suppress(OSError, ValueError, RecursionError, AttributeError, TypeError):  # of what is no answer of fsopt
        record, found = loads(Path(answer).read_bytes()), is_model_file(data)
        digest = record.get("file", {}).get("sha256")
        if digest and not found:
            raise FileError(f"'{answer}' is an answer to a model file, '{record['model']}'", "give it with --data")
        if "data" in record and found:
            raise FileError(f"'{answer}' is an answer of a data set, '{record['data']}'", "give it with --data")
        if digest and digest != sha256(Path(data).read_bytes()).hexdigest():
            raise FileError(
                f"'{answer}' is an answer of another model than '{data}', by its digest", "give its own file"
            )
    return is_model_file(data)


def _check_answer(
    path: Path, data: str, layout: Layout, customise: options.Customise, exact: bool, proof: Path | None, json: bool
) -> int:
    """Verify a saved answer."""
    from fsopt.answers.records import plain
    from fsopt.answers.saved import read_record
    from fsopt.methods.registry import METHODS
    from fsopt.verification.verify import verify_record

    record = read_record(path)
    source = load(data, _saved_layout(record, layout, path))
    models = METHODS[record["method"]].models if "method" in record else (record["model"],)
    changes = options.read_changes(customise, models)
    verified = verify_record(record, source, str(path), exact=exact or proof is not None, customise=changes)
    found = plain(verified.record())
    _write_evidence(verified.exact, proof)
    deliver(found, None, as_json=json, present=lambda: _print_verdict(found))
    return EXIT_SOLVED if verified.verified else EXIT_NOT_SOLVED


def _saved_layout(record: Mapping[str, Any], given: Layout, path: Path) -> Layout:
    """Return the layout of a saved answer; raises FileError where another is given, but for identifier and spelling."""
    saved = Layout.saved(record)
    if given == WHOLE:
        return saved
    of_file: dict[str, Any] = dict.fromkeys(("id", *SPELLING))
    if "layout" in record and replace(saved, **of_file) != replace(given, **of_file):
        raise FileError(
            f"'{path}' was saved with other options of the data: {shown(saved.stated)}",
            "give the same, such as --target and --missing, or none: those of the file are taken then",
        )
    return given


def _check_solution(
    program: pyo.ConcreteModel, model: str, solution: Path, exact: bool, proof: Path | None, json: bool
) -> int:
    """Verify what another program claims of its point."""
    from fsopt.answers.records import plain
    from fsopt.formats.read import contents, told
    from fsopt.formats.solution import read_solution
    from fsopt.verification.verify import verify

    stated = read_solution(solution, program)
    found = verify(stated, program, exact=exact or proof is not None)
    file = contents(program, model) if hasattr(program, "read_by") else None
    own = stated.evidence is not None or (stated.point is not None and stated.point.y is not None)
    record: dict[str, Any] = {"model": model} | ({"file": file} if file else {})
    record |= {"solution": str(solution), "software": stated.solver, "multipliers": own, "stated": stated.objective}
    record |= {**found.record(), "objective": found.certificate.objective, "bound": found.certificate.bound}
    record = plain(record)
    _write_evidence(found.exact, proof)
    facts = {"model": model, "file": told(file) if file else "", "solution": str(solution), "software": stated.solver}
    deliver(record, None, as_json=json, present=lambda: _print_verdict(record, facts))
    return EXIT_SOLVED if found.verified else EXIT_NOT_SOLVED


def _print_verdict(found: Mapping[str, Any], facts: Mapping[str, Any] | None = None) -> None:
    """Print the record of a verification: the claim and whose word its bound is, whether it holds, and the evidence."""
    lines = {**(facts or {}), "claimed": found["status_line"], "verified": "yes" if found["verified"] else "NO"}
    lines |= {name: found.get(name) for name in ("objective", "bound", "reason")}
    show(pairs((name, text) for name, text in lines.items() if text not in (None, "")))
    print_certificate(found["certificate"])
    if "exact" in found:
        print_exact(found["exact"])


def _write_evidence(found: ExactCheck | None, output: Path | None) -> None:
    """Write the exact evidence of an answer as a proof, packed where the name ends in .gz."""
    from gzip import compress

    from fsopt.common.files import whole_file
    from fsopt.verifier.verify import canonical

    if output is None or found is None:
        return
    proof = found.proof()
    if not proof["claims"]:
        remark("no proof is written: no claim has exact evidence")
        return
    content = canonical(proof).encode()
    with whole_file(output) as temporary:
        temporary.write_bytes(compress(content, 6, mtime=0) if output.suffix == ".gz" else content)
    remark(f"wrote {output}, {len(proof['claims'])} of {len(found.claims)} claims: fsopt-verify {output}")


def _check_proof(proof: Path, data: str, file: bool, layout: Layout, customise: options.Customise, json: bool) -> int:
    """Check a proof file against data in a layout or a model file, and print what was found."""
    from fsopt.verification.origins import check_proof
    from fsopt.verifier.verify import said

    source = read_file(data, {}) if file else load(data, layout)
    found = check_proof(proof, source, options.read_changes(customise, ()))
    if json:
        print_json(found.record())
        return EXIT_NOT_SOLVED if found.reason else EXIT_SOLVED
    for statement in found.statements:
        if (origin := statement["origin"]) is not None:
            rest = {k: v for k, v in origin.items() if k not in ("model", "parameters", "data") and v not in (None, [])}
            show(f"{origin['model']} {dumps(origin['parameters'])} {dumps(rest)}")
        show("\n".join(said(dict(statement))))
    which = f"the model file {data}" if file else f"the data {data}"
    show(f"REFUTED    {found.reason}" if found.reason else f"confirmed  proved for the programs of {which}")
    return EXIT_NOT_SOLVED if found.reason else EXIT_SOLVED


def _is_proof(path: Path) -> bool:
    """Return whether a file is a proof, packed or not, and no saved answer."""
    import gzip
    import zlib

    with suppress(OSError, EOFError, zlib.error):
        with open(path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if packed else open(path, "rb") as file:
            first = file.read(100)
        return first.startswith(b'{"claims":') or b'"fsopt proof' in first
    return False


def reproduce(
    names: Annotated[list[str] | None, typer.Argument(help="names of --list", metavar="[NAME]...")] = None,
    listed: Annotated[bool, typer.Option("--list", help="print the names, and what each shows")] = False,
    every: Annotated[bool, typer.Option("--all", help="all of them")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="a small part of each, which its notes state")] = False,
    jobs: options.Jobs = -1,
    scheduler: options.Scheduler = None,
    output: Folder = None,
    store: Store = None,
    time_limit: Ends = None,
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
    if bool(names) == every:
        said = "no table or figure is named" if not every else "both names and --all are given"
        raise ParameterError(said, "'fsopt reproduce --list' has the names")
    asked = [EXPERIMENTS[name] for name in names or EXPERIMENTS]
    workers = check_jobs(jobs)
    options.check_workers(jobs, scheduler)
    if output is not None and output.is_file():
        raise FileError(f"'{output}' is a file", "give a folder, which is made where it is not there")
    with opened(store, write=store is not None) as held, on_scheduler(scheduler):
        ends = None if time_limit is None else time.monotonic() + time_limit
        settings = RunSettings(quick=quick, jobs=workers, store=held, ends=ends)
        limit = "" if time_limit is None else f" --time-limit {time_limit:g}"
        words = " --quick" * quick + limit + (f" --store {store.name}" if limit and store else "")
        code, records = _run(asked, settings, output, words, shown=not json)
    if json:
        print_json({"quick": quick, "experiments": records})
    return code


def _run(
    asked: list[Experiment], settings: RunSettings, output: Path | None, words: str, *, shown: bool
) -> tuple[int, list[dict[str, Any]]]:
    """Run experiments one after another; write and print each, and return the exit code and the records."""
    from fsopt.papers.pages import with_agreement
    from fsopt.papers.reproduction import failed

    records: list[dict[str, Any]] = []
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
                return EXIT_INTERRUPTED, records
            spent = time.perf_counter() - started
            outcome = outcome if output is None else with_agreement(outcome)
            records.append(_record(one, outcome, spent, settings, words))
            if output is not None:
                _write(output, one, outcome, records[-1])
            if shown and not _print(records[-1]) and output is None:  # nobody would see the rest
                break
    return code, records


def _list(experiments: list[Experiment], json: bool) -> int:
    """Print what can be reproduced."""
    names = ("name", "paper", "shows", "minutes")
    rows = [{k: getattr(e, k) for k in names} | {"data": list(e.data)} for e in experiments]
    if json:
        print_json({"experiments": rows})
        return EXIT_SOLVED
    cells = [(row["name"], row["shows"], f"{row['minutes']:g}", row["data"] or "drawn") for row in rows]
    show(table("", ("name", "shows", ">minutes", "data"), cells))
    return EXIT_SOLVED


def _record(one: Experiment, outcome: Reproduction, spent: float, settings: RunSettings, words: str) -> dict[str, Any]:
    """Return an outcome as plain data, with the command of these words that made it."""
    from fsopt.answers.records import plain
    from fsopt.papers.pages import beside_random
    from fsopt.papers.reproduction import time_of
    from fsopt.papers.verdicts import counts

    cells = [{**vars(c), "difference": c.difference} for c in outcome.cells]
    record: dict[str, Any] = {"name": one.name, "paper": one.paper, "shows": one.shows, "quick": settings.quick}
    record |= {"command": f"fsopt reproduce {one.name}{words}", "seconds": round(spent, 1)}
    record |= {"parts": time_of(settings.parts), "verdicts": counts(outcome.cells), "random": beside_random(cells)}
    record |= {"notes": outcome.notes, "figures": list(outcome.figures), "cells": cells}
    return {k: plain(v) for k, v in record.items()}


def _write(folder: Path, one: Experiment, outcome: Reproduction, record: dict[str, Any]) -> None:
    """Write the record, the page and the figures of an experiment, and the overview of all in the folder."""
    from fsopt.common.files import write_text
    from fsopt.papers.pages import COUNTS, OVERVIEW, PARTS, counted, fuller, markdown, overview, saved

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder '{folder}': {error.strerror}", "give another one") from error
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
    """Write a figure as SVG, the same bytes for the same figure."""
    from matplotlib import rc_context

    from fsopt.common.files import whole_file

    with rc_context({"svg.hashsalt": name}), whole_file(folder / f"{name}.svg") as temporary:
        figure.savefig(os.fspath(temporary), format="svg", metadata={"Date": None})


def _print(record: dict[str, Any]) -> bool:
    """Print the cells, notes and verdicts of an experiment; return whether the reader is still there."""
    from fsopt.papers.pages import filled

    cells = []
    for c in record["cells"]:
        ours, apart = (None if c[k] is None else f"{c[k]:.4g}" for k in ("ours", "difference"))
        chance = None if c["chance"] is None else f"{100 * c['chance']:.2g} %"
        verdict = f"{c['verdict']} ({c['why']})" if c["why"] else str(c["verdict"])
        cells.append((c["row"], c["column"], ours, c["printed"], apart, chance, verdict))
    heads, rows = filled(("row", "column", ">ours", ">printed", ">diff", ">chance", "verdict"), cells)
    title = f"{record['name']}: {record['shows']} ({record['seconds']:g} s)"
    verdicts = ", ".join(f"{number} {verdict}" for verdict, number in record["verdicts"].items())
    notes = [f"  {note}" for note in record["notes"]]
    return show(table(title, heads, rows) if rows else title, *notes, f"  {verdicts}")
