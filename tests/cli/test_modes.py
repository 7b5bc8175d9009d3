"""Options of modes: ``select --path``, ``solve --explain``, ``show`` of saved answers."""

import json
import re

import pytest

from fsopt.analysis import infeasibility
from fsopt.errors import SolverError


def test_a_path_as_json_and_as_a_table(small, run):
    record = run("select small.csv --path 0-1,3 --json -o path.json")
    assert [row["m"] for row in record["rows"]] == [0, 1, 3]
    assert all(row["optimal"] and row["bound"] <= row["objective"] for row in record["rows"])
    assert json.loads((small / "path.json").read_text()) == record
    record = run("select small.csv --path 1 --c 2 --c 0.5 --json")
    assert record["c"] == [row["c"] for row in record["rows"]] == [0.5, 2.0]
    assert "closed" in run("select small.csv --path all")


def test_an_infeasible_model_is_explained_and_a_feasible_one_solved(small, run):
    record = run("solve l1-mpm --data small.csv --param delta=0.999 --explain --json", code=1)
    assert record["explanation"]["status"] == record["status"] == "infeasible"
    text = run("solve l1-mpm --data small.csv --param delta=0.999 --explain", code=1)
    assert record["explanation"]["members"]
    assert all(member["component"] in text for member in record["explanation"]["members"])
    run("solve l1-mpm --data small.csv --param delta=0.999", code=1)
    assert "'fsopt solve --explain' names" in run.err
    assert "explanation" not in run("solve l1-mpm --data small.csv --param delta=0.1 --explain --json")


@pytest.mark.parametrize("error", [SolverError("no solver", "install one"), KeyboardInterrupt()])
def test_an_explanation_that_fails_leaves_the_answer(error, small, run, monkeypatch):
    def fails(*given, **keywords):
        raise error

    monkeypatch.setattr(infeasibility, "explain_infeasibility", fails)
    record = run("solve l1-mpm --data small.csv --param delta=0.999 --explain --json -o answer.json", code=1)
    assert record == json.loads((small / "answer.json").read_text())
    assert record["explanation"]["status"] == "unknown"
    assert record["explanation"]["summary"].startswith("not explained: ")


def test_a_saved_answer_is_shown_as_it_was_printed(small, run):
    for command in ("fit svm", "solve svm", "fit l1-mpm"):
        printed = run(f"{command} --data small.csv -o answer.json")
        shown = run("show answer.json").splitlines()
        missed = [line for line in printed.splitlines() if line not in shown]
        assert all(line.startswith("worst case") for line in missed)
        assert run("show answer.json --json") == json.loads((small / "answer.json").read_text())


@pytest.mark.parametrize(
    "command",
    [
        "fit svm {} --param C=2",
        "select {} --features 1 --folds 2",
        "compare {} --methods svm --folds 2 --jobs 1",
        "predict fit.json {}",
    ],
)
def test_the_data_stand_in_their_place_or_behind_their_option(command, small, run, in_process):
    run("fit svm small.csv -o fit.json")
    found = [run(command.format(data) + " --json") for data in ("small.csv", "--data small.csv")]
    of_clock = re.compile(r"seconds|history|digest|stages")
    one, other = ({k: v for k, v in record.items() if not of_clock.search(k)} for record in found)
    assert one.keys() == other.keys()
    assert all(one[k] == other[k] for k in one if k != "rows" or command.startswith("select"))
    if command.startswith("predict"):
        assert "no samples" in run.refusal(command.format(""))
    else:
        assert "given twice" in run.refusal(command.format("small.csv --data small.csv"))
