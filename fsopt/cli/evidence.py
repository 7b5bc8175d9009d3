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
from fsopt.cli import output as out
from fsopt.cli.models import Scale, built, is_file, read_file
from fsopt.cli.options import load
from fsopt.common.files import check_readable
from fsopt.data.layout import WHOLE, Layout
from fsopt.errors import FileError, FsoptError, OutOfTimeError, ParameterError

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from fsopt.papers.reproduction import Experiment, Reproduction, RunSettings
    from fsopt.verification.verified import Verification

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
            program = read_file(answer, {"data": data, "param": param, "scale": scale != "none"})
        else:
            program, _ = built(answer, load(str(data), layout), options.parse_params(param), scale)
        return _check_solution(program, answer, solution, exact, proof, json)
    path, of_file = Path(answer), _of_file(answer, data, bool(param) or scale != "none")
    if _is_proof(path):
        if proof is not None:
            raise ParameterError(f"'{answer}' is a proof already", "leave out --proof")
        return _check_proof(path, str(data), of_file, layout, json)
    if of_file:
        return _check_solution(read_file(str(data), {}), str(data), path, exact, proof, json)
    return _check_answer(path, str(data), layout, exact, proof, json)


def _of_file(answer: str, data: str | None, others: bool) -> bool:
    """Return whether an answer is one to a model file; raises for no answer, and for one to another model or data."""
    from fsopt.formats.read import is_model_file
    from fsopt.models.registry import MODELS

    if answer in MODELS or is_model_file(answer):
        raise ParameterError(f"'{answer}' is a model, no answer", "give what its solver wrote with --solution FILE")
    if others:
        raise ParameterError("--param and --scale are for the model of --solution", "leave them out")
    if data is None:
        raise ParameterError("no data are given", "give --data, the data set or the model file that the answer is of")
    found = is_model_file(data)
    of, digest = None, ""
    with suppress(OSError, ValueError, RecursionError, AttributeError, TypeError):  # of what is no answer of fsopt
        record = loads(Path(answer).read_bytes())
        digest = record.get("file", {}).get("sha256", "")
        of = record["model"] if digest else record.get("data")
    if of is not None and bool(digest) != found:
        raise FileError(f"'{answer}' is an answer to '{of}', not to '{data}'", "give its own with --data")
    if digest and digest != sha256(check_readable(data).read_bytes()).hexdigest():
        raise FileError(f"'{answer}' is an answer to another model than '{data}', by its digest", "give its own")
    return found


def _check_answer(path: Path, data: str, layout: Layout, exact: bool, proof: Path | None, json: bool) -> int:
    """Verify a saved answer, whose data are read as they were unless other options are given."""
    from fsopt.answers.saved import read_record
    from fsopt.verification.verify import verify_record

    record = read_record(path)
    source = load(data, replace(Layout.saved(record), **{name: getattr(layout, name) for name in layout.stated}))
    found = verify_record(record, source, str(path), exact=exact or proof is not None)
    return _verdict(found, {}, found.record(), proof, json)


def _check_solution(
    program: pyo.ConcreteModel, model: str, solution: Path, exact: bool, proof: Path | None, json: bool
) -> int:
    """Verify what another program claims of its point."""
    from fsopt.formats.read import contents, told
    from fsopt.formats.solution import read_solution
    from fsopt.verification.verify import verify

    stated = read_solution(solution, program)
    found = verify(stated, program, exact=exact or proof is not None)
    file = {"file": contents(program, model)} if hasattr(program, "read_by") else {}
    own = stated.evidence is not None or (stated.point is not None and stated.point.y is not None)
    facts = {"model": model, **file, "solution": str(solution), "software": stated.solver}
    certificate = found.certificate
    record = {**facts, "multipliers": own, "stated": stated.objective, **found.record()}
    record |= {"objective": certificate.objective, "bound": certificate.bound}
    return _verdict(found, facts | {name: told(value) for name, value in file.items()}, record, proof, json)


def _verdict(
    found: Verification, facts: Mapping[str, Any], record: Mapping[str, Any], proof: Path | None, json: bool
) -> int:
    """Write the exact evidence and print what was found of an answer, with facts above; return the exit code."""
    from fsopt.answers.records import plain

    known = plain(record)
    _write_evidence(found, proof)
    if json:
        out.print_json(known)
    else:
        out.show(*[out.pairs(facts.items())] if facts else [], found.summary())
        if "exact" in known:
            out.print_exact(known["exact"])
    return int(not found.verified)


def _write_evidence(found: Verification, output: Path | None) -> None:
    """Write the exact evidence of an answer as a proof, packed where the name ends in .gz."""
    from gzip import compress

    from fsopt.common.files import whole_file
    from fsopt.verifier.verify import canonical

    if output is None:
        return
    proof = found.proof()
    if not proof["claims"]:
        out.remark("no proof is written: no claim has exact evidence")
        return
    content = canonical(proof).encode()
    with whole_file(output) as temporary:
        temporary.write_bytes(compress(content, 6, mtime=0) if output.suffix == ".gz" else content)
    out.remark(f"wrote {output}, {len(proof['claims'])} of {len(found.claims)} claims: fsopt-verify {output}")


