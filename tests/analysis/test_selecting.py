"""``fsopt.select``: the number of features, what is said of the selection, and what of it is kept."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import beta
from sklearn.linear_model import LogisticRegression

import fsopt
from fsopt.analysis import few_features, selecting
from fsopt.analysis.few_features import (
    CLASSIFIERS,
    SEARCHES,
    Scores,
    choose,
    intervals,
    nested_scores,
    path_of,
    sizes_of,
)


def with_noise(n=90, noise=3, seed=3, signal=1.0):
    """Return two features that tell the classes apart, and columns of noise."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = np.column_stack(
        [signal * y + 0.9 * rng.standard_normal((n,)) for _ in range(2)] + [rng.standard_normal((n, noise))]
    )
    return fsopt.Dataset(X, y, ["a", "b", *(f"noise{k}" for k in range(noise))])


DATA = with_noise()


@pytest.fixture(scope="module", autouse=True)
def few_pairs():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selecting, "PAIRS", 10)
        yield


@pytest.fixture(scope="module")
def found():
    return fsopt.select(DATA, folds=3)


def scores_of(losses):
    """Return scores of eight samples whose log-losses are the same for all of them at the best configuration."""
    k, y = len(SEARCHES) * len(CLASSIFIERS), np.tile([1.0, -1.0], 4)
    values = np.full((1, 8, len(losses), k), -9.0) * y[:, None, None]
    for i, loss in enumerate(losses):
        values[0, :, i, i % k] = -np.log(np.expm1(loss)) * y
    return Scores(values, tuple(range(len(losses))), y, np.ones(8), np.arange(8), [[np.arange(4), np.arange(4, 8)]])


def test_the_rule_takes_the_fewest_within_a_twentieth_of_the_gain():
    # Means of neighbours: .588, .551, .515, .506, .515; a twentieth of the gain is .004.
    at = scores_of([0.60, 0.55, 0.504, 0.50, 0.52])
    found = choose(at, "log-loss")
    assert (found.m, found.c_path, found.c) == (3, SEARCHES[0], CLASSIFIERS[3])
    assert found.losses == pytest.approx([0.60, 0.55, 0.504, 0.50, 0.52])
    # .588, .552, .512, .509, .543: the third is near enough.
    assert choose(scores_of([0.60, 0.55, 0.5075, 0.4825, 0.5625]), "log-loss").m == 2
    assert choose(scores_of([0.60, 0.55, 0.50, 0.55, 0.55]), "log-loss").m == 2
    # Of a large gain 0.02 at most: .755, .465, .315, .305.
    at = scores_of([0.90, 0.321, 0.319, 0.30])
    assert choose(at, "log-loss").m == 2
    assert choose(at, "log-loss", 1).m == 1
    # Nothing to gain: no feature.
    at = scores_of([0.60, 0.60, 0.61])
    assert choose(at, "log-loss").m == 0


def test_the_shortest_is_within_one_error_of_the_best_area():
    # Areas of the two folds: .5 and .5, .75 and 1, .75 and 1, 1 and 1; the error of the best is 0.
    at = scores_of([0.69, 0.6, 0.55, 0.5])
    for i, wrong in ((0, (0, 2, 4, 6)), (1, (0,)), (2, (0,))):
        at.values[:, wrong, i, i] *= -1.0
    losses = scores_of([0.69, 0.6, 0.55, 0.5]).losses
    vars(at)["losses"] = losses
    assert choose(at, "shortest").m == 3
    at.values[:, 6, 3, 3] *= -1.0  # .75 and .75 .. 1: the error of the best reaches the others
    assert choose(at, "shortest").m == 1


def test_the_numbers_that_are_tried():
    assert sizes_of(3, 200) == (0, 1, 2, 3)
    assert sizes_of(30, 125) == (*range(11), 12, 15, 20, 25)
    assert sizes_of(30, 124)[-1] == 20
    assert sizes_of(30, 3) == (0, 1)
    assert sizes_of(100, 200, 40)[-2:] == (25, 40)


def test_rare_classes_have_the_weight_of_the_others():
    y = np.where(np.arange(60) < 9, 1.0, -1.0)
    rare = fsopt.Dataset(np.random.default_rng(0).standard_normal((60, 2)), y)
    weights = few_features.cross_validated(rare, None, 3, 1, 0).weights
    assert weights[y > 0].sum() == pytest.approx(weights[y < 0].sum())
    assert set(few_features.cross_validated(DATA, None, 3, 1, 0).weights) == {1.0}


def test_nested_scores_do_not_see_the_labels_of_their_fold():
    fold = np.arange(0, 90, 3)
    y = DATA.y.copy()
    y[fold] *= -1
    seen = nested_scores(DATA, fold, 3, 0, "log-loss", None)
    assert nested_scores(fsopt.Dataset(DATA.X, y), fold, 3, 0, "log-loss", None) == pytest.approx(seen, rel=1e-12)
    right = few_features.quality(DATA.y[fold], seen)
    assert right["accuracy"] > 0.75
    # The measures are those of the definitions.
    share = expit(seen)
    up = DATA.y[fold] > 0
    assert right["log-loss"] == pytest.approx(-np.mean(np.log(np.where(up, share, 1 - share))))
    assert right["Brier score"] == pytest.approx(np.mean((share - up) ** 2))
    assert right["sensitivity"] == pytest.approx(np.mean(share[up] > 0.5))
    assert right["specificity"] == pytest.approx(np.mean(share[~up] <= 0.5))


