"""The public API is typed, and the examples run: strict type checkers find the mistakes of a user's script alone."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT

from tools.signatures import FILES

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
