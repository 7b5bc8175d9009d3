"""``fsopt.select``: the number of features, what is said of the selection, and what of it is kept."""

from __future__ import annotations

import json
import signal
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from selection_cases import exact_value
from support import blobs

import fsopt
from fsopt.algorithms.branch_and_benders import driver
from fsopt.analysis import selecting
from fsopt.analysis.held_out import choose, numbers_of_features, path_scores
from fsopt.analysis.resampling import displaced_by_permuted, score_of_selection, selected_of_halves
from fsopt.analysis.selection_answers import in_words
from fsopt.answers.records import sealed
from fsopt.data.scores import measures
from fsopt.data.splits import stratified_folds, train_and_test
from fsopt.errors import FileError, ParameterError
from fsopt.methods.calibration import held_out_scores, sigmoid_of


def with_noise(n=80, noise=3, seed=3):
    """Return two features that tell the classes apart, and columns of noise."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = np.column_stack([y + 0.8 * rng.standard_normal((n,)) for _ in range(2)] + [rng.standard_normal((n, noise))])
    return fsopt.Dataset(X, y, ["a", "b", *(f"noise{k}" for k in range(noise))])


DATA = with_noise()
GIVEN = {"c": 1.0, "folds": 2, "jobs": 1}


@pytest.fixture(scope="module")
def forced():
    """The answer for a number of features that takes noise in, after ten pairs of halves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selecting, "PAIRS", 10)
        return fsopt.select(DATA, features=4, **GIVEN)


def test_the_rules_choose_the_best_score_and_the_smallest_number_within_one_error():
    # Means 0.70, 0.80, 0.84, 0.84; the standard error of the best, over two folds, is 0.05.
    table = np.array([[[0.70, 0.75, 0.79, 0.80], [0.70, 0.85, 0.89, 0.88]]])
    assert choose(table, [1, 2, 4, 8], [1.0], "min").m == 4
    found = choose(table, [1, 2, 4, 8], [1.0], "one-se")
    assert (found.m, found.best) == (2, 2)
    assert found.means == pytest.approx([0.70, 0.80, 0.84, 0.84])
    assert found.errors[2] == pytest.approx(0.05)
    two = np.stack([table[0], table[0] + np.array([0.1, -0.1, 0.0, 0.0])])
    assert choose(two, [1, 2, 4, 8], [0.1, 1.0], "min").weights == (1.0, 0.1, 0.1, 0.1)


def test_the_numbers_that_are_tried_end_with_all_features():
    assert numbers_of_features(3) == [1, 2, 3]
    assert numbers_of_features(30) == [1, 2, 3, 4, 5, 6, 8, 11, 15, 20, 27, 30]
    assert numbers_of_features(5000)[-1] == 50


def test_the_scores_of_a_path_are_those_of_the_proved_selections_of_the_training_samples():
    data, numbers = blobs(40, 4), [1, 2, 4]
    fold = stratified_folds(data, 3, 0)[1]
    train, test = train_and_test(data, fold)
    for m, value in zip(numbers, path_scores(data, fold, numbers, 0.5, "auc"), strict=True):
        fit = fsopt.fit("best-subset", train, m=m, c=0.5)
        assert value == pytest.approx(measures(test.y, fit.decision_function(test))["auc"], abs=1e-3)


def test_the_nested_scores_of_a_given_number_are_those_of_its_selections_without_the_fold(forced):
    folds = stratified_folds(DATA, 2, 0)
    wanted = [path_scores(DATA, fold, [4], 1.0, "accuracy")[0] for fold in folds]
    assert forced.nested.scores == pytest.approx(wanted)
    assert forced.nested.numbers == (4, 4)
    best = [max(path_scores(DATA, fold, [1, 2, 3, 4, 5], 1.0, "accuracy")) for fold in folds]
    assert best != pytest.approx(wanted), "this data cannot tell them from the largest of the fold"


def test_a_permuted_column_displaces_each_feature_in_whose_place_it_is_better():
    support, seen = [0, 2, 3, 4], set()
    for seed in range(2):
        columns = DATA.X[np.random.default_rng(seed).permutation(DATA.n)]
        expected = []
        for place, j in enumerate(support):
            values = [exact_value(fsopt.Dataset(DATA.X[:, support], DATA.y), np.ones(4), 1.0)]
            for k in range(DATA.p):
                X = DATA.X[:, support].copy()
                X[:, place] = columns[:, k]
                values.append(exact_value(fsopt.Dataset(X, DATA.y), np.ones(4), 1.0))
            if min(values[1:]) < values[0]:
                expected.append(j)
        assert displaced_by_permuted(DATA, support, 1.0, seed) == expected
        seen.add(tuple(expected))
    # Several features at once: one that is replaced does not shield the others.
    assert any(len(one) > 1 for one in seen)
    assert all(0 not in one for one in seen)


