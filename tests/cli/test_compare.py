"""fsopt compare: options, several data sets, the table at 80 columns, the sentence below it, and its errors."""

import re
from pathlib import Path

import numpy as np
import pytest
from support import blobs

from fsopt.errors import DataError, SolverError
from fsopt.studies import units

N = 24
SHORT = "compare --data one.npz --folds 2 --jobs 1"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, in_process):
    monkeypatch.chdir(tmp_path)
    for k, name in enumerate(("one", "two")):
        data = blobs(N, 3, seed=k, gap=0.7)
        np.savez(f"{name}.npz", X=data.X, y=data.y, features=np.array(list("abc")))


@pytest.mark.slow
def test_options_reach_the_rows_and_each_data_set_has_a_table_and_a_majority(run):
    rows = run(f"{SHORT} --methods svm,onsvm --param svm.c=0.3 --param onsvm.c=2 --json")["rows"]
    assert [row["params"]["c"] for row in rows] == [0.3, 2]
    assert run(f"{SHORT} --methods svm --solver scs --json")["rows"][0]["solver"] == "scs"
    words = f"{SHORT} --data two.npz --methods svm --tune"
    record = run(f"{words} --json")
    assert record["tune"] is True
    assert (record["data"], record["n"], record["p"]) == (["one.npz", "two.npz"], [N, N], [3, 3])
    assert [row["params"]["c"] in (0.1, 1.0, 10.0) for row in record["rows"]] == [True, True]
    assert [scores["cv_accuracy"] for scores in record["majority"].values()] == [0.5, 0.5]
    assert run(words).count("the larger class alone") == 2


def test_the_last_line_names_the_methods_without_an_answer_and_1_is_for_none_at_all(run, monkeypatch):
    real = units.study_fit

    def fit(entry, data, **keywords):
        name = entry.name
        if name == "pearson" or (name == "svm" and data.n == N):
            raise SolverError("its solver has no licence", "get one")
        if name == "fisher" and data.n < N:
            raise DataError("the data have no column x3")
        return real(entry, data, **keywords)

    monkeypatch.setattr(units, "study_fit", fit)
    line = "without an answer: pearson (no fit), svm (no fit), fisher (no scores)"
    run(f"{SHORT} --methods pearson,svm,ks,fisher")
    assert run.err.splitlines()[-1] == line
    found = run(f"{SHORT} --methods pearson,svm,fisher --json", code=1)
    assert run.err.splitlines()[-1] == line
    assert [one["lacking"] for one in found["unanswered"]] == ["no fit", "no fit", "no scores"]
    run(f"{SHORT} --data two.npz --methods ks,fisher")
    assert run.err.splitlines()[-1] == "without an answer: fisher on one (no scores), fisher on two (no scores)"


def test_an_interrupted_comparison_that_finished_nothing_leaves_the_files_of_before(run, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    for name in ("out.json", "out.html"):
        Path(name).write_text("of before")
    monkeypatch.setattr(units, "study_fit", interrupted)
    run(f"{SHORT} --methods svm -o out.json --report out.html", code=130)
    assert run.err.splitlines()[-1] == "interrupted: no method finished"
    assert [Path(name).read_text() for name in ("out.json", "out.html")] == ["of before"] * 2


def test_wrong_words_are_one_line(run):
    for words, text in (
        ("--param c=1", "METHOD.k=v"),
        ("--param svm.c", "not of the form k=v"),
        ("--methods svm --param fsv.lam=0.1", "not compared"),
        ("--methods svm --data one.npz", "called"),
        ("--time-limit 0", "positive"),
        ("--time-limit -1", "positive"),
        ("--methods svm --report /none/r.html", "no folder"),
    ):
        assert text in run.refusal(f"{SHORT} {words}")


@pytest.mark.slow
def test_the_table_begins_with_the_best_score_and_ends_with_a_sentence(run):
    out = run(f"{SHORT} --methods pearson,svm,mpm")
    assert "without an answer" not in run.err
    assert "objective" not in out
    shown = [line.split()[0] for line in out.splitlines() if re.search(r"0\.\d{4} ±", line)]
    record = run(f"{SHORT} --methods pearson,svm,mpm --json")
    rows = {row["method"]: row for row in record["rows"]}
    assert shown == sorted(rows, key=lambda name: (-rows[name]["cv_accuracy"], rows[name]["n_features"]))
    (answer,) = record["answer_in_words"].values()
    assert answer in " ".join(out.split())
    run(f"{SHORT} --methods svm,mpm --report r.html")
    with open("r.html") as report:
        assert "larger class alone" in report.read()
