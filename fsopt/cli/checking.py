"""Verb ``check``: a saved answer, a proof, and what other software says of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.layouts import WHOLE, checked_layout, load
from fsopt.cli.output import (
    EXIT_NOT_SOLVED,
    EXIT_SOLVED,
    deliver,
    pairs,
    print_certificate,
    print_exact,
    print_json,
    remark,
    show,
)
from fsopt.cli.solving import Scale, changed, is_file, read_file
from fsopt.data.layout import Layout
from fsopt.errors import ParameterError

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from fsopt.verification.verified import ExactCheck

Data = Annotated[str | None, typer.Option("--data", help=f"{options.DATA_HELP}; or the model file of the answer")]


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
    record = {
        "model": model,
        **({"file": file} if file else {}),
        "solution": str(solution),
        "software": stated.solver,
        "multipliers": stated.evidence is not None or (stated.point is not None and stated.point.y is not None),
        "stated": stated.objective,
        **found.record(),
        "objective": found.certificate.objective,
        "bound": found.certificate.bound,
    }
    record = {k: plain(v) for k, v in record.items()}
    if proof is not None and found.exact is not None:
        write_evidence(found.exact, proof)
    facts = [("model", model), ("file", told(file) if file else ""), ("solution", str(solution))]
    facts = [(name, text) for name, text in (*facts, ("software", stated.solver)) if text]
    deliver(record, None, as_json=json, present=lambda: print_verdict(record, facts))
    return EXIT_SOLVED if found.verified else EXIT_NOT_SOLVED


def print_verdict(found: Mapping[str, Any], facts: Sequence[tuple[str, str]] = ()) -> None:
    """Print the record of a verification: the claim and whose word its bound is, whether it holds, and the evidence."""
    lines = [*facts, ("claimed", found["status_line"]), ("verified", "yes" if found["verified"] else "NO")]
    names = ("objective", "bound", "reason")
    show(pairs([*lines, *((name, found[name]) for name in names if found.get(name) not in (None, ""))]))
    print_certificate(found["certificate"])
    if "exact" in found:
        print_exact(found["exact"])


def check(
    answer: Annotated[
        str,
        typer.Argument(
            help="a file of 'fsopt solve' or 'fsopt fit' with -o, a proof; of --solution the model: a slug, .lp, .mps"
        ),
    ],
    data: Data = None,
    solution: Annotated[
        Path | None,
        typer.Option("--solution", help="a file of HiGHS, of lines 'name value', or AMPL's .sol"),
    ] = None,
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
        own = {"param": param, "customise": customise, "scale": scale != "none"}
        if is_file(answer, data):
            program = read_file(answer, {"data": data} | own)
        else:
            program = changed(answer, str(data), layout, options.parse_params(param), scale, customise)
        return _check_solution(program, answer, solution, exact, proof, json)
    _refuse_model(answer, param, scale)
    if is_proof(Path(answer)):
        if proof is not None:
            raise ParameterError(f"'{answer}' is a proof already", "leave out --proof")
        return check_proof(Path(answer), data, layout, customise, json)
    if of_file(data):
        return _check_solution(read_file(str(data), {}), str(data), Path(answer), exact, proof, json)
    from fsopt.answers.records import plain
    from fsopt.answers.saved import read_record
    from fsopt.verification.verify import verify_record

    record = read_record(answer)
    source = load(str(data), checked_layout(record, layout, Path(answer)))
    changes = changes_of(record, customise)
    verified = verify_record(record, source, answer, exact=exact or proof is not None, customise=changes)
    found = plain(verified.record())
    if proof is not None and verified.exact is not None:
        write_evidence(verified.exact, proof)
    deliver(found, None, as_json=json, present=lambda: print_verdict(found))
    return EXIT_SOLVED if verified.verified else EXIT_NOT_SOLVED


def _refuse_model(answer: str, param: options.Params, scale: str) -> None:
    """Raise ParameterError for a model, and for the options of one, without --solution."""
    from fsopt.formats.read import is_model_file
    from fsopt.models.registry import MODELS

    if answer in MODELS or is_model_file(answer):
        raise ParameterError(f"'{answer}' is a model, no answer", "give what its solver wrote with --solution FILE")
    for name, given in (("--param", param), ("--scale", scale != "none")):
        if given:
            raise ParameterError(f"{name} is for the model of --solution", "leave it out: an answer has its own")


def write_evidence(found: ExactCheck, output: Path) -> None:
    """Write the exact evidence of an answer: as a proof, or for other programs as the suffix of the name says."""
    proof = found.proof()
    if not proof["claims"]:
        remark("no proof is written: no claim has exact evidence")
        return
    write_proof(output, proof)
    remark(f"wrote {output}, {len(proof['claims'])} of {len(found.claims)} claims: fsopt-verify {output}")


def write_proof(output: Path, proof: Mapping[str, Any]) -> None:
    """Write a proof file, packed where its name ends in .gz."""
    from gzip import compress

    from fsopt.common.files import whole_file
    from fsopt.verifier.verify import canonical

    content = canonical(proof).encode()
    with whole_file(output) as temporary:
        temporary.write_bytes(compress(content, 6, mtime=0) if output.suffix == ".gz" else content)


def of_file(data: str | None) -> bool:
    """Return whether an answer is of a model file; raises ParameterError without data."""
    from fsopt.formats.read import is_model_file

    if data is None:
        raise ParameterError("no data are given", "give --data, the data set or the model file that the answer is of")
    return is_model_file(data)


def check_proof(proof: Path, data: str | None, layout: Layout, customise: options.Customise, json: bool) -> int:
    """Check a proof file against data in a layout or a model file, and print what was found."""
    from json import dumps

    from fsopt.verification.origins import check_proof as checked
    from fsopt.verifier.verify import said

    file = of_file(data)
    source = read_file(str(data), {}) if file else load(str(data), layout)
    found = checked(proof, source, options.read_changes(customise, ()))
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


def is_proof(path: Path) -> bool:
    """Return whether a file is a proof, packed or not, and no saved answer."""
    import zlib
    from contextlib import suppress
    from gzip import open as unpacked

    with suppress(OSError, EOFError, zlib.error):
        with open(path, "rb") as file:
            first = file.read(100)
        if first[:2] == b"\x1f\x8b":
            with unpacked(path) as file:
                first = file.read(100)
        return first.startswith(b'{"claims":') or b'"fsopt proof' in first
    return False


def changes_of(record: Mapping[str, Any], customise: options.Customise) -> Any:
    """Return the functions that change the models of a saved answer."""
    from fsopt.methods.registry import METHODS

    models = METHODS[record["method"]].models if "method" in record else (record["model"],)
    return options.read_changes(customise, models)
