"""The shelf of realistic instances: each file in an independent reader, at the stored point, the quick ones solved."""

from __future__ import annotations

import gzip
import hashlib
import json

import highspy
import numpy as np
import pytest
import scipy.sparse as sp
from conic_files import parse_cbf, solve_cbf
from support import ROOT, sampled

import fsopt
from fsopt.library import realistic

SHELF = ROOT / "models" / "realistic"
ROWS = {r["name"]: r for r in json.loads((SHELF / realistic.INDEX).read_text(encoding="utf-8"))["instances"]}
MPS = [e.name for e in realistic.INSTANCES if e.suffix == ".mps"]
CBF = [e.name for e in realistic.INSTANCES if e.suffix == ".cbf"]
MEGABYTES = 9


def unpacked(name, folder):
    """Return the path of the decompressed file, and the best known point by name."""
    file = next(f for f in ROWS[name]["sha256"] if ".json" not in f)
    path = folder / file.removesuffix(".gz")
    path.write_bytes(gzip.decompress((SHELF / file).read_bytes()))
    best = json.loads(gzip.decompress((SHELF / f"{name}.best.json.gz").read_bytes()))
    return path, best


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


def read_by_highs(path):
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    h.setOptionValue("threads", 1)
    assert h.readModel(str(path)) == highspy.HighsStatus.kOk
    return h


@pytest.mark.parametrize("name", MPS)
def test_highs_reads_the_mps_file_and_finds_the_best_value_at_the_stored_point(name, tmp_path):
    path, best = unpacked(name, tmp_path)
    h = read_by_highs(path)
    lp = h.getLp()
    assert lp.num_col_ == ROWS[name]["size"]["columns"]
    # MPS has no brackets in names: those of the file are the model's with ( for [.
    values = {key.replace("[", "(").replace("]", ")"): v for key, v in best["variables"].items()}
    x = np.array([values[column] for column in lp.col_names_])
    hessian = h.getModel().hessian_
    quadratic = 0.0
    if hessian.dim_:
        n = hessian.dim_
        lower = sp.csc_matrix((hessian.value_, hessian.index_, hessian.start_), shape=(n, n))
        quadratic = 0.5 * x @ (lower + sp.tril(lower, -1).T) @ x
    value = float(np.dot(lp.col_cost_, x)) + lp.offset_ + quadratic
    assert value == pytest.approx(ROWS[name]["best"], rel=1e-6)
    kind = sp.csc_matrix if lp.a_matrix_.format_ == highspy.MatrixFormat.kColwise else sp.csr_matrix
    A = kind((lp.a_matrix_.value_, lp.a_matrix_.index_, lp.a_matrix_.start_), shape=(lp.num_row_, lp.num_col_))
    y = A @ x
    low, high = np.array(lp.row_lower_), np.array(lp.row_upper_)
    assert np.max(np.maximum(low - y, y - high) / (1 + np.abs(y))) <= 1e-6


@pytest.mark.parametrize("name", [n for n in MPS if ROWS[n]["class"] == "LP" and ROWS[n]["data"]["name"] == "wdbc"])
def test_highs_solves_the_linear_programs_to_the_best_value(name, tmp_path):
    h = read_by_highs(unpacked(name, tmp_path)[0])
    h.run()
    assert h.getInfo().objective_function_value == pytest.approx(ROWS[name]["best"], rel=1e-6)


@pytest.mark.parametrize("name", sampled(sorted(CBF, key=lambda name: ROWS[name]["size"]["columns"]), 1))
def test_the_cbf_file_solved_by_a_reader_of_its_own_has_the_best_value(name, tmp_path):
    found = parse_cbf(unpacked(name, tmp_path)[0])
    assert sum(k for _, k in found.columns) >= ROWS[name]["size"]["columns"]
    assert solve_cbf(found) == pytest.approx(ROWS[name]["best"], rel=1e-5)


def test_the_instances_are_those_of_the_builders(tmp_path):
    for name in ("onsvm-wdbc", "gmeb-dual-wdbc"):
        entry = next(e for e in realistic.INSTANCES if e.name == name)
        path, _ = unpacked(name, tmp_path)
        model = fsopt.build(entry.slug, realistic.data_of(entry.data), **entry.params)
        fsopt.export(model, tmp_path / f"again{entry.suffix}")
        assert (tmp_path / f"again{entry.suffix}").read_bytes() == path.read_bytes()
