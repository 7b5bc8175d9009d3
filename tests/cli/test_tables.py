"""Tables at 80, 100 and 120 columns: no column is lost, no number and no word is cut, and one is not ``1 features``.

The command line as a bench: examples, meanings of parameters, 80 columns, logs, completion, own words.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import fsopt
from fsopt.answers.fits import Fit
from fsopt.cli import comparing, fitting, output, selecting, studying
from fsopt.cli.app import GROUPS, command
from fsopt.common.texts import counted
from fsopt.data.matrices import Preprocessing
from fsopt.studies.ranking import MEANS, Line

WIDTHS = (80, 100, 120)
GOLDEN = dict(
    re.findall(r"^=== (.+)\n((?:(?!===).*\n)*)", Path(__file__).with_name("tables.txt").read_text("utf-8"), re.M)
)
"""Verb and width -> its table, without blanks at the ends of lines."""


def study():
    means = (0.9311, 0.9204, 0.8402, 0.8812, 0.9836, 4.0, 0.312, 1.254)
    folds = [dict(zip(MEANS, (mean * (1 + 0.02 * k) for mean in means), strict=True)) for k in (-1, 0, 1)]
    rows = [{"state": "done", "status": "optimal", "fold": k, **row} for k, row in enumerate(folds)]
    failed = {"state": "failed", "status": "none", "fold": 3}
    lines = [
        Line("wdbc", "best-subset-penalised", "best-subset-penalised (c=0.1, tuned lam)", {}, tuple(rows)),
        Line("clinic/outcome.csv", "gbd", "gbd", {}, (*rows, failed)),
    ]
    studying._print_lines("small", lines)


def compare():
    def row(method, features, accuracy, **own):
        row = {"data": "wdbc", "method": method, "paper": None, "n_features": features, "cv_accuracy": accuracy}
        row |= {f"cv_{name}": accuracy and accuracy - 0.01 for name in ("balanced_accuracy", "mcc", "auc", "recall")}
        row |= {"spreads": {"cv_accuracy": 0.0123}, "seconds": 0.314, "cpu_seconds": 0.25, "ended_early": 0}
        row |= {"fold_statuses": {"optimal": 4, "feasible": 1}}
        row |= {"standing": "not told apart, front", "status": "optimal", "stop": "complete", "objective": 26.4274}
        row |= {"certificate": {"worst": 2e-11, "ok": True, "kind": "convex"}, "solver": "highs", "features": ["r"]}
        return row | {"exact": None, "warnings": [], "error": ""} | own

    rows = [row("pearson", 1, 0.9), row("svm", 8, 0.95, standing="", paper="gmeb")]
    rows += [row("mopfs", 3, None, ended_early=2, stop="time-limit", status="feasible", spreads={}, standing=None)]
    told = {"data": "wdbc.csv", "n": 40, "p": 1, "folds": 5, "seed": 0, "majority": {"wdbc": {"cv_accuracy": 0.63}}}
    told |= {"answer_in_words": {}, "leading": {"wdbc": ["pearson", "svm"]}, "own_parameters": {"wdbc": ""}}
    comparing._print({**told, "rows": rows})


def select():
    names = ("concave_points_worst", "age of the patient at the first visit in years")
    sizes = {"weight": 0.1234, "standardised": 4.06, "odds_ratio": 58.1, "share": 0.9, "p_value": 0.031}
    sentence = "2 of 30 features, the fewest with 95 % of what the best number gains in log-loss."
    fit = SimpleNamespace(features=names)
    records = [{"feature": name, **sizes} for name in names]
    printed = ["0.123456"] * len(records), "-30.4718"
    answer = {"sentences": [sentence], "warnings": (), "fit": fit, "to_records": lambda: records}
    selecting._print(SimpleNamespace(**answer, printed_weights=printed))


def show():
    record = {"method": "fisher", "data": "wdbc", "solver": "clarabel", "status": "feasible", "stop": "complete"}
    record |= {"objective": 108.56, "bound": None, "iterations": 20, "seconds": {"total": 0.3}, "kernel": None}
    record |= {"train": dict.fromkeys(("accuracy", "mcc", "balanced_accuracy", "recall", "auc"), 0.9139), "details": {}}
    record |= {"features": ["radius_worst"], "coef": [0.0, 0.433462], "support": [1], "intercept": -0.164503}
    held = {"kind": "convex", "tolerance": 1e-6, "ok": True, "residuals": {"gap": 2e-9}, "notes": []}
    held |= {"objective": 108.56, "bound": 108.56}
    map_ = Preprocessing("standard", np.zeros(2), np.ones(2))
    known = {**record, "coef": np.array(record["coef"]), "params": {}, "history": (), "certificate": None}
    fit = Fit(**{name: value for name, value in known.items() if name not in ("data", "train")}, preprocessing=map_)
    fitting.print_fit(fit, record | {"certificate": held})


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("verb", [study, compare, select, show])
def test_the_tables_are_the_golden_ones(verb, width, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    verb()
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    assert "\n".join(map(str.rstrip, lines)).strip() == GOLDEN[f"{verb.__name__} {width}"].strip()


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


def test_a_table_without_rows_and_one_with_a_number_wider_than_the_output(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    output.show(output.table("", ("a", ">b c"), []), output.table("", (">a",), [["9" * 50]]))
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 30
    assert "9…" in out, "what is cut has a mark"


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
