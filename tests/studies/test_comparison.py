"""Comparison: fits that a limit or the user ends, or that crash, are marked, not averaged, and hurt no other fit.

Peers: the classifier of the package itself on the same standardised samples, and the errors of a study.
"""

import dataclasses
import signal
from contextlib import suppress

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_rel
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC, LinearSVC
from support import blobs

import fsopt
from fsopt.data.splits import stratified_folds, train_and_test
from fsopt.errors import PackageError, ParameterError, UnknownNameError
from fsopt.methods.registry import METHODS
from fsopt.studies import comparison, comparison_rows, units
from fsopt.studies.comparison import compare
from fsopt.studies.executors import InProcess
from fsopt.studies.peers import PEERS, fit_peer
from fsopt.studies.ranking import answer, corrected_t_test, leading, standings
from fsopt.studies.tuning import tune

DATA = blobs(40, 3)


def spoilt(monkeypatch, spoil):
    """Let ``study_fit`` return what ``spoil(call number, fit)`` makes of each fit."""
    real, calls = units.study_fit, []

    def fit(*args, **params):
        calls.append(args)
        return spoil(len(calls), real(*args, **params))

    monkeypatch.setattr(units, "study_fit", fit)
    return calls


def here(data, methods=None, **rest):
    return compare(data, methods=methods, executor=InProcess(), **rest).rows


def test_a_fit_that_the_time_limit_ended_is_marked_and_not_averaged(monkeypatch):
    def late(call, fit):
        return dataclasses.replace(fit, status=fit.status.FEASIBLE, stop="time-limit") if call in (1, 3) else fit

    spoilt(monkeypatch, late)
    [row] = here(DATA, ["svm"], folds=3)
    assert (row.status, row.stop, row.ended_early, row.error) == ("feasible", "time-limit", 2, "")
    assert row.cv_accuracy is None
    assert row.cv_mcc is None
    assert row.n_features == len(row.features)


def test_an_optimum_found_when_time_was_over_counts(monkeypatch):
    spoilt(monkeypatch, lambda call, fit: dataclasses.replace(fit, stop="time-limit"))
    [row] = here(DATA, ["svm"], folds=3)
    assert (row.status, row.ended_early) == ("optimal", 0)
    assert row.cv_accuracy is not None


def test_ctrl_c_within_a_fit_stops_the_comparison_after_the_rows_before(monkeypatch, usual_interruption):
    def incumbent(call, fit):
        if call == 6:
            with suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        return fit

    calls = spoilt(monkeypatch, incumbent)
    found = compare(DATA, methods=["mpm", "pearson"], folds=3, executor=InProcess())
    assert found.interrupted
    assert len(calls) == 6
    assert [row.method for row in found.rows] == ["mpm"]


@pytest.fixture(scope="module")
def found():
    return compare(DATA, methods=["svm", "pearson", "fisher"], folds=3, executor=InProcess())


def test_the_scores_are_means_and_spreads_over_the_folds(found):
    row, scores = found.rows[0], []
    for test in stratified_folds(DATA, 3, 0):
        train, held_out = train_and_test(DATA, test)
        fit = fsopt.fit("svm", train)
        right = fit.predict(held_out.X) == held_out.y
        balanced = np.mean([right[held_out.y == s].mean() for s in (1, -1)])
        scores.append((right.mean(), balanced, roc_auc_score(held_out.y, fit.decision_function(held_out.X))))
    means = np.mean(scores, axis=0)
    assert (row.cv_accuracy, row.cv_balanced_accuracy, row.cv_auc) == pytest.approx(tuple(means))
    assert row.spreads["cv_accuracy"] == pytest.approx(np.std([s[0] for s in scores], ddof=1))


def test_parameters_solver_and_tuning_reach_the_fits():
    [row] = here(DATA, ["svm"], folds=2, params={"svm": {"C": 0.3}}, solver="scs")
    assert row.params["c"] == 0.3
    assert row.solver == "scs"
    assert row.objective == pytest.approx(fsopt.fit("svm", DATA, c=0.3).objective)
    tuned, fixed, without = here(DATA, ["svm", "l1-svm", "mpm"], folds=2, params={"l1-svm": {"c": 0.3}}, tune=True)
    best = tune("svm", DATA, [{"c": c} for c in METHODS["svm"].candidates["c"]], folds=comparison.INNER_FOLDS)
    assert tuned.params["c"] == best.params["c"]
    assert fixed.params["c"] == 0.3
    assert without.status == "optimal"


