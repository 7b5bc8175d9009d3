"""Checkpoints of solves: a resumed loop ends as the whole one, with fewer solves; a changed file proves nothing."""

import io
import json

import numpy as np
import pytest
from support import blobs, sampled

import fsopt
from fsopt.answers.results import Status
from fsopt.errors import FileError
from fsopt.solvers.checkpoints import Answers

DATA = blobs(24, 4, seed=2, gap=0.3)
LOOPS = ("fsv", "gmeb-penalised", "l0-mpm", "mopfs", "pmm", "misclass", "s-mpm", "vs-ssvm")


@pytest.fixture
def solves(monkeypatch):
    """The digests of the programs that solvers were called for."""
    answer, called = Answers.answer, []

    def counted(self, program, asked, solve):
        return answer(self, program, asked, lambda: called.append(asked) or solve())

    monkeypatch.setattr(Answers, "answer", counted)
    return called


def stopping(step):
    """Return a progress function that presses Ctrl-C at a step."""
    seen = []

    def progress(record):
        seen.append(record)
        if len(seen) == step:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("method", sampled(LOOPS, 5))
def test_a_loop_that_was_interrupted_goes_on_to_the_answer_of_the_whole_one(method, tmp_path, solves):
    whole = fsopt.fit(method, DATA, checkpoint=tmp_path / "whole")
    every, place = len(solves), tmp_path / "part"
    step = 1 if whole.iterations < 3 else 2
    first = fsopt.fit(method, DATA, checkpoint=place, progress=stopping(step))
    assert (first.stop, len(first.history)) == ("interrupted", step)
    solves.clear()
    again = fsopt.fit(method, DATA, resume=place, checkpoint=place)
    assert len(solves) < every
    assert (again.status, again.stop, again.support) == (whole.status, whole.stop, whole.support)
    assert again.objective == pytest.approx(whole.objective, rel=1e-8)
    assert again.iterations == whole.iterations
    solves.clear()
    assert fsopt.fit(method, DATA, resume=place).objective == pytest.approx(whole.objective, rel=1e-8)
    assert not solves


def changed(path, change):
    with np.load(path) as arrays:
        words, values = json.loads(arrays["text"].tobytes()), arrays["values"].copy()
    words, values = change(words, values)
    buffer = io.BytesIO()
    np.savez(buffer, text=np.frombuffer(json.dumps(words).encode(), dtype=np.uint8), values=values)
    path.write_bytes(buffer.getvalue())


def test_a_forged_answer_proves_nothing(tmp_path):
    truth = fsopt.fit("l1-svm", DATA, checkpoint=tmp_path / "c")
    assert truth.status is Status.OPTIMAL
    saved = (tmp_path / "c").read_bytes()
    for factor in (0.0, 0.5, 0.999, 2.0):
        (tmp_path / "c").write_bytes(saved)
        changed(tmp_path / "c", lambda words, values, factor=factor: (words, factor * values))
        forged = fsopt.fit("l1-svm", DATA, resume=tmp_path / "c")
        assert forged.status is not Status.OPTIMAL or forged.objective == pytest.approx(truth.objective, rel=1e-6)
        assert forged.bound is None or forged.bound <= truth.objective * (1 + 1e-6)


def longer(words, values):
    words["solves"][0]["sizes"][0] += 1
    return words, np.append(values, 0.0)


DAMAGED = {
    "a point of another size": longer,
    "numbers that are missing": lambda words, values: (words, values[:-1]),
    "numbers that are none": lambda words, values: (words, np.where(values == values[0], np.nan, values)),
    "another format": lambda words, values: (words | {"problem": {"format": "fsopt solves 1"}}, values),
    "no list of solves": lambda words, values: ({"problem": words["problem"]}, values),
    "words of another kind": lambda words, values: ([1, 2], values),
}


def test_a_damaged_checkpoint_is_refused(tmp_path):
    fsopt.fit("l1-svm", DATA, checkpoint=tmp_path / "c")
    saved = (tmp_path / "c").read_bytes()
    for fault, change in DAMAGED.items():
        (tmp_path / "c").write_bytes(saved)
        changed(tmp_path / "c", change)
        with pytest.raises(FileError, match="checkpoint"):
            pytest.fail(f"{fault}: {fsopt.fit('l1-svm', DATA, resume=tmp_path / 'c').status}")


def test_a_checkpoint_of_another_run_is_refused_before_a_solve(tmp_path, solves):
    fsopt.fit("fsv", DATA, checkpoint=tmp_path / "fsv")
    fsopt.fit("gbd", DATA, m=2, checkpoint=tmp_path / "gbd")
    solves.clear()
    others = [
        ("fsv", "fsv", blobs(24, 4, seed=3, gap=0.3), {}),
        ("fsv", "fsv", DATA, {"lam": 0.3}),
        ("l0-mpm", "fsv", DATA, {}),
        ("fsv", "gbd", DATA, {}),
        ("gbd", "fsv", DATA, {"m": 2}),
        ("gbd", "gbd", DATA, {"m": 2, "c": 5.0}),
    ]
    for method, file, data, given in others:
        with pytest.raises(FileError, match="is of another run: it does not have the first program of this one"):
            fsopt.fit(method, data, resume=tmp_path / file, **given)
    fsopt.fit("best-subset", DATA, m=2, checkpoint=tmp_path / "tree")
    with pytest.raises(FileError, match=r"differs in format \(fsopt branch and benders \d, not fsopt solves \d\)"):
        fsopt.fit("gbd", DATA, m=2, resume=tmp_path / "tree")
    (tmp_path / "text").write_text("no archive")
    with pytest.raises(FileError, match="is no checkpoint of solves"):
        fsopt.fit("fsv", DATA, resume=tmp_path / "text")
    assert not solves
