"""The house rules that can be measured: sizes, parameters, layout, imports without cycles and never upward."""

import ast
import graphlib
import re
import subprocess
import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from support import ROOT

import fsopt
from tools import house

PACKAGE = ROOT / "fsopt"
FILES = sorted(PACKAGE.rglob("*.py"))
MOST_LINES, MOST_BODY, MOST_PARAMETERS = 400, 50, 9
LAYERS = (
    ("typing", "errors", "verifier", "common"),
    ("data",),
    ("compiler",),
    ("answers", "certificates"),
    ("models",),
    ("solvers",),
    ("formats",),
    ("drivers", "linear", "search"),
    ("methods",),
    ("verification", "estimators", "analysis"),
    ("studies",),
    ("papers",),
    ("cli", "extend", "signatures", "__main__", "__init__"),
)
"""From the ground up: a module imports from its own layer and from those before it."""
GIVEN_BY_USERS = re.compile(
    r"^(build|fit)_|^(fit|solve|check|compare|select|reproduce|show|study|radius_path|selection_path|load_dataset)$"
    r"|^comparison_study$"
)
"""Functions whose keywords are what users give: parameters of models and methods, options of the command line."""


def name_of(path: Path) -> str:
    """Return the dotted name of a module; that of a package ends in __init__."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


MODULES = {name_of(path): path for path in FILES}


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def functions(path: Path):
    return [node for node in nodes_of(path) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


@cache
def imported(path: Path) -> set[str]:
    """Return the modules that a module imports, in functions, by tables of registries and for type checkers too."""
    found = set()
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "fsopt":
            found |= {resolved(node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {resolved(alias.name, "") for alias in node.names if alias.name.split(".")[0] == "fsopt"}
        elif path.stem == "registry" and isinstance(node, ast.Constant) and isinstance(node.value, str):
            package = name_of(path).rpartition(".")[0]
            found |= {candidate for candidate in (node.value, f"{package}.{node.value}") if candidate in MODULES}
    return found - {name_of(path)}


def resolved(module: str, name: str) -> str:
    """Return the module that ``from module import name`` loads."""
    if f"{module}.{name}" in MODULES:
        return f"{module}.{name}"
    return module if module in MODULES else f"{module}.__init__"


def test_there_is_no_import_cycle():
    assert "fsopt.models.gmeb.gmeb" in imported(MODULES["fsopt.models.registry"])
    assert "fsopt.solvers.base" in imported(MODULES["fsopt.drivers.run"])
    graph = {name: imported(path) for name, path in MODULES.items()}
    graph["fsopt.__init__"] = set()  # it loads its names when they are first used
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def floor(name: str) -> int:
    """Return the number of the layer of a module."""
    top = name.split(".")[1]
    return next(k for k, layer in enumerate(LAYERS) if top in layer)


def test_nothing_imports_upward_or_loads_by_name_what_is_above():
    found = {(name, other) for name, path in MODULES.items() for other in imported(path) if floor(other) > floor(name)}
    found |= {
        (module, node.value)
        for module, path in MODULES.items()
        for node in nodes_of(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if (loaded := node.value.partition(":")[0]) in MODULES and floor(loaded) > floor(module)
    }
    assert not found
    beside = ("benchmarks", "docs", "tests", "tools")  # not in the wheel
    froms = {
        (n, str(node.module)) for n, p in MODULES.items() for node in nodes_of(p) if isinstance(node, ast.ImportFrom)
    }
    assert not [(name, module) for name, module in froms if module.split(".")[0] in beside]


def test_files_and_functions_are_short_and_take_few_parameters_but_those_whose_keywords_users_give():
    found = [f"{name_of(p)} is long" for p in FILES if len(p.read_text("utf-8").splitlines()) > MOST_LINES]
    for path in FILES:
        for node in functions(path):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if body and body[-1].end_lineno - body[0].lineno + 1 > MOST_BODY:
                found.append(f"{name_of(path)}.{node.name} is long")
            args = node.args
            names = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs) if a.arg not in ("self", "cls")]
            estimator = node.name == "__init__" and ".estimators." in name_of(path)
            if len(names) > MOST_PARAMETERS and not (estimator or GIVEN_BY_USERS.search(node.name)):
                found.append(f"{name_of(path)}.{node.name}: {len(names)} parameters")
    assert not found


def test_the_layout_is_the_formatters_and_nothing_is_packed():
    assert not [name_of(path) for path in FILES if re.search("fmt: (skip|off)", path.read_text("utf-8"))]
    packed = [
        f"{name_of(path)}:{node.lineno}"
        for path in FILES
        for node in nodes_of(path)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Tuple) and len(target.elts) >= 3 and isinstance(node.value, ast.Tuple)
    ]
    assert not packed


def test_what_a_benchmark_imports_is_there():
    nodes = [node for path in (ROOT / "benchmarks").glob("*.py") for node in nodes_of(path)]
    froms = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module.startswith("fsopt")]
    names = [(node.module, alias.name) for node in froms for alias in node.names]
    assert not [(module, name) for module, name in names if not hasattr(import_module(module), name)]


def test_no_module_bears_the_name_of_a_public_function():
    functions_ = {name for name in fsopt.__all__ if callable(getattr(fsopt, name))}
    assert not [name for name in MODULES if name.count(".") == 1 and name.rpartition(".")[2] in functions_]


def test_the_words_for_papers_are_those_of_the_shelves():
    pattern = re.compile(r"\bpapers? [1-5]\b", re.IGNORECASE)
    notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
    pages = [*FILES, ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *notebooks]
    assert not [str(p.relative_to(ROOT)) for p in pages if pattern.search(p.read_text("utf-8"))]


def test_each_folder_of_tests_has_its_question_in_the_readme():
    folders = {p.name for p in (ROOT / "tests").iterdir() if p.is_dir() and p.name != "__pycache__"}
    readme = (ROOT / "tests" / "README.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", readme, re.MULTILINE)) == folders


ROOMS = house.entries()


@pytest.mark.parametrize("room", ROOMS["entries"])
def test_no_room_is_larger_than_its_entry_and_no_entry_is_out_of_date(room):
    size, entry = house.sizes(tuple(ROOMS["entries"]))[room], ROOMS["entries"][room]
    assert all(now <= most for now, most in zip(size, entry, strict=True)), f"{room} grew from {entry} to {size}"
    stale = [most for now, most in zip(size, entry, strict=True) if most > max(1.01 * now, now + 1)]
    assert not stale, f"{room} is {size}, its entry {entry}: python -m tools.house lowers it"


def test_every_room_has_an_entry_and_a_budget():
    assert set(house.sizes(tuple(ROOMS["entries"]))) == set(ROOMS["entries"]) == set(ROOMS["budgets"])


def test_no_entry_was_ever_lower():
    git = ["git", "-C", str(ROOT), "log", "--format=%H", "--", "tests/house.toml"]
    for commit in subprocess.run(git, capture_output=True, text=True, check=False).stdout.split():
        shown = ["git", "-C", str(ROOT), "show", f"{commit}:tests/house.toml"]
        before = tomllib.loads(subprocess.run(shown, capture_output=True, text=True, check=True).stdout)["entries"]
        raised = {r: (before[r], e) for r, e in ROOMS["entries"].items() if any(map(int.__gt__, e, before.get(r, e)))}
        assert not raised, commit


def test_code_lines_are_those_without_docstrings_comments_blank_lines_and_imports():
    head = '"""Module."""\n\nimport os\nfrom os import (\n    path,\n)\n\nX = 1\n"""An attribute."""\n\n\n'
    tail = 'def f():\n    """F.\n\n    More.\n    """\n    # why\n    return """a\nb"""\n'
    assert house.code_lines(head + tail) == 5  # X, its text, def f, and two lines of what it returns
