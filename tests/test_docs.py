"""README, docs and notebooks: their code runs; links, tables, names of tests and of papers are true."""

import importlib
import os
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from support import ROOT, SHARED

import fsopt

MADE = {"_build", "gallery", "internals", "methods", "models", "notebooks"}
"""Folders of docs/ that the build of the site writes."""
MADE_PAGES = {"_verbs.md", "changelog.md", "contributing.md"}
RESULTS = ROOT / "docs" / "results"
DOCS = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if page.relative_to(ROOT / "docs").parts[0] not in MADE | MADE_PAGES
    and (page.parent != RESULTS or page.stem in ("index", "overview"))  # the build makes the others of their records
]
PAGES = [ROOT / "README.md", *DOCS]
GUIDE = ROOT / "CONTRIBUTING.md"
LINKED = [*PAGES, GUIDE, ROOT / "CHANGELOG.md"]
LINK = r"\]\((?!https?:)([^)#]+)"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def name(path: Path) -> str:
    return path.name


def made(target: str) -> bool:
    """Tell whether a link leads to a page that the build of the site makes: of a model, of a method, or another one."""
    folder, _, page = target.partition("docs/")[2].partition("/")
    if folder in ("models", "methods") and page != "index.md":
        return page.removesuffix(".md") in (fsopt.MODELS if folder == "models" else fsopt.METHODS)
    if folder == "results":
        return any((RESULTS / page).with_suffix(kind).exists() for kind in (".json", ".jsonl"))
    return folder in MADE | MADE_PAGES


@pytest.mark.parametrize("page", LINKED, ids=name)
def test_links_to_files_lead_somewhere(page):
    for target in re.findall(LINK, page.read_text(encoding="utf-8")):
        place = os.path.normpath(page.parent / target) if target[0] != "/" else f"{ROOT}/docs{target}"
        assert os.path.exists(place) or made(os.path.relpath(place, ROOT)), target


@pytest.mark.parametrize("page", LINKED, ids=name)
def test_the_modules_and_functions_that_a_page_names_are_there(page):
    text = page.read_text(encoding="utf-8")
    for dotted in sorted(set(re.findall(r"`(fsopt(?:\.\w+)+)", text)) - {"fsopt.experiments"}):
        found, _, rest = dotted.partition(".")
        place = importlib.import_module(found)
        for part in rest.split("."):
            found = f"{found}.{part}"
            place = getattr(place, part) if hasattr(place, part) else importlib.import_module(found)


@cache
def named_in_files() -> dict[str, set[str]]:
    there: dict[str, set[str]] = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        found = re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        there.setdefault(path.name, set()).update(found)
    return there


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_tests_that_a_page_names_are_there(page):
    there, file = named_in_files(), ""
    for named, test in re.findall(r"`(test_\w+\.py)?(?:::(test_\w+))?`", page.read_text(encoding="utf-8")):
        file = named or file
        if file:
            assert file in there, file
            assert not test or test in there[file], f"{file}::{test}"
    assert set(re.findall(r"`(test_\w+)`", page.read_text(encoding="utf-8"))) <= set().union(*there.values())


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_the_notebook_executes(path, monkeypatch):
    if "FSOPT_DATA" in path.read_text(encoding="utf-8") and not SHARED.is_dir():
        pytest.skip(f"the papers' files are not at {SHARED} (set FSOPT_SHARED)")
    monkeypatch.setenv("FSOPT_DATA", str(SHARED / "data"))
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    kinds = {o["output_type"] for cell in notebook.cells for o in cell.get("outputs", [])}
    assert "error" not in kinds
    assert any("image/png" in o.get("data", {}) for cell in notebook.cells for o in cell.get("outputs", []))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_column_of_a_table_has_a_heading_in_words(page):
    # A formula alone says nothing to a reader of the screen.
    lines = re.sub(r"\$[^$\n]*\$", "", page.read_text("utf-8")).splitlines()
    heads = [head for head, rule in pairwise(lines) if re.fullmatch(r"\|( ?:?-+:? ?\|)+", rule)]
    assert [head for head in heads if not all(cell.strip() for cell in head.strip().strip("|").split("|"))] == []
