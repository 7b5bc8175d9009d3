"""The cut loop, interrupted wherever it can be, and resumed: the answer is that of the undisturbed run.

An interruption comes from a counter at one of the loop's seams, not from a signal: the subproblem (before the record of
an iteration), the record, and the checkpoint after it.
Every call, and larger data, with ``FSOPT_LIMITS=1`` (``make limits``).
"""

import json
import os
from contextlib import suppress

import pytest
from saved_records import lasting
from support import blobs, sampled

import fsopt
from fsopt.drivers.gbd import driver
from fsopt.drivers.gbd.subproblem import Subproblem
from fsopt.drivers.recorder import Recorder

LONG = bool(os.environ.get("FSOPT_LIMITS"))
DATA, M = (blobs(60, 12, seed=3, gap=0.1), 4) if LONG else (blobs(24, 6, seed=3, gap=0.1), 2)
CASES = {
    "defaults": {"m": M},
    "closed form": {"lam": 0.3, "preset": "closed-form"},
    "printed": {"m": M, "preset": "printed", "tolerance": 1e-3},
    "penalties": {"lam": 2.0},
}
SEAMS = {"subproblem": (Subproblem, "solve"), "record": (Recorder, "append"), "written": (driver, "_save")}
POINTS = [(case, seam) for case in CASES for seam in SEAMS]
DRAWN = [
    ("defaults", "subproblem"),
    ("defaults", "written"),
    *((case, "record") for case in CASES if case != "defaults"),
]


def fitted(case, folder, **options):
    """Return the saved record of a fit without its seconds."""
    method = "gbd-lambda" if "lam" in CASES[case] else "gbd"
    fit = fsopt.fit(method, DATA, c=1.0, **CASES[case], **options)
    fit.save(folder / "fit.json")
    return lasting(json.loads((folder / "fit.json").read_text()))


def counted(monkeypatch, seam, last=None):
    """Count the calls of a seam; the call of number ``last`` is interrupted, a checkpoint after it is written."""
    owner, name = SEAMS[seam]
    original, calls = getattr(owner, name), []

    def call(*args, **keywords):
        calls.append(None)
        if len(calls) == last and seam != "written":
            raise KeyboardInterrupt
        found = original(*args, **keywords)
        if len(calls) == last:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(owner, name, call)
    return calls


@pytest.mark.parametrize(("case", "seam"), POINTS if LONG else sampled(DRAWN, 4))
def test_a_run_that_is_interrupted_anywhere_and_resumed_is_the_undisturbed_one(case, seam, tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    with monkeypatch.context() as patch:
        calls = counted(patch, seam)
        whole = fitted(case, tmp_path, checkpoint=path)
    assert len(calls) >= 4
    n = len(calls)
    for last in range(1, n + 1) if LONG else sorted({1, n // 2, n}):
        path.unlink(missing_ok=True)
        with monkeypatch.context() as patch, suppress(KeyboardInterrupt):  # raised where there is no selection yet
            counted(patch, seam, last)
            fitted(case, tmp_path, checkpoint=path)
        resume = {"resume": path} if path.exists() else {}
        assert fitted(case, tmp_path, checkpoint=path, **resume) == whole, last
    assert fitted(case, tmp_path, resume=path) == whole, "a finished run ends at once"