def test_the_signal_is_selected_proved_and_better_than_noise(found):
    assert {"a", "b"} <= set(found.fit.features) == set(found.selected)
    assert "has 95 % of the best gain and is within 0.02 of the best: " in found.sentences[1]
    assert found.status == "optimal"
    best = fsopt.fit("best-subset", DATA, m=len(found.selected), c=found.choice.c_path, loss="logistic")
    assert found.proof.objective == pytest.approx(best.objective, rel=1e-4)
    assert found.p_value == pytest.approx(0.01)
    assert any("p <= 0.01" in text for text in found.sentences)
    assert set(found.sure) == {"a", "b"}
    assert found.heading["gap"] <= 1e-4
    for name, (low, high) in found.intervals.items():
        assert low < found.nested[name] < high
        assert f"{found.nested['AUC']:.3f}" in found.summary()


def test_what_all_features_reach_and_how_well_probabilities_fit(found):
    assert 0.9 < found.whole < 1.0
    assert any("All 5 columns: AUC" in text for text in found.sentences)
    y, scores = found.held_out
    slope = LogisticRegression(C=1e6).fit(scores[:, None], y).coef_.item()
    assert found.calibration_slope == pytest.approx(slope, rel=1e-3)
    called, up = scores >= np.sort(scores)[-45], y > 0
    at = found.at_prevalence()
    assert at["sensitivity"] == pytest.approx((called & up).sum() / called.sum())
    assert at["specificity"] == pytest.approx((~called & ~up).sum() / (~called).sum())


def test_noise_has_no_feature():
    data = with_noise(60, 4, 1, signal=0.0)
    found = fsopt.select(data, folds=3)
    assert found.p_value > 0.05
    assert found.heading["nested"] == found.heading["intervals"] == {}
    assert found.sentences == (
        f"0 of 6 features: no better than noise (p = {found.p_value:.2g} by 99 permutations of the labels).",
    )
    said = "\n".join([*found.sentences, *found.story])
    assert (found.fit.support, found.to_records(), found.summary()) == ((), [], said)
    assert found.fit.predict_proba(data)[:, 1] == pytest.approx(np.full(60, 0.5))


@pytest.mark.slow
def test_a_given_number_is_taken_and_weights_are_those_of_the_classifier(found):
    given = fsopt.select(DATA, features=4, folds=3)
    assert (len(given.selected), given.rule) == (4, "given")
    assert not set(given.sure) - {"a", "b"}
    rows = {row["feature"]: row for row in given.to_records()}
    weights = np.array([rows[name]["weight"] if name in rows else 0.0 for name in DATA.features])
    assert given.fit.predict(DATA).tolist() == np.where(DATA.X @ weights + given.fit.intercept > 0, 1, -1).tolist()
    deviation = DATA.X.std(axis=0)
    for name, row in rows.items():
        j = DATA.features.index(name)
        assert row["standardised"] == pytest.approx(row["weight"] * deviation[j])
        assert row["odds_ratio"] == pytest.approx(np.exp(row["standardised"]))
    # Twice the unit: half the weight, the same answer.
    doubled = fsopt.select(fsopt.Dataset(2.0 * DATA.X, DATA.y, DATA.features), folds=3)
    assert doubled.selected == found.selected
    assert doubled.to_records()[0]["weight"] == pytest.approx(0.5 * found.to_records()[0]["weight"])


def test_columns_of_one_variable_are_one_feature():
    rng = np.random.default_rng(4)
    town = rng.integers(0, 4, 120)
    ill = np.where((town == 2) ^ (rng.random(120) < 0.15), "yes", "no")
    frame = pd.DataFrame({"age": rng.standard_normal(120), "town": [f"t{k}" for k in town], "ill": ill})
    data = fsopt.load_dataset(frame, target="ill", positive="yes", onehot=True)
    assert [group.tolist() for group in few_features.columns_of_variables(data)] == [[0], [1, 2, 3, 4]]
    found = fsopt.select(data, folds=3, rule="shortest")
    assert found.selected == ("town",)
    assert set(found.fit.features) == {"town=t0", "town=t1", "town=t2", "town=t3"}
    # Proved of variables: the other one, or none, has a larger objective value.
    assert found.status is fsopt.Status.OPTIMAL
    at = f"at C = {found.choice.c_path:g} is better, up to a gap of {found.gap:.1e}"
    assert f"No other selection of at most 1 feature {at}." in found.sentences
    same = {"c": found.choice.c_path, "loss": "logistic"}
    by_town, by_age = (
        fsopt.fit("best-subset", data, m=len(group), include=group, **same).objective for group in ([1, 2, 3, 4], [0])
    )
    price = np.diff(path_of(data)[0].prices(found.choice.c_path))[0]
    assert found.proof.objective == pytest.approx(by_town + price, rel=1e-6)
    assert by_town < by_age


