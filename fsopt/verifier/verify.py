"""Confirm or refute a proof file, in rational numbers and with the standard library alone.

``fsopt-verify proof.json``, or beside a copy of this folder ``python verifier proof.json``, needs nothing but Python:
no solver, no package, no floating point where something is decided. A proof file has programs, a statement of each, and
the evidence from which it follows. The statement that follows is made here, and is the one that is printed; that of the
file has to be the same text. The format, and the lemmas behind each check, are in docs/exact.md.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import math
import sys
import zlib
from fractions import Fraction
from typing import Any

from .programs import ProgramToCheck
from .rationals import ONE, Refuted, decimal, need, read, refuse, rounded
from .selections import SelectionToCheck

FORMAT = "fsopt proof 5"
MOST_BYTES = 2**28  # of a file
LARGEST_GAP = Fraction(1, 1000)  # of what is called optimal or stationary
ANY = {"statement": lambda part: part, "program": lambda part: part, "evidence": lambda part: part}
WORDS = {
    "stationary": "no feasible step improves the linearised objective by more than the width of {ends}",
    "feasible": "a feasible point has a value in {ends}",
    "bounded": "the value of every feasible point is in {ends}",
    "infeasible": "there is no feasible point",
}


def canonical(value: Any) -> str:
    """Return the one text of a JSON value: its keys in alphabetical order, no blanks, ASCII."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def digest(program: Any) -> str:
    """Return the SHA-256 of the canonical text of a program."""
    return hashlib.sha256(canonical(program).encode("ascii")).hexdigest()


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of the file, each of whose keys stands once."""
    return dict(pairs) if len(dict(pairs)) == len(pairs) else refuse("a key stands twice in an object")


def opened(path: str) -> list[Any]:
    """Return the claims of a file, perhaps packed by gzip, as they stand there."""
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    with gzip.open(path) if packed else open(path, "rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        refuse(f"it has more than {MOST_BYTES} bytes")
    held = json.loads(content, object_pairs_hook=unique)
    if not isinstance(held, dict) or held.get("format") != FORMAT:
        refuse(f"its format is not '{FORMAT}': write it anew, by 'fsopt check --proof'")
    claims = read(held, {"format": str, "claims": [ANY]}, "the file")["claims"]
    return list(claims) or refuse("it has no claim")


def statement(program: Any, evidence: Any) -> dict[str, Any]:
    """Return what follows from evidence about a program, as a file states it; raise Refuted where that is nothing.

    The interval is in the program's own sense, its ends rounded outward.
    """
    problem = SelectionToCheck(program) if isinstance(program, dict) and "loss" in program else ProgramToCheck(program)
    below, above, left_out = problem.proved(evidence)
    empty = below == math.inf
    need(above is None or not (left_out or empty), "a point stands beside a proof that leaves it out")
    ends = [None if end in (None, math.inf) else problem.sign * Fraction(end) for end in (below, above)]
    lower, upper = (end and rounded(end, up=bool(up)) for up, end in enumerate(ends[:: problem.sign]))
    status = "infeasible" if empty else "feasible" if below is None else "bounded"
    gap = None
    if lower is None or upper is None:
        need(empty or (lower, upper) != (None, None), "nothing is shown")
    else:
        gap = (upper - lower) / max(ONE, abs(upper), abs(lower))
        need(gap >= 0, "the ends are in the wrong order")
        status = "optimal" if gap <= LARGEST_GAP else "interval"
    if isinstance(problem, ProgramToCheck) and problem.concave:
        need(status == "optimal", "the interval is wider than 1/1000, the most of a stationary point")
        status = "stationary"
    found = {"status": status, "sense": "max" if problem.sign < 0 else "min", "left_out": left_out}
    found |= {"program": digest(program), "about": problem.about}
    return found | {k: v if v is None else str(v) for k, v in (("lower", lower), ("upper", upper), ("gap", gap))}


def confirm(claim: dict[str, Any]) -> dict[str, Any]:
    """Return the statement that follows in a claim; raise Refuted where another one is stated, its origin apart."""
    found, stated = statement(claim["program"], claim["evidence"]), claim["statement"]
    own = {**found, "origin": stated.get("origin") if isinstance(stated, dict) else None}
    need(canonical(stated) == canonical(own), "the statement is not the one that follows from program and evidence")
    return found


def said(found: dict[str, Any]) -> list[str]:
    """Return the lines of a confirmed statement, with ends in decimals."""
    lower, upper, gap = (None if found[k] is None else Fraction(found[k]) for k in ("lower", "upper", "gap"))
    low = "-inf" if lower is None else decimal(lower, up=False)
    high = "inf" if upper is None else decimal(upper, up=True)
    words = WORDS.get(found["status"], "the {sense}imum is in {ends}").format(
        sense=found["sense"], ends=f"[{low}, {high}]"
    )
    left = f", but for the selections {json.dumps(found['left_out'])}" if found["left_out"] else ""
    lines = [f"program    SHA-256 {found['program']}", f"           {found['about']}"]
    lines.append(f"{found['status']:10} {words}{left}")
    return lines if gap is None else [*lines, f"           relative width {decimal(gap, up=True, digits=3)}"]


def verdict(claims: Any) -> tuple[int, str, list[dict[str, Any]]]:
    """Return 0, 1 or 2 for claims that are confirmed, refuted or not readable, the reason, and the statements.

    ``claims`` are the path of a file, or its claims.
    """
    try:
        return 0, "", [confirm(claim) for claim in (opened(claims) if isinstance(claims, str) else claims)]
    except Refuted as error:
        return 1, str(error), []
    except (OSError, ValueError, EOFError, RecursionError, MemoryError, zlib.error) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
    except Exception as error:  # never a traceback: what is not foreseen is no proof
        reason = f"it is damaged ({type(error).__name__})"
    return 2, reason.encode("ascii", "backslashreplace").decode(), []


def main(arguments: list[str] | None = None) -> int:
    """Check the file named on the command line: 0 confirmed, 1 refuted, 2 not readable."""
    parser = argparse.ArgumentParser("fsopt-verify", description="Check a proof file.", allow_abbrev=False)
    parser.add_argument("proof")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args(arguments)
    code, reason, found = verdict(given.proof)
    ending = "confirmed  proved for the programs in this file; 'fsopt check' compares them with data"
    if given.json:
        print(json.dumps({"confirmed": code == 0, "reason": reason, "statements": found}))
    if code == 2:
        print(f"fsopt-verify: {given.proof!a} is no proof that can be checked: {reason}", file=sys.stderr)
    elif not given.json:
        print("\n".join([*(line for one in found for line in said(one)), f"REFUTED    {reason}" if code else ending]))
    return code
