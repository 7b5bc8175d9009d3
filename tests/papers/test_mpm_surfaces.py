"""The grids and comparisons of Yang & Ju: their means, and what the printed numbers say about each other."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.stats import norm
from support import blobs, sampled

import fsopt
from fsopt.data import mpm_synthetic
from fsopt.data.splits import stratified_folds, train_and_test
from fsopt.errors import InfeasibleError, ParameterError, UnknownNameError
from fsopt.methods.mpm.feature_space import FeatureSpace
from fsopt.papers import reproduction
from fsopt.papers.mpm.comparison import compare_methods, plot_repetitions
from fsopt.papers.mpm.pairs import synthetic_pairs
from fsopt.papers.mpm.surfaces import ALPHAS, MpmSurface, mpm_surface

DATA = blobs(60, 5, seed=3)


def pairs_of(data, folds, seed=0):
    return [train_and_test(data, fold) for fold in stratified_folds(data, folds, seed)]


def limit(data):
    return FeatureSpace.of(data).limit.alpha


# ---------------------------------------------------------------- surfaces


def test_a_surface_is_the_mean_of_fits_at_a_share_of_each_fold_s_own_limit():
    surface = mpm_surface(DATA, (0.9, 0.4), (5.0, 0.5), folds=3, seed=2)
    pairs = pairs_of(DATA, 3, seed=2)
    np.testing.assert_allclose(surface.limits, [limit(train) for train, _ in pairs], rtol=1e-12)
    assert len(set(surface.limits)) == 3
    assert surface.feasible.tolist() == [1.0, 1.0]
    assert surface.deltas.tolist() == [0.4, 0.9]
    assert surface.alphas.tolist() == [0.5, 5.0]
    for (i, share), (j, alpha) in [((a, b), (c, d)) for a, b in enumerate((0.4, 0.9)) for c, d in enumerate((0.5, 5))]:
        fits = [fsopt.fit("l0-mpm", train, delta=share * limit(train), alpha=float(alpha)) for train, _ in pairs]
        scores = [f.scores(test) for f, (_, test) in zip(fits, pairs, strict=True)]
        assert surface.n_features[i, j] == pytest.approx(np.mean([len(f.support) for f in fits]))
        assert surface.n_features_sd[i, j] == pytest.approx(np.std([len(f.support) for f in fits], ddof=1))
        assert surface.psf[i, j] == pytest.approx(20 * surface.n_features[i, j])
        assert surface.accuracy[i, j] == pytest.approx(np.mean([s["accuracy"] for s in scores]))
        assert surface.mcc[i, j] == pytest.approx(np.mean([s["mcc"] for s in scores]))
        assert surface.iterations[i, j] == pytest.approx(np.mean([f.iterations for f in fits]))


@pytest.mark.parametrize("alphas", [(0.5, 5.0), ALPHAS])
def test_the_values_of_alpha_are_named_beside_one_another(alphas):
    ones = np.ones((1, len(alphas)))
    grid = (np.array([0.5]), np.array(alphas), True, np.ones(1), np.ones(1))
    figure = MpmSurface(
        *grid, n_features=ones, psf=ones, accuracy=ones, mcc=ones, iterations=ones, n_features_sd=ones
    ).plot()
    figure.draw_without_rendering()
    for axes in figure.axes[:2]:
        labels = [one for one in axes.get_xticklabels(which="both") if one.get_text()]
        assert [float(one.get_text()) for one in labels] == list(alphas)
        boxes = [one.get_window_extent() for one in labels]
        assert not any(a.overlaps(b) for a, b in pairwise(boxes))


def test_the_number_of_processes_does_not_matter():
    one, two = (mpm_surface(DATA, (0.5,), (5.0,), folds=3, jobs=jobs) for jobs in (1, 2))
    assert one.accuracy == two.accuracy
    assert one.n_features == two.n_features
    np.testing.assert_allclose(one.limits, two.limits, rtol=1e-12)  # sums of other threads differ in the last digit


def test_an_accuracy_that_is_infeasible_for_a_training_fold_leaves_nan():
    limits = np.sort([limit(train) for train, _ in pairs_of(DATA, 3)])
    between = (limits[0] + limits[1]) / 2
    surface = mpm_surface(DATA, (0.01, between, 0.99), (5.0,), shares=False, folds=3)
    assert surface.feasible == pytest.approx([1, 2 / 3, 0])
    for name in ("n_features", "n_features_sd", "psf", "accuracy", "mcc", "iterations"):
        assert np.isnan(getattr(surface, name)).ravel().tolist() == [False, True, True]


def test_a_small_delta_selects_one_feature_and_the_hyperplane_halfway_between_its_means():
    surface = mpm_surface(DATA, (0.01,), (0.1, 5.0, 50.0), folds=4)
    assert surface.n_features.tolist() == [[1.0] * 3]
    right = []
    for train, test in pairs_of(DATA, 4):
        plus, minus = train.X[train.positive].mean(axis=0), train.X[train.negative].mean(axis=0)
        j = np.argmax(np.abs(plus - minus) / train.X.std(axis=0))
        scores = (test.X[:, j] - (plus + minus)[j] / 2) * (plus - minus)[j]
        right.append(np.mean((scores > 0) == (test.y > 0)))
    np.testing.assert_allclose(surface.accuracy, np.mean(right))


def test_a_ridge_moves_the_limit_that_shares_refer_to():
    plain, ridged = (mpm_surface(DATA, (0.9,), (5.0,), folds=3, params=p) for p in ({}, {"ridge": 1.0}))
    assert (ridged.limits < plain.limits - 0.05).all()
    assert ridged.feasible == 1


def test_with_a_kernel_the_limit_is_that_of_the_kernel_values_and_patterns_are_counted():
    params = {"kernel": "gaussian", "width": 2.0, "scale": "center"}
    surface = mpm_surface(DATA, (0.9,), (5.0,), folds=3, params=params)
    fits = [fsopt.fit("mpm", train, **params) for train, _ in pairs_of(DATA, 3)]
    np.testing.assert_allclose(surface.limits, [fit.details["alpha_limit"] for fit in fits], rtol=1e-9)
    np.testing.assert_allclose(surface.psf, 100 * surface.n_features / 40)


def test_the_grid_is_checked():
    for wrong in ((0.0,), (1.0,), (), ("a",)):
        with pytest.raises(ParameterError):
            mpm_surface(DATA, wrong, (5.0,))
    for wrong in ((0.0,), ()):
        with pytest.raises(ParameterError):
            mpm_surface(DATA, (0.5,), wrong)
    with pytest.raises(ParameterError, match="pairs"):
        mpm_surface([], (0.5,), (5.0,))
    with pytest.raises(ParameterError, match="folds"):
        mpm_surface(DATA, (0.5,), (5.0,), folds=100)


def test_the_figure_has_a_line_for_each_delta_that_is_feasible_and_for_each_alpha():
    surface = mpm_surface(DATA, (0.1, 0.2, 0.99), (0.5, 5.0), shares=False, folds=3)
    figure = surface.plot()
    assert [len(axes.lines) for axes in figure.axes] == [2, 2, 2]
    np.testing.assert_array_equal(figure.axes[0].lines[1].get_ydata(), surface.psf[1])
    np.testing.assert_array_equal(figure.axes[2].lines[0].get_ydata(), 100 * surface.accuracy[:, 0])


# ---------------------------------------------------------------- comparisons


def test_methods_are_measured_on_the_same_pairs():
    pairs = synthetic_pairs(2, p=12, n_test=40, seed=5)
    methods = {"svm": {"c": 2.0}, "l1-mpm": {}, "l0-mpm": {"alpha": 2.0}}
    svm, one, zero = compare_methods(pairs, methods, delta=0.8)
    for k, (train, test) in enumerate(pairs):
        delta = 0.8 * limit(train)
        assert one.delta[k] == zero.delta[k] == pytest.approx(delta)
        assert one.limits[k] == pytest.approx(limit(train))
        for scores, fit in (
            (svm, fsopt.fit("svm", train, c=2.0)),
            (one, fsopt.fit("l1-mpm", train, delta=delta)),
            (zero, fsopt.fit("l0-mpm", train, delta=delta, alpha=2.0)),
        ):
            assert scores.n_features[k] == len(fit.support)
            assert scores.accuracy[k] == pytest.approx(fit.scores(test)["accuracy"])
            assert scores.mcc[k] == pytest.approx(fit.scores(test)["mcc"])
    assert np.isnan(svm.delta).all()
    assert np.isnan(one.iterations).all()
    assert (zero.iterations >= 1).all()
    figure = plot_repetitions((svm, one, zero))
    np.testing.assert_array_equal(figure.axes[1].lines[2].get_ydata(), 100 * zero.n_features / 12)


def test_synthetic_pairs_share_their_law_and_no_sample():
    (train, test), other = synthetic_pairs(2, p=15, seed=7)[0], synthetic_pairs(1, p=15, seed=8)[0]
    assert train.X.shape == (50, 15)
    assert test.X.shape == (1000, 15)
    assert not np.isin(train.X, test.X).any()
    np.testing.assert_array_equal(other[0].X, synthetic_pairs(2, p=15, seed=7)[1][0].X)


def test_wrong_comparisons_are_refused():
    with pytest.raises(UnknownNameError):
        compare_methods(DATA, {"l2-mpm": {}})
    with pytest.raises(ParameterError, match="delta"):
        compare_methods(DATA, {"l1-mpm": {}}, delta=1.0)
    with pytest.raises(InfeasibleError, match=r"alpha\* = .*l1-mpm"):
        compare_methods(DATA, {"l1-mpm": {}}, delta=0.99, shares=False, folds=2)


@pytest.mark.shared
@pytest.mark.parametrize(("name", "alpha"), sampled([("pima", 5.0), ("wdbc", 5.0), ("ionosphere", 0.5)], 1))
def test_l0_selects_fewer_features_than_l1_at_nearly_the_same_accuracy(name, alpha, shared):
    data = fsopt.load_dataset(shared / "data" / f"{name}.csv.gz")
    one, zero = compare_methods(data, {"l1-mpm": {}, "l0-mpm": {"alpha": alpha}})
    assert zero.n_features.mean() < one.n_features.mean()
    assert zero.accuracy.mean() >= one.accuracy.mean() - 0.015


# ---------------------------------------------------------------- the print against itself


@pytest.mark.shared
@pytest.mark.slow
def test_madelon_on_200_samples_is_feasible_at_any_delta_and_on_all_samples_is_not(shared):
    data = fsopt.load_dataset(shared / "data" / "madelon.train.csv.gz")
    assert limit(data) == pytest.approx(0.2970, abs=5e-5)
    assert limit(data.rows(np.arange(200))) == 1.0


TABLE_3 = {
    "Sonar": ((111, 97), (75.10, 61.71), (77.89, 68.06), (79.50, 70.89)),
    "Pima": ((268, 500), (73.80, 45.46), (65.53, 42.86), (65.79, 44.91)),
    "Ionosphere": ((225, 126), (85.40, 79.10), (71.18, 53.51), (85.74, 82.58)),
    "Spam": ((1813, 2788), (67.02, 55.36), (60.57, 23.89), (67.08, 62.41)),
    "WOBC": ((241, 458), (91.61, 80.05), (89.46, 78.00), (75.26, 72.56)),
    "WPBC": ((47, 151), (24.21, 13.06), (62.11, 25.03), (61.58, 24.99)),
    "WDBC": ((212, 357), (90.71, 82.42), (90.89, 83.65), (88.75, 85.63)),
    "Madelon": ((1000, 1000), (60.30, 23.81), (60.58, 22.89), (61.30, 31.98)),
}
"""Samples of each class, then (TSA, MCC) in percent of MPM, L1-MPM and L0-MPM."""
MODELS = ("MPM", "L1", "L0")


def mcc(tp, tn, positive):
    """Return (60) for shares of all samples that are true positives and negatives; 0 where it is not defined."""
    fn, fp = positive - tp, 1 - positive - tn
    below = np.sqrt(np.maximum((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn), 0))
    return np.where(below > 1e-9, (tp * tn - fp * fn) / np.maximum(below, 1e-9), 0.0)


def attainable(tsa, positive):
    """Return the smallest and the largest MCC, in percent, of any classifier with this accuracy (percent)."""
    wrong = 1 - tsa / 100
    missed = np.linspace(max(0, wrong - (1 - positive)), min(wrong, positive), 4001)
    values = 100 * mcc(positive - missed, (1 - positive) - (wrong - missed), positive)
    return values.min(), values.max()


def printed():
    for name, (sizes, *cells) in TABLE_3.items():
        for model, (tsa, value) in zip(MODELS, cells, strict=True):
            yield (name, model), sizes[0] / sum(sizes), tsa, value


def test_eleven_printed_mcc_are_above_what_their_accuracy_allows_and_one_is_below():
    above = {at for at, share, tsa, value in printed() if value > attainable(tsa, share)[1] + 0.01}
    below = {at for at, share, tsa, value in printed() if value < attainable(tsa, share)[0] - 0.01}
    assert above == {
        *[("Sonar", m) for m in MODELS],
        ("Ionosphere", "MPM"),
        ("Ionosphere", "L0"),
        ("Spam", "MPM"),
        ("Spam", "L0"),
        ("WOBC", "L0"),
        ("WPBC", "MPM"),
        ("WDBC", "L1"),
        ("WDBC", "L0"),
    }
    assert below == {("WOBC", "MPM")}
    # ten of them for every share of the classes: subsamples do not explain them
    shares = np.linspace(0.01, 0.99, 197)
    always = {at for at, _, tsa, value in printed() if value > max(attainable(tsa, s)[1] for s in shares) + 0.01}
    assert always == above - {("WPBC", "MPM")}


def test_nine_printed_mcc_are_impossible_even_as_means_over_folds():
    """A mean over stratified folds is a convex combination of points (TSA, MCC), whatever the classifiers do."""
    outside = set()
    for at, share, tsa, value in printed():
        tp, tn = np.meshgrid(share * np.linspace(0, 1, 401), (1 - share) * np.linspace(0, 1, 401))
        hull = ConvexHull(np.column_stack([(tp + tn).ravel(), mcc(tp, tn, share).ravel()]))
        if (hull.equations @ [tsa / 100, value / 100, 1]).max() > 1e-3:
            outside.add(at)
    assert outside == {
        *[("Sonar", m) for m in MODELS],
        ("Ionosphere", "L0"),
        ("Spam", "MPM"),
        ("Spam", "L0"),
        ("WOBC", "L0"),
        ("WPBC", "MPM"),
        ("WDBC", "L0"),
    }


def test_the_range_of_mcc_is_that_of_all_confusion_matrices():
    for right in (7, 11, 18):
        found = [100 * float(mcc(tp / 20, (right - tp) / 20, 8 / 20)) for tp in range(9) if 0 <= right - tp <= 12]
        low, high = attainable(5 * right, 8 / 20)
        assert low - 0.01 <= min(found) <= max(found) <= high + 0.01
        assert high - max(found) < 1e-9 or low - min(found) > -1e-9


def test_the_ranks_of_table_4_do_not_follow_from_table_3_and_do_not_add_up():
    ranks = {n: np.argsort(np.argsort([-tsa for tsa, _ in cells])) + 1 for n, (_, *cells) in TABLE_3.items()}
    table_4 = {
        "Sonar": (3, 2, 1),
        "Pima": (1, 2, 3),
        "Ionosphere": (2, 3, 1),
        "Spam": (2, 3, 1),
        "WOBC": (1, 2, 3),
        "WPBC": (3, 1, 2),
        "WDBC": (2, 1, 3),
        "Madelon": (3, 2, 1),
    }
    assert [n for n in ranks if tuple(ranks[n]) != table_4[n]] == ["Pima"]
    means = (sum(ranks.values()) + np.array([2.5, 1, 2.5])) / 9
    np.testing.assert_allclose(means, [2.167, 2.0, 1.833], atol=1e-3)
    assert means.sum() == pytest.approx(6)  # the print has 1.83 + 2.0 + 1.72 = 5.55


def test_with_the_mean_of_the_print_one_feature_of_section_4_2_is_enough():
    for train, test in synthetic_pairs(3, p=60, literal=True):
        fit = fsopt.fit("l1-mpm", train, delta=0.9)
        assert len(fit.support) == 1
        assert fit.scores(test)["accuracy"] == 1.0
    train, _ = synthetic_pairs(1, p=60)[0]
    assert len(fsopt.fit("l1-mpm", train, delta=0.9).support) > 3
    # a single feature is right with probability Phi(1) then, and not Phi(10)
    one = fsopt.fit("l1-mpm", mpm_synthetic(4000, 1, p=10), delta=0.1)
    rate = one.scores(mpm_synthetic(20000, 2, p=10))["accuracy"]
    assert len(one.support) == 1
    assert rate == pytest.approx(norm.cdf(1), abs=0.01)


@pytest.mark.shared
def test_the_objective_still_falls_after_the_paper_s_three_steps(shared):
    data = fsopt.load_dataset(shared / "data" / "sonar.csv.gz")
    fit = fsopt.fit("l0-mpm", data, delta=0.9 * limit(data))
    objectives = [record["objective"] for record in fit.history]
    assert objectives[2] > 1.02 * fit.objective


def test_the_impossible_cells_of_table_5_are_those_that_their_accuracy_does_not_allow():
    table = reproduction.printed("l0mpm-table5")
    shares = {"ionosphere": 225 / 351, "spambase": 1813 / 4601, "sonar": 111 / 208}
    found = {
        f"{method} {name}"
        for method, rows in table["rows"].items()
        for name, (tsa, mcc) in rows.items()
        if float(mcc) > attainable(float(tsa), shares[name])[1] + 0.01
    }
    assert found == set(table["impossible"])
