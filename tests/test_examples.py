"""The example scripts run, and strict type checkers find no mistake in them."""

import json
import subprocess
import sys

import pytest
from support import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(example):
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.slow
def test_mypy_is_content():
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", *map(str, EXAMPLES)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_pyright_is_content():
    options = ["--outputjson", "--pythonpath", sys.executable]
    command = [sys.executable, "-m", "basedpyright", *options, *map(str, EXAMPLES)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert [d["message"] for d in json.loads(done.stdout)["generalDiagnostics"] if d["severity"] == "error"] == []
