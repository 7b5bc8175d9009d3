"""Verb ``path``: the table, JSON, files, and bad input."""

import json


def test_a_path_as_json_and_as_a_table(small, run):
    record = run("path --data small.csv --m 0-1,3 --json -o path.json")
    assert [row["m"] for row in record["rows"]] == [0, 1, 3]
    assert all(row["optimal"] and row["bound"] <= row["objective"] for row in record["rows"])
    assert json.loads((small / "path.json").read_text()) == record
    record = run("path --data small.csv --m 1 --c 2,0.5 --json")
    assert record["c"] == [row["c"] for row in record["rows"]] == [0.5, 2.0]
    assert "closed" in run("path --data small.csv")


def test_bad_input_is_said_in_one_line(small, run):
    for options, word in (
        ("--m x", "--m is 'x'"),
        ("--m 9", "'m'"),
        ("--c 1,x", "--c is '1,x'"),
        ("--loss z", "loss is"),
    ):
        assert word in run.refusal(f"path --data small.csv {options}")
