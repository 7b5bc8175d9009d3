"""The verbs as a user meets them: the contract of their JSON, exit codes, files, interruption."""

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support import ROOT

import fsopt
from fsopt.analysis import selecting
from fsopt.answers.records import sealed
from fsopt.errors import DataError, SolverError
from fsopt.papers.registry import EXPERIMENTS
from fsopt.studies import units

CERTIFICATE = {"kind", "ok", "residuals", "worst", "objective", "bound", "bound_source", "tolerance", "notes"}
SHORT = "compare small.csv --folds 2 --jobs 1"


def interrupted(*_, **__):
    raise KeyboardInterrupt


def test_solve_has_the_contract_and_agrees_with_the_library(small, run):
    command = "solve gmeb-dual --data small.csv --param r_plus=3 --param r_minus=3 --solver clarabel --json"
    raw, scaled = run(command), run(f"{command} --scale standard")
    assert {"model", "data", "params", "solver", "status", "stop", "objective", "bound", "seconds"} < set(raw)
    assert set(raw["certificate"]) == CERTIFICATE
    data = fsopt.load_dataset("small.csv")
    for record, X in ((raw, data.X), (scaled, (data.X - data.X.mean(axis=0)) / data.X.std(axis=0))):
        model = fsopt.build("gmeb-dual", data.with_X(X), r_plus=3.0, r_minus=3.0)
        assert record["status"] == "optimal"
        assert record["objective"] == pytest.approx(fsopt.solve(model).objective, rel=1e-6)
    found = run("solve onsvm --data small.csv --solver highs --verify clarabel --json")["verify"]
    assert found["difference"] < 1e-7
    assert (found["solver"], found["infeasibility"] <= 1e-9) == ("clarabel", True)


def test_solve_exits_1_where_there_is_no_answer(small, run):
    record = run("solve l1-mpm --data small.csv --param delta=0.999 --json", code=1)
    assert (record["status"], record["objective"]) == ("infeasible", None)
    assert (record["certificate"]["kind"], record["certificate"]["ok"]) == ("infeasible", True)
    run("solve l1-mpm --data small.csv --param delta=0.999", code=1)
    assert "fsopt.explain_infeasibility" in run.err


def test_options_files_reach_the_solver(small, run):
    for profile in sorted((ROOT / "solvers").glob("*.toml")):
        shutil.copy(profile, small)  # the path of the checkout may have spaces
        solver = profile.name.split("-")[0]
        found = run(f"solve onsvm --data small.csv --solver {solver} --options {profile.name} --json")
        assert found["status"] == "optimal"


@pytest.mark.parametrize("method", ["gmeb", "mopfs", "gbd"])
def test_fit_predict_check(method, small, run):
    record = run(f"fit {method} small.csv -o fit.json --json")
    keys = "method data params solver status stop objective bound iterations features support coef intercept history"
    assert {*keys.split(), "certificate", "seconds", "train"} <= set(record)
    assert set(record["train"]) >= {"accuracy", "mcc"}
    assert record == run("show fit.json --json") == json.loads((small / "fit.json").read_text())
    found = run("predict fit.json small.csv --json")
    assert found == run("predict --data small.csv fit.json --json"), "data in their place, or behind --data"
    assert found["accuracy"] == pytest.approx(record["train"]["accuracy"])
    assert set(found["labels"]) <= {"sick", "fit"}
    checked = run("check fit.json --data small.csv --json")
    assert (checked["verified"], checked["claimed"]) == (True, record["status"])
    record["intercept"] = record["intercept"] * 0.9 - 0.1
    (small / "forged.json").write_text(json.dumps(sealed(record)))
    assert not run("check forged.json --data small.csv --json", code=1)["verified"]


def test_a_saved_answer_is_shown_as_it_was_printed(small, run):
    for command in ("fit svm", "solve svm", "fit l1-mpm"):
        printed = run(f"{command} --data small.csv -o answer.json")
        shown = run("show answer.json").replace("small.csv", "small")  # the data have a name, and a place
        assert shown == printed.replace("small.csv", "small")


