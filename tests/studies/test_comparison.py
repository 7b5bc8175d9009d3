"""Comparison: means by hand, fits that a limit or the user ends, tests that tell methods apart, and classifiers."""

import dataclasses
import signal
import sys
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from scipy.stats import friedmanchisquare
from scipy.stats import t as student
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from support import blobs, sampled

import fsopt
from fsopt.data.dataset import stratified_folds, train_and_test
from fsopt.errors import PackageError, ParameterError, UnknownNameError
from fsopt.methods.registry import METHODS
from fsopt.studies import comparison, units
from fsopt.studies.comparison import compare
from fsopt.studies.methods import PEERS, entry_of, selected, study_fit
from fsopt.studies.ranking import Line, answer, corrected_interval, friedman, stability, standings
from fsopt.studies.tuning import tune

DATA = blobs(40, 3)
pytestmark = pytest.mark.usefixtures("in_process")


def spoilt(monkeypatch, spoil):
    """Let ``study_fit`` return what ``spoil(call number, fit)`` makes of each fit."""
    real, calls = units.study_fit, []

    def fit(*args, **params):
        calls.append(args)
        return spoil(len(calls), real(*args, **params))

    monkeypatch.setattr(units, "study_fit", fit)
    return calls


def test_a_fit_that_the_time_limit_ended_is_marked_and_not_averaged(monkeypatch):
    def late(call, fit):
        return dataclasses.replace(fit, status=fit.status.FEASIBLE, stop="time-limit") if call in (1, 3) else fit

    spoilt(monkeypatch, late)
    [row] = compare(DATA, methods="svm", folds=3).rows
    assert (row["status"], row["stop"], row["ended_early"], row["error"]) == ("feasible", "time-limit", 2, "")
    assert row["cv_accuracy"] is row["cv_mcc"] is None
    assert row["fold_statuses"] == {"optimal": 2, "feasible": 1}, "what was not proved stands beside the means"


def test_ctrl_c_within_a_fit_stops_the_comparison_after_the_rows_before(monkeypatch, usual_interruption):
    def incumbent(call, fit):
        if call == 6:
            with suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        return fit

    calls = spoilt(monkeypatch, incumbent)
    found = compare(DATA, methods=["mpm", "pearson"], folds=3)
    assert found.interrupted
    assert len(calls) == 6
    assert [row["method"] for row in found.rows] == ["mpm"]


def test_the_scores_are_means_and_spreads_over_the_folds_and_the_answer_is_a_sentence():
    found = compare(DATA, methods=["svm", "sklearn-l1-svc"], folds=3)
    assert [(r["method"], r["status"]) for r in found.rows] == [("svm", "optimal"), ("sklearn-l1-svc", "feasible")]
    assert "; 3 folds tell only large differences apart" in found.sentences[DATA.name]
    parts, row = [train_and_test(DATA, test) for test in stratified_folds(DATA, 3, 0)], found.rows[0]
    table = pd.DataFrame([fsopt.fit("svm", train).scores(held_out) for train, held_out in parts])
    assert [row[f"cv_{name}"] for name in table] == pytest.approx(table.mean().to_list())
    assert row["spreads"]["cv_accuracy"] == pytest.approx(table["accuracy"].std())


def test_parameters_solver_and_tuning_reach_the_fits(monkeypatch):
    monkeypatch.setattr(comparison, "INNER_FOLDS", 2)
    [row] = compare(DATA, methods="svm", folds=2, params={"svm": {"c": 0.3}}, solver="scs").rows
    assert (row["params"]["c"], row["solver"]) == (0.3, "scs")
    assert row["objective"] == pytest.approx(fsopt.fit("svm", DATA, c=0.3).objective)
    how = {"folds": 2, "params": {"l1-svm": {"c": 0.3}}, "tune": True}
    tuned, fixed, without = compare(DATA, methods=["svm", "l1-svm", "mpm"], **how).rows
    best = tune("svm", DATA, [{"c": c} for c in METHODS["svm"].candidates["c"]], folds=2)
    assert (tuned["params"]["c"], fixed["params"]["c"], without["status"]) == (best.params["c"], 0.3, "optimal")


