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
from selection_cases import NOISE, problem_of
from support import blobs, sampled

import fsopt
from fsopt.answers.results import Status
from fsopt.common import clock, files
from fsopt.drivers.recorder import Recorder
from fsopt.drivers.run import Run
from fsopt.errors import FileError, OutOfTimeError
from fsopt.models.gbd.feature_lists import Groups, WeightBounds
from fsopt.search.branch_and_benders import driver, evidence
from fsopt.search.branch_and_benders.driver import branch_and_benders
from fsopt.search.branch_and_benders.problem import BranchSettings, SelectionProblem
from fsopt.search.branch_and_benders.relaxation import Columns

DATA = blobs(30, 9, seed=11, gap=0.1)
CASES = {
    "cardinality": {"m": 3},
    "penalties": {"lam": 6.0},
    "groups": {"m": 3, "groups": [[0, 5], [1, 2, 8]], "positive": [3], "upper": {4: 0.1}},
    "initial": {"m": 3, "initial": [0, 1], "conflicts": [[0, 2], [3, 4]]},
}
STEP = {"between nodes": 8, "record": 1, "written": 3, "within a relaxation": 120}
"""The seams; of the calls of each the first is interrupted, and each one that is a step later."""
POINTS = sorted(itertools.product(CASES, STEP), key=lambda point: point[0] != "cardinality" and point[1] != "record")
"""Each seam of one case and one seam of each case come first."""


def fitted(case, **options):
    method = "best-subset-penalised" if "lam" in CASES[case] else "best-subset"
    return fsopt.fit(method, DATA, c=1.0, tolerance=1e-3, **CASES[case], **options)


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
    """Return a function that gives the fit of a case, and how often each seam is passed."""

    @cache
    def of(case):
        path = tmp_path_factory.mktemp("whole") / "run.json"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(files, "WRITING", -1e9)
            seams = {seam: Interruption(patch, seam) for seam in STEP}
            fit = fitted(case, checkpoint=path)
        return fit, {seam: one.calls for seam, one in seams.items()}

    return of


@pytest.mark.parametrize(("case", "seam"), sampled(POINTS, len(STEP) + 1))
def test_a_run_that_is_interrupted_anywhere_and_resumed_proves_the_same_optimum(
    case, seam, undisturbed, tmp_path, monkeypatch
):
    path = tmp_path / "run.json"
    monkeypatch.setattr(files, "WRITING", -1e9)  # a checkpoint after each node
    whole, calls = undisturbed(case)
    points = range(1, calls[seam] + 1, STEP[seam])
    assert len(points) > 1
    for last in points:
        path.unlink(missing_ok=True)
        late = OutOfTimeError if seam == "within a relaxation" else KeyboardInterrupt
        with monkeypatch.context() as patch, suppress(KeyboardInterrupt, late):
            Interruption(patch, seam, last)
            fitted(case, checkpoint=path)
        before = json.loads(path.read_text()) if path.exists() else {}
        fit = fitted(case, checkpoint=path, resume=path if before else None)
        assert (fit.status, fit.features) == (whole.status, whole.features), last
        assert fit.objective == pytest.approx(whole.objective, rel=1e-6), last
        assert fsopt.verify(fit, DATA).verified, last
        bounds = [record["bound"] for record in before.get("history", [])]
        assert fit.bound >= max(bounds, default=-np.inf) - 1e-6
        assert fit.history[-1]["nodes"] >= before.get("nodes", 0) * before.get("begun", False), last


@pytest.mark.parametrize("tolerance", [0.3, 0.03])
def test_a_run_goes_on_to_a_finer_tolerance(tolerance, tmp_path):
    path = tmp_path / "run.json"
    coarse = fsopt.fit("best-subset", NOISE, m=5, tolerance=tolerance, checkpoint=path)
    fine = fsopt.fit("best-subset", NOISE, m=5, tolerance=1e-6, resume=path)
    assert coarse.bound < fine.objective * (1.0 - 1e-4)
    assert (fine.status, fine.stop) == ("optimal", "optimal")
    assert fine.bound >= fine.objective * (1.0 - 2e-6)
    assert fsopt.verify(fine, NOISE).verified


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
        assert evidence.replayed(PROBLEM, result.point["evidence"]).bound == pytest.approx(result.bound, abs=1e-9)


