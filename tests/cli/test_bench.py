"""The command line as a bench: examples, meanings of parameters, 80 columns, logs, completion, own words."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import fsopt
from fsopt.cli import output
from fsopt.cli.app import GROUPS, command


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


def test_tables_are_readable_at_80_columns(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = {"models": fsopt.MODELS, "methods": fsopt.METHODS, "solvers": (), "methods gbd": (), "show gmeb-dual": ()}
    for verb, whole in names.items():
        lines = run(verb).splitlines()
        assert max(map(len, lines)) <= 80, verb
        assert set(whole) <= {line.split()[0] for line in lines if line.strip()}, "no name is broken"


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
