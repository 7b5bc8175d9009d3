"""Reproductions: verdicts, pages, stores and limits of time, and the numbers that the papers print."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from support import ROOT, run

from fsopt.errors import SolverError
from fsopt.papers import registry
from fsopt.papers.gbd import experiments as gbd
from fsopt.papers.gmeb import experiments as gmeb
from fsopt.papers.pages import beside_random, fuller, markdown, overview, read_saved, saved, sentence
from fsopt.papers.registry import EXPERIMENTS
from fsopt.papers.reproduction import RULES, RunSettings
from fsopt.papers.verdicts import BETTER, VERDICTS, cell, chance, deviations, given, half_unit, random_agreements


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
    assert sentence({**table, "random share": BETTER}).startswith("Reproduced: 3 of 4 printed numbers, 2 of them to")
    assert "3 agree, no more than chance gives (P = 0.2), and do not" in sentence({**table, "random share": 0.2})
    assert "0 of 4 printed numbers; 3 agree, in no table of rows" in sentence(table)
    assert sentence({"no number": 3}) == "The paper prints no number for this: the page shows ours."
    random = {"random mean": 1.4, "random best": 2}
    found = {
        "gmeb-table3": {**table, **random, "random share": 0.01},
        "sla-table1": {**table, **random, "random share": 0.2},
    }
    headline = overview(found)[0].splitlines()[2]
    assert headline.startswith("Reproduced: 3 of 8 printed numbers, in 1 tables that agree more often")
    assert "; 3 others agree in tables that do not" in headline
    assert "Chance alone gives about 3 of the 6." in headline


def test_the_noise_of_means_is_that_of_their_difference():
    rng = np.random.default_rng(1)
    ours, theirs = rng.normal(0, 3.0, (100_000, 10)).mean(axis=1), rng.normal(0, 5.0, (100_000, 30)).mean(axis=1)
    assert deviations((3.0, 10), (5.0, 30)) == pytest.approx(2 * np.std(ours - theirs), rel=0.02)


def test_without_the_data_every_cell_says_so(monkeypatch):
    monkeypatch.delenv("FSOPT_DATA", raising=False)
    for name in ("sla-table1", "sla-features", "mop-table1", "l0mpm-table2", "l0mpm-table5", "gmeb-fig2", "mop-fig2"):
        found = EXPERIMENTS[name].function(RunSettings(quick=True, seed=77))
        assert found.cells
        assert all(one.verdict in ("no data", "left out") or one.row == "total" for one in found.cells), name
        assert not found.figures


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
    """Return made-up measures of Aytug: the loop is worse than FSV on instances 0, the exact search never is."""
    p, n, k = instance
    error = {"gbd": 0.1, "best-subset": 0.0, "fsv": 0.2 if k else 0.0}.get(method, 0.1)
    status, gap = {"gbd": ("feasible", 0.5), "best-subset": ("optimal", 0.0)}.get(method, ("feasible", None))
    found = {"instance": f"{p}-{n}-{k}", "method": method, "params": {}, "status": status, "gap": gap, "p": p, "m": 2}
    found |= {"n_features": 2, "validation_error": 0.0, "test_error": error, "overlap": p}
    return found | {"alignment": 0.995 + 0.0001 * k, "seconds": 1.0, "tuning_seconds": 8.0}


def test_the_printed_loop_alone_is_compared_with_the_print_as_a_share_of_the_instances(monkeypatch):
    monkeypatch.setattr(gbd, "measure", measures)
    monkeypatch.setattr(gbd, "gbd_set_one", lambda p, n, k: (p, n, k))
    monkeypatch.setattr(gbd, "gbd_set_two", lambda m, k, p, n: (p, m, k))
    cells = {(one.row, one.column): one for one in gbd.gbd_table2(RunSettings()).cells}
    # Of 23 instances, 5 with k = 0, as numbers of the 90 of the paper.
    shares = [cells["fsv", f"gbd {word}"].ours / 90 for word in ("better", "worse")]
    assert shares == pytest.approx([18 / 23, 5 / 23])
    assert cells["best-subset 50 x 500", "gbd worse"].ours == 2.0
    assert cells["gbd", "alignment"].printed == "0.9966"
    page = gbd.gbd_fig2(RunSettings())
    differences = {one.ours for one in page.cells if one.row.startswith("best") and one.column == "TE - TE(rfe)"}
    assert differences == {-0.1}
    assert "20 (1), 100 (1)" in page.notes[0]


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
    assert (cell_["verdict"], cell_["why"].partition(" before")[0]) == ("left out", "the time limit passed")
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