def test_a_search_interrupted_at_its_first_record_claims_no_bound():
    def interrupt(record):
        raise KeyboardInterrupt

    result = branch_and_benders(PROBLEM, run=Run(progress=interrupt))
    assert (result.stop, result.status) == ("interrupted", Status.FEASIBLE)
    assert abs(result.bound) < 1e-6
    assert np.isfinite(result.objective)


@pytest.fixture(scope="module")
def resuming_checkpoint(tmp_path_factory):
    path = tmp_path_factory.mktemp("checkpoint") / "run.json"
    branch_and_benders(PROBLEM, settings=BranchSettings(tolerance=1e-4, max_nodes=20), run=Run(checkpoint=path))
    return path


POSITIVE = Columns.needed(Groups(NOISE.features, np.arange(14)), WeightBounds(np.zeros(14), np.full(14, np.inf)))


def test_another_run_is_refused(resuming_checkpoint):
    others = {
        "data": problem_of(blobs(36, 14, seed=4, gap=0.1), 1.0, {"m": 5}),
        "differs in c:": problem_of(NOISE, 2.0, {"m": 5}),
        "differs in limits": problem_of(NOISE, 1.0, {"m": 6}),
        "limits": problem_of(NOISE, 1.0, {"m": 5, "exclude": [1]}),
        "differs in groups or bounds": SelectionProblem(**{**PROBLEM.__getstate__(), "columns": POSITIVE}),
        "differs in loss": problem_of(NOISE, 1.0, {"m": 5}, "squared-hinge"),
    }
    for word, problem in others.items():
        with pytest.raises(FileError, match=word):
            branch_and_benders(problem, run=Run(resume=resuming_checkpoint))


def packed(words, part, change):
    """Return the words of a checkpoint with a changed part of its evidence."""
    arrays = {"tree": np.int32, "alpha": np.int32, "mu": np.float64}
    changed = evidence._text(change(evidence._array(words["evidence"][part], arrays[part])))
    return {"evidence": words["evidence"] | {part: changed}}


def best(words, selection=None, w=None):
    """Return the words with another incumbent."""
    given = [evidence._text(np.array(one)) if one is not None else None for one in (selection, w)]
    return {"best": [new or old for new, old in zip(given, words["best"], strict=True)]}


FORGERIES = {
    "cuts scaled": lambda words: packed(words, "alpha", lambda a: 2 * a),
    "tree with more": lambda words: packed(words, "tree", lambda a: np.append(a, [-2, 0, 0])),
    "no evidence": lambda words: {"evidence": None},
    "weights not finite": lambda words: best(words, w=np.full(PROBLEM.p, np.nan)),
    "weights of other features": lambda words: best(words, w=np.ones(PROBLEM.p)),
    "incumbent of all features": lambda words: best(words, selection=np.ones(PROBLEM.p, dtype=bool)),
    "records that are none": lambda words: {"history": 3},
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_checkpoint_is_refused(forgery, resuming_checkpoint, tmp_path):
    words = json.loads(resuming_checkpoint.read_text())
    path = tmp_path / "run.json"
    path.write_text(json.dumps(words | FORGERIES[forgery](words)))
    with pytest.raises(FileError, match=r"no checkpoint|damaged"):
        branch_and_benders(PROBLEM, run=Run(resume=path))


def test_a_leaf_that_is_forged_as_closed_is_open(resuming_checkpoint, tmp_path):
    """A tree of one leaf with a weak cut is no proof: its bound is that of the cut, and the search goes on."""
    words = json.loads(resuming_checkpoint.read_text())
    path = tmp_path / "run.json"
    path.write_text(json.dumps(words | packed(words, "tree", lambda a: np.array([-2, 0, 0], dtype=np.int32))))
    whole = branch_and_benders(PROBLEM, settings=BranchSettings(tolerance=1e-4))
    result = branch_and_benders(PROBLEM, settings=BranchSettings(tolerance=1e-4), run=Run(resume=path))
    assert result.objective == pytest.approx(whole.objective, rel=1e-4)
    assert evidence.replayed(PROBLEM, result.point["evidence"]).bound == pytest.approx(result.bound, rel=1e-9)