def test_noise_in_a_proved_selection_is_named(forced):
    assert forced.status == "optimal"
    assert {"a", "b"} < set(forced.fit.features)
    noise = set(forced.fit.features) - {"a", "b"}
    assert set(forced.doubtful) == noise
    assert all(any(f"'{name}'" in text for text in forced.warnings) for name in noise)
    assert all(forced.p_values[name] == pytest.approx(0.01) for name in "ab")
    assert min(forced.shares[name] for name in "ab") > 0.9 > max(forced.shares[name] for name in noise)
    assert forced.chance == pytest.approx(4 / 5)
    # Noise that is displaced in fewer draws is selected with nothing but this sentence.
    said = "A feature of noise passes the test of permuted columns with a probability of at most about 0.05."
    assert said in forced.sentences
    assert (1 + 4) / (1 + forced.draws) == pytest.approx(0.05)


def test_nothing_is_said_to_stand_for_noise(forced):
    own, noise = set(forced.fit.features), set(forced.doubtful)
    swapped = [own - set(one.features) for one in forced.substitutes]
    assert any(gone <= noise for gone in swapped)
    assert not noise & set(forced.exchanges)
    assert not any(f"can stand for {name}" in text for name in noise for text in forced.sentences)


def test_sentences_are_those_of_the_numbers(forced):
    words = ["", "a", "a or b", "a or b or c", "a or b or c or d", "a or b or c or 2 others"]
    assert [in_words("abcde"[:k]) for k in range(6)] == words
    assert "of one feature " in replace(forced, choice=replace(forced.choice, m=1)).sentences[1]
    sure = replace(forced, halves=(forced.fit.features,) * 4)
    assert any("4 halves of the data, 100% select" in text for text in sure.sentences)
    others = forced.alternatives
    for change, text, said in (
        ({"complete": True, "limit": 1.01 * others.optimum}, "within 1.0% of the optimum", True),
        ({"complete": True, "limit": 1.0001 * others.optimum}, "of the optimum has", False),
        ({"complete": True}, "not complete", False),
        ({"complete": False, "stop": "time_limit"}, "not complete: its search came to the time limit", True),
        ({"complete": False, "stop": "interrupted"}, "is not complete: Ctrl-C ended its search.", True),
    ):
        changed = replace(forced, alternatives=replace(others, **change))
        assert any(text in sentence for sentence in changed.sentences) == said, text
    fit = replace(forced.fit, bound=0.5 * forced.fit.objective, status=fsopt.Status.FEASIBLE)
    poor = replace(forced, fit=fit, larger=0.99)
    assert any("optimality gap is 50.00%" in text for text in poor.warnings)
    assert any("larger class" in text for text in poor.warnings)
    assert "No other selection" not in poor.summary()


@pytest.mark.slow
def test_the_choice_leaves_noise_out():
    found = fsopt.select(DATA, **GIVEN)
    assert set(found.fit.features) == {"a", "b"}
    assert not found.doubtful
    assert found.needed == ("a", "b")
    assert found.fit.objective == pytest.approx(fsopt.fit("best-subset", DATA, m=2, c=1.0).objective, rel=1e-4)
    assert f"{found.nested.mean:.3f}" in found.summary()


def test_selections_within_one_error_are_listed_with_their_scores(forced):
    assert forced.substitutes
    own = score_of_selection(DATA, list(forced.fit.features), 1.0, (2, 0), "accuracy")
    limit = np.mean(own) - np.std(own, ddof=1) / np.sqrt(2)
    listed = [one.features for one in forced.substitutes]
    for support in forced.alternatives.support:
        names = tuple(DATA.features[j] for j in support)
        score = np.mean(score_of_selection(DATA, list(names), 1.0, (2, 0), "accuracy"))
        assert (names in listed) == (score >= limit and names != forced.fit.features)


