"""Reproductions: verdicts, printed numbers in data files, and every experiment that draws its own data runs."""

import json
import re
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest
from reproductions import needs_data, papers_data, run  # noqa: F401
from support import ROOT

import fsopt
from fsopt.errors import SolverError
from fsopt.papers import registry
from fsopt.papers.gbd import experiments as gbd
from fsopt.papers.gmeb import experiments as gmeb
from fsopt.papers.mpm import figures
from fsopt.papers.mpm.readings import synthetic_pairs
from fsopt.papers.pages import beside_random, fuller, markdown, overview, read_saved, saved, sentence, with_agreement
from fsopt.papers.registry import EXPERIMENTS
from fsopt.papers.reproduction import Reproduction, RunSettings
from fsopt.papers.sla.experiments import MEASURED, OTHER_CODINGS
from fsopt.papers.verdicts import VERDICTS, TableCell, random_agreements
from fsopt.studies.running import opened

OPEN = ExitStack()  # a store is closed with what opened it
QUICK = RunSettings(quick=True, store=OPEN.enter_context(opened(None)))


def test_without_the_data_every_cell_says_so(monkeypatch):
    monkeypatch.delenv("FSOPT_DATA", raising=False)
    for name in ("sla-table1", "sla-features", "mop-table1", "l0mpm-table2", "l0mpm-table5", "gmeb-fig2", "mop-fig2"):
        found = EXPERIMENTS[name].function(RunSettings(quick=True, seed=77))
        assert found.cells
        assert all(one.verdict in ("no data", "left out") for one in found.cells), name
        assert not found.figures


@pytest.mark.slow
@needs_data
@pytest.mark.usefixtures("papers_data")
def test_table_1_of_mangasarian_agrees_and_a_reading_from_hindsight_is_no_agreement():
    found = EXPERIMENTS["sla-table1"].function(QUICK).cells
    assert {(c.row, c.column) for c in found if c.verdict == "differs"} == {("pima", "pmm")}
    odd = {c.row for c in found if c.verdict == "odd"}
    assert odd == {"wbcd", "cleveland", "ionosphere", "bupa", "votes"}
    uncounted = {(c.row, c.column) for c in found if c.verdict == "not counted"}
    second = {(row, c) for row in OTHER_CODINGS for c in MEASURED}
    assert uncounted == second | {(c.row, c.column) for c in found if c.column in "mkn" and c.verdict != "no data"}
    by_order = {c.row for c in found if c.column == "pmm" and c.spread}
    assert {"tictactoe x,o,b = 1,2,3"} <= by_order <= {"tictactoe x,o,b = 1,2,3", "tictactoe", "votes", "wbcd"}


