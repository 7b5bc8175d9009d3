"""Figures of the papers: what their curves and points are of."""

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.errors import DataError
from fsopt.papers.gmeb import figures as gmeb
from fsopt.papers.mop import experiments as mop
from fsopt.papers.mop.table import Digits
from fsopt.papers.mpm import figures as mpm
from fsopt.papers.reproduction import RunSettings, printed


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
