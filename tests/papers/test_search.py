"""The search over the choices that a paper leaves open, on a table whose truth is known."""

import json
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from reproductions import run
from support import blobs

import fsopt
from fsopt.common.teams import side_by_side
from fsopt.errors import DataError, InfeasibleError, OutOfTimeError, ParameterError, WorkersLost
from fsopt.methods.mpm.feature_space import FeatureSpace
from fsopt.papers import registry
from fsopt.papers.mpm import readings, spam
from fsopt.papers.mpm.pairs import pairs_of, split_pairs, synthetic_pairs
from fsopt.papers.mpm.surfaces import MpmSurface
from fsopt.papers.registry import EXPERIMENTS
from fsopt.papers.reproduction import LATE, Experiment, Reproduction, RunSettings
from fsopt.papers.search import UNTIL_LATE, search
from fsopt.papers.verdicts import TableCell, cell, given
from fsopt.studies.store import opened

CHOICES = {"shift": (0, 3, 1), "factor": (1.0, 2.0), "idle": ("a", "b")}
PRINTED = ("1.00", "2.50", "7.00")
POINTS = np.array([-0.5, 0.25, 2.5])


def told(settings):
    """Return three cells that are the print at shift 1 and factor 2, one without a number there, and one never."""
    shift, factor, _ = settings.chosen(CHOICES).values()
    cells = [
        cell((str(k), "x"), value, print_, possible=(0.0, 10.0), noise=0.1)
        for k, (value, print_) in enumerate(zip(factor * (POINTS + shift), PRINTED, strict=True))
    ]
    taken = given(("3", "x"), "5") if shift else cell(("3", "x"), 10.0, "5", possible=(0.0, 10.0))
    return Reproduction((*cells, taken, TableCell("4", "x", None, "3", "left out")))


TABLE = Experiment("sla-table1", "sla", "a table", told, 0.1, choices=CHOICES)


def away(shift, factor):
    """Return the distances of the four compared cells by hand."""
    return [*abs(factor * (POINTS + shift) - [1.0, 2.5, 7.0]) / 10, 1.0 if shift else 0.5]


def test_the_search_finds_the_combination_that_made_the_print_by_one_choice_after_another(monkeypatch):
    monkeypatch.setattr("fsopt.papers.search.FEW", 11)
    found = search(TABLE, RunSettings())
    nearest = found.combinations[0]
    assert nearest.choices == {"shift": 1, "factor": 2.0, "idle": "a"}
    assert (nearest.agreed, found.cells) == (3, 4)
    tried = [(0, 1.0, "a"), (3, 1.0, "a"), (1, 1.0, "a"), (0, 2.0, "a"), (0, 2.0, "b")]  # shift stays at first
    tried += [(3, 2.0, "a"), (1, 2.0, "a"), (1, 2.0, "b")]
    assert {tuple(one.choices.values()) for one in found.combinations} == set(tried)
    for one in found.combinations:
        assert one.distance == pytest.approx(np.mean(away(one.choices["shift"], one.choices["factor"])))
    assert found.loss["shift"] == pytest.approx(min(np.mean(away(k, 2.0)) for k in (0, 3)) - nearest.distance)
    assert found.loss["factor"] == pytest.approx(np.mean(away(1, 1.0)) - nearest.distance)
    assert found.loss["idle"] == 0.0
    assert "Of 12 combinations of 3 choices 8 were tried: from" in found.sentences[1]
    assert found.sentences[2].startswith("It took 2 (shift, factor) of 3 choices with another value tried;")
    # A random table is the best of as many that are drawn from the possible numbers.
    rng = np.random.default_rng(5)
    random = abs(rng.uniform(0, 10, (20_000, 8, 4)) - [1.0, 2.5, 7.0, 5.0])
    assert found.random_distance == pytest.approx((random.mean(axis=2) / 10).min(axis=1).mean(), rel=0.02)


def test_of_few_combinations_all_are_tried_and_the_nearest_of_all_is_found():
    def hidden(settings):  # nearer only where both choices change
        shift, factor, _ = settings.chosen(CHOICES).values()
        ours = 0.0 if (shift, factor) == (3, 2.0) else 1.0 + bool(shift) + (factor > 1)
        return Reproduction((cell(("0", "x"), ours, "0.00", possible=(0.0, 10.0)),))

    table = replace(TABLE, function=hidden)
    found = search(table, RunSettings())
    assert found.combinations[0].choices == {"shift": 3, "factor": 2.0, "idle": "a"}
    assert found.sentences[1] == "Of 12 combinations of 3 choices 12 were tried."


def test_of_equal_combinations_the_first_is_kept_and_the_search_ends(monkeypatch):
    monkeypatch.setattr("fsopt.papers.search.FEW", 11)
    flat = replace(TABLE, function=lambda settings: told(RunSettings()))
    found = search(flat, RunSettings())
    assert found.combinations[0].choices == {"shift": 0, "factor": 1.0, "idle": "a"}
    assert len(found.combinations) == 1 + 2 + 1 + 1
    assert set(found.loss.values()) == {0.0}


