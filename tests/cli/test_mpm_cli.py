"""Minimax probability machines on the command line: saved answers, forgeries, printed tables, and ``mpm-limits``."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.answers.records import sealed
from fsopt.cli import main
from fsopt.methods.mpm.worst_case import accuracy_limit
from fsopt.models.mpm.moments import Moments


@pytest.fixture
def saved(tmp_path, monkeypatch):
    data = blobs(40, 4, seed=1)
    np.savez(tmp_path / "small.npz", X=data.X, y=data.y)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command, capsys, code=0):
    with pytest.raises(SystemExit) as stopped:
        main(command.split())
    out = capsys.readouterr().out
    assert stopped.value.code == code, out
    return json.loads(out) if "--json" in command else out


def spoil(record, what):
    if what == "weight":
        record["coef"][0] *= 1.05
    elif what == "worst_case":
        record["details"]["worst_case"][0] += 0.01
    elif what == "beta":
        record["details"]["beta"] += 0.01
    elif what in ("lam", "ridge"):
        record["params"][what] = record["params"].get(what, 0.0) + 0.1
    elif what == "point":
        values = record["details"]["point"]["z"]
        values[int(np.argmax(np.abs(values)))] *= 1.01
    elif what == "status":
        record["status"] = "stationary" if record["status"] == "optimal" else "optimal"
    else:
        record[what] = record[what] * 0.9 - 0.1


WHAT = ["objective", "intercept", "weight", "worst_case", "ridge", "point", "status"]


@pytest.mark.parametrize(
    ("method", "what"),
    [*((m, w) for m in ("mpm", "l1-mpm", "s-mpm") for w in WHAT), ("s-mpm", "beta"), ("s-mpm", "lam")],
)
def test_check_refuses_a_corrupted_answer(method, what, saved, capsys):
    record = run(f"fit {method} --data small.npz -o fit.json --json --param ridge=0.01", capsys)
    assert run("check fit.json --data small.npz --json", capsys)["verified"]
    spoil(record, what)
    if what == "ridge":
        record["details"]["ridge"] = record["params"]["ridge"]
    (saved / "forged.json").write_text(json.dumps(sealed(record)))
    assert not run("check forged.json --data small.npz --json", capsys, code=1)["verified"]


@pytest.mark.parametrize("method", ["mpm", "l1-mpm", "s-mpm"])
def test_fit_prints_the_worst_case_beside_the_measured_accuracy(method, saved, capsys):
    data = blobs(40, 4, seed=1)
    text = run(f"fit {method} --data small.npz", capsys)
    fit = fsopt.fit(method, data)
    right = fit.predict(data.X) == data.y
    one, two = fit.details["worst_case"]
    line = f"class +1 {one:.4f} (train {right[data.y > 0].mean():.4f}), class -1 {two:.4f} (train "
    assert line in text
    assert f"features ({len(fit.support)} of 4, {len(fit.support) / 4:.1%})" in text


def test_mpm_limits_has_the_limits_of_all_samples_and_of_every_training_fold(saved, capsys):
    data = blobs(40, 4, seed=1)
    record = run("mpm-limits --data small.npz --folds 4 --json", capsys)
    assert {"data", "n", "p", "folds", "seed", "scale", "paper_delta", "largest_delta", "rows"} == set(record)
    assert [row["rows"] for row in record["rows"]] == ["all", "fold 1", "fold 2", "fold 3", "fold 4"]
    assert record["rows"][0]["kappa"] == pytest.approx(accuracy_limit(Moments.of(data)).kappa, rel=1e-8)
    assert record["largest_delta"] == min(row["alpha"] for row in record["rows"])
    assert [row["n"] for row in record["rows"]] == [40, 30, 30, 30, 30]
    raw = run("mpm-limits --data small.npz --folds 4 --scale none --json", capsys)
    assert raw["largest_delta"] == pytest.approx(record["largest_delta"], rel=1e-9)
    assert "0.9 is infeasible" in run("mpm-limits --data small.npz --folds 0", capsys)


def test_mpm_limits_warns_of_singular_covariances(saved, capsys):
    wide = blobs(10, 15)
    np.savez(saved / "wide.npz", X=wide.X, y=wide.y)
    with pytest.raises(SystemExit):
        main(["mpm-limits", "--data", "wide.npz", "--folds", "0", "--json"])
    out, err = capsys.readouterr()
    row = json.loads(out)["rows"][0]
    assert row["kappa"] == "inf"
    assert row["separating"]
    assert row["ranks"] == [4, 4]
    assert "separate the means" in err
    twin = blobs(40, 3)
    np.savez(saved / "twin.npz", X=np.column_stack([twin.X, twin.X[:, 0]]), y=twin.y)
    with pytest.raises(SystemExit):
        main(["mpm-limits", "--data", "twin.npz", "--folds", "0", "--json"])
    out, err = capsys.readouterr()
    assert json.loads(out)["rows"][0]["kappa"] == pytest.approx(accuracy_limit(Moments.of(twin)).kappa, rel=1e-7)
    assert "a covariance is singular" in err
