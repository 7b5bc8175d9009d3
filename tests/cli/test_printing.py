"""What verbs print: tables at 80, 100 and 120 columns, help, logs; to a reader that left; names that would command."""

import io
import json
import os
import shlex
import subprocess
import sys

import numpy as np
import pytest
from joblib import parallel_config
from support import blobs

import fsopt
from fsopt.analysis import selecting
from fsopt.answers.certificate import certificate_line
from fsopt.cli import main, output, tables
from fsopt.cli.app import GROUPS, command
from fsopt.common.texts import CONTROL, counted

WIDTHS = (80, 100, 120)


def compare():
    def row(method, features, accuracy, **own):
        row = {"data": "wdbc", "method": method, "n_features": features, "cv_accuracy": accuracy}
        row |= {f"cv_{name}": accuracy and accuracy - 0.01 for name in ("balanced_accuracy", "mcc", "auc", "recall")}
        row |= {"spreads": {"cv_accuracy": 0.0123}, "ended_early": 0, "fold_statuses": {"optimal": 4, "feasible": 1}}
        row |= {"standing": "not told apart, front", "status": "optimal", "stop": "complete"}
        row |= {"front": accuracy == 0.9, "answer": False}
        return row | {"exact": None, "warnings": [], "error": ""} | own

    rows = [row("pearson", 1, 0.9), row("svm", 8, 0.95, standing="")]
    rows += [row("mopfs", 3, None, ended_early=2, stop="time-limit", status="feasible", spreads={}, standing=None)]
    told = {"data": "wdbc.csv", "n": 40, "p": 1, "folds": 5, "seed": 0, "majority": {"wdbc": {"cv_accuracy": 0.63}}}
    told |= {"answer_in_words": {}}
    tables._print({**told, "rows": rows})


@pytest.mark.parametrize("width", WIDTHS)
def test_a_table_has_all_its_columns_and_words(width, capsys, monkeypatch, run):
    monkeypatch.setenv("COLUMNS", str(width))
    compare()
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    for word in ("method", "standing", "features", "accuracy", "balanced", "AUC", "status", "0.9000", "±0.012", "svm"):
        assert word in " ".join(lines).split(), word
    wanted = {"methods": ("method", "paper", "equation", "models", "driver"), "models": ("model", "class", "equation")}
    wanted["solvers"] = ("solver", "classes", "proves", "duals", "tolerance", "available")
    for verb, heads in wanted.items():
        out = run(verb)
        assert max(map(len, out.splitlines())) <= width
        assert set(heads) | set(getattr(fsopt, verb.upper())) <= set(out.split()), "no name is cut"


