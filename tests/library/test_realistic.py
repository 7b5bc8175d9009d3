"""The shelf of realistic instances: each file in an independent reader, and the quick ones solved.

Their best points are checked in ``cli/test_solutions.py``.
"""

from __future__ import annotations

import gzip
import hashlib
import json

import highspy
import pytest
from conic_files import parse_cbf, solve_cbf
from support import ROOT, sampled, written

import fsopt
from tools import realistic

SHELF = ROOT / "models" / "realistic"
ROWS = {r["name"]: r for r in json.loads((SHELF / realistic.INDEX).read_text(encoding="utf-8"))["instances"]}
MPS = [e.name for e in realistic.INSTANCES if e.suffix == ".mps"]
CBF = [e.name for e in realistic.INSTANCES if e.suffix == ".cbf"]
MEGABYTES = 9


def unpacked(name, folder):
    """Return the path of the decompressed file."""
    file = next(f for f in ROWS[name]["sha256"] if ".json" not in f)
    return written(folder, file.removesuffix(".gz"), gzip.decompress((SHELF / file).read_bytes()))


def test_the_shelf_is_complete_and_small_and_no_bound_is_beyond_its_point():
    assert list(ROWS) == [entry.name for entry in realistic.INSTANCES]
    assert len(ROWS) == 20
    stored = {path.name for path in SHELF.iterdir()} - {"README.md", realistic.INDEX, realistic.SOLU}
    assert stored == {file for r in ROWS.values() for file in r["sha256"]}
    assert sum(path.stat().st_size for path in SHELF.iterdir()) < MEGABYTES * 1e6
    for row in ROWS.values():
        sign = -1.0 if row["sense"] == "maximise" else 1.0
        assert row["proved_by"]
        assert row["bound"] is None or sign * (row["bound"] - row["best"]) <= 1e-6 * max(1.0, abs(row["best"]))
        for file, checksum in row["sha256"].items():
            assert hashlib.sha256((SHELF / file).read_bytes()).hexdigest() == checksum


@pytest.mark.parametrize("name", MPS)
def test_highs_reads_the_mps_file_and_solves_the_linear_programs_of_wdbc_to_the_best_value(name, tmp_path):
    h, row = highspy.Highs(), ROWS[name]
    h.setOptionValue("output_flag", False)
    h.setOptionValue("threads", 1)
    assert h.readModel(str(unpacked(name, tmp_path))) == highspy.HighsStatus.kOk
    assert h.getNumCol() == row["size"]["columns"]
    if row["class"] == "LP" and row["data"]["name"] == "wdbc":
        h.run()
        assert h.getInfo().objective_function_value == pytest.approx(row["best"], rel=1e-6)


@pytest.mark.parametrize("name", sampled(sorted(CBF, key=lambda name: ROWS[name]["size"]["columns"]), 1))
def test_the_cbf_file_solved_by_a_reader_of_its_own_has_the_best_value(name, tmp_path):
    found = parse_cbf(unpacked(name, tmp_path))
    assert sum(k for _, k in found.columns) >= ROWS[name]["size"]["columns"]
    assert solve_cbf(found) == pytest.approx(ROWS[name]["best"], rel=1e-5)


def test_the_instances_are_those_of_the_builders(tmp_path):
    for name in ("onsvm-wdbc", "gmeb-dual-wdbc"):
        entry = next(e for e in realistic.INSTANCES if e.name == name)
        path = unpacked(name, tmp_path)
        model = fsopt.build(entry.slug, realistic.data_of(entry.data), **entry.params)
        fsopt.export(model, tmp_path / f"again{entry.suffix}")
        assert (tmp_path / f"again{entry.suffix}").read_bytes() == path.read_bytes()
