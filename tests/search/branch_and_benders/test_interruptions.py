"""Branch and Benders, interrupted wherever it can be, and resumed: the answer is that of the undisturbed run.

An interruption comes from a counter at one of the search's seams, not from a signal: the question whether to go on
(between two nodes, between two exchanges of the root), a record (before its checkpoint is written), a checkpoint, and
the clock within a relaxation.

Checkpoints of branch and Benders: those of another run and forged ones are refused.
"""

import itertools
import json
from contextlib import nullcontext, suppress
from functools import cache

import numpy as np
import pytest
from saved_records import lasting
from selection_cases import NOISE, problem_of
from support import blobs, sampled

import fsopt
from fsopt.answers.results import Status
from fsopt.common import clock, files
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import Run
from fsopt.errors import FileError, OutOfTimeError
from fsopt.search.branch_and_benders import driver, evidence
from fsopt.search.branch_and_benders.driver import branch_and_benders
from fsopt.search.branch_and_benders.problem import BranchSettings
from fsopt.search.branch_and_benders.tree import NODE

DATA = blobs(30, 9, seed=11, gap=0.1)
CASES = {
    "cardinality": {"m": 3},
    "penalties": {"lam": 6.0},
    "initial": {"m": 3, "initial": [0, 1], "max_nodes": 60, "conflicts": [[0, 2], [3, 4]]},
}
STEP = {"between nodes": 12, "record": 1, "written": 5, "within a relaxation": 120}
"""The seams; of the calls of each the first is interrupted, and each one that is a step later."""
POINTS = sorted(itertools.product(CASES, STEP), key=lambda point: point[0] != "cardinality" and point[1] != "record")
"""Each seam of one case and one seam of each case come first."""


def fitted(case, folder, **options):
    method = "best-subset-penalised" if "lam" in CASES[case] else "best-subset"
    fit = fsopt.fit(method, DATA, c=1.0, tolerance=1e-3, **CASES[case], **options)
    fit.save(folder / "fit.json")
    return lasting(json.loads((folder / "fit.json").read_text()))


