"""``fsopt select`` and ``fsopt predict --proba``: from a table to an answer, and to probabilities."""

from __future__ import annotations

import csv
import json
import signal

import numpy as np
import pandas as pd
import pytest

from fsopt.algorithms.branch_and_benders import driver
from fsopt.analysis import selecting


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Few random parts and draws, for the list of selections alone."""
    monkeypatch.setattr(selecting, "PAIRS", 2)
    monkeypatch.setattr(selecting, "DRAWS", 9)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(3)
    y = np.arange(60) % 2
    place = tmp_path_factory.mktemp("select") / "table.csv"
    frame = pd.DataFrame(
        {
            "a": 2 * y - 1 + 0.8 * rng.standard_normal(60),
            "noise": rng.standard_normal(60),
            "town": np.where(2 * y - 1 + 0.5 * rng.standard_normal(60) > 0, "x", "z"),
            "ill": np.where(y > 0, "yes", "no"),
        }
    )
    frame.loc[[3, 9], "noise"] = np.nan
    frame.to_csv(place, index=False)
    return place


READ = ("--target", "ill", "--positive", "yes", "--onehot", "--missing", "mean")
FAST = ("--c", "1", "--folds", "2", "--jobs", "1")


def test_a_table_becomes_an_answer_and_probabilities(table, tmp_path, run):
    fit, page, kept = tmp_path / "fit.json", tmp_path / "page.tex", tmp_path / "steps.json"
    asked = ("select", table, *READ, *FAST, "--features", 3, "--json", "--checkpoint", kept)
    answer = run(*asked, "-o", fit, "--report", page)
    assert (answer["m"], answer["rule"], answer["status"]) == (3, "given", "optimal")
    assert {row["feature"] for row in answer["rows"]} == {"a", "noise", "town=z"}
    assert "noise" in "".join(answer["warnings"])
    assert "\\toprule" in page.read_text()
    assert run(*asked, "--resume", kept) == answer
    run("check", fit, "--data", table)

    new = tmp_path / "new.csv"
    new.write_text("a,noise,town\n3.0,0.0,x\n-3.0,,w\n")
    rows = list(csv.DictReader(run("predict", fit, "--data", new, "--proba").splitlines()))
    assert [row["label"] for row in rows] == ["yes", "no"]
    assert float(rows[0]["probability"]) > 0.9 > 0.5 > float(rows[1]["probability"])
    assert "column 'town' has values that no training sample had, whose features are 0: 'w'" in run.err
    new.write_text("a,noise,town\n3.0,0.0,x\n")
    run("predict", fit, "--data", new)
    assert "no training sample" not in run.err


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--rule", "best"], "one-se, min"),
        (["--features", "9"], "'features'"),
        (["--report", "page.pdf"], ".html, .md, .tex"),
        (["--resume", "nowhere.json"], "nowhere.json"),
    ],
)
def test_bad_input_is_said_in_one_line(options, word, table, run):
    assert word in run.refusal("select", table, *READ, *FAST, *options)


def test_ctrl_c_says_how_to_go_on(table, tmp_path, run, monkeypatch, usual_interruption):
    def begin(*given):
        if place.exists():
            signal.raise_signal(signal.SIGINT)
        return root(*given)

    root, place = driver.begin, tmp_path / "select.json"
    monkeypatch.setattr(driver, "begin", begin)
    run("select", table, *READ, *FAST, "--checkpoint", place, code=130)
    assert f"--resume {place}" in "".join(run.err.splitlines())
    assert json.loads(place.read_text())["known"]
    monkeypatch.setattr(driver, "begin", root)
    run("select", table, *READ, *FAST, "--resume", place, "--json")