def test_several_data_sets_and_peers_have_a_row_each():
    other = blobs(30, 4, seed=3)
    named = fsopt.Dataset(other.X, other.y, name="other")
    rows = list(here([DATA, named], ["svm", "sklearn-l1-svc"], folds=2))
    assert [(row.data, row.method) for row in rows] == [
        (name, method) for name in (DATA.name, "other") for method in ("svm", "sklearn-l1-svc")
    ]
    assert [row.status for row in rows] == ["optimal", "feasible"] * 2


def test_the_majority_by_hand():
    data = fsopt.Dataset(DATA.X[:30], np.where(np.arange(30) < 20, 1.0, -1.0))
    assert comparison_rows.majority(data, 5, 0)["cv_accuracy"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("how", "error", "match"),
    [
        ({"params": {"svm": {"c": 1.0, "C": 2.0}}}, ParameterError, "twice"),
        ({"methods": ["svm"], "params": {"fsv": {"lam": 0.1}}}, ParameterError, "not compared"),
        ({"customise": {"fsp-mastr": print}}, UnknownNameError, "fsp-mastr"),
        ({"methods": ["svm"], "customise": {"fsp-master": print}}, ParameterError, "none of the methods"),
    ],
)
def test_wrong_settings_are_refused_before_any_fit(how, error, match):
    with pytest.raises(error, match=match):
        list(here(DATA, **{"folds": 2, **how}))


def test_the_corrected_t_test_is_that_of_nadeau_and_bengio():
    rng = np.random.default_rng(0)
    a, b = 0.9 + 0.02 * rng.standard_normal((2, 10))
    usual = ttest_rel(a, b, alternative="greater")
    # The variance of the mean grows from 1/K to 1/K + 1/(K - 1): t shrinks by this factor.
    shrunk = usual.statistic / np.sqrt(1.0 + 10 / 9)
    assert corrected_t_test(a, b) == pytest.approx(student.sf(shrunk, 9))
    assert corrected_t_test(a, a) == 1.0
    assert corrected_t_test([0.9, 0.9], [0.8, 0.8]) == 0.0
    repeated = np.mean(a - b) / (np.std(a - b, ddof=1) * np.sqrt(1 / 10 + 1 / 4))
    assert corrected_t_test(a, b, 5) == pytest.approx(student.sf(repeated, 9)), "two cross-validations of 5 folds"


def test_standings_are_the_best_first_with_what_noise_does_not_tell_apart():
    scores = {
        "poor": [0.5, 0.6, 0.5, 0.6, 0.5],
        "few": [0.88, 0.93, 0.91, 0.9, 0.89],
        "best": [0.9, 0.92, 0.91, 0.89, 0.93],
        "same": [0.9, 0.92, 0.91, 0.89, 0.93],
    }
    found = standings(scores, {"poor": 3, "few": 2, "best": 9, "same": 12}, larger=0.55)
    assert list(found) == ["best", "same", "few", "poor"]
    assert [name for name, one in found.items() if not one.told_apart] == ["best", "same", "few"]
    assert [name for name, one in found.items() if one.front] == ["best", "few"]
    assert [name for name, one in found.items() if one.above_larger] == ["best", "same", "few"]
    assert found["few"].in_words == "not told apart, front"
    assert found["poor"].in_words == "not shown above the larger class"


def test_intervals_have_the_variance_of_the_test():
    own, best = np.array([0.88, 0.93, 0.91, 0.9, 0.89]), np.array([0.9, 0.92, 0.93, 0.89, 0.93])
    found = standings({"own": own, "best": best}, {"own": 1, "best": 2})["own"]

    def interval(values):
        return student.interval(0.95, 4, loc=values.mean(), scale=values.std(ddof=1) * np.sqrt(1 / 5 + 1 / 4))

    assert found.interval == pytest.approx(interval(own))
    assert found.worse == pytest.approx(interval(best - own)[1])
    assert found.worse > (best - own).mean() > 0
    assert found.above_larger is None, "nobody said what the larger class has"
    assert standings({"own": [1.0, 1.0]}, {"own": 1}, larger=0.5)["own"].interval == (1.0, 1.0)


