"""Messages name keywords in Python and flags on the command line.

How ``--param k=v`` is read: a JSON value, a number in any of its spellings, or a word.
"""

import ast
import math
import re
from pathlib import Path

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.cli import in_flags
from fsopt.cli.app import command
from fsopt.cli.options import _value
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
    # The verifier is a program of its own; the tables of papers are of a command.
    own = ("cli", "verifier", "papers")
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
load = fsopt.load_dataset
BOTH = {
    "compare --data d.npz --folds 9": (lambda: fsopt.compare(BLOBS, folds=9), "folds= from 2"),
    "compare --data d.npz --jobs 0": (lambda: fsopt.compare(BLOBS, jobs=0), "jobs=0 "),
    "select d.npz --target label --jobs 0": (lambda: fsopt.select(BLOBS, jobs=0), "jobs=0 "),
    "fit svm --data gaps.csv": (lambda: load("gaps.csv"), "missing= (drop"),
    "fit svm --data words.csv": (lambda: load("words.csv"), "onehot=True makes"),
    "fit svm --data words.csv --target lable": (lambda: load("words.csv", target="lable"), "with target=, for"),
    "fit svm --data words.csv --drop c": (lambda: load("words.csv", drop="c"), "with drop=, for"),
    "fit svm --data words.csv --target b": (lambda: load("words.csv", target="b"), "column with target="),
    "fit svm --data words.csv --read encoding=x": (
        lambda: load("words.csv", encoding="x"),
        ": encoding= names",
    ),
}
"""The commonest mistakes: on the command line, in Python, and a part of the message there."""
THEIRS = {"folds=": "--folds", "jobs=": "--jobs ", "missing=": "--missing", "onehot=True": "--onehot"}
THEIRS |= {"target=": "--target", "drop=": "--drop", "encoding=": "--read encoding="}


@pytest.mark.parametrize("words", BOTH)
def test_the_commonest_mistakes_in_both_places(tmp_path, monkeypatch, run, words):
    call, ours = BOTH[words]
    monkeypatch.chdir(tmp_path)
    Path("gaps.csv").write_text(TABLE)
    Path("words.csv").write_text(WORDS)
    np.savez("d.npz", X=BLOBS.X, y=BLOBS.y)
    with pytest.raises(FsoptError) as caught:
        call()
    assert ours in str(caught.value)
    assert "--" not in str(caught.value)
    said = run.refusal(words)
    theirs = next(ours.replace(name, flag) for name, flag in THEIRS.items() if name in ours)
    assert theirs in said
    assert ours not in said


@pytest.mark.parametrize(("verb", "said"), [("solve", "give --param knots=..."), ("check", "give --param knots=...")])
def test_a_parameter_that_is_missing_is_one_of_param(verb, said):
    error = in_flags(FsoptError("'own' needs knots", "give knots=..."), command(), [verb, "own"])
    assert (error.message, error.hint) == ("'own' needs knots", said)


VALUES = {
    "3": 3,
    ".5": 0.5,
    "1e-3": 0.001,
    "5.": 5.0,
    "inf": math.inf,
    "-Infinity": -math.inf,
    "true": True,
    "null": None,
    "[1, 2.5]": [1, 2.5],
    "theta-cuts": "theta-cuts",
}


def test_a_value_is_json_a_number_or_a_word():
    for text, value in VALUES.items():
        found = _value(text)
        assert (found, type(found)) == (value, type(value)), text
