"""The command line as a user meets it: contract keys, exit codes, files, interruption."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import ROOT, blobs, sampled

import fsopt
from fsopt.answers.records import sealed
from fsopt.cli import main
from fsopt.cli.output import print_certificate

CERTIFICATE = {"kind", "ok", "residuals", "worst", "objective", "bound", "bound_source", "tolerance", "notes"}


def run(command: str, capsys: pytest.CaptureFixture[str], code: int = 0) -> Any:
    """Run a command line in this process and return its stdout, as JSON where it asked for that."""
    with pytest.raises(SystemExit) as stopped:
        main(command.split())
    out = capsys.readouterr().out
    assert stopped.value.code == code
    return json.loads(out) if "--json" in command else out


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    data = blobs(40, 5, seed=1)
    lines = [",".join([*data.features, "kind"])]
    labels = ["sick" if v > 0 else "fit" for v in data.y]
    lines += [",".join([*map(repr, row), word]) for row, word in zip(data.X.tolist(), labels, strict=True)]
    (tmp_path / "small.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_solve_has_the_contract_and_agrees_with_the_library(capsys: pytest.CaptureFixture[str], wdbc: Any) -> None:
    for slug in ("gmeb-dual", "gmeb-primal"):
        command = f"solve {slug} --data wdbc --param r_plus=3 --param r_minus=3 --solver clarabel --json"
        record = run(f"{command} --scale standard", capsys)
        assert {"model", "data", "params", "solver", "status", "stop", "objective", "bound", "seconds"} < set(record)
        assert set(record["certificate"]) == CERTIFICATE
        assert record["status"] == "optimal"
        assert record["objective"] == pytest.approx(121.757464796, rel=1e-7)
        raw = run(command, capsys)
        assert raw["objective"] == pytest.approx(229.9026015, rel=1e-6)
    model = fsopt.build("gmeb-dual", wdbc, r_plus=3.0, r_minus=3.0)
    assert fsopt.solve(model).objective == pytest.approx(raw["objective"], rel=1e-6)


def test_solve_exits_1_where_there_is_no_answer(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = run("solve l1-mpm --data small.csv --label kind --param delta=0.999 --json", capsys, code=1)
    assert record["status"] == "infeasible"
    assert record["objective"] is None
    assert record["certificate"]["kind"] == "infeasible"
    assert record["certificate"]["ok"]


def test_a_nonconvex_model_without_an_algorithm_of_its_own_is_remarked(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = {}
    for slug, params in (("kernel-scaling", ""), ("gmeb-nonconvex", "--param r_plus=1 --param r_minus=1")):
        with pytest.raises(SystemExit):
            main(f"solve {slug} --data small.csv --label kind {params} --time-limit 1 --json".split())
        captured = capsys.readouterr()
        told[json.loads(captured.out)["solver"]] = captured.err
    assert "nonconvex" not in told["fsopt"]
    assert told.keys() == {"fsopt", "scip"}
    assert "nonconvex: solved globally by scip, which may take long; Ctrl-C keeps the incumbent" in told["scip"]


def test_verify_solves_again_with_another_solver(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = run("solve onsvm --data small.csv --label kind --solver highs --verify clarabel --json", capsys)
    assert record["verify"]["solver"] == "clarabel"
    assert record["verify"]["difference"] < 1e-7
    assert record["verify"]["infeasibility"] <= 1e-9
    assert record["verify"]["dual_difference"] >= 0
    record = run("solve svm --data small.csv --label kind --solver clarabel --verify libsvm --json", capsys)
    assert record["verify"]["dual_difference"] < 1e-4


def test_verify_by_a_solver_without_multipliers_compares_the_rest(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyscipopt")
    record = run("solve svm --data small.csv --label kind --solver clarabel --verify scip --json", capsys)
    assert record["verify"]["difference"] < 1e-6
    assert record["verify"]["dual_difference"] is None


def test_options_files_reach_the_solver(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (small / "loose.toml").write_text("max_iter = 2\n")
    command = "solve svm --data small.csv --label kind --options loose.toml --solver clarabel --json"
    record = run(command, capsys)
    assert (record["status"], record["stop"]) == ("feasible", "iteration-limit")
    profiles = sorted((ROOT / "solvers").glob("*.toml"))
    assert profiles
    for profile in profiles:
        solver = profile.name.split("-")[0]
        shutil.copy(profile, small)  # the path of the checkout may have spaces
        command = f"solve onsvm --data small.csv --label kind --solver {solver} --options {profile.name} --json"
        found = run(command, capsys)
        assert found["status"] == "optimal"


@pytest.mark.parametrize("method", list(fsopt.METHODS))
def test_fit_predict_check(method: str, small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = run(f"fit {method} --data small.csv --label kind -o fit.json --json", capsys)
    keys = "method data params solver status stop objective bound iterations features support coef intercept history"
    assert {*keys.split(), "certificate", "seconds", "train"} <= set(record)
    assert set(record["train"]) >= {"accuracy", "mcc"}
    assert record == json.loads((small / "fit.json").read_text())
    found = run("predict fit.json --data small.csv --label kind --json", capsys)
    assert found["accuracy"] == pytest.approx(record["train"]["accuracy"])
    assert set(found["labels"]) <= {"sick", "fit"}
    checked = run("check fit.json --data small.csv --label kind --json", capsys)
    assert checked["verified"]
    assert checked["claimed"] == record["status"]


def test_predict_reorders_columns_and_needs_no_label(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("fit svm --data small.csv --label kind -o fit.json --json", capsys)
    before = run("predict fit.json --data small.csv --label kind --json", capsys)["scores"]
    rows = [line.split(",")[:-1][::-1] for line in (small / "small.csv").read_text().splitlines()]
    (small / "new.csv").write_text("\n".join(",".join(row) for row in rows) + "\n")
    after = run("predict fit.json --data new.csv --json", capsys)
    assert after["scores"] == pytest.approx(before)
    assert after["accuracy"] is None


FORGERIES = [(m, f) for m in ("gmeb", "gbd", "fsv", "l0-mpm", "onsvm") for f in ("objective", "intercept", "status")]


@pytest.mark.parametrize(("method", "field"), [*FORGERIES, ("gbd", "bound")])
def test_check_refuses_a_forged_answer(
    method: str, field: str, small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = run(f"fit {method} --data small.csv --label kind -o fit.json --json", capsys)
    if field == "status":
        record["status"] = "stationary" if record["status"] == "optimal" else "optimal"
    else:
        record[field] = record[field] * 0.9 - 0.1
    (small / "forged.json").write_text(json.dumps(sealed(record)))
    assert not run("check forged.json --data small.csv --label kind --json", capsys, code=1)["verified"]


@pytest.mark.parametrize("method", ["fsv", "misclass", "l0-mpm"])
def test_the_bound_of_a_linearised_step_is_no_bound_of_the_driver(
    method: str, small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = run(f"fit {method} --data small.csv --label kind -o fit.json --json", capsys)
    assert record["bound"] is None
    record |= {"status": "optimal", "bound": record["objective"]}
    (small / "forged.json").write_text(json.dumps(sealed(record)))
    assert not run("check forged.json --data small.csv --label kind --json", capsys, code=1)["verified"]


def test_check_of_a_solve_and_of_a_forged_one(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = run("solve rsvm --data small.csv --label kind --scale standard -o solve.json --json", capsys)
    assert run("check solve.json --data small.csv --label kind --json", capsys)["verified"]
    for part in ("x", "y", "z"):
        forged = json.loads(json.dumps(record))
        values = forged["point"][part]
        values[int(np.argmax(np.abs(values)))] *= 1.01
        (small / "forged.json").write_text(json.dumps(sealed(forged)))
        assert not run("check forged.json --data small.csv --label kind --json", capsys, code=1)["verified"]


@pytest.mark.usefixtures("in_process")
def test_compare_has_the_contract_in_order(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = run("compare --data small.csv --label kind --folds 2 --jobs 1 -o out.json --json", capsys)
    assert {"data", "n", "p", "rows"} <= set(record)
    assert [row["method"] for row in record["rows"]] == list(fsopt.METHODS)
    keys = {"method", "paper", "status", "objective", "n_features", "features", "cv_accuracy", "cv_mcc"}
    keys |= {"certificate", "solver", "seconds"}
    for row in record["rows"]:
        assert keys <= set(row)
        assert row["n_features"] == len(row["features"])
        assert (0.5 if row["features"] else 0.0) < row["cv_accuracy"] <= 1.0
    assert record == json.loads((small / "out.json").read_text())
    again = run("compare --data small.csv --label kind --folds 2 --jobs 1 --methods fsv,svm --json", capsys)
    by_name = {row["method"]: row for row in record["rows"]}
    for row in again["rows"]:
        assert row["cv_accuracy"] == by_name[row["method"]]["cv_accuracy"]


@pytest.mark.slow
@pytest.mark.usefixtures("in_process")
def test_the_table_of_compare_tells_an_open_gap_from_a_proof(capsys: pytest.CaptureFixture[str]) -> None:
    few = "--param best-subset.max_nodes=20"
    command = f"compare --data wdbc --methods best-subset,svm,mopfs {few} --folds 2 --jobs 1 -v"
    rows = {line.split()[0]: line for line in reversed(run(command, capsys).splitlines()) if line.split()}
    assert re.search(r"feasible +gap \d\.\de-01 ", rows["best-subset"])
    assert re.search(r"optimal +\S+ convex ", rows["svm"])
    assert re.search(r"feasible +\S+ mop ", rows["mopfs"])


@pytest.mark.usefixtures("in_process")
def test_a_method_that_fails_is_told_in_its_row(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = run("compare --data small.csv --label kind --folds 2 --jobs 1 --methods svm --json", capsys)
    assert record["rows"][0]["error"] == ""
    lines = (small / "small.csv").read_text().splitlines()
    same = [lines[0], *(",".join(["1"] * 5 + [line.split(",")[-1]]) for line in lines[1:])]
    (small / "same.csv").write_text("\n".join(same) + "\n")
    record = run("compare --data same.csv --label kind --folds 2 --jobs 1 --methods gmeb,svm --json", capsys)
    assert record["rows"][0]["status"] == "none"
    assert record["rows"][0]["error"]
    assert record["rows"][1]["status"] == "optimal"


@pytest.mark.parametrize(
    ("ok", "residuals", "word"),
    [
        (True, {"primal": 0.0, "gap": 1e-9}, "holds"),
        (False, {"primal": 0.0, "gap": 0.4}, "holds but for the gap: the bounds do not meet"),
        (False, {"primal": 1e-3, "gap": 0.4}, "does NOT hold"),
        (False, {"gap": 0.4, "dual": "nan"}, "does NOT hold"),
        (False, {"gap": 0.4, "dual": float("nan")}, "does NOT hold"),
        (False, {}, "does NOT hold"),
    ],
)
def test_an_open_gap_is_told_from_a_certificate_that_fails(
    ok: bool, residuals: dict[str, Any], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_certificate({"kind": "gbd", "ok": ok, "tolerance": 1e-6, "residuals": residuals, "notes": []})
    assert capsys.readouterr().out.splitlines()[1].endswith(f") {word}")


def test_the_catalogues_have_every_entry(capsys: pytest.CaptureFixture[str]) -> None:
    assert [m["model"] for m in run("models --json", capsys)["models"]] == list(fsopt.MODELS)
    assert {s["solver"] for s in run("solvers --json", capsys)["solvers"]} == set(fsopt.SOLVERS)
    assert [m["method"] for m in run("methods --json", capsys)["methods"]] == list(fsopt.METHODS)


@pytest.mark.parametrize("slug", sampled(fsopt.MODELS, 8))
def test_every_model_is_shown(slug: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = run(f"show {slug} --json", capsys)
    assert shown["class"] == fsopt.MODELS[slug].problem_class
    assert "\\min" in shown["latex"] or "\\max" in shown["latex"]
    assert all(c["equation"] for c in shown["components"])
    assert "&" in run(f"show {slug} --latex", capsys) or "\\quad" in shown["latex"]


def test_help_loads_nothing_heavy() -> None:
    heavy = ("pyomo.environ", "numpy", "scipy", "sklearn", "rich.table")
    code = f"import sys; from fsopt.cli.app import app; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@contextmanager
def interrupted_at(iteration: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    @contextmanager
    def bar(description: str, total: int | None = None) -> Iterator[Any]:
        def update(completed: int, text: str) -> None:
            if completed >= iteration:
                raise KeyboardInterrupt

        yield update

    monkeypatch.setattr("fsopt.cli.fitting.progress_bar", bar)
    yield


@pytest.mark.parametrize("method", ["gbd", "l0-mpm", "fsv", "mopfs"])
def test_an_interrupted_driver_prints_its_best_point(
    method: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with interrupted_at(2, monkeypatch):
        record = run(f"fit {method} --data wdbc --json", capsys, code=130)
    assert record["stop"] == "interrupted"
    assert record["status"] == "feasible"
    assert len(record["coef"]) == 30


def iterations_done(path: Path, number: int) -> bool:
    """Wait up to a minute for a checkpoint to be replaced so many times."""
    seen, end = set(), time.monotonic() + 60
    while len(seen) < number and time.monotonic() < end:
        if path.exists():
            seen.add(path.stat().st_mtime_ns)
        time.sleep(0.005)
    return len(seen) == number


@pytest.mark.slow
def test_ctrl_c_of_a_running_process(tmp_path: Path) -> None:
    saved = tmp_path / "run.npz"
    command = [sys.executable, "-m", "fsopt", "fit", "best-subset", "--data", "wdbc", "--param", "m=12", "--json"]
    command += ["--param", "max_nodes=1000000", "--checkpoint", str(saved)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        # A shell's background job hands down that Ctrl-C is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr is not None
    assert "569 samples" in process.stderr.readline()
    assert iterations_done(saved, 3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "its status is feasible" in err
    record = json.loads(out)
    assert record["stop"] == "interrupted"
    assert record["bound"] < record["objective"]
