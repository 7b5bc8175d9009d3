"""Mistakes of a new user, on the command line and in Python: one line with the remedy, exit 2, nothing written."""

import ast
import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support import ROOT

import fsopt
from fsopt.cli.options import _value

GOOD = "a,b,label\n1,2,1\n2,1,1\n3,1,0\n0,5,0\n1,1,1\n2,2,0\n"
FILES = {
    "good.csv": GOOD,
    "other.csv": GOOD.replace("1,2,1", "1,3,1"),
    "people.csv": "age,bp,town,ill\n50,120,x,yes\n60,130,y,no\n40,110,x,no\n55,125,z,yes\n",
    "german.csv": "age;bp;ill\n50,5;120,1;yes\n60,1;130,2;no\n40,2;110,5;no\n55,7;125,6;yes\n",
    "three.csv": "a,label\n1,1\n2,2\n3,3\n0,1\n",
    "gaps.csv": "a,b,label\n1,2,1\n,1,1\n3,1,0\n0,5,0\n",
    "capital.csv": "A,b\n1,2\n",
    "bad.toml": "threads = = 1\n",
    "deep.json": "[" * 100_000,
    "notanswer.json": '{"a": 1}',
    "one.lp": "Minimize\n obj: x\nSubject To\n row: x >= 1\nEnd\n",
    "two.lp": "Minimize\n obj: x\nSubject To\n row: x >= 2\nEnd\n",
}
COMMANDS = """
fitt svm good.csv :: Did you mean 'fit'?
fit lasso good.csv :: there is no method called 'lasso'
fit svm :: Missing argument 'FILE': name a file, wdbc
fit fsp-m good.csv :: 'fsp-m' is no method: it is a model
solve best-subset --data good.csv :: 'best-subset' is no model: it is a method
solve svm :: give --data, for example wdbc
solve svm good.csv :: the data are given by --data
fit svm god.csv :: there is no file god.csv: did you mean good.csv
fit svm good.csv --param k :: not of the form k=v: for example --param c=1.0
fit best-subset good.csv --param k=1 :: has no parameter 'k': did you mean m?
fit svm good.csv --param target=b :: tables are read by fsopt.load_dataset
fit svm good.csv --param solver=highs :: no parameter of a model or method
fit best-subset good.csv --param m=9 :: outside [1, 2] (there are 2 features)
fit svm good.csv --param c=1 --param c=2 :: given twice
fit svm good.csv --c 1 :: a parameter of a model or method is --param c=VALUE
fit svm good.csv --label b :: name the column with --target
fit svm good.csv --sep ; :: give it as --read KEY=VALUE
fit svm good.csv --time-limit 0 :: give seconds > 0
fit svm good.csv --solver cplex :: here it is pyomo:cplex
solve gmeb-dual --data good.csv --solver highs :: installed for SOCP: clarabel
solve svm --data good.csv --options no.toml :: cannot read the options file
solve svm --data good.csv --options bad.toml :: is not TOML
solve svm --data good.csv --scale robust :: one of standard
fit svm people.csv :: there is no column 'label' among the 4 columns: name the column with --target
fit svm people.csv --target ill :: --onehot makes 0/1 features of them, --drop town leaves the column out
fit svm german.csv --target ill :: such as --read decimal=','
fit svm three.csv :: --positive makes one of them (or several) +1
fit svm gaps.csv :: --missing (drop, mean, median)
fit svm good.csv --class-weight heavy :: give balanced
fit fsv good.csv --checkpoint c.npz :: method 'fsv' has no checkpoints
fit svm good.csv -o nowhere/fit.json :: there is no folder
fit svm good.csv -o readonly.json :: read-only
export svm --data good.csv -o model.gams :: use one of .lp
predict :: for example fsopt predict fit.json new.csv
predict fit.json :: name a file, wdbc
predict fit.json capital.csv :: the data have no column a: did you mean A?
predict good.csv fit.json :: is not JSON
predict solved.json good.csv :: is a solved model, not a fit
predict fit.json good.csv --proba :: take loss='logistic' or fsopt.select
check fit.json :: give --data
check fit.json --data other.csv :: was computed from other data
check fit.json --data good.csv --param c=1 :: --param and --scale are for the model of --solution
check {MODELS}/rlp/rlp.nl --solution x.sol :: fsopt reads .lp and .mps, by HiGHS
solve one.lp --data good.csv :: --data is for models on data sets
solve {MODELS}/gmeb-dual/gmeb-dual.lp :: quadratic constraints are not supported by HiGHS
export one.lp -o x.lp :: is a model file already
check svm --data good.csv :: is a model, no answer
check one.json --data two.lp :: is an answer to another model than 'two.lp', by its digest
check one.json --data good.csv :: is an answer to 'one.lp', not to 'good.csv'
check deep.json --data good.csv :: is not JSON
check proof.json --data good.csv --proof again.json :: is a proof already
show notanswer.json :: not a saved answer
compare good.csv --folds 1 :: --folds 1 is no cross-validation
compare good.csv --folds 9 :: choose --folds from 2 to 3
compare good.csv --methods svm --param c=1 :: not of the form METHOD.k=v
compare good.csv --methods svm --param fsv.lam=0.1 :: not compared
compare good.csv --folds 2 --jobs 0 :: --jobs 0 is no number of processes
select wdbc --features 50 :: outside [1, 30]
select good.csv :: give data with 4 samples of each class
select good.csv --rule best :: one of log-loss, shortest
select good.csv --report page.pdf :: let it end in .html
study study.toml :: Missing option '--store'
study --store s.sqlite -o rows.txt :: let it end in .csv
reproduce :: 'fsopt reproduce --list' has the names
"""
D = fsopt.Dataset(np.array([[0.0, 1], [1, 0], [2, 3], [3, 2]]), np.array([-1.0, -1, 1, 1]))
X, FRAME = D.X, pd.DataFrame({"a": [1.0, 2, 3, 4], "ill": ["n", "n", "y", "y"]})
CALLS = {
    "fit('best-subset', D, tol=1)": "did you mean tolerance?",
    "fit('best-subset', D, exclude=[0])": "has no parameter 'exclude': its parameters: ",
    "fit('best-subset', D, m=1, costs=[1.0, 1.0], budget=1.0)": "'m' of 'best-subset' is given beside costs",
    "verify(D, D)": "(the proof of select)",
    "fit('svm', FRAME)": "y names the column of labels of a table",
    "fit(D, 'svm')": "give a name in quotes",
    "fit('svm', D, c=np.array([1.0]))": "must be a number",
    "Dataset(X, D.y, features=5)": "features is 5, not a list",
    "solve(fsopt.build('svm', D), time_limit=True)": "the time limit must be positive, not True",
    "solve(fsopt.build('svm', D), options=(1, 2))": "the options must be a mapping",
    "certify(fsopt.build('mpm', D), fsopt.solve(fsopt.build('svm', D)))": "the result is not one of 'mpm'",
    "export(fsopt.build('svm', D), 5)": "the path must be a path",
    "select(X, D.y, k=1)": "did you mean features?",
    "selection_path(D, k=1)": "did you mean m?",
    "load_dataset('people.csv', target='ill')": "onehot=True makes",
    "load_dataset('people.csv', target='ill', drop='c')": "with drop=;",
    "select(D, jobs=0)": "jobs=0 ",
    "solve('svm')": "for example of fsopt.build",
    "load_fit('nowhere.json')": "check the path",
    "fit('svm', D).predict(X[:, :1])": "2 features of the fit",
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mistakes")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    (folder / "readonly.json").write_text("keep me")
    (folder / "readonly.json").chmod(0o444)
    return folder


@pytest.fixture
def folder(prepared, monkeypatch, run):
    monkeypatch.chdir(prepared)
    monkeypatch.delenv("FSOPT_DATA", raising=False)
    if not Path("fit.json").exists():
        run("fit svm good.csv -o fit.json")
        run("check fit.json --data good.csv --proof proof.json")
        run("solve svm --data good.csv -o solved.json")
        run("solve one.lp -o one.json")
    return prepared


@pytest.mark.parametrize("line", COMMANDS.strip().splitlines())
def test_a_mistake_is_one_line_with_its_remedy(line, folder, run):
    command, expected = line.split(" :: ")
    words = [word.replace("{MODELS}", str(ROOT / "models")) for word in command.split()]
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert expected in run.refusal("", *words, "--json")
    error = json.loads(run.out)["error"]
    assert set(error) == {"kind", "message", "hint"}
    assert error["hint"], "an error says what to do"
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("call", CALLS)
def test_a_mistake_in_python_is_one_line_with_its_remedy(call, folder):
    with pytest.raises((fsopt.errors.FsoptError, TypeError)) as refused:
        eval(f"fsopt.{call}")
    assert CALLS[call] in str(refused.value)
    assert not {"\n", "--"} & {*str(refused.value), *str(refused.value).split()}


def test_without_json_stdout_is_empty_and_without_words_there_is_help(run):
    run.refusal("solve svm --data nowhere.csv")
    assert (run.out, len(run.err.splitlines())) == ("", 1)
    assert "Catalogue" in run("")


def test_a_licence_that_is_missing_is_named(run, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("MOSEKLM_LICENSE_FILE", "GRB_LICENSE_FILE", "XPAUTH_PATH"):
        monkeypatch.delenv(name, raising=False)
    found = {row["solver"]: row for row in run("solvers --json")["solvers"]}
    assert found["highs"]["why_not"] == ""
    assert all(
        "no licence is found" in found[s]["why_not"] for s in ("mosek", "gurobi", "xpress") if found[s]["available"]
    )


@pytest.mark.parametrize("value", ["9" * 5000, "[" * 5000, "[" * 5000 + "]" * 5000, "[" * 800 + "]" * 800])
def test_a_value_of_any_length_is_refused_in_a_short_line(value, folder, run):
    assert len(run.refusal(f"solve svm --data good.csv --param c={value}")) < 300


COMMAND = re.compile(r"\b(fsopt|pyomo|glpsol|pip) [^'`]*|var\(--\w+\)")
"""A whole command, which is the same for everybody, and a colour of a page."""
FLAG = re.compile(r"(?<![\w-])(--[a-z]|-o\b)")


def texts(path):
    """Yield the texts that a module makes: no docstrings, and of f-strings what is written."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(v.value if isinstance(v, ast.Constant) else "0" for v in node.values)
            alone.update(map(id, node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


def test_no_message_of_the_library_names_a_flag():
    # The verifier is a program of its own; the tables of papers are of a command.
    root = ROOT / "fsopt"
    modules = [p for p in root.rglob("*.py") if p.relative_to(root).parts[0] not in ("cli", "verifier", "papers")]
    named = [p for p in modules if FLAG.search(p.read_text(encoding="utf-8"))]
    assert len(modules) > 150
    assert not [f"{p}: {t}" for p in named for t in texts(p) if " " in t and FLAG.search(COMMAND.sub("", t))]


def test_a_value_is_json_a_number_or_a_word():
    values = {"3": 3, ".5": 0.5, "1e-3": 0.001, "5.": 5.0, "inf": math.inf, "-Infinity": -math.inf, "true": True}
    values |= {"null": None, "[1, 2.5]": [1, 2.5], "theta-cuts": "theta-cuts"}
    for text, value in values.items():
        found = _value(text)
        assert (found, type(found)) == (value, type(value)), text