def test_the_larger_class_alone_is_no_answer():
    constant, noisy = [0.6, 0.6, 0.6, 0.6], [0.9, 0.3, 0.9, 0.5]
    counts, features = {"none": 0, "noisy": 3, "good": 5}, {}
    found = standings({"none": constant, "noisy": noisy}, counts, larger=0.6)
    assert not any(one.above_larger for one in found.values())
    assert answer(found, {"none": 0.6, "noisy": 0.65}, counts, features).startswith(
        "no method is shown to be above the larger class: noisy is best (3 features, accuracy 0.650, 95 % interval 0.0"
    )
    found = standings({"none": constant, "noisy": noisy, "good": [0.9, 0.88, 0.91, 0.9]}, counts, larger=0.6)
    text = answer(found, {"none": 0.6, "noisy": 0.65, "good": 0.8975}, counts, features)
    assert text.startswith("good is best (5 features, accuracy 0.897), and none that is not told apart")
    assert "; not shown above the larger class: noisy, none; " in text
    assert not found["noisy"].told_apart, "which has fewer features, and is no answer all the same"


def test_a_table_begins_with_the_front_and_the_next_best_ones():
    names = "abcdefgh"
    scores = {name: [0.9 - 0.01 * k] * 2 for k, name in enumerate(names)}
    found = standings(scores, dict(zip(names, (9, 9, 9, 9, 9, 9, 2, 1), strict=True)))
    assert leading(found) == ["a", "b", "c", "g", "h"]
    falling = standings(scores, dict(zip(names, range(9, 1, -1), strict=True)))
    assert leading(falling) == list(names), "a front is shown whole"
    assert leading({}) == []


def test_the_sentence_names_a_method_of_the_table():
    """gbd is not told apart from the best, with the fewest features of such; a method of the front beats it in both."""
    names = ("best", "many", "some", "steady", "gbd", "few")
    good = [0.99, 0.97, 0.98, 0.96, 0.985]
    scores = {name: [score - 0.005 * k for score in good] for k, name in enumerate(names)}
    scores["gbd"] = [0.99, 0.9, 0.98, 0.96, 0.97]
    counts = dict(zip(names, (30, 22, 17, 4, 5, 3), strict=True))
    found = standings(scores, counts)
    assert not found["gbd"].front
    assert [name for name, one in found.items() if not one.told_apart] == ["best", "gbd"]
    means = {name: float(np.mean(values)) for name, values in scores.items()}
    assert answer(found, means, counts, {}).startswith(
        "gbd has the fewest features of those not told apart from the best"
    )
    assert leading(found) == ["best", "many", "some", "steady", "gbd", "few"]


def test_a_comparison_answers_in_a_sentence(found):
    text = found.sentences[DATA.name]
    held = found.standings(DATA.name)
    rows = {row.method: row for row in found.rows}
    near = [name for name, one in held.items() if not one.told_apart]
    fewest = min(near, key=lambda name: rows[name].n_features)
    assert text.startswith("no method is shown to be above the larger class: svm"), "three folds of 40 samples"
    assert fewest == "svm"
    assert f"{rows[fewest].n_features} features, accuracy {rows[fewest].cv_accuracy:.3f}" in text
    assert text.endswith("; 3 folds tell only large differences apart")
    assert "tell only" not in compare(DATA, methods=["pearson"], executor=InProcess()).sentences[DATA.name]
    records = {record["method"]: record for record in found.to_records()}
    assert [name for name in records if not records[name]["told_apart"]] == [name for name in records if name in near]
    assert all(records[name]["above_larger"] is held[name].above_larger for name in records)
    assert all(np.mean(rows[name].fold_accuracies) == pytest.approx(rows[name].cv_accuracy) for name in rows)


