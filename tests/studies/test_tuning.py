"""The tuning of paper 1: grids, folds, ties, no leakage, nested rounds; and how its Table 1 has to be read."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import logsumexp
from support import blobs

import fsopt
from fsopt.data.synthetic import gmeb_type1
from fsopt.errors import InfeasibleError, ParameterError, UnknownNameError
from fsopt.methods.selection import select_by_size
from fsopt.studies import tuning
from fsopt.studies.tuning import cross_validate, grid, outer, tune

# ---------------------------------------------------------------- grids


def test_the_grids_of_the_paper():
    radii = [1, 2.5, 4, 5.5, 7, 8.5, 10]
    assert [(g["r_plus"], g["r_minus"]) for g in grid("gmeb", 9)] == [(a, b) for a in radii for b in radii]
    for method in ("svm", "l1-svm"):
        prices = [g["c"] for g in grid(method, 9)]
        np.testing.assert_allclose(prices, [k / (50 - k) for k in range(1, 50)], rtol=1e-12)
        assert all(g["scale"] == "center" for g in grid(method, 9))
    rfe = grid("rfe", 30)
    assert sorted({g["m"] for g in rfe}) == [1, 6, 11, 16, 20, 25, 30]
    np.testing.assert_allclose(sorted({g["c"] for g in rfe}), [x / (1 - x) for x in np.linspace(0.02, 0.98, 7)])
    assert {len(grid(m, 30)) for m in ("gmeb", "svm", "l1-svm", "rfe")} == {49}


def test_the_options_of_the_grids():
    assert len(grid("gmeb", 202, points=10)) == 100
    assert grid("gmeb", 202, points=10)[13] == {"r_plus": 2.0, "r_minus": 4.0}
    shares = [g["c"] for g in grid("svm", 30, odds=False)]
    np.testing.assert_allclose(shares, np.arange(1, 50) / 50)
    assert [g["m"] for g in grid("rfe", 3, points=2)] == [1, 1, 3, 3]
    assert len(grid("rfe", 3)) == 21
    with pytest.raises(ParameterError, match="l0-mpm"):
        grid("l0-mpm", 30)
    with pytest.raises(ParameterError, match="points"):
        grid("gmeb", 30, points=1)


# ---------------------------------------------------------------- cross-validation


@pytest.fixture
def spied(monkeypatch):
    """Replace the fit of the tuning by one that keeps its training data and predicts by a given function."""
    seen = []

    def spy(method, data, *, solver=None, **params):
        seen.append((data, params, solver))
        label = params.get("label", 1.0)
        plane = {"coef": np.array([1.0, 0.5, 0.0]), "kernel": None}
        return SimpleNamespace(predict=lambda X: np.full(len(X), label), params=params, **plane)

    monkeypatch.setattr(tuning, "fit", spy)
    return seen


def numbered(n, share=0.5):
    """Return data whose first column is the number of the row."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(n), rng.standard_normal((n, 2))])
    return fsopt.Dataset(X, np.where(np.arange(n) < share * n, 1.0, -1.0))


def test_folds_are_stratified_disjoint_and_the_same_for_all_candidates(spied):
    data = numbered(40, share=0.25)
    cross_validate("svm", data, [{"c": 1.0}, {"c": 2.0}], folds=5, seed=3, solver="libsvm")
    held = [frozenset(range(40)) - set(d.X[:, 0].astype(int)) for d, _, _ in spied]
    assert held[:5] == held[5:]
    assert sorted(i for part in held[:5] for i in part) == list(range(40))
    assert all(sum(i < 10 for i in part) == 2 and len(part) == 8 for part in held)
    assert [p for _, p, _ in spied] == [{"c": 1.0}] * 5 + [{"c": 2.0}] * 5
    assert {s for _, _, s in spied} == {"libsvm"}


def test_seeds_shuffle_and_are_reproducible(spied):
    data = numbered(40)
    held = []
    for seed in (0, 0, 1):
        spied.clear()
        cross_validate("svm", data, [{}], seed=seed)
        held.append([frozenset(d.X[:, 0].astype(int)) for d, _, _ in spied])
    assert held[0] == held[1] != held[2]


def test_errors_are_the_shares_of_the_rows_held_out_that_are_wrong():
    data = blobs(45, 3, seed=2, gap=0.3)
    candidates = [{"c": 0.1}, {"c": 10.0}]
    errors = cross_validate("svm", data, candidates, folds=3, seed=4)
    splits = tuning.fold_rows(data, 3, 4)
    for k, params in enumerate(candidates):
        for f, test in enumerate(splits):
            fit = fsopt.fit("svm", data.rows(np.setdiff1d(np.arange(45), test)), **params)
            wrong = sum(fit.predict(data.X[[i]])[0] != data.y[i] for i in test)
            assert errors[k, f] == wrong / len(test)
    assert errors.shape == (2, 3)


