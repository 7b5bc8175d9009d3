"""Sizes of the house: code lines, lines and modules of each room of ``fsopt/``, lines of the tests, words of the pages.

``python -m tools.house`` prints them beside the entries and the budgets of ``tests/house.toml``, and lowers each entry
to the size where the size is smaller. An entry never rises: what must grow takes its lines from its own room.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

from fsopt.common.files import write_text

ROOT = Path(__file__).resolve().parents[1]
ENTRIES = ROOT / "tests" / "house.toml"

Sizes = dict[str, list[int]]
"""Room of ``fsopt/`` -> code lines, lines, modules; ``tests`` -> lines, files; ``docs`` -> words, pages."""


def code_lines(source: str) -> int:
    """Return the number of lines with code: neither docstring, comment, blank line nor import."""
    left_out: set[int] = set()
    texts: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            left_out |= lines_of(node.body[0])
        elif isinstance(node, ast.Import | ast.ImportFrom):
            left_out |= lines_of(node)
        elif isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            texts |= lines_of(node)
    lines = enumerate(source.splitlines(), start=1)
    return len(({k for k, line in lines if line.strip() and line.strip()[0] != "#"} | texts) - left_out)


def lines_of(node: ast.stmt | ast.expr) -> set[int]:
    """Return the lines of a node."""
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def room_of(path: Path, rooms: Iterable[str]) -> str:
    """Return the room of a module: the entry with its folder, or with ``top`` for a file beside the folders."""
    parts = path.relative_to(ROOT / "fsopt").parts
    folder = parts[0] if len(parts) > 1 else "top"
    return next((room for room in rooms if folder in room.split("+")), folder)


@cache
def sizes(rooms: tuple[str, ...]) -> Sizes:
    """Return the sizes of the house as it stands, for rooms like ``models`` or ``common+top``."""
    found: Sizes = {}
    for path in sorted((ROOT / "fsopt").rglob("*.py")):
        source = path.read_text("utf-8")
        size = found.setdefault(room_of(path, rooms), [0, 0, 0])
        for k, more in enumerate((code_lines(source), source.count("\n"), 1)):
            size[k] += more
    tests = [path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py")]
    found["tests"] = [sum(text.count("\n") for text in tests), len(tests)]
    pages = [path.read_text("utf-8") for path in written_pages(ROOT / "docs")]
    found["docs"] = [sum(len(text.split()) for text in pages), len(pages)]
    return found


def written_pages(docs: Path) -> list[Path]:
    """Return the pages that are kept, without those of a build: what ``.gitignore`` has of ``docs/``."""
    lines = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    made = [line + "*" * line.endswith("/") for line in lines if line.startswith("docs/")]
    pages = {page: page.relative_to(ROOT).as_posix() for page in sorted(docs.rglob("*.md"))}
    return [page for page, path in pages.items() if f"!{path}" in lines or not any(fnmatch(path, m) for m in made)]


def entries() -> dict[str, Any]:
    """Return ``tests/house.toml``: the tables ``entries`` and ``budgets``, name -> sizes."""
    return tomllib.loads(ENTRIES.read_text("utf-8"))


def lowered(text: str, found: Sizes) -> str:
    """Return the text of ``tests/house.toml`` with each entry at the smaller of itself and the size."""
    head, mark, tail = text.partition("[budgets]")

    def line(match: re.Match[str]) -> str:
        old = [int(number) for number in match[2].split(",")]
        new = [min(pair) for pair in zip(old, found.get(match[1], [0] * len(old)), strict=True)]
        return f'"{match[1]}" = [{", ".join(map(str, new))}]'

    return re.sub(r'"(\S+)" = \[([\d, ]+)\]', line, head) + mark + tail


def main() -> None:
    """Print sizes, entries and budgets, and lower the entries."""
    known = entries()
    found = sizes(tuple(known["entries"]))
    for name, size in found.items():
        print(f"{name:22} {size!s:22} entry {known['entries'].get(name)!s:22} budget {known['budgets'].get(name)}")
    rooms = [size for size in found.values() if len(size) == 3]
    print(f"{'fsopt':22} {[sum(column) for column in zip(*rooms, strict=True)]}")
    write_text(ENTRIES, lowered(ENTRIES.read_text("utf-8"), found))


if __name__ == "__main__":
    main()
