"""Confirm or refute a proof file, in rational numbers and with the standard library alone.

``fsopt-verify proof.json``, or a copy of this folder, ``python verifier proof.json``, needs nothing but Python: no
solver, no package, no floating point where something is decided. A proof file has programs, a statement of each, and
the evidence from which it follows; nothing is derived from anything else, nothing is compared up to a tolerance, and
nothing is printed that was not compared. The format is in docs/formats.md, the
lemmas behind each check in docs/exact.md.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import sys
import zlib
from fractions import Fraction
from typing import Any

from . import programs, selections
from .rationals import (
    MOST_WORK,
    ONE,
    Refuted,
    Unreadable,
    Work,
    counts,
    decimal,
    limit,
    need,
    one_of,
    read,
    refuse,
)

FORMAT = "fsopt proof 3"
MOST_BYTES = 2**29
LARGEST_GAP = Fraction(1, 1000)  # of what is called optimal or stationary
ENDS = {  # status -> whether there are a lower and an upper end, of a maximum the other way round
    "optimal": (True, True),
    "stationary": (True, True),
    "interval": (True, True),
    "feasible": (False, True),
    "bounded": (True, False),
    "infeasible": (False, False),
}


def object_of(value: Any) -> dict[str, Any]:
    """Return an object, whose grammar is that of its program."""
    return value if isinstance(value, dict) else refuse("a program, or its evidence, is no object")


STATEMENT = {
    "status": one_of(*ENDS),
    "lower": limit,
    "upper": limit,
    "left_out": [counts],
    "program": str,
    "origin": lambda value: value,  # whether the program is that of these data is asked by 'fsopt check'
}
CLAIM = {"statement": STATEMENT, "program": object_of, "evidence": object_of}


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of the file, each of whose keys stands once."""
    return dict(pairs) if len(dict(pairs)) == len(pairs) else refuse("a key stands twice in an object")


def loaded(path: str) -> Any:
    """Return the JSON value of a file, perhaps packed by gzip, that is not too large."""
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    try:
        with gzip.open(path) if packed else open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except zlib.error as error:
        refuse(f"its packed form is damaged ({error})")
    if len(content) > MOST_BYTES:
        refuse(f"it has more than {MOST_BYTES} bytes")
    return json.loads(
        content.decode("utf-8"), object_pairs_hook=unique, parse_constant=lambda name: refuse(f"{name} is not a number")
    )


def rules_of(program: Any) -> Any:
    """Return the module that reads a program: of selections where it has a loss."""
    return selections if isinstance(program, dict) and "loss" in program else programs


