"""The example scripts run, and strict type checkers find no mistake in them."""

import json
import subprocess
import sys

import pytest
from support import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture(params=EXAMPLES, ids=lambda path: path.stem)
def example(request):
    return request.param


@pytest.mark.slow
def test_an_example_runs(example):
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.slow
def test_mypy_is_content(example):
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", str(example)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_pyright_is_content(example):
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable, str(example)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert [d["message"] for d in json.loads(done.stdout)["generalDiagnostics"] if d["severity"] == "error"] == []
