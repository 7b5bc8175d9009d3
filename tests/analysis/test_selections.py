"""Paths over the number of features, alternatives and necessity, against all selections by brute force."""

import dataclasses
import itertools
import signal

import numpy as np
import pytest
from selection_cases import allowed_values
from support import blobs, exact_value

import fsopt
from fsopt.analysis import selection_questions
from fsopt.errors import ParameterError
from fsopt.search.branch_and_benders import driver
from fsopt.search.branch_and_benders.cuts import make_cut, valid_grid
from fsopt.search.branch_and_benders.driver import branch_and_benders
from fsopt.search.branch_and_benders.search import Enumeration

DATA, C = blobs(36, 6, seed=4), 2.0
VALUES = allowed_values(DATA, C, {})


def smallest(m):
    """Return the smallest value of at most m features."""
    return min(v for s, v in VALUES.items() if sum(s) <= m)


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "logistic"])
def test_a_path_over_two_parameters_has_the_optimum_of_every_pair_and_a_proof(loss):
    data, weights, numbers = blobs(24, 4, seed=4), [2.0, 0.02], [0, 1, 3]
    path = fsopt.selection_path(data, c=weights, m=numbers, scale="none", loss=loss, tolerance=1e-6)
    pairs = [(c, m) for c in sorted(weights) for m in numbers]
    assert [(row["c"], row["m"]) for row in path.to_records()] == pairs
    values = {c: allowed_values(data, c, {}, loss) for c in weights}
    best = [min(v for s, v in values[c].items() if sum(s) <= m) for c, m in pairs]
    np.testing.assert_allclose(path.objective, best, rtol=2e-6)
    np.testing.assert_allclose(path.bound, path.objective, rtol=2e-6, atol=2e-6)
    assert path.optimal.all()
    assert all(set(np.flatnonzero(cell.coef)) <= set(cell.support) for cell in path.cells)
    assert fsopt.verify(path, data, exact=True).word == "verified exactly"
    assert loss == "hinge" or loss in path.summary()
    assert "evidence" not in repr(path)  # kilobytes of encoded multipliers
    other = dataclasses.replace(path, loss="logistic" if loss == "hinge" else "hinge")
    assert not fsopt.verify(other, data).verified
    assert [line.get_label() for line in path.plot().axes[0].lines] == ["C = 0.02", "C = 2"]


def test_a_pair_begins_with_the_cuts_and_the_best_selection_of_the_pairs_before_it(monkeypatch):
    begun = []

    def recorded(problem, *, settings, run, seeds):
        begun.append((problem, settings.initial, seeds))
        return branch_and_benders(problem, settings=settings, run=run, seeds=seeds)

    monkeypatch.setattr(selection_questions, "branch_and_benders", recorded)
    path = fsopt.selection_path(DATA, c=[0.3, 2.0], m=[1, 2], scale="none")
    (_, *first), _, (_, below, seeds), (last, initial, both) = begun
    assert first == [None, []]
    assert tuple(np.flatnonzero(below)) == path.support[0]
    assert initial.sum() <= 2
    assert len(both) > len(seeds) > 0
    for k, grid in enumerate(both):  # whole multiples of 0.3 / 2^30 are taken as those of 2 / 2^30
        assert valid_grid(grid, last.y, last.tops)
        cut = make_cut(last, k, grid, np.zeros(1))
        assert all(cut.constant - cut.gains @ np.array(s) <= value + 1e-6 for s, value in VALUES.items())


def test_some_numbers_of_features_a_time_limit_and_records():
    path = fsopt.selection_path(blobs(150, 20, seed=1, gap=0.2), m=[8, 3, 3], time_limit=0.2)
    assert np.all(path.bound <= path.objective)
    assert np.all(np.diff(path.objective) <= 0)
    assert [record["m"] for record in path.to_records()] == [3, 8]
    found = fsopt.alternatives(blobs(40, 14, seed=1, gap=0.3), 7, within=10.0, time_limit=0.5)
    assert (found.heading["stop"], found.complete) == ("time-limit", False)


@pytest.mark.parametrize(("m", "within"), [(1, 0.5), (2, 0.0), (4, 0.05)])
def test_alternatives_are_all_selections_within_the_share(m, within):
    found = fsopt.alternatives(DATA, m, within=within, c=C, scale="none")
    limit = smallest(m) * (1 + within)
    expected = {s for s, v in VALUES.items() if sum(s) <= m and v <= limit * (1 - 1e-6)}
    possible = {s for s, v in VALUES.items() if sum(s) <= m and v <= limit * (1 + 1e-6)}
    selections = {tuple(int(j in support) for j in range(6)) for support in found.support}
    assert expected <= selections <= possible
    assert found.complete
    assert found.others.bound >= found.limit * (1 - 1e-9)
    assert found.optimum == pytest.approx(smallest(m), rel=2e-6)
    np.testing.assert_allclose(found.objective, sorted(VALUES[s] for s in selections), rtol=1e-5)


@pytest.mark.parametrize("count", [1, 12])
def test_the_best_selections_are_the_best_of_all(count):
    found = fsopt.alternatives(DATA, 3, within=10.0, count=count, c=C, scale="none")
    best = sorted(v for s, v in VALUES.items() if sum(s) <= 3)[:count]
    np.testing.assert_allclose(found.objective, best, rtol=1e-5)
    assert found.complete


