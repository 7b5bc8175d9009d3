"""Reproductions: verdicts, pages, stores and limits of time, and the numbers that the papers print."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from reproductions import needs_data, papers_data, run  # noqa: F401
from support import ROOT, blobs

import fsopt
from fsopt.errors import DataError, OutOfTimeError, SolverError
from fsopt.papers import registry
from fsopt.papers.gbd import experiments as gbd
from fsopt.papers.gbd.tables import COMPARED
from fsopt.papers.gmeb import experiments as gmeb
from fsopt.papers.mop import experiments as mop
from fsopt.papers.mop.table import Digits
from fsopt.papers.mpm import figures as mpm
from fsopt.papers.pages import beside_random, fuller, markdown, overview, read_saved, saved, sentence, with_agreement
from fsopt.papers.registry import EXPERIMENTS
from fsopt.papers.reproduction import RULES, Reproduction, RunSettings, numbers_of, printed
from fsopt.papers.sla import experiments as sla
from fsopt.papers.verdicts import (
    BETTER,
    VERDICTS,
    TableCell,
    cell,
    chance,
    deviations,
    given,
    half_unit,
    random_agreements,
)
from fsopt.studies.running import opened


def verdict(ours, print_, possible=(0.0, 100.0), **rest):
    return cell(("row", "column"), ours, print_, possible=possible, **rest).verdict


def test_digits_come_first_then_noise_then_another_choice_that_was_tried():
    assert [verdict(ours, "93.2") for ours in (93.24, 93.26, 93.25, 93.15)] == ["equal", "differs", "equal", "equal"]
    assert verdict(0.15, "0.10") == "differs"  # a text: as a float it has one digit, and 0.15 rounds to it
    assert [half_unit(text) for text in ("3", "3.0", "0.1502")] == [0.5, 0.05, pytest.approx(5e-5)]
    assert verdict(93.26, "93.2", noise=0.1) == "within noise"
    assert [verdict(ours, "2.0") for ours in (math.nan, None)] == ["left out", "left out"]
    assert verdict(1.0, None) == "no number"
    erratum = ("erratum", "infeasible")
    assert [verdict(ours, "93.2", noise=0.1, otherwise=erratum) for ours in (None, 95.0)] == ["erratum", "erratum"]
    tried = {"smaller radii": (95.2, 0.1), "all radii": (93.4, 0.3)}
    one = cell(("r", "c"), 95.0, "93.2", possible=(0.0, 100.0), tried=tried)
    assert (one.verdict, one.why) == ("our reading", "it agrees with all radii")
    assert verdict(93.26, "93.2", noise=0.1, tried=tried) == "within noise"
    assert verdict(95.0, "93.2", tried={"smaller radii": (95.2, 0.1)}) == "differs"
    assert verdict(95.0, "93.2", tried=tried, otherwise=erratum) == "erratum"
    assert verdict(95.0, "93.2", tried={"anything": (80.0, 30.0)}) == "differs"  # what hardly can fail is no reason


def test_what_a_fifth_of_all_answers_would_pass_is_no_evidence():
    assert verdict(52.0, "50", noise=9.0) == "within noise"  # 18 of 100
    assert verdict(52.0, "50", noise=11.0) == "not testable"
    assert verdict(50.2, "50", noise=11.0) == "equal"  # 1 of 100
    assert verdict(2.0, "2", possible=(1.0, 3.0)) == "not testable"
    assert verdict(99.0, "50", noise=11.0) == "differs"  # what fails a weak test has failed it
    assert given(("r", "c"), "0.13").verdict == "not counted"
    rng = np.random.default_rng(0)
    for print_, accepted, (low, high) in ((4.0, 3.0, (0.0, 50.0)), (1.0, 3.0, (0.0, 50.0)), (48.0, 9.0, (0.0, 50.0))):
        share = np.mean(abs(rng.uniform(low, high, 200_000) - print_) <= accepted)
        assert chance(print_, accepted, (low, high)) == pytest.approx(share, abs=5e-3)
    assert chance(24.0, 1.0, (50.0, 100.0)) == pytest.approx(1 / 76)  # the print itself is possible: from it on
    for print_, noise in (("50", 7.0), ("50", 11.0), ("50.00", 0.0), ("3", 0.2)):
        for ours in np.linspace(0.0, 100.0, 401):
            one = cell(("r", "c"), ours, print_, possible=(0.0, 100.0), noise=noise)
            assert (one.verdict in ("equal", "within noise")) == (abs(one.difference) <= one.accepted)


def test_random_tables_have_our_numbers_in_another_order_within_each_column_of_several_rows():
    ours, theirs = [1.0, 2.0, 3.0, 40.0, 50.0], [1.0, 2.0, 3.0, 40.0, 59.0]
    cells = [("x", a, b, 0.5) for a, b in zip(ours[:3], theirs, strict=False)]
    cells += [("y", ours[3], theirs[3], 0.5), ("y", ours[4], theirs[4], None)]
    # By hand: of the orders of three 1/6 has 3 at their place, 1/2 one, 1/3 none; of the orders of two a half has one.
    mean, best, share = random_agreements(cells)
    assert (mean, best, share) == (pytest.approx(1.5, abs=0.1), 4, pytest.approx(1 / 12, abs=0.03))
    assert random_agreements([*cells, ("z", 1.0, 1.0, 0.5)]) == (mean, best, share)
    assert random_agreements([("x", 1.0, 1.0, 0.5), ("y", 2.0, 2.0, 0.5)]) is None
    alike = [("x", 1.0, 1.0, 0.1), ("x", 1.0, 1.0, 0.1), ("y", 1.0, 2.0, 0.1)]
    assert random_agreements(alike) == (2.0, 2, 1.0)
    one = {"column": "n", "ours": 1.0, "printed": "1", "accepted": 0.0, "possible": None, "difference": 0.0}
    others = [{**one, "verdict": "not counted"}, {**one, "ours": None, "difference": None, "verdict": "no data"}]
    assert beside_random([{**one, "verdict": "equal"}, *others]) == {}
    both = [{**one, "verdict": "equal"}, {**one, "verdict": "equal"}, *others]
    assert beside_random(both) == {"random mean": 2.0, "random best": 2, "random share": 1.0}


def test_a_table_that_is_no_better_than_random_ones_does_not_count_as_reproduced():
    table = {"equal": 2, "within noise": 1, "differs": 1}
    assert sentence({**table, "random share": BETTER}).startswith("Of 4 printed numbers 3 are reproduced, 2 of them to")
    assert "3 agree, no more than chance gives (P = 0.2), and none counts" in sentence({**table, "random share": 0.2})
    assert "without a table to compare with, and none counts" in sentence(table)
    assert sentence({"no number": 3}) == "The paper prints no number for this: the page shows ours."
    random = {"random mean": 1.4, "random best": 2}
    found = {
        "gmeb-table3": {**table, **random, "random share": 0.01},
        "sla-table1": {**table, **random, "random share": 0.2},
    }
    headline = overview(found)[0].splitlines()[2]
    assert headline.startswith("Of 8 printed numbers 3 are reproduced, in 1 tables that agree more often")
    assert "; 3 others agree in tables that do not" in headline
    assert "Chance alone gives about 3 of the 6." in headline


def test_the_noise_of_means_is_that_of_their_difference():
    rng = np.random.default_rng(1)
    ours, theirs = rng.normal(0, 3.0, (100_000, 10)).mean(axis=1), rng.normal(0, 5.0, (100_000, 30)).mean(axis=1)
    assert deviations((3.0, 10), (5.0, 30)) == pytest.approx(2 * np.std(ours - theirs), rel=0.02)


def test_the_correctness_of_pmm_that_no_number_of_samples_has_is_a_mean_over_ten_training_parts():
    """By brute force over all sums of ten numbers of samples; then right samples in parts of nine tenths."""
    whole = set()
    for name in sla.NAMES:
        row = numbers_of(sla.TABLE, name)
        n, share = int(row["m"]) + int(row["k"]), float(row["pmm"])
        there = any(f"{100 * k / (10 * n):.2f}" == row["pmm"] for k in range(10 * n + 1))
        assert sla.possible_share(row) == there, name
        whole |= {name} if there else set()
        parts = [n - len(fold) for fold in np.array_split(np.arange(n), 10)]
        large, few = max(parts), parts.count(max(parts))
        right = np.arange(few * large + 1) / large
        others = np.round((share / 10 - right) * (large - 1))
        inside = (others >= 0) & (others <= (10 - few) * (large - 1))
        means = 10 * (right + others / (large - 1))
        assert np.any(inside & (abs(means - share) <= half_unit(row["pmm"]))), name
    assert whole == {"wpbc24", "pima", "tictactoe"}
    seconds = np.array(list(sla.TABLE["seconds"].values()), float)
    assert seconds.sum(axis=0) == pytest.approx(np.array(sla.TABLE["total"], float))


def test_without_the_data_every_cell_says_so(monkeypatch):
    monkeypatch.delenv("FSOPT_DATA", raising=False)
    for name in ("sla-table1", "sla-features", "mop-table1", "l0mpm-table2", "l0mpm-table5", "gmeb-fig2", "mop-fig2"):
        found = EXPERIMENTS[name].function(RunSettings(quick=True, seed=77))
        assert found.cells
        assert all(one.verdict in ("no data", "left out") or one.row == "total" for one in found.cells), name
        assert not found.figures


@pytest.mark.slow
@needs_data
@pytest.mark.usefixtures("papers_data")
def test_table_1_of_mangasarian_counts_neither_sizes_nor_seconds_nor_second_readings():
    with opened(None) as held:
        found = EXPERIMENTS["sla-table1"].function(RunSettings(store=held)).cells
    assert {c.row for c in found if c.verdict == "odd"} == {"wbcd", "cleveland", "ionosphere", "bupa", "votes"}
    assert {c.column for c in found if c.verdict not in ("not counted", "no data")} == {"pmm", "sla", "linear_programs"}
    assert not {c.row for c in found if c.verdict not in ("not counted", "no data")} & set(sla.OTHER_CODINGS)


def test_the_verb_writes_a_page_and_figures(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out, _ = run("reproduce mop-fig1 l0mpm-table4 --quick -o results --json", capsys)
    assert [one["name"] for one in json.loads(out)["experiments"]] == ["mop-fig1", "l0mpm-table4"]
    files = {f"{name}.svg" for name in ("l0mpm-table4-agreement", "mop-fig1-fig1", "overview")}
    files |= {f"{name}.{kind}" for name in ("l0mpm-table4", "mop-fig1") for kind in ("md", "json")}
    assert {p.name for p in (tmp_path / "results").iterdir()} == files | {"overview.md", "verdicts.json"}
    assert "mop-fig1" not in (tmp_path / "results" / "overview.md").read_text()
    page = (tmp_path / "results" / "l0mpm-table4.md").read_text()
    assert page.splitlines()[4] == "![agreement](l0mpm-table4-agreement.svg)"
    out, _ = run("reproduce l0mpm-table4 --quick -o again", capsys)
    assert "4 erratum" in out
    for picture in (tmp_path / "again").glob("*.svg"):
        assert picture.read_bytes() == (tmp_path / "results" / picture.name).read_bytes(), picture.name


def measures(method, instance, jobs=1):
    """Return made-up measures of Aytug: the loop is worse than FSV on instances 0 and 1, the exact search never is."""
    p, n, k = instance
    error = {"gbd": 0.1, "best-subset": 0.0, "fsv": 0.0 if k < 2 else 0.2}.get(method, 0.1)
    status, gap = {"gbd": ("feasible", 0.5), "best-subset": ("optimal", 0.0)}.get(method, ("feasible", None))
    found = {"instance": f"{p}-{n}-{k}", "method": method, "params": {}, "status": status, "gap": gap, "p": p, "m": 2}
    found |= {"n_features": 2, "validation_error": 0.0, "test_error": error, "overlap": p}
    return found | {"alignment": 0.995 + 0.0001 * k, "seconds": 1.0, "tuning_seconds": 8.0}


def test_the_means_of_aytug_are_over_the_instances_that_were_run_and_compare_the_printed_loop_alone(monkeypatch):
    monkeypatch.setattr(gbd, "measure", measures)
    monkeypatch.setattr(gbd, "gbd_set_one", lambda p, n, k: (p, n, k))
    with opened(None) as held:
        whole = gbd.gbd_table2(RunSettings(store=held))
        assert gbd.gbd_table2(RunSettings(store=held, ends=0.0)) == whole
        bins = {(c.row, c.column): c.ours for c in gbd.gbd_fig1(RunSettings(store=held, ends=0.0)).cells}
    found = {(c.row, c.column): c for c in whole.cells}
    assert (found["fsv", "gbd better"].ours, found["fsv", "gbd worse"].ours) == (72.0, 18.0)
    assert found["fsv 20 x 500", "difference"].ours == pytest.approx(0.1 - 0.16)
    assert (found["rfe 100 x 5000", "exact"].ours, found["gbd", "proved"].ours) == (10.0, 0.0)
    assert (found["gbd 50 x 500", "gap"].ours, found["best-subset 50 x 500", "gap"].ours) == (0.5, 0.0)
    assert found["gbd, 20 features", "converged"].ours == 0.0
    assert all(("250 cuts at C >= 8" in c.why) == c.row.startswith("gbd") for c in whole.cells if not c.printed)
    assert "a lower test error than the loop on 90 instances and a higher one on 0" in " ".join(whole.notes)
    assert (bins["rfe bin 1", "TE(gbd) - TE"], bins["best-subset bin 1", "TE(gbd) - TE"]) == pytest.approx((0.0, 0.1))

    def few(method, instance, jobs=1):
        if instance[2] > 0 or (instance[0], method) == (50, "rfe"):
            raise OutOfTimeError("the time limit passed", "more seconds")
        return measures(method, instance)

    monkeypatch.setattr(gbd, "measure", few)
    part = gbd.gbd_table2(RunSettings())
    found = {(c.row, c.column): c for c in part.cells}
    assert (found["fsv", "gbd better"].why, found["fsv", "gbd better"].ours) == ("6 of 90 instances were run", None)
    assert "20 x 500 (1), 20 x 1000 (1), 20 x 5000 (1), 50 x 500 (0)" in part.notes[0]
    with pytest.raises(OutOfTimeError):
        gbd.gbd_table2(RunSettings(ends=0.0))


def test_figures_2_and_3_have_the_gap_where_a_method_has_a_bound(monkeypatch):
    def measure(method, k, *, jobs):
        error = 0.25 + 0.01 * k * (2 if method == "onsvm" else 1)
        return {**measures(method, (800, 1000, k)), "test_error": error}

    monkeypatch.setattr(gbd, "measure", measure)
    monkeypatch.setattr(gbd, "gbd_set_two", lambda m, k, p, n: k)
    whole = gbd.gbd_fig2(RunSettings())
    found = {(c.row, c.column): (c.ours, c.spread) for c in whole.cells}
    deviation = pytest.approx(0.01 * np.sqrt(5 / 3))  # of 0 to 3
    assert found["gbd M=600", "test error"] == (pytest.approx(0.265), deviation)
    assert found["onsvm M=200", "TE - TE(rfe)"] == (pytest.approx(0.015), deviation)
    assert (found["gbd M=20", "gap"], found["gbd M=20", "seconds"]) == ((0.5, 0.0), (8.0, 0.0))
    assert ("rfe M=20", "gap") not in found
    assert "600 (4); means" in whole.notes[0]
    assert {c.spread for c in gbd.gbd_fig2(RunSettings(quick=True)).cells} == {None}  # of one instance


def test_own_data_by_the_protocol_of_table_4_are_counted_as_a_share_of_the_printed_ones(monkeypatch):
    def rows(name, settings):
        if name == "votes":
            raise OutOfTimeError("the time limit passed", "more seconds")
        return gbd.pd.DataFrame([measures(method, (20, 500, 0)) for method in COMPARED])

    monkeypatch.setattr(gbd, "_loaded", lambda name: name)
    monkeypatch.setattr(gbd, "_real_data", rows)
    cells = {(c.row, c.column): c for c in gbd.gbd_table4(RunSettings()).cells}
    assert [row for (row, _), c in cells.items() if c.verdict == "left out"] == ["votes"]
    assert "not proved, relative gap 0.5" in cells["wdbc gbd", "features"].why
    assert (cells["onsvm", "gbd better"].printed, cells["fsv", "gbd worse"].ours) == ("11", 25.0)


def test_leukemia_of_table_4_has_the_samples_of_both_its_files(tmp_path, monkeypatch):
    monkeypatch.setenv("FSOPT_DATA", str(tmp_path))
    (tmp_path / "leukemia.train.csv").write_text("a,b,label\n1,2,0\n3,4,1\n5,,1\n")
    (tmp_path / "leukemia.test.csv").write_text("a,b,label\n7,8,1\n9,0,0\n")
    data = gbd._loaded("leukemia")
    assert (data.name, data.X.tolist(), data.y.tolist()) == (
        "leukemia",
        [[1, 2], [3, 4], [7, 8], [9, 0]],
        [-1, 1, 1, -1],
    )
    (tmp_path / "leukemia.test.csv").write_text("b,a,label\n8,7,1\n0,9,0\n")
    with pytest.raises(DataError, match="differ in their columns"):
        gbd._loaded("leukemia")


def rounds(errors, counts):
    """Return made-up measures of rounds."""
    return [{"error": e, "counts": dict(zip(RULES, c, strict=True))} for e, c in zip(errors, counts, strict=True)]


def test_noise_is_tried_before_a_reason_and_a_printed_deviation_may_be_that_of_the_mean():
    numbers = {"error": "3.1", "error_sd": "2.7", "features": "5.1", "features_sd": "0.3"}
    found = rounds([1.0, 1.5, 1.3], [[8, 5, 8, 8], [8, 5, 9, 8], [9, 5, 8, 8]])
    error, features = gmeb._cells("gmeb n=50", found, numbers, 202, "relative, raw", 30)
    assert (error.verdict, features.verdict) == ("our reading", "our reading")
    assert error.why == "it agrees with the printed deviation as that of the mean"
    assert features.why == "it agrees with the rule 'relative, scaled'"
    one_part = {**numbers, "error_sd": "0", "features_sd": "0", "features": "9"}
    features = list(gmeb._cells("svm mfeat", found, one_part, 649, "relative, raw"))[1]
    spread = np.std([8, 8, 9], ddof=1)
    assert (features.verdict, features.spread) == ("within noise", pytest.approx(spread / np.sqrt(3)))
    assert features.accepted == pytest.approx(2 * spread * np.sqrt(1 / 3 + 1))


def test_figure_2_of_peleg_and_meir_has_the_sets_that_are_there_beside_their_print(monkeypatch):
    def load(name):
        if name in ("colon", "internet_ads"):
            raise DataError(f"no {name}", "fetch it")
        return blobs(20, 10)

    monkeypatch.setattr(gmeb, "load_set", load)
    monkeypatch.setattr(gmeb, "real_scores", lambda name, method, settings: rounds([12.0] * 2, [[len(method)] * 4] * 2))
    outcome = gmeb.gmeb_fig2(RunSettings())
    found = {(c.row, c.column): c.ours for c in outcome.cells}
    assert (found["gmeb bupa", "share of features"], found["rfe bupa", "error"]) == (0.4, 12.0)
    assert {c.row for c in outcome.cells if c.verdict == "no data"} == {"internet_ads", "colon"}
    left, right = outcome.figures["fig2"].axes
    assert {text.get_text() for text in left.texts} == set(printed("gmeb-table4")["rows"]) - {"colon", "internet_ads"}
    assert [0.54, 34.2] in right.collections[0].get_offsets().round(6).tolist()  # 5.4 of 10 features


def test_features_of_mpm_are_counted_by_a_share_of_the_largest_weight():
    pairs = mpm.synthetic_pairs(3, n=30, n_test=5, p=60)
    weights = [np.abs(fsopt.fit("mpm", train).coef) for train, _ in pairs]
    by_hand = [[np.count_nonzero(w >= share * w.max()) for w in weights] for share in mpm.COUNTED]
    assert mpm._large_weights(pairs) == by_hand
    lists = [np.array(one, float) for one in by_hand]
    theirs = {str(k + 1): str(int(number)) for k, number in enumerate(by_hand[0])}
    found = list(mpm._list_cells("mpm", lists, {**theirs, "4": "7"}, pairs[0][0]))
    assert {c.verdict for c in found[:3]} <= {"equal", "not testable"}
    assert (found[3].ours, found[3].verdict, found[0].possible) == (None, "left out", (0.0, 60.0))
    far = mpm._list_cells("mpm", lists, {"1": "10", "2": "11", "3": "12"}, pairs[0][0])
    assert {c.verdict for c in far} == {"differs"}


def test_the_table_of_bi_has_a_ratio_that_differs_and_571_pixels_that_are_shown_false_for_100_digits_alone():
    row = {"method": "rsvm", "h_over_l": 0.31, "n_features": 501, "n_support_vectors": 65}
    row |= {"train_error": 0.04, "test_error": 0.19}
    found = {c.column: c for c in mop._cells(row, 100, numbers_of(printed("mop-table1"), "100", "rsvm"))}
    assert (found["h_over_l"].verdict, found["n_features"].verdict) == ("differs", "erratum")
    more = {c.column: c for c in mop._cells(row, 500, numbers_of(printed("mop-table1"), "500", "rsvm"))}
    assert (more["h_over_l"].verdict, more["n_features"].verdict) == ("not counted", "differs")
    assert "our reading" not in {c.verdict for c in (*found.values(), *more.values())}


@pytest.mark.slow
def test_widths_of_kernels_are_on_one_scale_whatever_the_units_of_the_data(monkeypatch):
    data, found = blobs(36, 40, gap=1.5), []
    for units in (1.0, 1000.0):
        monkeypatch.setattr(mpm, "load_set", lambda name, seed, units=units: data.with_X(units * data.X))
        found.append({(c.row, c.column): c.ours for c in mpm.l0mpm_fig6(RunSettings(quick=True)).cells if c.ours})
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
    found = {(c.row, c.column): c.ours for c in outcome.cells}
    answer = fsopt.fit("mopfs", train, w_cap=9.0, c=mop.CURVES_C)
    last = max(int(row.rpartition(" ")[2]) for row, _ in found if "iteration" in row)
    for k, fit in ((0, fsopt.fit("rsvm", train, w_cap=9.0)), (last, answer)):
        for word, part in (("training", train), ("test", rest)):
            wrong = np.mean(fit.predict(part) != part.y)
            assert found[f"l = 100, iteration {k}", f"{word} error"] == pytest.approx(wrong, abs=1e-12)
        assert found[f"l = 100, iteration {k}", "selected pixels"] == (len(fit.support) if k else 30)
    assert set(outcome.figures) == {"fig2-left", "fig2-middle", "fig2-right"}


def test_a_killed_reproduction_goes_on_where_its_store_has_parts(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    calls = []

    def drawn(method, instance, jobs):
        calls.append((method, instance))
        if len(calls) == 5:
            raise KeyboardInterrupt
        return measures(method, (40, 100, instance[0]))

    monkeypatch.setattr(gbd, "measure", drawn)
    monkeypatch.setattr(gbd, "gbd_set_two", lambda m, k, p, n: (m, k))
    _, err = run("reproduce gbd-fig2 --quick --store kept.sqlite", capsys, code=130)
    assert "interrupted in gbd-fig2" in err
    pages = [run("reproduce gbd-fig2 --quick --store kept.sqlite --json", capsys)[0] for _ in range(2)]
    assert (len(calls), len(set(calls))) == (12 + 1, 12)  # four methods on three instances, one was interrupted
    first, again = (json.loads(page)["experiments"][0]["cells"] for page in pages)
    assert first == again


def test_after_the_time_limit_a_table_shows_the_parts_that_its_store_has_and_a_fuller_page_stays(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gmeb, "over", lambda pairs, train, jobs=1: rounds([20.0], [[3] * 4]))
    command = "reproduce gmeb-table3 --quick --store kept.sqlite --json -o pages"
    monkeypatch.setattr(gmeb, "METHODS", ("svm", "gmeb"))
    run(command, capsys)
    monkeypatch.setattr(gmeb, "METHODS", ("svm", "l1-svm", "gmeb"))
    out, err = run(f"{command} --time-limit 0", capsys)
    cells = {(c["row"], c["column"]): c for c in json.loads(out)["experiments"][0]["cells"] if "n=20" in c["row"]}
    assert [cells[f"{m} n=20", "features"]["ours"] for m in ("svm", "l1-svm", "gmeb")] == [3.0, None, 3.0]
    assert cells["l1-svm n=20", "error"]["why"] == "the time limit passed"
    assert "stays" not in err
    words = "fsopt reproduce gmeb-table3 --quick --time-limit 0 --store kept.sqlite"
    page = tmp_path / "pages" / "gmeb-table3.md"
    assert page.read_text("utf-8").splitlines()[6].startswith(f"Made by `{words}`. Its 4 parts took ")
    monkeypatch.setattr(gmeb, "METHODS", ("svm",))
    kept = page.read_bytes()
    _, err = run(command, capsys)
    assert "gmeb-table3.json' stays: it has more than this run" in err
    assert page.read_bytes() == kept
    [cell_] = json.loads(run("reproduce gbd-table2 --time-limit 0 --json", capsys)[0])["experiments"][0]["cells"]
    assert (cell_["verdict"], cell_["why"].partition(":")[0]) == ("left out", "the time limit passed")
    assert fuller({"equal": 1, "parts": 3}, {"within noise": 1, "left out": 2, "parts": 2})
    assert not fuller({"equal": 1, "parts": 3}, {"differs": 1, "parts": 3})


def test_wrong_words_are_one_line_and_an_experiment_that_fails_is_a_cell(tmp_path, capsys, monkeypatch):
    for words, text in (
        ("reproduce", "no table or figure is named"),
        ("reproduce sla-table1 --all", "both names and --all"),
        ("reproduce sla-table2", "did you mean"),
        ("reproduce mop-fig1 --jobs 0", "--jobs 0 is no number"),
        ("reproduce mop-fig1 -o /dev/null/x", "cannot make the folder"),
    ):
        _, err = run(words, capsys, code=2)
        assert text in err
        assert err.strip().count("\n") == 0
    out, _ = run("reproduce --list --json", capsys)
    assert [one["name"] for one in json.loads(out)["experiments"]] == list(EXPERIMENTS)
    for content in ("no json", "[1]", '{"mop-fig1": 3}'):
        (tmp_path / "verdicts.json").write_text(content)
        _, err = run(f"reproduce mop-fig1 -o {tmp_path}", capsys, code=2)
        assert "holds no verdicts of reproductions" in err

    def fail(settings):
        raise SolverError("no solver", "install one")

    broken = replace(EXPERIMENTS["mop-fig1"], function=fail)
    monkeypatch.setattr(registry, "EXPERIMENTS", {"mop-fig1": broken, "l0mpm-table4": EXPERIMENTS["l0mpm-table4"]})
    out, err = run("reproduce --all --json", capsys, code=1)
    assert "mop-fig1 failed: no solver" in err
    found = [one["verdicts"] for one in json.loads(out)["experiments"]]
    assert found == [{"left out": 1}, {"erratum": 4, "not counted": 26}]


def committed(name):
    """Return the record and the page that the site has of an experiment."""
    text = (ROOT / "docs" / "results" / f"{name}.json").read_text(encoding="utf-8")
    assert saved(read_saved(text)) == text
    return read_saved(text), markdown(read_saved(text))


def test_the_committed_pages_begin_with_the_counts_of_their_cells_and_the_overview_has_them_all():
    folder = ROOT / "docs" / "results"
    found = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
    assert set(found) == set(EXPERIMENTS)
    for name, numbers in found.items():
        record, page = committed(name)
        cells = [c["verdict"] for c in record["cells"]]
        verdicts = {word: cells.count(word) for word in VERDICTS if word in cells}
        assert {word: number for word, number in numbers.items() if word in VERDICTS} == verdicts, name
        random = beside_random(record["cells"])
        assert {word: number for word, number in numbers.items() if word.startswith("random")} == random, name
        assert page.splitlines()[2] == sentence({**verdicts, **random})
    assert overview(found)[0] == (folder / "overview.md").read_text(encoding="utf-8")


def minutes_of(name):
    """Return the minutes that the page of an experiment states, 0 for less than a second."""
    _, page = committed(name)
    took = re.search(r"took (?:([\d.]+) (minutes|seconds)|less than a second)\.$", page, re.MULTILINE)
    return float(took[1] or 0.0) / {"minutes": 1.0, "seconds": 60.0, None: 1.0}[took[2]]


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name not in ("gbd-fig1", "gmeb-fig2")])
def test_the_listed_minutes_of_an_experiment_are_those_of_its_page(name):
    command = committed(name)[0]["command"]
    stated, listed = minutes_of(name), EXPERIMENTS[name].minutes
    assert listed <= stated + max(0.1, 0.1 * stated) or "--time-limit" in command  # a machine that is busy takes longer


def test_the_picture_of_an_agreement_has_ours_over_the_print_as_shares_of_the_possible_range():
    one = TableCell("r", "error", 30.0, "20.0", "differs", spread=5.0, possible=(0.0, 50.0))
    two = TableCell("r", "features", 3.0, "3", "equal", possible=(1.0, 5.0))
    outcome = with_agreement(Reproduction((one, two, TableCell("r", "other", 1.0, None, "no number"))))
    axes = outcome.figures["agreement"].axes[0]
    drawn = {bars.get_label(): bars for bars in axes.containers}
    assert drawn["differs"].lines[0].get_xydata().tolist() == [[0.4, 0.6]]
    assert drawn["equal"].lines[0].get_xydata().tolist() == [[0.5, 0.5]]
    assert drawn["differs"].lines[2][0].get_segments()[0].tolist() == [[0.4, 0.5], [0.4, 0.7]]
    assert not with_agreement(Reproduction(outcome.cells[2:])).figures
