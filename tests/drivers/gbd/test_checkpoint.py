"""Checkpoints of GBD: what is written when, and forged ones and those of other runs are refused."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from support import blobs, reference

import fsopt
from fsopt.answers.results import Status
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


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The bytes of a checkpoint after 4 cuts of a run that needs more."""
    path = tmp_path_factory.mktemp("checkpoint") / "run.npz"
    assert run(checkpoint=path, max_cuts=4).stop == "iteration-limit"
    return path.read_bytes()


@pytest.fixture
def saved(written, tmp_path):
    """A file of the same."""
    path = tmp_path / "run.npz"
    path.write_bytes(written)
    return path


def test_a_checkpoint_has_every_iteration_that_progress_was_told(tmp_path):
    path, told = tmp_path / "run.npz", []

    def look(record):
        told.append(record["iteration"])
        with np.load(path, allow_pickle=False) as arrays:
            assert len(arrays["alphas"]) == record["cuts"] == record["iteration"]
            assert len(json.loads(arrays["words"].tobytes())["history"]) == record["iteration"]

    result = run(checkpoint=path, progress=look, max_cuts=4)
    assert told == list(range(1, result.iterations + 1))
    assert [file.name for file in tmp_path.iterdir() if file.suffix != ".lock"] == ["run.npz"]


def test_another_run_is_refused(saved):
    other = blobs(30, 6, seed=9)
    for options, word in (
        ({"data": other}, "data"),
        ({"m": 3}, "limits"),
        ({"c": 5.0}, r"differs in c \(4.0, not 5.0\)"),
        ({"stabilisation": "in-out"}, "stabilisation"),
        ({"start": "zero"}, "start"),
        ({"root_cuts": 3}, "root_cuts"),
        ({"validation": other}, "validation rows"),
    ):
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


def test_what_is_no_checkpoint_is_said(tmp_path):
    path = tmp_path / "run.npz"
    for content in (b"", b"nonsense", b"PK\x03\x04broken"):
        path.write_bytes(content)
        with pytest.raises(FileError, match="no checkpoint"):
            run(resume=path)
    with pytest.raises(FileError, match="cannot read the checkpoint"):
        run(resume=tmp_path / "none.npz")
    with pytest.raises(FileError, match="there is no folder"):
        run(checkpoint=tmp_path / "no" / "run.npz")


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
