"""Verb ``path``: the table, JSON, files, and bad input."""

import json

import pytest
from support import blobs

from fsopt.cli import main


@pytest.fixture
def source(tmp_path):
    data = blobs(40, 4, seed=3)
    rows = "\n".join(",".join(map(str, [*x, int(y)])) for x, y in zip(data.X, data.y, strict=True))
    path = tmp_path / "d.csv"
    path.write_text("a,b,c,d,label\n" + rows + "\n")
    return str(path)


def code(*command):
    with pytest.raises(SystemExit) as stopped:
        main(["path", *command])
    return stopped.value.code


def test_a_path_as_json_and_as_a_table(source, tmp_path, capsys):
    target = tmp_path / "path.json"
    assert code("--data", source, "--m", "0-2,4", "--json", "-o", str(target)) == 0
    record = json.loads(capsys.readouterr().out)
    assert [row["m"] for row in record["rows"]] == [0, 1, 2, 4]
    assert all(row["optimal"] and row["bound"] <= row["objective"] for row in record["rows"])
    assert json.loads(target.read_text()) == record
    assert code("--data", source, "--m", "1", "--c", "2,0.5", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["c"] == [row["c"] for row in record["rows"]] == [0.5, 2.0]
    assert code("--data", source) == 0
    assert "closed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--m", "x"], "--m is 'x'"),
        (["--m", "9"], "'m'"),
        (["--c", "0"], "'c'"),
        (["--c", "1,x"], "--c is '1,x'"),
        (["--loss", "z"], "loss is 'z'"),
        (["--scale", "z"], "scale is 'z'"),
    ],
)
def test_bad_input_is_said_in_one_line(options, word, source, capsys):
    assert code("--data", source, *options) == 2
    assert word in "".join(capsys.readouterr())