@pytest.mark.parametrize(
    ("how", "error", "match"),
    [
        ({"methods": ["svm", "svm"]}, ParameterError, "twice"),
        ({"methods": [LinearSVC()]}, ParameterError, r'give a name, or \("mine", estimator\)'),
        ({"methods": [("svm", LinearSVC())]}, ParameterError, "another name"),
        ({"methods": [("mine", LinearSVC)]}, ParameterError, "scikit-learn"),
        ({"methods": [("mine", LinearSVC())], "params": {"mine": {"k": 1}}}, ParameterError, "no parameter 'k'"),
        ({"folds": 0}, ParameterError, "folds=0 is no"),
        ({"data": []}, ParameterError, "samples with labels"),
    ],
)
def test_wrong_settings_are_refused_before_any_fit(how, error, match):
    with pytest.raises(error, match=match):
        compare(**{"data": DATA, "folds": 2, **how})


def test_a_classifier_of_the_users_own_is_a_row_with_its_features_and_scores():
    steps = make_pipeline(SelectKBest(k=2), LogisticRegression())
    found = compare(DATA, methods=["svm", ("mine", steps)], folds=3, params={"mine": {"logisticregression__C": 0.5}})
    row = found.rows[1]
    fitted = steps.set_params(logisticregression__C=0.5).fit(DATA.X, DATA.y)
    assert row["features"] == [DATA.features[j] for j in np.flatnonzero(fitted[0].get_support())]
    assert (row["status"], row["objective"], row["certificate"]) == ("feasible", None, None)
    tuned = tune(("mine", steps), DATA, [{"selectkbest__k": k} for k in (1, 3)], folds=2)
    assert len(tuned.fit.support) == tuned.params["selectkbest__k"]
    study = {"data": [DATA], "folds": 2, "methods": ["svm", {"name": "mine", "estimator": steps, "grid": {}}]}
    assert fsopt.run_study(study).counts == {"done": 4}


def test_the_features_of_a_classifier_are_those_that_it_can_use():
    X, y = blobs(40, 6, gap=0.6).X, blobs(40, 6).y
    kbest, sparse = SelectKBest(k=3), LinearSVC(penalty="l1", dual=False, C=0.05)
    own = np.flatnonzero(kbest.fit(X, y).get_support())
    weights = np.flatnonzero(sparse.fit(X[:, own], y).coef_[0])
    assert 0 < len(weights) < 3
    both = make_pipeline(StandardScaler(with_std=False), kbest, sparse)
    for model, places in (
        (both, own[weights]),
        (GridSearchCV(both, {"linearsvc__C": [0.05]}, cv=2), own[weights]),
        (make_pipeline(kbest, RandomForestClassifier(3)), own),
        (make_pipeline(kbest, PCA(1), LogisticRegression()), own),
        (RandomForestClassifier(3), np.arange(6)),
    ):
        np.testing.assert_array_equal(selected(model.fit(X, y), 6), places)


@pytest.mark.parametrize("name", sampled(PEERS, 3))
@pytest.mark.filterwarnings("ignore")  # of the package
def test_a_peer_fits_standardised_samples(name):
    pytest.importorskip(PEERS[name].package)
    data = blobs(40, 6, gap=0.6)
    params = {"m": 3} if "m" in PEERS[name].parameters else {"c": 0.3} if "c" in PEERS[name].parameters else {}
    fit = study_fit(PEERS[name], data, **params)
    assert fit.scores(data)["accuracy"] > 0.7
    assert len(fit.support) == 3 or not params.get("m")
    assert fit.features == tuple(data.features[j] for j in fit.support)
    moved = study_fit(PEERS[name], data.with_X(1000.0 * data.X + 5.0), **params)
    assert moved.support == fit.support
    np.testing.assert_allclose(moved.decision_function(1000.0 * data.X + 5.0), fit.decision_function(data.X), rtol=1e-4)


def test_a_missing_package_and_the_error_of_a_classifier_are_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "abess.linear", None)
    with pytest.raises(PackageError, match=r"'abess' needs abess.*pip install fsopt\[peers\]"):
        study_fit(PEERS["abess"], DATA)
    [row] = compare(DATA, methods=[("mine", LinearSVC(C=-1))], folds=2).rows
    assert row["lacking"] == "no fit"
    assert "'mine' failed (InvalidParameterError" in row["error"]
    assert "\n" not in row["error"]
    with pytest.raises(UnknownNameError, match="sklearn-rfe"):
        entry_of("sklearn-rfee")