def test_a_combination_without_an_answer_is_as_far_as_can_be():
    def fails(settings):
        if settings.chosen(CHOICES)["factor"] == 2.0:
            raise InfeasibleError("no hyperplane")
        return told(settings)

    found = search(replace(TABLE, function=fails), RunSettings())
    assert found.combinations[0].choices["factor"] == 1.0
    assert {one.distance for one in found.combinations if one.choices["factor"] == 2.0} == {1.0}


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
            if k == 4:
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


def test_a_search_whose_time_ends_shows_the_finished_combinations_and_goes_on(tmp_path):
    with opened(tmp_path / "kept.sqlite", write=True) as held:

        def ends(k, count):
            if k == 3:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            search(TABLE, RunSettings(store=held), ends)
        part = search(TABLE, RunSettings(store=held, ends=0.0))
        assert (len(part.combinations), part.ended, list(part.loss)) == (3, False, ["factor"])
        assert part.sentences[1].endswith("3 were tried" + UNTIL_LATE)
        whole = search(TABLE, RunSettings(store=held))
        assert whole.ended
        assert whole == search(TABLE, RunSettings())
    with pytest.raises(OutOfTimeError, match=LATE):
        search(TABLE, RunSettings(ends=0.0))


def test_a_table_without_choices_or_without_cells_is_refused():
    with pytest.raises(ParameterError, match=r"'gmeb-table4' has no choices to search: there are some of .*mop-table1"):
        search(EXPERIMENTS["gmeb-table4"], RunSettings())
    empty = Experiment("x", "sla", "nothing", lambda settings: Reproduction(), 0.1, choices=CHOICES)
    with pytest.raises(ParameterError, match="'x' has no number beside a printed one"):
        search(empty, RunSettings())


