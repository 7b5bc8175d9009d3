"""Exact arithmetic in ``check``, ``certify``, ``fit`` and ``compare``: proofs that are written and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.layouts import load
from fsopt.cli.output import EXIT_NOT_SOLVED, EXIT_SOLVED, pairs, print_json, remark, show
from fsopt.errors import ParameterError

if TYPE_CHECKING:
    from fsopt.certificates.exact.claims import Claim
    from fsopt.data.layout import Layout
    from fsopt.verification.verified import ExactCheck

Exact = Annotated[bool, typer.Option("--exact", help="also in rational arithmetic, with no tolerance anywhere")]


Proof = Annotated[
    Path | None,
    options.file("write the exact evidence: .json or .json.gz, for others' programs .opb, .pbp or .lp", "--proof"),
]
ModelFile = Annotated[
    str | None, typer.Option("--model", help="in place of --data: the model file that the answer or proof is of")
]


FOREIGN = (".opb", ".pbp", ".lp")
"""Names of pseudo-Boolean problems, of their proofs for VeriPB, and of linear programs for QSopt_ex."""


def write_evidence(found: ExactCheck, output: Path) -> None:
    """Write the exact evidence of an answer: as a proof, or for other programs as the suffix of the name says."""
    proof, told = found.proof(), "the first claim"
    if not proof["claims"]:
        remark("no proof is written: no claim has exact evidence")
        return
    if output.suffix in FOREIGN:
        write_foreign(output, found.claims)
    else:
        write_proof(output, proof)
        told = f"{len(proof['claims'])} of {len(found.claims)} claims: fsopt-verify {output}"
    remark(f"wrote {output}, {told}")


def write_foreign(output: Path, claims: Sequence[Claim]) -> None:
    """Write the first claim that has a lower end in a format of other programs."""
    from fsopt.certificates.exact.pseudo_boolean import below, opb, pbp
    from fsopt.certificates.exact.rational_lp import rational_lp
    from fsopt.common.files import write_text

    for claim in claims:
        if claim.part is not None and claim.lower is not None:
            part, lower = claim.part, claim.lower
            break
    else:
        raise ParameterError("no claim has a lower end, which other programs could check", "give a name in .json")
    if output.suffix == ".lp":
        write_text(output, rational_lp(part))
    else:
        write_text(output, (opb if output.suffix == ".opb" else pbp)(part, below(lower)))


def write_proof(output: Path, proof: Mapping[str, Any]) -> None:
    """Write a proof file, packed where its name ends in .gz."""
    from gzip import compress

    from fsopt.common.files import whole_file
    from fsopt.verifier.verify import canonical

    content = canonical(proof).encode()
    with whole_file(output) as temporary:
        temporary.write_bytes(compress(content, 6, mtime=0) if output.suffix == ".gz" else content)


def one_source(data: str | None, model: str | None) -> str:
    """Return the name of the option that is given; raises ParameterError unless it is one of them."""
    if (data is None) == (model is None):
        raise ParameterError("--data and --model are both given, or both missing", "give the one that the answer is of")
    return "model" if data is None else "data"


def check_proof(
    proof: Path, data: str | None, model: str | None, layout: Layout, customise: options.Customise, json: bool
) -> int:
    """Check a proof file against data in a layout or a model file, and print what was found."""
    from json import dumps

    from fsopt.formats.reading import read_model
    from fsopt.verification.origins import check_proof as checked
    from fsopt.verifier.verify import said

    source = read_model(str(model)) if one_source(data, model) == "model" else load(str(data), layout)
    found = checked(proof, source, options.read_changes(customise, ()))
    if json:
        print_json(found.record())
        return EXIT_NOT_SOLVED if found.reason else EXIT_SOLVED
    for origin, statement in zip(found.origins, found.statements, strict=False):
        if origin is not None:
            rest = {k: v for k, v in origin.items() if k not in ("model", "parameters", "data") and v not in (None, [])}
            show(f"{origin['model']} {dumps(origin['parameters'])} {dumps(rest)}")
        show("\n".join(said(dict(statement))))
    which = f"the model file {model}" if data is None else f"the data {data}"
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


def print_exact(found: Mapping[str, Any]) -> None:
    """Print what rational arithmetic shows of an answer: each claim with its interval, rounded outward."""
    show(f"\n{found['word']}: {found['about']}")
    for claim in found["claims"]:
        lower, upper = claim["interval"]
        lines: list[tuple[str, Any]] = [("claim", claim["claim"]), ("", claim["verified"])]
        if (lower, upper) != (None, None):
            lines.append(("interval", f"[{lower or '-inf'}, {upper or 'inf'}]"))
        if claim["relative_width"] is not None:
            lines.append(("relative width", claim["relative_width"]))
        if claim["reason"]:
            lines.append(("reason", claim["reason"]))
        show(pairs(lines))
