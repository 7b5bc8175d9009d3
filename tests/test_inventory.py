"""docs/inventory.md: every item has its place and a call that runs, or the reason why there is none."""

import importlib
import os
import re

import numpy as np
import pytest
from sklearn.multiclass import OneVsOneClassifier
from support import ROOT, blobs

import fsopt
from fsopt.cli import main
from fsopt.data.kernels import Kernel
from fsopt.methods.gmeb.bound_terms import ScaledClassifier
from fsopt.models.mpm.moments import Moments
from fsopt.papers.registry import EXPERIMENTS

LINES = (ROOT / "docs" / "inventory.md").read_text(encoding="utf-8").splitlines()
ROWS = [re.split(r" (?<!\\)\| ", line.strip("| ")) for line in LINES if line.startswith("| ") and "---" not in line]
ITEMS = [row for row in ROWS if row[0] != "item"]
REASONS = ("no data: ", "no program: ")


def names_of(paths):
    """Return the public names of the modules in which the paths of a cell are."""
    found = {}
    for path in re.findall(r"`(fsopt[\w.]*)`", paths):
        module, _, name = path.rpartition(".")
        try:
            found |= vars(importlib.import_module(path))
        except ModuleNotFoundError:
            found |= vars(importlib.import_module(module))
            assert hasattr(importlib.import_module(module), name), path
    return found


def test_there_are_all_items():
    assert len(ITEMS) == 149
    assert all(len(row) == 3 for row in ITEMS)
    assert sum(row[1] == "-" for row in ITEMS) == 3


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", ITEMS, ids=lambda row: row[0].replace(" ", "-"))
def test_the_call_of_an_item_runs(row, tmp_path, monkeypatch, capsys):
    _, where, call = row
    if where == "-":
        assert call.startswith(REASONS)
        return
    space = names_of(where)
    code = call.strip("`")
    if code.startswith("fsopt reproduce "):
        assert code.split()[2] in EXPERIMENTS
        return
    data = blobs(40, 4, gap=0.6)
    if code.startswith("fsopt "):
        monkeypatch.chdir(tmp_path)
        np.savez(tmp_path / "small.npz", X=data.X[:12], y=data.y[:12])
        with pytest.raises(SystemExit) as ended:
            main(code.split()[1:])
        assert ended.value.code == 0, capsys.readouterr().err
        return
    scaled = ScaledClassifier(np.full(4, 0.5), np.full(4, 0.1), 0.0)
    own = {"fsopt": fsopt, "np": np, "data": data, "separable": blobs(30, 4, gap=6.0), "scaled": scaled}
    own["OneVsOneClassifier"] = OneVsOneClassifier
    assert eval(code, {**vars_of_papers(), **space, **own, "Moments": Moments, "Kernel": Kernel}) is not None


def vars_of_papers():
    """Return the functions that a call names beside that of its place."""
    from fsopt.data.synthetic import bayes
    from fsopt.methods.gmeb import grid_bound
    from fsopt.papers.gbd import averages, tables

    return {**vars(bayes), **vars(grid_bound), **vars(averages), **vars(tables)}


def test_the_folder_of_results_is_there():
    assert os.path.isdir(ROOT / "docs" / "results")
