"""Proof files: a statement of what is claimed, of which program and which data, and the evidence of each claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fsopt.answers.records import plain
from fsopt.answers.trained import fingerprint
from fsopt.certificates.exact.claims import Claim
from fsopt.certificates.exact.encoding import decoded, encoded
from fsopt.data import Dataset
from fsopt.data.matrices import refuse_sparse

FORMAT = "fsopt proof 2"
LONGEST = 200
"""Characters of a text in a proof file."""


@dataclass(frozen=True)
class Header:
    """What a statement says beside its claims.

    Attributes
    ----------
    answer : ``method``, ``model`` or ``study``, and its ``name``.
    parameters : of it, as they were given.
    data : before preprocessing; ``scale`` is the word of the preprocessing between them and the programs.
    changed : slugs of the models that functions of the user changed.
    """

    answer: str
    name: str
    parameters: Mapping[str, Any]
    data: Dataset
    scale: str
    changed: Sequence[str] = field(default=())


def proof_file(header: Header, claims: Sequence[Claim]) -> dict[str, Any]:
    """Return the plain data of a proof file, the format of docs/exact.md.

    Parameters
    ----------
    claims : those without evidence are left out.

    Raises
    ------
    DataError : sparse data: the program that a reader derives from the data is of dense ones.

    Notes
    -----
    A parameter of the answer that its program has too is stated as the program has it: features by their places, not
    by their names.
    """
    refuse_sparse("a proof file", header.data.X)
    shown = [claim for claim in claims if claim.part is not None]
    parameters = _text(plain(header.parameters))
    for claim in shown:
        parameters |= {k: v for k, v in claim.about.parameters.items() if parameters.get(k) is not None}
    data = header.data
    statement = {
        "answer": header.answer,
        "name": header.name,
        "parameters": _text(plain(parameters)),
        "scale": header.scale,
        "changed": sorted(header.changed),
        "data": {
            "sha256": fingerprint(data),
            "samples": data.n,
            "positive": len(data.positive),
            "features": data.p,
            "weighted": data.weights is not None,
        },
        "claims": [_claim(claim) for claim in shown],
    }
    evidence = [{k: v for k, v in (claim.part or {}).items() if k != "claim"} for claim in shown]
    return {"format": FORMAT, "statement": statement, "proof": evidence}


def _claim(claim: Claim) -> dict[str, Any]:
    """Return a claim in the sense of its own program."""
    held, about = dict((claim.part or {})["claim"]), claim.about
    if claim.sign < 0:
        ends = [None if held[end] is None else encoded(-decoded(held[end])) for end in ("upper", "lower")]
        held["lower"], held["upper"] = ends
    return {
        "status": held["status"],
        "program": about.program,
        "parameters": _text(plain(about.parameters)),
        "rows": None if about.rows is None else list(about.rows),
        "columns": None if about.columns is None else list(about.columns),
        "units": about.units,
        "sense": "max" if claim.sign < 0 else "min",
        **{name: held[name] for name in ("lower", "upper", "gap", "left_out")},
    }


def _text(value: Any) -> Any:
    """Return plain data with texts of one printable line: what is not printable is replaced by '?'."""
    if isinstance(value, str):
        return "".join(c if c.isprintable() else "?" for c in value)[:LONGEST] or "?"
    if isinstance(value, list):
        return [_text(entry) for entry in value]
    if isinstance(value, dict):
        return {_text(key): _text(entry) for key, entry in value.items()}
    return value
