"""The shelf publishes the best that the project knows: values, bounds, and proofs that are confirmed alone."""

import hashlib
import json
from fractions import Fraction

import pytest
from support import ROOT, sampled

import fsopt
from fsopt.data import gbd_set_one
from fsopt.methods.preprocessing import preprocess
from fsopt.verifier import verify
from tools import realistic
from tools.best_known import beaten, best_known, solu

SHELF, PAGES = ROOT / "models" / "realistic", ROOT / "docs" / "results"
ROWS = json.loads((SHELF / realistic.INDEX).read_text(encoding="utf-8"))["instances"]
PROOFS = sorted(path.name.removesuffix(".proof.json.gz") for path in SHELF.glob("*.proof.json.gz"))


def test_no_page_of_the_project_has_a_better_value_or_bound():
    assert beaten(ROWS, PAGES) == []


@pytest.mark.parametrize(("field", "share"), [("best", 1.01), ("bound", 0.99)])
def test_a_value_or_a_bound_that_a_page_beats_is_found(field, share):
    row = next(r for r in ROWS if r["name"] == "fsp-m-bigm-sonar")
    worse = beaten([{**row, field: share * row[field]}], PAGES)
    assert len(worse) == 1
    assert worse[0].startswith("fsp-m-bigm-sonar")


@pytest.mark.slow
def test_an_instance_of_two_features_has_the_optimum_of_all_selections():
    raw = gbd_set_one(6, 24, 0).train
    data = preprocess(raw, "standard")[0]
    params = {"m": 2, "c": 1.0}
    known = best_known(fsopt.build("fsp-m-bigm", data, **params), raw, ("fsp-m-bigm", params), "scip", (20.0, 20.0))
    singles = [fsopt.fit("svm", data.columns([i, j]), scale="none") for i in range(6) for j in range(i)]
    optimum = min(fit.objective for fit in singles)
    assert known.result.objective == pytest.approx(optimum, rel=1e-6)
    assert known.bound == pytest.approx(optimum, rel=1e-4)
    assert known.proof["claims"]


def test_the_file_of_solutions_has_every_instance():
    lines = (SHELF / realistic.SOLU).read_text(encoding="utf-8")
    assert lines == solu(ROWS)
    assert {line.split()[1] for line in lines.splitlines()} == {row["name"] for row in ROWS}


@pytest.mark.parametrize("name", sampled(PROOFS, 1))
def test_a_stored_proof_is_confirmed_alone_and_proves_the_published_bound(name, capsys):
    assert verify.main([str(SHELF / f"{name}.proof.json.gz"), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    row = next(r for r in ROWS if r["name"] == name)
    lower = max(Fraction(claim["lower"]) for claim in shown["statements"] if claim["lower"] is not None)
    assert lower >= row["bound"] - 1e-6 * max(1.0, abs(row["bound"]))


REALISTIC_ROWS = {row["name"]: row for row in ROWS}
MEGABYTES = 9


def test_the_shelf_is_complete_and_small_and_no_bound_is_beyond_its_point():
    assert list(REALISTIC_ROWS) == [entry.name for entry in realistic.INSTANCES]
    assert len(REALISTIC_ROWS) == 20
    stored = {path.name for path in SHELF.iterdir()} - {"README.md", realistic.INDEX, realistic.SOLU}
    assert stored == {file for r in REALISTIC_ROWS.values() for file in r["sha256"]}
    assert sum(path.stat().st_size for path in SHELF.iterdir()) < MEGABYTES * 1e6
    for row in REALISTIC_ROWS.values():
        sign = -1.0 if row["sense"] == "maximise" else 1.0
        assert row["proved_by"]
        assert row["bound"] is None or sign * (row["bound"] - row["best"]) <= 1e-6 * max(1.0, abs(row["best"]))
        for file, checksum in row["sha256"].items():
            assert hashlib.sha256((SHELF / file).read_bytes()).hexdigest() == checksum
