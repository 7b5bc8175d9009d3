"""What journals, archives, conda and Binder read of the project says what pyproject.toml says."""

from __future__ import annotations

import json
import re
import tomllib

import nbformat
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from snippets import steps
from support import ROOT

import fsopt

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RECIPE = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
BIB = (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8")
PAPER = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
(AUTHOR,) = (author["name"] for author in PROJECT["authors"])
ENTRY = re.compile(r"^@\w+\{(\w+),.*?^\}$", flags=re.MULTILINE | re.DOTALL)


def record(name):
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


def requirements(lines):
    """Return name -> specifiers of requirements, in whichever of the two spellings."""
    found = [Requirement(line) for line in lines]
    return {canonicalize_name(one.name): one.specifier for one in found}


@pytest.mark.parametrize("name", ["codemeta.json", ".zenodo.json"])
def test_archives_read_what_the_package_states(name):
    said = record(name)
    assert said["version"] == fsopt.__version__
    assert [one["name"] for one in said.get("author", said.get("creators"))] == [AUTHOR]
    assert said["license"].rpartition("/")[2] == PROJECT["license"]
    assert said["keywords"] == PROJECT["keywords"]


def test_the_conda_recipe_is_that_of_the_package():
    context, run = RECIPE["context"], RECIPE["requirements"]["run"]
    assert context["version"] == fsopt.__version__
    assert f">={context['python_min']}" == PROJECT["requires-python"]
    assert run[0] == "python >=${{ python_min }}"
    assert requirements(run[1:]) == requirements(PROJECT["dependencies"])
    points = [f"{name} = {place}" for name, place in PROJECT["scripts"].items()]
    assert RECIPE["build"]["python"]["entry_points"] == points
    assert RECIPE["about"]["license"] == PROJECT["license"]
    assert RECIPE["about"]["summary"] == PROJECT["description"]
    assert (ROOT / "conda" / RECIPE["source"]["path"] / RECIPE["about"]["license_file"]).exists()


def test_binder_installs_what_the_notebooks_import():
    (line,) = (ROOT / ".binder" / "requirements.txt").read_text(encoding="utf-8").split()
    extras = re.fullmatch(r"\.\[(.+)\]", line).group(1).split(",")
    optional = PROJECT["optional-dependencies"]
    there = requirements([*PROJECT["dependencies"], *(one for extra in extras for one in optional[extra])])
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        code = "\n".join(c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code")
        imported = set(re.findall(r"^(?:from|import) (\w+)", code, flags=re.MULTILINE)) - {"dataclasses", "itertools"}
        assert {canonicalize_name(name) for name in imported - {"fsopt"}} <= there.keys(), path.name
        named = {name for name in fsopt.SOLVERS if f'"{name}"' in code} & optional.keys()
        assert named <= set(extras), path.name
    python = (ROOT / ".binder" / "runtime.txt").read_text(encoding="utf-8").strip().replace("-", " :: ").title()
    assert f"Programming Language :: {python}" in PROJECT["classifiers"]


def test_the_paper_cites_its_bibliography_which_is_that_of_the_site():
    entries = {m[1]: m[0] for m in ENTRY.finditer(BIB)}
    assert set(re.findall(r"@(\w+)", PAPER)) == entries.keys()
    site = (ROOT / "docs" / "references.bib").read_text(encoding="utf-8")
    shared = {m[1]: m[0] for m in ENTRY.finditer(site) if m[1] in entries}
    assert {"gmeb", "mpm", "sla", "gbd", "mop", "pyomo"} <= shared.keys()
    assert shared == {key: entries[key] for key in shared}


def test_the_code_of_the_paper_is_that_of_the_readme():
    (code,) = (step.text for step in steps(PAPER))
    assert code in (ROOT / "README.md").read_text(encoding="utf-8")
