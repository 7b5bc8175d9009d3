"""Verb ``path``: the table, JSON, files, and bad input."""

import json

import pytest


def test_a_path_as_json_and_as_a_table(small, run):
    record = run("path --data small.csv --m 0-1,3 --json -o path.json")
    assert [row["m"] for row in record["rows"]] == [0, 1, 3]
    assert all(row["optimal"] and row["bound"] <= row["objective"] for row in record["rows"])
    assert json.loads((small / "path.json").read_text()) == record
    record = run("path --data small.csv --m 1 --c 2,0.5 --json")
    assert record["c"] == [row["c"] for row in record["rows"]] == [0.5, 2.0]
    assert "closed" in run("path --data small.csv")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ("--m x", "--m is 'x'"),
        ("--m 9", "'m'"),
        ("--c 0", "'c'"),
        ("--c 1,x", "--c is '1,x'"),
        ("--loss z", "loss is 'z'"),
        ("--scale z", "scale is 'z'"),
    ],
)
def test_bad_input_is_said_in_one_line(options, word, small, run):
    assert word in run.refusal(f"path --data small.csv {options}")
