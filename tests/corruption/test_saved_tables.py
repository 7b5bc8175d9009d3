"""`fsopt check` and `fsopt predict` on changed fits of raw tables: encoding, layout and weights belong to the data."""

from __future__ import annotations

import json

import numpy as np
import pytest
from corruption.answers import Outcome, run
from corruption.changes import digest_renewed, edited

WORDS = [
    *("--target", "kind", "--positive", "a", "--id", "name", "--onehot", "--missing", "mean"),
    *("--class-weight", "balanced", "--weights", "times"),
]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A raw table, and a fit to it."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    lines = ["name,color,size,times,kind"]
    for i in range(40):
        kind = "abc"[i % 3]
        size = "" if i % 9 == 0 else f"{rng.normal(2.0 * (kind == 'a'), 1.0):.3f}"
        lines.append(f"s{i},{rng.choice(['red', 'blue', 'green'])},{size},{1 + i % 3},{kind}")
    path = folder / "raw.csv"
    path.write_text("\n".join(lines) + "\n")
    ended = run("fit", "svm", "--data", str(path), *WORDS, "--json", "-o", str(folder / "fit.json"))
    assert ended.code == 0, ended.err
    return path, json.loads((folder / "fit.json").read_text())


def verdict(table, record, *words: str, verb: str = "check") -> Outcome:
    path, _ = table
    file = path.with_name("changed.json")
    file.write_text(json.dumps(record))
    return run(verb, str(file), "--data", str(path), *words, "--json")


@pytest.mark.parametrize("words", [(), tuple(WORDS)])
def test_an_untouched_fit_of_a_raw_table_is_verified(table, words):
    assert verdict(table, table[1], *words).verified
    assert verdict(table, table[1], verb="predict").code == 0


def changes(record):
    """Yield changed records, each with what was changed."""
    columns = record["encoding"]["columns"]
    places = {column["name"]: k for k, column in enumerate(columns)}
    for name, part, value in (
        ("size", "fill", 5.0),
        ("size", "fill", None),
        ("size", "indicator", True),
        ("color", "levels", ["blue", "green", "pink"]),
        ("color", "levels", ["red", "green", "blue"]),
        ("color", "fill", None),
        ("color", "kind", "number"),
        ("color", "name", "size"),
    ):
        yield f"{name} {part}", edited(record, "encoding", "columns", places[name], part, value=value)
    yield "encoding missing", edited(record, "encoding", "missing", value="median")
    yield "encoding reversed", edited(record, "encoding", "columns", value=columns[::-1])
    yield "no encoding", edited(record, "encoding", value=None)
    for part, value in (("missing", "median"), ("class_weight", None), ("weights", None), ("positive", ["b"])):
        yield f"layout {part}", edited(record, "layout", part, value=value)
    yield "layout unknown", edited(record, "layout", "more", value=1)
    yield "layout number", edited(record, "layout", value=3)


def test_nothing_false_is_verified(table):
    for name, record in changes(table[1]):
        for words in ((), tuple(WORDS)):
            outcome = verdict(table, digest_renewed(record), *words)
            assert outcome.code is not None, (name, outcome.raised)
            assert not outcome.verified, name
        assert verdict(table, digest_renewed(record), verb="predict").code is not None, name
