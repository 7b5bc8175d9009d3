"""Bad input: one clear line (what, why, what to do), exit 2, no traceback, nothing left behind."""

import json
from pathlib import Path
from typing import Any

import pytest

GOOD = "a,b,label\n1,2,1\n2,1,1\n3,1,0\n0,5,0\n1,1,1\n2,2,0\n"
FILES = {
    "good.csv": GOOD,
    "bad.toml": "threads = = 1\n",
    "typed.toml": 'threads = "many"\n',
    "list.json": "[1, 2]",
    "foreign.json": '{"method": {"name": "svm"}, "version": [1, 2]}',
    "deep.toml": "a = " + "[" * 5000,
    "deep.json": "[" * 100_000,
    "notjson.json": "{",
    "notanswer.json": '{"a": 1}',
}

CASES = {
    # data
    "missing file": ("solve svm --data nowhere.csv", "there is no file"),
    # names and parameters
    "unknown verb": ("solv svm --data good.csv", "solv"),
    "unknown flag": ("solve svm --data good.csv --fast", "--fast"),
    "data forgotten": ("solve svm", "--data"),
    "unknown model": ("solve svn --data good.csv", "did you mean svm"),
    "unknown method in compare": ("compare --data good.csv --methods gmeb,foo", "no method called 'foo'"),
    "parameter without value": ("solve svm --data good.csv --param c", "k=v"),
    "flag as a parameter": ("fit svm --data good.csv --param solver=highs", "no parameter of a model or method"),
    "argument as a parameter": ("show svm --param data=3", "no parameter of a model or method"),
    "parameter given twice": ("solve svm --data good.csv --param c=1 --param c=2", "given twice"),
    "word for a number": ("solve svm --data good.csv --param c=big", "must be a number"),
    "unknown --scale": ("solve svm --data good.csv --scale robust", "one of standard"),
    "one fold": ("compare --data good.csv --folds 1", "--folds 1 is no cross-validation"),
    # solvers and options
    "solver of another class": ("solve gmeb-dual --data good.csv --solver highs", "installed for SOCP: clarabel"),
    "no vertices for SLA": ("fit fsv --data good.csv --solver clarabel", "take one that does: highs"),
    "option of the wrong type": ("solve svm --data good.csv --options typed.toml", "'threads'"),
    "check of a list": ("check list.json --data good.csv", "not a saved answer"),
    "check of a foreign file": ("check foreign.json --data good.csv", "not a saved answer"),
    "large seed": ("compare --data good.csv --folds 2 --seed 99999999999", "the seed is 99999999999"),
    "unknown solver": ("solve svm --data good.csv --solver cplex", "no solver called 'cplex'"),
    "unreadable options file": ("solve svm --data good.csv --options no.toml", "cannot read the options file"),
    "options file that is not TOML": ("solve svm --data good.csv --options bad.toml", "is not TOML"),
    # files
    "checkpoint of seconds": (
        "fit fsv --data good.csv --checkpoint c.npz",
        "method 'fsv' has no checkpoints",
    ),
    "folder that is not there": ("fit svm --data good.csv -o nowhere/out.json", "cannot write"),
    "read-only output": ("solve svm --data good.csv -o readonly.json", "read-only"),
    "export to a format we lack": ("export svm --data good.csv -o model.xyz", "use one of .lp"),
    "check of no JSON": ("check notjson.json --data good.csv", "is not JSON"),
    "check of another file": ("check notanswer.json --data good.csv", "not a saved answer"),
    "check of nothing": ("check nowhere.json --data good.csv", "cannot read"),
    "data in a folder": ("solve svm --data folder.csv", "there is no file"),
    "5,000 digits": (f"solve svm --data good.csv --param c={'9' * 5000}", "is inf, outside"),
    "5,000 brackets": (f"solve svm --data good.csv --param c={'[' * 5000}", "too many brackets"),
    "5,000 brackets that close": (
        f"solve svm --data good.csv --param c={'[' * 5000 + ']' * 5000}",
        "too many brackets",
    ),
    "800 brackets": (f"solve svm --data good.csv --param c={'[' * 800 + ']' * 800}", "must be a number"),
    "a million processes": ("compare --data good.csv --folds 2 --jobs 1000000", "--jobs 1000000 is no number"),
    "no number for a limit": ("solve svm --data good.csv --time-limit nan", "must be positive"),
    "options of brackets": ("solve svm --data good.csv --options deep.toml", "is not TOML"),
    "check of brackets": ("check deep.json --data good.csv", "is not JSON"),
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("errors")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    (folder / "folder").mkdir()
    (folder / "folder.csv").mkdir()
    (folder / "readonly.json").write_text("keep me")
    (folder / "readonly.json").chmod(0o444)
    return folder


@pytest.fixture
def folder(prepared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(prepared)
    monkeypatch.delenv("FSOPT_DATA", raising=False)
    return prepared


def listing(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.is_file()}


@pytest.mark.parametrize("case", CASES)
def test_one_line_and_exit_2(case: str, folder: Path, run: Any) -> None:
    command, expected = CASES[case]
    before = listing(folder)
    assert expected in run.refusal(f"{command} --json")
    error = json.loads(run.out)["error"]
    assert set(error) == {"kind", "message", "hint"}
    assert error["hint"], "an error says what to do"
    assert listing(folder) == before, "nothing is written, nothing is lost"


def test_without_json_stdout_is_empty(folder: Path, run: Any) -> None:
    run.refusal("solve svm --data nowhere.csv")
    assert run.out == ""
    assert len(run.err.splitlines()) == 1


def test_a_solver_that_is_not_installed_is_named_with_its_pip_line(folder: Path, run: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("fsopt.solvers.spec.find_spec", lambda name: None if name == "clarabel" else object())
    said = run.refusal("solve svm --data good.csv --solver clarabel")
    assert "solver 'clarabel' is not installed: pip install clarabel; installed for QP: " in said


def test_data_of_another_answer_is_refused(folder: Path, tmp_path: Path, run: Any) -> None:
    run("fit svm --data good.csv -o", tmp_path / "fit.json")
    (tmp_path / "other.csv").write_text(GOOD.replace("1,2,1", "1,3,1"))
    assert "was computed from other data" in run.refusal(
        "check", tmp_path / "fit.json", "--data", tmp_path / "other.csv"
    )
