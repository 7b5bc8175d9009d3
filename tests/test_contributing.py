"""CONTRIBUTING quotes what is there, draws the tree as it is, and a method that is added as it says passes the tests.

``make guide`` (``FSOPT_GUIDE``) runs the whole fast suite on that method, which takes as long as ``make test``;
otherwise the tests that look at the registries as a whole.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest
from support import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BUILT = (".git", ".venv", ".lowest", ".python", ".*_cache", ".hypothesis", "__pycache__", "_build", "dist")
LEFT = shutil.ignore_patterns(*BUILT)
OF_ALL_METHODS = (
    "tests/test_house.py",
    "tests/test_docs.py",
    "tests/test_docstrings.py",
    "tests/common/test_registry.py",
    "tests/estimators",
    "tests/library/test_tables.py",
    "tests/methods/test_methods.py",
    "tests/methods/test_selection.py",
    "tests/models/test_registry.py",
)
"""Tests that go through the registry of methods, or look at the whole package."""
OF_THIS_ONE = "twin or test_house or test_docs or test_docstrings or test_registry or test_tables"
RENAMED = {
    "fit_onsvm": "fit_twin_svm",
    'MethodSpec(\n    "onsvm"': 'MethodSpec(\n    "twin-svm"',
    'estimator="ONSVM"': 'estimator="TwinSVM"',
    "``onsvm``": "``twin-svm``",
}
"""What makes another method of the shortest member of its kind."""


def test_the_code_of_the_guide_is_that_of_the_files_that_it_names():
    blocks = re.findall(r"`(fsopt/[\w/]+\.py)`(?:(?!`fsopt/).)*?```python\n(.*?)```", TEXT, flags=re.DOTALL)
    assert len(blocks) == TEXT.count("```python")
    for path, code in blocks:
        assert code.rstrip() in (ROOT / path).read_text(encoding="utf-8"), path


def test_the_files_that_the_guide_names_are_there():
    for path in set(re.findall(r"`((?:fsopt|tests|docs|solvers|benchmarks)/[\w/.-]*)`", TEXT)):
        assert (ROOT / path).exists(), path


def test_the_map_has_every_folder_and_no_other():
    drawn, top = set(), ""
    for line in TEXT.partition("## Map of the tree")[2].partition("\n## ")[0].splitlines():
        names = [name for name in re.split(r"  +", line.strip())[0].split() if name.endswith("/")]
        if line.startswith("    fsopt/") and names:
            (top,) = names
            drawn.add(top)
        elif line.startswith("     "):
            drawn |= {f"{top}{name}" for name in names}
    files = [path for path in (ROOT / "fsopt").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert drawn == {f"{path.parent.relative_to(ROOT).as_posix()}/" for path in files} - {"fsopt/"}


def edit(path, before, after):
    """Replace a text that is in a file once."""
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1, f"{path.name}: {before}"
    path.write_text(text.replace(before, after), encoding="utf-8")


def add_a_method(root):
    """Add a method to a copy of the repository: its file, its line, its row on the first page."""
    new = root / "fsopt" / "methods" / "baselines" / "twin_svm.py"
    text = (root / "fsopt" / "methods" / "baselines" / "onsvm.py").read_text(encoding="utf-8")
    for before, after in RENAMED.items():
        assert before in text
        text = text.replace(before, after)
    new.write_text(text, encoding="utf-8")
    line = '"baselines.vs_ssvm",\n'
    edit(root / "fsopt" / "methods" / "registry.py", line, f"{line}        {line.replace('vs_ssvm', 'twin_svm')}")
    row = re.search(r"^    vs-ssvm  .*\n", (root / "docs" / "start.md").read_text(encoding="utf-8"), re.M).group()
    edit(root / "docs" / "start.md", row, row + row.replace("vs-ssvm ", "twin-svm"))


@pytest.mark.slow
def test_a_method_that_is_added_as_the_guide_says_passes_the_tests(tmp_path):
    root = tmp_path / "fsopt"
    shutil.copytree(ROOT, root, ignore=LEFT, symlinks=True)
    add_a_method(root)
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTEST_ADDOPTS": ""}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ninstances:")[2].partition("\n\n")[0]
    for module in re.findall(r"-m (tools[\w.]+)", makefile):
        if module != "tools.instances":  # takes minutes, and has models alone
            subprocess.run([sys.executable, "-m", module], cwd=root, env=environment, check=True)
    tests = ["tests"] if os.environ.get("FSOPT_GUIDE") else [*OF_ALL_METHODS, "-k", OF_THIS_ONE]
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "not slow", *tests]
    done = subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-10_000:] + done.stderr
