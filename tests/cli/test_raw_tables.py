"""Raw tables on the command line: one command each to fit, check, predict and draw."""

import csv
import json

import numpy as np
import pytest
from sklearn.multiclass import OneVsRestClassifier

from fsopt import estimators

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


def test_fit_check_predict_plot(folder, run):
    run("fit", "svm", "--data", "raw.csv", *OPTIONS, "-o", "fit.json")
    run("check", "fit.json", "--data", "raw.csv")
    run("check", "fit.json", "--data", "raw.csv", "--target", "kind", "--read", "positive=b", code=2)
    assert "other options of the data" in run.err
    run("predict", "fit.json", "--data", "new.csv")
    listed = list(csv.reader(run.out.splitlines()))
    assert listed[0] == ["id", "label", "score"]
    assert [row[0] for row in listed[1:]] == [f"s{i}" for i in range(60)]
    assert {row[1] for row in listed[1:]} == {"a", "not a"}
    run("predict", "fit.json", "--data", "raw.csv", "-o", "labels.csv", "--json")
    found = json.loads(run.out)
    assert (found["ids"], found["scores"]) == ([row[0] for row in listed[1:]], [float(row[2]) for row in listed[1:]])
    assert found["accuracy"] > 0.8
    assert list(csv.reader((folder / "labels.csv").read_text().splitlines())) == listed


@pytest.fixture
def three(folder):
    """The words of a fit of each of three classes against the rest, in a file with two features."""
    rng = np.random.default_rng(5)
    middles = {"fern": (0.0, 0.0), "moss": (2.5, 0.0), "reed": (0.0, 2.5)}
    rows = [(*rng.normal(middle, 1.0).round(4), kind) for _ in range(30) for kind, middle in middles.items()]
    (folder / "three.csv").write_text("u,v,kind\n" + "".join(f"{u},{v},{kind}\n" for u, v, kind in rows))
    words = ("fit", "svm", "--data", "three.csv", "--target", "kind", "--positive")
    return {kind: (*words, kind, "-o", f"{kind}.json") for kind in middles}


def test_fits_of_each_class_against_the_rest_predict_as_those_of_scikit_learn(three, run):
    for words in three.values():
        run(*words)
    files = [f"{kind}.json" for kind in three]
    run("predict", *files, "--data", "three.csv", "-o", "labels.csv", "--json")
    found = json.loads(run.out)
    with open("three.csv") as file:
        table = np.array(list(csv.reader(file))[1:])
    X, kinds = table[:, :2].astype(float), table[:, 2]
    several = OneVsRestClassifier(estimators.SVM()).fit(X, kinds)
    assert found["classes"] == several.classes_.tolist()
    np.testing.assert_allclose(found["scores"], several.decision_function(X), atol=1e-4)
    assert found["labels"] == several.predict(X).tolist()
    assert found["accuracy"] == pytest.approx(np.mean(several.predict(X) == kinds))
    with open("labels.csv") as file:
        listed = list(csv.reader(file))
    assert listed[0] == ["id", "label", "score fern", "score moss", "score reed"]
    assert [row[1] for row in listed[1:]] == found["labels"]
    assert [[float(text) for text in row[2:]] for row in listed[1:]] == found["scores"]


def test_fits_that_do_not_make_one_classifier_of_several_classes_are_refused(three, run):
    for kind, more in (("fern", ()), ("moss", ()), ("reed", ("--drop", "v", "--onehot"))):
        run(*three[kind], *more)
    for words, message in (
        (("fern.json", "moss.json", "fern.json"), "two of the fits have 'fern' as +1"),
        (("fern.json", "reed.json"), "'fern.json' and 'reed.json' were saved with other options"),
        (("fern.json", "moss.json", "--proba"), "--proba takes one fit"),
    ):
        assert message in run.refusal("predict", *words, "--data", "three.csv")


@pytest.mark.usefixtures("in_process")
def test_compare_in_one_command(folder, run):
    words = ["compare", "--data", "raw.csv", *OPTIONS, "--methods", "svm,fsv", "--folds", "3", "--jobs", "1", "--json"]
    run(*words, "--class-weight", "balanced")
    rows = json.loads(run.out)["rows"]
    assert all(row["cv_balanced_accuracy"] > 0.7 and row["cv_auc"] > 0.7 and row["cv_recall"] for row in rows)
