"""The code in README and docs runs, the notebooks execute, and relative links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from support import ROOT, SHARED

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def name(path: Path) -> str:
    return path.name


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_python_on_a_page_runs(page, tmp_path, monkeypatch):
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    space = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, str(page), "exec"), space)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_to_files_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


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
