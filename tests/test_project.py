"""The habits of the project: one version, workflows and forms that name what exists, hooks of the versions in use."""

from __future__ import annotations

import re
import shlex
import sys
import tomllib

import nbformat
import pytest
import yaml
from support import ROOT

import fsopt
from fsopt.cli.app import command

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
STORED = {"sla", "mop"}
"""Notebooks whose outputs are kept: they need the papers' files, and the site shows them where those are not."""


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def commands(path):
    """Return the command lines of a workflow, each in words."""
    steps = [step for job in read(path)["jobs"].values() for step in job["steps"]]
    lines = [line for step in steps if "run" in step for line in re.split(r"\n|&&", step["run"])]
    return [shlex.split(line) for line in lines if line.strip()]


def test_the_version_has_one_source_and_all_that_state_it_follow():
    assert "version" in PROJECT["dynamic"]
    assert "version" not in PROJECT
    assert read(ROOT / "CITATION.cff")["version"] == fsopt.__version__
    heading = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert heading.group(1) == fsopt.__version__
    minor = fsopt.__version__.rpartition(".")[0]
    assert f"{minor} now" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_the_pythons_of_the_tests_are_those_that_the_package_states():
    stated = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]
    matrix = read(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]["core"]["strategy"]["matrix"]
    assert matrix["python"] == stated
    assert len(matrix["system"]) == len([c for c in PROJECT["classifiers"] if c.startswith("Operating System")])
    assert PROJECT["requires-python"] == f">={stated[0]}"
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in stated


def test_authors_are_named_alike():
    (author,) = PROJECT["authors"]
    assert [author["name"]] == [a["name"] for a in read(ROOT / "CITATION.cff")["authors"]]
    assert f'"{author["name"]}"' in (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_a_workflow_runs_is_there(path):
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
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
    jobs = read(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    assert [name for name, job in jobs.items() if job.get("permissions", {}).get("id-token") == "write"] == ["publish"]
    assert "secrets." not in (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert jobs["publish"]["needs"] == "build"


def test_a_form_names_verbs_that_are_there_and_that_of_a_wrong_answer_asks_for_the_model_and_the_installation():
    for path in FORMS:
        verbs = re.findall(r"`fsopt (\w+)", path.read_text(encoding="utf-8"))
        assert set(verbs) <= set(command().commands), path.name
    parts = {part.get("id"): part for part in read(ROOT / ".github" / "ISSUE_TEMPLATE" / "wrong-answer.yml")["body"]}
    assert all(parts[name]["validations"]["required"] for name in ("claim", "model", "data", "doctor"))
    assert "`fsopt doctor`" in parts["doctor"]["attributes"]["label"]


def test_hooks_before_a_commit_have_the_versions_of_the_development_environment():
    hooks = {repo["repo"].rpartition("/")[2]: repo for repo in read(ROOT / ".pre-commit-config.yaml")["repos"]}
    locked = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")
    assert f"\nruff=={hooks['ruff-pre-commit']['rev'].removeprefix('v')} " in locked
    (stripped,) = hooks["nbstripout"]["hooks"]
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        kept = bool(re.search(stripped["exclude"], path.relative_to(ROOT).as_posix()))
        assert kept == (path.stem in STORED)
        shown = [cell for cell in nbformat.read(path, as_version=4).cells if cell.get("outputs")]
        assert bool(shown) == kept, path.name
