"""Code that people read uses public names alone: notebooks, examples, pages, and the package of a user's own."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from snippets import steps
from support import ROOT

RINGS = ("fsopt", "fsopt.data", "fsopt.drivers", "fsopt.errors", "fsopt.estimators", "fsopt.extend", "fsopt.papers")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += [page for folder in ("drivers", "howto") for page in sorted((ROOT / "docs" / folder).glob("*.md"))]
PAGES = [page for page in PAGES if page.name not in ("_verbs.md", "changelog.md", "contributing.md")]
MODULES = [path for folder in ("examples", "tests/own_package") for path in sorted((ROOT / folder).rglob("*.py"))]
FILES = [*PAGES, *MODULES, *sorted((ROOT / "notebooks").glob("*.ipynb"))]


def codes(path: Path) -> Iterator[str]:
    """Yield the pieces of Python in a file."""
    if path.suffix == ".ipynb":
        cells = nbformat.read(path, as_version=4).cells
        lines = (line for c in cells if c.cell_type == "code" for line in c.source.splitlines() if line[:1] not in "%!")
        yield "\n".join(lines)
    elif path.suffix == ".md":
        yield from (step.text for step in steps(path.read_text(encoding="utf-8")) if step.kind == "python")
    else:
        yield path.read_text(encoding="utf-8")


def public(ring: str, name: str) -> bool:
    """Tell whether a name is one of those that a ring gives."""
    module = importlib.import_module(ring)
    listed = getattr(module, "__all__", None) or [n for n in vars(module) if n[0] != "_"]
    return name in listed or f"{ring}.{name}" in RINGS


def inner_names(code: str) -> Iterator[str]:
    """Yield the names of fsopt in a piece of code that no ring gives."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "fsopt":
            ring = node.module if node.module in RINGS else ""
            yield from (f"{node.module}.{a.name}" for a in node.names if not (ring and public(ring, a.name)))
        elif isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.partition(".")[0] == "fsopt" and a.name not in RINGS)
        elif isinstance(node, ast.Attribute):
            ring = ast.unparse(node.value)
            if ring in RINGS and not public(ring, node.attr):
                yield f"{ring}.{node.attr}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_that_people_read_uses_public_names_alone(path):
    assert not [name for code in codes(path) for name in inner_names(code)]
