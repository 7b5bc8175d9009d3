"""CONTRIBUTING quotes what is there, and what is added as it says passes the tests; FSOPT_GUIDE runs all of them."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pyomo.environ as pyo
import pytest
from support import ROOT

import fsopt
from fsopt.drivers.penalties import PENALTIES
from fsopt.methods.baselines.machines import MACHINES
from tools.instances import build_instance

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BUILT = (".git", ".venv", ".lowest", ".python", ".*_cache", ".hypothesis", "__pycache__", "_build", "dist")
LEFT = shutil.ignore_patterns(*BUILT)
GROWN = "not no_room_is_larger"  # what is added has its lines
OF_THESE = f"{GROWN} and (twin or has_every or house or test_docs or docstrings or of_its_name or registry or tables)"
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
            "The support vector machine, Aytug, (1), and its dual.": "The twin net of Vapnik.",
            "Return the linear support": "Return the twin of the support",
            "Aytug, (1).": "Vapnik, *Statistical Learning Theory*, Wiley (1998).",
            'equation="(1)"': 'equation="Vapnik"',
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
        "solvers/__init__.py",
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


def asked(kind: str) -> Iterator[tuple[str, str]]:
    """Yield what stands where, for every entry of a kind."""
    if kind == "models":
        for slug, spec in fsopt.MODELS.items():
            yield from ((slug, place) for place in (f"docs/{spec.paper}.md", "tests/models|drivers|methods"))
            for component in build_instance(slug).component_objects((pyo.Var, pyo.Param)):
                yield component.local_name, "docs/notation.md"
    elif kind == "methods":
        for name, method in fsopt.METHODS.items():
            yield from ((name, place) for place in (f"docs/{method.paper}.md", "docs/which.md", "tests/methods"))
        yield from ((slug, "fsopt/linear/penalties.py") for slug in MACHINES)
    elif kind == "solvers":
        for name in (name for name in fsopt.SOLVERS if ":" not in name):
            yield from ((name, place) for place in ("docs/solvers.md", "solvers/README.md", "tests/solvers"))
    elif kind == "penalties":
        places = ("docs/mpm.md", "fsopt/methods/mpm/mpm.py", "fsopt/methods/sla/sla.py")  # what approx= takes
        yield from ((name, place) for name in PENALTIES for place in places)
    else:
        files = (path.read_text(encoding="utf-8") for path in (ROOT / "fsopt/drivers").rglob("*.py"))
        for name in (name for text in files for name in re.findall(r"^@loop\ndef (\w+)", text, re.MULTILINE)):
            yield name, "tests/drivers|methods"
            if name in fsopt.drivers.__all__:
                yield name, "docs/drivers/index.md"


@cache
def words(place: str) -> set[str]:
    """Return the words of a page, or of all tests in some folders."""
    top, _, folders = place.partition("/")
    files = [f for folder in folders.split("|") for f in (ROOT / top / folder).rglob("test_*.py")]
    texts = [f.read_text(encoding="utf-8") for f in files or [ROOT / place]]
    return {word for text in texts for word in re.findall(r"[\w-]+", text)}


@pytest.mark.parametrize("kind", ["models", "methods", "solvers", "penalties", "drivers"])
def test_a_page_and_a_test_has_every_entry(kind):
    lacks = {f"{place} lacks {name}" for name, place in asked(kind) if "None" not in place and name not in words(place)}
    assert not lacks, "\n".join(sorted(lacks))


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


def answer(root, lacks):
    """Write each name where a red test says that it lacks."""
    for place, name in lacks:
        path = root / place
        if path.suffix:
            path.write_text(f"{path.read_text(encoding='utf-8')}\n# {name}\n", encoding="utf-8")
        else:
            folder = root / place.partition("|")[0]
            (folder / f"test_{name.replace('-', '_')}.py").write_text(f'"""Entry {name}."""\n', encoding="utf-8")


@pytest.mark.slow
def test_what_is_added_as_the_guide_says_passes_the_tests(tmp_path):
    """What else is to be written, a red test says."""
    root = tmp_path / "fsopt"
    shutil.copytree(ROOT, root, ignore=LEFT, symlinks=True)
    add(root)
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTEST_ADDOPTS": ""}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ninstances:")[2].partition("\n\n")[0]
    for module in re.findall(r"-m (tools[\w.]+)", makefile):
        subprocess.run([sys.executable, "-m", module], cwd=root, env=environment, check=True)

    def run(*tests):
        words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "not slow", "-vv", *tests]
        return subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True, check=False)

    shown = run("tests/test_contributing.py", "-k", "has_every").stdout
    lacks = set(re.findall(r"([\w/|.]+) lacks (twin[-_][\w-]+)", shown))
    assert lacks >= {("tests/models|drivers|methods", "twin-net"), ("tests/methods", "twin-svm")}
    answer(root, lacks)
    done = run("tests", "-k", GROWN if os.environ.get("FSOPT_GUIDE") else OF_THESE)
    assert done.returncode == 0, done.stdout[-10_000:] + done.stderr
