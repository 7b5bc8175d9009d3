"""The search over the choices that a paper leaves open, on a table whose truth is known."""

import json
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from reproductions import run
from support import blobs

from fsopt.common.teams import side_by_side
from fsopt.errors import OutOfTimeError, ParameterError, WorkersLost
from fsopt.papers import registry
from fsopt.papers.mpm import spam
from fsopt.papers.mpm.pairs import split_pairs, synthetic_pairs
from fsopt.papers.registry import EXPERIMENTS
from fsopt.papers.reproduction import LATE, Experiment, Reproduction, RunSettings
from fsopt.papers.search import search
from fsopt.papers.verdicts import TableCell, cell, given
from fsopt.studies.store import opened

CHOICES = {"shift": (0, 3, 1), "factor": (1.0, 2.0), "idle": ("a", "b")}
PRINTED = ("1.00", "2.50", "7.00")


def told(settings):
    """Return three cells that are the print at shift 1 and factor 2, and two that no search may count."""
    shift, factor, _ = settings.chosen(CHOICES).values()
    ours = [factor * (x + shift) for x in (-0.5, 0.25, 2.5)]
    cells = [
        cell((str(k), "x"), value, print_, possible=(0.0, 10.0), noise=0.1)
        for k, (value, print_) in enumerate(zip(ours, PRINTED, strict=True))
    ]
    taken = given(("3", "x"), "5") if shift else cell(("3", "x"), 9.0, "5", possible=(0.0, 10.0))
    return Reproduction((*cells, taken, TableCell("4", "x", None, "3", "left out")))


TABLE = Experiment("sla-table1", "sla", "a table", told, 0.1, choices=CHOICES)


def test_the_search_finds_the_combination_that_made_the_print():
    found = search(TABLE, RunSettings())
    nearest = found.combinations[0]
    assert nearest.choices == {"shift": 1, "factor": 2.0, "idle": "a"}
    assert (nearest.distance, nearest.agreed, found.cells) == (0.0, 3, 3)
    assert len(found.combinations) == 12
    by_hand = {
        (shift, factor): np.mean(abs(factor * (np.array([-0.5, 0.25, 2.5]) + shift) - [1.0, 2.5, 7.0])) / 10
        for shift in (0, 3, 1)
        for factor in (1.0, 2.0)
    }
    for one in found.combinations:
        assert one.distance == pytest.approx(by_hand[one.choices["shift"], one.choices["factor"]])
    assert found.loss["shift"] == pytest.approx(min(by_hand[0, 2.0], by_hand[3, 2.0]))
    assert found.loss["factor"] == pytest.approx(by_hand[1, 1.0])
    assert found.loss["idle"] == 0.0
    assert "took 2 of 3 free choices (shift, factor)" in found.sentences[1]
    # A random table is the best of as many that are drawn from the possible numbers.
    away = abs(np.random.default_rng(5).uniform(0, 10, (20_000, 12, 3)) - [1.0, 2.5, 7.0])
    assert found.random_distance == pytest.approx((away.mean(axis=2) / 10).min(axis=1).mean(), rel=0.02)
    agreed = (away <= 0.1).sum(axis=2).max(axis=1).mean()
    assert found.random_agreed == pytest.approx(agreed, abs=0.02)


PLACES: list[int] = []


def told_by_others(settings):
    """Return the outcome of :func:`told`, computed where the settings say, and note where that was."""
    calls = [(RunSettings(choices=settings.choices),)]
    [(outcome, process)] = side_by_side(lambda one: (told(one), os.getpid()), calls, 1)
    PLACES.append(process)
    return outcome


def test_a_search_is_the_same_by_every_executor_and_goes_on_after_the_loss_of_one(tmp_path):
    wanted, elsewhere = search(TABLE, RunSettings()), replace(TABLE, function=told_by_others)
    for make, here in ((ThreadPoolExecutor, True), (ProcessPoolExecutor, False)):
        PLACES.clear()
        with make(2) as executor:
            assert search(elsewhere, RunSettings(executor=executor)) == wanted
        assert len(PLACES) == len(wanted.combinations)
        assert ({os.getpid()} == set(PLACES)) == here
    PLACES.clear()
    with opened(tmp_path / "kept.sqlite", write=True) as held, ProcessPoolExecutor(1) as executor:

        def ends(k, count):
            if k == 5:
                for process in list(executor._processes.values()):
                    process.kill()

        with pytest.raises(WorkersLost):
            search(elsewhere, RunSettings(store=held, executor=executor), ends)
    with opened(tmp_path / "kept.sqlite", write=True) as held, ProcessPoolExecutor(1) as executor:
        assert search(elsewhere, RunSettings(store=held, executor=executor)) == wanted
    assert len(PLACES) == len(wanted.combinations)


def test_a_table_that_its_time_cut_short_is_not_kept_as_a_whole_one(tmp_path):
    def cut(settings):
        whole = told(settings).cells
        try:
            return Reproduction((settings.part("a part", lambda: whole[0].row) and whole[0], *whole[1:]))
        except OutOfTimeError as error:
            return Reproduction((TableCell("0", "x", None, "1.00", "left out", error.message), *whole[1:]))

    class Late(RunSettings):
        """The time of the search has not ended, that of its parts has."""

        def part(self, experiment, compute, **arguments):
            if experiment == "a part":
                raise OutOfTimeError(LATE, "more seconds")
            return super().part(experiment, compute, **arguments)

    table = replace(TABLE, function=cut)
    with opened(tmp_path / "kept.sqlite", write=True) as held:
        with pytest.raises(OutOfTimeError, match=LATE):
            search(table, Late(store=held))
        assert search(table, RunSettings(store=held)) == search(TABLE, RunSettings())