def test_the_corrected_interval_is_that_of_nadeau_and_bengio():
    gains = 0.02 * np.random.default_rng(0).standard_normal(10)
    assert corrected_interval(np.full(2, 0.1)) == (0.1, 0.1)
    for folds, more in ((None, 1 / 9), (5, 1 / 4)):  # 1/K becomes 1/K + 1/(K - 1); and two cross-validations of 5 folds
        wide = student.interval(0.95, 9, gains.mean(), gains.std(ddof=1) * np.sqrt(1 / 10 + more))
        assert corrected_interval(gains, folds) == pytest.approx(wide)


def lines(scores, counts):
    """Return the lines of methods of these accuracies on folds and numbers of features on all samples."""
    found = []
    for name, values in scores.items():
        row = {"state": "done", "n_features": counts[name], "features": [f"x{counts[name]}"]}
        rows = [{**row, "fold": k, "accuracy": v} for k, v in [(None, None), *enumerate(values)]]
        found.append(Line("data", name, name, {"folds": len(values)}, tuple(rows)))
    return found


def test_standings_are_the_best_first_with_what_noise_does_not_tell_apart():
    scores = {
        "poor": [0.5, 0.6, 0.5, 0.6, 0.5],
        "few": [0.88, 0.93, 0.91, 0.9, 0.89],
        "best": [0.9, 0.92, 0.91, 0.89, 0.93],
        "same": [0.9, 0.92, 0.91, 0.89, 0.93],
    }
    found = standings(lines(scores, {"poor": 3, "few": 2, "best": 9, "same": 12}), 0.55)
    held = {
        part: [name for name, one in found.items() if one[part]] for part in ("told_apart", "front", "above_larger")
    }
    assert list(found) == ["best", "same", "few", "poor"]
    assert held == {"told_apart": ["poor"], "front": ["best", "few"], "above_larger": ["best", "same", "few"]}
    assert found["few"]["standing"] == "not told apart, front"
    assert found["poor"]["standing"] == "not shown above the larger class"
    own, best = np.array(scores["few"]), np.array(scores["best"])
    wide = student.interval(0.95, 4, loc=own.mean(), scale=own.std(ddof=1) * np.sqrt(1 / 5 + 1 / 4))
    assert found["few"]["interval"] == pytest.approx(wide)
    assert found["few"]["worse"] > (best - own).mean() > 0


def test_the_larger_class_alone_is_no_answer():
    scores, counts = {"none": [0.6] * 4, "noisy": [0.9, 0.3, 0.9, 0.5]}, {"none": 0, "noisy": 3, "good": 5}
    listed = lines(scores, counts)
    assert answer(listed, standings(listed, 0.6)).startswith(
        "no method is shown to be above the larger class: noisy is best (3 features, accuracy 0.650, 95 % interval 0.0"
    )
    listed = lines({**scores, "good": [0.9, 0.88, 0.91, 0.9]}, counts)
    text = answer(listed, standings(listed, 0.6))
    assert text.startswith("good is best (5 features, accuracy 0.897), and none that is not told apart")
    assert "; not shown above the larger class: noisy, none; " in text


def test_ranks_of_demsars_kind_and_stability_by_hand():
    scores = {"a": [0.9, 0.8, 0.7], "b": [0.8, 0.9, 0.6], "c": [0.7, 0.7, 0.6]}
    ranks, p_value, distance = friedman(pd.DataFrame(scores).T)
    assert ranks == pytest.approx({"a": 4 / 3, "b": 5.5 / 3, "c": 8.5 / 3})
    assert p_value == pytest.approx(friedmanchisquare(*scores.values()).pvalue)
    assert distance == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 3)), rel=1e-3)  # Demsar's table 5
    assert stability([["a", "b"], ["a"], [], []]) == pytest.approx((0.5 + 1.0) / 6)
    assert stability([["a"]]) is None