def digest(program: dict[str, Any]) -> str:
    """Return the SHA-256 of the canonical text of a program: its JSON in the order of the grammar, without blanks."""
    order = selections.SELECTION if "loss" in program else programs.PROGRAM
    text = json.dumps({name: program[name] for name in order}, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def problem_of(program: Any) -> programs.Program | selections.Selection:
    """Return a program of the file as it is looked at."""
    if rules_of(program) is selections:
        return selections.Selection(read(program, selections.SELECTION, "a program"))
    return programs.Program(read(program, programs.PROGRAM, "a program"))


def proved(program: Any, evidence: Any, left_out: list[list[int]]) -> tuple[Fraction | None, Fraction | None]:
    """Return the ends of the interval that evidence proves of a program, in its own sense."""
    problem = problem_of(program)
    below, above = problem.proved(read(evidence, rules_of(program).EVIDENCE, "the evidence"), left_out)
    if problem.sign < 0:
        return None if above is None else -above, None if below is None else -below
    return below, above


def width(lower: Fraction, upper: Fraction) -> Fraction:
    """Return the relative width of an interval."""
    return (upper - lower) / max(ONE, abs(upper), abs(lower))


def confirm(held: Any) -> dict[str, Any]:
    """Return the statement of a claim of the file; raise Refuted where it does not follow from program and evidence."""
    claim = read(held, CLAIM, "a claim")
    statement, program = claim["statement"], claim["program"]
    lower, upper = statement["lower"], statement["upper"]
    evidence, status = claim["evidence"], statement["status"]
    problem = problem_of(program)
    need(statement["program"] == digest(program), "the statement is about another program")
    known = (lower is not None, upper is not None)[:: problem.sign]
    need(known == ENDS[status], "the ends are not those of the status")
    stationary = status in ("stationary", "infeasible") if program.get("concave") else status != "stationary"
    need(stationary, "the status is that of another program")
    need(not statement["left_out"] or status in ("bounded", "infeasible"), "an optimum leaves no selection out")
    low, high = proved(program, evidence, statement["left_out"])
    if status == "infeasible":
        empty = evidence.get("nodes") or evidence.get("tree")
        need(bool(empty) and (low, high) == (None, None), "there may be a feasible point")
    need(lower is None or (low is not None and lower <= low), "the stated lower end is above the proved one")
    need(upper is None or (high is not None and high <= upper), "the stated upper end is below the proved one")
    need(lower is None or upper is None or lower <= upper, "the ends of the interval are in the wrong order")
    if status in ("optimal", "stationary"):
        need(width(lower, upper) <= LARGEST_GAP, "the interval is wider than 1/1000, the most of an optimum")
    return {**statement, "about": problem.described(), "sense": "max" if problem.sign < 0 else "min"}


WORDS = {
    "optimal": "the {sense}imum is in {ends}",
    "stationary": "no feasible step improves the linearised objective by more than the width of {ends}",
    "interval": "the {sense}imum is in {ends}",
    "feasible": "a feasible point has a value in {ends}",
    "bounded": "the value of every feasible point is in {ends}",
    "infeasible": "there is no feasible point",
}


def said(found: dict[str, Any]) -> list[str]:
    """Return the lines of a confirmed statement: nothing in them was not compared."""
    lower, upper = found["lower"], found["upper"]
    low = "-inf" if lower is None else decimal(lower, up=False)
    high = "inf" if upper is None else decimal(upper, up=True)
    left = f", but for the selections {json.dumps(found['left_out'])}" if found["left_out"] else ""
    lines = [f"program    SHA-256 {found['program']}", f"           {found['about']}"]
    lines.append(
        f"{found['status']:10} " + WORDS[found["status"]].format(sense=found["sense"], ends=f"[{low}, {high}]") + left
    )
    if None not in (lower, upper):
        lines.append(f"           relative width {decimal(width(lower, upper), up=True, digits=3)}")
    return lines


def digits_of(end: Fraction) -> str:
    """Return the decimal text of a rational number, however long it is: its bits were counted when it was read."""
    most = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return str(end)
    finally:
        sys.set_int_max_str_digits(most)


def plain(found: dict[str, Any]) -> dict[str, Any]:
    """Return a confirmed statement as plain data."""
    lower, upper = found["lower"], found["upper"]
    gap = None if None in (lower, upper) else width(lower, upper)
    ends = {"lower": lower, "upper": upper, "gap": gap}
    words = {name: found[name] for name in ("status", "program", "about", "sense", "left_out")}
    return words | {name: None if end is None else digits_of(end) for name, end in ends.items()}


def opened(path: str) -> list[Any]:
    """Return the claims of a file as they stand there."""
    held = loaded(path)
    form = held.get("format") if isinstance(held, dict) else None
    if form != FORMAT:
        refuse(f"its format is not '{FORMAT}': write it anew, by 'fsopt check --proof'")
    claims: list[Any] = read(held, {"format": str, "claims": [lambda claim: claim]}, "the file")["claims"]
    return claims or refuse("it has no claim")


def verdict(claims: Any, work: int = 1) -> tuple[int, str, list[dict[str, Any]]]:
    """Return 0, 1 or 2 for claims that are confirmed, refuted or not readable, the reason, and the statements.

    Parameters
    ----------
    claims : the path of a file, or its claims.
    work : factor of the work that is allowed.
    """
    Work.left = MOST_WORK * work
    try:
        return 0, "", [confirm(claim) for claim in (opened(claims) if isinstance(claims, str) else claims)]
    except Refuted as error:
        return 1, str(error), []
    except (OSError, ValueError, EOFError, RecursionError, MemoryError, Unreadable) as error:
        return 2, str(error).splitlines()[0] if str(error) else type(error).__name__, []
    except Exception as error:  # never a traceback: what is not foreseen is no proof
        return 2, f"it is damaged ({type(error).__name__})", []


USAGE = "usage: fsopt-verify PROOF.json [--json] [--work FACTOR]"


def main(arguments: list[str] | None = None) -> int:
    """Check the file named on the command line: 0 confirmed, 1 refuted, 2 not readable."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    match = re.fullmatch(r"(?s)([^-\0].*?)(\0--json)?(\0--work\0([1-9][0-9]{0,8}))?(\0--json)?", "\0".join(given))
    if match is None or (match[2] and match[5]):
        print(USAGE)
        return 0 if given in (["-h"], ["--help"]) else 2
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    code, reason, found = verdict(match[1], int(match[4] or 1))
    if match[2] or match[5]:
        print(json.dumps({"confirmed": code == 0, "reason": reason, "statements": [plain(one) for one in found]}))
    if code == 2:
        print(f"fsopt-verify: '{match[1]}' is no proof that can be checked: {reason}", file=sys.stderr)
    elif not (match[2] or match[5]):
        lines = [line for one in found for line in said(one)]
        ending = "proved for the programs in this file; 'fsopt check' compares them with data"
        print("\n".join([*lines, f"confirmed  {ending}" if code == 0 else f"REFUTED    {reason}"]))
    return code


if __name__ == "__main__":
    sys.exit(main())