def test_alternatives_of_an_interrupted_search_say_so(monkeypatch, usual_interruption):
    def begin(*given):
        signal.raise_signal(signal.SIGINT)
        return root(*given)

    root = driver.begin
    monkeypatch.setattr(driver, "begin", begin)
    monkeypatch.setattr(Enumeration, "run", None)  # the second search does not go on where the first was ended
    data = blobs(150, 24, seed=1, gap=0.2)
    found = fsopt.alternatives(data, 8, within=0.5)
    assert (found.heading["stop"], found.complete, len(found.cells)) == ("interrupted", False, 1)
    assert fsopt.verify(found, data).verified
    assert found.others.bound < found.optimum


REFUSED = [
    *((question, {"m": m}, "'m'") for question in (fsopt.alternatives, fsopt.necessity) for m in (0, 7, 1.5)),
    *((fsopt.selection_path, {"m": m}, "m") for m in ([7], [], [-1])),
    *((fsopt.selection_path, {"c": c}, "c") for c in (0.0, [], [1.0, -1.0], "x")),
    (fsopt.selection_path, {"loss": "log"}, "hinge"),
    (fsopt.selection_path, {"positive": ["x9"]}, "names 'x9', which is no feature"),
    (fsopt.alternatives, {"m": 2, "positive": ["x9"]}, "names 'x9', which is no feature"),
    *((fsopt.pareto_front, {"caps": c}, "cap") for c in ((), (0.0,), ("a",))),
]


@pytest.mark.parametrize(("question", "given", "words"), REFUSED)
def test_a_wrong_question_is_refused(question, given, words):
    with pytest.raises(ParameterError, match=words):
        question(DATA, **given)


RULES = {"groups": {"pair": ["x1", "x4"]}, "positive": ["x2"], "upper": {"x1": 0.3, "x2": 0.5}, "lower": {"x3": -0.1}}
NAMES = ("pair", "x2", "x3", "x5", "x6")
ENDS = (np.array([-np.inf, 0.0, -0.1, *[-np.inf] * 3]), np.array([0.3, 0.5, *[np.inf] * 4]))
GROUPED = {
    s: exact_value(DATA, np.array(s)[[0, 1, 2, 0, 3, 4]], C, "hinge", *ENDS)
    for s in itertools.product((0, 1), repeat=5)
}


@pytest.mark.slow
def test_questions_about_groups_and_bounds_have_the_answers_of_enumeration():
    best = {m: min(v for s, v in GROUPED.items() if sum(s) <= m) for m in range(6)}
    path = fsopt.selection_path(DATA, c=C, m=[1, 3], scale="none", tolerance=1e-6, **RULES)
    np.testing.assert_allclose(path.objective, [best[1], best[3]], rtol=2e-6)
    found = fsopt.alternatives(DATA, 2, within=0.2, c=C, scale="none", **RULES)
    assert found.features == NAMES
    near = {s: v for s, v in GROUPED.items() if sum(s) <= 2 and v <= 1.2 * best[2] * (1 + 1e-8)}
    assert {tuple(int(j in support) for j in range(5)) for support in found.support} == set(near)
    needed = fsopt.necessity(DATA, 2, c=C, scale="none", tolerance=1e-6, **RULES)
    sides = needed.to_frame().set_index("feature")
    for j in range(5):
        values = [min(v for s, v in GROUPED.items() if sum(s) <= 2 and s[j] == chosen) for chosen in (0, 1)]
        np.testing.assert_allclose(sides.loc[NAMES[j], ["without", "with_feature"]], values, rtol=2e-6)
        assert bool(needed.needed[j]) == (values[0] > best[2] * (1 + 1e-5))
    for answer in (path, found, needed):
        assert fsopt.verify(answer, DATA, exact=True).word == "verified exactly"
        for wrong in ({**RULES, "groups": {"pair": ["x1", "x5"]}}, {**RULES, "upper": {"x1": 0.2, "x2": 0.5}}):
            assert not fsopt.verify(dataclasses.replace(answer, rules=wrong), DATA).verified


def test_the_front_is_convex_has_the_c_svms_of_its_slopes_and_the_bounds_of_the_fits():
    front = fsopt.pareto_front(DATA, (12.0, 0.2, 4.0), scale="none")
    x, loss, gamma = (front[name] for name in ("capacity", "objective", "gamma"))
    assert x == pytest.approx([0.2, 4.0, 12.0])
    assert np.all(np.diff(np.diff(loss) / np.diff(x)) > 0)
    assert loss - front["bound"] == pytest.approx(np.zeros(3), abs=1e-6 * loss[0])
    for k in range(3):
        value = fsopt.solve(fsopt.build("svm", DATA, c=1 / gamma[k])).objective
        assert 0.5 * x[k] + loss[k] / gamma[k] == pytest.approx(value, rel=1e-6)
        slacks = 1 - DATA.y * (DATA.X @ front["coef"][k] + front["intercept"][k])
        assert np.maximum(0, slacks).sum() == pytest.approx(loss[k], rel=1e-6)
    assert front.chosen == np.argmin(np.abs(front["h_over_l"] - 0.1))
    points, star = front.plot().axes[0].lines
    assert (points.get_xdata().tolist(), star.get_xdata()) == (x.tolist(), [x[front.chosen]])
