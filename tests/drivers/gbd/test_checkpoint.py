"""Checkpoints of GBD: another tolerance and other constraints are welcome, and a forged file proves nothing.

The cut loop, interrupted wherever it can be, and resumed: the answer is that of the undisturbed run.

An interruption comes from a counter at one of the loop's seams, not from a signal: the subproblem (before the record of
an iteration), the record, and the checkpoint, which is written after each solve here.
Every call, and larger data, with ``FSOPT_LIMITS=1`` (``make limits``).
"""

import io
import json
import os
from contextlib import suppress

import numpy as np
import pytest
from kills import lasting
from support import blobs, reference, sampled

import fsopt
from fsopt.answers.results import Status
from fsopt.common import checkpoints
from fsopt.drivers.gbd.driver import GbdSettings, gbd
from fsopt.drivers.gbd.subproblem import Subproblem
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import Run
from fsopt.errors import FileError
from fsopt.solvers.checkpoints import Answers
from fsopt.svm.interior_point import svm_interior_point

C, M = 4.0, 2
DATA = reference("gbd_n6")


def run(data=DATA, m=M, c=C, *, sub=None, checkpoint=None, resume=None, progress=None, **settings):
    master, sub = fsopt.build("fsp-master", data, m=m), sub or fsopt.build("fsp-sub", data, c=c)
    how = Run(checkpoint=checkpoint, resume=resume, progress=progress)
    return gbd(data, master, sub, c=c, settings=GbdSettings(**settings), run=how)


@pytest.fixture(scope="module")
def whole():
    """The result of a run without a checkpoint."""
    return run()


@pytest.fixture
def saved(tmp_path):
    """A checkpoint after 6 cuts of a run that needs more."""
    assert run(checkpoint=tmp_path / "run.npz", max_cuts=6).stop == "iteration-limit"
    return tmp_path / "run.npz"


def test_a_run_of_other_data_or_another_loss_is_refused(saved):
    for options in ({"data": blobs(30, 6, seed=9)}, {"c": 5.0}):
        with pytest.raises(FileError, match="another run"):
            run(resume=saved, **options)


def test_more_cuts_another_tolerance_and_other_constraints_are_welcome(saved, whole):
    found = run(resume=saved, max_cuts=200, tolerance=1e-4)
    assert found.status is Status.OPTIMAL
    assert found.objective == pytest.approx(whole.objective, rel=1e-4)
    other = run(resume=saved, m=3)
    assert other.status is Status.OPTIMAL
    assert other.objective == pytest.approx(run(m=3).objective, rel=2e-6)


def test_a_run_that_ends_within_its_checkpoint_proves_its_bound(tmp_path, whole):
    """The solve behind the bound of the file is not reached: a master of all cuts that are is solved."""
    run(checkpoint=tmp_path / "run.npz")
    found = run(resume=tmp_path / "run.npz", tolerance=0.2)
    assert found.iterations < whole.iterations
    assert found.bound >= 0.79 * found.objective
    assert found.bound <= whole.objective * (1 + 1e-9)


def test_training_is_not_repeated(tmp_path):
    trained = []

    def training(data, **how):
        trained.append(data.p)
        return svm_interior_point(data, **how)

    first = run(sub=training, checkpoint=tmp_path / "run.npz")
    count = len(trained)
    again = run(sub=training, resume=tmp_path / "run.npz")
    assert len(trained) == count
    assert (again.objective, again.bound, again.solver) == (first.objective, first.bound, first.solver)
    assert again.iterations == first.iterations


def rewritten(path, change):
    """Write a checkpoint again with its list of solves and its numbers changed."""
    with np.load(path) as arrays:
        words, values = json.loads(arrays["text"].tobytes()), arrays["values"].copy()
    values = change(words["solves"], values)
    buffer = io.BytesIO()
    np.savez(buffer, text=np.frombuffer(json.dumps(words).encode(), dtype=np.uint8), values=values)
    path.write_bytes(buffer.getvalue())


