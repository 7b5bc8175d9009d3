"""docs/inventory.md: every item has its place and a call whose answer is proved, or the reason for none."""

import importlib
import json
import math
import re
from hashlib import sha256

import numpy as np
import pyomo.environ as pyo
import pytest
from scipy.optimize import minimize
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsOneClassifier
from support import ROOT, blobs, sampled

import fsopt
from fsopt.answers.certificate import Certificate
from fsopt.cli import main
from fsopt.data import drawn
from fsopt.data.hyperplanes import Kernel
from fsopt.models.mpm.moments import Moments
from fsopt.papers.gbd import experiments
from fsopt.papers.registry import EXPERIMENTS

PAGE = (ROOT / "docs" / "inventory.md").read_text(encoding="utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in PAGE.split("\n## ")[1:]}
ITEMS = [
    (paper, *re.split(r" (?<!\\)\| ", line.strip("| ")))
    for paper, part in SECTIONS.items()
    for line in part.splitlines()
    if line.startswith("| ") and "---" not in line and not line.startswith("| item ")
]
REASONS = ("no data: ", "no program: ", "a snippet: ", "not built in: ")
DATA = blobs(40, 4)
X, Y = DATA.X, DATA.y
SLOW = ("(7)-(11) mmop", "(11) nonconvex", "FSP-M", "FSP-lambda", "Table 1 algorithm")
OWN = {"fsopt": fsopt, "np": np, "data": DATA, "separable": blobs(30, 4, gap=6.0)}
OWN |= {"Moments": Moments, "Kernel": Kernel, "OneVsOneClassifier": OneVsOneClassifier}


def biased_ratio():
    """Return the largest (w'(mu1 - mu2) - ||F2 w||) / ||F1 w||, with which the biased machine has beta = 1/2."""
    parts = X[Y > 0], X[Y < 0]
    between, (S, T) = parts[0].mean(axis=0) - parts[1].mean(axis=0), [np.cov(part.T, bias=True) for part in parts]
    return -minimize(lambda w: (np.sqrt(w @ T @ w) - w @ between) / np.sqrt(w @ S @ w), between).fun


def centred_kernel():
    """Return the Gaussian kernel matrix of centred images."""
    H = np.eye(DATA.n) - 1 / DATA.n
    return (H @ rbf_kernel(X, gamma=0.5) @ H).ravel()


VALUES = {
    "separable data": lambda found: (found, True),
    "selection rules 6.2": lambda found: (found, (0, 1, 2)),
    "biased MPM / S-MPM inner model": lambda found: (fsopt.solve(found).objective, biased_ratio()),
    "(29)-(31) approximation, and others": lambda found: (found, 4 * (1 - math.exp(-5))),
    "(37)-(41) DC components": lambda found: (found, np.full(4, 5 * (1 - math.exp(-5)))),
    "(19) alpha": lambda found: (found, np.full(4, 5 * math.exp(-5))),
    "centred kernel": lambda found: ((found.X @ found.X.T).ravel(), centred_kernel()),
    "trap s = 1": lambda found: ([len(found), "s = 1 is already stationary" in found[0]], [1, True]),
}
"""Item -> what its call returns and what is true."""
CALLED = [(row,) for row in ITEMS if row[2] != "-"]
CALLED.sort(key=lambda row: (row[0][1] in SLOW, row[0][1] not in VALUES, sha256(repr(row).encode()).digest()))
CASES = sampled(CALLED, 50)
"""Those with a second computation, and the others as they are drawn."""


def names_of(paths):
    """Return the public names of the modules in which the paths of a cell are."""
    found = {}
    for path in re.findall(r"`([\w]+\.[\w.]*)`", paths):
        module, _, name = path.rpartition(".")
        try:
            found |= vars(importlib.import_module(path))
        except ModuleNotFoundError:
            found |= vars(importlib.import_module(module))
            found[name] = getattr(importlib.import_module(module), name)
    return found


def test_there_are_all_items_and_each_has_a_value_or_a_reason():
    assert len(ITEMS) == 162
    assert all(len(row) == 4 for row in ITEMS)
    assert sum(call.startswith(REASONS[:2]) for *_, call in ITEMS) == 4
    assert all(call.startswith(REASONS) for _, _, where, call in ITEMS if where == "-")
    assert VALUES.keys() <= {item for _, item, place, _ in ITEMS if place != "-"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", CASES, ids=lambda row: f"{row[0]}-{row[1]}")
def test_the_call_of_an_item_returns_a_proved_answer_or_the_value_of_a_second_computation(
    row, tmp_path, monkeypatch, capsys
):
    _, item, where, call = row
    found = outcome(where, call.strip("`"), tmp_path, monkeypatch, capsys)
    if item in VALUES:
        ours, truth = VALUES[item](found)
        assert ours == pytest.approx(truth, rel=1e-5, abs=1e-6)
    elif isinstance(found, pyo.ConcreteModel):
        nonconvex = fsopt.classify(found) == "NLP"
        assert fsopt.solve(found, "ipopt" if nonconvex else None).certificate.ok
    elif isinstance(found, fsopt.Fit):
        assert fsopt.verify(found, DATA).verified
    elif isinstance(found, Certificate):
        assert found.ok
    elif where.startswith("fsopt.models"):
        assert found["certificate"]["ok"]
    else:
        assert found is not None


def outcome(where, code, tmp_path, monkeypatch, capsys):
    """Return what a call returns, the record that a command prints, or the experiment that it would run."""
    if code.startswith("fsopt reproduce "):
        return EXPERIMENTS[code.split()[2]]
    if code.startswith("fsopt "):
        monkeypatch.chdir(tmp_path)
        np.savez(tmp_path / "small.npz", X=DATA.X[:12], y=DATA.y[:12])
        with pytest.raises(SystemExit) as ended:
            main([*code.split()[1:], "--json"])
        out, err = capsys.readouterr()
        assert ended.value.code == 0, err
        return json.loads(out)
    return eval(code, {**vars(drawn), **vars(experiments), **names_of(where), **OWN})
