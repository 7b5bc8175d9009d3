"""The instance library: complete, not drifted from the builders and writers, and right about its optima."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tomllib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from support import ROOT, sampled

import fsopt
from tools import instances

LIBRARY = ROOT / "models"
SLUGS = list(fsopt.MODELS)
PAGES = {"README.md", "instance.toml", "optimum.json"}
NUMBER = re.compile(r"(?<![\w.])([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.])")


def facts_of(slug: str) -> dict:
    return tomllib.loads((LIBRARY / slug / "instance.toml").read_text(encoding="utf-8"))


def stored_model(slug: str):
    """Build the model as a reader of the library would: from data.csv and instance.toml alone."""
    data = fsopt.load_dataset(LIBRARY / slug / "data.csv")
    return fsopt.build(slug, data, **facts_of(slug)["parameters"])


def content(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != "realistic"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def close(a: float | Fraction, b: float | Fraction, rel: float) -> bool:
    return abs(a - b) <= rel * max(abs(a), abs(b))


def alike(here: str, there: str, rel: float = 1e-12) -> bool:
    """Whether two texts differ at most in the last digits of their numbers, which another BLAS kernel may change."""
    ours, theirs = NUMBER.split(here), NUMBER.split(there)
    same = ours[::2] == theirs[::2] and len(ours) == len(theirs)
    return same and all(a == b or close(float(a), float(b), rel) for a, b in zip(ours[1::2], theirs[1::2], strict=True))


def same_facts(here: dict, there: dict) -> bool:
    """Whether the facts of an instance agree: without checksums, exact ends to the stated tolerance."""
    ends = [{k: Fraction(f["optimum"].pop(k)) for k in ("lower", "upper") if k in f["optimum"]} for f in (here, there)]
    files = [sorted(f.pop("files")) for f in (here, there)]
    near = all(close(end, ends[1][k], here["optimum"]["tolerance"]) for k, end in ends[0].items() if k in ends[1])
    return here == there and files[0] == files[1] and ends[0].keys() == ends[1].keys() and near


def test_every_model_has_a_folder_and_every_folder_a_model() -> None:
    assert {path.name for path in LIBRARY.iterdir() if path.is_dir()} - {"realistic"} == set(fsopt.MODELS)


@pytest.mark.slow
def test_written_anew_the_library_is_the_same_but_for_last_digits(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tools.instances", str(tmp_path)]
    listed = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.split()
    assert {Path(name) for name in listed} == {path for path in tmp_path.rglob("*") if path.is_file()}
    here, there = content(LIBRARY), content(tmp_path)
    assert sorted(here) == sorted(there)
    changed = []
    for name, text in here.items():
        ours, theirs = text.decode(), there[name].decode()
        if name.endswith(".toml"):
            same = same_facts(tomllib.loads(ours), tomllib.loads(theirs))
        else:
            same = name.endswith((".sol", "optimum.json")) or alike(ours, theirs)
        changed += [] if same else [name]
    assert changed == []


def test_there_is_no_python() -> None:
    assert not list(LIBRARY.rglob("*.py"))


@pytest.mark.parametrize("slug", fsopt.MODELS)
def test_the_files_are_those_of_the_stored_data_and_parameters(slug: str, tmp_path: Path) -> None:
    facts, model = facts_of(slug), stored_model(slug)
    assert set(facts["files"]) == {path.name for path in (LIBRARY / slug).iterdir()} - PAGES - {f"{slug}.sol"}
    for name, checksum in facts["files"].items():
        stored = (LIBRARY / slug / name).read_bytes()
        assert hashlib.sha256(stored).hexdigest() == checksum
        if not name.endswith((".csv", ".row", ".col")):
            fsopt.export(model, tmp_path / name)
            assert alike((tmp_path / name).read_text(encoding="utf-8"), stored.decode()), name


@pytest.mark.parametrize("slug", sampled([*SLUGS[::2], *SLUGS[1::2]], 23))
def test_the_recorded_optimum_and_class_and_law_of_the_data_are_right(slug: str) -> None:
    facts, model = facts_of(slug), stored_model(slug)
    result, optimum = fsopt.solve(instances.solvable(model)), facts["optimum"]
    assert result.status == "optimal"
    assert optimum["tolerance"] == 1e-6
    assert result.objective == pytest.approx(optimum["objective"], rel=1e-6, abs=1e-6)
    assert abs(optimum["objective"]) > 1e-2, "an instance with the optimum 0 tests little"
    assert facts["class"] == fsopt.classify(model) == fsopt.MODELS[slug].problem_class
    assert facts["slug"] == slug
    if facts["class"] == "QP":
        assert fsopt.solve(model, "ipopt").objective == pytest.approx(optimum["objective"], rel=1e-6)
    law, data = facts["data"], fsopt.load_dataset(LIBRARY / slug / "data.csv")
    assert data.X.shape == (law["n"], law["p"])
    assert np.array_equal(data.y, np.resize([1.0, -1.0], law["n"]))
    assert np.array_equal(data.X * instances.GRID, np.round(data.X * instances.GRID))
    noise = np.random.Generator(np.random.PCG64(law["seed"])).standard_normal(data.X.shape)
    noise[:, :2] += law["gap"] * data.y[:, None]
    assert np.abs(data.X - noise).max() <= 0.5 / instances.GRID


@pytest.mark.parametrize("slug", fsopt.MODELS)
def test_the_page_states_program_components_and_optimum(slug: str) -> None:
    page, facts = (LIBRARY / slug / "README.md").read_text(encoding="utf-8"), facts_of(slug)
    assert re.search(r"\n\$\$\n\\begin\{aligned\}\n.*\\m(in|ax).+\n\\end\{aligned\}\n\$\$\n", page, flags=re.DOTALL)
    assert ":math:" not in page
    assert "``" not in page.replace("```", "")
    assert repr(facts["optimum"]["objective"]) in page
    for component in stored_model(slug).component_objects():
        if component.ctype.__name__ in ("Var", "Constraint", "Objective"):
            assert f"| `{component.name}` |" in page
            assert component.doc
    for link in re.findall(r"\]\(([^)]+)\)", page):
        assert (LIBRARY / slug / link).exists(), link
    assert f"[{slug}]({slug}/README.md)" in (LIBRARY / "README.md").read_text(encoding="utf-8")


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instances, "LIMIT", 1000)
    with pytest.raises(fsopt.FsoptError, match=r"instance of 'rlp' has files of 1000 bytes or more: .*rlp\.lp"):
        instances.write_instance("rlp", tmp_path / "rlp")
