"""Reproductions whose time ended: what was run is shown, and what it is of.

Figures of the papers: what their curves and points are of.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from reproductions import needs_data, papers_data  # noqa: F401
from support import blobs

import fsopt
from fsopt.errors import DataError, OutOfTimeError
from fsopt.papers.gbd import experiments as gbd
from fsopt.papers.gbd.tables import COMPARED, NODES, Measured
from fsopt.papers.gmeb import figures as gmeb
from fsopt.papers.mop import experiments as mop
from fsopt.papers.mop.table import Digits
from fsopt.papers.mpm import figures as mpm
from fsopt.papers.mpm.figures import MethodScores
from fsopt.papers.reproduction import RunSettings, printed
from fsopt.papers.sla import experiments as sla
from fsopt.papers.sla.experiments import TABLE_ONE, TableRow
from fsopt.studies.running import opened


def measured(method, p, n, k):
    """Return a made-up measure: GBD is worse than FSV on the instances 0 and 1, and the exact search never is."""
    error = {"gbd": 0.1, "best-subset": 0.0, "fsv": 0.0 if k < 2 else 0.2}.get(method, 0.1)
    status, gap = {"gbd": ("feasible", 0.5), "best-subset": ("optimal", 0.0)}.get(method, ("feasible", None))
    numbers = {"p": p, "n_features": 2, "m": 2, "validation_error": 0.0, "test_error": error}
    rest = {"overlap": p, "alignment": 0.995 + 0.0001 * k, "seconds": 1.0, "tuning_seconds": 8.0}
    return Measured(instance=f"{p}-{n}-{k}", method=method, params={}, status=status, gap=gap, **numbers, **rest)


def test_the_means_of_aytug_are_over_the_instances_that_were_run(monkeypatch):
    calls = []

    def drawn(p, n, *, instances, jobs):
        calls.append((p, n, *instances))
        return [measured(method, p, n, *instances) for method in COMPARED]

    monkeypatch.setattr(gbd, "data_set_one", drawn)
    with opened(None) as held:
        whole = gbd.gbd_table2(RunSettings(store=held))
        assert gbd.gbd_table2(RunSettings(store=held, ends=0.0)) == whole
        bins = {(c.row, c.column): c.ours for c in gbd.gbd_fig1(RunSettings(store=held, ends=0.0)).cells}
    assert calls == [(p, n, k) for k in range(10) for p in (20, 50, 100) for n in (500, 1000, 5000)]
    found = {(c.row, c.column): c for c in whole.cells}
    assert (found["fsv", "gbd better"].ours, found["fsv", "gbd worse"].ours) == (72.0, 18.0)
    assert found["fsv 20 x 500", "gbd difference"].ours == pytest.approx(0.1 - 0.16)
    assert found["rfe 100 x 5000", "exact"].ours == 10.0
    assert found["onsvm", "alignment"].why == "other draws"
    assert (found["rfe", "best-subset better"].ours, found["fsv", "best-subset better"].ours) == (90.0, 72.0)
    assert (found["gbd", "proved"].ours, found["best-subset", "proved"].ours) == (0.0, 90.0)
    assert (found["gbd 50 x 500", "gap"].ours, found["best-subset 50 x 500", "gap"].ours) == (0.5, 0.0)
    assert "a lower test error than gbd on 90 instances and a higher one on 0" in " ".join(whole.notes)
    assert bins["rfe bin 1", "TE(gbd) - TE"] == 0.0
    assert bins["rfe bin 1", "TE(best-subset) - TE"] == pytest.approx(-0.1)
    with opened(None) as held:
        for k in range(3):
            held.part(
                "gbd-table2",
                {"p": 20, "n": 500, "instance": k, "cuts": 250, "nodes": NODES, "seed": 0},
                lambda k=k: [dict(vars(measured(method, 20, 500, k))) for method in COMPARED],
            )
        part = gbd.gbd_table2(RunSettings(store=held, ends=0.0))
    found = {(c.row, c.column): c for c in part.cells}
    assert (found["fsv", "gbd better"].verdict, found["fsv", "gbd better"].ours) == ("left out", None)
    assert found["rfe", "gbd worse"].why == "3 of 90 instances were run"
    assert found["fsv 20 x 500", "gbd better"].ours == 1.0
    assert "20 x 500 (3), 20 x 1000 (0)" in part.notes[0]
    assert not any("1000" in row for row, _ in found)
    assert found["onsvm", "alignment"].why == "other draws, 3 instances instead of 90"
    with pytest.raises(OutOfTimeError):
        gbd.gbd_table2(RunSettings(ends=0.0))


def test_figures_2_and_3_have_the_gap_where_a_method_has_a_bound(monkeypatch):
    def measure(method, k, *, jobs):
        gap = 0.1 if method in ("gbd", "best-subset") else None
        error = 0.25 + 0.01 * k * (2 if method == "onsvm" else 1)
        return SimpleNamespace(test_error=error, tuning_seconds=3.0, gap=gap)

    monkeypatch.setattr(gbd, "measure", measure)
    monkeypatch.setattr(gbd, "gbd_set_two", lambda m, k, p, n: k)
    with opened(None) as held:
        outcome = gbd.gbd_fig2(RunSettings(quick=True, store=held))
        assert gbd.gbd_fig2(RunSettings(quick=True, store=held, ends=0.0)).cells == outcome.cells
    found = {(c.row, c.column): c.ours for c in outcome.cells}
    assert "1 (1), 10 (1), 20 (1)" in outcome.notes[0]
    assert found["gbd M=10", "gap"] == found["best-subset M=1", "gap"] == 0.1
    assert ("rfe M=10", "gap") not in found
    assert (found["rfe M=10", "test error"], found["rfe M=10", "seconds"]) == (0.25, 3.0)
    assert {c.spread for c in outcome.cells} == {None}  # of one instance
    whole = gbd.gbd_fig2(RunSettings())
    spread = {(c.row, c.column): c.spread for c in whole.cells}
    less = {c.row: (c.ours, c.spread) for c in whole.cells if c.column == "TE - TE(rfe)" and "M=200" in c.row}
    assert less == {
        "gbd M=200": (0.0, 0.0),
        "best-subset M=200": (0.0, 0.0),
        "onsvm M=200": pytest.approx((0.02, 0.01 * np.sqrt(2.5))),
    }
    assert spread["gbd M=600", "test error"] == pytest.approx(0.01 * np.sqrt(2.5))  # of 0 to 4
    assert spread["gbd M=600", "seconds"] == spread["rfe M=20", "seconds"] == 0.0
    assert "600 (5); means" in whole.notes[0]


def test_own_data_by_the_protocol_of_table_4_say_which_fits_have_no_proof(monkeypatch):
    def rows(name, settings):
        if name == "votes":
            raise OutOfTimeError("the time limit passed", "more seconds")
        status = "feasible" if name == "wdbc" else "optimal"
        found = [measured(method, 20, 500, 0) for method in COMPARED]
        return [replace(row, status=status) if row.method == "gbd" else row for row in found]

    monkeypatch.setattr(gbd, "_loaded", lambda name: name)
    monkeypatch.setattr(gbd, "_real_data", rows)
    outcome = gbd.gbd_table4(RunSettings())
    assert [c.row for c in outcome.cells if c.verdict == "left out"] == ["votes"]
    cells = [c for c in outcome.cells if c.verdict == "no number"]
    assert {c.row for c in cells if c.why} == {"wdbc gbd"}
    assert {c.ours for c in cells if c.row == "pima fsv"} == {0.0, 0.1, 1.0, 2.0}


def test_leukemia_of_table_4_has_the_samples_of_both_its_files(tmp_path, monkeypatch):
    monkeypatch.setenv("FSOPT_DATA", str(tmp_path))
    (tmp_path / "leukemia.train.csv").write_text("a,b,label\n1,2,0\n3,4,1\n5,,1\n")
    (tmp_path / "leukemia.test.csv").write_text("a,b,label\n7,8,1\n9,0,0\n")
    data = gbd._loaded("leukemia")
    assert (data.name, data.features) == ("leukemia", ("a", "b"))
    assert data.X.tolist() == [[1, 2], [3, 4], [7, 8], [9, 0]]
    assert data.y.tolist() == [-1, 1, 1, -1]
    (tmp_path / "leukemia.test.csv").write_text("b,a,label\n8,7,1\n0,9,0\n")
    with pytest.raises(DataError, match="differ in their columns"):
        gbd._loaded("leukemia")
    (tmp_path / "leukemia.test.csv").unlink()
    with pytest.raises(DataError, match=r"there is no data set 'leukemia\.test'"):
        gbd._loaded("leukemia")


def test_rows_of_mangasarian_and_curves_of_yang_are_kept_and_others_left_out(monkeypatch):
    data, spreads = blobs(20, 3), (0.0, 0.5, 0.5)

    def rows(sets, *, runs):
        sizes = {"m": 10, "k": 10, "n": 3, "sla": 95.0, "linear_programs": 4.0, "seconds": 2.0, "pmm": 90.0}
        return [TableRow(name, **sizes, spreads=spreads, best=1, printed=TABLE_ONE[name]) for name in sets]

    def scores(pairs, methods, **how):
        [(method, params)] = methods.items()
        numbers = np.arange(10.0) + params.get("alpha", 0.0)
        delta = np.full(10, np.nan)
        return [MethodScores(method, params, delta, *(numbers + i for i in range(6)))]

    monkeypatch.setattr(sla, "available", lambda names, load: [("wpbc24", data), ("bupa", data)])
    monkeypatch.setattr(sla, "_other_coding", lambda name: data)
    monkeypatch.setattr(sla, "table_one", rows)
    monkeypatch.setattr(mpm, "synthetic_pairs", lambda *a, **k: [(data, data)] * 10)
    monkeypatch.setattr(mpm, "compare_methods", scores)
    monkeypatch.setattr(mpm, "_large_weights", lambda pairs: [[k] * 10 for k in (9, 8, 7)])
    with opened(None) as held:
        alone = [make(RunSettings()) for make in (sla.sla_table1, mpm.l0mpm_fig8)]
        whole = [make(RunSettings(store=held)) for make in (sla.sla_table1, mpm.l0mpm_fig8)]
        again = [make(RunSettings(store=held, ends=0.0)) for make in (sla.sla_table1, mpm.l0mpm_fig8)]
        assert [one.cells for one in alone] == [one.cells for one in whole] == [one.cells for one in again]
        assert [one.notes for one in again] == [one.notes for one in alone]
        monkeypatch.setattr(sla, "_other_coding", lambda name: blobs(22, 3))
        part = {(c.row, c.column): c for c in sla.sla_table1(RunSettings(store=held, ends=0.0)).cells}
    assert part["bupa", "sla"].ours == 95.0
    assert {c.verdict for (row, _), c in part.items() if row in sla.OTHER_CODINGS} == {"left out"}
    found = {(c.row, c.column): c.ours for c in again[1].cells}
    assert (found["l0-mpm", "3"], found["l1-mpm", "3"], found["mpm", "3"]) == (13.0, 3.0, 8.0)
    assert found["l0-mpm", "TSA, alpha 50"] == 100 * (4.5 + 50 + 3)
    with pytest.raises(OutOfTimeError):
        mpm.l0mpm_fig8(RunSettings(ends=0.0))


def values(outcome):
    """Return row, column -> our number."""
    return {(c.row, c.column): c.ours for c in outcome.cells}


@pytest.mark.slow
def test_widths_of_kernels_are_on_one_scale_whatever_the_units_of_the_data(monkeypatch):
    data = blobs(36, 40, gap=1.5)
    assert np.mean(np.linalg.norm(data.X, axis=1)) > 6  # at a width of 1/2 these samples have all kernel values 0
    found = []
    for units in (1.0, 1000.0):
        monkeypatch.setattr(mpm, "load_set", lambda name, seed, units=units: data.with_X(units * data.X))
        found.append(values(mpm.l0mpm_fig6(RunSettings(quick=True))))
    first, again = found
    assert first == pytest.approx(again, abs=3.0)  # one sample of 36
    assert all(first["sonar mpm width " + width, "TSA"] > 60.0 for width in ("0.5", "8"))
    assert first["sonar mpm width 0.5", "PSF"] == 100.0 > first["sonar l0-mpm width 8", "PSF"]


@pytest.mark.slow
def test_the_first_iteration_of_mopfs_in_the_figure_is_the_svm_on_all_pixels_and_the_last_its_answer(monkeypatch):
    both = blobs(300, 30, gap=0.8)
    train, rest = both.rows(np.arange(100)), both.rows(np.arange(100, 300))
    monkeypatch.setattr(mop, "mnist_digits", lambda size: Digits(train, rest, rest, np.arange(30)))
    outcome = mop.mop_fig2(RunSettings(quick=True))
    found = values(outcome)
    answer = fsopt.fit("mopfs", train, w_cap=9.0, c=mop.CURVES_C)
    last = max(int(row.rpartition(" ")[2]) for row, _ in found if "iteration" in row)
    for k, fit in ((0, fsopt.fit("rsvm", train, w_cap=9.0)), (last, answer)):
        for word, part in (("training", train), ("test", rest)):
            wrong = np.mean(fit.predict(part) != part.y)
            assert found[f"l = 100, iteration {k}", f"{word} error"] == pytest.approx(wrong, abs=1e-12)
        assert found[f"l = 100, iteration {k}", "selected pixels"] == (len(fit.support) if k else 30)
    assert found["l = 100, iteration 0", "RW / l"] == pytest.approx(0.09)
    assert set(outcome.figures) == {"fig2-left", "fig2-middle", "fig2-right"}


def test_figure_2_of_peleg_and_meir_has_the_sets_that_are_there_beside_their_print(monkeypatch):
    def load(name):
        if name in ("colon", "internet_ads"):
            raise DataError(f"no {name}", "fetch it")
        return blobs(20, 10)

    monkeypatch.setattr(gmeb, "load_set", load)
    monkeypatch.setattr(gmeb, "real_scores", lambda name, method, *rest: (12.0, 1.0, float(len(method)), 0.0))
    outcome = gmeb.gmeb_fig2(RunSettings())
    found = values(outcome)
    assert (found["gmeb bupa", "share of features"], found["rfe bupa", "error"]) == (0.4, 12.0)
    assert {c.row: c.why for c in outcome.cells if c.verdict == "no data"} == {
        "internet_ads": "no internet_ads",
        "colon": "no colon",
    }
    left, right = outcome.figures["fig2"].axes
    assert {text.get_text() for text in left.texts} == set(printed("gmeb-table4")["rows"]) - {"colon", "internet_ads"}
    assert [0.54, 34.2] in right.collections[0].get_offsets().round(6).tolist()  # 5.4 of 10 features


def test_the_printed_seconds_of_mangasarian_add_up_to_the_printed_totals():
    seconds = np.array(list(printed("sla-table1")["seconds"].values()), float)
    assert seconds.sum(axis=0) == pytest.approx([1599.97, 896.11])