def _check_proof(proof: Path, data: str, file: bool, layout: Layout, json: bool) -> int:
    """Check a proof file against data in a layout or a model file, and print what was found."""
    from fsopt.verification.verify import check_proof
    from fsopt.verifier.verify import said

    found = check_proof(proof, read_file(data, {}) if file else load(data, layout))
    if json:
        out.print_json(found)
        return int(not found["confirmed"])
    for statement in found["all"]:
        if (origin := statement["origin"]) is not None:
            rest = {k: v for k, v in origin.items() if k not in ("model", "parameters", "data") and v not in (None, [])}
            out.show(f"{origin['model']} {dumps(origin['parameters'])} {dumps(rest)}")
        out.show("\n".join(said(statement)))
    which = f"the {'model file' if file else 'data'} {data}"
    out.show(f"REFUTED    {found['reason']}" if found["reason"] else f"confirmed  proved for the programs of {which}")
    return int(not found["confirmed"])


def _is_proof(path: Path) -> bool:
    """Return whether a file is a proof, packed where its name ends in .gz, and no saved answer."""
    import gzip
    import zlib

    with suppress(OSError, EOFError, zlib.error), (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
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
        columns = ("name", "paper", "shows", "minutes")
        rows = [{k: getattr(e, k) for k in columns} | {"data": list(e.data)} for e in EXPERIMENTS.values()]
        out.listing("experiments", ("name", "shows", "minutes", "data"), rows, as_json=json)
        return out.EXIT_SOLVED
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
        out.print_json({"quick": quick, "experiments": records})
    return code


def _run(
    asked: list[Experiment], settings: RunSettings, output: Path | None, words: str, *, shown: bool
) -> tuple[int, list[dict[str, Any]]]:
    """Run experiments one after another; write and print each, and return the exit code and the records."""
    from fsopt.papers.pages import with_agreement
    from fsopt.papers.reproduction import failed

    records: list[dict[str, Any]] = []
    code = out.EXIT_SOLVED
    with out.progress_bar("reproduce", total=len(asked)) as update:
        for k, one in enumerate(asked):
            update(k, f"reproduce {one.name} ({k} of {len(asked)})")
            started, settings = time.perf_counter(), replace(settings, parts={})
            try:
                outcome = one.run(settings)
            except FsoptError as error:
                outcome = failed(error)
                if settings.ends is None or not isinstance(error, OutOfTimeError):  # --time-limit is no failure
                    out.remark(f"{one.name} failed: {error}")
                    code = 1
            except KeyboardInterrupt:
                out.remark(f"interrupted in {one.name}: {k} were finished")
                return out.EXIT_INTERRUPTED, records
            outcome = outcome if output is None else with_agreement(outcome)
            records.append(_record(one, outcome, time.perf_counter() - started, settings, words))
            if output is not None:
                _write(output, one, outcome, records[-1])
            if shown:
                _print(records[-1])
    return code, records


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
    from matplotlib import rc_context

    from fsopt.common.files import refused, whole_file, write_text
    from fsopt.papers.pages import COUNTS, OVERVIEW, PARTS, counted, fuller, markdown, overview, saved

    with refused("make the folder", folder, "give another one"):
        folder.mkdir(parents=True, exist_ok=True)
    # A page that is there and is fuller, for example of a run without a limit of time, stays.
    found, path = counted(folder), folder / f"{one.name}.json"
    parts = record["parts"]["number"]
    own = {**record["verdicts"], **record["random"], **({PARTS: parts} if parts else {})}
    if path.exists() and fuller(found.get(one.name, {}), own):
        out.remark(f"'{path}' stays: it has more than this run; remove it to have the page of this run")
        return
    found[one.name] = own
    page, picture = overview(found)
    texts = {path.name: saved(record), f"{one.name}.md": markdown(record), f"{OVERVIEW}.md": page}
    for name, text in {**texts, COUNTS: out.dump_json(dict(sorted(found.items())))}.items():
        write_text(folder / name, text)
    for name, figure in {OVERVIEW: picture, **{f"{one.name}-{k}": f for k, f in outcome.figures.items()}}.items():
        with rc_context({"svg.hashsalt": name}), whole_file(folder / f"{name}.svg") as temporary:
            figure.savefig(os.fspath(temporary), format="svg", metadata={"Date": None})  # the same bytes each time


def _print(record: dict[str, Any]) -> None:
    """Print the cells, notes and verdicts of an experiment."""
    heads = ("row", "column", ">ours", ">printed", ">difference", ">chance", "verdict", "why")
    rows = [[c[head.lstrip(">")] for head in heads] for c in record["cells"]]
    title = f"{record['name']}: {record['shows']} ({record['seconds']:g} s)"
    verdicts = ", ".join(f"{number} {verdict}" for verdict, number in record["verdicts"].items())
    notes = [f"  {note}" for note in record["notes"]]
    out.show(out.table(title, heads, rows) if rows else title, *notes, f"  {verdicts}")
