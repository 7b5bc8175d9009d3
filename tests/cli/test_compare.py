"""fsopt compare: parameters, solver, tuning, several data sets, narrow output, the report and its errors."""

import os
import re
import subprocess

import numpy as np
import pytest
from support import blobs, there

from fsopt.errors import DataError, SolverError
from fsopt.studies import units
from fsopt.studies.report import shown

N = 24
EVIL = "<script>alert(1)</script>"


@pytest.fixture
def folder(tmp_path, monkeypatch, in_process):
    monkeypatch.chdir(tmp_path)
    for k, name in enumerate(("one", "two")):
        data = blobs(N, 3, seed=k, gap=0.7)
        np.savez(f"{name}.npz", X=data.X, y=data.y, features=np.array([EVIL, "b", "c"]))
    return tmp_path


SHORT = "compare --data one.npz --folds 2 --jobs 1"


@pytest.mark.slow
def test_parameters_solver_and_tuning_are_in_the_rows(folder, run):
    rows = run(f"{SHORT} --methods svm,onsvm --param svm.c=0.3 --param onsvm.c=2 --json")["rows"]
    assert [row["params"]["c"] for row in rows] == [0.3, 2]
    assert run(f"{SHORT} --methods svm --solver scs --json")["rows"][0]["solver"] == "scs"
    record = run(f"{SHORT} --methods svm --tune --json")
    assert record["tune"] is True
    assert record["rows"][0]["params"]["c"] in (0.1, 1.0, 10.0)


@pytest.mark.slow
def test_several_data_sets_have_a_table_each_and_a_majority(folder, run):
    words = f"{SHORT} --data two.npz --methods svm"
    record = run(f"{words} --json")
    assert record["data"] == ["one.npz", "two.npz"]
    assert (record["n"], record["p"]) == ([N, N], [3, 3])
    assert len(record["rows"]) == 2
    assert [scores["cv_accuracy"] for scores in record["majority"].values()] == [0.5, 0.5]
    assert run(words).count("the larger class alone") == 2


def test_the_table_is_readable_at_80_columns(folder, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = run(f"{SHORT} --methods gmeb-penalised,svm").splitlines()
    assert max(map(len, lines)) <= 80
    assert f"one.npz: {N} samples, 3 features, 2-fold cross-validation, seed 0" in lines
    assert any(line.endswith("balanced 0.5000") for line in lines)
    for head in ("method", "features", "CV accuracy", "balanced", "AUC", "status"):
        assert head in run.out
    row = next(line for line in lines if "gmeb-penalised" in line)
    assert re.search(r"0\.\d{4} ±0\.\d{3}", row)


def test_the_last_line_names_the_methods_without_an_answer_and_1_is_for_none_at_all(folder, run, monkeypatch):
    real = units.study_fit

    def fit(name, data, **keywords):
        if name == "pearson" or (name == "svm" and data.n == N):
            raise SolverError("its solver has no licence", "get one")
        if name == "fisher" and data.n < N:
            raise DataError("the data have no column x3")
        return real(name, data, **keywords)

    monkeypatch.setattr(units, "study_fit", fit)
    line = "without an answer: pearson (no fit), svm (no fit), fisher (no scores)"
    run(f"{SHORT} --methods pearson,svm,ks,fisher")
    assert run.err.splitlines()[-1] == line
    found = run(f"{SHORT} --methods pearson,svm,fisher --json", code=1)
    assert run.err.splitlines()[-1] == line
    assert [one["lacking"] for one in found["unanswered"]] == ["no fit", "no fit", "no scores"]
    run(f"{SHORT} --methods ks")
    assert "without an answer" not in run.err
    run(f"{SHORT} --data two.npz --methods ks,fisher")
    assert run.err.splitlines()[-1] == "without an answer: fisher on one (no scores), fisher on two (no scores)"


@pytest.mark.slow
def test_numbers_of_the_report_have_three_significant_digits(folder, run):
    run(f"{SHORT} --methods svm,fsv --report r.html")
    cells = re.findall(
        r'<td class="number" data-key="[^"]*" title="([^"]+)">([^<]*)</td>', (folder / "r.html").read_text()
    )
    assert len(cells) > 20
    assert [text for full, text in cells if text not in (shown(float(full)), f"{float(full):.0f}")] == []


@pytest.mark.slow
def test_the_report_shows_a_feature_of_any_name_as_text(folder, run):
    run(f"{SHORT} --methods svm,fsv --report r.html")
    text = (folder / "r.html").read_text()
    assert EVIL not in text
    words = [there("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0"]
    done = subprocess.run(
        [*words, "--virtual-time-budget=2000", "--dump-dom", (folder / "r.html").as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "HOME": str(folder)},
    )
    assert "CONSOLE" not in done.stderr, done.stderr
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in done.stdout
    assert "larger class alone" in done.stdout
    assert done.stdout.index("is best (") < done.stdout.index("<svg") < done.stdout.index("<table")


def test_wrong_words_are_one_line(folder, run):
    for words, text in (
        ("--param c=1", "METHOD.k=v"),
        ("--param svm.c", "not of the form k=v"),
        ("--methods svm --param fsv.lam=0.1", "not compared"),
        ("--methods svm --data one.npz", "called"),
        ("--methods svm --report /none/r.html", "no folder"),
    ):
        assert text in run.refusal(f"{SHORT} {words}")


def test_the_table_begins_with_the_best_score_and_ends_with_a_sentence(folder, run):
    out = run(f"{SHORT} --methods pearson,svm,mpm")
    assert "objective" not in out
    shown = [line.split()[0] for line in out.splitlines() if re.search(r"0\.\d{4} ±", line)]
    record = run(f"{SHORT} --methods pearson,svm,mpm --json")
    rows = {row["method"]: row for row in record["rows"]}
    assert shown == sorted(rows, key=lambda name: (-rows[name]["cv_accuracy"], rows[name]["n_features"]))
    (answer,) = record["answer_in_words"].values()
    assert answer in " ".join(out.split())
    verbose = run(f"{SHORT} --methods svm,mpm -v")
    assert "objective" in verbose
    assert "mpm: the features of svm" in verbose
    told = run(f"{SHORT} --methods gbd")
    assert "in comparisons: gbd max_cuts=20" in told
