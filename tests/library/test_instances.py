"""The instance library: complete, not drifted from the builders and writers, and right about its optima."""

import dataclasses
import hashlib
import json
import re
import tomllib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from support import ROOT, sampled

import fsopt
from fsopt.compiler import compile_model
from tools import instances, optima, pages, tables

LIBRARY = ROOT / "models"
SLUGS = list(fsopt.MODELS)
NUMBER = re.compile(r"(?<![\w.])([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.])")


def facts_of(slug: str) -> dict:
    return tomllib.loads((LIBRARY / slug / "instance.toml").read_text(encoding="utf-8"))


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
    index = (LIBRARY / "README.md").read_text(encoding="utf-8")
    assert index == pages.index([facts_of(slug) for slug in SLUGS]), "run 'make instances'"


@pytest.mark.parametrize("slug", sampled(SLUGS, 22, 1))
def test_an_instance_written_anew_is_the_same_but_for_last_digits(slug: str, tmp_path: Path) -> None:
    """Its files, page and facts, the optimum among them; of optimal points there may be several."""
    instances.write_instance(slug, tmp_path)
    here, there = ({path.name: path.read_text("utf-8") for path in at.iterdir()} for at in (LIBRARY / slug, tmp_path))
    assert here.keys() == there.keys()
    assert same_facts(*(tomllib.loads(files["instance.toml"]) for files in (here, there)))
    compared = here.keys() - {"instance.toml", optima.JSON, f"{slug}.sol"}
    assert [name for name in compared if not alike(here[name], there[name])] == []


@pytest.mark.parametrize("slug", SLUGS)
def test_data_are_of_their_law_and_the_page_is_mathematics_whose_links_lead_somewhere(slug: str) -> None:
    facts, page = facts_of(slug), (LIBRARY / slug / "README.md").read_text(encoding="utf-8")
    assert abs(facts["optimum"]["objective"]) > 1e-2, "an instance with the optimum 0 tests little"
    for name, checksum in facts["files"].items():
        assert hashlib.sha256((LIBRARY / slug / name).read_bytes()).hexdigest() == checksum
    law, data = facts["data"], fsopt.load_dataset(LIBRARY / slug / "data.csv")
    assert np.array_equal(data.y, np.resize([1.0, -1.0], law["n"]))
    assert np.array_equal(data.X * instances.GRID, np.round(data.X * instances.GRID))
    noise = np.random.Generator(np.random.PCG64(law["seed"])).standard_normal((law["n"], law["p"]))
    noise[:, :2] += law["gap"] * data.y[:, None]
    assert np.abs(data.X - noise).max() <= 0.5 / instances.GRID
    assert re.search(r"\n\$\$\n\\begin\{aligned\}\n.*\\m(in|ax).+\n\\end\{aligned\}\n\$\$\n", page, flags=re.DOTALL)
    assert ":math:" not in page
    assert "``" not in page.replace("```", "")
    assert all((LIBRARY / slug / link).exists() for link in re.findall(r"\]\(([^)]+)\)", page))


@pytest.mark.parametrize("slug", sampled(SLUGS, 22, 2))
def test_the_stored_optimum_is_a_point_of_the_model_with_the_recorded_value(slug):
    program = compile_model(instances.solvable(instances.build_instance(slug)))
    found = json.loads((LIBRARY / slug / optima.JSON).read_text(encoding="utf-8"))
    assert optima.is_optimum(program, found, found["objective"])
    assert found["objective"] == pytest.approx(facts_of(slug)["optimum"]["objective"], rel=1e-7)
    forged = {**found, "variables": {k: v + 0.1 for k, v in found["variables"].items()}}
    assert not optima.is_optimum(program, forged, found["objective"])
    if (sol := LIBRARY / slug / f"{slug}.sol").is_file():
        assert sol.read_text(encoding="utf-8") == optima.ampl_solution(slug, sol.parent, found)
    if not program.objective_terms:
        assert program.objective_at(optima.point_of(program, found)) == pytest.approx(found["objective"], rel=1e-6)


def test_every_nl_file_is_there_that_the_format_holds():
    written = [slug for slug in SLUGS if (LIBRARY / slug / f"{slug}.nl").is_file()]
    assert set(SLUGS) - set(written) == {"gmeb-sdp"}
    assert all(b"#" not in (LIBRARY / slug / f"{slug}.nl").read_bytes() for slug in written)


@pytest.mark.parametrize("name", tables.PLACES)
def test_the_tables_of_a_file_are_those_of_the_registries(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert text == tables.written(text, tables.PLACES[name]), "run 'make instances'"


def test_entries_of_the_users_own_are_in_no_table(monkeypatch):
    before = tables.papers()
    monkeypatch.setitem(fsopt.METHODS.own, "mine", dataclasses.replace(fsopt.METHODS["svm"], name="mine"))
    assert tables.papers() == before
