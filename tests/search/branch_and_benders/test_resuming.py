"""Checkpoints of branch and Benders: those of another run and forged ones are refused."""

import json

import numpy as np
import pytest
from selection_cases import NOISE, problem_of
from support import blobs

from fsopt.drivers.run import Run
from fsopt.errors import FileError
from fsopt.search.branch_and_benders.driver import branch_and_benders
from fsopt.search.branch_and_benders.problem import BranchSettings
from fsopt.search.branch_and_benders.tree import NODE

PROBLEM = problem_of(NOISE, 1.0, {"m": 5})


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    path = tmp_path_factory.mktemp("checkpoint") / "run.npz"
    branch_and_benders(PROBLEM, settings=BranchSettings(tolerance=1e-4, max_nodes=20), run=Run(checkpoint=path))
    return path


def test_another_run_is_refused(checkpoint):
    others = {
        "data": problem_of(blobs(36, 14, seed=4, gap=0.1), 1.0, {"m": 5}),
        r"differs in c \(1.0, not 2.0\)": problem_of(NOISE, 2.0, {"m": 5}),
        "differs in limits": problem_of(NOISE, 1.0, {"m": 6}),
        "limits": problem_of(NOISE, 1.0, {"m": 5, "exclude": [1]}),
        "differs in loss": problem_of(NOISE, 1.0, {"m": 5}, "squared-hinge"),
    }
    for word, problem in others.items():
        with pytest.raises(FileError, match=word):
            branch_and_benders(problem, run=Run(resume=checkpoint))


def text(array, **words):
    """Return the words of a checkpoint with other ones."""
    changed = json.dumps(json.loads(array.tobytes()) | words)
    return np.frombuffer(changed.encode(), dtype=np.uint8)


def twice(stream):
    """Return a stream in which the last open node has the number of the first."""
    marks = np.flatnonzero(stream == NODE)
    stream[marks[-1] + 1] = stream[marks[0] + 1]
    return stream


FORGERIES = {
    "cuts scaled": {"grids": lambda a: 2 * a},
    "cut unbalanced": {"grids": lambda a: a + np.eye(*a.shape, dtype=np.int32)},
    "cuts of other samples": {"grids": lambda a: a[:, :-1]},
    "multipliers negative": {"mu": lambda a: a - 1.0},
    "multipliers not finite": {"mu": lambda a: a + np.inf},
    "an open node missing": {
        k: (lambda a: a[1:]) for k in ("open_numbers", "open_cuts", "open_w", "open_b", "open_sigma", "open_alpha")
    },
    "a number that is taken": {"text": lambda a: text(a, next=1)},
    "a stage that there is none of": {"text": lambda a: text(a, stage=99)},
    "an open node twice": {"open_numbers": lambda a: np.append(a[:-1], a[0])},
    "a place of the tree twice": {"stream": twice},
    "tree cut short": {"stream": lambda a: a[:-2]},
    "tree of one leaf": {"stream": lambda a: np.array([-2, 1])},
    "weights not finite": {"open_w": lambda a: np.full_like(a, np.nan)},
    "incumbent lowered": {"best_values": lambda a: 0.9 * a},
    "incumbent of all features": {"best_selections": lambda a: np.ones_like(a)},
    "incumbent of halves": {"best_selections": lambda a: 0.5 * a},
    "pool of unknown cuts": {"pool_names": lambda a: a + 10**9},
    "scores not finite": {"pool_score": lambda a: a * np.nan},
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_checkpoint_is_refused(forgery, checkpoint, tmp_path):
    path = tmp_path / "run.npz"
    with np.load(checkpoint, allow_pickle=False) as arrays:
        held = {name: arrays[name] for name in arrays.files}
    for name, change in FORGERIES[forgery].items():
        held[name] = change(held[name])
    np.savez(path, **held)
    with pytest.raises(FileError, match=r"damaged|no checkpoint"):
        branch_and_benders(PROBLEM, run=Run(resume=path))