@pytest.mark.parametrize(
    ("method", "data", "iteration"), [("gbd", "wdbc", 2), ("l0-mpm", "small.csv", 1), ("mopfs", "small.csv", 1)]
)
def test_an_interrupted_driver_prints_its_best_point(method, data, iteration, small, run, monkeypatch):
    monkeypatch.setattr("fsopt.cli.tables._step", lambda name, entry: entry["iteration"] < iteration or interrupted())
    record = run(f"fit {method} --data {data} --json", code=130)
    assert (record["stop"], record["status"]) == ("interrupted", "feasible")
    assert len(record["coef"]) == fsopt.load_dataset(data).p


def test_an_interruption_that_finished_nothing_writes_nothing(small, run, monkeypatch, in_process):
    monkeypatch.setitem(EXPERIMENTS.shipped, "mop-fig1", replace(EXPERIMENTS["mop-fig1"], function=interrupted))
    assert run("reproduce mop-fig1 -o results --json", code=130)["experiments"] == []
    assert run.err == "interrupted in mop-fig1: 0 were finished\n"
    assert not (small / "results").exists()
    for name in ("out.json", "out.html"):
        Path(name).write_text("of before")
    monkeypatch.setattr(units, "study_fit", interrupted)
    run(f"{SHORT} --methods svm -o out.json --report out.html", code=130)
    assert run.err.splitlines()[-1] == "interrupted: no method finished"
    monkeypatch.setattr("fsopt.cli.tables.load", interrupted)
    for verb in ("select", "fit svm"):
        assert run(f"{verb} small.csv -o out.json", code=130) == ""
        assert run.err == "interrupted\n"
    assert [Path(name).read_text() for name in ("out.json", "out.html")] == ["of before"] * 2


def test_the_catalogues_have_every_entry_and_a_model_is_shown(run):
    for verb, key in (("models", "model"), ("solvers", "solver"), ("methods", "method")):
        assert {one[key] for one in run(f"{verb} --json")[verb]} == set(getattr(fsopt, verb.upper()))
    for slug in ("gmeb-dual", "fsp-m", "misclass-lpec"):
        shown = run(f"show {slug} --json")
        assert shown["class"] == fsopt.MODELS[slug].problem_class
        assert "\\min" in shown["latex"] or "\\max" in shown["latex"]
        assert all(c["equation"] for c in shown["components"])
        assert "aligned" in run(f"show {slug} --latex")
    for method, spec in fsopt.METHODS.items():
        listed = run(f"methods {method} --json")["parameters"]
        assert {p["parameter"] for p in listed} == set(spec.parameters), method
        assert not [p for p in listed if not p["meaning"] or ":math:" in p["meaning"] or "``" in p["meaning"]], method


READ = ["--target", "ill", "--positive", "yes", "--id", "name", "--drop", "seen", "--onehot", "--missing", "mean"]


@pytest.fixture
def raw(tmp_path, monkeypatch):
    """``raw.csv``: 60 samples with names, dates, texts, gaps and three words of labels; ``new.csv`` without labels."""
    rng, y = np.random.default_rng(3), np.arange(60) % 2
    frame = pd.DataFrame(
        {
            "name": [f"s{i}" for i in range(60)],
            "a": 2 * y - 1 + 0.8 * rng.standard_normal(60),
            "noise": rng.standard_normal(60),
            "town": np.where(2 * y - 1 + 0.5 * rng.standard_normal(60) > 0, "x", "z"),
            "seen": "2026-01-02",
            "ill": np.where(y > 0, "yes", np.where(np.arange(60) % 3, "no", "never")),
        }
    )
    frame.loc[[3, 9], "noise"] = np.nan
    frame.to_csv(tmp_path / "raw.csv", index=False)
    frame[["town", "noise", "a", "name"]].to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(selecting, "PAIRS", 2)  # what halves tell is tested with the question
    return tmp_path


