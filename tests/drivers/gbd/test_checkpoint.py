"""Checkpoints of GBD: resumed runs end where uninterrupted ones do, also after kill -9; forged ones are refused."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from support import ROOT, blobs, reference

import fsopt
from fsopt.answers.results import Status
from fsopt.cli import main
from fsopt.drivers.gbd import checkpoint
from fsopt.drivers.gbd.driver import gbd
from fsopt.drivers.gbd.settings import GbdSettings
from fsopt.drivers.run import Run
from fsopt.errors import FileError

C, M = 4.0, 2
PLAIN = {"stabilisation": "none"}


def run(data=None, m=M, c=C, *, validation=None, progress=None, checkpoint=None, resume=None, **settings):
    data = reference("gbd_n6") if data is None else data
    master, sub = fsopt.build("fsp-master", data, m=m), fsopt.build("fsp-sub", data, c=c)
    how = Run(progress=progress, checkpoint=checkpoint, resume=resume)
    return gbd(data, master, sub, c=c, settings=GbdSettings(**{**PLAIN, **settings}), validation=validation, run=how)


def same(result, whole):
    """Assert that a resumed run ended as the uninterrupted one."""
    assert (result.status, result.stop) == (whole.status, whole.stop)
    assert result.objective == pytest.approx(whole.objective, rel=1e-9)
    assert result.bound == pytest.approx(whole.bound, rel=2e-6)
    assert [h["iteration"] for h in result.history] == list(range(1, result.iterations + 1))


@pytest.fixture
def saved(tmp_path):
    """A checkpoint after 4 cuts of a run that needs more."""
    path = tmp_path / "run.npz"
    assert run(checkpoint=path, max_cuts=4).stop == "iteration-limit"
    return path


@pytest.mark.parametrize("after", [1, 2, 4])
@pytest.mark.parametrize("options", [PLAIN, {"stabilisation": "in-out", "root_cuts": 10, "start": "zero"}], ids=str)
def test_an_interrupted_run_goes_on_to_the_same_end(after, options, tmp_path):
    data, path, seen = blobs(30, 7, seed=1), tmp_path / "run.npz", []

    def interrupt(record):
        seen.append(record)
        if len(seen) == after:
            raise KeyboardInterrupt

    whole = run(data, 3, **options)
    assert whole.iterations > after + 1
    with suppress(KeyboardInterrupt):  # where there was no allowed selection yet
        assert run(data, 3, checkpoint=path, progress=interrupt, **options).stop == "interrupted"
    result = run(data, 3, resume=path, checkpoint=path, progress=seen.append, **options)
    same(result, whole)
    assert [record["iteration"] for record in seen] == list(range(1, whole.iterations + 1))  # no iteration twice
    assert result.history[after - 1]["cuts"] < result.history[after]["cuts"]
    again = run(data, 3, resume=path, **options)  # a finished run ends at once
    same(again, whole)
    assert again.iterations == result.iterations


KILLED = """
import sys
import fsopt
sys.path.insert(0, "tests/helpers")
from support import reference
seen = []
def wait(record):
    seen.append(record)
    if len(seen) == 4:
        print("ready", flush=True)
        sys.stdin.read()
fsopt.fit("gbd", reference("gbd_n6"), m=2, c=4.0, scale="none", stabilisation="none", checkpoint=sys.argv[1],
          progress=wait)