def test_the_verb_prints_the_nearest_combination_and_writes_its_page(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(registry, "EXPERIMENTS", {"sla-table1": TABLE, "mop-fig1": EXPERIMENTS["mop-fig1"]})
    out, _ = run(f"reproduce sla-table1 --search -o {tmp_path}", capsys)
    assert "shift 1, factor 2.0, idle a" in out
    page = (tmp_path / "sla-table1-search.md").read_text()
    nearest = "Nearest of 12 combinations: shift 1, factor 2.0, idle a; distance 0.2500, 3 of 4 cells agree."
    assert page.splitlines()[2] == nearest
    assert "| none | 0.2500 | 3 of 4 |" in page
    assert "| idle b | 0.2500 | 3 of 4 |" in page
    record = json.loads(run("reproduce sla-table1 --search --json", capsys)[0])
    assert record["combinations"][0]["choices"] == {"shift": 1, "factor": 2.0, "idle": "a"}
    for words in ("reproduce sla-table1 mop-fig1 --search", "reproduce --all --search"):
        assert "--search is for one table" in run(words, capsys, code=2)[1]
    words = "reproduce sla-table1 --search --jobs 2 --scheduler tcp://127.0.0.1:8786"
    assert "both --jobs and --scheduler are given" in run(words, capsys, code=2)[1]


def test_the_choices_of_the_tables_begin_with_those_of_the_pages():
    for name in ("gmeb-table3", "mop-table1", *(f"l0mpm-table{number}" for number in (3, 5, 6, 7))):
        one = EXPERIMENTS[name]
        defaults = {choice: values[0] for choice, values in one.choices.items()}
        assert RunSettings().chosen(one.choices) == defaults
        assert all(len(set(values)) == len(values) > 1 for values in one.choices.values())


def test_folds_are_of_equal_size_and_only_stratified_ones_have_the_class_shares():
    data = synthetic_pairs(1, n=63, n_test=20, p=10)[0][0]
    shares = {}
    for split, sizes in (("stratified", None), ("equal", {(48, 12)}), ("equal, rest in training", {(51, 12)})):
        pairs = split_pairs(data, 5, 0, split)
        rows = [{tuple(x) for x in test.X} for _, test in pairs]
        assert sum(map(len, rows)) == len(set.union(*rows)) == (63 if split == "stratified" else 60)
        for (train, _), tested in zip(pairs, rows, strict=True):
            assert not tested & {tuple(x) for x in train.X}
        assert sizes in (None, {(train.n, test.n) for train, test in pairs})
        shares[split] = [len(test.positive) for _, test in pairs]
    assert max(shares["stratified"]) - min(shares["stratified"]) <= 1
    assert max(shares["equal"]) - min(shares["equal"]) > 1


def test_folds_without_a_look_at_the_classes_have_both():
    y = np.where(np.arange(60) < 7, 1.0, -1.0)
    few = fsopt.Dataset(np.random.default_rng(0).normal(size=(60, 2)), y)
    assert {len(np.unique(test.y)) for _, test in split_pairs(few, 5, 0, "equal")} == {2}
    with pytest.raises(DataError, match="in none of 100 draws of 10 folds"):
        split_pairs(few, 10, 0, "equal")


def by_hand(data, chosen, method, share=None):
    """Return accuracy, MCC and number of features in each stratified fold, on features in [0, 1] / sqrt(p)."""
    rows = []
    for train, test in pairs_of(data, 3, 0):
        low, high = train.X.min(axis=0), train.X.max(axis=0)
        one, two = (part.with_X((part.X - low) / (high - low) / np.sqrt(data.p)) for part in (train, test))
        options = {"scale": "none", "ridge": 0.01}
        if share:
            options["delta"] = share * FeatureSpace.of(one, **options).limit.alpha
        fit = fsopt.fit(method, one, **options, **chosen)
        wrong = np.where(two.X @ fit.coef - fit.intercept >= 0, 1.0, -1.0)
        rows.append([100 * np.mean(wrong == two.y), 100 * len(fit.support) / data.p, fit.iterations])
    return np.array(rows).T


@pytest.mark.slow
def test_the_choices_of_yang_and_ju_reach_their_fits(monkeypatch):
    data = blobs(60, 4, seed=3)
    monkeypatch.setattr(readings, "load_set", lambda name, seed: data)
    chosen = {name: values[0] for name, values in readings.CHOICES.items()}
    chosen |= {"scale": "range", "ridge": 0.01, "sign": "w'x + b", "share": 0.7, "epsilon": 1e-3}
    found = readings.measured("pima", ("l0-mpm", "l1-mpm"), RunSettings(quick=True), chosen)
    for method, rest in (("l0-mpm", {"alpha": 5.0, "tolerance": 1e-3}), ("l1-mpm", {})):
        accuracy, shares, iterations = by_hand(data, rest, method, 0.7)
        np.testing.assert_allclose(found[method]["TSA"], accuracy)
        np.testing.assert_allclose(found[method]["PSF"], shares)
        np.testing.assert_allclose(found[method]["iterations"], iterations)
    whole = readings.measured("pima", ("l0-mpm",), RunSettings(quick=True), chosen | {"counts": "all samples"})[
        "l0-mpm"
    ]
    assert whole["PSF"].shape == (1,)
    np.testing.assert_array_equal(whole["TSA"], found["l0-mpm"]["TSA"])
    data = data.with_X(data.X * 1e-4)
    none = readings.measured("pima", ("s-mpm",), RunSettings(quick=True), chosen | {"scale": "none"})
    assert "the penalty leaves no weight" in none["s-mpm"]
    other = readings.measured("spambase", ("mpm",), RunSettings(quick=True), chosen | {"split": "equal"})
    assert isinstance(other["mpm"], dict)


def test_the_choices_of_table_2_reach_its_fits(monkeypatch):
    asked, data = [], blobs(200, 3)

    def surface(pairs, deltas, alphas, *, params, jobs):
        asked.append((deltas, len(pairs), params["ridge"], params["tolerance"]))
        grid = (np.sort(deltas), np.sort(alphas), True, np.ones(10), np.ones(5))
        counts = np.full((5, len(alphas)), 2.4)
        return MpmSurface(*grid, counts, *[counts] * 4, np.full_like(counts, 0.3))

    monkeypatch.setattr(spam, "load_set", lambda name, seed: data)
    monkeypatch.setattr(spam, "mpm_surface", surface)
    spam.l0mpm_table2(RunSettings(choices={"share": 0.45, "ridge": 0.01, "epsilon": 1e-3}))
    assert asked == [(pytest.approx([0.45, 0.35, 0.25, 0.15, 0.05]), 10, 0.01, 1e-3)]
    near = 2 * 0.3 / np.sqrt(10)
    for c in spam.l0mpm_table2(RunSettings()).cells:
        away = abs(float(c.printed) - 2.4)
        agrees = "equal" if away == 0.0 else "within noise" if away <= near else "our reading"
        assert (c.verdict, c.why) == (agrees, spam.MEANING[1] if agrees == "our reading" else "")


def test_tables_of_one_run_are_searched_together(monkeypatch):
    def beside(settings):
        shift, _, _ = settings.chosen(CHOICES).values()
        return Reproduction((cell(("a", "b"), 5.0 + shift, "6.00", possible=(0.0, 10.0)),))

    other, alone = replace(TABLE, name="other", function=beside), replace(TABLE, name="alone", choices=dict(CHOICES))
    monkeypatch.setattr("fsopt.papers.search.EXPERIMENTS", {"sla-table1": TABLE, "other": other, "alone": alone})
    found = search(TABLE, RunSettings())
    assert (found.tables, found.cells) == (("sla-table1", "other"), 5)
    for one in found.combinations:
        shift, factor, _ = one.choices.values()
        assert one.distance == pytest.approx(np.mean([*away(shift, factor), abs(shift - 1) / 10]))
    assert search(alone, RunSettings()).tables == ("alone",)
