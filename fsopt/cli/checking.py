"""Verbs ``check`` and ``certify``: a saved answer, and that of any software to a model file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.layouts import WHOLE, checked_layout, load
from fsopt.cli.output import EXIT_NOT_SOLVED, EXIT_SOLVED, deliver, pairs, print_certificate, print_json, show
from fsopt.cli.proving import (
    Exact,
    ModelFile,
    Proof,
    changes_of,
    check_proof,
    is_proof,
    one_source,
    print_exact,
    write_evidence,
)
from fsopt.data.layout import Layout
from fsopt.errors import ParameterError


def certify(
    model: Annotated[str, typer.Argument(help="a model file .mps, .lp, .nl, .gms, .cbf or .dat-s; packed, .mps.gz")],
    solution: Annotated[
        str, typer.Argument(help="a solution file of HiGHS, SCIP, CBC, GLPK, Gurobi, CPLEX, AMPL or fsopt")
    ],
    exact: Exact = False,
    prove: Annotated[
        float | None,
        typer.Option("--prove", help="seconds: evidence that the solution file lacks is looked for by a solver"),
    ] = None,
    proof: Proof = None,
    output: options.Output = None,
    json: options.Json = False,
) -> int:
    """Verify what another program claims of its point.

    It is feasible and has its value, and it is optimal where evidence shows that. Files round: what is verified is the
    nearest point that meets every constraint, and its distance is said.
    """
    from fsopt.answers.records import plain
    from fsopt.common.arguments import SECONDS
    from fsopt.compiler import compile_model
    from fsopt.formats.reading import read_model
    from fsopt.formats.solutions import contents, read_solution
    from fsopt.verification.exact_checking import verify
    from fsopt.verification.foreign import NO_BOUND, reason, supported, unrounded

    if prove is not None:
        SECONDS.check("--prove", prove)
    program = read_model(model)
    stated = read_solution(solution, program)
    answer = unrounded(program, stated) if prove is None else supported(program, stated, prove)
    found = verify(answer, program, exact=exact or proof is not None)
    holds = found.verified and found.recomputed is answer.status
    why = reason(found, answer, compile_model(program))
    if why == NO_BOUND:
        why += ": --prove SECONDS looks for a bound" if prove is None else ", and none was found here"
    record = {
        "model": model,
        "file": contents(program, model),
        "solution": solution,
        "software": stated.solver,
        "multipliers": stated.evidence is not None or (stated.point is not None and stated.point.y is not None),
        "stated": stated.objective,
        **found.record(),
        "claimed": stated.status,
        "verified": holds,
        "word": found.word if holds else "not verified",
        "recomputed": found.recomputed,
        "objective": found.certificate.objective,
        "bound": found.certificate.bound,
        "reason": why,
        "moved": answer.message if holds else "",
    }
    record = {k: plain(v) for k, v in record.items()}
    if proof is not None and found.exact is not None:
        write_evidence(found.exact, proof)
    deliver(record, output, as_json=json, present=lambda: _print(record))
    return EXIT_SOLVED if holds else EXIT_NOT_SOLVED


def _print(record: Mapping[str, Any]) -> None:
    from fsopt.formats.solutions import told

    names = (
        "model",
        "file",
        "solution",
        "software",
        "claimed",
        "verified",
        "recomputed",
        "objective",
        "bound",
        "moved",
        "reason",
    )
    shown = {**record, "file": told(record["file"]), "verified": record["word"] if record["verified"] else "NO"}
    show(pairs([(name, shown[name]) for name in names if shown[name] not in (None, "")]))
    print_certificate(record["certificate"])
    if "exact" in record:
        print_exact(record["exact"])


def check(
    solution: Annotated[
        Path,
        typer.Argument(help="a file of 'fsopt solve' or 'fsopt fit' with -o, or a proof of --proof"),
    ],
    data: options.OptionalData = None,
    model: ModelFile = None,
    layout: Layout = WHOLE,
    customise: options.Customise = None,
    exact: Exact = False,
    proof: Proof = None,
    json: options.Json = False,
) -> int:
    """Verify a saved answer again, without any solver.

    What rests on a solver's word alone is named. The program of a proof is built anew from the data, or read from the
    model file, and has to be the one in the proof.
    """
    if is_proof(solution):
        if proof is not None:
            raise ParameterError(f"'{solution}' is a proof already", "leave out --proof")
        return check_proof(solution, data, model, layout, customise, json)
    if one_source(data, model) == "model":
        return certify(str(model), str(solution), exact=exact, proof=proof, json=json)
    assert data is not None
    from fsopt.answers.records import plain
    from fsopt.answers.saved import read_record
    from fsopt.verification.exact_checking import verify_record
    from fsopt.verification.verified import WORD

    record = read_record(solution)
    source = load(data, checked_layout(record, layout, solution))
    changes = changes_of(record, customise)
    verified = verify_record(record, source, str(solution), exact=exact or proof is not None, customise=changes)
    found = plain(verified.record())
    if proof is not None and verified.exact is not None:
        write_evidence(verified.exact, proof)
    if json:
        print_json(found)
        return EXIT_SOLVED if verified.verified else EXIT_NOT_SOLVED
    lines = [("claimed", found["claimed"]), ("verified", "yes" if found["verified"] else "NO")]
    if found["verified"] and found["certificate"]["bound_source"].startswith(WORD):
        origin = found["certificate"]["bound_source"]
        lines.append(("recomputed", f"{found['recomputed']}; the bound, and with it any optimum, is {origin}"))
    show(pairs(lines))
    print_certificate(found["certificate"])
    if "exact" in found:
        print_exact(found["exact"])
    return EXIT_SOLVED if verified.verified else EXIT_NOT_SOLVED
