"""The verdict of the verifier on a claim, on its parts, and on a whole file."""

import contextlib
import copy
import io
import json

from fsopt.verifier import verify
from fsopt.verifier.rationals import MOST_WORK, Work


def proved(claim):
    """Return what the evidence of a claim proves, whatever the statement says; raise what the verifier raises."""
    Work.left = MOST_WORK
    claim = json.loads(json.dumps(claim))
    return verify.proved(claim["program"], claim["evidence"], claim["statement"]["left_out"])


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
        code = verify.main([str(path), *options])
    return code, out.getvalue()


def written(path, proof):
    """Write a proof file and return its path."""
    path.write_text(proof if isinstance(proof, str) else json.dumps(proof))
    return path
