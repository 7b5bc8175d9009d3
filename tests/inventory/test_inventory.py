"""docs/inventory.md: every item has its place and a call whose answer is proved, or the reason for none."""

import importlib
import json
import math
import re
from hashlib import sha256

import numpy as np
import pyomo.environ as pyo
import pytest
import truths
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import SVC
from support import ROOT, sampled
from truths import DATA, SCALED, STANDARD, UNIT, X, Y, gmeb, minimum, optimum, placed

import fsopt
from fsopt.answers.certificate import Certificate
from fsopt.cli import main
from fsopt.data.hyperplanes import Kernel
from fsopt.models.mpm.moments import Moments
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
SLOW = ("(7)-(11) mmop", "(11) nonconvex", "FSP-M", "FSP-lambda", "Table 1 algorithm")
OWN = {"fsopt": fsopt, "np": np, "data": DATA, "separable": truths.SEPARABLE}
OWN |= {"Moments": Moments, "Kernel": Kernel, "OneVsOneClassifier": OneVsOneClassifier}


def norm_machine():
    """Return the optimum of (19) of Peleg & Meir, ||w|| / 2 and the hinge loss."""

    def above(x):
        length, slope = truths.norm_of(np.eye(4), x[:4])
        return length - x[-1], np.append(placed(len(x) - 1, slice(4), slope), -1.0)

    return minimum(truths.slack_cost(X, 0.5), *truths.margins(X, Y, 1), [above])[0]


def least_norm():
    """Return half the smallest squared norm of w at a loss of at most 15."""
    A, b = truths.margins(X, Y, 1)
    A = np.vstack([A, truths.slack_cost(X, 0.0)])
    return minimum(placed(A.shape[1], -1, 1.0), A, np.append(b, 15.0), [truths.half_square])[0]


def unit_machine():
    """Return the optimum of the SVM with C = 1 on unit rows, by libsvm."""
    svm = SVC(kernel="linear", C=1.0, tol=1e-10).fit(UNIT, Y)
    loss = min(np.maximum(1 - Y * (UNIT @ svm.coef_[0] + b), 0).sum() for b in Y - UNIT @ svm.coef_[0])
    return 0.5 * np.sum(svm.coef_**2) + loss


def centred_kernel():
    """Return the Gaussian kernel matrix of centred images."""
    H = np.eye(DATA.n) - 1 / DATA.n
    return (H @ rbf_kernel(X, gamma=0.5) @ H).ravel()


def of_gmeb(found):
    return optimum(found), gmeb("none")[0]


def of_one_norm(found):
    return found.objective, truths.one_norm(SCALED[found.params["scale"]], Y)[0]


VALUES = {
    "Remark 12 closure": of_gmeb,
    "(11) nonconvex": of_gmeb,
    "(15) primal": lambda found: (
        [found.objective, *found.coef],
        [gmeb("center")[0], *gmeb("center")[1]],
    ),
    "(15) LMI / Lemma 6": of_gmeb,
    "(16)/(17)/(23)/(24) dual": of_gmeb,
    "(18) svm-margin": lambda found: (optimum(found), norm_machine()),
    "(19) svm-norm": lambda found: (optimum(found), norm_machine()),
    "separable data": lambda found: ([found, gmeb("own centre", data=truths.SEPARABLE)[0]], [True, 0.0]),
    "selection rules 6.2": lambda found: (found, (0, 1, 2)),
    "baselines SVM, l1-SVM": of_one_norm,
    "ONSVM": of_one_norm,
    "biased MPM / S-MPM inner model": lambda found: (optimum(found), truths.ratio(X, Y, 0.5)),
    "(12)-(15) L1-MPM": lambda found: (
        found.objective,
        truths.sparse_machine(STANDARD, Y, 0.9 * truths.largest_accuracy(X, Y)[1])[0],
    ),
    "Lemma 1 (20)-(23)": lambda found: (found, truths.accuracies(X, Y, np.ones(4), 0.0)),
    "limit alpha*, infeasible delta": lambda found: (found, truths.largest_accuracy(X, Y)[1]),
    "(29)-(31) approximation, and others": lambda found: (found, 4 * (1 - math.exp(-5))),
    "(37)-(41) DC components": lambda found: (found, np.full(4, 5 * (1 - math.exp(-5)))),
    "(42)-(46) step": lambda found: (optimum(found), 5 * truths.sparse_machine(X, Y, 0.5)[0]),
    "(47)-(58) kernels": lambda found: (found.objective, np.sum(1 - np.exp(-5 * np.abs(found.coef)))),
    "(5) misclass-milp": lambda found: (optimum(found), truths.fewest_errors(X, Y)),
    "LPEC (16)": lambda found: (found["objective"], truths.fewest_errors(X[:12], Y[:12])),
    "LPEC of (17), Proposition 2.5": lambda found: (
        found["objective"],
        truths.fewest_features(X[:12], Y[:12], 0.1),
    ),
    "(17) fsv-exact, lambda=0": lambda found: (
        optimum(found),
        truths.one_norm(X, Y, weights=np.zeros(4), loss=np.full(40, 1 / 20))[0],
    ),
    "(19) alpha": lambda found: (found, np.full(4, 5 * math.exp(-5))),
    "(4) weighted sum": lambda found: (found.objective, unit_machine()),
    "(7)-(11) mmop": lambda found: (optimum(found), truths.scaled_ball("none", 2.0)),
    "centred kernel": lambda found: ((found.X @ found.X.T).ravel(), centred_kernel()),
    "(12)": lambda found: (optimum(found), least_norm()),
    "trap s = 1": lambda found: ([len(found), "s = 1 is already stationary" in found[0]], [1, True]),
}
"""Item -> what its call returns and what is true."""
CALLED = [(row,) for row in ITEMS if row[2] != "-"]
QUICK = [(row,) for (row,) in CALLED if row[1] in VALUES and row[1] not in SLOW]
REST = [row for row in CALLED if row not in QUICK]
REST.sort(key=lambda row: (row[0][1] in SLOW, sha256(repr(row).encode()).digest()))
CASES = sampled([*QUICK, *REST], len(QUICK) + len(REST) // 4)
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
    return eval(code, {**vars_of_papers(), **names_of(where), **OWN})


def vars_of_papers():
    """Return the functions that a call names beside that of its place."""
    from fsopt.data import drawn
    from fsopt.papers.gbd import experiments

    return {**vars(drawn), **vars(experiments)}