def test_what_is_held_out_changes_no_statistic_of_the_training_rows():
    data = blobs(40, 3, seed=5)
    test = tuning.fold_rows(data, 4, 0)[0]
    X = data.X.copy()
    X[test] = X[test] * 100.0 + 50.0
    moved = data.with_X(X)
    expected = 1.0 - np.array([cross_validate(m, moved, [{}], folds=4)[0, 0] for m in ("svm", "gmeb")])
    train = np.setdiff1d(np.arange(40), test)
    fits = [fsopt.fit(m, data.rows(train)) for m in ("svm", "gmeb")]
    assert list(expected) == [float(np.mean(f.predict(X[test]) == data.y[test])) for f in fits]


def test_parallel_is_serial():
    data = blobs(40, 3, seed=6, gap=0.4)
    candidates = [{"c": c} for c in (0.05, 0.5, 5.0)]
    serial, parallel = (cross_validate("l1-svm", data, candidates, jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(serial, parallel)
    one, two = (outer("l1-svm", data, candidates, splits=3, folds=3, jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.errors, two.errors)
    np.testing.assert_array_equal(one.n_features, two.n_features)
    assert one.params == two.params


@pytest.mark.parametrize("units", ["raw", "scaled"])
def test_what_a_kernel_machine_selects_are_its_rows_whatever_the_units(units):
    data = blobs(40, 3, seed=2)
    rounds = outer("mpm", data, [{"kernel": "gaussian"}], splits=2, folds=2, units=units)
    parts = tuning.fold_rows(data, 2, 0)
    fits = [fsopt.fit("mpm", data.rows(np.setdiff1d(np.arange(40), part)), kernel="gaussian") for part in parts]
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
        outer("svm", data, [{}], rule="top")
    with pytest.raises(InfeasibleError, match=r"0\.999"):
        cross_validate("l0-mpm", data, [{"delta": 0.999}])


# ---------------------------------------------------------------- tuning


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


def test_the_smallest_radii_win_among_ties():
    data = blobs(30, 2, seed=1, gap=6.0)  # any radii separate it
    tuned = tune("gmeb", data, folds=3)
    assert tuned.errors.shape == (49, 3)
    assert not tuned.errors.any()
    assert tuned.params == {"r_plus": 1.0, "r_minus": 1.0}


# ---------------------------------------------------------------- the nested tuning


def test_a_round_tunes_on_its_own_rows_and_tests_on_the_others(spied):
    data = numbered(40, share=0.4)
    rounds = outer("svm", data, [{"label": 1.0}, {"label": -1.0}], splits=4, folds=2, seed=1)
    finals = spied[4::5]  # each round: 2 candidates on 2 folds, then the winner on all its rows
    assert len(spied) == 20
    assert all(d.n == 30 for d, _, _ in finals)
    held = [set(range(40)) - set(d.X[:, 0].astype(int)) for d, _, _ in finals]
    assert held == [set(part.tolist()) for part in tuning.fold_rows(data, 4, 1)]
    for k, part in enumerate(held):
        for d, _, _ in spied[5 * k : 5 * k + 5]:
            assert not part & set(d.X[:, 0].astype(int))
    assert rounds.params == ({"label": -1.0},) * 4
    np.testing.assert_allclose(rounds.errors, 0.4)
    np.testing.assert_array_equal(rounds.n_features, 2)


def test_the_means_of_the_rounds_and_their_deviations():
    rounds = tuning.Rounds(np.array([0.1, 0.2, 0.4, 0.1]), np.array([3, 4, 8, 5]), ({},) * 4)
    # sum of squared differences from 0.2: 0.06; from 5: 14; both over 3, then over 4.
    assert rounds.error == pytest.approx((0.2, np.sqrt(0.06 / 12)))
    assert rounds.features == pytest.approx((5.0, np.sqrt(14 / 12)))


def test_features_of_every_method_are_counted_by_the_rule(wdbc):
    data = wdbc.rows(np.arange(0, 569, 4))
    counts = {}
    for rule in ({}, {"units": "scaled"}, {"rule": "absolute", "epsilon": 5.0}):
        rounds = outer("svm", data, [{"c": 0.1}], splits=2, folds=2, **rule)
        for test, count in zip(tuning.fold_rows(data, 2, 0), rounds.n_features, strict=True):
            train = data.rows(np.setdiff1d(np.arange(data.n), test))
            fit = fsopt.fit("svm", train, c=0.1)
            assert count == len(select_by_size(fit.coef, train.X.std(axis=0), **rule))
        counts[str(rule)] = tuple(rounds.n_features)
    assert len(set(counts.values())) == 3


def test_features_are_counted_by_deviations_of_the_training_rows(spied):
    data = numbered(40)
    X = data.X.copy()
    X[7, 1] = 30.0  # weight 0.5 and deviation 5, against 1 and 12: 0.2; without this row 0.04
    rounds = outer("svm", data.with_X(X), [{}], splits=4, folds=2, units="scaled", epsilon=0.08)
    assert rounds.n_features.tolist() == [1 if 7 in part else 2 for part in tuning.fold_rows(data, 4, 0)]


# ---------------------------------------------------------------- how Table 1 is read


def log_density(X, means):
    """Return, up to a constant, the log density of unit Gaussians (n,) with these means."""
    return -0.5 * ((X - means) ** 2).sum(axis=1)


def bayes(X):
    """Return the best labels for the first six features under x_i | y ~ N(y i, 1)."""
    means = np.array([1.0, 2.0, 3.0])
    scores = []
    for y in (1.0, -1.0):
        first = np.log(0.7) + log_density(X[:, :3], y * means) + log_density(X[:, 3:6], 0.0)
        second = np.log(0.3) + log_density(X[:, :3], 0.0) + log_density(X[:, 3:6], y * means)
        scores.append(logsumexp([first, second], axis=0))
    return np.where(scores[0] > scores[1], 1.0, -1.0)


def literal(n, seed):
    """Return the first six features with x_i y ~ N(y i, 1) as printed: x_i = y (y i + noise)."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n)
    means = np.outer(y, [1.0, 2.0, 3.0])
    first = rng.random(n)[:, None] < 0.7
    xy = rng.standard_normal((n, 6)) + np.hstack([np.where(first, means, 0.0), np.where(first, 0.0, means)])
    return fsopt.Dataset(xy * y[:, None], y)


def test_the_reading_of_table_1_has_the_bayes_error_that_the_paper_states():
    data = gmeb_type1(60_000, seed=1, p=6)
    assert np.mean(bayes(data.X) != data.y) == pytest.approx(0.004, abs=0.0008)
    first_moments = (data.X * data.y[:, None]).mean(axis=0)
    np.testing.assert_allclose(first_moments, [0.7, 1.4, 2.1, 0.3, 0.6, 0.9], atol=0.03)


def test_table_1_as_printed_says_nothing_about_the_label():
    data = literal(20_000, seed=2)
    plus, minus = (data.X[data.y == label] for label in (1, -1))
    # x_i = i + y noise: both classes have mean 0.7 i, and the same covariance.
    np.testing.assert_allclose(plus.mean(axis=0), minus.mean(axis=0), atol=0.08)
    np.testing.assert_allclose(plus.mean(axis=0), [0.7, 1.4, 2.1, 0.3, 0.6, 0.9], atol=0.06)
    np.testing.assert_allclose(np.cov(plus.T), np.cov(minus.T), atol=0.2)
    accuracy = {}
    for name, sample in (("literal", data), ("conditional", gmeb_type1(20_000, seed=2, p=6))):
        train, test = sample.rows(np.arange(1000)), sample.rows(np.arange(1000, 20_000))
        accuracy[name] = fsopt.fit("svm", train).scores(test)["accuracy"]
    assert accuracy["literal"] == pytest.approx(0.5, abs=0.02)
    assert accuracy["conditional"] > 0.98


def errors_of_table_3(deviation, seeds=6):
    """Return the mean test errors of the three methods on 50 samples, with this deviation of the noise features."""
    methods = (("svm", {"scale": "center"}), ("l1-svm", {}), ("gmeb", {"r_plus": 2.0, "r_minus": 2.0}))
    errors = []
    for seed in range(seeds):
        drawn = gmeb_type1(550, seed)
        scaled = np.hstack([drawn.X[:, :6], drawn.X[:, 6:] * deviation / np.sqrt(20.0)])
        train, X, y = drawn.with_X(scaled).rows(np.arange(50)), scaled[50:], drawn.y[50:]
        errors.append([np.mean(fsopt.fit(m, train, **at).predict(X) != y) for m, at in methods])
    return 100 * np.mean(errors, axis=0)


def test_the_20_of_table_1_is_a_variance():
    paper = {"svm": 41.9, "l1-svm": 16.0, "gmeb": 3.1}  # Table 3, n = 50
    variance, deviation = errors_of_table_3(np.sqrt(20.0)), errors_of_table_3(20.0)
    np.testing.assert_allclose(variance, list(paper.values()), atol=5.0)
    assert deviation[0] > 47.0
    assert deviation[1] > 45.0
    assert deviation[2] == pytest.approx(variance[2], abs=0.3)  # GMEB does not depend on units