@pytest.mark.slow
def test_a_choice_that_was_interrupted_goes_on_from_its_checkpoint(tmp_path, forced, monkeypatch):
    monkeypatch.setattr(selecting, "PAIRS", 10)
    place, seen, rest = tmp_path / "select.json", [], []

    def stop(state):
        seen.append(state["step"])
        if len(seen) == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fsopt.select(DATA, features=4, **GIVEN, checkpoint=place, progress=stop)
    found = fsopt.select(DATA, features=4, **GIVEN, resume=place, progress=lambda state: rest.append(state))
    assert not set(seen) & {state["step"] for state in rest}
    assert found.heading == forced.heading
    assert found.to_records() == forced.to_records()
    assert rest[-1]["share"] == pytest.approx(1.0)
    assert all(state["seconds_left"] is None or state["seconds_left"] >= 0 for state in rest)
    with pytest.raises(FileError, match="other data or parameters"):
        fsopt.select(DATA, features=3, **GIVEN, resume=place)
    place.write_text("[]")
    with pytest.raises(FileError, match="no checkpoint"):
        fsopt.select(DATA, features=4, **GIVEN, resume=place)


@pytest.mark.parametrize("step", ["path", "halves", "scores", "select"])
def test_ctrl_c_within_a_search_of_a_step_ends_the_question(step, forced, monkeypatch, usual_interruption, tmp_path):
    # The search turns the signal into its incumbent: of fewer numbers of features, or of less than the whole search.
    began = []

    def begin(*given):
        began.append(given)
        if len(began) == 2:
            signal.raise_signal(signal.SIGINT)
        return root(*given)

    root = driver.begin
    monkeypatch.setattr(driver, "begin", begin)
    asked = {
        "path": lambda: path_scores(DATA, np.arange(20), [1, 2, 3], 1.0, "accuracy"),
        "halves": lambda: selected_of_halves(DATA, 2, 1.0, 0),
        "scores": lambda: held_out_scores(forced.fit, DATA, 3, 0, {}),
        "select": lambda: fsopt.select(DATA, features=4, **GIVEN, checkpoint=tmp_path / "select.json"),
    }
    with pytest.raises(KeyboardInterrupt):
        asked[step]()
    assert len(began) == 2


def test_probabilities_are_those_of_largest_likelihood(forced):
    rng = np.random.default_rng(1)
    scores = rng.standard_normal(200) * 3
    y = np.where(rng.random(200) < 1 / (1 + np.exp(-(1.5 * scores - 0.5))), 1.0, -1.0)
    up, down = (y > 0).sum(), (y < 0).sum()
    target = np.where(y > 0, (up + 1) / (up + 2), 1 / (down + 2))  # Platt (1999)

    def loss(at):
        z = at[0] * scores + at[1]
        return float(np.sum(np.logaddexp(0, z) - target * z))

    best = minimize(loss, [1.0, 0.0], tol=1e-10).x
    assert sigmoid_of(scores, y, None) == pytest.approx(best, abs=2e-3)
    chance = forced.fit.predict_proba(DATA)
    assert chance.sum(axis=1) == pytest.approx(np.ones(DATA.n))
    order = np.argsort(forced.fit.decision_function(DATA))
    assert np.all(np.diff(chance[order, 1]) >= 0)
    with pytest.raises(ParameterError, match="not calibrated"):
        fsopt.fit("svm", DATA).predict_proba(DATA)


def test_a_saved_selection_is_verified_with_its_probabilities(tmp_path, forced):
    place = tmp_path / "fit.json"
    forced.fit.save(place)
    assert fsopt.verify(place, DATA).verified
    assert fsopt.load_fit(place).predict_proba(DATA) == pytest.approx(forced.fit.predict_proba(DATA))
    record = json.loads(place.read_text())
    record["details"]["calibration"]["slope"] *= 1.01
    place.write_text(json.dumps(sealed(record)))
    found = fsopt.verify(place, DATA)
    assert not found.verified
    assert found.certificate.residuals["calibration"] > 1e-3
    record["details"]["calibration"] = {"slope": "steep"}
    place.write_text(json.dumps(sealed(record)))
    with pytest.raises(FileError, match="damaged"):
        fsopt.verify(place, DATA)


def test_a_wrong_parameter_is_refused_before_anything_is_solved():
    for given, text in (
        ({"rule": "best"}, "one-se, min"),
        ({"score": "f1"}, "accuracy"),
        ({"c": []}, "empty"),
        ({"c": [1.0, -1.0]}, "'c'"),
        ({"folds": 41}, "folds"),
        ({"features": 6}, r"outside \[1, 5\]"),
        ({"features": 0}, r"outside \[1, 5\]"),
    ):
        with pytest.raises(ParameterError, match=text):
            fsopt.select(DATA, **{**GIVEN, **given})
