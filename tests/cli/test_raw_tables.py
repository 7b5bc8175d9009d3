"""Raw tables on the command line: one command each to fit, check, predict and draw."""

import csv
import json

import numpy as np
import pytest

from fsopt.cli import main

OPTIONS = ["--target", "kind", "--positive", "a", "--id", "name", "--drop", "seen", "--onehot", "--missing", "median"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(2)
    head, rows = "name,color,size,seen,kind", []
    for i in range(60):
        kind = "abc"[i % 3]
        size = "?" if i % 11 == 0 else f"{rng.normal(3.0 * (kind == 'a'), 1.0):.3f}"
        rows.append(f"s{i},{rng.choice(['red', 'blue', 'green'])},{size},2026-01-{1 + i % 28:02d},{kind}")
    (tmp_path / "raw.csv").write_text("\n".join([head, *rows]) + "\n")
    columns = [row.split(",") for row in rows]
    new = [",".join([row[2], row[1], row[0]]) for row in columns]
    (tmp_path / "new.csv").write_text("\n".join(["size,color,name", *new]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ends(*words):
    with pytest.raises(SystemExit) as stopped:
        main(list(words))
    return stopped.value.code


def test_fit_check_predict_plot(folder, capsys):
    assert ends("fit", "svm", "--data", "raw.csv", *OPTIONS, "-o", "fit.json") == 0
    capsys.readouterr()
    assert ends("check", "fit.json", "--data", "raw.csv") == 0, "the options are in the file"
    assert ends("check", "fit.json", "--data", "raw.csv", "--target", "kind", "--positive", "b") == 2
    assert "other options of the data" in capsys.readouterr().err
    assert ends("predict", "fit.json", "--data", "new.csv") == 0
    listed = list(csv.reader(capsys.readouterr().out.splitlines()))
    assert listed[0] == ["id", "label", "score"]
    assert [row[0] for row in listed[1:]] == [f"s{i}" for i in range(60)]
    assert {row[1] for row in listed[1:]} == {"a", "not a"}
    assert ends("predict", "fit.json", "--data", "raw.csv", "-o", "labels.csv", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["ids"], found["scores"]) == ([row[0] for row in listed[1:]], [float(row[2]) for row in listed[1:]])
    assert found["accuracy"] > 0.8
    assert list(csv.reader((folder / "labels.csv").read_text().splitlines())) == listed
    pytest.importorskip("matplotlib")
    assert ends("plot", "fit.json", "--kind", "weights") == 0
    assert ends("plot", "fit.json", "--data", "raw.csv", "-o", "scores.svg") == 0
    assert (folder / "fit.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / "scores.svg").read_text()
    assert ends("plot", "fit.json", "-o", "fit.txt") == 2


@pytest.mark.usefixtures("in_process")
def test_compare_in_one_command(folder, capsys):
    words = ["compare", "--data", "raw.csv", *OPTIONS, "--methods", "svm,fsv", "--folds", "3", "--jobs", "1", "--json"]
    assert ends(*words, "--class-weight", "balanced") == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert all(row["cv_balanced_accuracy"] > 0.7 and row["cv_auc"] > 0.7 and row["cv_recall"] for row in rows)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (OPTIONS[:2], "--positive CLASS|is not a number"),
        (["--target", "kind", "--id", "name", "--columns", "size", "--missing", "mean"], "--positive CLASS"),
        (["--target", "kinds"], "no column 'kinds'.*kind"),
        ([*OPTIONS, "--class-weight", "heavy"], "give balanced"),
        ([*OPTIONS, "--class-weight", "z=2"], "class 'z'"),
        ([*OPTIONS, "--sep", ";;"], "the separator"),
        ([*OPTIONS[:-1], "mode"], "drop, mean, median, indicator"),
    ],
)
def test_one_line_says_what_to_do(folder, capsys, words, message):
    import re

    assert ends("fit", "svm", "--data", "raw.csv", *words) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("fsopt: ")]
    assert len(lines) == 1
    assert re.search(message, lines[0])
