"""Checkpoints of GBD: another tolerance is welcome, another problem is not, and a forged file proves nothing.

The cut loop, interrupted wherever it can be, and resumed: the answer is that of the undisturbed run.
"""

import io
import json
import os
from contextlib import suppress

import numpy as np
import pytest
from saved_records import lasting
from support import blobs, reference, sampled

import fsopt
from fsopt.answers.results import Status
from fsopt.drivers.gbd import driver
from fsopt.drivers.gbd.driver import GbdSettings, gbd
from fsopt.drivers.gbd.subproblem import Subproblem
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import Run
from fsopt.errors import FileError

C, M = 4.0, 2
DATA = reference("gbd_n6")


def run(data=DATA, m=M, c=C, *, sub=None, change=None, checkpoint=None, resume=None, progress=None, **settings):
    rules = m if isinstance(m, dict) else {"m": m}
    master, sub = fsopt.build("fsp-master", data, **rules), sub or fsopt.build("fsp-sub", data, c=c)
    if change is not None:
        change(master)
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


def test_a_run_of_another_problem_is_refused_by_the_name_of_what_differs(saved):
    others = {
        "data": {"data": blobs(30, 6, seed=9)},
        r"c \(4.0, not 5.0\)": {"c": 5.0},
        "the constraints": {"m": 3},
        "the constraints:": {"m": {"m": M, "conflicts": [(0, 1)]}},
    }
    for words, options in others.items():
        with pytest.raises(FileError, match=f"differs in {words}"):
            run(resume=saved, **options)


def test_more_cuts_and_another_tolerance_are_welcome(saved, whole):
    found = run(resume=saved, max_cuts=200, tolerance=1e-4)
    assert found.status is Status.OPTIMAL
    assert found.objective == pytest.approx(whole.objective, rel=1e-4)


def test_a_run_that_ends_within_its_checkpoint_proves_its_bound(saved, tmp_path, whole):
    """The master that proved the bound of the file is solved again, with all cuts."""
    for settings in ({"tolerance": 0.9}, {"max_cuts": 6}):
        found = run(resume=saved, **settings)
        assert found.iterations == len(found.point["alphas"]) == 6
        assert 0.0 < found.bound <= whole.objective * (1 + 1e-9)
    run(checkpoint=tmp_path / "end.npz")
    again = run(resume=tmp_path / "end.npz")
    assert again.status is Status.OPTIMAL
    assert again.bound == pytest.approx(whole.bound, rel=1e-6)


def rewritten(path, change):
    """Write a checkpoint again with its words and its arrays changed."""
    with np.load(path) as held:
        arrays = {name: held[name].copy() for name in held.files}
    words = json.loads(arrays.pop("text").tobytes())
    change(words, arrays)
    buffer = io.BytesIO()
    np.savez(buffer, text=np.frombuffer(json.dumps(words).encode(), dtype=np.uint8), **arrays)
    path.write_bytes(buffer.getvalue())


def bound(value):
    return lambda words, arrays: words.update(lower=value)


def times(name, factor):
    return lambda words, arrays: arrays.update({name: factor * arrays[name]})


FORGERIES = {
    "bound raised": bound(1e3),
    "bound infinite": bound(float("inf")),
    "bound lowered": bound(-1.0),
    "cuts deeper": times("alphas", 1.5),
    "cuts 0": times("alphas", 0.0),
    "cuts of no numbers": times("alphas", np.nan),
    "cuts of another size": lambda words, arrays: arrays.update(alphas=arrays["alphas"][:, 1:]),
    "incumbent of all features": lambda words, arrays: arrays["best"].__setitem__(slice(6), 1.0),
    "incumbent without weights": lambda words, arrays: arrays["best"].__setitem__(slice(6, None), 0.0),
    "next selection of all features": lambda words, arrays: arrays["sigma"].fill(1.0),
    "all tried": lambda words, arrays: arrays.update(tried=np.vstack([arrays["tried"], arrays["sigma"]])),
    "no selections": lambda words, arrays: arrays.update(sigma=np.zeros((0, 6))),
    "no history": lambda words, arrays: words.pop("history"),
}


@pytest.mark.parametrize("forgery", sampled(FORGERIES, 6))
def test_a_forged_checkpoint_is_refused_or_proves_nothing(saved, whole, forgery):
    rewritten(saved, FORGERIES[forgery])

    def stop(record):
        raise KeyboardInterrupt

    for settings in ({}, {"max_cuts": 4}, {"tolerance": 0.2}, {"progress": stop}):
        found = None
        with suppress(FileError):
            found = run(resume=saved, **settings)
        if found is None:
            continue
        assert found.bound <= whole.objective * (1 + 2e-6)
        assert found.objective >= whole.objective * (1 - 2e-6)
        gap = settings.get("tolerance", 2e-6)
        assert found.status is not Status.OPTIMAL or found.objective <= found.bound * (1 + 1.3 * gap)


LONG = bool(os.environ.get("FSOPT_LIMITS"))
RESUMING_DATA, RESUMING_M = (blobs(60, 12, seed=3, gap=0.1), 4) if LONG else (blobs(24, 6, seed=3, gap=0.1), 2)
CASES = {
    "defaults": {"m": RESUMING_M},
    "closed form": {"lam": 0.3, "preset": "closed-form"},
    "printed": {"m": RESUMING_M, "preset": "printed", "tolerance": 1e-3},
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
