"""Verb ``evidence``, and the exact part of ``check``, ``fit`` and ``compare``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fsopt.cli import options
from fsopt.cli.layouts import WHOLE, checked_layout, load
from fsopt.cli.output import EXIT_NOT_SOLVED, EXIT_SOLVED, pairs, print_json, remark, show
from fsopt.data.tables.layout import Layout

if TYPE_CHECKING:
    pass

Exact = Annotated[bool, typer.Option("--exact", help="also in rational arithmetic, with no tolerance anywhere")]


def evidence(
    solution: Annotated[Path, typer.Argument(help="a file saved by 'fsopt solve' or 'fsopt fit' with -o")],
    data: options.Data,
    output: Annotated[Path, typer.Option("-o", "--output", help="the proof, JSON", callback=options.writable)],
    layout: Layout = WHOLE,
    customise: options.Customise = None,
    json: options.Json = False,
) -> int:
    """Write the exact evidence of a saved answer as a proof, which 'fsopt-verify' confirms or refutes alone."""
    from json import dumps

    from fsopt.answers.saved import read_record
    from fsopt.common.files import write_text
    from fsopt.verification.exact_checking import verify_record

    record = read_record(solution)
    source = load(data, checked_layout(record, layout, solution), known=True)
    changes = changes_of(record, customise)
    found = verify_record(record, source, str(solution), exact=True, customise=changes).exact
    assert found is not None
    proof = found.proof()
    if not proof["proof"]:
        remark("nothing is written: no claim has exact evidence")
    else:
        write_text(output, dumps(proof))
    shown = found.plain()
    if json:
        print_json({"proof": str(output) if proof["proof"] else None, **shown})
    else:
        print_exact(shown)
        if proof["proof"]:
            show(f"wrote {output}, {len(proof['proof'])} of {len(found.claims)} claims: fsopt-verify {output}")
    return EXIT_SOLVED if found.verified else EXIT_NOT_SOLVED


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
