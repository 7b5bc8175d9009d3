"""The verdict of the verifier on a claim, on its parts, and on a whole file."""

import contextlib
import copy
import io
import json
from fractions import Fraction

from fsopt.verifier import verify


def proved(claim):
    """Return the interval that the evidence of a claim proves, whatever it states; raise what the verifier raises."""
    claim = json.loads(json.dumps(claim))
    found = verify.statement(claim["program"], claim["evidence"])
    return tuple(None if found[end] is None else Fraction(found[end]) for end in ("lower", "upper"))


def renewed(claim):
    """Return a claim whose statement has the digest of its program."""
    claim = copy.deepcopy(claim)
    claim["statement"]["program"] = verify.digest(claim["program"])
    return claim


def refusal(claim):
    """Return why the verifier refuses a claim, empty where it confirms it; the digest is renewed before."""
    code, reason, _ = verify.verdict([json.loads(json.dumps(renewed(claim)))])
    assert (code == 0) == (reason == "")
    assert "damaged (" not in reason
    return reason


def refused(claim):
    """Return whether the verifier refuses a claim with a renewed digest."""
    return bool(refusal(claim))


def verdict(path, *options):
    """Return the exit code of fsopt-verify, and what it printed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            code = verify.main([str(path), *options])
        except SystemExit as error:
            code = error.code
    return code, out.getvalue()


def written(path, proof):
    """Write a proof file and return its path."""
    path.write_text(proof if isinstance(proof, str) else verify.canonical(proof))
    return path
