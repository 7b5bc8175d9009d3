"""fsopt data --draw: the file holds the drawn data, digit for digit."""

import json

import numpy as np
import pytest
from reproductions import run

import fsopt
from fsopt.data.synthetic.files import LAWS, draw

SMALL = {
    "gmeb-type1": {"p": 8},
    "gmeb-type2": {"p": 12},
    "mpm": {"p": 11},
    "gbd-one": {"n": 9},
    "gbd-two": {"m": 3, "p": 5, "n": 8},
}


@pytest.mark.parametrize(("name", "suffix"), [*((name, "csv") for name in LAWS), ("gbd-two", "npz")])
def test_a_file_holds_what_was_drawn(name, suffix, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = " ".join(f"--param {k}={v}" for k, v in SMALL[name].items())
    out, _ = run(f"data {name} --draw {words} -o drawn.{suffix} --json", capsys)
    files, wanted = json.loads(out)["files"], draw(name, SMALL[name])
    assert len(files) == len(wanted)
    for file, data in zip(files, wanted.values(), strict=True):
        again = fsopt.load_dataset(file)
        np.testing.assert_array_equal(again.X, data.X)
        np.testing.assert_array_equal(again.y, data.y)
        assert again.features == data.features


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("data gmeb-type3 --draw -o a.csv", "did you mean"),
        ("data mpm --draw -o a.csv --param m=3", "has no parameter 'm'"),
        ("data mpm --draw -o a.csv --param p=3", "p is 3"),
        ("data mpm --draw -o a.arff", "type"),
    ],
)
def test_wrong_words_are_one_line(words, text, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    _, err = run(words, capsys, code=2)
    assert text in err
    assert err.strip().count("\n") == 0
    assert not list(tmp_path.iterdir())
