"""Tables at 80, 100 and 120 columns: no column is lost, no number and no word is cut, and one is not ``1 features``.

The command line as a bench: examples, meanings of parameters, 80 columns, logs, completion, own words.
"""

import os
import subprocess
import sys

import pytest

import fsopt
from fsopt.cli import comparing, output
from fsopt.cli.app import GROUPS, command
from fsopt.common.texts import counted

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
    comparing._print({**told, "rows": rows})


@pytest.mark.parametrize("width", WIDTHS)
def test_a_comparison_has_all_its_columns_and_words(width, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    compare()
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    words = " ".join(lines).split()
    for word in ("method", "standing", "features", "accuracy", "balanced", "AUC", "status", "0.9000", "±0.012", "svm"):
        assert word in words, word


@pytest.mark.parametrize("width", WIDTHS)
def test_every_method_model_and_solver_has_all_its_columns(run, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    wanted = {"methods": ("method", "paper", "equation", "models", "driver"), "models": ("model", "class", "equation")}
    wanted["solvers"] = ("solver", "classes", "proves", "duals", "tolerance", "available")
    for verb, heads in wanted.items():
        out = run(verb)
        assert max(map(len, out.splitlines())) <= width
        assert set(heads) | set(getattr(fsopt, verb.upper())) <= set(out.split()), "no name is cut"
        assert "…" not in out


def test_parts_have_all_columns_once_and_the_names_each_time(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    heads = ("who", *(f">n{k}" for k in range(12)), "why")
    output.show(output.table("T", heads, [["x" * 25, *[f"{k}.{k:05d}" for k in range(12)], "a reason of some words"]]))
    out = capsys.readouterr().out
    assert "…" not in out
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
    assert capsys.readouterr().out.splitlines() == [
        "name    a text of more words that goes",
        "        on below",
        "n       -",
        "longer  1.5",
    ]


def test_a_time_that_two_digits_do_not_show_is_no_zero():
    assert [output.seconds(value) for value in (0.0, 0.0049, 0.005, 1.234)] == ["< 0.01", "< 0.01", "0.01", "1.23"]


def test_a_figure_without_cells_has_a_title_and_no_table(run):
    assert "l0mpm-fig1: three measures of a weight" in run("reproduce l0mpm-fig1")


def test_a_number_with_its_noun():
    assert [counted(n, "feature") for n in (0, 1, 2)] == ["0 features", "1 feature", "2 features"]
    assert [counted(n, "class") for n in (1, 3)] == ["1 class", "3 classes"]
    assert [counted(n, "feature") for n in (1.0, 1.5, 250000)] == ["1 feature", "1.5 features", "250000 features"]


def test_every_verb_has_an_example_in_its_help(run):
    examples = {verb.__name__: example for verbs in GROUPS.values() for verb, example in verbs.items()}
    for verb, example in examples.items():
        assert example.startswith(f"fsopt {verb}")
        assert " ".join(example.split()) in " ".join(run(f"{verb} --help").split())


def test_thirteen_verbs_in_four_groups(run):
    text, groups = run("--help"), {}
    for line in text.partition("Show this message and exit.")[2].splitlines():
        if line.endswith(":"):
            groups[line[:-1]] = found = []
        elif line.strip():
            found.append(line.split()[0])
    assert list(groups) == ["Tables", "Models", "Evidence", "Catalogue"]
    assert sorted(name for names in groups.values() for name in names) == sorted(command().commands)
    assert len(command().commands) == 13
    assert not [name for name, verb in command().commands.items() if hasattr(verb, "commands")]
    assert not [line for line in text.splitlines()[1:] if line.endswith("...")]


def test_every_parameter_of_every_method_has_a_meaning_in_plain_words(run):
    for method, spec in fsopt.METHODS.items():
        listed = run(f"methods {method} --json")["parameters"]
        assert {p["parameter"] for p in listed} == set(spec.parameters), method
        assert not [p for p in listed if not p["meaning"] or ":math:" in p["meaning"] or "``" in p["meaning"]], method


def test_errors_name_the_method_that_the_user_named(run):
    for method, param, foreign in (
        ("l1-svm", "c=-1", "onsvm"),
        ("gbd", "m=99", "fsp-master"),
        ("fsv", "lam=7", "-step"),
    ):
        said = run.refusal(f"fit {method} --data wdbc --param {param}")
        assert f"of '{method}'" in said
        assert foreign not in said


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
