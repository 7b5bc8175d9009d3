"""Messages name keywords in Python and flags on the command line."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.cli.app import command
from fsopt.cli.flags import in_flags
from fsopt.errors import FsoptError

ROOT = Path(fsopt.__file__).parent
COMMAND = re.compile(r"\b(fsopt|pyomo|glpsol|pip) [^'`]*|var\(--\w+\)")
"""A whole command, which is the same for everybody, and a colour of a page."""
FLAG = re.compile(r"(?<![\w-])(--[a-z]|-o\b)")
TABLE = "a,b,label\n1,,1\n?,4,0\n3,nan,1\n5,8,0\n7,NaN,1\n9,1,1\n"
WORDS = "a,b,label\n1,x,0\n2,y,1\n3,z,1\n"


def texts(path):
    """Return the texts that a module makes, with their lines: no docstrings, and of f-strings what is written."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(v.value if isinstance(v, ast.Constant) else "0" for v in node.values)
            alone.update(map(id, node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.lineno, node.value


def test_no_message_of_the_library_names_a_flag():
    # The verifier and the writers of the library are programs of their own; the tables of papers are of a command.
    own = ("cli", "verifier", "library", "papers")
    modules = [p for p in ROOT.rglob("*.py") if p.relative_to(ROOT).parts[0] not in own]
    assert len(modules) > 200
    named = [p for p in modules if FLAG.search(p.read_text(encoding="utf-8"))]
    wrong = [
        f"{p.relative_to(ROOT)}:{line}: {text}"
        for p in named
        for line, text in texts(p)
        if " " in text and FLAG.search(COMMAND.sub("", text))
    ]
    assert not wrong, "\n".join(wrong)


BLOBS = blobs(n=12, p=3, seed=0)
BOTH = [
    (lambda: fsopt.compare(BLOBS, folds=1), "compare --data d.npz --folds 1", "folds=1 ", "--folds 1 "),
    (lambda: fsopt.compare(BLOBS, folds=9), "compare --data d.npz --folds 9", "folds= from 2", "--folds from 2"),
    (
        lambda: fsopt.compare(BLOBS, ["svm"], params={"gbd": {"m": 2}}),
        "compare --data d.npz --methods svm --param gbd.m=2",
        "name it in methods=",
        "name it in --methods",
    ),
    (lambda: fsopt.compare(BLOBS, jobs=0), "compare --data d.npz --jobs 0", "jobs=0 ", "--jobs 0 "),
    (lambda: fsopt.select(BLOBS, jobs=0), "select d.npz --target label --jobs 0", "jobs=0 ", "--jobs 0 "),
    (lambda: fsopt.fit("s-mpm", BLOBS, 3), "fit gbd --data gaps.csv", "", "--missing (drop, mean"),
    (lambda: fsopt.load_dataset("gaps.csv"), "fit svm --data gaps.csv", "missing= (drop", "--missing (drop"),
    (lambda: fsopt.load_dataset("words.csv"), "fit svm --data words.csv", "onehot=True makes", "--onehot makes"),
    (
        lambda: fsopt.load_dataset("words.csv", target="lable"),
        "fit svm --data words.csv --label lable",
        "with target=, for",
        "with --target, for",
    ),
    (
        lambda: fsopt.load_dataset("words.csv", drop="c"),
        "fit svm --data words.csv --drop c",
        "with drop=, for",
        "with --drop, for",
    ),
    (
        lambda: fsopt.load_dataset("words.csv", target="b"),
        "fit svm --data words.csv --target b",
        "; or choose a two-valued column with target=",
        "; or choose a two-valued column with --target",
    ),
    (
        lambda: fsopt.load_dataset("words.csv", encoding="runes"),
        "fit svm --data words.csv --encoding runes",
        ": encoding= takes",
        ": --encoding takes",
    ),
    (
        lambda: fsopt.load_dataset("words.csv", missing="drop", onehot=True, drop="a", columns="a"),
        "fit svm --data points.csv --sep ;",
        "",
        "say which: --decimal ',' or --thousands ','",
    ),
]
"""The commonest mistakes: in Python, on the command line, and a part of each message."""


@pytest.mark.parametrize(("call", "words", "ours", "theirs"), BOTH, ids=[words for _, words, _, _ in BOTH])
def test_the_commonest_mistakes_in_both_places(tmp_path, monkeypatch, run, call, words, ours, theirs):
    monkeypatch.chdir(tmp_path)
    Path("gaps.csv").write_text(TABLE)
    Path("words.csv").write_text(WORDS)
    Path("points.csv").write_text("a;label\n1,234;1\n5,678;0\n")
    np.savez("d.npz", X=BLOBS.X, y=BLOBS.y)
    with pytest.raises(FsoptError) as caught:
        call()
    assert ours in str(caught.value)
    assert "--" not in str(caught.value)
    said = run.refusal(words)
    assert theirs in said
    assert not ours or ours not in said


@pytest.mark.parametrize(("verb", "said"), [("solve", "give --param knots=..."), ("check", "give knots=...")])
def test_a_parameter_that_is_missing_is_one_of_param(verb, said):
    error = in_flags(FsoptError("'own' needs knots", "give knots=..."), command(), [verb, "own"])
    assert (error.message, error.hint) == ("'own' needs knots", said)


def test_a_frame_is_read_by_its_own_keyword():
    import pandas as pd

    frame = pd.DataFrame({"a": ["x", "y", "z"], "label": [0, 1, 1]})
    with pytest.raises(FsoptError, match="encode='onehot' makes 0/1 features of its values, drop= or id="):
        fsopt.Dataset.from_frame(frame, target="label")
