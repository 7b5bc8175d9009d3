"""Packages of users, made known by entry points: written against ``fsopt.extend``."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT, blobs

PACKAGE = ROOT / "tests" / "own_package"
DATA = blobs(40, 6, seed=3)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "data.csv"
    lines = [",".join([*map(repr, map(float, x)), str(int(y))]) for x, y in zip(DATA.X, DATA.y, strict=True)]
    path.write_text(",".join([*DATA.features, "label"]) + "\n" + "\n".join(lines) + "\n")
    return str(path)


def in_package(*arguments):
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{PACKAGE}"}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=env, cwd=Path.home())


def imports(code: str) -> set[str]:
    """Return the modules of fsopt that a text of Python imports."""
    nodes = list(ast.walk(ast.parse(code)))
    names = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    names |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return {name for name in names if name.split(".")[0] == "fsopt"}


def test_an_own_package_imports_the_two_rings_of_public_names_alone():
    for path in PACKAGE.rglob("*.py"):
        assert imports(path.read_text("utf-8")) <= {"fsopt", "fsopt.extend"}, path
    for page in ("own-package.md", "own-model.md", "own-penalty.md"):
        text = (ROOT / "docs" / "howto" / page).read_text("utf-8")
        for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            assert imports(code) <= {"fsopt", "fsopt.extend", "fsopt.drivers"}, page


def test_the_names_of_the_second_ring_are_listed_and_described():
    from fsopt import extend

    imported = {name for name in vars(extend) if not name.startswith("_")} - {"annotations"}
    assert imported == set(extend.__all__)
    assert {name for name in extend.__all__ if f"`{name}`" not in (extend.__doc__ or "")} == set()


@pytest.mark.slow
def test_an_own_package_goes_through_fit_compare_check_and_export(table, tmp_path):
    out = str(tmp_path / "fit.json")
    fitted = in_package("-m", "fsopt", "fit", "elastic-svm", "--data", table, "--param", "mu=2", "-o", out, "--json")
    assert fitted.returncode == 0, fitted.stderr
    assert json.loads(fitted.stdout)["status"] == "optimal"
    assert in_package("-m", "fsopt", "check", out, "--data", table).returncode == 0
    row = in_package(
        "-m", "fsopt", "compare", "--data", table, "--methods", "elastic-svm,svm", "--folds", "2", "--json"
    )
    assert [r["error"] for r in json.loads(row.stdout)["rows"]] == ["", ""], row.stdout
    target = tmp_path / "elastic.nl"
    assert in_package("-m", "fsopt", "export", "elastic-svm", "--data", table, "-o", str(target)).returncode == 0
    shown = in_package("-m", "fsopt", "show", "elastic-svm")
    assert shown.returncode == 0, shown.stderr
    assert "(3) w <= s" in shown.stdout
    assert "elastic-svm" in in_package("-m", "fsopt", "methods").stdout
    assert "elastic-svm" in in_package("-m", "fsopt", "models").stdout


@pytest.mark.slow
def test_registration_in_a_script_goes_through_a_comparison_with_workers(table, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import fsopt, fsopt_ridge.elastic as own\n"
        "from fsopt.common.plugins import _waiting\n"
        "_waiting().clear()\n"
        "own.register()\n"
        f"rows = fsopt.compare(fsopt.load_dataset({table!r}), ['elastic-svm'], folds=2, jobs=2).rows\n"
        "print(rows[0].status, rows[0].error or 'no error')\n"
    )
    assert in_package(str(script)).stdout.strip() == "optimal no error"
