"""docs/inventory.md: every item has its place and a call that returns the value of its paper, or the reason for none.

The values are in the modules beside this one, from the papers' text or from computations apart from the package.
"""

import importlib
import json
import re

import numpy as np
import pytest
from inventory import gbd, gmeb, mop, mpm, sla
from sklearn.multiclass import OneVsOneClassifier
from support import ROOT
from truths import DATA, SEPARABLE

import fsopt
from fsopt.cli import main
from fsopt.data.kernels import Kernel
from fsopt.models.mpm.moments import Moments
from fsopt.papers.registry import EXPERIMENTS

PAPERS = {"Peleg & Meir": gmeb, "Yang & Ju": mpm, "Mangasarian": sla, "Aytug": gbd, "Bi": mop}
PAGE = (ROOT / "docs" / "inventory.md").read_text(encoding="utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in PAGE.split("\n## ")[1:]}
ITEMS = [
    (paper, *re.split(r" (?<!\\)\| ", line.strip("| ")))
    for paper, part in SECTIONS.items()
    for line in part.splitlines()
    if line.startswith("| ") and "---" not in line and not line.startswith("| item ")
]
REASONS = ("no data: ", "no program: ", "a snippet: ", "not built in: ")
SLOW = ("Figure 1", "(7)-(11) mmop", "MMOP with R(w'w)", "(11) nonconvex", "Fig 6, 7")
OWN = {"fsopt": fsopt, "np": np, "data": DATA, "separable": SEPARABLE}
OWN |= {"Moments": Moments, "Kernel": Kernel, "OneVsOneClassifier": OneVsOneClassifier}


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
    for paper, module in PAPERS.items():
        assert set(module.VALUES) == {item for where, item, place, _ in ITEMS if where == paper and place != "-"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=f"{PAPERS[row[0]].__name__}-{row[1]}", marks=[pytest.mark.slow] * (row[1] in SLOW))
        for row in ITEMS
        if row[2] != "-"
    ],
)
def test_the_call_of_an_item_returns_the_value_of_its_paper(row, tmp_path, monkeypatch, capsys):
    paper, item, where, call = row
    ours, truth, *tolerance = PAPERS[paper].VALUES[item](outcome(where, call.strip("`"), tmp_path, monkeypatch, capsys))
    assert ours == pytest.approx(truth, rel=tolerance[0] if tolerance else 1e-6, abs=1e-6)


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
    from fsopt.papers.gbd import tables

    return {**vars(drawn), **vars(tables)}