class Interruption:
    """Counts the calls of a seam; from the call of number ``last`` on, or at it, the run is interrupted."""

    def __init__(self, patch, seam, last=10**9):
        self.calls, self.last = 0, last
        if seam == "between nodes":
            patch.setattr(driver, "deferred_interruption", lambda: nullcontext(lambda: not self.early()))
        elif seam == "within a relaxation":
            # The clock of the interior point alone: it is over at one step, and in all later ones.
            patch.setattr(clock, "expired", lambda: not self.early())
        else:
            owner, name = {"record": (Recorder, "append"), "written": (evidence, "save_checkpoint")}[seam]
            original = getattr(owner, name)
            patch.setattr(owner, name, lambda *args, **keywords: self.at(original, seam, args, keywords))

    def early(self):
        self.calls += 1
        return self.calls < self.last

    def at(self, original, seam, args, keywords):
        self.calls += 1
        if self.calls == self.last and seam == "record":
            raise KeyboardInterrupt
        found = original(*args, **keywords)
        if self.calls == self.last:
            raise KeyboardInterrupt
        return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Return a function that gives the record of a case, and how often each seam is passed."""

    @cache
    def of(case):
        folder = tmp_path_factory.mktemp("whole")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(files, "WRITING", -1e9)
            seams = {seam: Interruption(patch, seam) for seam in STEP}
            record = fitted(case, folder, checkpoint=folder / "run.npz")
        return record, {seam: one.calls for seam, one in seams.items()}

    return of


@pytest.mark.parametrize(("case", "seam"), sampled(POINTS, len(STEP) + 1))
def test_a_run_that_is_interrupted_anywhere_and_resumed_is_the_undisturbed_one(
    case, seam, undisturbed, tmp_path, monkeypatch
):
    path = tmp_path / "run.npz"
    monkeypatch.setattr(files, "WRITING", -1e9)  # a checkpoint after each node
    whole, calls = undisturbed(case)
    points = range(1, calls[seam] + 1, STEP[seam])
    assert len(points) >= 3
    for last in points:
        path.unlink(missing_ok=True)
        with monkeypatch.context() as patch, suppress(KeyboardInterrupt, OutOfTimeError):
            Interruption(patch, seam, last)
            fitted(case, tmp_path, checkpoint=path)
        resume = {"resume": path} if path.exists() else {}
        assert fitted(case, tmp_path, checkpoint=path, **resume) == whole, last


PROBLEM = problem_of(NOISE, 1.0, {"m": 5})


def test_an_interruption_within_a_node_leaves_it_open(monkeypatch):
    """The bound of an interrupted search holds, and its evidence proves it, wherever the interruption comes."""
    optimum = branch_and_benders(PROBLEM, settings=BranchSettings(tolerance=1e-4)).objective
    for last in (1, 2, 4, 60, 400):
        with monkeypatch.context() as patch:
            Interruption(patch, "within a relaxation", last)
            try:
                result = branch_and_benders(PROBLEM, settings=BranchSettings(tolerance=1e-4))
            except OutOfTimeError:
                assert last <= 2
                continue
        assert (result.stop, result.status) == ("time-limit", Status.FEASIBLE)
        assert result.bound < optimum
        assert evidence.verify(PROBLEM, result.point["evidence"]).bound == pytest.approx(result.bound, abs=1e-9)


def test_a_search_interrupted_at_its_first_record_claims_no_bound():
    def interrupt(record):
        raise KeyboardInterrupt

    result = branch_and_benders(PROBLEM, run=Run(progress=interrupt))
    assert (result.stop, result.status) == ("interrupted", Status.FEASIBLE)
    assert abs(result.bound) < 1e-6
    assert np.isfinite(result.objective)


@pytest.fixture(scope="module")
def resuming_checkpoint(tmp_path_factory):
    path = tmp_path_factory.mktemp("checkpoint") / "run.npz"
    branch_and_benders(PROBLEM, settings=BranchSettings(tolerance=1e-4, max_nodes=20), run=Run(checkpoint=path))
    return path


def test_another_run_is_refused(resuming_checkpoint):
    others = {
        "data": problem_of(blobs(36, 14, seed=4, gap=0.1), 1.0, {"m": 5}),
        "differs in c:": problem_of(NOISE, 2.0, {"m": 5}),
        "differs in limits": problem_of(NOISE, 1.0, {"m": 6}),
        "limits": problem_of(NOISE, 1.0, {"m": 5, "exclude": [1]}),
        "differs in loss": problem_of(NOISE, 1.0, {"m": 5}, "squared-hinge"),
    }
    for word, problem in others.items():
        with pytest.raises(FileError, match=word):
            branch_and_benders(problem, run=Run(resume=resuming_checkpoint))


def text(array, **words):
    """Return the words of a resuming_checkpoint with other ones."""
    changed = json.dumps(json.loads(array.tobytes()) | words)
    return np.frombuffer(changed.encode(), dtype=np.uint8)


def column(name, change):
    """Return the change of one column of a table."""

    def changed(table):
        table[name] = change(table[name])
        return table

    return changed


def twice(stream):
    """Return a stream in which the last open node has the number of the first."""
    marks = np.flatnonzero(stream["number"] == NODE)
    stream[marks[-1] + 1] = stream[marks[0] + 1]
    return stream


FORGERIES = {
    "cuts scaled": {"cuts": column("grid", lambda a: 2 * a)},
    "cut unbalanced": {"cuts": column("grid", lambda a: a + np.eye(*a.shape, dtype=np.int32))},
    "cuts of other samples": {"cuts": lambda a: a.astype([("name", "i8"), ("grid", "i4", (3,)), ("mu", "f8", (1,))])},
    "multipliers negative": {"cuts": column("mu", lambda a: a - 1.0)},
    "multipliers not finite": {"cuts": column("mu", lambda a: a + np.inf)},
    "an open node missing": {"open": lambda a: a[1:]},
    "a number that is taken": {"text": lambda a: text(a, next=1)},
    "a stage that there is none of": {"text": lambda a: text(a, stage=99)},
    "an open node twice": {"open": lambda a: np.append(a[:-1], a[:1])},
    "a place of the tree twice": {"stream": twice},
    "tree cut short": {"stream": lambda a: a[:-2]},
    "tree of one leaf": {"stream": lambda a: np.array([(-2,), (1,), (0,)], dtype=a.dtype)},
    "weights not finite": {"open": column("w", lambda a: a + np.nan)},
    "incumbent lowered": {"best": column("value", lambda a: 0.9 * a)},
    "incumbent of all features": {"best": column("selection", np.ones_like)},
    "pool of unknown cuts": {"pool": column("name", lambda a: a + 10**9)},
    "scores not finite": {"pool": column("score", lambda a: a * np.nan)},
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_checkpoint_is_refused(forgery, resuming_checkpoint, tmp_path):
    path = tmp_path / "run.npz"
    with np.load(resuming_checkpoint, allow_pickle=False) as arrays:
        held = {name: arrays[name] for name in arrays.files}
    for name, change in FORGERIES[forgery].items():
        held[name] = change(held[name])
    np.savez(path, **held)
    with pytest.raises(FileError, match=r"damaged|no resuming_checkpoint"):
        branch_and_benders(PROBLEM, run=Run(resume=path))
