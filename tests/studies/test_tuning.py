"""Tuning: cross-validation, ties, validation data, no leakage, and the nested rounds."""

from types import SimpleNamespace

import numpy as np
import pytest
from support import blobs

import fsopt
from fsopt.data.splits import stratified_folds
from fsopt.errors import InfeasibleError, OutOfTimeError, ParameterError, UnknownNameError
from fsopt.methods.preprocessing import SelectionRule
from fsopt.studies import tuning
from fsopt.studies.tuning import cross_validate, nested_cross_validation, tune


@pytest.fixture
def spied(monkeypatch):
    """Replace the fit of the tuning by one that keeps its training data and predicts by a given function."""
    seen = []

    def spy(method, data, *, solver=None, time_limit=None, **params):
        seen.append((data, params, solver))
        label = params.get("label", 1.0)
        hyperplane = {"coef": np.array([1.0, 0.5, 0.0]), "kernel": None}
        return SimpleNamespace(decision_function=lambda X: np.full(len(X), label), params=params, **hyperplane)

    monkeypatch.setattr(tuning, "study_fit", spy)
    return seen


def numbered(n, share=0.5):
    """Return data whose first feature is the number of the sample."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(n), rng.standard_normal((n, 2))])
    return fsopt.Dataset(X, np.where(np.arange(n) < share * n, 1.0, -1.0))


def test_folds_are_stratified_disjoint_and_the_same_for_all_candidates(spied):
    data = numbered(40, share=0.25)
    cross_validate("svm", data, [{"c": 1.0}, {"c": 2.0}], folds=5, seed=3, solver="scs")
    held = [frozenset(range(40)) - set(d.X[:, 0].astype(int)) for d, _, _ in spied]
    assert held[:5] == held[5:]
    assert sorted(i for part in held[:5] for i in part) == list(range(40))
    assert all(sum(i < 10 for i in part) == 2 and len(part) == 8 for part in held)
    assert [p for _, p, _ in spied] == [{"c": 1.0}] * 5 + [{"c": 2.0}] * 5
    assert {s for _, _, s in spied} == {"scs"}


def test_errors_are_the_shares_of_the_held_out_samples_that_are_misclassified():
    data = blobs(45, 3, seed=2, gap=0.3)
    candidates = [{"c": 0.1}, {"c": 10.0}]
    errors = cross_validate("svm", data, candidates, folds=2, seed=4)
    for k, params in enumerate(candidates):
        for f, test in enumerate(stratified_folds(data, 2, 4)):
            fit = fsopt.fit("svm", data.rows(np.setdiff1d(np.arange(45), test)), **params)
            assert errors[k, f] == np.mean(fit.predict(data.X[test]) != data.y[test])
    assert errors.shape == (2, 2)


@pytest.mark.slow
def test_parallel_is_serial():
    data = blobs(40, 3, seed=6, gap=0.4)
    candidates = [{"c": c} for c in (0.05, 0.5, 5.0)]
    serial, parallel = (cross_validate("l1-svm", data, candidates, jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(serial, parallel)
    one, two = (nested_cross_validation("l1-svm", data, candidates, splits=3, folds=3, jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.errors, two.errors)
    np.testing.assert_array_equal(one.n_features, two.n_features)
    assert one.params == two.params


def test_with_a_kernel_the_patterns_are_counted_whatever_the_rule():
    data, rule = blobs(20, 3, seed=2), SelectionRule("absolute", epsilon=5.0, units="scaled")
    rounds = nested_cross_validation("mpm", data, [{"kernel": "gaussian"}], splits=2, folds=2, rule=rule)
    parts = stratified_folds(data, 2, 0)
    fits = [fsopt.fit("mpm", data.rows(np.setdiff1d(np.arange(20), part)), kernel="gaussian") for part in parts]
    assert rounds.n_features.tolist() == [len(f.support) for f in fits]


def test_bad_calls_are_told_before_and_failed_fits_by_their_candidate():
    data = blobs(30, 3)
    with pytest.raises(UnknownNameError):
        cross_validate("svn", data, [{}])
    with pytest.raises(ParameterError, match="candidates"):
        cross_validate("svm", data, [])
    with pytest.raises(ParameterError, match="folds"):
        cross_validate("svm", data, [{}], folds=16)
    with pytest.raises(ParameterError, match="rule"):
        SelectionRule("top")
    with pytest.raises(InfeasibleError, match=r"0\.999"):
        cross_validate("l0-mpm", data, [{"delta": 0.999}])


def test_among_equal_errors_the_first_candidate_wins(monkeypatch):
    data, candidates = blobs(30, 3), [{"c": c} for c in (4.0, 1.0, 2.0, 3.0)]
    means = {"errors": np.array([[0.3, 0.3], [0.1, 0.3], [0.2, 0.2], [0.1, 0.3]])}
    monkeypatch.setattr(tuning, "cross_validate", lambda *args, **rest: means["errors"])
    tuned = tune("svm", data, candidates)
    assert tuned.params == {"c": 1.0}
    assert tuned.fit.params["c"] == 1.0
    assert tuned.fit.objective == fsopt.fit("svm", data, c=1.0).objective
    # The same errors, added in another order: 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 in floating point.
    thirds = np.array([[0.9, 0.9, 0.9], [0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.4, 0.4, 0.4]])
    for order in ([0, 1, 2, 3], [0, 2, 1, 3]):
        means["errors"] = thirds[order]
        assert tune("svm", data, candidates).params == {"c": 1.0}


def test_on_validation_data_the_first_best_candidate_with_an_answer_in_its_time_is_chosen(monkeypatch):
    data, other = blobs(60, 4, seed=3, gap=0.3), blobs(50, 4, seed=4, gap=0.3)
    options = [{"c": c} for c in (10.0, 0.01, 1.0)]
    fits = [fsopt.fit("l1-svm", data, **params) for params in options]
    errors = [float(np.mean(fit.predict(other.X) != other.y)) for fit in fits]
    late, begun = set(), []

    def limited(method, data, *, solver=None, time_limit=None, **params):
        begun.append(params["c"])
        if params["c"] in late:
            raise OutOfTimeError("the time limit passed", "give more seconds")
        return fsopt.fit(method.name, data, **params)

    monkeypatch.setattr(tuning, "study_fit", limited)
    for late_one, left in (((), errors), ((10.0,), [np.inf, *errors[1:]])):
        late.update(late_one)
        tuned = tune("l1-svm", data, options, validation=other, time_limit=5.0)
        best = left.index(min(left))
        assert tuned.errors.ravel().tolist() == left
        assert (tuned.error, tuned.params) == (min(left), options[best])
        np.testing.assert_array_equal(tuned.fit.coef, fits[best].coef)
        assert tuned.seconds > tuned.fit.seconds["total"]
    assert begun == 2 * [1.0, 0.01, 10.0]  # grids go from short to long fits
    late.update((0.01, 1.0))
    with pytest.raises(OutOfTimeError, match=r"time limit passed \('l1-svm' at {'c': 10.0}\)"):
        tune("l1-svm", data, options, validation=other, time_limit=5.0)


def test_a_round_tunes_on_its_own_samples_and_tests_on_the_others(spied):
    data = numbered(40, share=0.4)
    rounds = nested_cross_validation("svm", data, [{"label": 1.0}, {"label": -1.0}], splits=4, folds=2, seed=1)
    finals = spied[4::5]  # each round: 2 candidates on 2 folds, then the winner on all its rows
    assert len(spied) == 20
    assert all(d.n == 30 for d, _, _ in finals)
    held = [set(range(40)) - set(d.X[:, 0].astype(int)) for d, _, _ in finals]
    assert held == [set(part.tolist()) for part in stratified_folds(data, 4, 1)]
    for k, part in enumerate(held):
        for d, _, _ in spied[5 * k : 5 * k + 5]:
            assert not part & set(d.X[:, 0].astype(int))
    assert rounds.params == ({"label": -1.0},) * 4
    np.testing.assert_allclose(rounds.errors, 0.4)
    np.testing.assert_array_equal(rounds.n_features, 2)


def test_features_are_counted_by_deviations_of_the_training_samples(spied):
    data = numbered(40)
    X = data.X.copy()
    X[7, 1] = 30.0  # weight 0.5 and deviation 5, against 1 and 12: 0.2; without this sample 0.04
    rounds = nested_cross_validation(
        "svm", data.with_X(X), [{}], splits=4, folds=2, rule=SelectionRule(units="scaled", epsilon=0.08)
    )
    assert rounds.n_features.tolist() == [1 if 7 in part else 2 for part in stratified_folds(data, 4, 0)]
