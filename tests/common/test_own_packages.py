"""Packages of users, made known by entry points: written against ``fsopt.extend``."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support import ROOT, blobs

PACKAGE = ROOT / "tests" / "own_package"
DATA = blobs(24, 4, seed=3)


@pytest.fixture
def table(tmp_path):
    np.savez(tmp_path / "data.npz", X=DATA.X, y=DATA.y)
    return str(tmp_path / "data.npz")


def in_package(*arguments, **more):
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{PACKAGE}"}
    words = [sys.executable, *arguments]
    return subprocess.run(words, capture_output=True, text=True, env=env, cwd=Path.home(), **more)


COMMANDS = """
import sys
from fsopt.cli import main
for line in sys.stdin:
    try:
        main(line.split())
    except SystemExit as end:
        print(f"exit code {end.code}: {line}")
"""


@pytest.mark.slow
def test_an_own_package_goes_through_fit_compare_check_and_export(table, tmp_path):
    out, data = tmp_path / "fit.json", f"--data {table}"
    lines = [
        f"fit elastic-svm {data} --param mu=2 -o {out}",
        f"check {out} {data}",
        f"compare {data} --methods elastic-svm,svm --folds 2 --jobs 1",
        f"export elastic-svm {data} -o {tmp_path / 'elastic.nl'}",
        "show elastic-svm",
        "methods",
        "models",
    ]
    done = in_package("-c", COMMANDS, input="\n".join(lines))
    assert done.stdout.count("exit code 0: ") == len(lines), done.stdout + done.stderr
    assert json.loads(out.read_text())["status"] == "optimal"
    *_, compared, _exported, shown, methods, models = re.split("exit code .*\n", done.stdout)[:-1]
    assert "elastic-svm" in compared
    assert "without an answer" not in done.stderr
    assert (tmp_path / "elastic.nl").exists()
    assert "(3) w <= s" in shown
    assert "elastic-svm" in methods
    assert "elastic-svm" in models


@pytest.mark.slow
def test_registration_in_a_script_goes_through_a_comparison_with_workers(table, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import fsopt, fsopt_ridge.elastic as own\n"
        "from fsopt.common.registry import _waiting\n"
        "_waiting().clear()\n"
        "own.register()\n"
        f"rows = fsopt.compare(fsopt.load_dataset({table!r}), methods=['elastic-svm'], folds=2, jobs=2).rows\n"
        "print(rows[0]['status'], rows[0]['error'] or 'no error')\n"
    )
    assert in_package(str(script)).stdout.strip() == "optimal no error"