NAMES = ("x11", "mean radius", "Größe (mm)", "x1", 'a,b; "c"', "x2")
PEERS_DATA = fsopt.Dataset(blobs(40, 6, gap=0.6).X, blobs(40, 6).y, NAMES)
Z = (PEERS_DATA.X - PEERS_DATA.X.mean(axis=0)) / PEERS_DATA.X.std(axis=0)


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.filterwarnings("ignore")  # of the package, which fit_peer and this test call
def test_a_peer_is_a_linear_classifier_on_named_features(name):
    pytest.importorskip(PEERS[name].package)
    limit = {"m": 2} if "m" in PEERS[name].parameters else {"alpha": 0.1} if name == "skglm" else {"c": 0.1}
    fit = fit_peer(name, PEERS_DATA, **limit)
    assert (fit.method, fit.status, fit.bound, fit.certificate) == (name, "feasible", None, None)
    assert fit.support == tuple(np.flatnonzero(np.abs(fit.coef) > 1e-6 * np.abs(fit.coef).max()).tolist())
    assert len(fit.support) == 2 or "m" not in limit
    assert fit.scores(PEERS_DATA)["accuracy"] > 0.7
    assert np.sum(fit.decision_function(PEERS_DATA.X) > 0) not in (0, PEERS_DATA.n)
    w, _ = PEERS[name].function(Z, PEERS_DATA.y, **limit)
    chosen = {NAMES[j] for j in np.flatnonzero(np.abs(w) > 1e-6 * np.abs(w).max())}
    assert set(fit.features) == chosen
    assert set(fit_peer(name, PEERS_DATA.columns([3, 1, 5, 0, 2, 4]), **limit).features) == chosen
    # In a study the test samples are found by the names of their features.
    study = {"data": [PEERS_DATA], "folds": 2, "all_samples": True, "methods": [{"name": name, "params": limit}]}
    whole, *rows = fsopt.run_study(study, executor=InProcess()).rows
    assert (whole["error"], whole["features"]) == ("", list(fit.features))
    for row, test in zip(rows, stratified_folds(PEERS_DATA, 2, 0), strict=True):
        train, held_out = train_and_test(PEERS_DATA, test)
        part = fit_peer(name, train, **limit)
        assert row["features"] == list(part.features)
        assert row["accuracy"] == np.mean(part.predict(held_out.X) == held_out.y)


def test_the_numbers_are_those_of_scikit_learn():
    machine = LinearSVC(penalty="l1", dual=False, C=0.3, max_iter=10_000, random_state=0).fit(Z, PEERS_DATA.y)
    fit = fit_peer("sklearn-l1-svc", PEERS_DATA, c=0.3)
    np.testing.assert_allclose(fit.decision_function(PEERS_DATA.X), machine.decision_function(Z), atol=1e-9)
    kept = fit_peer("sklearn-kbest", PEERS_DATA, m=2, c=0.7)
    part = SVC(kernel="linear", C=0.7).fit(Z[:, kept.support], PEERS_DATA.y)
    scores = part.decision_function(Z[:, kept.support])
    np.testing.assert_allclose(kept.decision_function(PEERS_DATA.X), scores, atol=1e-9)


def test_a_study_takes_methods_and_peers_with_the_same_splits():
    methods = [
        {"name": "svm"},
        {"name": "sklearn-rfe", "grid": {"m": [1, 2]}},
        {"name": "sklearn-l1-logistic", "grid": {"c": [0.1, 1.0]}, "tune": True, "inner_folds": 2},
    ]
    study = {"data": [PEERS_DATA], "folds": 2, "methods": methods}
    found = fsopt.run_study(study, executor=InProcess())
    assert found.complete
    rows = [row for row in found.rows if row["method"] == "sklearn-rfe" and row["params"]["m"] == 2]
    assert [row["n_features"] for row in rows] == [2, 2]
    assert {row["fitted"]["c"] for row in found.rows if row["method"] == "sklearn-l1-logistic"} <= {0.1, 1.0}


@pytest.mark.parametrize(
    ("name", "params", "match"),
    [("skglm", {"lam": 1.0}, "'lam'"), ("abess", {"m": 99}, "6 features"), ("sklearn-rfe", {"c": "x"}, "number > 0")],
)
def test_wrong_parameters(name, params, match):
    with pytest.raises(ParameterError, match=match):
        fit_peer(name, PEERS_DATA, **params)


def test_a_missing_package_is_named(monkeypatch):
    from fsopt.studies import peers

    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(peers, "import_module", absent)
    with pytest.raises(PackageError, match=r"abess.*fsopt\[peers\]"):
        fit_peer("abess", PEERS_DATA)


def test_fit_does_not_know_them_and_a_study_knows_both():
    with pytest.raises(UnknownNameError):
        fsopt.fit("skglm", PEERS_DATA)
    with pytest.raises(UnknownNameError, match="did you mean"):
        fsopt.run_study({"data": [PEERS_DATA], "folds": 2, "methods": [{"name": "sklearn-rf"}]}, executor=InProcess())
