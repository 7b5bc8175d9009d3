"""``fsopt select`` and ``fsopt predict --proba``: from a table to an answer, and to probabilities."""

import csv
import json

import numpy as np
import pandas as pd
import pytest

from fsopt.analysis import selecting


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Few halves: what they tell is tested with the question."""
    monkeypatch.setattr(selecting, "PAIRS", 2)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(3)
    y = np.arange(60) % 2
    place = tmp_path_factory.mktemp("select") / "table.csv"
    frame = pd.DataFrame(
        {
            "row": np.arange(100, 160),
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
FAST = ("--folds", "2")


def test_a_table_becomes_an_answer_and_probabilities(table, tmp_path, run):
    fit, page = tmp_path / "fit.json", tmp_path / "page.tex"
    asked = ("select", table, *READ, *FAST, "--features", 3, "--json")
    answer = run(*asked, "-o", fit, "--report", page)
    assert (answer["m"], answer["rule"], answer["status"], answer["positive"]) == (3, "given", "optimal", "yes")
    assert {row["feature"] for row in answer["rows"]} == {"a", "noise", "town=z"}
    assert "\\toprule" in page.read_text()
    assert answer["answer_in_words"][0] in run(*asked[:-1]).replace("\n", " ")
    run("check", fit, "--data", table)
    listed = map(str.split, run("select", table, *READ, *FAST, "--features", 3).splitlines())
    printed = {line[0]: line[1] for line in listed if line and line[0] in ("a", "noise", "town=z", "intercept")}
    saved = json.loads(fit.read_text())
    assert float(printed["intercept"]) == pytest.approx(saved["intercept"], rel=1e-4)
    for name, weight in zip(saved["features"], (w for w in saved["coef"] if w), strict=True):
        assert float(printed[name]) == pytest.approx(weight, rel=1e-4)

    new = tmp_path / "new.csv"
    new.write_text("a,noise,town\n3.0,0.0,x\n-3.0,,w\n")
    rows = list(csv.DictReader(run("predict", fit, "--data", new, "--proba").splitlines()))
    assert [row["label"] for row in rows] == ["yes", "no"]
    assert [row["id"] for row in rows] == ["1", "2"]
    assert answer["left_out"] == ["row"]
    assert float(rows[0]["probability"]) > 0.9 > 0.5 > float(rows[1]["probability"])
    assert "column 'town' has values that no training sample had, whose features are 0: 'w'" in run.err
    new.write_text("a,noise,town\n3.0,0.0,x\n")
    run("predict", fit, "--data", new)
    assert "no training sample" not in run.err
    assert run("predict", fit, "--data", table).splitlines()[1].startswith("100,")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--report", "page.pdf"], ".html, .tex"),
    ],
)
def test_bad_input_is_said_in_one_line(options, word, table, run):
    assert word in run.refusal("select", table, *READ, *FAST, *options)
