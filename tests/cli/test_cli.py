"""The command line as a user meets it: contract keys, exit codes, files, interruption."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import ROOT

import fsopt
from fsopt.answers.records import sealed
from fsopt.cli.output import print_certificate, show, table
from fsopt.errors import SolverError
from fsopt.papers.registry import EXPERIMENTS
from fsopt.studies import units

CERTIFICATE = {"kind", "ok", "residuals", "worst", "objective", "bound", "bound_source", "tolerance", "notes"}


def test_solve_has_the_contract_and_agrees_with_the_library(small: Path, run: Any) -> None:
    command = "solve gmeb-dual --data small.csv --param r_plus=3 --param r_minus=3 --solver clarabel --json"
    raw, scaled = run(command), run(f"{command} --scale standard")
    assert {"model", "data", "params", "solver", "status", "stop", "objective", "bound", "seconds"} < set(raw)
    assert set(raw["certificate"]) == CERTIFICATE
    data = fsopt.load_dataset("small.csv")
    for record, X in ((raw, data.X), (scaled, (data.X - data.X.mean(axis=0)) / data.X.std(axis=0))):
        model = fsopt.build("gmeb-dual", data.with_X(X), r_plus=3.0, r_minus=3.0)
        assert record["status"] == "optimal"
        assert record["objective"] == pytest.approx(fsopt.solve(model).objective, rel=1e-6)


def test_solve_exits_1_where_there_is_no_answer(small: Path, run: Any) -> None:
    record = run("solve l1-mpm --data small.csv --param delta=0.999 --json", code=1)
    assert (record["status"], record["objective"]) == ("infeasible", None)
    assert record["certificate"]["kind"] == "infeasible"
    assert record["certificate"]["ok"]


def test_a_nonconvex_model_without_an_algorithm_of_its_own_is_remarked(small: Path, run: Any) -> None:
    lines = (small / "small.csv").read_text().splitlines()
    (small / "tiny.csv").write_text("\n".join(lines[:9]) + "\n")
    for slug, params in (("kernel-scaling", ""), ("gmeb-nonconvex", "--param r_plus=1 --param r_minus=1")):
        assert run(f"solve {slug} --data tiny.csv {params} --json")["solver"] == "scip"
        assert "nonconvex: solved globally by scip, which may take long; Ctrl-C keeps the incumbent" in run.err


def test_verify_solves_again_with_another_solver(small: Path, run: Any) -> None:
    found = run("solve onsvm --data small.csv --solver highs --verify clarabel --json")["verify"]
    assert found["solver"] == "clarabel"
    assert found["difference"] < 1e-7
    assert found["infeasibility"] <= 1e-9


def test_options_files_reach_the_solver(small: Path, run: Any) -> None:
    (small / "loose.toml").write_text("max_iter = 2\n")
    record = run("solve svm --data small.csv --options loose.toml --solver clarabel --json")
    assert (record["status"], record["stop"]) == ("feasible", "iteration-limit")
    profiles = sorted((ROOT / "solvers").glob("*.toml"))
    assert profiles
    for profile in profiles:
        solver = profile.name.split("-")[0]
        shutil.copy(profile, small)  # the path of the checkout may have spaces
        found = run(f"solve onsvm --data small.csv --solver {solver} --options {profile.name} --json")
        assert found["status"] == "optimal"


@pytest.mark.parametrize("method", ["gmeb", "mopfs", "gbd", "pearson"])
def test_fit_predict_check(method: str, small: Path, run: Any) -> None:
    record = run(f"fit {method} --data small.csv -o fit.json --json")
    keys = "method data params solver status stop objective bound iterations features support coef intercept history"
    assert {*keys.split(), "certificate", "seconds", "train"} <= set(record)
    assert set(record["train"]) >= {"accuracy", "mcc"}
    assert record == json.loads((small / "fit.json").read_text())
    found = run("predict fit.json --data small.csv --json")
    assert found["accuracy"] == pytest.approx(record["train"]["accuracy"])
    assert set(found["labels"]) <= {"sick", "fit"}
    checked = run("check fit.json --data small.csv --json")
    assert checked["verified"]
    assert checked["claimed"] == record["status"]
    record["intercept"] = record["intercept"] * 0.9 - 0.1
    (small / "forged.json").write_text(json.dumps(sealed(record)))
    assert not run("check forged.json --data small.csv --json", code=1)["verified"]


@pytest.mark.usefixtures("in_process")
def test_compare_has_the_contract_in_order(small: Path, run: Any) -> None:
    command = "compare --data small.csv --folds 2 --jobs 1 --json"
    record = run(f"{command} --methods pearson,fsv,svm -o out.json")
    assert {"data", "n", "p", "rows"} <= set(record)
    assert [row["method"] for row in record["rows"]] == ["pearson", "fsv", "svm"]
    keys = {"method", "paper", "status", "objective", "n_features", "features", "cv_accuracy", "cv_mcc"}
    keys |= {"certificate", "solver", "seconds"}
    for row in record["rows"]:
        assert keys <= set(row)
        assert row["error"] == ""
        assert row["n_features"] == len(row["features"])
        assert 0.5 < row["cv_accuracy"] <= 1.0
    assert record == json.loads((small / "out.json").read_text())
    [again] = run(f"{command} --methods svm")["rows"]
    assert again["cv_accuracy"] == record["rows"][2]["cv_accuracy"]


@pytest.mark.usefixtures("in_process")
def test_compare_takes_every_method_where_none_is_named(small: Path, run: Any, monkeypatch: Any) -> None:
    def refuse(*given: Any, **keywords: Any) -> None:
        raise SolverError("its solver has no licence", "get one")

    monkeypatch.setattr(units, "study_fit", refuse)
    record = run("compare --data small.csv --folds 2 --jobs 1 --json", code=1)
    assert [row["method"] for row in record["rows"]] == list(fsopt.METHODS)
    assert {row["status"] for row in record["rows"]} == {"none"}


def test_an_open_gap_is_told_from_a_certificate_that_fails(capsys: pytest.CaptureFixture[str]) -> None:
    for ok, bound, word in (
        (True, 2.0, "holds"),
        (True, 1.2, "holds, gap 4.0e-01"),
        (True, "-inf", "holds"),
        (False, 1.2, "does NOT hold"),
    ):
        parts = {"kind": "gbd", "ok": ok, "tolerance": 1e-6, "residuals": {}, "notes": []}
        print_certificate({**parts, "objective": 2.0, "bound": bound})
        assert capsys.readouterr().out.splitlines()[1].endswith(f") {word}"), bound


def test_names_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("a[red]b", ":smile:", "[/]", "x=[1, 2]")
    show(table(names[0], ("name", f">{names[1]}"), [(name, name) for name in names]), *names)
    lines = capsys.readouterr().out.splitlines()
    assert [lines[0].strip(), lines[-1].strip()] == [names[0], names[-1]]
    assert names[1] in next(line for line in lines if "name" in line)
    for name in names:
        assert sum(line.count(name) for line in lines) >= 3


def test_the_catalogues_have_every_entry(run: Any) -> None:
    assert [m["model"] for m in run("models --json")["models"]] == list(fsopt.MODELS)
    assert {s["solver"] for s in run("solvers --json")["solvers"]} == set(fsopt.SOLVERS)
    assert [m["method"] for m in run("methods --json")["methods"]] == list(fsopt.METHODS)


@pytest.mark.parametrize("slug", ["gmeb-dual", "fsp-m", "misclass-lpec"])
def test_a_model_is_shown(slug: str, run: Any) -> None:
    shown = run(f"show {slug} --json")
    assert shown["class"] == fsopt.MODELS[slug].problem_class
    assert "\\min" in shown["latex"] or "\\max" in shown["latex"]
    assert all(c["equation"] for c in shown["components"])
    assert "&" in run(f"show {slug} --latex") or "\\quad" in shown["latex"]


def test_a_verb_without_an_answer_says_that_it_was_interrupted(run: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("fsopt.cli.tables.load", _interrupted)
    assert run("select wdbc", code=130) == ""
    assert run.err == "interrupted\n"


def test_an_interrupted_reproduction_that_finished_nothing_writes_nothing(
    small: Path, run: Any, monkeypatch: Any
) -> None:
    stopped = replace(EXPERIMENTS["mop-fig1"], function=_interrupted)
    monkeypatch.setitem(EXPERIMENTS.shipped, "mop-fig1", stopped)
    assert run("reproduce mop-fig1 -o results --json", code=130)["experiments"] == []
    assert run.err == "interrupted in mop-fig1: 0 were finished\n"
    assert sorted(path.name for path in small.iterdir()) == ["small.csv"]


def _interrupted(*arguments: Any, **keywords: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("method", "data", "iteration"),
    [("gbd", "wdbc", 2), ("l0-mpm", "small.csv", 1), ("fsv", "small.csv", 1), ("mopfs", "small.csv", 1)],
)
def test_an_interrupted_driver_prints_its_best_point(
    method: str, data: str, iteration: int, small: Path, run: Any, monkeypatch: Any
) -> None:
    @contextmanager
    def bar(description: str, total: int | None = None) -> Iterator[Any]:
        def update(completed: int, text: str) -> None:
            if completed >= iteration:
                raise KeyboardInterrupt

        yield update

    monkeypatch.setattr("fsopt.cli.tables.progress_bar", bar)
    record = run(f"fit {method} --data {data} --json", code=130)
    assert (record["stop"], record["status"]) == ("interrupted", "feasible")
    assert len(record["coef"]) == fsopt.load_dataset(data).p