def test_a_table_without_choices_or_without_cells_is_refused():
    with pytest.raises(ParameterError, match=r"'gmeb-table4' has no choices to search: there are some of .*mop-table1"):
        search(EXPERIMENTS["gmeb-table4"], RunSettings())
    empty = Experiment("x", "sla", "nothing", lambda settings: Reproduction(), 0.1, choices=CHOICES)
    with pytest.raises(ParameterError, match="no cell of 'x' is computed"):
        search(empty, RunSettings())


def test_the_verb_prints_the_nearest_combination_and_writes_its_page(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(registry, "EXPERIMENTS", {"sla-table1": TABLE, "mop-fig1": EXPERIMENTS["mop-fig1"]})
    out, _ = run(f"reproduce sla-table1 --search -o {tmp_path}", capsys)
    assert "shift 1, factor 2.0, idle a" in out
    page = (tmp_path / "sla-table1-search.md").read_text()
    nearest = "Nearest of 12 combinations: shift 1, factor 2.0, idle a; distance 0.0000, 3 of 3 cells agree."
    assert page.splitlines()[2] == nearest
    assert "| 1 | 2.0 | a | 0.0000 | 3 of 3 |" in page
    record = json.loads(run("reproduce sla-table1 --search --json", capsys)[0])
    assert record["combinations"][0]["choices"] == {"shift": 1, "factor": 2.0, "idle": "a"}
    for words in ("reproduce sla-table1 mop-fig1 --search", "reproduce --all --search"):
        assert "--search is for one table" in run(words, capsys, code=2)[1]
    words = "reproduce sla-table1 --search --jobs 2 --scheduler tcp://127.0.0.1:8786"
    assert "both --jobs and --scheduler are given" in run(words, capsys, code=2)[1]


def test_the_choices_of_the_tables_begin_with_those_of_the_pages():
    for name in ("gmeb-table3", "mop-table1", *(f"l0mpm-table{number}" for number in (2, 3, 5, 6, 7))):
        one = EXPERIMENTS[name]
        defaults = {choice: values[0] for choice, values in one.choices.items()}
        assert RunSettings().chosen(one.choices) == defaults
        assert all(len(set(values)) == len(values) > 1 for values in one.choices.values())


def test_folds_are_of_equal_size_and_only_stratified_ones_have_the_class_shares():
    data = synthetic_pairs(1, n=60, n_test=20, p=10)[0][0]
    shares = {}
    for split in ("stratified", "random"):
        pairs = split_pairs(data, 5, 0, split)
        tested = np.vstack([test.X for _, test in pairs])
        np.testing.assert_array_equal(np.sort(tested, axis=0), np.sort(data.X, axis=0))
        assert {(train.n, test.n) for train, test in pairs} == {(48, 12)}
        shares[split] = [len(test.positive) for _, test in pairs]
    assert max(shares["stratified"]) - min(shares["stratified"]) <= 1
    assert max(shares["random"]) - min(shares["random"]) > 1


def test_the_choices_of_table_2_reach_its_fits(monkeypatch):
    asked, data = set(), blobs(200, 3)

    def surface(pairs, deltas, alphas, *, shares, params, jobs):
        asked.add((len(pairs[0][1].positive), shares, params["scale"]))
        grid = {"deltas": np.sort(deltas), "alphas": np.sort(alphas), "shares": shares, "limits": np.ones(10)}
        counts = {"n_features": np.full((5, 6), 2.4), "n_features_sd": np.full((5, 6), 0.3)}
        return SimpleNamespace(**grid, **counts, plot=lambda: None)

    monkeypatch.setattr(spam, "load_set", lambda name, seed: data)
    monkeypatch.setattr(spam, "mpm_surface", surface)
    found = search(EXPERIMENTS["l0mpm-table2"], RunSettings())
    assert len(found.combinations) == len(asked) == 8
    cells = spam.l0mpm_table2(RunSettings(choices={"delta": "share"})).cells
    near = 2 * 0.3 / np.sqrt(10)
    for c in cells:
        away = abs(float(c.printed) - 2.4)
        agrees = "equal" if away == 0.0 else "within noise" if away <= near else "our reading"
        assert (c.verdict, c.why) == (agrees, spam.MEANING[1] if agrees == "our reading" else "")
    assert {c.verdict for c in cells} == {"equal", "within noise", "our reading"}


def test_tables_of_one_run_are_searched_together(monkeypatch):
    def beside(settings):
        shift, _, _ = settings.chosen(CHOICES).values()
        return Reproduction((cell(("a", "b"), 5.0 + shift, "6.00", possible=(0.0, 10.0)),))

    other, alone = replace(TABLE, name="other", function=beside), replace(TABLE, name="alone", choices=dict(CHOICES))
    monkeypatch.setattr("fsopt.papers.search.EXPERIMENTS", {"sla-table1": TABLE, "other": other, "alone": alone})
    found, apart = (
        search(TABLE, RunSettings()),
        {one.choices["shift"]: one for one in search(alone, RunSettings()).combinations},
    )
    assert (found.tables, found.cells) == (("sla-table1", "other"), 4)
    assert found.combinations[0].choices["shift"] == 1
    for one in found.combinations:
        if one.choices["factor"] == apart[one.choices["shift"]].choices["factor"]:
            own = abs(one.choices["shift"] - 1) / 10
            assert one.distance == pytest.approx((3 * apart[one.choices["shift"]].distance + own) / 4)