def test_a_raw_table_is_fitted_checked_and_predicted(raw, run, in_process):
    run("fit svm raw.csv -o fit.json", *READ)
    run("check fit.json --data raw.csv")
    assert "other data" in run.refusal("check fit.json --data raw.csv --read positive=no")
    listed = list(csv.reader(run("predict fit.json new.csv").splitlines()))
    assert listed[0] == ["id", "label", "score"]
    assert [row[0] for row in listed[1:]] == [f"s{i}" for i in range(60)]
    assert {row[1] for row in listed[1:]} == {"yes", "not yes"}
    found = run("predict fit.json raw.csv -o labels.csv --json")
    assert (found["ids"], found["scores"]) == ([row[0] for row in listed[1:]], [float(row[2]) for row in listed[1:]])
    assert found["accuracy"] > 0.8
    assert list(csv.reader((raw / "labels.csv").read_text().splitlines())) == listed
    rows = run("compare raw.csv --methods svm --folds 3 --jobs 1 --json --class-weight balanced", *READ)["rows"]
    assert all(row["cv_balanced_accuracy"] > 0.7 and row["cv_auc"] > 0.7 and row["cv_recall"] for row in rows)


def test_a_table_becomes_an_answer_and_probabilities(raw, run):
    asked = ("select raw.csv --folds 2 --features 3", *READ)
    answer = run(*asked, "--json", "-o", "fit.json", "--report", "page.tex")
    assert (answer["m"], answer["rule"], answer["status"], answer["positive"]) == (3, "given", "optimal", "yes")
    assert {row["feature"] for row in answer["rows"]} == {"a", "noise", "town=z"}
    assert "\\toprule" in (raw / "page.tex").read_text()
    printed = run(*asked)
    assert answer["answer_in_words"][0] in " ".join(printed.split())
    run("check fit.json --data raw.csv")
    (raw / "two.csv").write_text("a,noise,town\n3.0,0.0,x\n-3.0,,w\n")
    rows = list(csv.DictReader(run("predict fit.json two.csv --proba").splitlines()))
    assert [row["label"] for row in rows] == ["yes", "not yes"]
    assert float(rows[0]["probability"]) > 0.9 > 0.5 > float(rows[1]["probability"])
    assert "column 'town' has values that no training sample had, whose features are 0: 'w'" in run.err
    run("predict fit.json new.csv")
    assert "no training sample" not in run.err


@pytest.mark.usefixtures("in_process")
def test_compare_has_the_contract_in_order_and_its_options_reach_the_rows(small, run):
    record = run(f"{SHORT} --methods pearson,fsv,svm --param svm.c=0.3 --json -o out.json")
    assert {"data", "n", "p", "rows"} <= set(record)
    assert [row["method"] for row in record["rows"]] == ["pearson", "fsv", "svm"]
    keys = {"method", "paper", "status", "objective", "n_features", "features", "cv_accuracy", "cv_mcc"}
    for row in record["rows"]:
        assert keys | {"certificate", "solver", "seconds"} <= set(row)
        assert (row["error"], row["n_features"]) == ("", len(row["features"]))
        assert 0.5 < row["cv_accuracy"] <= 1.0
    assert record["rows"][2]["params"]["c"] == 0.3
    assert record == json.loads((small / "out.json").read_text())
    text = run(f"{SHORT} --methods svm,s-mpm --param svm.c=0.3 --exact --report r.html")
    assert "svm: verified exactly" in text
    assert "s-mpm: not verified exactly (" in text
    assert f"{record['rows'][2]['cv_accuracy']:.4f}" in text
    assert "larger class alone" in (small / "r.html").read_text()


@pytest.mark.usefixtures("in_process")
def test_the_last_line_names_methods_without_an_answer(small, run, monkeypatch):
    real = units.study_fit

    def fit(entry, data, **keywords):
        if entry.name == "pearson":
            raise SolverError("its solver has no licence", "get one")
        if entry.name == "fisher" and data.n < 24:
            raise DataError("the data have no column x3")
        return real(entry, data, **keywords)

    monkeypatch.setattr(units, "study_fit", fit)
    assert "the larger class alone" in run(f"{SHORT} --methods ks,fisher")
    assert run.err.splitlines()[-1] == "without an answer: fisher (no scores)"
    found = run(f"{SHORT} --methods pearson,fisher --json", code=1)
    assert run.err.splitlines()[-1] == "without an answer: pearson (no fit), fisher (no scores)"
    assert [one["lacking"] for one in found["unanswered"]] == ["no fit", "no scores"]
    monkeypatch.setattr(units, "study_fit", lambda *_, **__: fit(fsopt.METHODS["pearson"], None))
    record = run(f"{SHORT} --json", code=1)
    assert [row["method"] for row in record["rows"]] == list(fsopt.METHODS)
