"""Raw tables on the command line: one command each to fit, check, predict and draw."""

import csv
import json
import re
import shlex

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
    run("check", "fit.json", "--data", "raw.csv", "--target", "kind", "--positive", "b", code=2)
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
    pytest.importorskip("matplotlib")
    run("show", "fit.json", "--plot", "fit.png", "--kind", "weights")
    run("show", "fit.json", "--data", "raw.csv", "--plot", "scores.svg")
    assert (folder / "fit.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / "scores.svg").read_text()
    run("show", "fit.json", "--plot", "fit.txt", code=2)
    run("show", "fit.json", "--export", "fit.py")
    assert "predictor = Predictor(" in (folder / "fit.py").read_text()


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


def test_a_table_of_a_german_excel_from_end_to_end(tmp_path, monkeypatch, run):
    """In cp1252, with semicolons, decimal commas, points in thousands and dates."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    rows = ["Proben-Nr.;Größe (cm);Blutfett %;Kosten €;Aufnahme;Geschlecht;Zustand"]
    for i in range(40):
        fat, state = rng.normal(18 + 6 * (i % 2), 2), ("überlebt", "krank")[i % 2]
        numbers = f"{rng.normal(170, 8):.1f};{fat:.2f}".replace(".", ",")
        sex = ("männlich", "weiblich")[i % 3 % 2]
        rows.append(f"P{i};{numbers};{1 + i % 9}.{100 + i};{1 + i % 28:02d}.03.2026;{sex};{state}")
    (tmp_path / "Patienten.csv").write_bytes("\r\n".join([*rows, ""]).encode("cp1252"))
    words = ["--data", "Patienten.csv", "--target", "Zustand", "--id", "Proben-Nr.", "--onehot"]
    run("fit", "svm", *words, "-o", "fit.json")
    assert "Patienten.csv: read as cp1252, ';', decimal ',', thousands '.'" in run.err
    assert "warning: +1 is 'überlebt', the last of both words: --positive 'krank' makes 'krank' +1" in run.err
    saved = json.loads((tmp_path / "fit.json").read_text())
    assert saved["features"] == ["Größe (cm)", "Blutfett %", "Kosten €", "Aufnahme", "Geschlecht=weiblich"]
    run("fit", "svm", *words, "--positive", "krank", "-o", "krank.json")
    assert "warning" not in run.err
    turned = json.loads((tmp_path / "krank.json").read_text())
    assert np.allclose(turned["coef"], -np.array(saved["coef"]), atol=1e-6)
    run("check", "krank.json", "--data", "Patienten.csv")
    run("fit", "svm", *words, "--decimal", ".", code=2)
    assert "is not a number: --decimal and --thousands say how" in run.err


@pytest.fixture
def hospital(tmp_path, monkeypatch):
    """A workbook of which the second sheet has titles, an identifier, gaps, limits of detection and ordered words."""
    openpyxl = pytest.importorskip("openpyxl")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    book = openpyxl.Workbook()
    book.active.append(["see the next sheet"])
    sheet = book.create_sheet("Data")
    for row in (["Study of 2026"], [], ["nr", "CRP, mg/l", "pain", "sex", "ill"]):
        sheet.append(row)
    for i in range(40):
        crp = "<0,5" if i % 7 == 0 else round(float(rng.normal(3 + 3 * (i % 2), 1)), 2)
        words = ("none", "some", "much")[i % 3], ("m", "f", None)[i % 3]
        sheet.append([f"P{i}", crp, *words, None if i == 9 else ("no", "yes", "no", "yes", "No", "yes")[i % 6]])
    book.save("t.xlsx")
    return tmp_path


@pytest.mark.parametrize("verb", ["data t.xlsx", "fit svm --data t.xlsx", "show gmeb-dual --data t.xlsx"])
def test_the_command_that_a_table_needs_is_proposed_whole(hospital, run, verb):
    proposed = run.refusal(verb).partition("run: fsopt ")[2].strip()
    more = """--target ill --numbers '"CRP, mg/l"' --onehot --missing median"""
    assert proposed == f"{verb} {more}"
    run(*shlex.split(proposed))
    for said in ("sheet 'Data' of 'Sheet', 'Data'", "above the names of the columns: 1 rows", "6 texts are numbers"):
        assert said in run.err
    for said in (
        "1 of 40 rows have no label and are left out: 10",
        "'No' is taken as 'no'",
        "'nr' (39 different texts",
    ):
        assert said in run.err


def test_a_proposed_command_has_names_of_any_signs(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    names = ["-a", 'b "x"', "c, d", "it's", "drop=f", "e"]
    rows = [";".join('"' + name.replace('"', '""') + '"' for name in [*names, "-y"])]
    rows += [f"{i} mg;{i} mg;{i} mg;{i} mg;{i} mg;;{'uv'[i % 2]}" for i in range(12)]
    (tmp_path / "odd table.csv").write_text("\n".join(rows) + "\n")
    proposed = run.refusal("data", "odd table.csv").partition("run: fsopt ")[2].strip()
    run(*shlex.split(proposed), "--json")
    assert json.loads(run.out)["features"] == names[:-1]


def test_a_saved_fit_reads_other_samples_as_its_own(hospital, run):
    words = ["--target", "ill", "--numbers", '"CRP, mg/l"', "--onehot", "--missing", "median", "--sheet", "Data"]
    run("fit", "svm", "--data", "t.xlsx", *words, "--order", "none<some<much", "-o", "fit.json")
    assert "ordered words are numbers from 0: pain (none < some < much)" in run.err
    saved = json.loads((hospital / "fit.json").read_text())
    assert saved["features"] == ["CRP, mg/l", "pain", "sex=m"]
    assert saved["layout"]["order"] == ["none<some<much"]
    assert saved["layout"]["sheet"] == "Data"
    run("check", "fit.json", "--data", "t.xlsx")
    new = 'ill,sex,pain,"CRP, mg/l"\nYes,m,much,>9.5\nNO,,none,1 mg\n'
    (hospital / "new.csv").write_text(new)
    run("predict", "fit.json", "--data", "new.csv", "--json")
    found = json.loads(run.out)
    assert (found["labels"], found["accuracy"]) == (["yes", "no"], 1.0)
    own = dict(zip(saved["features"], saved["coef"], strict=True))
    rise = 8.5 * own["CRP, mg/l"] + 2 * own["pain"] + own["sex=m"]
    assert found["scores"][0] - found["scores"][1] == pytest.approx(rise)  # f, the more frequent one, fills the gap
    run("predict", "fit.json", "--data", "t.xlsx", "--json")
    assert json.loads(run.out)["n"] == 40
    assert "there is no sheet 'Sheet1': name one with --sheet" in run.refusal(
        "predict", "fit.json", "--data", "t.xlsx", "--sheet", "Sheet1"
    )
    for option in (["--missing", "drop"], ["--onehot"], ["--positive", "no"], ["--order", "a<b"]):
        said = run.refusal("predict", "fit.json", "--data", "t.xlsx", *option)
        assert f"{option[0]} has no meaning here: the fit keeps what it learned" in said


@pytest.mark.usefixtures("in_process")
def test_compare_in_one_command(folder, run):
    words = ["compare", "--data", "raw.csv", *OPTIONS, "--methods", "svm,fsv", "--folds", "3", "--jobs", "1", "--json"]
    run(*words, "--class-weight", "balanced")
    rows = json.loads(run.out)["rows"]
    assert all(row["cv_balanced_accuracy"] > 0.7 and row["cv_auc"] > 0.7 and row["cv_recall"] for row in rows)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (OPTIONS[:2], "--positive makes|is not a number"),
        ([*OPTIONS, "--class-weight", "heavy"], "give balanced"),
        ([*OPTIONS, "--class-weight", "z=2"], "class 'z'"),
        ([*OPTIONS[:-1], "mode"], "drop, mean, median, indicator"),
    ],
)
def test_one_line_says_what_to_do(folder, run, words, message):
    assert re.search(message, run.refusal("fit", "svm", "--data", "raw.csv", *words))
