"""Other systems and checkers: no modules of POSIX, no slow package at a start, types and examples of users."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from support import ROOT, blobs

from tools.signatures import FILES

MISSING = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "posix_ipc", "readline")
"""Modules of POSIX."""
WITHOUT = r"""
import asyncio, os, pathlib, queue, signal, socket, subprocess, sys, tempfile
import joblib, numpy, pandas, pyomo.environ, sklearn.svm, sklearn.model_selection, rich.console, typer  # of a system

for name in {missing}:
    sys.modules[name] = None
for name in ("fork", "getuid", "geteuid", "getgid", "setsid", "getpgid", "killpg", "O_NOFOLLOW", "mkfifo", "uname"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGHUP", "SIGUSR1", "SIGALRM", "SIGPIPE", "pthread_sigmask", "setitimer", "alarm"):
    if hasattr(signal, name):
        delattr(signal, name)
sys.platform = "win32"

from fsopt.cli import main

def run(words, code=0):
    try:
        main(words.split())
    except SystemExit as ended:
        assert ended.code == code, (words, ended.code)

for words in {verbs}:
    run(words)
run("fit svm --data none.csv", 2)
with joblib.parallel_config("sequential"):  # joblib's processes know their system
    run("study study.toml --store s.sqlite")
for words in ("", " -o rows.csv", " -o means.tex"):
    run("study --store s.sqlite" + words)
"""
VERBS = (
    "models",
    "solvers",
    "methods",
    "show svm",
    "solve svm --data mine.csv -o solved.json",
    "fit best-subset --data mine.csv --param m=2 --checkpoint run.npz -o fit.json",
    "check fit.json --data mine.csv",
    "predict fit.json --data mine.csv",
    "export svm --data mine.csv -o svm.lp",
)
STUDY = 'data = ["mine.csv"]\nfolds = 2\n[[methods]]\nname = "pearson"\n'


@pytest.mark.slow
def test_the_main_verbs_run_without_posix(tmp_path):
    data = blobs(30, 3)
    frame = pd.DataFrame(data.X, columns=["area", "fractal dimension", "size"]).assign(label=data.y.astype(int))
    frame.to_csv(tmp_path / "mine.csv", index=False)
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    program = WITHOUT.format(missing=MISSING, verbs=VERBS)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    # A text whose encoding is not named has another one on Windows: fsopt names it everywhere.
    words = [sys.executable, "-X", "warn_default_encoding", "-W", "default::EncodingWarning", "-c", program]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    ours = [line for line in done.stderr.splitlines() if "EncodingWarning" in line and f"{ROOT}{os.sep}fsopt" in line]
    assert not ours
    assert (tmp_path / "means.tex").exists()


SLOW = ("scipy.linalg",)  # but of a fit, which scales its program by least squares
SLOW += ("pandas", "sklearn", "matplotlib", "joblib", "casadi", "gurobipy", "pyscipopt", "fsopt.verification.verify")
SLOW += tuple(f"scipy.{part}" for part in ("optimize", "spatial", "special", "stats"))


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["--help", "methods", "solvers", "show svm", "fit onsvm --data wdbc"])
def test_a_verb_imports_no_slow_package(verb):
    names = ("pyomo.environ", "numpy", "scipy", "sklearn") if verb == "--help" else SLOW[verb.startswith("fit") :]
    code = f"import sys; from fsopt.cli import main\ntry: main({verb.split()!r})\nexcept SystemExit: pass\n"
    code += f"print([name for name in {names!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


USERS = ROOT / "tests" / "users"
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SCRIPTS = [USERS / "right.py", USERS / "wrong.py", *EXAMPLES]


def marked(path: Path) -> set[tuple[str, int]]:
    """Return the names of a script and the numbers of its lines that have a mistake."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {(path.name, k) for k, line in enumerate(lines, start=1) if "  # a" in line}


def by_mypy() -> set[tuple[str, int]]:
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", *map(str, SCRIPTS)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1, done.stdout + done.stderr
    return {(file, int(k)) for file, k in re.findall(r"([\w-]+\.py):(\d+): error", done.stdout)}


def by_pyright() -> set[tuple[str, int]]:
    options = ["--outputjson", "--pythonpath", sys.executable]
    command = [sys.executable, "-m", "basedpyright", *options, *map(str, SCRIPTS)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    errors = [d for d in json.loads(done.stdout)["generalDiagnostics"] if d["severity"] == "error"]
    return {(Path(d["file"]).name, d["range"]["start"]["line"] + 1) for d in errors}


@pytest.mark.slow
@pytest.mark.parametrize("checker", [by_mypy, by_pyright])
def test_a_type_checker_finds_the_mistakes_of_a_users_script_and_none_in_the_examples(checker):
    assert checker() == set().union(*map(marked, SCRIPTS))


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(example):
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_what_is_written_for_type_checkers_is_that_of_the_registries(file):
    assert file.read_text(encoding="utf-8") == FILES[file](), "run python -m tools.signatures"
