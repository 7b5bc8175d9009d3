"""The habits of the project: what states its version, authors and requirements agrees, and names what is there."""

import json
import re
import shlex
import sys
import tomllib

import nbformat
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from snippets import steps
from support import ROOT

import fsopt
from fsopt.cli.app import command


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def read(name):
    return yaml.safe_load(text(name))


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads(text("pyproject.toml"))["project"]
NOTEBOOKS = {path: nbformat.read(path, as_version=4).cells for path in (ROOT / "notebooks").glob("*.ipynb")}


def commands(path):
    """Return the command lines of a workflow, each in words."""
    found = [step for job in read(path)["jobs"].values() for step in job["steps"]]
    lines = [line for step in found if "run" in step for line in re.split(r"\n|&&", step["run"])]
    return [shlex.split(line) for line in lines if line.strip()]


def test_the_version_and_the_author_have_one_source_and_all_that_state_them_follow():
    (author,) = [one["name"] for one in PROJECT["authors"]]
    assert "version" in PROJECT["dynamic"]
    assert re.search(r"^## (\S+)", text("CHANGELOG.md"), flags=re.MULTILINE)[1] == fsopt.__version__
    assert f"{fsopt.__version__.rpartition('.')[0]} now" in text("SECURITY.md")
    assert f'"{author}"' in text("docs/conf.py")
    for said in (read("CITATION.cff"), json.loads(text("codemeta.json")), json.loads(text(".zenodo.json"))):
        assert said["version"] == fsopt.__version__
        assert [one["name"] for key in ("authors", "author", "creators") for one in said.get(key, [])] == [author]
        assert said["license"].rpartition("/")[2] == PROJECT["license"]
        assert "authors" in said or said["keywords"] == PROJECT["keywords"]


def requirements(lines):
    """Return name -> specifiers of requirements, in whichever of the two spellings."""
    found = [Requirement(line) for line in lines]
    return {canonicalize_name(one.name): one.specifier for one in found}


def test_the_conda_recipe_is_that_of_the_package():
    recipe = read("conda/recipe.yaml")
    context, about, (python, *run) = recipe["context"], recipe["about"], recipe["requirements"]["run"]
    assert context["version"] == fsopt.__version__
    assert f">={context['python_min']}" == PROJECT["requires-python"]
    assert python == "python >=${{ python_min }}"
    assert requirements(run) == requirements(PROJECT["dependencies"])
    points = [f"{name} = {place}" for name, place in PROJECT["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == points
    assert (about["license"], about["summary"]) == (PROJECT["license"], PROJECT["description"])
    assert (ROOT / "conda" / recipe["source"]["path"] / about["license_file"]).exists()


def test_binder_installs_what_the_notebooks_import():
    extras = re.fullmatch(r"\.\[(.+)\]\n", text(".binder/requirements.txt"))[1].split(",")
    optional = PROJECT["optional-dependencies"]
    there = requirements([*PROJECT["dependencies"], *(one for extra in extras for one in optional[extra])])
    for path, cells in NOTEBOOKS.items():
        code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
        imported = set(re.findall(r"^(?:from|import) (\w+)", code, flags=re.MULTILINE)) - sys.stdlib_module_names
        assert {canonicalize_name(name) for name in imported - {"fsopt"}} <= there.keys(), path.name
        assert {name for name in fsopt.SOLVERS if f'"{name}"' in code} & optional.keys() <= set(extras), path.name
    python = text(".binder/runtime.txt").strip().replace("-", " :: ").title()
    assert f"Programming Language :: {python}" in PROJECT["classifiers"]


def test_the_paper_has_the_bibliography_of_the_site_and_the_code_of_the_readme():
    entry = re.compile(r"^@\w+\{(\w+),.*?^\}$", flags=re.MULTILINE | re.DOTALL)
    entries, shared = (
        {m[1]: m[0] for m in entry.finditer(text(f))} for f in ("paper/paper.bib", "docs/references.bib")
    )
    assert set(re.findall(r"@(\w+)", text("paper/paper.md"))) == entries.keys()
    assert {"gmeb", "mpm", "sla", "gbd", "mop", "pyomo"} <= entries.keys() & shared.keys()
    assert {key: shared[key] for key in entries.keys() & shared.keys()}.items() <= entries.items()
    (code,) = (step.text for step in steps(text("paper/paper.md")))
    assert code in text("README.md")


def test_the_pythons_of_the_tests_are_those_that_the_package_states():
    stated = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]
    matrix = read(".github/workflows/tests.yml")["jobs"]["core"]["strategy"]["matrix"]
    assert matrix["python"] == stated
    assert len(matrix["system"]) == len([c for c in PROJECT["classifiers"] if c.startswith("Operating System")])
    assert PROJECT["requires-python"] == f">={stated[0]}"
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in stated


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_a_workflow_runs_is_there(path):
    targets = set(re.findall(r"^([\w-]+):", text("Makefile"), flags=re.MULTILINE))
    for words in commands(path):
        if words[0] == "make":
            assert set(words[1:]) <= targets, words
        if words[0] == "fsopt":
            assert words[1] in command().commands, words
        if "pytest" in words:
            assert all((ROOT / word).exists() for word in words if word.startswith("tests/")), words
        for extras in re.findall(r"\.\[(.+)\]", " ".join(words)):
            assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])


def test_a_release_is_published_without_a_password():
    """PyPI trusts the workflow itself: only its job of publishing may ask for an identity."""
    jobs = read(".github/workflows/release.yml")["jobs"]
    assert [name for name, job in jobs.items() if job.get("permissions", {}).get("id-token") == "write"] == ["publish"]
    assert "secrets." not in text(".github/workflows/release.yml")
    assert jobs["publish"]["needs"] == "build"


def test_hooks_before_a_commit_have_the_versions_of_the_development_environment():
    hooks = {repo["repo"].rpartition("/")[2]: repo for repo in read(".pre-commit-config.yaml")["repos"]}
    assert f"\nruff=={hooks['ruff-pre-commit']['rev'].removeprefix('v')} " in text("requirements-dev.txt")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_with_its_outputs(path):
    assert any(cell.get("outputs") for cell in NOTEBOOKS[path])