def test_a_table_tells_its_story_and_a_number_of_the_rows_is_no_feature():
    rng, n = np.random.default_rng(0), 60
    ill = np.where(np.arange(n) % 2, "yes", "no")
    frame = pd.DataFrame({"row": np.arange(n), "ill": ill, "person": np.arange(n) // 4 * 2 + np.arange(n) % 2})
    frame["sign"] = np.where((ill == "yes") ^ (rng.random(n) < 0.2), "+", "-")
    frame["few"] = np.where(rng.random(n) < 0.4, 3.0, np.nan)
    frame.loc[0, "ill"] = None
    with pytest.warns(UserWarning, match="1 of 60 rows have no label"):
        data = fsopt.load_dataset(frame, target="ill", group="person", onehot=True, missing="median")
    found = fsopt.select(data, folds=2, features=2)
    assert (found.left_out, found.variables) == (("row",), ("sign", "few"))
    assert found.heading["units"] == len(set(frame["person"][1:])) < data.n
    assert found.story == (
        "Target 'ill': +1 is 'yes' (a usual word for it, 30 samples), -1 is 'no' (29 samples).",
        "1 of 60 rows have no label and are left out: 1.",
        "Left out, since they number the rows: row.",
        *(f"{text}." for text in found.data.facts[:1]),
        "0/1 features of 1 column of texts: sign.",
        f"Missing values, treated by 'median': few ({frame['few'][1:].isna().mean():.0%} by 3).",
        f"Samples that stay together: {found.heading['units']} groups.",
    )
    assert fsopt.verify(found.fit, found.data).verified
    (row,) = (row for row in found.to_records() if row["feature"] == "sign=-")
    assert row["step"] == 1.0
    assert row["odds_ratio"] == pytest.approx(np.exp(row["weight"]))
    assert row["odds_low"] < row["odds_ratio"] < row["odds_high"] < 1.0


def test_a_category_pays_for_its_columns():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((150, 4)), columns=list("abcd"))
    frame["noise"] = [f"L{v:02d}" for v in rng.integers(0, 20, 150)]
    frame["y"] = np.where(rng.random(150) < expit(1.5 * frame["a"]), "yes", "no")
    data = fsopt.load_dataset(frame, target="y", positive="yes", onehot=True)
    chosen = path_of(data)[0].path(0.03, 2, 2)
    assert "noise" not in {data.encoded.encoding.columns[v].name for v in chosen[-1]}


def test_sentences_are_those_of_the_numbers(found):
    poor = replace(found, proof=replace(found.proof, bound=0.5 * found.proof.objective, status=fsopt.Status.FEASIBLE))
    assert any("optimality gap is 50.00%" in text for text in poor.warnings)
    assert "No other selection" not in poor.summary()
    small = replace(found, proof=replace(found.proof, objective=0.4, bound=0.3))
    assert small.gap == pytest.approx(0.25)
    assert not found.warnings
    seldom = replace(found, nested={**found.nested, "sensitivity": 0.05})
    assert any("the sensitivity is 0.05: class_weight='balanced'" in text for text in seldom.warnings)
    low = replace(found, intervals={**found.intervals, "accuracy": (0.4, 0.9)})
    assert any("larger class, 50.0%" in text for text in low.warnings)
    leaky = fsopt.select(fsopt.Dataset(np.column_stack([DATA.X, DATA.y]), DATA.y), features=1, folds=3)
    assert leaky.sentences[0].startswith("Is 'x6' known before the label? Alone AUC 1.000")


def test_intervals_hold_the_measure_and_follow_the_seed():
    at = few_features.cross_validated(DATA, None, 3, 1, 0)
    nested = {"AUC": 0.9, "log-loss": 0.4}
    first, second = (intervals(at, nested, "log-loss", None, seed) for seed in (0, 1))
    for name, value in nested.items():
        assert first[name][0] < value < first[name][1]
    assert first != second
    none = intervals(at, {"sensitivity": 0.0, "accuracy": 1.0}, "log-loss", None, 0)
    # Clopper and Pearson: of 0 of 45, and of 90 of 90.
    assert none["sensitivity"] == pytest.approx((0.0, beta.ppf(0.975, 1, 45)))
    assert none["accuracy"] == pytest.approx((beta.ppf(0.025, 90, 1), 1.0))
    assert first == intervals(at, nested, "log-loss", None, 0)


def test_a_small_class_has_fewer_inner_folds():
    y = np.where(np.arange(24) < 6, 1.0, -1.0)
    X = np.random.default_rng(0).standard_normal((24, 2)) + y[:, None]
    assert nested_scores(fsopt.Dataset(X, y), np.array([0, 1, 10, 11, 12]), 5, 0, "log-loss", None).shape == (5,)