"""


@pytest.mark.slow
def test_kill_9_loses_no_iteration_that_progress_was_told(tmp_path):
    path = tmp_path / "run.npz"
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with child:
        assert child.stdout.readline() == b"ready\n"
        child.send_signal(signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    assert [f.name for f in tmp_path.iterdir() if f.suffix != ".lock"] == ["run.npz"]
    options = {"m": 2, "c": 4.0, "scale": "none", "stabilisation": "none"}
    whole = fsopt.fit("gbd", reference("gbd_n6"), **options)
    resumed = fsopt.fit("gbd", reference("gbd_n6"), resume=path, **options)
    same(resumed, whole)
    assert resumed.iterations >= 4
    with np.load(path, allow_pickle=False) as arrays:
        assert len(arrays["alphas"]) == 4  # of each iteration that the progress function was told


def test_a_write_that_fails_leaves_the_last_checkpoint(saved, monkeypatch):
    before = saved.read_bytes()

    def fail(file, **arrays):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint.np, "savez", fail)
    with pytest.raises(FileError, match="No space left"):
        run(checkpoint=saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"data": blobs(30, 6, seed=9)}, "data"),
        ({"m": 3}, "limits"),
        ({"c": 5.0}, r"differs in c \(4.0, not 5.0\)"),
        ({"stabilisation": "in-out"}, "stabilisation"),
        ({"start": "zero"}, "start"),
        ({"root_cuts": 3}, "root_cuts"),
        ({"validation": blobs(30, 6, seed=9)}, "validation rows"),
    ],
    ids=["data", "m", "c", "stabilisation", "start", "root", "validation"],
)
def test_another_run_is_refused(saved, options, word):
    with pytest.raises(FileError, match=word):
        run(**{**options, "resume": saved})


def test_more_cuts_and_another_tolerance_are_welcome(saved):
    result = run(resume=saved, max_cuts=200, tolerance=1e-4)
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(run().objective, rel=1e-4)


def rewritten(path, **changes):
    """Write the arrays of a checkpoint again with some of them changed."""
    with np.load(path, allow_pickle=False) as arrays:
        held = {name: arrays[name] for name in arrays.files}
    for name, change in changes.items():
        held[name] = change(held[name])
    np.savez(path, **held)


FORGERIES = {
    "cuts scaled": {"alphas": lambda a: 3.0 * a},
    "cut unbalanced": {"alphas": lambda a: a + np.eye(*a.shape) * 1e-3},
    "cut nan": {"alphas": lambda a: np.full_like(a, np.nan)},
    "cuts of other rows": {"alphas": lambda a: a[:, :-1]},
    "value lowered": {"best_numbers": lambda v: v * [1.0, 0.9, 1.0]},
    "weights changed": {"best_w": lambda w: 1.1 * w},
    "selection of halves": {"best_sigma": lambda s: 0.5 * s},
    "used feature not selected": {"best_sigma": lambda s: 0.0 * s},
    "tried too short": {"tried": lambda t: t[:, :-1]},
    "solves of other cuts": {"solves": lambda v: np.add(v, [100.0, 0.0])},
    "solves of another gap": {"solves": lambda v: np.add(v, [0.0, 2.0])},
    "pickled": {"best_w": lambda w: np.array([object()] * len(w))},
    "no words": {"words": lambda w: w[:-1]},
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_checkpoint_is_refused(saved, forgery):
    rewritten(saved, **FORGERIES[forgery])
    with pytest.raises(FileError, match=r"damaged|no checkpoint"):
        run(resume=saved)


def test_a_list_of_tries_that_is_forged_proves_nothing(saved):
    least = run().objective
    everything = np.array(np.meshgrid(*[[0.0, 1.0]] * 6)).reshape(6, -1).T
    rewritten(saved, tried=lambda t: everything)
    result = run(resume=saved)
    assert result.bound <= least * (1 + 2e-6)
    assert result.status is Status.FEASIBLE or result.objective == pytest.approx(least, rel=2e-6)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04broken"])
def test_what_is_no_checkpoint_is_said(tmp_path, content):
    path = tmp_path / "run.npz"
    path.write_bytes(content)
    with pytest.raises(FileError, match="no checkpoint"):
        run(resume=path)


def code(command):
    """Run a command line in this process and return its exit code."""
    with pytest.raises(SystemExit) as stopped:
        main(command)
    return stopped.value.code


def test_on_the_command_line(tmp_path, capsys):
    data = blobs(40, 5, seed=3)
    rows = "\n".join(",".join(map(str, [*x, int(y)])) for x, y in zip(data.X, data.y, strict=True))
    (tmp_path / "d.csv").write_text("a,b,c,d,e,label\n" + rows + "\n")
    source, path = str(tmp_path / "d.csv"), str(tmp_path / "run.npz")
    start = ["fit", "gbd", "--data", source, "--param", "m=2", "--json"]
    assert code([*start, "--checkpoint", path, "--param", "max_cuts=3"]) == 0
    assert '"status": "feasible"' in capsys.readouterr().out
    assert code([*start, "--resume", path]) == 0
    assert '"status": "optimal"' in capsys.readouterr().out
    for command, words in (
        ([*start[:4], "--param", "m=3", "--resume", path], "differs in limits"),
        ([*start, "--resume", path + "x"], "cannot read the checkpoint"),
        ([*start, "--checkpoint", str(tmp_path / "no" / "x")], "there is no folder"),
        (["fit", "svm", "--data", source, "--resume", path], "is no checkpoint of solves"),
    ):
        assert code(command) == 2
        assert words in "".join(capsys.readouterr())


def test_a_pipe_is_no_checkpoint():
    """An archive is read at several places."""
    reading, writing = os.pipe()
    os.write(writing, b"PK\x03\x04" + bytes(100))
    os.close(writing)
    try:
        with pytest.raises(FileError, match=r"cannot read the checkpoint '.*': .*seek"):
            checkpoint.load(Path(f"/dev/fd/{reading}"), {}, None, None)
    finally:
        os.close(reading)
