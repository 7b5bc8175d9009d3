"""Both checkers of proofs, and the verdict of a whole file."""

import contextlib
import io
import json

from fsopt.certificates.exact.proofs import confirmed
from fsopt.errors import FileError, NotShownError
from fsopt.verifier import verify

CLAIM = {name: verify.CLAIM[name] for name in ("status", "lower", "upper", "gap", "left_out")}


def checked(part, checker="verify"):
    """Return the interval that one checker finds for a claim with its evidence; raise what it raises."""
    if checker == "fsopt":
        return confirmed(part)
    verify.Work.left = verify.MOST_WORK
    part = json.loads(json.dumps(part))
    claim = verify.read(part.pop("claim"), CLAIM, "a claim")
    held = verify.evidence(part)
    return verify.check({**claim, "sense": "min"}, held, verify.problem_of(held))


def ends(part):
    """Return what the evidence of a part proves."""
    part = json.loads(json.dumps(part))
    claim = part.pop("claim")
    held = verify.evidence(part)
    return verify.proved(held, verify.problem_of(held), claim["left_out"])


def found(part, checker="verify"):
    """Return the interval that one checker finds, None where it refuses the part."""
    try:
        return checked(part, checker)
    except (verify.Refuted, verify.Unreadable, NotShownError, FileError):
        return None


def claimed_parts(proof):
    """Yield each part of a proof file with its claim, in minimisation form."""
    for claim, part in zip(proof["statement"]["claims"], proof["proof"], strict=False):
        if claim["sense"] == "min":
            yield {**part, "claim": {name: claim[name] for name in CLAIM}}


def agreed(part):
    """Return whether both checkers find the same interval for a part, or none, if its form is right."""
    try:
        first = checked(part)
    except verify.Unreadable:
        return True
    except verify.Refuted:
        first = None
    return first == found(part, "fsopt")


def refused(part):
    """Return whether both checkers refuse a part; they have to agree."""
    answers = [found(part, checker) is None for checker in ("verify", "fsopt")]
    assert answers[0] == answers[1]
    return answers[0]


def verdict(path, *options):
    """Return the exit code of fsopt-verify, and what it printed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = verify.main([str(path), *options])
    return code, out.getvalue()


def written(path, proof):
    """Write a proof file and return its path."""
    path.write_text(proof if isinstance(proof, str) else json.dumps(proof))
    return path
