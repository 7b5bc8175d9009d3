"""The public API is typed: strict type checkers find the mistakes of a user's script, and no others."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from support import ROOT

from fsopt.library.signatures import FILES

USERS = ROOT / "tests" / "users"


def marked(name: str) -> set[int]:
    """Return the numbers of the lines of a script that have a mistake."""
    lines = (USERS / name).read_text(encoding="utf-8").splitlines()
    return {k for k, line in enumerate(lines, start=1) if "  # a" in line}


def by_mypy(name: str) -> set[int]:
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--show-error-codes", str(USERS / name)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return {int(k) for k in re.findall(rf"{re.escape(name)}:(\d+): error", done.stdout)}


def by_pyright(name: str) -> set[int]:
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable, str(USERS / name)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return {d["range"]["start"]["line"] + 1 for d in found if d["severity"] == "error"}


@pytest.mark.slow
@pytest.mark.parametrize("checker", [by_mypy, by_pyright])
@pytest.mark.parametrize("script", ["right.py", "wrong.py"])
def test_a_type_checker_finds_the_mistakes_of_a_users_script(checker, script):
    assert checker(script) == marked(script)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_what_is_written_for_type_checkers_is_that_of_the_registries(file):
    assert file.read_text(encoding="utf-8") == FILES[file](), "run python -m fsopt.library.signatures"