def test_parts_have_all_columns_once_and_the_names_each_time(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    heads = ("who", *(f">n{k}" for k in range(12)), "why")
    output.show(output.table("T", heads, [["x" * 25, *[f"{k}.{k:05d}" for k in range(12)], "a reason of some words"]]))
    out = capsys.readouterr().out
    assert [out.split().count(f"n{k}") for k in range(12)] == [1] * 12
    assert all(f"{k}.{k:05d}" in out for k in range(12))
    assert out.count("x" * 25) == out.count("who") > 1
    assert " ".join(out.split()).endswith("a reason of some words")


def test_a_table_without_rows_and_numbers_wider_than_the_output(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    output.show(output.table("", ("a", ">b c"), []), output.table("", (">a",), [["9" * 50]]))
    head, *_, number = capsys.readouterr().out.splitlines()
    assert (head.split(), number) == (["a", "b"], "9" * 50), "no number is cut"
    monkeypatch.setenv("COLUMNS", "40")
    output.show(output.pairs([("name", "a text of more words that goes on below"), ("n", None), ("longer", 1.5)]))
    wrapped = ["name    a text of more words that goes", "  on below", "n       -", "longer  1.5"]
    assert capsys.readouterr().out.splitlines() == wrapped


def test_small_numbers_and_open_gaps_in_words():
    assert [output.seconds(value) for value in (0.0, 0.0049, 0.005, 1.234)] == ["< 0.01", "< 0.01", "0.01", "1.23"]
    assert [counted(n, "feature") for n in (0, 1, 1.5, 250000)] == [
        "0 features",
        "1 feature",
        "1.5 features",
        "250000 features",
    ]
    assert [counted(n, "class") for n in (1, 3)] == ["1 class", "3 classes"]
    for ok, bound, words in (
        (True, 2.0, "gbd, holds"),
        (True, 1.2, "gbd, holds: gap 4.0e-01"),
        (True, "-inf", "gbd, holds"),
        (False, 1.2, "gbd, does NOT hold: gap 4.0e-01"),
    ):
        assert certificate_line({"kind": "gbd", "ok": ok, "residuals": {}, "objective": 2.0, "bound": bound}) == words


def test_every_verb_has_an_example_and_the_help_has_them_all_in_four_groups(run):
    verbs = {verb.__name__: example for verbs in GROUPS.values() for verb, example in verbs.items()}
    assert len(verbs) == 13
    text = run("--help")
    listed = [line.split()[0] for line in text.splitlines() if line.startswith("  ") and line.split()]
    assert set(verbs) <= set(listed)
    assert all(f"{group}:" in text for group in GROUPS)
    assert not [line for line in text.splitlines()[1:] if line.endswith("...")]
    for verb, example in verbs.items():
        assert example.startswith(f"fsopt {verb}")
        assert " ".join(example.split()) in " ".join(run(f"{verb} --help").split())


def test_a_log_gets_lines_of_progress_at_growing_distances(capsys, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(output.time, "monotonic", lambda: clock[0])
    with output.progress_bar("gbd") as update:
        for second in range(100):
            clock[0] = float(second)
            update(second, f"gbd: iteration {second}")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "gbd: iteration 10 (10 s)"
    assert [int(line.rpartition("(")[2].split()[0]) for line in lines] == [10, 15, 23, 35, 53, 80]


@pytest.mark.slow
def test_the_shell_completes_names():
    env = {**os.environ, "_FSOPT_COMPLETE": "complete_bash", "COMP_WORDS": "fsopt fit gmeb", "COMP_CWORD": "2"}
    code = "import sys; sys.argv = ['fsopt']; from fsopt.cli.app import app; app(prog_name='fsopt')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert done.stdout.split() == ["gmeb", "gmeb-penalised"]


# -- names that would command a terminal, and a reader that leaves at once --------------------------------------

RED, TITLE, LINE = "\x1b[31m\u202e", "\x1b]0;owned\x07", "\ninjected"
FILE = f"d{RED}\x9b7m[bold]x[y].npz"
DATA = f"--data '{FILE}'"
COMMANDS = (
    *("models", "solvers", "methods", "reproduce --list", "show fit.json", "study --store s.sqlite"),
    *(f"show svm {DATA}", f"solve svm {DATA} --scale standard", f"export svm {DATA} -o 'm{RED}.lp'"),
    *(f"fit svm {DATA} -o 'f{RED}.json'", f"predict fit.json {DATA}", f"compare {DATA} --methods svm --folds 2"),
    *(f"select '{FILE}' --features 1 --folds 2", f"check fit.json {DATA} --proof 'p{RED}.json'"),
    *(f"check 'model{RED}.lp' --solution 'point{RED}.sol'", "study study.toml --store again.sqlite"),
)
FAULTS = (
    *(f"fit svm --data 'no{TITLE}.csv'", f"fit 'sv{RED}m' {DATA}", f"fit svm {DATA} --param 'c{RED}=1'"),
    *(f"fit svm {DATA} --target 'x{RED}'", f"fit svm {DATA} -o 'none{RED}/f.json'", f"check 'none{RED}.json' {DATA}"),
    *(f"predict 'bad{RED}.json' {DATA}", f"study --store 's{RED}.sqlite'", f"study 'bad{RED}.json' --store s.sqlite"),
    *(f"compare {DATA} --methods 'svm,x{RED}'", f"'fi{RED}t'"),
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    data = blobs(12, 2)
    names = [f"größe{RED}", f"x{TITLE}\r[red]b[/]{LINE}"]
    np.savez(folder / FILE, X=data.X, y=data.y, features=np.array(names))
    fsopt.fit("svm", fsopt.load_dataset(str(folder / FILE))).save(folder / "fit.json")
    (folder / f"bad{RED}.json").write_text("{")
    (folder / f"model{RED}.lp").write_text("Minimize\n obj: x\nSubject To\n row: x >= 1\nEnd\n")
    solution = "solution status: optimal solution found\nobjective value: 1\nx 1 (obj:1)\n"
    (folder / f"point{RED}.sol").write_text(solution)
    toml = f'name = {json.dumps(RED + LINE)}\ndata = [{json.dumps(FILE)}]\nfolds = 2\n[[methods]]\nname = "svm"\n'
    (folder / "study.toml").write_text(toml)
    with parallel_config("sequential"):
        fsopt.run_study(str(folder / "study.toml"), store=folder / "s.sqlite")
    return folder


@pytest.fixture
def here(prepared, in_process, monkeypatch):
    monkeypatch.chdir(prepared)
    monkeypatch.setattr(selecting, "PAIRS", 2)


def code_of(words):
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(words))
    return ended.value.code


def test_no_verb_is_missing():
    assert set(command().commands) == {words.split()[0] for words in COMMANDS}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("words", COMMANDS, ids=range(len(COMMANDS)))
def test_a_verb_prints_no_command_for_a_terminal_and_hears_that_its_reader_left(words, capsys, monkeypatch):
    code = code_of(words)
    out, err = capsys.readouterr()
    assert code in (0, 1), err
    assert not CONTROL.search(out + err)
    assert not [line for line in (out + err).splitlines() if line.startswith(LINE[1:])]
    reading, writing = os.pipe()
    os.close(reading)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(os.fdopen(writing, "wb"), encoding="utf-8"))
    assert code_of(words) == code
    sys.stdout.close()
    assert "stdout" not in capsys.readouterr().err


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("words", FAULTS, ids=range(len(FAULTS)))
def test_an_error_prints_no_command_for_a_terminal(words, capsys):
    assert code_of(words) == 2
    out, err = capsys.readouterr()
    assert not CONTROL.search(out + err)
    assert "\\x1b" in err