def bounds(change):
    def forged(solves, values):
        for solve in solves:
            if solve["bound"] is not None:
                solve["bound"] = change(solve["bound"])
        return values

    return forged


def swapped(solves, values):
    """Give the masters the bounds of one another."""
    masters = [solve for solve in solves if solve["bound"] is not None]
    found = [solve["bound"] for solve in masters]
    for solve, bound in zip(masters, found[::-1], strict=True):
        solve["bound"] = bound
    return values


FORGERIES = {
    "bounds raised": bounds(lambda bound: 10.0 * bound + 100.0),
    "bounds infinite": bounds(lambda bound: float("inf")),
    "bounds no numbers": bounds(lambda bound: float("nan")),
    "bounds lowered": bounds(lambda bound: -1.0),
    "points scaled": lambda solves, values: 1.5 * values,
    "points 0": lambda solves, values: 0.0 * values,
    "points rounded": lambda solves, values: np.round(values),
    "bounds swapped": swapped,
}


@pytest.mark.parametrize("forgery", sampled(FORGERIES, 4))
def test_a_forged_checkpoint_proves_nothing(saved, whole, forgery):
    rewritten(saved, FORGERIES[forgery])
    for settings in ({}, {"max_cuts": 4}, {"tolerance": 0.2}):
        found = run(resume=saved, **settings)
        assert found.bound <= whole.objective * (1 + 2e-6)
        assert found.objective >= whole.objective * (1 - 2e-6)
        gap = settings.get("tolerance", 2e-6)
        assert found.status is not Status.OPTIMAL or found.objective <= found.bound * (1 + 1.3 * gap)


def test_a_forged_checkpoint_that_is_interrupted_at_once_has_no_bound_of_the_file(saved, whole):
    rewritten(saved, FORGERIES["bounds raised"])

    def stop(record):
        if record["iteration"] == 2:
            raise KeyboardInterrupt

    assert run(resume=saved, progress=stop).bound <= whole.objective


LONG = bool(os.environ.get("FSOPT_LIMITS"))
RESUMING_DATA, RESUMING_M = (blobs(60, 12, seed=3, gap=0.1), 4) if LONG else (blobs(24, 6, seed=3, gap=0.1), 2)
CASES = {
    "defaults": {"m": RESUMING_M},
    "closed form": {"lam": 0.3, "preset": "closed-form"},
    "printed": {"m": RESUMING_M, "preset": "printed", "tolerance": 1e-3},
    "penalties": {"lam": 2.0},
}
SEAMS = {"subproblem": (Subproblem, "solve"), "record": (Recorder, "append"), "written": (Answers, "write")}
POINTS = [(case, seam) for case in CASES for seam in SEAMS]
DRAWN = [
    ("defaults", "subproblem"),
    ("defaults", "written"),
    *((case, "record") for case in CASES if case != "defaults"),
]


def fitted(case, folder, **options):
    """Return the saved record of a fit without its seconds."""
    method = "gbd-lambda" if "lam" in CASES[case] else "gbd"
    fit = fsopt.fit(method, RESUMING_DATA, c=1.0, **CASES[case], **options)
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
    monkeypatch.setattr(checkpoints, "WRITING", 0.0)
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


def test_a_resumed_run_goes_on_with_a_smaller_tolerance(tmp_path):
    """The answer is that of a run with this tolerance."""
    path = tmp_path / "run.npz"
    options = {"m": RESUMING_M, "c": 1.0}
    fsopt.fit("gbd", RESUMING_DATA, tolerance=0.05, checkpoint=path, **options)
    whole = fsopt.fit("gbd", RESUMING_DATA, tolerance=1e-6, **options)
    resumed = fsopt.fit("gbd", RESUMING_DATA, tolerance=1e-6, resume=path, **options)
    assert resumed.iterations > 1
    assert resumed.status == "optimal"
    assert resumed.objective == pytest.approx(whole.objective, rel=2e-6)
    assert fsopt.verify(resumed, RESUMING_DATA).verified