@pytest.mark.slow
def test_the_verb_writes_a_page_and_figures(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out, _ = run("reproduce mop-fig1 l0mpm-table4 --quick -o results --json", capsys)
    record = json.loads(out)
    assert [one["name"] for one in record["experiments"]] == ["mop-fig1", "l0mpm-table4"]
    pictures = ("l0mpm-table4-agreement", "mop-fig1-fig1", "overview")
    files = {f"{name}.svg" for name in pictures}
    files |= {f"{name}.{kind}" for name in ("l0mpm-table4", "mop-fig1") for kind in ("md", "json")}
    files |= {"overview.md", "verdicts.json"}
    assert {p.name for p in (tmp_path / "results").iterdir()} == files
    page = (tmp_path / "results" / "overview.md").read_text()
    assert page.splitlines()[2] == "Of 4 printed numbers none is reproduced; 4 are errata of the paper."
    assert "l0mpm-table4.md" in page
    assert "mop-fig1" not in page
    page = (tmp_path / "results" / "l0mpm-table4.md").read_text()
    assert page.splitlines()[4] == "![agreement](l0mpm-table4-agreement.svg)"
    assert "erratum" in page
    out, _ = run("reproduce l0mpm-table4 --quick -o again", capsys)
    assert "4 erratum" in out
    for picture in (tmp_path / "again").glob("*.svg"):
        assert picture.read_bytes() == (tmp_path / "results" / picture.name).read_bytes(), picture.name


def test_a_killed_reproduction_goes_on_where_its_store_has_parts(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    calls = []

    def drawn(method, m, k, p, n, jobs):
        calls.append((method, m, k))
        if len(calls) == 5:
            raise KeyboardInterrupt
        return m / p + len(method), float("inf"), None

    monkeypatch.setattr(gbd, "_set_two", drawn)
    _, err = run("reproduce gbd-fig2 --quick --store kept.sqlite", capsys, code=130)
    assert "interrupted in gbd-fig2" in err
    pages = [run("reproduce gbd-fig2 --quick --store kept.sqlite --json", capsys)[0] for _ in range(2)]
    assert len(calls) == 12 + 1  # three numbers of features by four methods, and the one that was interrupted
    assert len(set(calls)) == 12
    first, again = (json.loads(page)["experiments"][0]["cells"] for page in pages)
    assert first == again


def made_up(monkeypatch, error, count):
    """Give the methods of Table 3 of Peleg & Meir a made-up error rate and number of features."""
    monkeypatch.setattr(gmeb, "_drawn_scores", lambda method, *rest: (error, count(method)))


def test_after_the_time_limit_a_table_shows_the_parts_that_its_store_has(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made_up(monkeypatch, 0.2, len)
    command = "reproduce gmeb-table3 --quick --store kept.sqlite --json"
    monkeypatch.setattr(gmeb, "METHODS", ("svm", "gmeb"))
    run(command, capsys)
    monkeypatch.setattr(gmeb, "METHODS", ("svm", "l1-svm", "gmeb"))
    limited = f"{command} --time-limit 0 -o pages"
    cells = json.loads(run(limited, capsys)[0])["experiments"][0]["cells"]
    words = "fsopt reproduce gmeb-table3 --quick --time-limit 0 --store kept.sqlite"
    page = (tmp_path / "pages" / "gmeb-table3.md").read_text("utf-8").splitlines()
    assert page[6].startswith(f"Made by `{words}`. Its 4 parts took ")
    found = {(c["row"], c["column"]): c for c in cells if "n=20" in c["row"]}
    assert [found[f"{m} n=20", "features"]["ours"] for m in ("svm", "l1-svm", "gmeb")] == [3.0, None, 4.0]
    assert found["l1-svm n=20", "error"]["why"] == "the time limit passed"
    [cell] = json.loads(run("reproduce gbd-table2 --time-limit 0 --json", capsys)[0])["experiments"][0]["cells"]
    assert (cell["verdict"], cell["why"].partition(":")[0]) == ("left out", "the time limit passed")


def test_a_page_stays_where_a_run_has_fewer_cells_or_fewer_parts(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made_up(monkeypatch, 0.2, lambda method: 3)
    monkeypatch.setattr(gmeb, "METHODS", ("svm", "gmeb"))
    command = "reproduce gmeb-table3 --quick -o pages"
    run(command, capsys)
    files = {path: path.read_bytes() for path in (tmp_path / "pages").iterdir()}
    _, err = run(f"{command} --time-limit 0", capsys)
    assert "gmeb-table3.json' stays: it has more than this run" in err
    assert {path: path.read_bytes() for path in (tmp_path / "pages").iterdir()} == files
    made_up(monkeypatch, 0.3, lambda method: 3)
    _, err = run(command, capsys)
    assert "stays" not in err
    page = tmp_path / "pages" / "gmeb-table3.md"
    assert page.read_bytes() != files[page]
    page.with_suffix(".json").unlink()
    run(f"{command} --time-limit 0", capsys)
    assert "were not computed" in page.read_text("utf-8")
    counts = json.loads((tmp_path / "pages" / "verdicts.json").read_text("utf-8"))["gmeb-table3"]
    assert "parts" not in counts
    assert fuller({"equal": 1, "parts": 3}, {"within noise": 1, "left out": 2, "parts": 2})
    assert not fuller({"equal": 1, "parts": 3}, {"differs": 1, "parts": 3})
    assert not fuller({"equal": 1, "parts": 3}, {"equal": 1, "no number": 1, "parts": 1})


def test_wrong_words_are_one_line_and_the_list_names_all(capsys):
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


def test_an_experiment_that_fails_is_a_cell_and_the_others_go_on(capsys, monkeypatch):
    def fail(settings):
        raise SolverError("no solver", "install one")

    broken = replace(EXPERIMENTS["mop-fig1"], function=fail)
    monkeypatch.setattr(registry, "EXPERIMENTS", {"mop-fig1": broken, "l0mpm-table4": EXPERIMENTS["l0mpm-table4"]})
    out, err = run("reproduce --all --json", capsys, code=1)
    assert "mop-fig1 failed: no solver" in err
    assert [one["verdicts"] for one in json.loads(out)["experiments"]] == [
        {"left out": 1},
        {"erratum": 4, "not counted": 26},
    ]


def test_a_file_of_verdicts_that_is_something_else_is_one_line(tmp_path, capsys):
    for content in ("no json", "[1]", '{"mop-fig1": 3}'):
        (tmp_path / "verdicts.json").write_text(content)
        _, err = run(f"reproduce mop-fig1 -o {tmp_path}", capsys, code=2)
        assert "holds no verdicts of reproductions" in err
        assert (tmp_path / "verdicts.json").read_text() == content


def recounted(page, agree):
    """Return what random tables of the numbers of a page have, having checked its sentence on them and its verdicts."""
    lines = page.splitlines()
    tables = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    if not any("accepted" in row for row in tables):
        assert "in another order within each column" not in page
        return {}
    rows = [dict(zip(tables[0], row, strict=True)) for row in tables[2:]]
    kept = [row for row in rows if row["difference"] and not row["verdict"].startswith("not counted")]
    cells = [
        (row["column"], float(row["ours"].split(" ± ")[0]), float(row["printed"]), float(row["accepted"] or "nan"))
        for row in kept
    ]
    mean, best = random_agreements([(*cell[:3], None if np.isnan(cell[3]) else cell[3]) for cell in cells])
    [told] = [line for line in lines if "in another order within each column" in line]
    assert told.startswith(f"{agree} cell")
    assert told.endswith(f"column {mean:.1f} do on average, {best} in the best.")
    return {"random mean": mean, "random best": best}


def test_random_tables_have_the_cells_without_an_interval_of_possible_answers_that_are_counted():
    one = {"column": "n", "ours": 1.0, "printed": "1", "accepted": 0.0, "possible": None, "difference": 0.0}
    others = [{**one, "verdict": "not counted"}, {**one, "ours": None, "difference": None, "verdict": "no data"}]
    assert beside_random([{**one, "verdict": "equal"}, *others]) == {"random mean": 1.0, "random best": 1}


def committed(name):
    """Return the page that the site has of an experiment."""
    text = (ROOT / "docs" / "results" / f"{name}.json").read_text(encoding="utf-8")
    assert saved(read_saved(text)) == text
    return markdown(read_saved(text))


def test_the_committed_pages_begin_with_the_counts_of_their_cells_and_the_overview_has_them_all():
    folder = ROOT / "docs" / "results"
    found = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
    assert set(found) == set(EXPERIMENTS)
    for name, numbers in found.items():
        verdicts = {word: number for word, number in numbers.items() if word in VERDICTS}
        page = committed(name)
        assert page.splitlines()[2] == sentence(verdicts)
        ends = [
            line.split(" | ")[-1].removesuffix(" |").split(":")[0] for line in page.splitlines() if line[:2] == "| "
        ]
        cells = [word for word in ends if word in VERDICTS]
        assert {word: cells.count(word) for word in cells} == verdicts, name
        agree = verdicts.get("equal", 0) + verdicts.get("within noise", 0)
        found_there = {"random mean": numbers.get("random mean"), "random best": numbers.get("random best")}
        assert recounted(page, agree) == {key: value for key, value in found_there.items() if value is not None}, name
    assert overview(found)[0] == (folder / "overview.md").read_text(encoding="utf-8")


def minutes_of(name):
    """Return the minutes that the page of an experiment states, 0 for less than a second."""
    took = re.search(r"took (?:([\d.]+) (minutes|seconds)|less than a second)\.$", committed(name), re.MULTILINE)
    return float(took[1] or 0.0) / {"minutes": 1.0, "seconds": 60.0, None: 1.0}[took[2]]


SAME_PARTS = {"gbd-fig1": "gbd-table2", "gmeb-fig2": "gmeb-table4"}
"""Experiments whose parts are those of another one, in whose time they are."""


def test_the_inventory_has_the_time_that_the_pages_state_in_all():
    minutes = sum(minutes_of(name) for name in EXPERIMENTS if name not in SAME_PARTS)
    text = " ".join((ROOT / "docs" / "inventory.md").read_text(encoding="utf-8").split())
    assert f"by the times on their pages {minutes / 60.0:.1f} hours in all" in text


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name not in SAME_PARTS])
def test_the_listed_minutes_of_an_experiment_are_those_of_its_page(name):
    stated, listed = minutes_of(name), EXPERIMENTS[name].minutes
    assert abs(listed - stated) <= max(0.1, 0.1 * stated)


def test_the_numbers_of_figures_2_and_3_of_aytug_in_the_text_are_those_of_their_page():
    text = (ROOT / "docs" / "gbd.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| (.*?) \| (.*?) \| (\d[\d.e-]*) ", committed("gbd-fig2"), re.MULTILINE)
    found = {(row, column): float(number) for row, column, number in cells}
    columns = [(name, "test error") for name in gbd.DRAWN_TWO] + [(name, "gap") for name in gbd.REFERENCES]
    rows = re.findall(r"^\| (\d+) ((?:\| \.?\d+ ){6})\|$", text, re.MULTILINE)
    assert [int(m) for m, _ in rows] == [20, 100, 200, 400, 600]
    for m, numbers in rows:
        for (method, column), told in zip(columns, numbers.strip("| ").split(" | "), strict=True):
            assert f"{found[f'{method} M={m}', column]:.{len(told.partition('.')[2])}f}".lstrip("0") == told


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


def test_features_of_mpm_are_counted_by_a_share_of_the_largest_weight(monkeypatch):
    pairs = synthetic_pairs(3, n=30, n_test=5, p=60)
    weights = [np.abs(fsopt.fit("mpm", train).coef) for train, _ in pairs]
    by_hand = [np.count_nonzero(w >= 0.3 * w.max()) for w in weights]
    monkeypatch.setattr(figures, "COUNTED", (0.0, 0.3))
    assert figures._large_weights(pairs) == [[np.count_nonzero(w) for w in weights], by_hand]
    printed = {str(k + 1): str(int(number) + 1) for k, number in enumerate(by_hand)}
    found = figures._list_cells("mpm", np.array(by_hand, float), {**printed, "4": "7"}, pairs[0][0])
    assert [(c.ours, c.difference) for c in found[:3]] == [(number, -1) for number in by_hand]
    assert (found[3].ours, found[3].verdict, found[0].possible) == (None, "left out", (0.0, 60.0))
    far = figures._list_cells("mpm", np.array([60.0, 59.0, 60.0]), {"1": "10", "2": "11", "3": "12"}, pairs[0][0])
    assert {(c.verdict, c.why) for c in far} == {("our reading", "the rule of counting is not printed")}
