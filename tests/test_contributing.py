"""CONTRIBUTING quotes what is there, draws the tree as it is, and what is added as it says passes the tests.

``make guide`` (``FSOPT_GUIDE``) adds a model, a method and a solver, and runs the whole fast suite on them, which takes
as long as ``make test``; otherwise the tests that look at the registries as a whole run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BUILT = (".git", ".venv", ".lowest", ".python", ".*_cache", ".hypothesis", "__pycache__", "_build", "dist")
LEFT = shutil.ignore_patterns(*BUILT)
OF_ALL = (
    "tests/test_house.py",
    "tests/test_docs.py",
    "tests/test_docstrings.py",
    "tests/common/test_registry.py",
    "tests/estimators",
    "tests/library/test_tables.py",
    "tests/methods/test_methods.py",
    "tests/methods/test_selection.py",
    "tests/models/test_builders.py",
    "tests/models/test_registry.py",
    "tests/solvers/test_conformance.py",
    "tests/solvers/test_options.py",
    "tests/solvers/test_pyomo.py",
)
"""Tests that go through the registries, or look at the whole package."""
GROWN = "not no_room_is_larger"  # what is added has its lines
OF_THESE = f"{GROWN} and (twin or test_house or test_docs or test_docstrings or test_registry or test_tables)"
ALONE = re.compile(
    r'@\w+\(weight_bounds\)\ndef build_svm_dual.*?(?=SPECS)|^ *ModelSpec\("svm-dual.*?\n', re.DOTALL | re.MULTILINE
)
"""What the file of the smallest model has beside it."""
ADDED = {
    "models/gbd/svm.py": (
        "models/own/twin_net.py",
        "models/registry.py",
        {
            ALONE: "",
            "build_svm": "build_twin_net",
            '"svm"': '"twin-net"',
            "* ``svm``: (1), the support vector machine.\n* ``svm-dual``: the dual of (1).": "* ``twin-net``: Vapnik",
            "Return the linear support": "Return the twin of the support",
            "Aytug, (1).": "Vapnik, *Statistical Learning Theory*, Wiley (1998).",
            'paper="gbd", equation="(1)"': 'equation="Vapnik"',
        },
    ),
    "methods/baselines/onsvm.py": (
        "methods/baselines/twin_svm.py",
        "methods/registry.py",
        {
            "fit_onsvm": "fit_twin_svm",
            'MethodSpec(\n    "onsvm"': 'MethodSpec(\n    "twin-svm"',
            'estimator="ONSVM"': 'estimator="TwinSVM"',
            "``onsvm``": "``twin-svm``",
        },
    ),
    "solvers/clarabel.py": (
        "solvers/twin_conic.py",
        "solvers/names.py",
        {'name="clarabel"': 'name="twin-conic"', '"LP": 20, "QP": 10, "SOCP": 10, "SDP": 10': '"QP": 87'},
    ),
}
"""File of a member of its kind -> that of another one, the file of its line, and what makes the other one of it."""


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


def add(root):
    """Add a model, a method and a solver to a copy of the repository, each a file and a line."""
    for member, (new, lines, renamed) in ADDED.items():
        text = (root / "fsopt" / member).read_text(encoding="utf-8")
        for before, after in renamed.items():
            text, found = re.subn(before if before is ALONE else re.escape(before), lambda _, new=after: new, text)
            assert found, before
        (root / "fsopt" / new).write_text(text, encoding="utf-8")
        old, module = Path(member).stem, Path(new).stem
        listed = (root / "fsopt" / lines).read_text(encoding="utf-8")
        (line,) = re.findall(rf'^ *"(?:\w+\.)?{old}",\n', listed, re.MULTILINE)
        place = rf"\g<1>{module}" if "own" not in new else f"own.{module}"
        edit(root / "fsopt" / lines, line, line + re.sub(rf"(\w+\.)?{old}", place, line))


@pytest.mark.slow
def test_what_is_added_as_the_guide_says_passes_the_tests(tmp_path):
    root = tmp_path / "fsopt"
    shutil.copytree(ROOT, root, ignore=LEFT, symlinks=True)
    add(root)
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTEST_ADDOPTS": ""}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ninstances:")[2].partition("\n\n")[0]
    for module in re.findall(r"-m (tools[\w.]+)", makefile):
        subprocess.run([sys.executable, "-m", module], cwd=root, env=environment, check=True)
    tests = ["tests", "-k", GROWN] if os.environ.get("FSOPT_GUIDE") else [*OF_ALL, "-k", OF_THESE]
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "not slow", *tests]
    done = subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-10_000:] + done.stderr
